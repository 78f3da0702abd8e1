import dataclasses
import itertools
import math
import warnings
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ecuas_metric import inputs
from ecuas_metric.decisions import Decisions, confidence_decisions, posterior_decisions
from ecuas_metric.metric import METRICS, VARIANTS, Key
from ecuas_metric.metrics import column_order, defined_keys, sample_costs
from ecuas_metric.options import checked_options
from ecuas_metric.results import compute_results, prepare_system
from tests.conftest import read_only
from tests.ecuas_metric.registry import PINNED, every_key, is_by_differences, row_of
from tests.ecuas_metric.systems import confidence_systems, posterior_systems

ORDERS = (0, 0.5, 1, 128, np.inf)
SETTINGS = {"n": ORDERS, "reject_costs": (0.1, 0.25)}
INTERVALS = {"confidence_level": 0.9, "n_resamples": 7}
EVERYTHING = {"normalize": True, "decompose": True, "calibration": True, "n_resamples": 7}


class Input(NamedTuple):
    form: str
    predictions: np.ndarray
    references: np.ndarray
    options: dict[str, object]

    def score(self, rows=slice(None), **more):
        """Return all numbers of some rows, with these options and more, where they need no intervals also of metrics
        that are named; none is outside the range of its metric.
        """
        arrays = self.predictions[rows], self.references[rows]
        system = prepare_system(
            self.form, *arrays, checked_options(**SETTINGS, **self.options | more)
        )
        keys = None if "confidence_level" in more else every_key(system, 0.4)
        results = compute_results(system, only=keys)
        for key, estimate in results.estimates.items():
            if isinstance(key.entry.range, tuple) and not key.variant:
                least, most = key.entry.range
                assert not estimate.value < least - 1e-9, key
                assert not estimate.value > most + 1e-9, key
        return results.flat()


@st.composite
def systems(draw):
    """Any form of input, with all that can be computed of it."""
    form = draw(st.sampled_from(["confidences", "posteriors", "log", "matrix", "costs"]))
    if form in ("confidences", "costs"):
        predictions, references = draw(confidence_systems())
        references = (
            references if form == "confidences" else references * draw(st.sampled_from([1.0, 2.5]))
        )
        options = {"max_uncertainty": 1.0, "decompose": True} if form == "costs" else EVERYTHING
        return Input(form, predictions, references, options)
    predictions, references = draw(posterior_systems())
    costs = {
        "posteriors": "zero_one",
        "log": "log",
        "matrix": 2.0 - 1.5 * np.eye(predictions.shape[1]),
    }
    return Input("posteriors", predictions, references, {"cost": costs[form], **EVERYTHING})


ROUGH = [name for name, metric in METRICS.items() if is_by_differences(metric)]


def digits_of(key):
    """Return how exactly a number is known, relative: limits whose influence is by differences have half the digits."""
    is_limit = key.endswith(("_low", "_high"))
    return 1e-6 if is_limit and any(name in key for name in ROUGH) else 1e-9


def same(ours, expected):
    assert list(ours) == list(expected)
    for key, value in expected.items():
        assert ours[key] == pytest.approx(value, rel=digits_of(key), abs=1e-12, nan_ok=True), key


NEEDS = {
    "any": lambda one: True,
    "confidences": lambda one: one.confidence is not None,
    "costs": lambda one: one.confidence is None,
    "posteriors": lambda one: one.labels is not None,
}
WORDS = {
    "higher": True,
    "lower": False,
    "neither": None,
    "yes": True,
    "no": False,
    "always": "",
    "-": "",
}


