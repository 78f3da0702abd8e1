import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ecuas_metric.inputs import (
    check_posteriors,
    clip,
    confidences,
    costs,
    divide_by_sums,
    fill_missing,
    labels,
    numbers,
    posteriors,
)

NAN, INF = float("nan"), float("inf")
UNIT = "predictions must lie in [0, 1]"
SUMS = "predictions must have rows that sum to 1 (tolerance 0.001)"
FINITE = "predictions must be finite, or -inf for a probability of 0"
TRUTH = "references must be 0 (incorrect) or 1 (correct)"
CLASSES = "Class labels? Pass posteriors of shape (N, K) as predictions."
FLAT = "Confidences? Pass them as a flat list."
GRADES = "Partly correct? Choose the lowest grade that counts as correct."
LOGITS = "Logits or log-probabilities? Specify them with predictions_are."


def expect(message):
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        ([0.1, 0.2, 0.3, 87.0, 12.0], [1] * 5, f"{UNIT}; got 87.0 at index 3 (2 of 5). Percentages? Divide by 100."),
        ([-0.3, -0.2], [1, 1], f"{UNIT}; got -0.3 at index 0 (2 of 2). Log-probabilities? Take their exponential."),
        ([-0.3, 0.2], [1, 1], f"{UNIT}; got -0.3 at index 0 (1 of 2)."),
        ([0.2, INF], [1, 0], f"{UNIT}; got inf at index 1 (1 of 2)."),
        ([0, 2, 1], [0, 2, 2], f"{UNIT}; got 2.0 at index 1 (1 of 3). {CLASSES}"),
        ([0.2, 0.3], [1, 2], f"{TRUTH}; got 2 at index 1 (1 of 2). {CLASSES}"),
        ([0.2, 0.3], [0.5, 1], f"{TRUTH}; got 0.5 at index 0 (1 of 2). {GRADES}"),
        ([0.2, 0.3], [NAN, 1], f"{TRUTH}; got nan at index 0 (1 of 2)."),
        ([], [], "predictions must not be empty; got shape (0,)."),
        (["0.2", "0.3"], [1, 0], "predictions must be numbers; got '0.2' at index 0."),
        ([0.2, "x", None], [1, 0, 1], "predictions must be numbers; got 'x' at index 1."),
        ([0.2, {}], [1, 0], "predictions must be numbers; got {} at index 1."),
        ([1j], [1], "predictions must be numbers; got 1j at index 0."),
        ([10**400], [1], "predictions must be numbers of float64; got one of 401 digits."),
        (None, [1], "predictions must be one-dimensional; got shape ()."),
    ],
)
def test_confidences_refuse(predictions, references, message):
    with expect(message):
        confidences(predictions, references)


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        ([[0.5, 0.5], [1.0]], [0, 1], "predictions must have rows of one length (2 in the first); got 1 at index 1."),
        ([[1.0], [1.0]], [0, 0], f"predictions must have K >= 2 classes; got shape (2, 1). {FLAT}"),
        ([[0.5, 0.5]], [2], "references must be labels in [0, 2); got 2 at index 0 (1 of 1). Count from 0."),
        ([[0.5, 0.5]], [-1], "references must be labels in [0, 2); got -1 at index 0 (1 of 1). Count from 0."),
        ([[0.5, 0.5]], [0.5], "references must be whole numbers; got 0.5 at index 0 (1 of 1)."),
        ([[0.5, 0.5]], [NAN], "references must be whole numbers; got nan at index 0 (1 of 1)."),
        ([[], []], [0, 1], "predictions must not be empty; got shape (2, 0)."),
    ],
)
def test_posteriors_refuse(predictions, references, message):
    with expect(message):
        posteriors(predictions, references)


