"""Laws of the one engine of inference: exact limits, mirrors, invariances, p against intervals, and smoothness."""

import math

import numpy as np
import pytest
from scipy import stats

from ecuas_metric import compare_systems, confidence_system
from ecuas_metric.inference import (
    Inference,
    Side,
    infer,
    pearson_quantile,
    pearson_tail,
)
from ecuas_metric.intervals import make_numbers
from ecuas_metric.metric import Key
from ecuas_metric.results import compute_values, make_answers, value_keys
from ecuas_metric.sampling import SIMPLE, Design
from tests.ecuas_metric.held_out import answers
from tests.ecuas_metric.systems import inferred, limits, reaches


@pytest.mark.parametrize("level, least", [(0.8, 0.73), (0.95, 0.94), (0.99, 0.985)])
def test_intervals_of_a_share_hold_every_true_rate(level, least):
    """Exactly, by the binomial distribution of the wrong answers."""
    size = 50
    q = np.full(size, 0.7)
    only = [Key("error_rate")]
    ends = [
        limits(q, np.arange(size) >= wrong, level=level, only=only) for wrong in range(size + 1)
    ]
    low, high = np.array([one["error_rate"] for one in ends]).T
    rate = np.linspace(0.5 / size, 0.5, 300)[:, None]
    chance = stats.binom.pmf(np.arange(size + 1), size, rate)
    covered = (chance * (low <= rate) * (rate <= high)).sum(axis=1)
    assert covered.min() >= least
    assert level <= covered.mean() <= level + 0.03


@pytest.mark.parametrize("right, wrong", [(1, 1), (3, 1), (2, 6), (40, 3)])
def test_moments_of_a_share_are_those_of_the_beta_distributions_of_its_exact_limits(right, wrong):
    """Of Clopper and Pearson: one more wrong answer for the upper limit, one more right one for the lower."""
    correct = np.arange(right + wrong) < right
    system = confidence_system(correct.astype(int), np.full(len(correct), 0.7))
    values = compute_values(system, only=[Key("error_rate")])
    (number,) = make_numbers(make_answers(system), values).values()
    inference = infer([number], SIMPLE)
    sides = (inference.upper, -1, (wrong + 1, right)), (inference.lower, 1, (wrong, right + 1))
    for side, sign, shapes in sides:
        variance, skewness = stats.beta.stats(*shapes, moments="vs")
        assert side.moments.deviation == pytest.approx(np.sqrt(variance))
        assert side.moments.skewness == pytest.approx(sign * skewness)


def test_the_mirror_of_wrong_is_right(rng):
    q = rng.random(80).round(2)
    for count in (0, 1, 3, 10, 40):
        wrong = rng.permutation(80) < count
        ours = limits(q, ~wrong)
        theirs = limits(1 - q, wrong)
        assert ours["error_rate"] == pytest.approx(1 - theirs["error_rate"][::-1], abs=1e-9)
        for key in ("confidence_brier_score", "confidence_cross_entropy"):
            assert ours[key] == pytest.approx(theirs[key], rel=1e-6)
        if count:
            assert ours["auroc"] == pytest.approx(theirs["auroc"], abs=1e-9)


@pytest.mark.parametrize("unit", [1e-90, 1e6, 1e90])
def test_neither_the_unit_of_weights_nor_that_of_costs_matters(unit, rng):
    u = rng.random(120)
    weight = rng.exponential(size=120)
    cost = (rng.random(120) < u) * rng.random(120)
    plain = limits(u, cost, "costs", max_uncertainty=1.0, sample_weight=weight)
    of_unit = {"max_uncertainty": unit, "sample_weight": weight * 1e-9}
    scaled = limits(u * unit, cost * unit, "costs", **of_unit)
    factors = {"risk": unit, "aurc": unit, "augrc": unit}
    if unit == 1e6:
        factors |= {"ecuas_0": 1, "ecuas_1": 1}
    for key, factor in factors.items():
        np.testing.assert_allclose(scaled[key], plain[key] * factor, rtol=1e-9, err_msg=key)


@pytest.mark.parametrize("skewness", [-3.0, -0.5, -1e-4, 0.0, 1e-4, 0.5, 3.0])
@pytest.mark.parametrize("tail", [1e-4, 0.025, 0.5, 0.9, 0.995])
def test_quantiles_are_those_of_pearsons_third_type(skewness, tail):
    quantile = pearson_quantile(skewness, tail)
    assert quantile == pytest.approx(stats.pearson3.ppf(tail, skewness), abs=1e-6)
    assert pearson_tail(skewness, quantile) == pytest.approx(tail, rel=1e-5)


