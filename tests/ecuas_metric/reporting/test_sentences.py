"""What is said of a verdict: who is named, by which numbers, and how surely."""

import math
from dataclasses import replace

import pytest

from ecuas_metric.comparison.rows import REJECTING
from ecuas_metric.comparison.verdict import Region, make_verdict
from ecuas_metric.metric import Key
from ecuas_metric.reporting.sentences import headline, sentence_by_metric, sentence_on_costs
from tests.ecuas_metric.reporting.compared import ALPHA, AUROC, COVERAGE, ER, rows_of

ECUAS_1 = Key("ecuas", 1.0)
SCALE = "where 0 is perfect and 1 is rejecting every answer (ECUAS_1)"


def said(values, key=ECUAS_1, p=0.001, **options):
    (ranking,) = make_verdict(rows_of(values, key, p, **options)).rankings.values()
    return sentence_by_metric(ranking)


COSTS = "a costs users less than b: 0.100 against 0.300"
FEWER = "b makes fewer mistakes, 10.0% against 20.0%"
CLEAR = "That is more than chance."


@pytest.mark.parametrize(
    ("key", "p", "sentence"),
    [
        (ECUAS_1, 0.001, f"{COSTS}, {SCALE}. {CLEAR}"),
        (ECUAS_1, ALPHA, f"{COSTS}, {SCALE}. {CLEAR}"),
        (
            ECUAS_1,
            0.0501,
            f"Too close to call: a costs users 0.100 and b 0.300, {SCALE}. The gap of 0.200 may be chance.",
        ),
        (ER, 0.001, f"a makes fewer mistakes than b: 10.0% against 30.0%. {CLEAR}"),
        (AUROC, 0.001, f"b is better than a by AUROC: 0.300 against 0.100. {CLEAR}"),
        (
            Key("expected_cost", 0.2),
            0.001,
            f"Where rejecting costs 0.2 of a mistake, {COSTS}. {CLEAR}",
        ),
        (COVERAGE, 0.001, "No winner by Cov_0.2: neither high nor low is better by itself."),
    ],
)
def test_two_systems_have_one_sentence_a_metric(key, p, sentence):
    assert said({"a": 0.1, "b": 0.3}, key, p) == sentence


def test_what_is_equal_or_undefined_has_a_sentence():
    equal = said({"a": 0.1, "b": 0.1}, p=1.0)
    assert equal == f"a and b cost users the same: 0.100 each, {SCALE}."
    undefined = said({"a": 0.1, "b": math.nan}, AUROC)
    assert undefined == "No winner: AUROC is not defined for every system."


def test_what_is_not_tested_or_may_not_rank_names_no_winner():
    text = said({"a": 0.1, "b": 0.3}, Key("ece"), math.nan, untested="biased")
    assert text == "Not tested, since the metric is biased: ECE is 0.100 for a and 0.300 for b."
    assert said({"a": 0.1, "b": 0.3}, AUROC, math.nan, comparable=False).startswith("No winner: ")


@pytest.mark.parametrize(
    ("significant", "beginning"),
    [
        (lambda pair: True, "b costs users least of the four: 0.100, then c with 0.200, "),
        (
            lambda pair: False,
            "Too close to call between b (0.100), c (0.200), a (0.300), d (0.400)",
        ),
        (
            lambda pair: pair != {"b", "c"},
            "Too close to call between the best two of four: b costs users 0.100 and c 0.200, ",
        ),
        # a and d are worse than b or c, and b is not told from c
        (
            lambda pair: pair in ({"b", "d"}, {"a", "c"}),
            "Too close to call between the best two of",
        ),
    ],
)
def test_of_many_systems_those_are_named_that_may_be_best(significant, beginning):
    values = {"a": 0.3, "b": 0.1, "c": 0.2, "d": 0.4}
    text = said(values, p=lambda *pair: 0.01 if significant(set(pair)) else 0.2)
    assert text.startswith(beginning)


@pytest.mark.parametrize(
    ("values", "beginning"),
    [
        ({"a": 0.1, "b": 0.2}, "Too close to call: a costs users 0.100 and b 0.200"),
        (
            {"a": 0.1, "b": 0.2, REJECTING: 0.9},
            "Where rejecting costs 0.2 of a mistake, too close to call: a costs users 0.100 and b 0.200",
        ),
        (
            {"a": 0.1, "b": 0.2, "c": 0.9, REJECTING: 0.9},
            "Where rejecting costs 0.2 of a mistake, too close to call between the best two of three: a costs",
        ),
        (
            {"a": 0.1, REJECTING: 0.2, "c": 0.9},
            "Where rejecting costs 0.2 of a mistake, too close to call between the best two: a costs",
        ),
    ],
)
def test_rejecting_everything_is_not_counted_as_a_system(values, beginning):
    key = Key("expected_cost", 0.2) if REJECTING in values else ECUAS_1
    text = said(values, key, p=lambda *pair: 0.01 if 0.9 in map(values.get, pair) else 0.2)
    assert text.startswith(beginning)


def test_each_winner_over_reject_costs_is_named_once():
    verdict = make_verdict(rows_of({"a": 0.1, "b": 0.2}, ECUAS_1, 0.5))
    (ranking,) = verdict.rankings.values()
    strip = {Key("expected_cost", cost): ranking for cost in (0.1, 0.2)}
    regions = (Region("a", 0.1, 0.2), Region("b", 0.3, 0.3), Region("a", 0.4, 0.4))
    for count, beginning in (
        (1, "If rejecting costs 0.10 to 0.20 of a mistake, a is clearly cheapest; "),
        (2, "If rejecting costs 0.10 to 0.20 of a mistake, a is clearly cheapest, at 0.30 b; "),
        (3, "If rejecting costs 0.10 to 0.20 or 0.40 of a mistake, a is clearly cheapest, at 0.30"),
    ):
        text = sentence_on_costs(replace(verdict, regions=regions[:count], strip=strip))
        assert text.startswith(beginning)


def test_numbers_have_as_many_digits_as_tell_them_apart():
    assert "0.10000 against 0.10004" in said({"a": 0.1, "b": 0.10004})
    assert said({"a": 0.1, "b": 0.1, "c": 0.1}, p=1.0).startswith(
        "All 3 cost users the same: 0.100 each"
    )


@pytest.mark.parametrize(
    ("rates", "p", "remark"),
    [
        ({"a": 0.2, "b": 0.1}, 0.3, f"{FEWER}: maybe by chance."),
        ({"a": 0.2, "b": 0.1}, 0.01, f"{FEWER}: more than chance."),
        ({"a": 0.1, "b": 0.1}, 1.0, "Both get 10.0% wrong."),
        ({"a": 0.1, "b": 0.2}, 0.01, ""),
    ],
)
def test_mistakes_are_named_where_they_point_the_other_way_or_tie(rates, p, remark):
    rows = rows_of({"a": 0.1, "b": 0.3}, ECUAS_1) + rows_of(rates, ER, p)
    text = headline(make_verdict(rows))
    assert text.startswith(COSTS)
    assert text.endswith(remark or CLEAR)
