"""The curation, read once."""

import functools
import json

import pytest

from triviaqa_subset import build
from triviaqa_subset.labels import CURATION, read_labels, read_table

read_once = functools.cache(read_labels)


@pytest.fixture(scope="session")
def labels():
    return read_once(CURATION)


@pytest.fixture(scope="session")
def curation():
    """The tables of the curation, as they are."""
    names = ("questions", "answers", "systems", "errata", "decisions", "gold", "aliases")
    return {name: read_table(CURATION, name) for name in names}


@pytest.fixture(scope="session")
def rows_of_text(shared):
    """The texts of the pool's questions and of the judged answers."""
    return list(
        map(
            json.loads,
            (shared / "triviaqa" / "pool_text.jsonl").read_text("utf-8").splitlines(),
        )
    )


@pytest.fixture(autouse=True)
def labels_are_read_once(monkeypatch):
    monkeypatch.setattr(build, "read_labels", read_once)
