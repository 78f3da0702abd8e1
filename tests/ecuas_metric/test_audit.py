"""A judge's verdicts corrected by people's labels of some answers: what must hold of values, intervals and tests."""

import itertools

import numpy as np
import pytest

from ecuas_metric import (
    InputError,
    confidence_system,
    score_confidences,
)
from ecuas_metric.comparison.planning import plan_labels
from ecuas_metric.metric import METRICS, Key
from ecuas_metric.plotting.curves import reliability
from ecuas_metric.rejection import choose_reject_cost
from ecuas_metric.results import compute_results
from ecuas_metric.summary import summarize_system

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
OPTIONS = {"n": (0, 1), "reject_costs": 0.3, "confidence_level": 0.95}


def judged(rng, size=600, errs=0.1):
    """Return confidences, correctness and a judge's verdicts (N,) that err now and then."""
    confidence = rng.random(size).round(2)
    correct = (rng.random(size) < confidence).astype(float)
    verdict = np.where(rng.random(size) < errs, 1 - correct, correct)
    return confidence, correct, verdict


def audited(correct, rows):
    """Return the labels (N,) of some answers, nan of the others."""
    labels = np.full(len(correct), np.nan)
    labels[rows] = np.asarray(correct)[rows]
    return labels


def results_of(labels, confidence, judge, **options):
    return compute_results(confidence_system(labels, confidence, judge=judge, **OPTIONS | options))


def width(estimate):
    return estimate.high - estimate.low


