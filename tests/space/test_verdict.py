"""Who is cheapest: against arithmetic, and as the comparison says, whose error rates are tested there."""

import json
import math
import re
from dataclasses import replace
from functools import partial
from html import unescape

import numpy as np
import pytest
from markupsafe import Markup

from ecuas_metric import confidence_system, fixed_reject_cost, read_submissions
from ecuas_metric.comparison.compare import compare_systems
from ecuas_metric.metric import Key
from ecuas_metric.reporting.report import prepare_submissions
from space import verdict
from space.figures import slots
from tests.conftest import ROOT

EXAMPLES = [
    ROOT / "space" / "examples" / f"{name}_model.csv"
    for name in ("calibrated", "overconfident", "verbal")
]
system_of = partial(confidence_system, confidence_level=0.95)


@pytest.fixture(scope="module")
def examples():
    return prepare_submissions(
        [one for path in EXAMPLES for one in read_submissions(path)], confidence_level=0.95
    )


@pytest.fixture(scope="module")
def decision(examples):
    return verdict.decide(examples)


@pytest.fixture(autouse=True)
def few_reject_costs(monkeypatch):
    """Of all decisions but that of the examples, which is made once."""
    monkeypatch.setattr(verdict, "GRIDS", (10,))


def at(decision, cost):
    return decision.calls[int(np.abs(decision.reject_costs - cost).argmin())]


def data_in(html):
    return json.loads(unescape(re.search(r'data-all="([^"]*)"', html)[1]))


def said(call):
    return Markup(verdict.said(call, 0.5)).striptags()


def test_the_example_has_a_clear_choice_that_changes_with_the_reject_cost(decision, examples):
    assert at(decision, verdict.SHOWN_FIRST).alone() == ["calibrated_model"]
    assert at(decision, 0.3).alone()[:2] == ["overconfident_model", "calibrated_model"]
    assert at(decision, 0.6).alone() == ["overconfident_model"]
    stretches = verdict.stretches(decision)
    winners, lows, highs = zip(*stretches, strict=True)
    assert winners == (None, "calibrated_model", None, "overconfident_model")
    assert (0, *highs) == (*lows, 1)  # the strip covers the slider
    html = verdict.as_html(decision, slots(examples))
    assert sum(map(float, re.findall(r"width:([\d.]+)%", html))) == pytest.approx(100, abs=0.1)
    assert all(call.winner() in (None, *call.alone()) for call in decision.calls)


def test_numbers_are_those_of_the_comparison(examples, decision):
    """At one reject cost the same call, for that cost alone, gives difference, interval and best systems."""
    systems = {**examples, verdict.NOTHING: verdict.rejecting_system(examples["verbal_model"])}
    row = compare_systems(systems, only=[Key("expected_cost", 0.6)])[0]
    rival = at(decision, 0.6).rivals[0]
    ours, theirs = ((one.low_best, one.high_best) for one in (rival, row))
    assert ours == pytest.approx(theirs, abs=0.01)  # of other draws
    for field in ("first", "second", "difference", "low", "high", "p", "second_value"):
        assert getattr(rival, field) == getattr(row, field), field


@pytest.mark.parametrize("number", [1, 2, 5])
def test_a_system_is_clearly_cheaper_where_the_interval_that_is_shown_leaves_out_0(number, rng):
    """Of one system, that is the plain interval of its cost less the reject cost; of several, none is narrower."""
    hard = rng.random(60)
    confidence = rng.random((number, 60))
    systems = {
        str(i): system_of((hard < p - 0.5 * (i > 0)).astype(int), p)
        for i, p in enumerate(confidence)
    }
    decision = verdict.decide(systems)
    for call in decision.calls:
        names = call.alone()
        assert call.winner() is None or names == [call.winner()]
        for row in call.rivals:
            assert (row.first in names) == (row.low_best <= 0)
            assert row.low_best <= row.low + 1e-12
            assert row.high_best >= row.high - 1e-12
        if number == 1:
            assert (row.low_best, row.high_best) == pytest.approx((row.low, row.high))
    assert {len(call.alone()) > 1 for call in decision.calls} == {True, False}


@pytest.mark.parametrize("systems", [1, 2])
def test_one_answer_leads_to_no_verdict(systems):
    one = system_of([1], [0.7])
    said = verdict.decide({str(i): one for i in range(systems)})
    assert said.startswith("Which is cheapest is not said: there are too few answers")


