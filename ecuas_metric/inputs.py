"""Arrays, frames, tensors and lists -> checked arrays of float64 and integers, for all forms of input."""

import math
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, Note
from .precision import FORMATS, widen

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Array = NDArray[Any]  # of any numbers
Limits = tuple[float, float]
NO_LIMITS: Limits = (math.nan, math.nan)
_Notes = tuple[Note, ...]
# predictions, references -> both, checked
FormCheck = Callable[[object, object], tuple[Array, Array]]
FloatOrFloats = Any  # a number, or an array (...) of several at once

_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T")

POSTERIOR_FORMS = ("probabilities", "log_probabilities", "logits", "positive_probabilities")
# numbers up to it are taken for ratings on a smaller scale, not for percentages
LEAST_PER_CENT = 50
IGNORED = -100  # the label of ignored samples in PyTorch and transformers
ROW_SUM_TOLERANCE = 1e-3
SUM_NOTE = 1e-5  # a larger difference from 1 is no rounding of float32, and is noted
ROUNDED_SUM_TOLERANCE = 0.05  # rounding of ten classes to two digits, or to bfloat16
RANGE_TOLERANCE = 1e-6  # below 0 and above 1: rounding of float32
# numbers processed at a time, so that temporary arrays stay in the processor's cache
BLOCK_SIZE = 2**16
# so a block has fewer than 10,000 samples: for more, BLAS uses further cores
NUMBERS_PER_SAMPLE = 8


