"""The ECE without bias, its interval, and the test of calibration."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from ecuas_metric import (
    calibration,
    calibration_p_value,
    confidence_system,
    ece_score,
    score_confidences,
)
from ecuas_metric.calibration import squared_gap
from ecuas_metric.decisions import confidence_decisions
from ecuas_metric.metric import Data
from ecuas_metric.options import Options
from ecuas_metric.results import compute_results
from tests.ecuas_metric.held_out import answers
from tests.ecuas_metric.simulated import (
    calibrated,
    independent_seeds,
    reweighted,
    two_point,
)

RUNS = 10_000


def data_of(q, wrong, **options):
    return Data(confidence_decisions(q, 1 - wrong), Options(**options))


def debiased(correct, q, **options):
    """Return the debiased ECE between its limits."""
    values = score_confidences(correct, q, calibration=True, confidence_level=0.95, **options)
    return [values[f"ece_debiased{end}"] for end in ("_low", "", "_high")]


def mean_product_of_pairs(gap, bins, weight, groups):
    """Return the mean over bins of the mean product of two gaps that are not of one group."""
    total = 0
    for b in np.unique(bins):
        products = []
        sizes = []
        for i, j in itertools.permutations(np.flatnonzero(bins == b), 2):
            if groups[i] != groups[j]:
                products.append(gap[i] * gap[j])
                sizes.append(weight[i] * weight[j])
        total += weight[bins == b].sum() * np.average(products, weights=sizes)
    return total / weight.sum()


@pytest.mark.parametrize("weigh", [False, True])
@pytest.mark.parametrize("num_groups", [8, None])
def test_the_square_is_the_mean_product_of_pairs(weigh, num_groups, rng):
    q = rng.random(30)
    wrong = rng.integers(0, 2, 30)
    weight = rng.random(30) if weigh else np.ones(30)
    groups = rng.integers(0, num_groups, 30) if num_groups else None
    apart = np.arange(30) if groups is None else groups
    expected = mean_product_of_pairs(q - (1 - wrong), (q * 4).astype(int), weight, apart)
    square = squared_gap(data_of(q, wrong, n_bins=4, sample_weight=weight, groups=groups))
    assert square == pytest.approx(expected)


def test_without_pairs_there_is_nothing_to_say():
    with pytest.warns(UserWarning, match="debiased ECE is nan"):
        assert math.isnan(ece_score([1, 0], [0.2, 0.9], debiased=True))
    system = confidence_system([1, 0], [0.2, 0.9], calibration=True, confidence_level=0.95)
    values = compute_results(system).flat()
    assert math.isnan(values["ece_debiased"])
    assert math.isnan(values["ece_debiased_low"])
    assert any("ece_debiased" in str(note) for note in compute_results(system).notes)


def test_groups_of_one_answer_leave_the_debiased_gap_as_it_is(rng):
    q = rng.random(300)
    correct = rng.random(300) < q**3
    weight = rng.uniform(0.5, 2, 300)
    alone = debiased(correct, q, sample_weight=weight)
    grouped = debiased(correct, q, sample_weight=weight, groups=rng.permutation(300))
    assert grouped == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize("num_groups", [None, 20, 60])
def test_counts_are_repetition_to_the_last_digit(num_groups, rng):
    q = rng.random(60).round(1)
    correct = answers(rng, q)
    counts = rng.integers(1, 4, 60)
    groups = num_groups and np.arange(60) % num_groups
    repeated_groups = num_groups and np.repeat(groups, counts)
    weighted = score_confidences(
        correct, q, sample_weight=counts, weights_are="counts", groups=groups, calibration=True
    )
    repeated = calibration_p_value(
        np.repeat(correct, counts), np.repeat(q, counts), groups=repeated_groups
    )
    assert 0.01 < weighted["calibration_p"] == repeated


def test_certainty_is_refuted_by_one_error():
    assert calibration_p_value([1] * 99 + [0], [1.0] * 100) == 1 / 1001
    assert calibration_p_value([1] * 100, [1.0] * 100) == 1


def test_sums_of_neighbours_give_what_answers_one_by_one_give(rng, monkeypatch):
    q = rng.beta(4, 1.5, 2000)
    correct = (rng.random(2000) < q - 0.01).astype(int)
    one_by_one = calibration_p_value(correct, q, n_resamples=2000)
    monkeypatch.setattr(calibration, "_MAX_EXACT", 1024)
    monkeypatch.setattr(calibration, "_NORMAL_VARIANCE", 100.0)
    together = calibration_p_value(correct, q, n_resamples=2000)
    assert 0.02 < one_by_one < 0.98
    assert together == pytest.approx(one_by_one, abs=0.05)


def test_copies_of_answers_are_no_news_where_groups_say_so():
    q = np.linspace(0.5, 0.95, 60)
    correct = np.arange(60) % 5 < 3
    once = calibration_p_value(correct, q)
    copied = np.repeat([correct, q], 10, axis=1)
    groups = np.repeat(np.arange(60), 10)
    assert 0.005 < once < 0.2
    assert calibration_p_value(*copied) < 0.2 * once
    assert calibration_p_value(*copied, groups=groups) == pytest.approx(once, abs=0.1)
    assert math.isnan(calibration_p_value(*copied, groups=groups > 30))


def tenths(rng, size):
    p = calibrated(rng, size)[0].round(1)
    return p, answers(rng, p), {}


def few_errors(rng, size):
    return two_point(rng, size, share=0.8, confidences=(0.995, 0.97), errors=(0.005, 0.03))


@pytest.mark.slow
@pytest.mark.parametrize("size", [30, 100, 455])
@pytest.mark.parametrize("system", [calibrated, tenths, few_errors, reweighted])
def test_calibrated_systems_are_refuted_in_5_percent_of_samples(system, size):
    rejected = 0
    for data, seed in independent_seeds(RUNS):
        q, correct, options = system(np.random.default_rng(data), size)
        rejected += (
            calibration_p_value(correct, q, n_resamples=199, random_state=seed, **options) <= 0.05
        )
    print(f"\n| {system.__name__} | {size} | {100 * rejected / RUNS:.2f} |", end="", flush=True)
    assert rejected / RUNS <= 0.058  # it is exact: 0.05, and 3.7 standard errors


@pytest.mark.parametrize("size", [10, 40])
def test_the_interval_of_a_perfect_system_is_that_of_one_more_answer(size):
    """Laplace's rule of succession gives the variance of an answer, Student's t the limit of the mean square."""
    _, low, high = debiased(np.ones(size), np.ones(size))
    rare = 1 / (size + 2)
    spread = math.sqrt(2) * rare * (1 - rare) / size
    assert low == 0
    assert high**2 == pytest.approx(stats.t.ppf(0.975, size - 1) * spread)


def test_the_test_of_one_confidence_is_that_of_the_sum_whatever_the_weights():
    """By enumeration of all that six answers of confidence 1/2 can be."""
    weight = np.array([1.0, 1, 1, 3, 3, 3])
    correct = np.array([1, 1, 0, 1, 1, 1])
    sums = [
        abs(np.dot(weight, np.subtract(one, 0.5))) for one in itertools.product((0, 1), repeat=6)
    ]
    exact = np.mean(np.array(sums) >= abs(np.dot(weight, correct - 0.5)) - 1e-12)
    found = calibration_p_value(
        correct, np.full(6, 0.5), sample_weight=weight, n_resamples=40_000, random_state=1
    )
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 40_000))


@pytest.mark.parametrize("confidence", [(0.3, 0.3, 0.6, 0.6, 0.8, 0.8), (0.3, 0.5, 0.6, 0.7)])
def test_the_test_of_calibration_is_enumeration(confidence):
    """Of all that the answers can be, each with its probability: the range of the cumulative differences."""
    q = np.array(confidence)
    last = np.append(q[1:] != q[:-1], True)

    def statistic(right):
        sums = np.append(0, np.cumsum(right - q)[last])
        return np.ptp(sums)

    correct = 1 - np.arange(len(q)) % 2
    seen = statistic(correct)
    exact = 0.0
    for right in itertools.product((0, 1), repeat=len(q)):
        if statistic(np.array(right)) >= seen - 1e-12:
            exact += np.where(right, q, 1 - q).prod()
    found = calibration_p_value(correct, q, n_resamples=40_000, random_state=1)
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 40_000))
