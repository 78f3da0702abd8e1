import re
import shutil

import numpy as np
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
    assert len(wrong) == 6


def test_a_question_without_text_says_how_to_get_it():
    facts, verdicts = subset.facts_of(" sfq_178 ")
    html = subset.question_html(facts)
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
        subset.facts_of("q1")


def test_text_is_shown_where_there_is_text(with_text):
    html = subset.question_html(subset.facts_of("sfq_178")[0])
    assert "What is &lt;sfq_178&gt;?" in html
    assert "Gold answer: &lt;sfq_178&gt;" in html
    assert subset.NO_TEXT not in html
    assert "question" in subset.browse(**EVERYTHING)


# ---- the leaderboard


def test_error_rates_are_those_of_the_dataset():
    published = pd.read_parquet(ROOT / "triviaqa_subset" / "data" / "published.parquet")
    expected = published[published["task"] == 0]["our_weighted_error_rate"].to_numpy()
    rows = {row.system: row.weighted for row in subset.known_rows()}
    names = [
        f"{llm} · {METHODS[method]}" for llm, method in published[published["task"] == 0][["llm", "method"]].to_numpy()
    ]
    np.testing.assert_allclose([rows[name].value for name in names], expected, atol=1e-9)
    assert all(rate.low < rate.value < rate.high for rate in rows.values())
    exact = {row.system: row.weighted.value for row in subset.known_rows("exact_match")}
    assert all(exact[name] >= rows[name].value for name in names)


def own(rng, **published):
    """The row of a model that answered 28 questions, of which five are unknown."""
    correct = pd.Series(np.r_[np.full(5, np.nan), rng.integers(0, 2, 23)], subset.asked("curated")["question_id"][:28])
    return correct, subset.row_of("<b>mine", correct, "curated", published, "self-reported, not checked")


def test_what_is_missing_or_unknown_bounds_the_rates(rng):
    correct, row = own(rng)
    weight = subset.asked("curated").set_index("question_id")["weight"]
    assert (row.answered, row.unknown, row.questions) == (28, 5, len(weight))
    low = weight[correct.index[correct == 0]].sum() / weight.sum()
    assert row.weighted[1:] == pytest.approx((low, low + 1 - weight[correct.dropna().index].sum() / weight.sum()))
    assert subset.record(row)["weighted"]["value"] is None


@pytest.mark.parametrize("order", subset.ORDERS)
def test_a_visitors_row_is_marked_without_a_number_and_unknown_answers_earn_no_better_place(order, rng):
    _, mine = own(rng)
    html = subset.leaderboard([*subset.known_rows(), mine], order)
    assert html.count("<tr") == 23
    row = html[html.index('<tr class="own">') :].partition("</tr>")[0]
    assert "<bdi>&lt;b&gt;mine</bdi>" in row
    assert "self-reported, not checked" in row
    assert not re.search(r"\d+\. <bdi>&lt;b", row)
    size = len(subset.asked("curated"))
    assert f"28 of {size} answered, 23 known to be right or wrong" in row
    assert html.rindex("<tr ") == html.index('<tr class="own">')  # the last: it may be the worst


@pytest.mark.parametrize(("task", "number"), [("TriviaQA", 0), ("MMLU", 1)])
def test_the_papers_numbers_sort_the_board_and_disagree_with_the_error_rate(task, number):
    published = pd.read_parquet(ROOT / "triviaqa_subset" / "data" / "published.parquet")
    published = published[published["task"] == number]
    rows = subset.known_rows(task=task)
    assert len(rows) == len(published) == 21
    orders = {}
    for order, key in subset.ORDERS.items():
        html = subset.leaderboard(rows, order)
        shown = [float(text) for text in re.findall(r"<td class=chosen>([\d.]+)", html)]
        np.testing.assert_allclose(shown, np.sort(published[str(key)]), atol=5e-4)
        orders[order] = re.findall("<bdi>(.*?)</bdi><small>(.*?)<", html)
    assert orders["0"] != orders["∞ (error rate)"]
    assert sum(">1st by error rate" in row for row in html.split("</tr>")) == 1


def test_a_plan_is_the_commands_with_the_design_of_the_subset():
    header, rows = subset.plan([0.3, 0.36], auroc=0.8, correlation=0.5, difference=0.05)
    assert header == ["questions", "error_rate", "ecuas_0", "ecuas_1"]
    weights = subset.asked("curated")["weight"]
    effect = (weights**2).mean() / weights.mean() ** 2
    weighted, plain, kept = ([float(cell) for cell in row[1:]] for row in rows[:3])
    assert weighted == pytest.approx([value * effect**0.5 for value in plain], abs=1e-3)
    assert kept == pytest.approx(
        [value * (len(weights) / len(subset.asked("kept"))) ** 0.5 for value in plain], abs=1e-3
    )
    needed = [int(cell) for cell in rows[3][1:]]
    assert needed == pytest.approx([len(weights) * (value / 0.05) ** 2 for value in plain], rel=0.03)
