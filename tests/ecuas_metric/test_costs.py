import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecuas_metric import decisions, score_confidences, score_costs, score_posteriors
from ecuas_metric.costs import (
    are_accepted,
    ecuas_cost,
    fixed_reject_cost,
    weighted_cost,
)
from ecuas_metric.decisions import largest_uncertainty
from tests.ecuas_metric import oracle
from tests.ecuas_metric.registry import row_of

UNCERTAINTY = st.floats(0.001, 1)
COST = st.sampled_from([0.0, 1.0, 0.3, 4.0])
ORDER = st.sampled_from([0.0, 0.25, 1.0, 2.0, 7.5, 128.0])
LARGEST = st.sampled_from([0.5, 0.9, 1.0, 2.5])


def by_place(function):
    """Give the uncertainties and the costs in this order, as in the formulas."""
    return lambda u, c, **options: function(uncertainty=u, candidate_cost=c, **options)


ecuas, rejecting, weighted = map(by_place, (ecuas_cost, fixed_reject_cost, weighted_cost))


def weight_of(n, largest):
    """w_n of the paper: alpha_n gamma^(n - 1)."""
    return lambda gamma: (n + 1) / largest ** (n + 1) * gamma ** (n - 1)


@given(st.lists(UNCERTAINTY, min_size=1, max_size=5), COST, ORDER, LARGEST)
def test_weighted_cost_with_the_papers_weights_is_ecuas(shares, c, n, largest):
    u = np.array(shares) * largest
    cost = np.full(len(u), c)
    ours = weighted(u, cost, weight_function=weight_of(n, largest), max_uncertainty=largest)
    np.testing.assert_allclose(
        ours, ecuas(u, cost, n=n, max_uncertainty=largest), rtol=1e-9, atol=1e-12
    )


def peak(centre, width):
    scale = width * math.sqrt(2 * math.pi)
    return lambda gamma: math.exp(-(((gamma - centre) / width) ** 2) / 2) / scale


@pytest.mark.parametrize("centre", [0.1234, 0.3, 0.49951])
def test_narrow_peaks_are_found_and_narrower_ones_between_break_points(centre):
    for width in (1e-2, 1e-3, 1e-4, 1e-5, 1e-7):
        around = [centre - 10 * width, centre + 10 * width]
        ours = weighted(
            [0.7, 0.05],
            [1.0, 1.0],
            weight_function=peak(centre, width),
            break_points=around if width < 1e-4 else (),
        )
        np.testing.assert_allclose(ours, [centre, 1.0], rtol=1e-9 if width >= 1e-4 else 1e-6)


def test_a_step_between_break_points_is_integrated_exactly():
    def step(gamma):
        return 8.0 if 1 / 3 <= gamma < 0.7 else 0.0

    ours = weighted([0.2, 0.5, 0.9], [1, 1, 1], weight_function=step, break_points=[1 / 3, 0.7])
    start = Fraction(1 / 3)
    half = Fraction(1, 2)
    end = Fraction(0.7)
    in_the_step = 4 * (half**2 - start**2) + 8 * (end - half)
    expected = [8 * (end - start), in_the_step, 4 * (end**2 - start**2)]
    np.testing.assert_allclose(ours, list(map(float, expected)), rtol=1e-14)


@pytest.mark.parametrize("weight", [-1.0, np.inf, np.nan])
def test_weights_that_are_no_weights_are_refused(weight):
    def some(gamma):
        return weight if gamma > 0.6 else 1.0

    message = (
        f"^weight_function must be finite and non-negative; got {weight} at a reject cost of 0.6"
    )
    with pytest.raises(ValueError, match=message):
        weighted([0.5], [1.0], weight_function=some)


def test_break_points_lie_where_reject_costs_do():
    with pytest.raises(
        ValueError, match=r"^break_points must lie in \[0, 0\.5\]; got 0\.7 at index 1 \(1 of 2\)"
    ):
        weighted([0.5], [1.0], weight_function=np.cos, max_uncertainty=0.5, break_points=[0.1, 0.7])


def test_a_divergent_weight_is_fine_for_samples_that_cost_nothing_and_an_error_for_others():
    def inverse(gamma):
        return 1 / gamma

    ours = weighted([0.0, 0.5], [0.0, 1.0], weight_function=inverse)
    np.testing.assert_allclose(ours, [0, 0.5 + np.log(2)])
    with pytest.raises(ValueError, match="must have an integral over"):
        weighted([0.0], [1.0], weight_function=inverse)