@pytest.mark.parametrize(
    ("form", "rows", "message"),
    [
        ("probabilities", [[0.5, 0.5], [0.5, 0.4]], f"{SUMS}; got 0.9 at index 1 (1 of 2). Logits? "),
        ("probabilities", [[0.33, 0.66], [0.5, 0.5]], f"{SUMS}; got 0.99 at index 0 (1 of 2). Rounded probabilities? "),
        ("probabilities", [[2.0, -1.0], [0.5, 0.5]], f"{UNIT}; got 2.0 at index (0, 0) (1 of 2). {LOGITS}"),
        ("probabilities", [[90.0, 10.0], [50.0, 49.9]], f"{UNIT}; got 90.0 at index (0, 0) (2 of 2). Percentages? "),
        ("probabilities", [[0.5, 0.5], [0.5, NAN]], "predictions must not be NaN; got nan at index (1, 1) (1 of 2)."),
        ("log_probabilities", [[-1.0, -1.0]], f"{SUMS}; got 0.7357588823428847 at index 0 (1 of 1). Logits? "),
        ("log_probabilities", [[-INF, NAN]], f"{FINITE}; got nan at index (0, 1) (1 of 1)."),
        ("logits", [[0.0, INF]], f"{FINITE}; got inf at index (0, 1) (1 of 1)."),
        ("logits", [[0.0, 1.0], [-INF, -INF]], "predictions must have a finite logit in each row; got -inf at index "),
    ],
)
def test_rows_that_are_no_distribution_are_refused(form, rows, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        check_posteriors(np.array(rows), predictions_are=form)


def test_float32_softmax_rows_pass(rng):
    logits = rng.normal(size=(1000, 50)).astype(np.float32) * 10
    q = np.exp(logits - logits.max(axis=1, keepdims=True))
    check_posteriors(q / q.sum(axis=1, keepdims=True))
    check_posteriors(logits, predictions_are="logits")


@pytest.mark.parametrize("bad", [-0.1, NAN, INF])
def test_costs_refuse(bad):
    rule = f"must be finite and non-negative; got {bad} at index 1 (1 of 2)."
    with expect(f"predictions {rule}"):
        costs([0.1, bad], [0, 1])
    with expect(f"references {rule}"):
        costs([0.1, 0.1], [0, bad])


def test_missing_confidences_are_an_error_or_counted():
    with pytest.raises(ValueError, match=r"^predictions must not be NaN; got nan at index 1 \(1 of 2\)"):
        fill_missing(np.array([0.3, NAN]))
    filled, (note,) = fill_missing(np.array([0.3, NAN]), missing_confidence=0.5)
    assert (filled.tolist(), note.kind) == ([0.3, 0.5], "missing")
    assert fill_missing(np.array([0.3]), missing_confidence=0.5)[1] == ()


def test_missing_values_of_any_kind_are_nan():
    masked = np.ma.masked_array([0.1, 0.9], mask=[False, True])
    for values in ([0.1, None], pd.Series([0.1, None], index=[7, 9]), pd.array([0.1, pd.NA], dtype="Float64"), masked):
        np.testing.assert_array_equal(confidences(values, [1, 0])[0], [0.1, NAN])


def test_what_is_given_is_never_changed():
    given = np.array([0.9, None, 0.4], dtype=object)
    confidences(given, [1, 0, 1])
    assert given.tolist() == [0.9, None, 0.4]
    assert np.isnan(confidences(pd.Series([0.9, None, 0.4], dtype=object), [1, 0, 1])[0][1])


def test_a_column_of_lists_is_posteriors():
    rows = [[0.7, 0.3], [0.4, 0.6]]
    for values in (pd.Series(rows), pd.Series([np.array(row) for row in rows]), pa.array(rows)):
        np.testing.assert_array_equal(posteriors(values, [0, 1])[0], rows)


def test_equal_values_in_any_container_are_equal_arrays():
    series = pd.Series([1, 0, 1], index=["a", "b", "c"])
    for values in ([1, 0, 1], (True, False, True), np.array([1.0, 0.0, 1.0]), series, series.astype("Int64")):
        np.testing.assert_array_equal(labels(values, "references", num_classes=2, num_samples=3), [1, 0, 1])


def test_precision_is_kept():
    assert confidences([1 - 1e-15], [1])[0][0] == 1 - 1e-15
    assert numbers(np.zeros(3, np.float32), "predictions").dtype == np.float32


def test_tensors_are_taken():
    """Gradients and bfloat16 must be taken off first."""
    torch = pytest.importorskip("torch")
    said = torch.tensor([0.25, 0.5], dtype=torch.bfloat16, requires_grad=True)
    confidence, correct = confidences(said, torch.tensor([1, 0]))
    assert confidence.tolist() == [0.25, 0.5]
    assert correct.tolist() == [1, 0]


def test_what_lies_outside_by_rounding_is_clipped_and_noted():
    values, (note,) = clip(np.array([1 + 1e-6, -1e-9, 0.5, NAN]))
    np.testing.assert_array_equal(values, [1, 0, 0.5, NAN])
    assert note.kind == "clipped"
    assert "2 of 4 predictions" in note.fact
    assert clip(np.array([0.0, 1.0])) == (pytest.approx([0, 1]), ())
    with pytest.raises(ValueError, match="must lie in"):
        confidences([1 + 2e-6, 0.5], [1, 0])


def test_rows_of_rounded_probabilities_are_divided_by_their_sums_and_counted():
    array = np.array([[0.66, 0.33], [0.5, 0.5], [0.5, 0.4994], [0.5, 0.2]])
    divided, (note,) = divide_by_sums(array)
    assert divided[0].tolist() == [0.66 / 0.99, 0.33 / 0.99]
    assert divided[1:].tolist() == array[1:].tolist()  # as they are: exact, within the usual tolerance, and no rounding
    assert note.fact == "1 of 4 rows do not sum to 1 (by up to 0.01) and are divided by their sums."
