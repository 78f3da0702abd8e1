import math
from dataclasses import astuple

import numpy as np
import pytest

from ecuas_metric import score_confidences
from ecuas_metric.groups import tie_groups
from ecuas_metric.metric import Data
from ecuas_metric.options import checked_options
from ecuas_metric.order import AURC, aurc
from ecuas_metric.results import compute_results, prepare_system
from tests.ecuas_metric.held_out import answers
from tests.ecuas_metric.systems import inferred


def test_where_all_are_accepted_the_expected_cost_is_the_error_rate(rng):
    found, _ = inferred(rng.uniform(0.9, 1, 60), np.arange(60) >= 9, reject_costs=[0.3])
    assert astuple(found["expected_cost_0.3"]) == pytest.approx(
        astuple(found["error_rate"]), rel=0.02
    )


def test_what_would_not_hold_is_withheld_and_said(rng):
    p = rng.beta(4, 1.5, 300)
    options = {"decompose": True, "calibration": True, "n_resamples": 9, "n": 1}
    values, notes = inferred(p, answers(rng, p), **options)
    assert math.isnan(values["ece"].low)
    assert values["calibration_p"].low is None
    assert math.isnan(values["ecuas_1_calibration_loss"].high)
    assert values["ecuas_1_recalibrated"].low < values["ecuas_1_recalibrated"].value
    assert [note.id for note in notes] == ["biased", "recalibration_taken_as_given"]
    assert "ece, ecuas_1_calibration_loss" in str(notes[0])


@pytest.mark.parametrize(
    "options",
    [
        {"groups": ["doc"] * 5},
        {"strata": range(5)},
        {"groups": range(5), "strata": [0, 0, 0, 0, 1]},
    ],
)
def test_one_unit_in_a_stratum_has_no_interval_by_any_method(options):
    for method in ("analytic", "percentile"):
        more = {"interval_method": method, "n_resamples": 50} | options
        values, notes = inferred([0.9, 0.8, 0.7, 0.4, 0.6], [1, 0, 1, 0, 1], **more)
        assert all(math.isnan(estimate.low) for estimate in values.values())
        assert "two groups" in str(notes[0])


def test_what_is_asked_for_alone_has_the_interval_it_has_among_all(rng):
    p = rng.random(60)
    correct = answers(rng, p)
    added = {"normalize": True, "decompose": True, "reject_costs": 0.3, "calibration": True}
    options = checked_options(confidence_level=0.95, n_resamples=5, **added)
    posteriors = rng.dirichlet(np.ones(3), 90), rng.integers(0, 3, 90)
    for form, arrays in (("confidences", (p, correct)), ("posteriors", posteriors)):
        system = prepare_system(form, *arrays, options)
        for key, estimate in compute_results(system).estimates.items():
            ((name, found),) = compute_results(system, only=[key]).estimates.items()
            assert name == key
            np.testing.assert_equal(astuple(found), astuple(estimate), err_msg=str(key))


@pytest.mark.long
def test_analytic_intervals_are_about_the_bootstraps(rng):
    p = rng.beta(4, 1.5, 1000)
    correct = answers(rng, p)
    options = {
        "reject_costs": (0.2, 0.4),
        "normalize": True,
        "sample_weight": rng.random(1000) + 0.5,
    }
    ours, _ = inferred(p, correct, **options)
    theirs, _ = inferred(p, correct, interval_method="percentile", n_resamples=1000, **options)
    for key, estimate in theirs.items():
        value, *expected = astuple(ours[key])
        limits = [estimate.low, estimate.high]
        near = pytest.approx(expected, abs=0.15 * np.ptp(expected), nan_ok=True)
        assert (estimate.value, limits) == (value, near), key


@pytest.mark.parametrize("right", [0, 1, 2, 30, 58, 59, 60])
@pytest.mark.parametrize("high", [0.3, 1.0])
def test_no_limit_lies_outside_the_range_of_its_metric(right, high, rng):
    """Few right answers as few wrong ones: AURC at most 1, AUGRC 1/2, ECUAS_n what the surest mistake costs."""
    correct = rng.permutation(np.arange(60) < right).astype(int)
    found, _ = inferred(rng.uniform(0, high, 60).round(3), correct, n=(0, 1, 128), reject_costs=0.1)
    largest = {
        "aurc": 1,
        "augrc": 0.5,
        "ecuas_0": -math.log(1e-7),
        "ecuas_1": 2,
        "ecuas_128": 129 / 128,
    }
    for key, estimate in found.items():
        value, low, top = astuple(estimate)
        if key == "ece" or math.isnan(low):
            continue
        assert 0 <= low <= min(value, largest.get(key, 17)) <= top <= largest.get(key, 17), key
        if key != "auroc" or 0 < right < 60:
            assert low < top, key


