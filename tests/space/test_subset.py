"""The leaderboard against the dataset's own tables, and what a visitor's row may be."""

import re

import numpy as np
import pandas as pd
import pytest

from space import subset
from tests.conftest import ROOT
from triviaqa_subset.labels import METHODS

PUBLISHED = pd.read_parquet(ROOT / "triviaqa_subset" / "data" / "published.parquet").query("task == 0")


def test_what_is_missing_or_unknown_bounds_the_rates_of_a_row_that_is_marked_and_has_no_number(rng):
    """A model that answered 28 questions, of which five are unknown, may be the worst."""
    ids = subset.questions_of("curated")["question_id"][:28]
    correct = pd.Series(np.r_[np.full(5, np.nan), rng.integers(0, 2, 23)], ids)
    mine = subset.row_of("<b>mine", correct, "curated", {}, "self-reported, not checked")
    weight = subset.questions_of("curated").set_index("question_id")["weight"]
    low = weight[correct.index[correct == 0]].sum() / weight.sum()
    assert (mine.weighted.low, mine.weighted.high) == pytest.approx(
        (low, low + 1 - weight[correct.dropna().index].sum() / weight.sum())
    )
    assert subset.record(mine)["weighted"]["value"] is None
    for order in subset.ORDERS:
        html = subset.board_html([*subset.known_rows(), mine], order)
        assert html.count("<tr") == 23
        assert html.rindex("<tr ") == html.index('<tr class="own">')  # the last
        row = html[html.index('<tr class="own">') :].partition("</tr>")[0]
        assert f"28 of {len(weight)} answered, 23 known to be right or wrong" in row
        assert "self-reported, not checked" in row
        assert '<th scope="row"><bdi>&lt;b&gt;mine</bdi>' in row


def test_numbers_are_the_datasets_and_sort_the_board_differently():
    known, orders = subset.known_rows(), {}
    assert len(known) == len(PUBLISHED) == 21
    rows = {row.system: row.weighted for row in known}
    rates = [rows[f"{llm} · {METHODS[method]}"] for llm, method in PUBLISHED[["llm", "method"]].to_numpy()]
    np.testing.assert_allclose([rate.value for rate in rates], PUBLISHED["our_weighted_error_rate"], atol=1e-9)
    assert all(rate.low < rate.value < rate.high for rate in rates)
    for order, key in subset.ORDERS.items():
        html = subset.board_html(known, order)
        shown = [float(text) for text in re.findall(r"<td class=chosen>([\d.]+)", html)]
        np.testing.assert_allclose(shown, np.sort(PUBLISHED[str(key)]), atol=5e-4)
        orders[order] = re.findall("<bdi>(.*?)</bdi><small>(.*?)<", html)
    assert orders["0"] != orders["∞ (error rate)"]
    assert sum(">number 1 by error rate" in row for row in html.split("</tr>")) == 1


def test_a_plan_is_the_commands_with_the_design_of_the_subset():
    header, rows = subset.plan_table([0.3, 0.36], auroc=0.8, correlation=0.5, difference=0.05)
    assert header == ["questions", "error_rate", "ecuas_0", "ecuas_1"]
    weights = subset.questions_of("curated")["weight"]
    share, effect = len(weights) / len(subset.questions_of("kept")), (weights**2).mean() / weights.mean() ** 2
    weighted, plain, kept, needed = (np.array(row[1:], float) for row in rows)
    np.testing.assert_allclose(weighted, plain * effect**0.5, atol=1e-3)
    np.testing.assert_allclose(kept, plain * share**0.5, atol=1e-3)
    np.testing.assert_allclose(needed, len(weights) * (plain / 0.05) ** 2, rtol=0.03)
