"""Classes by name, as in scikit-learn: in the truth, in columns of posteriors, and in costs; and words of errors."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .errors import InputError, Note
from .inputs import (
    IGNORED,
    RANGE_TOLERANCE,
    Array,
    Floats,
    Ints,
    check_one_dimensional,
    fill_masked,
    lie_in_unit_interval,
    look_swapped,
    parse_numbers,
    posteriors_from_positive,
    require,
    require_same_length,
)
from .options import LEVEL_COSTS, Options

# a class -> what a mistake costs, or a mapping of decisions to costs
ClassCosts = Mapping[object, object]


def _argument_names(predictions: str, references: str) -> dict[str, str]:
    """Return the names that errors give to `predictions` and `references`: the arguments of a function of `api`."""
    both = ("sample_weight", "groups", "strata", "decisions")
    return {
        "predictions": predictions,
        "references": references,
        "predictions and references": f"{predictions} and {references}",
        **{f"predictions and {name}": f"{predictions} and {name}" for name in both},
    }


POSTERIOR_WORDS = {
    **_argument_names("y_prob", "y_true"),
    "pass_flat_list": "Probabilities of the second class? Pass them as a flat list.",
}
CONFIDENCE_WORDS = {
    **_argument_names("confidence", "correct"),
    "pass_posteriors": "score_as_posteriors",
    "swap_arguments": "pass_correct_first",
}
COMPLETE_CONFIDENCE_WORDS = {
    **CONFIDENCE_WORDS,
    "set_missing_confidence": "Missing confidences? score_confidences takes them with missing_confidence.",
}
UNCERTAINTY_WORDS = {
    **_argument_names("uncertainty", "correct"),
    "pass_posteriors": "score_as_posteriors",
    "swap_arguments": "pass_correct_first",
    "name_scale": "Are they -log p? Pass confidence=np.exp(-x).",
    "exponentiate": "",
}
COST_WORDS = _argument_names("uncertainty", "candidate_cost")


def frame_column_names(values: ArrayLike) -> list[str]:
    """Return the names of the columns of a data frame; none for other arrays."""
    names = getattr(values, "column_names", None)  # of PyArrow, whose `columns` are arrays
    return list(getattr(values, "columns", ()) if names is None else names)


def order_columns(y_prob: ArrayLike, y_true: ArrayLike, labels: ArrayLike | None) -> ArrayLike:
    """Return a data frame whose columns are named by the classes as an array (N, K) in the order of the classes.

    Names may have a common prefix, as prob_0 and prob_1. Anything else is returned unchanged; InputError if as many
    texts are other names than those of the classes, or than numbers of columns, or if a Series has the name of the
    first one.
    """
    names = frame_column_names(y_prob)
    if len(names) < 2:
        _refuse_first_class(y_prob, y_true, labels)
        return y_prob
    classes = sorted_classes(y_true, labels)
    text = str if classes.dtype.kind == "U" else _normalize_class_name
    in_order = list(map(text, classes.tolist()))
    columns = list(map(text, names))
    if set(columns) != set(in_order):
        columns = list(map(text, _strip_common_prefix(names)))
    if set(columns) != set(in_order):
        are_texts = all(isinstance(name, str) for name in (*names, *classes.tolist()))
        # column_0 of Polars, 0 of a CSV
        are_places = columns == [str(place) for place in range(len(classes))]
        if are_texts and not are_places and len(names) == len(classes):
            rule = "must have columns with the names of the classes, {classes}"
            advice = "Pass an array, whose columns stand in the order of the sorted classes."
            listed = reprlib.repr(classes.tolist())
            got = reprlib.repr(names)
            raise InputError("y_prob", rule, got=got, advice=advice, classes=listed)
        return y_prob
    # not by names: True and False would choose rows
    return parse_numbers(y_prob, "y_prob")[:, [columns.index(name) for name in in_order]]


def _refuse_first_class(y_prob: ArrayLike, y_true: ArrayLike, labels: ArrayLike | None) -> None:
    """Raise InputError if probabilities (N,), those of the second class, have the name of the first one."""
    name = getattr(y_prob, "name", None)
    if not isinstance(name, str):  # the number of a column may be no class
        return
    classes = sorted_classes(y_true, labels).tolist()
    if len(classes) == 2 and _normalize_class_name(name) == _normalize_class_name(classes[0]):
        rule = "of shape (N,) must be of the second class, {second}"
        got = f"a column of the name {name!r}"
        advice = "It is? Pass it as an array, which has no name."
        raise InputError("y_prob", rule, value=name, got=got, advice=advice, second=classes[1])


def sort_columns(predictions: object) -> object:
    """Return predictions ordered by `order_columns` for the classes 0 to K - 1."""
    names = frame_column_names(predictions)  # type: ignore[arg-type]
    if len(names) < 2:
        return predictions
    classes = range(len(names))
    return order_columns(predictions, classes, classes)  # type: ignore[arg-type]


def _strip_common_prefix(names: list[str]) -> list[str]:
    """Return names without their common prefix, digits excepted: 0 and 1 of prob_0 and prob_1."""
    texts = list(map(str, names))
    prefix = texts[0]
    while not all(text.startswith(prefix) for text in texts):
        prefix = prefix[:-1]
    prefix = prefix.rstrip("0123456789")
    return [text.removeprefix(prefix) for text in texts]


def _normalize_class_name(name: object) -> str:
    """Return the name of a class as text, the same for 1, 1.0, True and "1"."""
    try:
        return str(float(name))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return str(name)


def column_classes(y_prob: ArrayLike, argument: str, *, are_numbered: bool = True) -> Array | None:
    """Return the sorted names of a data frame's columns as classes, None if there are no names.

    With `are_numbered`, as by the rows of a cost matrix, InputError if names sort differently as numbers: "10", "9".
    """
    columns = frame_column_names(y_prob)
    if len(columns) < 2:
        return None
    classes = sorted_classes(columns, None, argument)
    names = classes.tolist()
    are_texts = classes.dtype.kind == "U"
    if are_numbered and are_texts and names != sorted(names, key=_natural_key):
        got = reprlib.repr(names)
        raise InputError(
            argument,
            "must have columns in one order, as text and as numbers",
            got=got,
            advice="Pass an array, whose columns stand in the order that is meant.",
        )
    return classes


def _natural_key(name: str) -> list[str | int]:
    """Return the sort key of a name, texts and whole numbers in turn: "class 9" comes before "class 10"."""
    parts = re.split(r"(\d+)", name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def sorted_classes(values: ArrayLike, labels: ArrayLike | None, name: str = "y_true") -> Array:
    """Return the classes: `labels` if there are any, else the distinct values, sorted, of the argument `name`."""
    if labels is not None:
        return parse_classes(labels, "labels")
    return _encode(parse_classes(values, name))[0]


def _encode(classes: Array) -> tuple[Array, Ints]:
    """Return the distinct values, sorted, and the index (N,) of each class among them."""
    if classes.dtype.kind in "iu":
        low = int(classes.min(initial=0))
        if int(classes.max(initial=0)) - low <= len(classes):  # no sort is needed
            places = classes.astype(np.int64) - low
            are_there = np.bincount(places) > 0
            return np.flatnonzero(are_there) + low, (np.cumsum(are_there) - 1)[places]
    return np.unique(classes, return_inverse=True)


def refuse_swapped(y_true: ArrayLike, y_prob: Array) -> None:
    """Raise InputError if the arguments look exchanged: a truth like posteriors, and a `y_prob` (N,) like classes."""
    truth = np.asarray(y_true)
    if truth.ndim == 2:
        got = f"shape {truth.shape}"
    elif truth.dtype.kind == "f" and look_swapped(truth, y_prob):
        got = "numbers between 0 and 1"
    else:
        return
    raise InputError(
        "y_true", "must hold classes", value=truth, got=got, advice="Swapped? y_true comes first."
    )


def refuse_named_levels(y_true: ArrayLike, cost: object) -> None:
    """Raise InputError if a cost is the distance of levels, and these are texts, whose order means nothing."""
    if isinstance(cost, str) and cost in LEVEL_COSTS:
        classes = parse_classes(y_true, "y_true")
        if classes.dtype.kind == "U":
            rule = "must be the numbers of levels in their order, where their distance is the cost"
            raise InputError("y_true", rule, value=classes[0])


def binary_posteriors(y_prob: Array, options: Options) -> Array:
    """Return predictions (N, 2), of any form, from those of the second class (N,); (N, K) unchanged."""
    if options.predictions_are == "positive_probabilities":
        raise InputError(
            "predictions_are",
            (
                "cannot be positive_probabilities here: y_prob of shape (N,) is always of"
                " the second class"
            ),
        )
    if y_prob.ndim != 1:
        return y_prob
    if options.predictions_are == "logits":
        return np.stack([np.zeros(len(y_prob)), y_prob], axis=1)
    if options.predictions_are == "log_probabilities":
        require(
            y_prob <= RANGE_TOLERANCE,
            y_prob,
            "y_prob",
            "must be at most 0, the logarithms of probabilities",
        )
        log_q = np.minimum(y_prob, 0.0)
        with np.errstate(divide="ignore"):
            return np.stack([np.log1p(-np.exp(log_q)), log_q], axis=1)
    advice = "" if np.isnan(y_prob).any() else "margins_are_logits"
    require(
        lie_in_unit_interval(y_prob),
        y_prob,
        "y_prob",
        "must lie in [0, 1] where it has shape (N,), the probability of the second class",
        advice,
    )
    return posteriors_from_positive(y_prob)


def class_indices(y_true: ArrayLike, labels: ArrayLike | None, y_prob: Array) -> Ints:
    """Return the index (N,) of each true class among the sorted classes, which is its column in `y_prob` (N, K)."""
    truth = parse_classes(y_true, "y_true")
    require_same_length(y_true=truth, y_prob=y_prob)
    if labels is None and truth.dtype.kind != "U":
        require(
            truth != IGNORED,
            truth,
            "y_true",
            "must be classes",
            advice="Does it mark rows that do not count? Leave these out.",
        )
    distinct, codes = _encode(truth)
    classes = distinct if labels is None else parse_classes(labels, "labels")
    check_classes(classes, labels, y_prob.shape[1])
    listed = reprlib.repr(classes.tolist())
    if (classes.dtype.kind == "U") != (truth.dtype.kind == "U"):
        require(np.zeros(len(truth), bool), truth, "y_true", "labels_differ", labels=listed)
    column: Ints = np.minimum(np.searchsorted(classes, distinct), len(classes) - 1)[codes]
    require(classes[column] == truth, truth, "y_true", "labels_differ", labels=listed)
    return column


def note_order(
    y_true: ArrayLike, y_prob: ArrayLike, *, are_numbered: bool = False
) -> tuple[Note, ...]:
    """Return a note if the order of classes as texts differs from that as numbers, or of a categorical column.

    As texts "10" comes before "9". There is no note if a data frame names its columns by the classes, unless these
    `are_numbered`, as by the rows of a cost matrix.
    """
    truth = parse_classes(y_true, "y_true")
    if truth.dtype.kind != "U":
        return ()
    classes = np.unique(truth).tolist()
    kind: Any = getattr(y_true, "dtype", None)
    are_numbers = all(re.fullmatch(r"-?\d+(\.\d+)?", name) for name in classes)
    meant = sorted(classes, key=float if are_numbers else _natural_key)
    if getattr(kind, "ordered", False):
        meant = [name for name in map(str, kind.categories) if name in set(classes)]
    are_named = set(map(str, frame_column_names(y_prob))) == set(classes)
    if classes == meant or (are_named and not are_numbered):
        return ()
    advice = (
        "labels, in this order, says that this is meant; columns of a data frame, and costs, that "
        "have the names of the classes may have any order."
    )
    return (Note("classes_in_order_of_texts", {"classes": reprlib.repr(classes)}, advice),)


def check_classes(classes: Array, labels: ArrayLike | None, num_classes: int) -> None:
    """Raise InputError unless classes are sorted and `num_classes` many; without labels those of `y_true`."""
    if (classes[1:] <= classes[:-1]).any():
        listed = classes.tolist()
        raise InputError(
            "labels",
            "must be distinct and sorted",
            value=listed,
            got=reprlib.repr(listed),
            advice="Sort them, and the columns of y_prob with them.",
        )
    if len(classes) != num_classes:
        error = InputError(
            "labels",
            "must have as many classes as y_prob, {num_classes}",
            value=len(classes),
            num_classes=num_classes,
        )
        if labels is None:
            error.argument = "y_true"
            error.advice = (
                "Pass labels, all classes in the order of the columns: range(K) where"
                " they are numbered from 0."
            )
        raise error


def parse_classes(values: ArrayLike, name: str) -> Array:
    """Return classes (N,) as an array of numbers or of strings; InputError if there are both, or one is missing."""
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    are_numbers = kind in "biuf" or hasattr(values, "detach")
    objects = np.empty(0) if are_numbers else np.asarray(fill_masked(values), dtype=object)
    texts = [isinstance(value, str) for value in objects.flat]
    if not any(texts):
        array = check_one_dimensional(parse_numbers(values, name), name)
        require(~np.isnan(array), array, name, "must not be missing")
        return array
    if not all(texts):
        index = texts.index(False)
        raise InputError(
            name, "must be all strings or all numbers", value=objects.flat[index], index=index
        )
    return check_one_dimensional(objects, name).astype(str)


def parse_class_costs(
    cost: ClassCosts, labels: ArrayLike | None
) -> tuple[Floats, Array, list[object]]:
    """Return a matrix of costs (K, D), its K classes and its D decisions, from costs by the names of classes.

    {"ham": 5, "spam": 1} is the cost of any mistake about each class; {"ham": {"keep": 0, "delete": 5}, ..} that of
    each decision, the same decisions for each class.
    """
    keys: list[str] = list(cost)  # type: ignore[arg-type]  # or numbers
    classes = sorted_classes(keys, labels, "cost")
    names = classes.tolist()
    if set(names) != set(cost):
        raise InputError(
            "cost",
            "must have the costs of each class, and of no other: {labels}",
            got=reprlib.repr(keys),
            labels=names,
        )
    rows = [cost[name] for name in names]
    if not any(isinstance(row, Mapping) for row in rows):
        mistakes = check_one_dimensional(parse_numbers(rows, "cost"), "cost")
        return mistakes[:, None] * (1.0 - np.eye(len(names))), classes, names
    decisions: list[object] = []
    table = []
    for row in rows:
        of_decisions = row if isinstance(row, Mapping) else {}
        decisions = decisions or list(of_decisions)
        if set(of_decisions) != set(decisions):
            raise InputError(
                "cost",
                "must have the costs of the same decisions for each class: {decisions}",
                value=row,
                decisions=decisions,
            )
        table.append([of_decisions[decision] for decision in decisions])
    return parse_numbers(table, "cost").astype(np.float64), classes, decisions


@contextmanager
def reword_errors(words: Mapping[str, str]) -> Iterator[None]:
    """Reword each InputError raised within by the caller's names of arguments and its advice, in `words`."""
    try:
        yield
    except InputError as error:
        raise error.reword(words) from None