@pytest.mark.parametrize("cost", ["zero_one", "log", [[0, 1e-9, 1], [1e6, 0, 1], [1, 1, 0]]])
@pytest.mark.parametrize("scale", [1, 30, 1e6, 1e100])
def test_every_interval_holds_its_value(scale, cost, rng):
    label = rng.integers(0, 3, 60)
    logits = scale * (rng.normal(size=(60, 3)) + np.eye(3)[label])
    options = {"predictions_are": "logits", "normalize": True, "decompose": True}
    found, _ = inferred(logits, label, "posteriors", cost=cost, **options)
    for key, estimate in found.items():
        value, low, high = astuple(estimate)
        assert math.isnan(low) or (low <= value * (1 + 1e-12) and value <= high * (1 + 1e-12)), key


@pytest.mark.parametrize("design", ["", "groups"])
def test_a_rare_class_has_the_rule_of_rare_mistakes(design, rng):
    """Divisors that are not known within a factor of two are those of as few of either."""
    options = {design: np.arange(100) // 2} if design else {}
    options |= {"normalize": True}
    q = rng.uniform(0.1, 0.9, 100)
    are_there = []
    for count in (2, 9, 10, 30, 97):
        is_one = (np.arange(100) < count).astype(int)
        of_mistakes, _ = inferred(q, is_one, **options)
        of_classes, _ = inferred(np.stack([1 - q, q], axis=1), is_one, "posteriors", **options)
        known = math.isfinite(of_mistakes["normalized_confidence_brier_score"].low)
        for key in ("error_rate", "brier_score", "cross_entropy", "ecuas_1"):
            assert math.isfinite(of_classes[f"normalized_{key}"].low) == known, (count, key)
        are_there.append(known)
    assert (are_there[0], any(are_there), are_there[-1]) == (False, True, False)


def test_the_bias_of_small_samples_is_that_of_the_formula():
    """Against the mean over many samples of 30, and the area itself, -log of the share before, under r(F) = F."""
    generator = np.random.default_rng(5)
    values = []
    biases = []
    for _ in range(1500):
        u = generator.random(30)
        groups = tie_groups(u, (generator.random(30) < u).astype(float))
        values.append(aurc(groups))
        biases.append(AURC.bias(Data(None, None, grouped=groups), float(values[-1]), 30))
    assert np.mean(values) - np.mean(biases) == pytest.approx(
        0.25, abs=3 * np.std(values) / np.sqrt(1500)
    )
    assert np.mean(values) - 0.25 > 3 * np.std(values) / np.sqrt(1500)


def test_limits_of_graded_costs_become_those_of_a_mean():
    """That some answer may cost the most there is counts as half a sample, which many samples outweigh."""
    u = np.linspace(0, 1, 200_000)
    cost = np.resize([0.0, 1.0, 2.5], 200_000)
    risk = inferred(u, cost, "costs", max_uncertainty=1.0)[0]["risk"]
    half = 1.96 * cost.std() / np.sqrt(len(cost))
    assert (risk.low, risk.high) == pytest.approx(
        (cost.mean() - half, cost.mean() + half), abs=0.03 * half
    )


@pytest.mark.parametrize("weight", [[0.1, 0.2, 0.3, 0.5], [0.3, 0.6, 0.9, 0.4], [0.7, 0.1, 0.8, 3]])
def test_a_recalibrated_interval_depends_on_no_order_and_no_unit_of_weights(weight):
    """The answers of confidence 0.6 are right half the time, to the last digit: as unsure as u_M, and so rejected."""
    rows = {
        "correct": np.array([0, 0, 1, 1] * 5),
        "confidence": np.array([0.6, 0.6, 0.6, 0.9] * 5),
        "sample_weight": np.array(weight * 5),
    }
    ends = []
    for order in ([0, 1, 2, 3], [2, 1, 0, 3], [1, 2, 0, 3]):
        places = np.add.outer(4 * np.arange(5), order).ravel()
        for unit in (1, 10, 3.3, 1 / 3):
            turned = {name: values[places] for name, values in rows.items()}
            turned["sample_weight"] = turned["sample_weight"] * unit
            values = score_confidences(
                **turned, num_classes=2, n=[0], decompose=True, confidence_level=0.9
            )
            ends.append([values["ecuas_0_recalibrated_low"], values["ecuas_0_recalibrated_high"]])
    np.testing.assert_allclose(ends, [ends[0]] * len(ends), rtol=1e-12)
