import re

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.errors import InputError
from space import leaderboard, sharing
from space.subset import tables
from tests.conftest import ROOT


def test_error_rates_are_those_of_the_card():
    card = (ROOT / "triviaqa_subset" / "README.md").read_text()
    rows = re.findall(
        r"^\| (\S+) \| (\w+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| [\d.]+ \| ([\d.]+) \| ([\d.]+) \|", card, re.M
    )
    assert len(rows) == 14
    judged, exact = ({row.system: row for row in leaderboard.known_rows(labels)} for labels in leaderboard.LABELS)
    for llm, method, *numbers in rows:
        one, other = (found[f"{llm} · {method}"] for found in (judged, exact))
        rates = (one.subset, one.weighted, one.pool, other.subset, other.weighted)
        assert [round(rate.value, 3) for rate in rates] == list(map(float, numbers)), llm
        for rate in rates:
            assert rate.low < rate.value < rate.high
    with pytest.raises(InputError, match="labels must be one of correct, exact_match"):
        leaderboard.known_rows("x")


@pytest.fixture
def correct(rng):
    """Of 28 of the 455 questions, five of them unknown."""
    ids = tables()["curated"]["question_id"].head(28)
    return pd.Series(np.r_[np.full(5, np.nan), rng.integers(0, 2, 23)], index=ids)


def test_what_is_missing_or_unknown_bounds_the_rates(correct):
    row = leaderboard.row_of("mine", correct, "curated")
    assert (row.answered, row.unknown, row.questions) == (28, 5, 455)
    wrong = (correct == 0).sum()
    assert row.subset[1:] == pytest.approx((wrong / 455, (wrong + 455 - 23) / 455))
    weight = tables()["curated"].set_index("question_id")["weight"]
    low = weight[correct.index[correct == 0]].sum() / weight.sum()
    assert row.weighted[1:] == pytest.approx((low, low + 1 - weight[correct.dropna().index].sum() / weight.sum()))
    assert np.isnan(row.pool.value)
    assert leaderboard.record(row)["pool"] == {"value": None, "low": None, "high": None}


def test_the_visitors_row_is_marked_and_unknown_answers_earn_no_better_place(correct):
    mine = leaderboard.row_of("<b>mine", correct, "curated")
    html = leaderboard.table(leaderboard.known_rows(), mine=mine)
    assert html.count("<tr") == 23
    own = html[html.index('<tr class="own">') :]
    assert "22. &lt;b&gt;mine" in own
    assert "28 of 455 answered, 23 known to be right or wrong" in own


@pytest.mark.parametrize("asked", sharing.ASKED)
def test_a_link_holds_the_whole_result(asked, correct, rng):
    questions = tables()[asked]
    graded = pd.DataFrame({"question_id": correct.index, "correct": correct.to_numpy(), "confidence": rng.random(28)})
    token = sharing.pack(graded.sample(frac=1, random_state=0), questions, name="µ model", asked=asked)
    assert len(token) < 400
    name, known, content = sharing.unpack(token)
    assert (name, known) == ("µ model", asked)
    again = sharing.answers_of(content, questions).set_index("question_id").loc[graded["question_id"]]
    np.testing.assert_array_equal(again["correct"], graded["correct"])
    np.testing.assert_allclose(again["confidence"], graded["confidence"], atol=1e-5)


def test_a_link_of_all_answers_is_short_enough_for_a_browser(rng):
    kept = tables()["kept"]
    graded = kept[["question_id"]].assign(correct=rng.integers(0, 2, 918), confidence=rng.random(918))
    assert len(sharing.pack(graded, kept, name="x" * 500, asked="kept")) < sharing.MAX_LETTERS


BROKEN = ["", "x", "A" * 9000, "eJwDAAAAAAE", "!!!", "é", "eJxjYGBgAAAABAAB"]


@pytest.mark.parametrize("token", BROKEN)
def test_a_broken_link_is_an_error(token):
    with pytest.raises(InputError, match="The link is not one of this page's, or is not whole"):
        sharing.answers_of(sharing.unpack(token)[2], tables()["curated"])
