"""From arrays to results: forms of input that are read as another, notes, what is printed, keys."""

import itertools
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given

from ecuas_metric import compare_systems, confidence_system
from ecuas_metric.errors import InputError
from ecuas_metric.metric import Key
from ecuas_metric.options import Options, checked_options
from ecuas_metric.results import compute_results, compute_values, prepare_system, value_keys
from ecuas_metric.summary import compute_summary_results, summarize_system
from tests.ecuas_metric.systems import compute, confidence_systems

POSITIVE = checked_options(predictions_are="positive_probabilities")


@given(confidence_systems())
def test_probabilities_of_class_1_are_posteriors_of_two_classes(system):
    positive, label = system
    posteriors = np.stack([1 - positive, positive], axis=1)
    expected = compute("posteriors", posteriors, label, checked_options())
    np.testing.assert_equal(compute("confidences", positive, label, POSITIVE), expected)


def test_a_system_does_not_change_with_the_arrays_that_it_was_made_of(rng):
    correct = rng.integers(0, 2, 40)
    confidence = rng.random(40)
    weight = rng.random(40)
    one = confidence_system(correct, confidence, sample_weight=weight, calibration=True)
    expected = confidence_system(
        correct.copy(), confidence.copy(), sample_weight=weight.copy(), calibration=True
    )
    for array in (correct, confidence, weight):
        array[:] = array[::-1].copy()
    assert compute_results(one).flat() == compute_results(expected).flat()


def test_probabilities_of_class_1_may_not_be_missing():
    with pytest.raises(ValueError, match="^predictions must not be NaN"):
        prepare_system("confidences", np.array([0.5, np.nan]), np.array([0, 1]), POSITIVE)


@pytest.mark.parametrize(
    "confidence, used, notes",
    [
        ([0, 1, 1], [0, 1, 1], ["hard_decisions"]),
        ([1, 1, 1], [1, 1, 1], []),
        ([0, 1, 0.5], [0, 1, 0.5], []),
        ([1 + 1e-6, -1e-9, 0.5], [1, 0, 0.5], ["clipped"]),
    ],
)
def test_predicted_classes_and_clipped_values_are_computed_with_and_noted(confidence, used, notes):
    system = prepare_system(
        "confidences", np.array(confidence, float), np.array([0, 1, 0]), Options()
    )
    assert system.decisions.confidence.tolist() == used
    assert [note.id for note in system.notes] == notes
    posteriors = prepare_system(
        "posteriors", np.array([[1 + 1e-7, -1e-9]]), np.array([0]), Options()
    )
    assert posteriors.decisions.uncertainty.tolist() == [0]


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


@pytest.mark.parametrize("weight, shown", [(1.0, True), (1e-3, False)])
def test_mistakes_that_count_what_epsilon_sets_are_noted_where_they_are_much(weight, shown):
    confidence = np.array([1.0, 0.9, 0.6, 0.2, 1.0])
    correct = [0, 1, 0, 0, 1]
    weights = np.array([weight, 1, 1, 1, 1])
    system = prepare_system(
        "confidences", confidence, correct, checked_options(n=(0, 1), sample_weight=weights)
    )
    results = compute_results(system)
    costs = 1 - confidence - (1 - np.array(correct)) * np.log(np.maximum(1 - confidence, 1e-7))
    share = weight * costs[0] / (weights @ costs)
    assert results.flat()["ecuas_0"] == pytest.approx(weights @ costs / weights.sum())
    for notes in (results.notes, compute_summary_results(summarize_system(system)).notes):
        found = [note for note in notes if note.id == "mistakes_at_epsilon"]
        assert bool(found) == shown == (share >= 0.1)
        assert all(note.fields == pytest.approx({"share": share, "floor": 1e-7}) for note in found)
    without = compute_results(system, only=[Key("ecuas", 1)])
    assert "mistakes_at_epsilon" not in [note.id for note in without.notes]


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
