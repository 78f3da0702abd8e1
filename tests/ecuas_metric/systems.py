"""Hypothesis strategies for systems (ties are common in all), their numbers, and a count of sorts."""

import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecuas_metric.groups import tie_groups
from ecuas_metric.metrics import defined_keys, metric_values
from ecuas_metric.options import checked_options
from ecuas_metric.results import compute_results, prepare_system

# One value of every option that says something for three samples of two classes.
EVERY_OPTION = {
    "n": (0.5, 3),
    "num_classes": 4,
    "predictions_are": "log_probabilities",
    "cost": [[0.0, 1.0, 0.3], [5.0, 0.0, 0.3]],
    "decisions": [0, 1, 2],
    "max_uncertainty": 1.6,
    "reject_costs": [0.1, 0.2],
    "normalize": True,
    "missing_confidence": 0.5,
    "n_bins": 3,
    "epsilon": 1e-3,
    "sample_weight": [1, 2, 3],
    "renormalize": True,
    "weights_are": "counts",
    "decompose": True,
    "calibration": True,
    "confidence_level": 0.9,
    "interval_method": "percentile",
    "n_resamples": 20,
    "random_state": 1,
    "groups": ["a", "a", "b"],
    "strata": [0, 0, 1],
    "abstained": [0, 0, 1],
    "judge": [1, 1, 0],
    "audit_probability": [0.1, 0.5, 1.0],
}
UNIT = st.one_of(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 0.9, 1.0]), st.floats(0, 1))


@st.composite
def confidence_systems(draw, min_size=1, max_size=30):
    size = draw(st.integers(min_size, max_size))
    confidence = draw(arrays(np.float64, size, elements=UNIT))
    correct = draw(arrays(np.int64, size, elements=st.integers(0, 1)))
    return confidence, correct


@st.composite
def distributions(draw, num_classes):
    weights = draw(arrays(np.float64, num_classes, elements=st.floats(0.01, 1)))
    return weights / weights.sum()


@st.composite
def posterior_systems(draw, max_size=20):
    num_classes = draw(st.integers(2, 5))
    rows = draw(st.lists(distributions(num_classes), min_size=1, max_size=max_size))
    labels = draw(arrays(np.int64, len(rows), elements=st.integers(0, num_classes - 1)))
    return np.array(rows), labels


def compute(form, predictions, references, options):
    """Return all numbers of a system under their keys, as `compute` does."""
    return compute_results(prepare_system(form, predictions, references, options)).flat()


def inferred(predictions, references, form="confidences", *, level=0.95, only=None, **options):
    """Return the estimates of a system by the text of their keys, and its notes."""
    checked = checked_options(confidence_level=level, **options)
    system = prepare_system(form, np.asarray(predictions, float), np.asarray(references), checked)
    results = compute_results(system, only=only)
    return {str(key): estimate for key, estimate in results.estimates.items()}, results.notes


def limits(*data, **options):
    """Return the two limits of each of these numbers."""
    estimates, _ = inferred(*data, **options)
    return {key: np.array([one.low, one.high]) for key, one in estimates.items()}


def reaches(*data, **options):
    """Return how far the two limits of each of these numbers are from it."""
    estimates, _ = inferred(*data, **options)
    return {key: np.array([one.low, one.high]) - one.value for key, one in estimates.items()}


def groups_of(confidence, correct, sample_weight=None):
    return tie_groups(-confidence, 1.0 - correct, sample_weight=sample_weight)


def values(decisions, *, sample_weight=None, **options):
    """Return every metric of decisions under its key, for weights (N,) as they are."""
    ties = tie_groups(decisions.rank, decisions.candidate_cost, sample_weight=sample_weight)
    weighted = checked_options(**options).replace(sample_weight=sample_weight)
    keys = defined_keys(decisions, weighted)
    found = metric_values(decisions, ties, weighted, keys=keys)
    return {str(key): value for key, value in found.items()}


@contextmanager
def counted_sorts(num_samples):
    """List the shapes of the numbers, or their bits, that NumPy sorts, if these are as many as the samples."""
    sorts = []

    def look(frame, event, called):
        if event == "c_call" and getattr(called, "__name__", "") in ("sort", "argsort"):
            array = getattr(called, "__self__", None)
            if (
                isinstance(array, np.ndarray)
                and array.dtype.kind in "fu"
                and array.size >= num_samples
            ):
                sorts.append(array.shape)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield sorts
    finally:
        sys.setprofile(before)


def frame_of(system):
    """Return a system of confidences as the frame that it could have been read from."""
    columns = {
        "confidence": system.decisions.confidence,
        "correct": 1 - system.decisions.candidate_cost,
    }
    ids = {} if system.ids is None else {"id": list(system.ids)}
    return pd.DataFrame({**ids, **columns})