@pytest.mark.parametrize("errs", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("option", ["none", "sample_weight", "abstained"])
def test_where_people_label_all_the_judge_changes_no_number(errs, option, rng):
    confidence, correct, verdict = judged(rng, errs=errs)
    more = {"sample_weight": rng.random(600) + 0.5, "abstained": rng.random(600) < 0.2}
    options = OPTIONS | {name: value for name, value in more.items() if name == option}
    plain = compute_results(confidence_system(correct, confidence, **options)).estimates
    found = results_of(correct, confidence, verdict, **options)
    for key, estimate in found.estimates.items():
        assert estimate.value == pytest.approx(plain[key].value, rel=1e-9), key
        is_rare = plain[key].value < 0.05  # a few mistakes, of which the fit says little
        near = pytest.approx(width(plain[key]), rel=0.3 if is_rare else 0.06)
        assert width(estimate) == near, key
    every = {key for key in plain if key.metric != "ece"}
    assert found.estimates.keys() == every


@pytest.mark.long
def test_the_mean_over_all_draws_is_the_value_of_all_answers():
    confidence = np.array([0.1, 0.3, 0.35, 0.5, 0.6, 0.6, 0.7, 0.8, 0.9, 0.95])
    correct = np.array([0, 0, 1, 0, 1, 0, 1, 1, 1, 1])
    judge = np.array([0, 1, 1, 0, 0, 1, 1, 1, 1, 1])
    values = []
    for rows in itertools.combinations(range(10), 6):
        labels = audited(correct, list(rows))
        system = confidence_system(labels, confidence, judge=judge, n=1)
        values.append(system.decisions.candidate_cost.mean())
    bias = np.mean(values) - (1 - correct.mean())
    assert abs(bias) < 0.1 * np.std(values)


def test_no_number_depends_on_the_order_of_the_answers(rng):
    confidence, correct, verdict = judged(rng)
    verdict[:30] = np.nan
    labels = audited(correct, rng.permutation(600)[:120])
    weight = rng.random(600) + 0.5
    groups = np.arange(600) // 3
    order = rng.permutation(600)
    options = {"sample_weight": weight, "groups": groups}
    moved = {name: values[order] for name, values in options.items()}
    found = results_of(labels, confidence, verdict, **options).flat()
    other = results_of(labels[order], confidence[order], verdict[order], **moved).flat()
    assert found == pytest.approx(other, rel=1e-8)


def test_a_plan_of_labels_begins_with_the_interval_and_falls_to_that_of_all_labels(rng):
    confidence, correct, verdict = judged(rng, size=2000)
    labels = audited(correct, rng.permutation(2000)[:200])
    system = confidence_system(labels, confidence, judge=verdict, **OPTIONS)
    plans = plan_labels(system)
    estimates = compute_results(system).estimates
    assert {plan.key.metric for plan in plans} >= {"error_rate", "ecuas", "confidence_brier_score"}
    assert "aurc" not in {plan.key.metric for plan in plans}
    for first, second, last in zip(plans[::3], plans[1::3], plans[2::3], strict=True):
        assert [first.labels, second.labels, last.labels] == [200, 400, 800]
        assert first.half_width == pytest.approx(width(estimates[first.key]) / 2)
        assert first.half_width > second.half_width > last.half_width
        more = audited(correct, rng.permutation(2000)[:800])
        found = results_of(more, confidence, verdict).estimates[last.key]
        assert last.half_width == pytest.approx(width(found) / 2, rel=0.25)
    silent = np.arange(2000) >= 700  # nobody can label these
    some = audited(correct, rng.permutation(700)[:300])
    system = confidence_system(some, confidence, judge=verdict, abstained=silent, **OPTIONS)
    assert [plan.labels for plan in plan_labels(system)][:4] == [300, 600, 700, 300]
    with pytest.raises(InputError, match="needs a judge's verdicts"):
        plan_labels(confidence_system(correct, confidence, **OPTIONS))
    few = audited(correct, np.flatnonzero(correct)[:60])
    with pytest.raises(InputError, match="needs 5 wrong and 5 right"):
        plan_labels(confidence_system(few, confidence, judge=verdict, **OPTIONS))


def test_a_judge_counts_from_as_many_mistakes_as_intervals_need(rng):
    confidence, correct, verdict = judged(rng)
    wrong = np.flatnonzero(correct == 0)
    right = np.flatnonzero(correct == 1)
    for count, uses in ((4, ()), (5, ("ecuas",)), (10, ("ecuas", "auroc"))):
        rows = np.r_[wrong[:count], right[:60]]
        labels = audited(correct, rows)
        found = results_of(labels, confidence, verdict)
        alone = compute_results(confidence_system(correct[rows], confidence[rows], **OPTIONS))
        for key, estimate in found.estimates.items():
            if key.metric in ("ecuas", "auroc"):
                by_people = estimate.value == pytest.approx(alone.estimates[key].value)
                assert by_people == (key.metric not in uses), (count, key)
        noted = [note for note in found.notes if note.id == "judge_not_used"]
        assert len(noted) == (count < 10)


def test_unequal_probabilities_of_the_draw_are_undone(rng):
    confidence, correct, _ = judged(rng, size=4000)
    verdict = rng.integers(0, 2, 4000)
    chance = np.where(confidence > 0.5, 0.1, 0.4)
    rows = np.flatnonzero(rng.random(4000) < chance)
    labels = audited(correct, rows)
    truth = 1 - correct.mean()
    key = Key("error_rate")
    found = results_of(labels, np.full(4000, 0.5), verdict)
    system = confidence_system(
        labels, np.full(4000, 0.5), judge=verdict, audit_probability=chance, **OPTIONS
    )
    weighted = compute_results(system).estimates[key]
    assert weighted.low < truth < weighted.high
    assert not found.estimates[key].low < truth < found.estimates[key].high


def test_one_stratum_is_none_and_strata_are_weighted_by_their_size(rng):
    confidence, correct, verdict = judged(rng, size=2000)
    labels = audited(correct, rng.permutation(2000)[:200])
    expected = results_of(labels, confidence, verdict)
    one = results_of(labels, confidence, verdict, strata=np.ones(2000))
    assert one.flat() == pytest.approx(expected.flat())
    stratum = (confidence > 0.3).astype(int)
    drawn = np.r_[np.flatnonzero(stratum == 0)[:100], np.flatnonzero(stratum == 1)[:100]]
    system = confidence_system(
        audited(correct, drawn), confidence, judge=verdict, strata=stratum, **OPTIONS
    )
    assert "audit_not_drawn" not in [note.id for note in system.notes]
    cost = system.decisions.candidate_cost
    weight = system.audit.factor
    for one in (0, 1):
        inside = stratum == one
        assert weight[inside].sum() == pytest.approx(inside.sum())
    found = compute_results(system).estimates[Key("error_rate")]
    assert found.value == pytest.approx(cost.mean())
    assert found.low < 1 - correct.mean() < found.high


@pytest.mark.parametrize(
    "option",
    [
        {"normalize": True},
        {"decompose": True},
        {"calibration": True},
        {"interval_method": "percentile", "confidence_level": 0.9},
        {"sample_weight": [1] * 600, "weights_are": "counts"},
    ],
)
def test_options_that_do_not_hold_are_refused(option, rng):
    confidence, correct, verdict = judged(rng)
    with pytest.raises(InputError, match="is not valid with the verdicts of a judge"):
        confidence_system(audited(correct, range(90)), confidence, judge=verdict, **option)


def test_what_does_not_hold_is_refused_by_its_name(rng):
    confidence, correct, verdict = judged(rng)
    system = confidence_system(audited(correct, range(90)), confidence, judge=verdict, **OPTIONS)
    means = [
        name for name, metric in METRICS.items() if metric.cost or metric.ratio or metric.has_audit
    ]
    for name, metric in METRICS.items():
        parameter = 0.3 if metric.parameter else None
        key = Key(name, parameter)
        if metric.needs in ("costs", "posteriors") or name in means:
            continue
        with pytest.raises(InputError, match="not valid with the verdicts"):
            compute_results(system, only=[key])
    for refused in (
        lambda: summarize_system(system),
        lambda: reliability(system),
        lambda: choose_reject_cost(system, max_risk=0.2),
    ):
        with pytest.raises(InputError, match="not valid with the verdicts"):
            refused()
    with pytest.raises(InputError, match="must lie in"):
        confidence_system(
            audited(correct, range(90)),
            confidence,
            judge=verdict,
            audit_probability=np.zeros(600),
        )
    with pytest.raises(InputError, match="two or more"):
        score_confidences(audited(correct, [3]), confidence, judge=verdict)
    with pytest.raises(InputError, match="changes nothing without judge"):
        score_confidences(correct, confidence, audit_probability=[0.1] * 600)
    with pytest.raises(InputError, match="two or more answers of each stratum"):
        confidence_system(
            audited(correct, range(90)), confidence, judge=verdict, strata=np.arange(600) // 300
        )
