"""From arrays to results: forms of input that are read as another, notes, what is printed, keys."""

import itertools
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given

from ecuas_metric import compare_systems, confidence_system
from ecuas_metric.errors import InputError
from ecuas_metric.metric import Key
from ecuas_metric.options import checked_options
from ecuas_metric.results import compute_results, compute_values, prepare_system, value_keys
from tests.ecuas_metric.systems import compute, confidence_systems

POSITIVE = checked_options(predictions_are="positive_probabilities")


@given(confidence_systems())
def test_probabilities_of_class_1_are_posteriors_of_two_classes(system):
    positive, label = system
    posteriors = np.stack([1 - positive, positive], axis=1)
    expected = compute("posteriors", posteriors, label, checked_options())
    np.testing.assert_equal(compute("confidences", positive, label, POSITIVE), expected)


def test_probabilities_of_class_1_may_not_be_missing():
    with pytest.raises(ValueError, match="^predictions must not be NaN"):
        prepare_system("confidences", np.array([0.5, np.nan]), np.array([0, 1]), POSITIVE)


@pytest.mark.long
def test_systems_results_and_comparisons_print_as_something_readable(rng):
    systems = {}
    for name in "ab":
        q = rng.random(80)
        systems[name] = confidence_system(rng.random(80) < q, q, n=1, confidence_level=0.95)
    results = compute_results(systems["a"])
    estimate = results.estimates[Key("ecuas", 1.0)]
    frame = results.to_frame()
    rows = compare_systems(systems, by_position=True)
    assert repr(systems["a"]).startswith("<System: 80 samples with confidences, mean cost ")
    shown = f"{estimate.value:.4g} [{estimate.low:.4g}, {estimate.high:.4g}]"
    assert ["ecuas_1", *shown.split()] in [line.split() for line in repr(results).splitlines()]
    np.testing.assert_equal(frame.to_numpy(), [*map(astuple, results.estimates.values())])
    *lines, note = repr(rows).splitlines()
    assert lines == list(map(str, rows))
    assert "paired by their position" in note
    assert rows.to_frame()["key"].tolist() == [str(row.key) for row in rows]


Q = np.array([0.9, 0.8, 0.3])
POSTERIORS = np.stack([1 - Q, Q], axis=1)
FORMS = [
    ("confidences", Q, {}),
    ("posteriors", POSTERIORS, {}),
    ("posteriors", POSTERIORS, {"cost": "log"}),
    ("posteriors", POSTERIORS, {"cost": [[0, 1], [5, 0]]}),
    ("costs", Q, {"max_uncertainty": 1.0}),
]


@pytest.mark.parametrize("form, predictions, fixed", FORMS)
def test_keys_are_known_without_their_numbers(form, predictions, fixed):
    references = np.array([1.0, 0, 1]) if form == "costs" else np.array([1, 0, 1])
    names = ["decompose"] if form == "costs" else ["decompose", "normalize", "calibration"]
    for reject_costs, *flags in itertools.product([(), (0.1, 0.3)], *[[False, True]] * len(names)):
        asked = dict(zip(names, flags, strict=True))
        options = checked_options(
            n=(0, 2), n_resamples=9, reject_costs=reject_costs, **asked, **fixed
        )
        system = prepare_system(form, predictions, references, options)
        keys = value_keys(system.decisions, system.options)
        assert keys == list(compute_results(system).estimates)
        assert keys[: len(compute_values(system))] == list(compute_values(system))


@pytest.mark.parametrize(
    "key, rule",
    [
        (Key("ecuas"), "must say the parameter of ecuas"),
        (Key("prr", 0.5), "must have no parameter of prr"),
        (Key("auroc", 3.0, "normalized"), "must have no parameter of auroc"),
        (Key("accuracy"), "must name one of the metrics"),
        (3, "must be names or keys of numbers"),
    ],
)
def test_a_number_that_there_is_not_is_no_other_number(key, rule):
    system = confidence_system([1, 0], [0.9, 0.4])
    for computed in (compute_results, compute_values):
        with pytest.raises(InputError, match=rule):
            computed(system, only=[key])