def test_costs_are_those_of_decimals():
    orders = (0, 1e-12, 1e-3, 0.5, 1, 2, 128, 1000, 10**6)
    uncertainties = (0, 1e-300, 1e-9, 1e-7, 1e-4, 0.3, 0.5, 1 - 1e-7)
    for n, largest, u, c in itertools.product(
        orders, (0.5, 0.9, 1.0, 2.5), uncertainties, (0, 1, 4)
    ):
        expected = float(oracle.ecuas(u, c, n, largest))
        ours = ecuas([min(u, largest)], [c], n=n, max_uncertainty=largest)[0]
        assert ours == pytest.approx(expected, rel=1e-12, abs=1e-300), (n, largest, u, c)


@given(COST, ORDER, LARGEST)
def test_at_the_largest_uncertainty_and_above_the_cost_is_1_whatever_the_candidate_costs(
    c, n, largest
):
    for order in (n, np.inf):
        assert ecuas([largest], [c], n=order, max_uncertainty=largest)[0] == 1
        with pytest.warns(UserWarning, match=r"^1 of 2 samples \(50\.0%\)"):
            costs = ecuas([1.4 * largest, 0], [c, 0], n=order, max_uncertainty=largest)
        assert costs.tolist() == [1, 0]


@pytest.mark.parametrize(
    "n", [0, 5e-324, 1e-309, 1e-300, 1e-9, 0.5, 1, 1e6, 1e300, 1.7e308, np.inf]
)
@pytest.mark.parametrize("largest", [1.0, 0.5, 1e-3])
def test_no_n_overflows(n, largest):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        u = largest * np.array([0.0, 1e-300, 0.5, 0.0, 1.0])
        cost = ecuas(u, [1.0, 1.0, 1.0, 0.0, 1.0], n=n, max_uncertainty=largest)
        values = score_confidences([1, 1, 0], [1.0, 0.25, 0.5], n=n)
        of_values = ecuas([0.0, 0.75, 0.5], [0.0, 0.0, 1.0], n=n)
    assert np.isfinite(cost).all()
    assert cost[-1] == 1
    if n < 1e-200 and largest == 1:
        assert cost[0] == pytest.approx(-np.log(1e-7))
    assert values[f"ecuas_{n:g}"] == pytest.approx(of_values.mean(), abs=1e-300)


def test_decimals_that_are_equal_on_paper_are_accepted():
    confidence = np.arange(0, 101) / 100
    for cents in range(101):
        accepts = are_accepted(1 - confidence, reject_cost=cents / 100, max_uncertainty=1)
        assert accepts.sum() == cents + 1
        assert accepts[100 - cents :].all()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"n": -1}, r"n must be >= 0 \(inf allowed\); got -1\."),
        ({"n": np.nan}, r"n must be >= 0 \(inf allowed\); got nan\."),
        ({"max_uncertainty": 0}, r"max_uncertainty must be positive and finite; got 0\."),
        ({"epsilon": 0, "n": 2}, r"epsilon must lie in \(0, max_uncertainty = 1\); got 0\."),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        ecuas([0.5], [1.0], **arguments)


@pytest.mark.parametrize("largest", [0, np.nan])
def test_the_largest_uncertainty_is_positive(largest):
    with pytest.raises(ValueError, match=r"^max_uncertainty must be positive \(inf allowed\); got"):
        rejecting([0.5], [1.0], reject_cost=0.3, max_uncertainty=largest)


@pytest.mark.parametrize("unit", [1e-3, 1e3, 1e9])
def test_no_number_depends_on_the_unit_of_the_costs(unit, rng):
    """Epsilon floors uncertainties in the unit of the costs: at 0, where ECUAS_0 is what it makes it."""
    posteriors = [[1, 0], [1, 0], [0.6, 0.4], [0.3, 0.7]]
    matrix = np.array([[0, 1], [5, 0.0]])

    def of_matrix(unit):
        options = {"cost": matrix * unit, "n": (0, 0.5, 1), "reject_costs": 0.3 * unit}
        return score_posteriors([0, 1, 0, 1], posteriors, **options)

    def of_grades(unit):
        return score_costs(
            candidate_cost=np.array([0, 0.2, 2]) * unit,
            uncertainty=np.array([1.0, 0, 2]) * unit,
            max_uncertainty=2 * unit,
            reject_costs=0.3 * unit,
        )

    for values_in in (of_matrix, of_grades):
        ours = values_in(1)
        scaled = values_in(unit)
        for (key, value), other in zip(ours.items(), scaled.values(), strict=True):
            scale = unit if row_of(key).unit == "cost" else 1.0
            assert other == pytest.approx(value * scale, rel=1e-12), key
    assert of_matrix(1)["ecuas_0"] != pytest.approx(of_matrix(1)["ecuas_0.5"])


ENTRIES = [0.0, 1e-3, 0.01, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 10.0, 1e3, 1e5, 1e7]


