import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from ecuas_metric import confidence_system
from ecuas_metric.comparison.compare import compare_systems
from ecuas_metric.comparison.planning import Spread, make_plan, plan_from_rates, plan_of_systems
from ecuas_metric.errors import InputError
from ecuas_metric.inference import Moments
from ecuas_metric.metric import Key

OPTIONS = {"confidence_level": 0.95, "n": (0, 1)}


def spread_of(deviation, shift=0.0, cubes=0.0):
    """Return what one sample tells: its deviation, its third moment, and one more that shifts by so much."""
    added = [float(shift != 0), shift, shift**2, shift**3]
    sums = np.array([[1.0, 1.0, 1.0, deviation**2, cubes, *added]])
    return Spread(deviation, Moments(*sums.T))


NORMAL = spread_of(0.4)
ECUAS_1 = Key("ecuas", 1.0)
ERROR_RATE = Key("error_rate")


def pair(rng, size, loss=0.1):
    """Return two systems that find the same samples hard, the second wrong `loss` more often."""
    difficulty = logit(rng.beta(4, 1.5, size))
    p, q = (expit(difficulty + 0.5 * rng.normal(size=size)) for _ in range(2))
    correct = rng.random((2, size)) < (p, q * (1 - loss))
    return {"a": (p, correct[0].astype(int)), "b": (q, correct[1].astype(int))}


def plans_of(outputs, **options):
    """Return the plan of each metric, which ranks in a plan where it does in a comparison."""
    systems = {
        name: confidence_system(correct, p, **OPTIONS | options)
        for name, (p, correct) in outputs.items()
    }
    plans = {plan.key: plan for plan in plan_of_systems(systems, by_position=True)}
    compared = compare_systems(systems, only=plans, by_position=True)
    assert [plan.comparable for plan in plans.values()] == [row.comparable for row in compared]
    return plans


def test_the_deviation_of_an_error_rate_is_that_of_the_discordant_pairs(rng):
    outputs = pair(rng, 300)
    plan = plans_of(outputs)[Key("error_rate")]
    first, second = (1 - correct for _, correct in outputs.values())
    b = np.mean(first > second)
    c = np.mean(first < second)
    assert plan.difference == pytest.approx(b - c)
    assert plan.deviation == pytest.approx(math.sqrt((b + c - (b - c) ** 2) * 300 / 299))