def test_what_rejects_everything_is_no_system_of_the_verdicts_and_one_system_needs_no_ids(examples):
    """ECUAS_n compares the systems alone, as `ecuas compare` does; a reject cost has one choice beside these."""
    for systems in (dict(list(examples.items())[:number]) for number in (1, 2, 3)):
        decision = verdict.decide(systems)
        assert {name for row in decision.orders for name in (row.first, row.second)} <= set(systems)
        assert len(decision.orders) == 3 * math.comb(len(systems), 2)
        assert " and rejecting everything, " in verdict.sentences(decision)[0]
        assert verdict.NOTHING not in "".join(verdict.sentences(decision)[1:])
    name, system = next(iter(examples.items()))
    repeated = replace(system, ids=["same"] * system.num_samples)
    assert verdict.decide({name: repeated}).calls == verdict.decide({name: system}).calls
    said = verdict.decide({name: repeated, "again": repeated})
    assert "must be unique; got 'same' repeatedly" in said


def test_no_difference_to_rejecting_everything_needs_a_negative_cost(rng):
    for size in (2, 4, 20):
        confidence = rng.random(size)
        system = system_of(np.arange(size) % 2, confidence)
        decision = verdict.decide({"a": system})
        for cost, call in zip(decision.reject_costs, decision.calls, strict=True):
            (row,) = call.rivals
            of_nothing = row if row.first == verdict.NOTHING else row.turned()
            assert of_nothing.first_value == pytest.approx(cost)
            assert of_nothing.low_best >= cost - 1 - 1e-9
            assert of_nothing.high_best <= cost + 1e-9


@pytest.mark.parametrize("num_classes", [None, 3])
def test_costs_are_the_metrics_at_every_reject_cost(num_classes, rng):
    correct, confidence = rng.integers(0, 2, 40), rng.random(40).round(1)
    system = system_of(correct, confidence, num_classes=num_classes)
    decision = verdict.decide({"a": system})
    u_max = system.decisions.max_uncertainty
    assert decision.reject_costs[-1] == pytest.approx(u_max, abs=0.1)
    answers = {
        "candidate_cost": 1 - correct,
        "uncertainty": 1 - confidence,
        "max_uncertainty": u_max,
    }
    ours = [fixed_reject_cost(**answers, reject_cost=cost).mean() for cost in decision.reject_costs]
    np.testing.assert_allclose(decision.curves["a"].expected_cost, ours)
    np.testing.assert_allclose(
        decision.curves[verdict.NOTHING].expected_cost, decision.reject_costs
    )


def test_identical_systems_cost_the_same_and_answering_nothing_is_a_choice_too():
    decision = verdict.decide({"a": system_of([0] * 30, [0.9] * 30)})
    assert f"{verdict.NOTHING} is clearly cheaper than a." in said(at(decision, 0.5))
    system = system_of([1, 0, 1] * 20, [0.9, 0.2, 0.8] * 20)
    decision = verdict.decide({f"s{i}": system for i in range(6)})
    assert any(" and 4 more." in said(call) for call in decision.calls)
    decision = verdict.decide({"<u>": system, "b": system})
    assert re.search(
        r"0\.50, <u> and b cost the same\. *Cost per question, where a wrong answer costs 1: [\d.]+ each\.$",
        said(at(decision, 0.5)),
    )
    html = verdict.as_html(decision, slots(["<u>", "b"]))
    assert "<u>" not in html
    assert "<b><bdi>&lt;u&gt;</bdi></b>" in html.split('class="sayings"')[1].split("<div>")[5]


def test_systems_that_matter_have_the_colours_and_all_can_have_a_bar():
    """Who is clearly cheapest somewhere comes first, and grey is left to the dearest."""
    good = system_of([1] * 60, [0.9] * 60)
    bad = system_of([0] * 60, [0.9] * 60)
    systems = {"a": good} | {f"b{i}": bad for i in range(6)} | {"z": good}
    decision = verdict.decide(systems)
    data = data_in(verdict.as_html(decision, slots(systems)))
    assert data["best"][-1] == [0, 7]
    assert len(data["costs"]) == len(systems) + 1
    assert verdict.by_importance(decision)[:2] == ["a", "z"]


def test_each_system_is_named_once_with_all_of_its_stretches():
    parts = {"<a>": [(0.0, 0.1), (0.3, 0.4)], "b": [(0.1, 0.2)]}
    said = Markup(verdict.html("over_all", systems=[*parts], clear=parts)).striptags()
    assert said == (
        "Of these 2 systems and rejecting everything, <a> is clearly cheapest at reject costs from 0.00 to 0.10 and "
        "from 0.30 to 0.40, b is clearly cheapest at reject costs from 0.10 to 0.20."
    )


def test_too_much_to_test_is_said():
    large = system_of([1, 0] * 200_000, [0.5] * 400_000)
    decision = verdict.decide({"a": large})
    assert decision == verdict.TOO_MANY
    assert "too many" in verdict.as_html(decision, {})