def random_matrices(count, shape=None):
    """Yield matrices in which every decision costs something."""
    rng = np.random.default_rng(0)
    while count:
        matrix = rng.choice(ENTRIES, shape or rng.integers(2, 5, 2))
        if matrix.any(axis=0).all():
            count -= 1
            yield matrix


def value_of_two_by_two(matrix):
    """Return the value by von Neumann: that of a saddle point, else of the strategies that make both columns equal."""
    (a, b), (c, d) = [[Fraction(cost) for cost in row] for row in matrix.tolist()]
    low = max(min(a, b), min(c, d))
    high = min(max(a, c), max(b, d))
    return low if low == high else (a * d - b * c) / (a + d - b - c)


def test_the_value_of_small_matrices_is_that_of_exact_fractions():
    for matrix in random_matrices(200, (2, 2)):
        assert largest_uncertainty(matrix) == float(value_of_two_by_two(matrix)), matrix


def test_a_solver_in_floats_finds_what_integers_give(monkeypatch):
    matrices = list(random_matrices(100))
    expected = [largest_uncertainty(matrix) for matrix in matrices]
    monkeypatch.setattr(decisions, "LARGEST_EXACT", 0)
    np.testing.assert_allclose(
        [largest_uncertainty(matrix) for matrix in matrices], expected, rtol=1e-9
    )


@pytest.mark.parametrize(
    "matrix, value",
    [
        ([[0, 1], [1e7, 0]], 1e7 / (1e7 + 1)),
        ([[0.01, 0.001], [0.001, 1e5]], (0.01 * 1e5 - 0.001**2) / (0.01 + 1e5 - 0.002)),
        ([[0, 1, 0.3], [1e7, 0, 0.3]], 0.3),
        ([[0, 1e300], [1e-300, 0]], 1e-300),
        ([[5.0]], 5.0),
        *((1 - np.eye(num_classes), 1 - 1 / num_classes) for num_classes in (2, 5, 10, 40)),
    ],
)
def test_costs_of_any_span(matrix, value):
    assert largest_uncertainty(np.array(matrix, float)) == pytest.approx(value, rel=1e-14)


def test_a_decision_that_never_costs_anything_is_refused_and_named():
    rule = "cost must make every decision cost something for some class; got decision 1, which costs nothing for any"
    with pytest.raises(ValueError, match=f"^{rule} "):
        largest_uncertainty(np.array([[1.0, 0.0], [2.0, 0.0]]))


def test_what_cannot_be_verified_is_refused_for_that_reason(monkeypatch):
    with pytest.raises(
        ValueError, match=r"^cost must have a largest uncertainty that can be verified; got one"
    ):
        largest_uncertainty(np.array([[0, 5e-324], [5e-324, 0]]))
    with pytest.raises(ValueError, match=r"got one between 0 and 0\. Leave out"):
        largest_uncertainty(np.array([[0, 1e200, 0], [5e-324, 0, 0], [0, 0, 5e-324]]))
    monkeypatch.setattr(decisions, "LARGEST_EXACT", 0)
    monkeypatch.setattr(
        decisions,
        "_solve_approximately",
        lambda matrix: (np.array([1.0, 0.0]), np.array([0.5, 0.5])),
    )
    with pytest.raises(ValueError, match=r"got one between 0 and 5\. Leave out"):
        largest_uncertainty(np.array([[0.0, 1.0], [10.0, 0.0]]))


SMALL = [1e-3, 1e-7, 1e-8, 1e-12, 1e-30, 1e-300, 5e-324, 0.0]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("form", ["probabilities", "log_probabilities", "logits"])
@pytest.mark.parametrize("cost", ["zero_one", "log"])
@pytest.mark.parametrize("num_classes", [2, 3])
def test_no_score_improves_as_the_probability_of_the_truth_falls_to_0(form, cost, num_classes):
    """But for the uncertainty itself, which ECUAS_n adds to what its floor is of."""
    options = {"cost": cost, "predictions_are": form, "labels": range(num_classes), "n": (0, 1, 9)}
    before = {}
    for probability in SMALL:
        rest = (1 - probability) / (num_classes - 1)
        posterior = np.array([[probability] + [rest] * (num_classes - 1)])
        with np.errstate(divide="ignore"):
            given = posterior if form == "probabilities" else np.log(posterior)
        values = score_posteriors([0], given, **options)
        for key in ("cross_entropy", "risk", "ecuas_0", "ecuas_1", "ecuas_9"):
            if key in before and key in values:
                assert values[key] >= before[key] - 2e-7, key
        assert values["cross_entropy"] == pytest.approx(-math.log(max(probability, 1e-7)))
        before = values
