"""Who is cheapest: as the comparison of the product says, in its sentences, against arithmetic."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from ecuas_metric import confidence_system, fixed_reject_cost
from ecuas_metric.comparison import compare
from ecuas_metric.comparison.compare import compare_pairable
from ecuas_metric.comparison.verdict import plain_name
from ecuas_metric.plotting.curves import reject_cost_curve
from ecuas_metric.reporting.sentences import sentence_by_metric, sentence_on_costs
from space import verdict

# of all decisions but that of the examples, which is made once
pytestmark = pytest.mark.usefixtures("few_reject_costs")
system_of = partial(confidence_system, confidence_level=0.95)


@pytest.fixture(scope="module")
def decision(examples):
    return verdict.decide(examples)


def at(decision, cost):
    return decision.rankings[int(np.abs(decision.tested - cost).argmin())]


def filled(decision, ranking):
    """Return the sentence on a ranking, with the numbers of the product itself."""
    order = [*ranking.best, *(name for name in ranking.values if name not in ranking.best)]
    numbers = iter(re.findall(r"\d\.\d{3,}", sentence_by_metric(ranking)))
    parts = verdict.fill(
        verdict.templates(decision)[verdict.standing_of(ranking)],
        lambda kind, i: plain_name(order[i]) if kind == "name" else next(numbers),
    )
    return "".join(text for _, text in parts)


@pytest.mark.long
def test_the_example_has_a_clear_choice_that_changes_with_the_reject_cost(decision):
    assert at(decision, 0.1).best == ("calibrated_model",)
    assert set(at(decision, 0.3).best) >= {"overconfident_model", "calibrated_model"}
    assert at(decision, 0.7).best == ("overconfident_model",)


def test_sentences_with_places_are_those_of_the_product(decision, rng):
    """At each reject cost, of one system, of several and of equal ones; only the unit is the page's own."""
    confidence = rng.random(60)
    systems = {
        f"s{i}": system_of((rng.random(60) < confidence).astype(int), confidence.clip(0, 1 - i / 9))
        for i in range(8)
    }
    alike = {name: systems["s0"] for name in "ab"}
    decisions = (
        verdict.decide({"s0": systems["s0"]}),
        *map(verdict.decide, (systems, alike)),
        decision,
    )
    states = set()
    for one in decisions:
        for ranking in one.rankings:
            prefix, _, said = sentence_by_metric(ranking).partition(", ")
            assert prefix == f"Where rejecting costs {ranking.key.parameter:g} of a mistake"
            assert filled(one, ranking).lower() == said.lower().replace("\u2060", "")
            states.add(ranking.state)
        template, ends = verdict.template_on_costs(one)
        names = list(one.curves)
        parts = verdict.fill(
            template,
            lambda kind, i, ends=ends, names=names: (
                f"{ends[i]:.2f}" if kind == "at" else plain_name(names[i])
            ),
        )
        theirs = sentence_on_costs(one.verdict).replace(" of a mistake", "")
        assert "".join(text for _, text in parts) == theirs
    assert states == {"clear", "close"}


def test_a_file_of_other_questions_is_left_out_of_the_verdict(examples):
    system = next(iter(examples.values()))
    others = replace(system, ids=[f"x{k}" for k in range(system.num_samples)])
    decision = verdict.decide({**examples, "other": others})
    assert (
        decision.verdict.to_json()["by_metric"] == compare_pairable(examples).to_json()["by_metric"]
    )
    (remark,) = verdict.remarks(decision)
    assert remark.startswith("Left out: other. ")
    assert verdict.by_importance(decision)[-1] == "other"


@pytest.mark.parametrize("systems", [1, 2])
def test_one_answer_leads_to_no_verdict(systems):
    one = system_of([1], [0.7])
    said = verdict.decide({str(i): one for i in range(systems)})
    assert said.startswith("Which is cheapest cannot be decided: there are too few answers")


def test_what_rejects_everything_is_no_system_of_the_verdicts_and_one_system_needs_no_ids(examples):
    """ECUAS_n compares the systems alone, as `ecuas compare` does; a reject cost has one choice beside these."""
    for systems in (dict(list(examples.items())[:number]) for number in (1, 2, 3)):
        decision = verdict.decide(systems)
        rows = decision.verdict.rows
        assert {name for row in rows for name in (row.first, row.second)} <= set(systems)
        assert list(decision.curves) == [*systems, verdict.REJECTING]
    name, system = next(iter(examples.items()))
    repeated = replace(system, ids=["same"] * system.num_samples)
    assert verdict.decide({name: repeated}).rankings == verdict.decide({name: system}).rankings
    said = verdict.decide({name: repeated, "again": repeated})
    assert "must be unique; got 'same' repeatedly" in said


@pytest.mark.parametrize("num_classes", [None, 3])
@pytest.mark.parametrize("size, exact", [(40, True), (30_000, False)])
def test_costs_are_the_metrics_at_every_reject_cost(num_classes, size, exact, rng):
    """Of many samples, between the tested reject costs, but for the thousandth that is drawn in one step."""
    correct, confidence = rng.integers(0, 2, size), rng.random(size).round(3 if exact else 9)
    system = system_of(correct, confidence, num_classes=num_classes)
    decision = verdict.decide({"a": system})
    u_max = system.decisions.max_uncertainty
    assert decision.largest == u_max
    answers = {
        "candidate_cost": 1 - correct,
        "uncertainty": 1 - confidence,
        "max_uncertainty": u_max,
    }
    for cost in decision.tested:
        ours = fixed_reject_cost(**answers, reject_cost=cost).mean()
        assert decision.at(cost)["a"][0] == pytest.approx(ours, abs=1e-12)
    anywhere = rng.random(500) * u_max
    curve = reject_cost_curve(system, reject_cost=anywhere)
    found = np.array([decision.at(cost)["a"] for cost in anywhere])
    allowed = 1e-12 if exact else 1 / (verdict.POINTS / 2 - 1)
    np.testing.assert_allclose(found[:, 0], curve.expected_cost, atol=allowed)
    np.testing.assert_allclose(found[:, 1], curve.coverage, atol=allowed)
    assert decision.at(u_max)[verdict.REJECTING] == (u_max, 0)


def test_where_there_is_too_much_to_test_costs_are_shown_and_that_is_said(monkeypatch):
    monkeypatch.setattr(compare, "MAX_WORK", 0)
    decision = verdict.decide({"a": system_of([1, 0] * 30, [0.75, 0.5] * 30)})
    assert (decision.rankings, decision.last) == ([], np.inf)
    assert decision.at(0.5)["a"] == (0.5, 1)
    (template,) = verdict.templates(decision).values()
    assert template[-1].endswith(verdict.TOO_MANY)
    assert verdict.sentences(decision)[0] == verdict.TOO_MANY
    assert verdict.unclear(decision) == "not tested"
