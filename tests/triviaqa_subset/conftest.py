"""The curation, read once."""

import functools
import json

import pytest

from triviaqa_subset import build
from triviaqa_subset.folders import FOLDER
from triviaqa_subset.labels import read_labels

read_once = functools.cache(read_labels)


@pytest.fixture(scope="session")
def labels():
    return read_once(FOLDER / "curation")


@pytest.fixture(scope="session")
def rows_of_text(shared):
    """The texts of the pool's questions and of the judged answers."""
    return list(
        map(
            json.loads,
            (shared / "triviaqa" / "pool_text.jsonl").read_text(encoding="utf-8").splitlines(),
        )
    )


@pytest.fixture(autouse=True)
def labels_are_read_once(monkeypatch):
    monkeypatch.setattr(build, "read_labels", read_once)
