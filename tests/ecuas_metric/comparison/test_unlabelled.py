import itertools
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecuas_metric import metric
from ecuas_metric.comparison.unlabelled import unlabelled_bounds
from ecuas_metric.decisions import confidence_decisions
from ecuas_metric.errors import InputError
from ecuas_metric.metric import Key
from ecuas_metric.options import checked_options
from ecuas_metric.results import compute_values, make_system
from tests.conftest import seeds
from tests.ecuas_metric.registry import every_key

OPTIONS = {"n": [0, 0.5, 1, 128], "reject_costs": [0.25, 0.6], "n_bins": 5}
WEIGHTS = (0.5, 1.0, 1.645445, 3.0)
UNIT = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.8, 0.95, 1.0]), st.floats(0, 1))


@st.composite
def open_systems(draw, weights=(1.0,)):
    size = draw(st.integers(1, 7))
    row = st.tuples(UNIT, st.sampled_from([0.0, 1.0, np.nan]), st.sampled_from(weights))
    confidence, correct, weight = np.array(draw(st.lists(row, min_size=size, max_size=size))).T
    return confidence, correct, weight


def completions(correct):
    unknown = np.flatnonzero(np.isnan(correct))
    for verdicts in itertools.product([0, 1], repeat=len(unknown)):
        completed = correct.copy()
        completed[unknown] = verdicts
        yield completed.astype(int)


def keys_with_bounds(system):
    """Return the keys of which the registry says that bounds are known."""
    return [key for key in every_key(system, 0.3, 0.6) if key.entry.has_bounds]


def brute_force(confidence, correct, options):
    decisions = (
        confidence_decisions(confidence, one, num_classes=options.num_classes)
        for one in completions(correct)
    )
    found = [
        compute_values(system, only=keys_with_bounds(system))
        for system in (make_system(one, options) for one in decisions)
    ]
    table = np.array([list(each.values()) for each in found])
    # of those that are defined
    limits = zip(np.fmin.reduce(table), np.fmax.reduce(table), strict=True)
    return dict(zip(found[0], limits, strict=True))


def assert_tight(confidence, correct, options):
    expected = brute_force(confidence, correct, options)
    bounds = unlabelled_bounds(confidence, correct, options, only=expected)
    assert list(bounds) == list(expected)
    for key, limits in expected.items():
        np.testing.assert_allclose(
            astuple(bounds[key]), limits, rtol=1e-9, atol=1e-9, err_msg=str(key)
        )


@given(st.sampled_from([(1.0,), WEIGHTS]).flatmap(open_systems), st.sampled_from([None, 2, 4]))
def test_the_bounds_are_those_of_all_completions(system, num_classes):
    confidence, correct, weight = system
    if weight.sum() >= 1:  # AURC needs as much
        weights = {"sample_weight": weight} if (weight != 1).any() else {}
        assert_tight(
            confidence, correct, checked_options(**OPTIONS, num_classes=num_classes, **weights)
        )


@pytest.mark.parametrize("seed", seeds(2, 60))
def test_auroc_of_ties_of_many_weights(seed):
    """The knapsack inside a group of ties, where known answers decide whether the ends or the middle are best."""
    rng = np.random.default_rng(seed)
    confidence = rng.choice([0.3, 0.5, 0.9], size=10)
    correct = np.where(rng.random(10) < 0.7, np.nan, rng.random(10) < 0.5)
    assert_tight(
        confidence, correct, checked_options(sample_weight=rng.choice([0.5, 1.0, 2.5], size=10))
    )


@given(open_systems(weights=WEIGHTS))
def test_bounds_of_too_many_sums_contain_those_of_all_completions(system):
    confidence, correct, weight = system
    options = checked_options(sample_weight=weight + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metric, "MAX_SUMS", 0)
        bounds = unlabelled_bounds(
            confidence, correct, options, only=brute_force(confidence, correct, options)
        )
    for key, (low, high) in brute_force(confidence, correct, options).items():
        if not np.isnan(low):
            assert bounds[key].low <= low + 1e-9
            assert bounds[key].high >= high - 1e-9


@given(open_systems(weights=(1.0, 3.0)), st.data())
def test_what_is_missing_can_be_anything_within_the_bounds_and_both_ends_occur(system, data):
    """Confidences and labels: of means of costs; metrics of the order have no bounds then."""
    confidence, correct, weight = system
    missing = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(weight), max_size=len(weight)))
    )
    missing[0] = True
    open_confidence = np.where(missing, np.nan, confidence)
    options = checked_options(**OPTIONS, sample_weight=weight)
    bounds = unlabelled_bounds(open_confidence, correct, options)
    assert {Key("ecuas", 0.0), Key("error_rate"), Key("confidence_brier_score")} <= bounds.keys()
    assert Key("auroc") not in bounds
    values = {key: [] for key in bounds}
    for labels in completions(correct):
        fills = [
            np.where(labels == 1, right, wrong)
            for right, wrong in itertools.product((0.0, 1.0), repeat=2)
        ]
        for fill in [*fills, confidence]:
            decisions = confidence_decisions(
                np.where(missing, fill, confidence), labels, num_classes=None
            )
            for key, value in compute_values(
                make_system(decisions, options), only=list(bounds)
            ).items():
                values[key].append(value)
    for key, limits in bounds.items():
        assert [min(values[key]), max(values[key])] == pytest.approx(
            [limits.low, limits.high], rel=1e-9
        )


@pytest.mark.parametrize(
    ("confidence", "correct", "message"),
    [
        ([0.5, 1.5], [1, np.nan], r"must lie in \[0, 1\]; got 1.5 at index 1"),
        ([0.5, 0.5], [1, 0.5], r"must be 0 or 1, or nan where unlabelled; got 0\.5 at index 1"),
        ([0.5], [1, 0], "length"),
    ],
)
def test_bad_input(confidence, correct, message):
    with pytest.raises(InputError, match=message):
        unlabelled_bounds(np.array(confidence), np.array(correct, float), checked_options())
