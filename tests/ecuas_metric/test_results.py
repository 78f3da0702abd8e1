import itertools
import math
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given

from ecuas_metric import compare_systems, confidence_system
from ecuas_metric.metric import Key
from ecuas_metric.options import checked_options
from ecuas_metric.results import all_values, compute_results, prepare, value_keys
from tests.ecuas_metric.systems import compute, confidence_systems


@given(confidence_systems())
def test_probabilities_of_class_1_are_posteriors_of_two_classes(system):
    positive, label = system
    both = np.stack([1 - positive, positive], axis=1)
    options = checked_options(predictions_are="positive_probabilities")
    found = compute("confidences", positive, label, options)
    assert found == pytest.approx(compute("posteriors", both, label, checked_options()), nan_ok=True, rel=0, abs=0)
    with pytest.raises(ValueError, match="^predictions must not be NaN"):
        prepare("confidences", np.where(positive == positive[0], np.nan, positive), label, options)


def test_rounded_posteriors_have_the_numbers_of_their_shares():
    rounded, labels = np.array([[0.33, 0.33, 0.33], [0.5, 0.3, 0.19]]), np.array([0, 1])
    exact = rounded / rounded.sum(axis=1, keepdims=True)
    found = compute("posteriors", rounded, labels, checked_options(renormalize=True))
    assert found == compute("posteriors", exact, labels, checked_options())
    with pytest.raises(ValueError, match="must have rows that sum to 1"):
        prepare("posteriors", np.array([[0.5, 0.4]]), np.array([0]), checked_options(renormalize=True))


@pytest.mark.parametrize(("predictions", "noted"), [([0, 1, 1], True), ([1, 1, 1], False), ([0, 1, 0.5], False)])
def test_predicted_classes_are_noted(predictions, noted):
    system = prepare("confidences", np.array(predictions, float), np.array([0, 1, 0]), checked_options())
    assert [note.id for note in system.notes] == ["hard_decisions"] * noted


def test_clipped_values_are_computed_with_and_noted():
    beyond = prepare("confidences", np.array([1 + 1e-6, -1e-9]), np.array([1, 1]), checked_options())
    assert beyond.decisions.confidence.tolist() == [1, 0]
    assert beyond.notes[0].id == "clipped"
    beyond = prepare("posteriors", np.array([[1 + 1e-7, -1e-9]]), np.array([0]), checked_options())
    assert beyond.decisions.uncertainty.tolist() == [0]


def test_systems_results_and_comparisons_print_as_something_readable(rng):
    q = rng.random((2, 80))
    systems = {
        name: confidence_system(rng.random(80) < confidence, confidence, n=1, confidence_level=0.95)
        for name, confidence in zip("ab", q, strict=True)
    }
    assert repr(systems["a"]).startswith("<System: 80 samples with confidences, mean cost ")
    results = compute_results(systems["a"])
    estimate = results.estimates[Key("ecuas", 1.0)]
    line = next(line for line in repr(results).splitlines() if line.startswith("ecuas_1 "))
    assert line.split(maxsplit=1)[1] == f"{estimate.value:.4g} [{estimate.low:.4g}, {estimate.high:.4g}]"
    frame = results.to_frame()
    assert frame.loc["ecuas_1"].tolist() == list(astuple(estimate))
    assert frame["low"].isna().tolist() == [math.isnan(one.low) for one in results.estimates.values()]
    rows = compare_systems(systems)
    assert repr(rows).splitlines() == [str(row) for row in rows]
    assert rows.to_frame()["key"].tolist() == [str(row.key) for row in rows]
    assert "ecuas_1" in rows._repr_html_()
    assert "ecuas_1" in results._repr_html_()


FORMS = {
    "confidences": {},
    "posteriors": {},
    "posteriors, log": {"cost": "log"},
    "posteriors, matrix": {"cost": [[0, 1], [5, 0]]},
    "costs": {"max_uncertainty": 1.0},
}


@pytest.mark.parametrize("form", FORMS)
def test_keys_are_known_without_their_numbers(form):
    form, fixed = form.partition(",")[0], FORMS[form]
    q, references = np.array([0.9, 0.8, 0.3]), np.array([1, 0, 1])
    predictions = np.stack([1 - q, q], axis=1) if form == "posteriors" else q
    references = references.astype(np.float64) if form == "costs" else references
    names = ["decompose"] if form == "costs" else ["decompose", "normalize", "calibration"]
    for reject_costs, *flags in itertools.product([(), (0.1, 0.3)], *[[False, True]] * len(names)):
        options = fixed | {"reject_costs": reject_costs} | dict(zip(names, flags, strict=True))
        system = prepare(form, predictions, references, checked_options(n=(0, 2), n_resamples=9, **options))
        keys = value_keys(system)
        assert keys == list(compute_results(system).estimates)
        assert keys[: len(all_values(system))] == list(all_values(system))