def test_every_metric_is_what_its_row_says():
    half = np.array([0.5])
    systems = [
        confidence_decisions(half, np.array([1])),
        Decisions(half, half, max_uncertainty=1.0),
        posterior_decisions(np.array([[0.5, 0.5]]), np.array([0])),
        posterior_decisions(np.array([[0.5, 0.5]]), np.array([0]), cost="log"),
    ]
    for name, metric in METRICS.items():
        row = row_of(name)
        assert metric.title == row.title.replace("_", " "), name
        assert metric.assesses == row.assesses, name
        assert metric.higher_is_better is WORDS[row.better], name
        needed = NEEDS[row.needs]
        assert [metric.applies(one) for one in systems] == [needed(one) for one in systems], name
        assert metric.has_bounds is WORDS[row.bounds], name
        assert metric.when == WORDS.get(row.when, row.when), name
        assert metric.parameter == WORDS.get(row.parameter, row.parameter), name
        assert metric.column == float(row.column), name
        assert metric.description, name
    assert list(PINNED) == [name for name in METRICS if name in PINNED]
    assert column_order(Key("ecuas", 1.0, "normalized")) > column_order(Key("selective_risk", 0.1))


PAIRS = np.array([[0.9, 0.1], [0.6, 0.4]])
FORMS = [
    Input("confidences", PAIRS[0], np.array([1, 0]), EVERYTHING),
    Input("posteriors", PAIRS, np.array([0, 1]), EVERYTHING),
    Input("costs", PAIRS[0], np.array([1.0, 0.0]), {"max_uncertainty": 1}),
]


def test_the_registry_is_what_the_forms_give_together():
    keys = set()
    for form, predictions, references, options in FORMS:
        system = prepare_system(
            form, predictions, references, checked_options(**SETTINGS, **options)
        )
        keys |= compute_results(system).estimates.keys()
    assert {key.metric for key in keys} == {
        name for name, one in METRICS.items() if one.when not in ("ratio", "named")
    }
    assert {key.variant for key in keys} == set(VARIANTS)


def weights_of(system, data, values=(0, 1, 2, 0.3, 1.7, 40)):
    size = len(system.references)
    weights = data.draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))
    assume(any(weights))
    return np.array(weights)


