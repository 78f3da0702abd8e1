"""Raw input -> checked arrays. The only place that validates.

Every error has one form: the argument, the rule, the first offender and its index, how many, what to do.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FloatOrFloats = Any  # one number; an array where weights of shape (..., N) ask for several

POSTERIOR_FORMS = ("probabilities", "log_probabilities", "logits")
ROW_SUM_TOLERANCE = 1e-3
BLOCK_SIZE = 2**16  # numbers looked at together: what is temporary stays in the processor's cache


def numbers(values: Any, name: str) -> NDArray[Any]:
    """Return `values` as an array of real numbers, of any shape, without changing its precision.

    Lists, NumPy arrays, pandas Series with any index and CPU tensors are all taken.

    Raises
    ------
    ValueError
        If it holds text, None, complex numbers or rows of different lengths, or is empty.
    """
    if hasattr(values, "detach"):  # a tensor: NumPy knows no bfloat16 and takes no gradients along
        values = values.detach().cpu()
        values = values.double() if values.is_floating_point() else values
    if np.ma.isMaskedArray(values):  # NumPy would unmask it silently
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(_ragged(values, name)) from None
    if array.dtype.kind in "OUS":
        return _from_objects(np.asarray(values, dtype=object), name)
    if array.size == 0:
        raise ValueError(f"{name} must not be empty; got shape {array.shape}.")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers; got {array.flat[0].item()!r} at index 0.")
    return array


def confidences(predictions: Any, references: Any) -> tuple[Floats, Ints]:
    """Return checked confidences (N,) in [0, 1], NaN where missing, and correctness (N,), 0 or 1."""
    confidence = one_dimensional(numbers(predictions, "predictions"), "predictions").astype(np.float64, copy=False)
    correct = one_dimensional(numbers(references, "references"), "references")
    same_length(predictions=confidence, references=correct)
    ok = np.isnan(confidence) | ((confidence >= 0) & (confidence <= 1))
    require(ok, confidence, "predictions must lie in [0, 1]", "" if ok.all() else _scale_advice(confidence))
    require(
        (correct == 0) | (correct == 1),
        correct,
        "references must be 0 (incorrect) or 1 (correct)",
        "Class labels? Pass posteriors of shape (N, K) as predictions.",
    )
    return confidence, correct.astype(np.int64, copy=False)


def fill_missing(confidence: Floats, *, missing_confidence: float | None = None) -> Floats:
    """Return `confidence` with each NaN replaced by `missing_confidence`, and a warning that counts them.

    Raises
    ------
    ValueError
        If there is a NaN and `missing_confidence` is None.
    """
    missing = np.isnan(confidence)
    if not missing.any():
        return confidence
    if missing_confidence is None:
        require(
            ~missing,
            confidence,
            "predictions must not be NaN",
            "Missing confidences? Set missing_confidence to a number in [0, 1] to count them as that.",
        )
    warnings.warn(
        f"{missing.sum()} of {missing.size} confidences are missing (NaN) and count as {missing_confidence:g}.",
        stacklevel=2,
    )
    return np.where(missing, np.float64(missing_confidence), confidence)


def posteriors(predictions: Any, references: Any) -> tuple[NDArray[Any], Ints]:
    """Return an (N, K) array, K >= 2, as it was given, and labels (N,) in [0, K).

    What its values must be depends on their form, see `check_posteriors`.
    """
    array = numbers(predictions, "predictions")
    if array.ndim != 2:
        raise ValueError(f"predictions must have shape (N,) or (N, K); got shape {array.shape}.")
    num_classes = array.shape[1]
    if num_classes < 2:
        raise ValueError(
            f"predictions of shape (N, K) must have K >= 2 classes; got shape {array.shape}. "
            "Confidences? Pass them as a flat list."
        )
    return array, labels(references, "references", num_classes=num_classes, num_samples=len(array))


def check_posteriors(array: NDArray[Any], *, predictions_are: str = "probabilities") -> None:
    """Raise ValueError unless every row of `array` (N, K) is a distribution in the form named.

    ``probabilities`` lie in [0, 1] and sum to 1 (tolerance 1e-3), ``log_probabilities`` are the logarithms of
    such, and ``logits`` are any numbers; minus infinity is a probability of 0 in the last two.
    """
    if predictions_are == "probabilities":
        advice = "Logits or log-probabilities? Say so with predictions_are."
        _require_rows(array, _in_unit_interval, "predictions must lie in [0, 1]", advice)
        _require_sums(array.sum(axis=1, dtype=np.float64), "predictions_are='logits' takes rows of any sum.")
    else:
        _require_rows(array, _below_infinity, "predictions must be finite, or -inf for a probability of 0", "")
        if predictions_are == "log_probabilities":
            advice = "predictions_are='logits' takes rows of any sum."
            with np.errstate(over="ignore"):
                sums = [np.exp(block).sum(axis=1) for block in row_blocks(array)]
            _require_sums(np.concatenate(sums), f"These are the exponentials: {advice}")
        else:
            _require_rows(array, np.isfinite, "each row of predictions must have a finite logit", "", every=False)


def graded(predictions: Any, references: Any) -> tuple[Floats, Floats]:
    """Return checked uncertainties and candidate costs, (N,) each, finite and non-negative."""
    uncertainty = non_negative(one_dimensional(numbers(predictions, "predictions"), "predictions"), "predictions")
    cost = non_negative(one_dimensional(numbers(references, "references"), "references"), "references")
    same_length(predictions=uncertainty, references=cost)
    return uncertainty, cost


def labels(values: Any, name: str, *, num_classes: int, num_samples: int) -> Ints:
    """Return `values` as (N,) whole numbers in [0, `num_classes`)."""
    array = one_dimensional(numbers(values, name), name)
    same_length(**{"predictions": range(num_samples), name: array})
    require(array == np.floor(array), array, f"{name} must be whole numbers")
    require(
        (array >= 0) & (array < num_classes),
        array,
        f"{name} must be labels in [0, {num_classes})",
        "Count from 0.",
    )
    return array.astype(np.int64, copy=False)


def blocks(num_rows: int, *, row_size: int = 1) -> Iterator[slice]:
    """Yield slices of consecutive rows that hold about `BLOCK_SIZE` numbers each, if a row holds `row_size`."""
    rows = max(1, BLOCK_SIZE // row_size)
    for first in range(0, num_rows, rows):
        yield slice(first, min(first + rows, num_rows))


def row_blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield views of consecutive rows of an (N, K) array, about `BLOCK_SIZE` numbers each."""
    for rows in blocks(len(array), row_size=array.shape[1]):
        yield array[rows]


