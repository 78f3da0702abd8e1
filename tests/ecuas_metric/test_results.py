"""What `prepare` makes of the arrays before they are decisions."""

import numpy as np
import pytest
from hypothesis import given

from ecuas_metric.options import checked_options
from ecuas_metric.results import prepare
from tests.ecuas_metric.systems import compute, confidence_systems


@given(confidence_systems())
def test_probabilities_of_class_1_are_posteriors_of_two_classes(system):
    positive, label = system
    both = np.stack([1 - positive, positive], axis=1)
    found = compute("confidences", positive, label, checked_options(predictions_are="positive_probabilities"))
    assert found == pytest.approx(compute("posteriors", both, label, checked_options()), nan_ok=True, rel=0, abs=0)


def test_probabilities_of_class_1_have_one_number_per_sample_and_no_gaps():
    options = checked_options(predictions_are="positive_probabilities")
    with pytest.raises(ValueError, match=r"must have shape \(N,\) where they are positive_probabilities"):
        prepare("posteriors", np.array([[0.5, 0.5]]), np.array([0]), options)
    with pytest.raises(ValueError, match="must not be NaN"):
        prepare("confidences", np.array([0.5, np.nan]), np.array([0, 1]), options)


def test_rounded_posteriors_have_the_numbers_of_their_shares():
    rounded, labels = np.array([[0.33, 0.33, 0.33], [0.5, 0.3, 0.19]]), np.array([0, 1])
    exact = rounded / rounded.sum(axis=1, keepdims=True)
    found = compute("posteriors", rounded, labels, checked_options(renormalize=True))
    assert found == compute("posteriors", exact, labels, checked_options())
    with pytest.raises(ValueError, match="must have rows that sum to 1"):
        prepare("posteriors", np.array([[0.5, 0.4]]), np.array([0]), checked_options(renormalize=True))
    with pytest.raises(ValueError, match="renormalize requires probabilities"):
        prepare("posteriors", rounded, labels, checked_options(renormalize=True, predictions_are="logits"))


@pytest.mark.parametrize(("predictions", "noted"), [([0, 1, 1], True), ([1, 1, 1], False), ([0, 1, 0.5], False)])
def test_predicted_classes_are_noted(predictions, noted):
    system = prepare("confidences", np.array(predictions, float), np.array([0, 1, 0]), checked_options())
    assert [note.kind for note in system.notes] == ["hard_decisions"] * noted


def test_clipped_values_are_computed_with_and_noted():
    beyond = prepare("confidences", np.array([1 + 1e-6, -1e-9]), np.array([1, 1]), checked_options())
    assert beyond.decisions.confidence.tolist() == [1, 0]
    assert beyond.notes[0].kind == "clipped"
    beyond = prepare("posteriors", np.array([[1 + 1e-7, -1e-9]]), np.array([0]), checked_options())
    assert beyond.decisions.uncertainty.tolist() == [0]
