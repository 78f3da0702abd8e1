"""Who is cheapest: against arithmetic, and as the comparison says, whose error rates are tested there."""

import json
import re
from dataclasses import replace
from functools import partial
from html import unescape

import numpy as np
import pytest
from markupsafe import Markup

from ecuas_metric import confidence_system, fixed_reject_cost, read_submissions
from ecuas_metric.comparison import compare
from ecuas_metric.comparison.judge import judge_systems
from ecuas_metric.files.systems import prepare_submissions
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
    monkeypatch.setattr(compare, "GRIDS", (10,))


def at(decision, cost):
    return decision.calls[int(np.abs(decision.reject_costs - cost).argmin())]


def data_in(html):
    return json.loads(unescape(re.search(r'data-all="([^"]*)"', html)[1]))


def said(call):
    return Markup(verdict.said(call)).striptags()


def test_the_example_has_a_clear_choice_that_changes_with_the_reject_cost(decision, examples):
    assert at(decision, verdict.SHOWN_FIRST).best == ("calibrated_model",)
    assert set(at(decision, 0.3).best) >= {"overconfident_model", "calibrated_model"}
    assert at(decision, 0.7).best == ("overconfident_model",)
    stretches = verdict.stretches(decision)
    winners, lows, highs = zip(*stretches, strict=True)
    assert winners == (None, "calibrated_model", None, "overconfident_model", None)
    assert (0, *highs) == (*lows, 1)  # the strip covers the slider
    html = verdict.as_html(decision, slots(examples))
    assert sum(map(float, re.findall(r"width:([\d.]+)%", html))) == pytest.approx(100, abs=0.1)


def test_headline_strip_and_sentence_never_disagree(decision):
    """A headline names a winner where the strip has its colour, and a stretch starts at a cost that was clear."""
    coloured = {}
    for winner, low, high in verdict.stretches(decision):
        for call in decision.calls:
            if winner is not None and low <= call.key.parameter <= high:
                coloured[call.key] = winner
    for call in decision.calls:
        assert call.winner == coloured.get(call.key)
        assert ("is clearly" in said(call)) == (call.key in coloured)
        if call.winner:
            rivals = [row for row in call.rows if call.winner in (row.first, row.second)]
            assert all(row.p_adjusted <= 0.05 for row in rivals)


def test_the_page_arranges_the_verdict_that_python_and_the_command_give(decision, examples):

    theirs = judge_systems(examples)
    again = verdict.decide(examples).verdict
    assert again.to_json() == theirs.to_json()


def test_a_file_of_other_questions_is_left_out_of_the_verdict(examples):
    system = next(iter(examples.values()))
    others = replace(system, ids=[f"x{k}" for k in range(system.num_samples)])
    decision = verdict.decide({**examples, "other": others})
    assert decision.verdict.to_json()["by_metric"] == judge_systems(examples).to_json()["by_metric"]
    (remark,) = verdict.remarks(decision)
    assert remark.startswith("Left out: other. ")
    html = verdict.as_html(decision, slots([*examples, "other"]))
    assert "Left out: other." in html
    assert verdict.by_importance(decision)[-1] == "other"


@pytest.mark.parametrize("systems", [1, 2])
def test_one_answer_leads_to_no_verdict(systems):
    one = system_of([1], [0.7])
    said = verdict.decide({str(i): one for i in range(systems)})
    assert said.startswith("Which is cheapest is not said: there are too few answers")


def test_what_rejects_everything_is_no_system_of_the_verdicts_and_one_system_needs_no_ids(examples):
    """ECUAS_n compares the systems alone, as `ecuas compare` does; a reject cost has one choice beside these."""
    for systems in (dict(list(examples.items())[:number]) for number in (1, 2, 3)):
        decision = verdict.decide(systems)
        rows = decision.verdict.rows
        assert {name for row in rows for name in (row.first, row.second)} <= set(systems)
        assert " and rejecting everything, " in verdict.sentences(decision)[0]
        assert verdict.REJECTING not in "".join(verdict.sentences(decision)[1:])
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
            of_nothing = call.row(verdict.REJECTING, "a")
            assert of_nothing.first_value == pytest.approx(cost)
            assert of_nothing.low >= cost - 1 - 1e-9
            assert of_nothing.high <= cost + 1e-9


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
        decision.curves[verdict.REJECTING].expected_cost, decision.reject_costs
    )


def test_identical_systems_cost_the_same_and_answering_nothing_is_a_choice_too():
    decision = verdict.decide({"a": system_of([0] * 30, [0.9] * 30)})
    assert f"{verdict.REJECTING} is clearly cheaper than a." in said(at(decision, 0.5))
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