def require(ok: NDArray[np.bool_], values: ArrayLike, rule: str, advice: str = "") -> None:
    """Raise ValueError unless all is `ok`: the rule, the first offender and its index, how many, what to do."""
    if ok.all():
        return
    first = np.unravel_index(np.argmin(ok), ok.shape)
    index = int(first[0]) if ok.ndim == 1 else tuple(map(int, first))
    count = f"{ok.size - np.count_nonzero(ok)} of {ok.size}"
    raise ValueError(f"{rule}; got {np.asarray(values)[first].item()} at index {index} ({count}). {advice}".rstrip())


def non_negative(array: NDArray[Any], name: str) -> Floats:
    """Return `array` in float64 if it is finite and non-negative."""
    require((array >= 0) & (array < np.inf), array, f"{name} must be finite and non-negative")
    return array.astype(np.float64, copy=False)


def one_dimensional(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return `array` if it has shape (N,)."""
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got shape {array.shape}.")
    return array


def same_length(**arrays: Any) -> None:
    """Raise ValueError unless the two named arrays have the same length."""
    (name, array), (other, other_array) = arrays.items()
    if len(array) != len(other_array):
        raise ValueError(f"{name} and {other} must have the same length; got {len(array)} and {len(other_array)}.")


def _require_rows(array: NDArray[Any], test: Any, rule: str, advice: str, *, every: bool = True) -> None:
    good = [(test(block).all(axis=1) if every else test(block).any(axis=1)) for block in row_blocks(array)]
    ok = np.concatenate(good)
    if ok.all():
        return
    row = int(np.argmin(ok))
    column = int(np.argmin(test(array[row])))
    count = f"{np.count_nonzero(~ok)} of {ok.size} rows"
    raise ValueError(f"{rule}; got {array[row, column].item()} at index {row, column} ({count}). {advice}".rstrip())


def _require_sums(sums: Floats, advice: str) -> None:
    rule = f"rows of predictions must sum to 1 (tolerance {ROW_SUM_TOLERANCE:g})"
    require(np.abs(sums - 1) <= ROW_SUM_TOLERANCE, sums, rule, f"Logits? {advice}")


def _in_unit_interval(block: NDArray[Any]) -> NDArray[np.bool_]:
    return (block >= 0) & (block <= 1)


def _below_infinity(block: NDArray[Any]) -> NDArray[np.bool_]:
    return block < np.inf


def _scale_advice(confidence: Floats) -> str:
    if np.nanmin(confidence) < 0:
        return "Log-probabilities? Take their exponential."
    return "Percentages? Divide by 100." if np.nanmax(confidence) <= 100 else ""


def _from_objects(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return numbers, and nan for what is missing, of an array of Python objects; or of a column of lists."""
    if array.size and isinstance(array.flat[0], (list, tuple, np.ndarray)):
        return numbers([np.asarray(row) for row in array], name)
    result = np.empty(array.shape)
    for index, value in np.ndenumerate(array):
        missing = value is None or type(value).__name__ == "NAType"
        if (not missing and not isinstance(value, (int, float, np.number, np.bool_))) or isinstance(value, complex):
            raise ValueError(f"{name} must be numbers; got {value!r} at index {index[0] if index else 0}.")
        try:
            result[index] = np.nan if missing else float(value)
        except OverflowError:
            raise ValueError(f"{name} must be numbers of float64; got one of {len(str(value))} digits.") from None
    return result


def _ragged(values: Any, name: str) -> str:
    lengths = [np.size(row) for row in values]
    index = next((i for i, length in enumerate(lengths) if length != lengths[0]), 0)
    return f"rows of {name} must have one length; got {lengths[index]} at index {index}, {lengths[0]} at index 0."