@given(systems(), st.data(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_rows_of_weight_0_do_not_matter(system, data, random):
    weights = weights_of(system, data)
    order = random.sample(range(len(weights)), len(weights))
    same(system.score(order), system.score())
    order = [row for row in order if weights[row]]
    moved = system.score(order, sample_weight=weights[order], **INTERVALS)
    same(moved, system.score(sample_weight=weights, **INTERVALS))


# some have a finer curve of more samples, or bins of as many, the others know chance
SIZED = ("aurc", "ece_debiased", "calibration_p", "prr", "auarc", "e_aurc", "ece_equal_mass")
SIZED += ("error_average_precision", "risk_at_coverage", "coverage_at_risk", "fpr_at_95_tpr")


@given(systems(), st.data())
def test_whole_weights_are_repetition(system, data):
    weights = weights_of(system, data, (0, 1, 2, 3))
    rows = np.repeat(np.arange(len(weights)), weights)
    for more in (INTERVALS, {}):
        repeated = system.score(rows, **more)
        same(system.score(sample_weight=weights, weights_are="counts", **more), repeated)
    importance = system.score(sample_weight=weights)
    for key, value in importance.items():
        assert key.startswith(SIZED) or value == pytest.approx(
            repeated[key], rel=1e-9, abs=1e-12, nan_ok=True
        ), key


@given(systems(), st.data(), st.sampled_from([0.3, 2, 1000, 1e-200, 1e200]))
def test_the_unit_of_weights_does_not_matter_and_equal_ones_are_none(system, data, unit):
    weights = weights_of(system, data)
    scored = system.score(sample_weight=weights, **INTERVALS)
    same(system.score(sample_weight=weights * unit, **INTERVALS), scored)
    equal = system.score(sample_weight=np.full(len(weights), unit), **INTERVALS)
    same(equal, system.score(**INTERVALS))


@given(systems())
def test_input_is_never_written_to_and_blocks_change_nothing(system):
    predictions, references = read_only(system.predictions), read_only(system.references)
    weighted = {"sample_weight": read_only(np.ones(len(references))), **INTERVALS}
    whole = system._replace(predictions=predictions, references=references).score(**weighted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "BLOCK_SIZE", 5)
        same(system.score(**weighted), whole)


@given(systems())
def test_one_sample_is_enough(system):
    values = system.score(slice(1), **INTERVALS, interval_method="percentile")
    assert values["aurc"] == values.get("error_rate", values.get("risk"))
    assert values["augrc"] == values["aurc"] / 2
    assert all(type(value) is float for value in values.values())
    assert all(
        math.isnan(value) for key, value in values.items() if key.endswith(("_low", "_high"))
    )


@given(systems())
def test_intervals_change_no_value_and_have_two_limits_in_order(system):
    with_limits = system.score(**INTERVALS)
    values = {key: value for key, value in system.score().items() if key in with_limits}
    same({key: with_limits[key] for key in values}, values)
    estimated = [key for key in values if key != "calibration_p"]
    assert set(with_limits) == set(values) | {
        f"{key}{end}" for key in estimated for end in ("_low", "_high")
    }
    for key in estimated:
        low = with_limits[f"{key}_low"]
        high = with_limits[f"{key}_high"]
        assert low <= high or np.isnan([low, high]).all(), key


def test_resamples_without_any_weight_have_no_value():
    options = {"sample_weight": [0.0, 0.0, 1.0, 1.0], "confidence_level": 0.9, "n_resamples": 99}
    options |= {"interval_method": "percentile", "normalize": True}
    positive = np.array([0.5, 0.75, 0.75, 0.75])
    posteriors = np.stack([1 - positive, positive], axis=1)
    values = Input("posteriors", posteriors, np.array([0, 1, 1, 1]), options).score()
    assert values["error_rate_low"] == values["error_rate_high"] == 0


def test_nothing_is_noted_or_warned_of_where_nothing_is_wrong(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = checked_options(**SETTINGS, normalize=True)
        system = prepare_system(
            "posteriors", rng.dirichlet(np.ones(4), 40), np.arange(40) % 4, options
        )
        assert compute_results(system).notes == ()


# whose ends only many answers come near
NEARED = ("calibration_p", "e_aurc", "error_average_precision")


def test_no_value_is_outside_the_range_of_its_metric_and_its_ends_occur():
    """In all systems of one, two and four answers with confidence 0 or 1."""
    found = {}
    options = checked_options(calibration=True, n_resamples=7)
    for size in (1, 2, 4):
        for q in itertools.combinations_with_replacement((0.0, 1.0), size):
            for correct in itertools.product((0, 1), repeat=size):
                system = prepare_system("confidences", np.array(q), np.array(correct), options)
                estimates = compute_results(system, only=every_key(system, 0.5)).estimates
                for key, estimate in estimates.items():
                    found.setdefault(key, []).append(estimate.value)
    ranges = {key: key.entry.range for key in found if isinstance(key.entry.range, tuple)}
    assert len(ranges) > 10
    for key, (least, most) in ranges.items():
        low, high = np.nanmin(found[key]), np.nanmax(found[key])
        assert least - 1e-9 <= low <= high <= most + 1e-9, key
        if key.metric not in NEARED:
            assert [low, high] == pytest.approx([max(least, low), most]), key


@given(confidence_systems(min_size=2), st.floats(-2, 3))
def test_a_cost_is_affine_in_the_candidate_cost(system, between):
    confidence, _ = system
    options = checked_options(n=(0, 1, 128), reject_costs=(0.2,))
    decisions = confidence_decisions(confidence, np.ones(len(confidence), np.int64))

    def cost_at(key, candidate_cost):
        paid = np.full(len(confidence), candidate_cost)
        return sample_costs(key, dataclasses.replace(decisions, candidate_cost=paid), options)

    for key in defined_keys(decisions, options, when=("", "ratio")):
        if key.entry.cost is None:
            continue
        right, wrong = cost_at(key, 0.0), cost_at(key, 1.0)
        expected = right + between * (wrong - right)
        assert cost_at(key, between) == pytest.approx(expected, rel=1e-9, abs=1e-12), key