def grouped(items: Iterable[_T], key: Callable[[_T], _K]) -> dict[_K, list[_T]]:
    """Return the items by the value of `key`, in the order of their first occurrence."""
    groups: dict[_K, list[_T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def select_or_none(values: Floats | None, rows: Ints | Bools) -> Floats | None:
    """Return `values[rows]`, or None if there are no values."""
    return None if values is None else values[rows]


def are_consecutive(values: Array) -> bool:
    """Return whether each number (N,) is one more than the one before."""
    return bool((np.diff(values) == 1).all())


def parse_numbers(values: object, name: str, *, are_costs: bool = False) -> Array:
    """Return lists, arrays, data frames, Series or tensors as an array of real numbers of any shape.

    Floats of fewer than 64 bits become float64 by their shortest decimals, see `precision.widen`; `are_costs` says that
    a matrix is one of costs, and no logits of 16 bits, which keep their values. InputError for an empty array or other
    types.
    """
    array = to_array(values, name, are_costs=are_costs)
    if array.size == 0:
        raise shape_error(array, name, "empty")
    if array.dtype.kind not in "biuf":
        raise InputError(name, "not_numbers", value=array.flat[0].item(), index=0)
    return array


def parse_number(value: object, name: str) -> float:
    """Return one number in float64: 0.9 of float32 as 0.9, see `parse_numbers`."""
    return float(parse_numbers(value, name))


def to_array(values: object, name: str, *, are_costs: bool = False) -> Array:
    """Return an array as `parse_numbers` does, but also an empty one or one of another type."""
    if are_costs and np.ndim(values) > 1 and not hasattr(values, "columns"):  # type: ignore[arg-type]
        return _stack_rows(values, name)
    columns = _frame_columns(values)
    if columns:
        return np.stack([to_array(column, name) for column in columns], axis=1)
    return _to_numbers(fill_masked(detach_tensor(values)), name)


def _to_numbers(values: object, name: str) -> Array:
    """Return lists, arrays or a column of `datasets` as an array, widened to float64 from narrower floats."""
    try:
        array = np.asarray(values, _dataset_dtype(values))
    except ValueError:
        raise _ragged_error(values, name) from None
    is_mixed = array.dtype == np.float64 and _mixes_precisions(values)
    if is_mixed and array.ndim > 1:
        return _stack_rows(values, name)
    if is_mixed:
        return _parse_objects(np.fromiter(values, object), name)  # type: ignore[call-overload]
    if array.dtype.kind in "OUS":
        return _parse_objects(np.asarray(values, dtype=object), name)
    return widen(array)


def _stack_rows(values: Any, name: str) -> Array:
    """Return a matrix from rows, each widened by itself."""
    return np.stack([to_array(row, name) for row in values])


def fill_masked(values: Any) -> Any:
    """Return a masked array with None where masked, since NumPy would drop the mask; anything else unchanged."""
    if "numpy.ma" not in sys.modules or not isinstance(values, np.ma.MaskedArray):
        return values
    filled = widen(values.data)
    if values.mask.any():
        filled = filled.astype(object)
        filled[values.mask] = None
    return filled


def detach_tensor(values: object) -> object:
    """Return a tensor as an array, floats in float64; other values unchanged."""
    if not hasattr(values, "detach"):
        return values
    tensor = values.detach().cpu()
    if not tensor.is_floating_point():
        return tensor.numpy()
    dtype = str(tensor.dtype).removeprefix("torch.")
    floats = tensor.float() if dtype in FORMATS else tensor.double()
    return widen(floats.numpy(), dtype)


def _dataset_dtype(values: Any) -> str | None:
    """Return the narrow float type of a column of `datasets`, whose items are Python floats; None for other values."""
    features = getattr(getattr(values, "source", None), "features", None) or {}
    feature: Any = features.get(getattr(values, "column_name", None))
    while hasattr(feature, "feature"):  # of lists
        feature = feature.feature
    dtype = getattr(feature, "dtype", None)
    return dtype if dtype in FORMATS else None


def _frame_columns(values: Any) -> list[object]:
    """Return the columns of a data frame, which may differ in type; nothing for other values.

    Nothing either for a frame of pandas with one type of NumPy: it converts to an array as it is.
    """
    if hasattr(values, "column_names"):  # of PyArrow
        return list(values.columns)
    if hasattr(values, "get_columns"):  # of Polars
        return list(values.get_columns())
    if hasattr(values, "columns") and hasattr(values, "items"):  # of pandas
        types = list(set(values.dtypes))
        is_array = len(types) == 1 and isinstance(types[0], np.dtype)
        return [] if is_array else [column for _, column in values.items()]
    return []


def _mixes_precisions(values: object) -> bool:
    """Return whether a list mixes narrow floats with others, so that NumPy would widen 0.9 to 0.899999976."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        return False
    if set(map(type, values)) <= {float, int, bool, np.float64}:  # quicker than to look at dtypes
        return False
    dtypes = {str(getattr(value, "dtype", "")).removeprefix("torch.") for value in values}
    return not dtypes.isdisjoint(FORMATS) or any(map(_mixes_precisions, values))


def parse_confidences(
    predictions: object, references: object, *, are_drawn: bool = False
) -> tuple[Floats, Array]:
    """Return confidences (N,), in [0, 1] up to rounding or NaN, and correctness (N,), 0 or 1; else InputError.

    If answers `are_drawn` for people to label, the correctness of all others is NaN.
    """
    confidence = parse_vector(predictions, "predictions").astype(np.float64, copy=False)
    correct = parse_vector(references, "references")
    require_same_length(predictions=confidence, references=correct)
    ok = np.isnan(confidence) | lie_in_unit_interval(confidence)
    if not ok.all():
        advice = _scale_advice(confidence, correct)
        require(ok, confidence, "predictions", "out_of_unit_interval", advice)
    ok = (correct == 0) | (correct == 1) | (np.isnan(correct) & are_drawn)
    if not ok.all():
        advice = _truth_advice(correct, confidence)
        require(ok, correct, "references", "not_0_or_1", advice)
    return confidence, correct.astype(np.float64 if are_drawn else np.int64, copy=False)


def complement(values: Floats, whole: float = 1.0) -> Floats:
    """Return whole - values, rounded to 15 digits of the whole: 0.1 for 0.9, and not 0.09999999999999998."""
    digits = 15 - math.ceil(math.log10(max(abs(whole), 1.0)))
    exact = whole - values
    rounded = np.round(exact, digits)
    # tiny values, such as 1e-16 and 4e-16, would become ties
    is_tiny = values < 1e-12 * abs(whole)
    return np.where(is_tiny, exact, rounded)


def fill_missing(
    confidence: Floats,
    *,
    missing_confidence: float | None = None,
) -> tuple[Floats, _Notes]:
    """Return confidences (N,) with NaN replaced, and a note with their number; InputError without replacement."""
    if not np.isnan(confidence.max(initial=0.0)):  # which is nan if one is
        return confidence, ()
    missing = np.isnan(confidence)
    if missing_confidence is None:
        require(~missing, confidence, "predictions", "is_nan", "set_missing_confidence")
    filled = np.where(missing, np.float64(missing_confidence), confidence)
    note = _count_note("missing", missing, replacement=missing_confidence)
    return filled, (note,)


def parse_posteriors(predictions: object, references: object) -> tuple[Array, Ints]:
    """Return posteriors (N, K), K >= 2, not yet checked by `check_distributions`, and labels (N,) in [0, K)."""
    array = parse_numbers(predictions, "predictions")
    if array.ndim != 2:
        raise shape_error(array, "predictions", "wrong_shape", expected="(N,) or (N, K)")
    num_samples, num_classes = array.shape
    if num_classes < 2:
        raise shape_error(array, "predictions", "too_few_classes", advice="pass_flat_list")
    return array, parse_indices(
        references, "references", num_classes=num_classes, num_samples=num_samples
    )


def posteriors_from_positive(positive: Array) -> Floats:
    """Return posteriors (N, 2) from probabilities (N,) of the second class; InputError for NaN and other shapes."""
    if positive.ndim != 1:
        expected = "(N,) where they are positive_probabilities"
        raise shape_error(positive, "predictions", "wrong_shape", expected=expected)
    require(~np.isnan(positive), positive, "predictions", "is_nan")
    q = positive.astype(np.float64, copy=False)
    return np.stack([1 - q, q], axis=1)


def repair_predictions(
    form: str,
    predictions: Array,
    *,
    predictions_are: str,
    renormalize: bool,
    missing_confidence: float | None,
    abstained: Bools | None = None,
) -> tuple[Array, _Notes]:
    """Return predictions clipped to [0, 1], renormalised and filled as the options ask, and notes on what was done.

    They have passed `FORM_CHECKS`. Positive probabilities (N,), of the form posteriors, become (N, 2). InputError for
    posteriors that are no distributions. Confidences may be missing where the system `abstained` (N,).
    """
    if form == "costs" or predictions_are in ("log_probabilities", "logits"):
        if renormalize:
            got = f"predictions_are={predictions_are!r}"
            raise InputError("renormalize", "requires probabilities", got=got)
        if form == "costs":
            return predictions, ()
        return predictions, check_distributions(predictions, predictions_are=predictions_are)
    notes: _Notes = ()
    if form == "posteriors" and predictions_are == "positive_probabilities":
        notes = note_hard_predictions(predictions, "probabilities")
        predictions = posteriors_from_positive(predictions)
    predictions, clipped = clip_to_unit_interval(predictions)
    notes += clipped
    if renormalize:
        predictions, divided = divide_by_sums(predictions)
        notes += divided
    if form == "posteriors":
        return predictions, notes + check_distributions(predictions)
    if abstained is None:
        confidence, filled = fill_missing(predictions, missing_confidence=missing_confidence)
        return confidence, notes + filled + note_hard_predictions(confidence)
    require_same_length(predictions=predictions, abstained=abstained)
    confidence = np.where(abstained, 0.0, predictions)
    confidence, filled = fill_missing(confidence, missing_confidence=missing_confidence)
    return confidence, notes + filled + note_hard_predictions(confidence[~abstained])


def note_hard_predictions(
    predictions: Array,
    what: str = "confidences",
) -> tuple[Note, ...]:
    """Return a note if predictions are all 0 and 1, both of them: predicted classes rather than probabilities."""
    if not np.isin(predictions[:64], (0, 1)).all():  # decides most cases without a sort
        return ()
    if not np.array_equal(np.unique(predictions), (0, 1)):
        return ()
    return (make_hard_predictions_note(what),)


def make_hard_predictions_note(what: str) -> Note:
    """Return the note of `note_hard_predictions`, on predictions that count as `what`."""
    return Note("hard_decisions", {"what": what}, "use_probabilities")


def clip_to_unit_interval(values: Array) -> tuple[Array, _Notes]:
    """Return values, those up to 1e-6 outside [0, 1] replaced by 0 or 1, and a note that counts these."""
    if _all_up_to(values, 1.0):
        return values, ()
    beyond = (values < 0) | (values > 1)
    outside = beyond & lie_in_unit_interval(values)
    if not outside.any():
        return values, ()
    clipped = np.where(outside, np.clip(values, 0, 1), values)
    note = _count_note("clipped", outside, tolerance=RANGE_TOLERANCE)
    return clipped, (note,)


def divide_by_sums(array: Array) -> tuple[Array, _Notes]:
    """Return probabilities (N, K), rows whose sum is 1e-3 to 0.05 from 1 divided by it, and a note on them."""
    sums = array.sum(axis=1, dtype=np.float64)
    error = np.abs(sums - 1)
    rounded = (error > ROW_SUM_TOLERANCE) & (error <= ROUNDED_SUM_TOLERANCE)
    if not rounded.any():
        return array, ()
    divisors = np.where(rounded, sums, 1.0)[:, None]
    divided = np.where(rounded[:, None], array / divisors, array)
    note = _count_note("rounded", rounded, largest=error[rounded].max())
    return divided, (note,)


def check_distributions(array: Array, *, predictions_are: str = "probabilities") -> _Notes:
    """Raise InputError unless each row (N, K) is a distribution in this form; return a note if sums are inexact."""
    if predictions_are == "probabilities":
        return _check_probabilities(array)
    _require_rows(
        array, lambda block: block < np.inf, "must be finite, or -inf for a probability of 0"
    )
    if predictions_are == "log_probabilities":
        with np.errstate(over="ignore"):
            sums = [np.exp(block).sum(axis=1) for block in row_blocks(array)]
        return _check_sums(np.concatenate(sums), "logits_not_exponentials")
    _require_rows(array, np.isfinite, "must have a finite logit in each row", every=False)
    return ()


def _check_probabilities(array: Array) -> _Notes:
    sums = sum_rows(array)
    if not all(lie_in_unit_interval(block).all() for block in row_blocks(array)):
        _require_rows(array, lambda block: ~np.isnan(block), "is_nan")
        sum_to_100 = np.abs(sums / 100 - 1) <= ROUNDED_SUM_TOLERANCE
        are_percentages = array.min() >= 0 and sum_to_100.all()
        advice = "divide_by_100" if are_percentages else _form_advice(array)
        _require_rows(array, lie_in_unit_interval, "out_of_unit_interval", advice)
    rounded = np.abs(sums - 1) <= ROUNDED_SUM_TOLERANCE
    advice = "Are classes missing? Each row needs the probability of every class."
    if rounded.all():
        advice = "divide_by_sums"
    elif sums.max() >= 1 + ROUNDED_SUM_TOLERANCE:
        advice = (
            "Independent probabilities, one of each class? These are no posteriors of one class."
        )
    return _check_sums(sums, advice)


def sum_rows(array: Array) -> Floats:
    """Return the sum of each row (N, K) in float64, equal for equal rows; NumPy's own takes twice the time."""
    return np.asarray(np.einsum("nk->n", array, dtype=np.float64, casting="same_kind"))


def _form_advice(array: Array) -> str:
    """Return the id of the advice on rows (N, K) outside [0, 1]: which form of posteriors they may have."""
    if array.min() >= 0:
        return "name_form"
    return "choose_form" if array.max() <= 0 else "are_logits"


def parse_costs(predictions: object, references: object) -> tuple[Floats, Floats]:
    """Return checked uncertainties and candidate costs, (N,) each, finite and non-negative."""
    uncertainty = check_non_negative(parse_vector(predictions, "predictions"), "predictions")
    cost = check_non_negative(parse_vector(references, "references"), "references")
    require_same_length(predictions=uncertainty, references=cost)
    return uncertainty, cost


def parse_indices(
    values: object,
    name: str,
    *,
    num_classes: int,
    num_samples: int,
) -> Ints:
    """Return values as labels (N,), whole numbers in [0, `num_classes`), N = `num_samples`; else InputError."""
    array = parse_vector(values, name)
    require_same_length(**{"predictions": range(num_samples), name: array})
    require(array == np.floor(array), array, name, "must be whole numbers")
    in_range = (array >= 0) & (array < num_classes)
    require(
        in_range,
        array,
        name,
        "must be labels in [0, {num_classes})",
        "count_from_0",
        num_classes=num_classes,
    )
    return array.astype(np.int64, copy=False)


def blocks(
    num_rows: int,
    *,
    row_size: int = 1,
) -> Iterator[slice]:
    """Yield slices of consecutive rows, each of about `BLOCK_SIZE` numbers if a row has `row_size`."""
    rows = max(1, BLOCK_SIZE // row_size)
    for first in range(0, num_rows, rows):
        yield slice(first, min(first + rows, num_rows))


def is_broadcast(values: Floats) -> bool:
    """Return whether an array (N,) is a view of one number, as `np.broadcast_to` makes it."""
    return not any(values.strides)


def inner_product(first: Floats, second: Floats) -> float:
    """Return the inner product of two arrays (N,) on one core; digits of BLAS depend on the number of cores."""
    parts = blocks(len(first), row_size=NUMBERS_PER_SAMPLE)
    return float(sum(np.vecdot(first[rows], second[rows]) for rows in parts))


def row_blocks(array: Array) -> Iterator[Array]:
    """Yield views of consecutive rows of an array (N, K), of about `BLOCK_SIZE` numbers; of no rows a view of none."""
    for rows in blocks(max(len(array), 1), row_size=array.shape[1]):
        yield array[rows]


def require(
    ok: Bools,
    values: Array,
    name: str,
    rule: str,
    advice: str = "",
    **fields: Any,
) -> None:
    """Raise InputError unless all of `ok` is true, with the first offender in `values`, its index and their number.

    `rule`, `advice` and `fields` as of `InputError`.
    """
    if ok.all():
        return
    first = np.unravel_index(np.argmin(ok), ok.shape)
    value = np.asarray(values)[first]
    index = tuple(int(i) for i in first)
    raise InputError(
        name,
        rule,
        value=value.item() if isinstance(value, np.generic) else value,
        index=index if ok.ndim > 1 else index[0],
        count=int(np.count_nonzero(~ok)),
        total=ok.size,
        advice=advice,
        **fields,
    )


def require_not_missing(values: Array | Sequence[object], name: str) -> None:
    """Raise InputError if a name in `values` (N,) is missing."""
    array = np.empty(len(values), np.object_)
    array[:] = values
    # texts are the most common, and quickest to check
    is_named = [isinstance(value, str) or not is_missing(value) for value in values]
    require(np.array(is_named, np.bool_), array, name, "no_membership")


def shape_error(
    array: Array,
    name: str,
    rule: str,
    **fields: Any,
) -> InputError:
    """Return an InputError that names the shape of an array."""
    return InputError(name, rule, value=array.shape, got=f"shape {array.shape}", **fields)


def parse_finite(values: object, name: str, advice: str = "") -> Floats:
    """Return values as an array of float64; InputError if one is not finite."""
    array = parse_numbers(values, name)
    require(np.isfinite(array), array, name, "not_finite", advice)
    return array.astype(np.float64, copy=False)


def check_non_negative(array: Array, name: str) -> Floats:
    """Return an array of any shape in float64; InputError if a value is negative, infinite or NaN."""
    if not _all_up_to(array, np.finfo(np.float64).max):
        ok = (array >= 0) & (array < np.inf)
        require(ok, array, name, "negative_or_infinite")
    return array.astype(np.float64, copy=False)


def parse_vector(values: object, name: str) -> Array:
    """Return values as an array of numbers (N,); else InputError."""
    return check_one_dimensional(parse_numbers(values, name), name)


def check_one_dimensional(array: Array, name: str) -> Array:
    """Return the array; InputError unless its shape is (N,)."""
    if array.ndim != 1:
        raise shape_error(array, name, "must be one-dimensional")
    return array


def require_same_length(**arrays: Sized) -> None:
    """Raise InputError unless the named arrays have the same length."""
    names = " and ".join(arrays)
    sizes = tuple(map(len, arrays.values()))
    if len(set(sizes)) > 1:
        got = " and ".join(map(str, sizes))
        raise InputError(names, "must have the same length", value=sizes, got=got)


def require_same_order(**values: Any) -> None:
    """Raise InputError if the indices of two pandas objects have the same labels in another order.

    Arrays are paired by position, as in scikit-learn, which would pair the wrong rows.
    """
    require_same_labels(**find_indices(**values))


def find_indices(**values: Any) -> dict[str, Any]:
    """Return the indices of those values that are pandas objects, by their names."""
    return {name: one.index for name, one in values.items() if hasattr(one, "iloc")}


def require_same_labels(**indexed: Any) -> None:
    """Raise InputError if two pandas indices have the same labels in another order."""
    for first, second in combinations(indexed, 2):
        one = indexed[first]
        other = indexed[second]
        if one is other or one.equals(other) or len(one) != len(other):
            continue
        if Counter(one) == Counter(other):
            got = _first_difference(one, other)
            names = f"{first} and {second}"
            raise InputError(
                names,
                (
                    "must have their rows in one order: the labels of their indices are "
                    "the same, in another order"
                ),
                got=got,
                advice=(
                    "If labels pair them, reorder one by them, a.loc[b.index]; if "
                    "positions do, pass .to_numpy()."
                ),
            )


def _first_difference(one: Any, other: Any) -> str:
    """Return, in words, the first labels in which two indices differ."""
    labels = next(pair for pair in zip(one, other, strict=True) if pair[0] != pair[1])
    return f"{labels[0]!r} and {labels[1]!r} in one row"


def _require_rows(
    array: Array,
    test: Callable[[Array], Bools],
    rule: str,
    advice: str = "",
    *,
    every: bool = True,
) -> None:
    """Raise InputError unless all numbers of each row (N, K), or without `every` one of them, pass a test."""
    passed = (test(block) for block in row_blocks(array))
    combine = np.all if every else np.any
    ok = np.concatenate([combine(rows, axis=1) for rows in passed])
    if ok.all():
        return
    row = int(np.argmin(ok))
    column = int(np.argmin(test(array[row])))
    raise InputError(
        "predictions",
        rule,
        value=array[row, column].item(),
        index=(row, column),
        count=int(np.count_nonzero(~ok)),
        total=ok.size,
        advice=advice,
    )


def _check_sums(sums: Floats, advice: str) -> _Notes:
    """Raise InputError unless sums (N,) are about 1; return a note if float32 does not explain the difference."""
    off = np.abs(sums - 1)
    require(
        off <= ROW_SUM_TOLERANCE,
        sums,
        "predictions",
        "must have rows that sum to 1 (tolerance {tolerance:g})",
        advice,
        tolerance=ROW_SUM_TOLERANCE,
    )
    inexact = off > SUM_NOTE
    if not inexact.any():
        return ()
    note = _count_note("renormalized", inexact, share=inexact.mean(), largest=off.max())
    return (note,)


def _count_note(identifier: str, marked: Bools, **fields: object) -> Note:
    """Return a note of this id with the number of marked values, and of all."""
    count = int(np.count_nonzero(marked))
    return Note(identifier, {"count": count, "total": marked.size, **fields})


def _all_up_to(values: Array, high: float) -> bool:
    """Return whether all values lie in [0, `high`]; NaN does not."""
    return bool(values.size and values.min() >= 0 and values.max() <= high)


def lie_in_unit_interval(block: Array) -> Bools:
    """Return whether each number lies in [0, 1], up to the rounding of float32."""
    return np.asarray((block >= -RANGE_TOLERANCE) & (block <= 1 + RANGE_TOLERANCE))


def _are_whole(values: Array) -> bool:
    return bool((values == np.floor(values)).all())


def _scale_advice(confidence: Floats, correct: Array) -> str:
    """Return the id of the advice on confidences (N,) outside [0, 1], or nothing."""
    largest = np.nanmax(confidence)
    if np.nanmin(confidence) < 0:
        return "exponentiate" if largest <= RANGE_TOLERANCE else ""
    are_classes = _are_whole(confidence) and not np.isin(correct, (0, 1)).all()
    if are_classes:
        return "pass_posteriors"
    if largest <= LEAST_PER_CENT:
        return "name_scale"
    return "divide_by_100" if largest <= 100 else ""


def _truth_advice(correct: Array, confidence: Floats) -> str:
    """Return the advice, or its id, on correctness (N,) that is not 0 or 1."""
    if np.isnan(correct).any():
        return (
            "No label? Leave these answers out, which makes most systems look better "
            "than they are, or count them as wrong, 0; of a file, read_submissions "
            "gives bounds with unlabelled='bounds'."
        )
    if look_swapped(correct, confidence):
        return "swap_arguments"
    if np.isin(correct, (-1, 1)).all():
        return "write_1_for_right"
    return "pass_posteriors" if _are_whole(correct) else "choose_lowest_grade"


def look_swapped(truth: Array, predictions: Array) -> bool:
    """Return whether two arrays (N,) look exchanged: predictions are all 0 or 1, and the truth is in [0, 1]."""
    if not np.isin(predictions, (0, 1)).all():
        return False
    is_share = (truth >= 0) & (truth <= 1)
    return bool(is_share.all() and (truth % 1 != 0).any())


def is_missing(value: object) -> bool:
    """Return whether a value of a column is missing: None, nan, or pandas' NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return np.ndim(value) == 0 and bool(value != value)  # type: ignore[arg-type]


def _ragged_error(values: object, name: str) -> InputError:
    """Return the InputError about the first row whose length is not that of row 0."""
    sizes = [np.size(row) for row in np.asarray(values, object)]
    index = next((i for i, size in enumerate(sizes) if size != sizes[0]), 0)
    return InputError(
        name,
        "must have rows of one length ({first} in the first)",
        value=sizes[index],
        index=index,
        first=sizes[0],
    )


def _parse_objects(array: NDArray[np.object_], name: str) -> Array:
    """Return an array of Python objects, or of lists, as numbers, with nan for missing ones; else InputError."""
    if array.size and isinstance(array.flat[0], (list, tuple, np.ndarray)):
        return parse_numbers([np.asarray(row) for row in array], name)
    result = np.empty(array.shape)
    for index, value in np.ndenumerate(array):
        result[index] = _parse_object(value, name, index)
    return result


_NUMBERS = (int, float, np.number, np.bool_)


def _parse_object(
    value: object,
    name: str,
    index: tuple[int, ...],
) -> float:
    if is_missing(value):
        return np.nan
    if isinstance(value, np.floating) or hasattr(value, "detach"):
        value = to_array(value, name)[()]
    if isinstance(value, complex) or not isinstance(value, _NUMBERS):
        raise InputError(name, "not_numbers", value=value, index=index[0] if index else 0)
    try:
        return float(value)
    except OverflowError:
        bits = int(value).bit_length()
        digits = int(bits * math.log10(2)) + 1
        raise InputError(
            name, "must be numbers of float64", value=value, got=f"one of {digits} digits"
        ) from None


FORM_CHECKS: dict[str, FormCheck] = {  # by form of input
    "confidences": parse_confidences,
    "posteriors": parse_posteriors,
    "costs": parse_costs,
}
