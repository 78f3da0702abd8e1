"""What plug-ins share: logits and labels of any shape as rows, and the metrics of multiple choice."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from ..api import score_posteriors
from ..classes import sort_columns
from ..errors import InputError
from ..files.runs.lm_eval import ChoiceRecord
from ..files.runs.parts import log_posteriors
from ..inputs import IGNORED, Array, parse_numbers, require_same_order

HIGHER_IS_BETTER = {"ecuas_0": False, "ecuas_1": False, "error_rate": False, "auroc": True}


def flatten_rows(
    logits: object,
    labels: object,
    weights: object = None,
    *,
    ignored: int | None = IGNORED,
    class_axis: int | None = -1,
    shift: bool | None,
) -> tuple[Array, Array, Array | None]:
    """Return logits as rows (N, K), labels (N,) and weights (N,), without ignored labels.

    A `class_axis` of None follows from the shapes.

    Logits of tokens, (B, T, K), need `shift`: whether those of a token are of the label of the next one.
    """
    require_same_order(logits=logits, labels=labels, weights=weights)
    values = parse_numbers(sort_columns(logits), "logits")
    truth = parse_numbers(labels, "labels")
    values = np.moveaxis(values, _find_class_axis(values, truth, class_axis), -1)
    weight = np.ones(truth.size) if weights is None else parse_numbers(weights, "weights")
    weight = weight.reshape(truth.shape)
    if values.ndim == 3 and shift is None:
        raise InputError(
            "shift",
            "must be set for logits of tokens",
            advice=(
                "Set shift to True for a causal language model, whose logits at a token "
                "are of the next one, and to False for token classification."
            ),
        )
    if values.ndim < 3 and shift:
        raise InputError(
            "shift",
            "must be False or None: logits have no axis of tokens",
            got=f"shape {values.shape}",
        )
    if shift:
        values = values[:, :-1]
        truth = truth[:, 1:]
        weight = weight[:, 1:]
    kept = truth != ignored  # all where nothing is ignored
    return values[kept], truth[kept], None if weights is None else weight[kept]


def _find_class_axis(values: Array, truth: Array, class_axis: int | None) -> int:
    """Return the axis of the classes, 1 or -1: the other axes are those of the labels."""
    fitting = [
        axis
        for axis in (1, -1)
        if values.ndim > 1 and np.moveaxis(values, axis, -1).shape[:-1] == truth.shape
    ]
    if class_axis is None and values.ndim > 2 and len(fitting) == 2:
        raise InputError(
            "class_axis", "must be 1 or -1: either axis of the predictions fits the labels"
        )
    axis = fitting[-1] if class_axis is None and fitting else class_axis
    if axis not in fitting:
        raise InputError(
            "labels",
            "must be one class for each row of predictions",
            got=f"shapes {truth.shape} and {values.shape}",
        )
    return int(axis)


def score_choices(
    labels: Sequence[int],
    log_likelihoods: Sequence[Sequence[float]],
    why: str,
) -> dict[str, float]:
    """Return metrics, by their keys, of log-likelihoods (N, K) of choices, and of labels (N,), -1 where there is none.

    They are nan, and a warning with the reason is logged, where the reader of the tool's runs would refuse the samples:
    those without a label, because of `why`, and those with differing numbers of choices, on which u_M depends.

    >>> score_choices([0, 2], [[-1.0, -2.0, -3.0], [-1.0, -2.0, -3.0]], why="")["error_rate"]
    0.5
    """
    advice = (
        "`ecuas score` of the saved samples says which, and has a row for each number of choices."
    )
    without = sum(label < 0 for label in labels)
    counts = sorted({len(of_choices) for of_choices in log_likelihoods})
    try:
        if without:
            total = len(labels)
            raise InputError(
                "samples", "recorded_reason", count=without, total=total, advice=advice, why=why
            )
        if len(counts) > 1:
            got = " and ".join(map(str, counts))
            raise InputError(
                "choices",
                "must be as many in every question, since u_M depends on their number",
                got=got,
                advice=advice,
            )
        scores = log_posteriors(np.array(log_likelihoods, dtype=np.float64))
        values = score_posteriors(
            labels,
            scores,
            labels=range(scores.shape[1]),
            n=(0, 1),
            predictions_are="log_probabilities",
        )
        return {name: values[name] for name in HIGHER_IS_BETTER}
    except InputError as error:
        warn_once(f"The metrics of ECUAS are nan: {error}")
        return dict.fromkeys(HIGHER_IS_BETTER, math.nan)


@cache
def warn_once(text: str) -> None:
    """Log a warning, once for each text."""
    logging.getLogger(__name__).warning(text)


def make_aggregation(name: str) -> Callable[[Sequence[ChoiceRecord]], float]:
    """Return the function that lm-eval calls to aggregate the records of a task to this metric."""

    def aggregate(records: Sequence[ChoiceRecord]) -> float:
        why = next((record["why"] for record in records if "why" in record), "")
        labels = [record["true_choice"] for record in records]
        scores = [record["log_likelihoods"] for record in records]
        return score_choices(labels, scores, why)[name]

    aggregate.__name__ = name
    return aggregate