@pytest.mark.parametrize("freedom", [1.5, 8.0, math.inf])
def test_the_p_value_is_1_minus_the_level_whose_interval_touches_the_hypothesis(rng, freedom):
    for centre, skewness in rng.normal(0, 1.5, (20, 2)):
        side = Side(centre, 0.7, skewness, freedom)
        inference = Inference(centre, side, side)
        for hypothesis in (-1.0, 0.0, 2.0):
            p = inference.p_value(hypothesis)
            if 1e-6 < p < 1 - 1e-6:
                assert np.abs(np.array(inference.limits(1 - p)) - hypothesis).min() < 1e-3


WEIGHTED = {"sample_weight": np.linspace(0.1, 1, 60), "groups": np.arange(60) // 3}


@pytest.mark.parametrize(
    "level, options", [(0.8, {}), (0.95, {}), (0.99, {}), (0.9, WEIGHTED | {"normalize": True})]
)
def test_intervals_of_differences_leave_out_0_if_and_only_if_p_is_less_than_alpha(level, options):
    rng = np.random.default_rng(3)
    for shift in (0.0, 0.1, 0.3):
        p = rng.random((2, 60))
        correct = (rng.random((2, 60)) < p - [[0.0], [shift]]).astype(int)
        systems = {
            name: confidence_system(right, q, confidence_level=level, reject_costs=0.3, **options)
            for name, right, q in zip("ab", correct, p, strict=True)
        }
        keys = value_keys(systems["a"].decisions, systems["a"].options)
        for row in compare_systems(systems, only=keys, by_position=True):
            if math.isnan(row.p):
                assert math.isnan(row.low) or not row.comparable
                continue
            assert (row.low > 0 or row.high < 0) == (row.p < 1 - level)
            assert row.p_adjusted >= row.p
            assert row.low_all - 1e-12 <= row.low <= row.high <= row.high_all + 1e-12
            assert not (row.low_all > 0 or row.high_all < 0) or row.p_adjusted <= 1 - level
            assert row.low <= row.difference <= row.high
        (row,) = compare_systems(
            systems, only=[Key("error_rate")], by_position=True
        )  # one test is all
        one = pytest.approx((row.low, row.high), abs=0.03 * (row.high - row.low))
        assert (row.low_all, row.high_all) == one


def test_one_dominant_weight_has_no_interval_and_a_reason():
    for weight in ([1000.0, 1.0], [1e7, *np.ones(5000)], [1e4, *np.ones(100)]):
        size = len(weight)
        found, notes = inferred(
            np.linspace(0.2, 0.9, size), np.arange(size) % 2, sample_weight=weight
        )
        assert all(math.isnan(one.low) for one in found.values())
        assert [note.id for note in notes] == ["too_few_units"]


@pytest.mark.long
def test_no_width_jumps_when_one_answer_changes():
    """600 answers, of which 16 to 60 are wrong, at fixed quantiles of the confidence."""
    q = np.linspace(0.5, 0.999, 600)
    names = ("error_rate", "auroc", "aurc", "augrc", "confidence_cross_entropy")
    only = [*map(Key, names), Key("ecuas", 0.0), Key("ecuas", 1.0)]
    widths = {}
    for wrong in range(16, 61):
        correct = np.ones(600, int)
        correct[((np.arange(wrong) + 0.5) / wrong * 600).astype(int)] = 0
        for key, ends in limits(q, correct, n=(0, 1), only=only).items():
            widths.setdefault(key, []).append(np.ptp(ends))
    for key, of_key in widths.items():
        change = np.abs(np.diff(np.log(of_key)))
        assert change.max() < 0.05, key


@pytest.mark.parametrize("size, parts", [(100, 1), (100, 2), (8, 1)])
def test_copies_in_groups_tell_what_one_of_each_tells(size, parts, rng):
    """Of few groups, too: their quantile is Student's, of so many groups."""
    q = rng.random(size)
    correct = answers(rng, q)
    strata = {"strata": np.arange(size) % parts} if parts > 1 else {}
    alone = reaches(q, correct, **strata)
    more = {"groups": np.arange(size)} | strata
    copies = {name: np.repeat(values, 10) for name, values in more.items()}
    copied = reaches(np.repeat(q, 10), np.repeat(correct, 10), **copies)
    for key in ("error_rate", "ecuas_1", "auroc", "confidence_brier_score"):
        np.testing.assert_allclose(copied[key], alone[key], rtol=0.06, err_msg=key)


def test_equal_strata_are_as_sure_as_the_average_of_their_parts(rng):
    q = rng.random(90)
    correct = rng.random(90) < q
    part = np.arange(90) >= 30
    weight = np.where(part, 1 / 60, 1 / 30)
    strata = reaches(q, correct, strata=part, sample_weight=weight)["error_rate"]
    of_parts = [reaches(q[rows], correct[rows])["error_rate"] for rows in (part, ~part)]
    # of independent parts, nearly: their distances add as squares (Zou and Donner 2008)
    np.testing.assert_allclose(np.abs(strata) * 2, np.hypot(*of_parts), rtol=0.04)


@pytest.mark.parametrize("count", [600, 60, 12, 6])
def test_groups_that_are_all_right_tell_as_much_as_so_many_answers(count):
    """As Clopper and Pearson's limit has it, of the groups: they may be wrong as a whole."""
    groups = np.arange(600) * count // 600
    high = limits(np.full(600, 0.9), np.ones(600), groups=groups)["error_rate"][1]
    assert high == pytest.approx(1 - 0.025 ** (1 / count), rel=0.2)


@pytest.mark.parametrize("count", [5, 6, 10, 20])
def test_groups_that_all_speak_for_one_are_no_surer_than_by_the_test_of_signs(count):
    groups = np.arange(600) * count // 600
    options = {"groups": groups, "confidence_level": 0.95}
    systems = [confidence_system(np.full(600, y), np.full(600, 0.9), **options) for y in (1, 0)]
    (row,) = compare_systems(systems, only=[Key("error_rate")], by_position=True)
    assert 0.5 ** (count - 1) <= row.p <= (0.1 if count < 10 else 0.02)


@pytest.mark.parametrize("more", [[11, 1.1], [10, 0], [12, 3]])
def test_a_decision_that_nobody_takes_changes_no_limit(more, rng):
    """It costs at least as much as another one, whatever is true."""
    cost = np.array([[0, 10], [1, 0]])
    # of class 0, which is decided by an answer that costs 10 else
    share = rng.uniform(0.92, 1, 300)
    label = (rng.random(300) > share).astype(int)
    posteriors = np.stack([share, 1 - share], axis=1)
    before = limits(posteriors, label, "posteriors", cost=cost)
    for place in (0, 2):
        wider = np.insert(cost.astype(float), place, more, axis=1)
        after = limits(posteriors, label, "posteriors", cost=wider)
        for key in ("risk", "ecuas_1"):
            np.testing.assert_allclose(after[key], before[key], rtol=1e-9)


def test_few_heavy_weights_are_few_degrees_of_freedom(rng):
    """As many as the variance of a sum of squares of normal deviates has, weighted (Satterthwaite 1946)."""
    weight = rng.pareto(2, 200) + 1
    variances = np.square(rng.normal(size=(20_000, 200))) @ np.square(weight)
    units = Design(weight).num_units
    assert units == pytest.approx(2 * variances.mean() ** 2 / variances.var(), rel=0.1)
    assert Design(weight, np.arange(200)).num_units == pytest.approx(units)
    assert Design(np.append(weight, 0.0)).num_units == pytest.approx(units)
    assert Design(np.full(200, 0.3)).num_units == pytest.approx(200)


def test_a_system_that_is_the_naive_one_has_its_value():
    posterior = np.full((400, 2), 0.5)
    for weight in (np.ones(400), np.resize([1.0, 2.0, 2.0, 1.0], 400)):
        found, _ = inferred(
            posterior, np.arange(400) % 2, "posteriors", normalize=True, sample_weight=weight
        )
        for key in ("normalized_ecuas_1", "normalized_confidence_brier_score"):
            assert found[key].low <= 1 + 1e-12
            assert 1 - 1e-12 <= found[key].high < 1.05


@pytest.mark.parametrize("frequency, has_interval", [(0.5, False), (0.8, True)])
def test_a_normalised_error_rate_whose_naive_system_is_undecided_has_no_interval(
    frequency, has_interval, rng
):
    label = (rng.random(200) > frequency).astype(int)
    q = np.clip(label + rng.normal(0, 0.5, 200), 0.01, 0.99)
    posterior = np.stack([1 - q, q], axis=1)
    found, notes = inferred(posterior, label, "posteriors", normalize=True)
    assert math.isfinite(found["normalized_error_rate"].low) == has_interval
    assert math.isfinite(found["normalized_cross_entropy"].low)
    assert any("divided by" in note.fact for note in notes) == (not has_interval)
