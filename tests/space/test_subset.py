import shutil

import pandas as pd
import pytest

from ecuas_metric.errors import InputError
from space import subset
from tests.conftest import ROOT
from triviaqa_subset.labels import METHODS, REASONS, STRATA

EVERYTHING = {"selected": False, "llm": "gemini-2.5-pro", "method": "verbalized"}
EVERYTHING |= dict.fromkeys(("stratum", "decision", "reason", "verdict"), subset.ANY)


@pytest.fixture
def with_text(tmp_path, monkeypatch):
    """A copy of the data with texts of our own."""
    shutil.copytree(ROOT / "triviaqa_subset" / "data", tmp_path / "data")
    for name in ("pool", "curated"):
        frame = pd.read_parquet(tmp_path / "data" / f"{name}.parquet")
        answers = [
            {"value": f"<{i}>", "aliases": [f"<{i}>", f"alias {i}"], "normalized_aliases": []}
            for i in frame["question_id"]
        ]
        frame.assign(question=[f"What is <{i}>?" for i in frame["question_id"]], answer=answers).to_parquet(
            tmp_path / "data" / f"{name}.parquet"
        )
    monkeypatch.setattr(subset, "BUILT", tmp_path)
    subset.tables.cache_clear()
    yield
    subset.tables.cache_clear()


def test_the_pool_and_the_subset_have_their_sizes():
    assert len(subset.browse(**EVERYTHING)) == 977
    chosen = subset.browse(**EVERYTHING | {"selected": True})
    assert len(chosen) == 455
    assert chosen["weight"].mean() == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("column", "values"), [("stratum", tuple(STRATA)), ("decision", ("keep", "discard")), ("reason", REASONS)]
)
def test_a_filter_keeps_what_it_says_and_all_of_them_keep_all(column, values):
    parts = [subset.browse(**EVERYTHING | {column: value}) for value in values]
    assert sum(map(len, parts)) == 977
    assert all((part[column] == value).all() for part, value in zip(parts, values, strict=True))


def test_right_and_wrong_are_those_of_the_system():
    right, wrong = (subset.browse(**EVERYTHING | {"selected": True, "verdict": verdict}) for verdict in subset.VERDICTS)
    assert len(right) + len(wrong) == 455
    assert round(len(wrong) / 455, 3) == 0.013  # the card's table


def test_a_question_without_text_says_how_to_get_it():
    html, verdicts = subset.question(" sfq_178 ")
    assert "<h2>sfq_178</h2>" in html
    assert "This copy has no text." in html
    assert "yes, weight 1.634" in html
    assert verdicts.shape == (7, 4)
    judged = subset.browse(**EVERYTHING).set_index("question_id").loc["sfq_178", "right"]
    assert (verdicts[list(METHODS)] != "wrong").to_numpy().sum() == judged


def test_an_unknown_question_is_an_error():
    with pytest.raises(
        InputError, match=r"^Question id must be one of the pool; got 'q1'\. An id looks like sfq_178\.$"
    ):
        subset.question("q1")


def test_text_is_shown_where_there_is_text(with_text):
    html, _ = subset.question("sfq_178")
    assert "What is &lt;sfq_178&gt;?" in html
    assert "Gold answer: &lt;sfq_178&gt;" in html
    assert subset.NO_TEXT not in html
    assert "question" in subset.browse(**EVERYTHING)