def test_weights_and_groups_count(rng):
    outputs = pair(rng, 300)
    repeated = {
        name: tuple(np.repeat(array, 2) for array in arrays) for name, arrays in outputs.items()
    }
    plain = plans_of(outputs)[ECUAS_1]
    grouped = plans_of(repeated, groups=np.arange(600) // 2)[ECUAS_1]
    # twice the samples say nothing new
    assert grouped.detectable == pytest.approx(plain.detectable, rel=3e-3)
    assert grouped.needed == pytest.approx(2 * plain.needed, rel=5e-3)


@pytest.mark.parametrize(("power", "alpha"), [(0.8, 0.05), (0.9, 0.01), (0.5, 0.2)])
@pytest.mark.parametrize("spread", [NORMAL, spread_of(0.4, -2.0, -0.1)])
def test_what_n_detects_needs_n(spread, power, alpha):
    options = {"power": power, "alpha": alpha}
    plan = make_plan(ERROR_RATE, 0.03, spread, 500, **options)
    assert make_plan(ERROR_RATE, plan.detectable, spread, 500, **options).needed == 500
    there = make_plan(ERROR_RATE, 0.03, spread, plan.needed, **options)
    fewer = make_plan(ERROR_RATE, 0.03, spread, plan.needed - 1, **options)
    assert there.detectable <= 0.03 < fewer.detectable


def test_a_plan_is_that_of_normal_means_but_for_the_one_answer_more():
    deviates = stats.t(499).ppf(0.975) + stats.norm.ppf(0.8)
    plan = make_plan(ERROR_RATE, -0.03, NORMAL, 500)
    assert plan.detectable == pytest.approx(deviates * 0.4 / math.sqrt(500), rel=1e-3)
    assert plan.needed == pytest.approx((deviates * 0.4 / 0.03) ** 2, rel=3e-3)
    added = make_plan(ERROR_RATE, -0.03, spread_of(0.4, -2.0), 500)
    assert plan.detectable < added.detectable < plan.detectable + 2.0 / 500


def test_samples_that_never_differ_plan_nothing():
    plan = make_plan(ERROR_RATE, 0.05, spread_of(0.0), 100)
    assert (math.isnan(plan.detectable), plan.needed) == (True, None)


def test_the_model_has_the_rates_it_is_given(rng):
    plan = plan_from_rates(ERROR_RATE, (0.3, 0.1), correlation=0.2)
    a = 0.3 * 0.7
    b = 0.1 * 0.9
    assert plan.difference == pytest.approx(0.2)
    assert plan.deviation == pytest.approx(math.sqrt(a + b - 0.4 * math.sqrt(a * b)))
    alike = plan_from_rates(ECUAS_1, (0.2, 0.2), correlation=1)
    assert alike.deviation == pytest.approx(0, abs=1e-6)
    # a difference of two errors is -1, 0 or 1: least is its variance where the rarer are among the others
    most_alike = plan_from_rates(ERROR_RATE, (0.3, 0.2), correlation=1)
    assert most_alike.deviation == pytest.approx(math.sqrt(0.1 * 0.9))
    assert plan_from_rates(Key("ecuas", 0.0), (0.2, 0.2)).needed is None
    # At a large n an ECUAS_n is the error rate, of whatever confidences.
    large = plan_from_rates(Key("ecuas", 1e6), (0.3, 0.1), correlation=0.2)
    expected = pytest.approx((plan.difference, plan.deviation), rel=0.01)
    assert (large.difference, large.deviation) == expected


@pytest.mark.parametrize(("samples", "tolerance"), [(50, 0.03), (200, 0.005), (2000, 1e-3)])
def test_rates_plan_what_a_pilot_with_these_rates_does(samples, tolerance):
    """But for its skewness, which rates alone do not tell."""
    both = 0.06 + 0.5 * math.sqrt(0.3 * 0.7 * 0.2 * 0.8)  # wrong, at a correlation of 0.5
    shares = [both, 0.3 - both, 0.2 - both, 0.5 + both]
    counts = np.rint(np.multiply(10_000, shares)).astype(int)
    verdicts = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], counts, axis=0).T
    pilot = {
        name: confidence_system(correct, np.full(len(correct), 0.5), ids=np.arange(len(correct)))
        for name, correct in zip("ab", verdicts, strict=True)
    }
    (expected,) = plan_of_systems(pilot, by_position=True, samples=samples, only=[ERROR_RATE])
    plan = plan_from_rates(ERROR_RATE, (0.3, 0.2), samples=samples, correlation=0.5)
    assert plan.detectable == pytest.approx(expected.detectable, rel=tolerance)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"error_rates": (0.2,)}, "^error_rates takes two rates; got 1"),
        ({"error_rates": (0.2, 1.0)}, r"^error_rates must be a number in \(0, 1\)"),
        ({"power": 1.0}, r"^power must be a number in \(0, 1\)"),
        ({"alpha": 0.95}, r"^alpha must be at most 0\.5,.* Did you mean 0\.05\?$"),
        ({"alpha": 0.0}, r"^alpha must be a number in \(0, 1\)"),
        ({"power": 0.01}, "^power must be above half of alpha"),
        ({"power": 0.025}, "^power must be above half of alpha"),
        ({"samples": 0}, "^samples must be at least 1; got 0"),
        ({"difference": np.nan}, "^difference must be finite; got nan"),
        ({"correlation": 2.0}, r"^correlation must be a number in \[-1, 1\]"),
        (
            {"key": Key("aurc")},
            "^a plan without files knows metrics that are means of costs only; got 'aurc'",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(given, message):
    arguments = {"key": ERROR_RATE, "error_rates": (0.3, 0.2)} | given
    with pytest.raises(InputError, match=message):
        plan_from_rates(**arguments)


def test_a_pilot_of_one_group_tells_no_error():
    outputs = {name: ([0.9, q, 0.7], [1, 0, 1]) for name, q in (("a", 0.2), ("b", 0.8))}
    with pytest.raises(InputError, match="needs two samples, or groups, in each stratum"):
        plans_of(outputs, groups=[0, 0, 0])


def test_a_pilot_knows_a_constant_deviation_and_four_times_the_rows_halve_the_range(rng):
    p, correct = rng.beta(4, 2, 60), rng.integers(0, 2, 60)
    ranges = []
    for copies in (1, 4):
        systems = {
            name: confidence_system(np.tile(correct, copies), np.tile(q, copies), **OPTIONS)
            for name, q in {"a": p, "b": p**2}.items()
        }
        (plan,) = plan_of_systems(systems, difference=0.02, only=["ecuas_1"], by_position=True)
        assert plan.needed_low < plan.needed < plan.needed_high
        ranges.append(math.log(plan.needed_high / plan.needed_low))
    assert ranges[1] == pytest.approx(ranges[0] / 2, abs=0.05)
    # each pair differs by 1, half of them in each direction
    systems = {
        name: confidence_system(np.tile(right, 30), np.full(60, 0.5), **OPTIONS)
        for name, right in {"a": [0, 1], "b": [1, 0]}.items()
    }
    (plan,) = plan_of_systems(systems, difference=0.1, only=["error_rate"], by_position=True)
    assert plan.needed_low == plan.needed == plan.needed_high


def test_without_a_pilot_there_is_no_range():
    plan = plan_from_rates(ERROR_RATE, [0.3, 0.25])
    assert plan.needed is not None
    assert (plan.needed_low, plan.needed_high) == (None, None)
