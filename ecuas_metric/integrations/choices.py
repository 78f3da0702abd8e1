"""What plug-ins compute of tasks of multiple choice."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..api import score_posteriors
from ..errors import InputError
from ..files.runs.parts import log_posteriors
from ..metrics import METRICS, Key

_OTHERS = ("error_rate", "ece", "auroc", "aurc", "cross_entropy", "brier_score")
_KEYS = (Key("ecuas", 0.0), Key("ecuas", 1.0), *map(Key, _OTHERS))
HIGHER_IS_BETTER = {str(key): bool(METRICS[key.metric].higher_is_better) for key in _KEYS}
_ADVICE = "`ecuas score` of the saved samples says which, and has a row for each number of choices."


def metrics_of_choices(
    labels: Sequence[int], log_likelihoods: Sequence[Sequence[float]], why: str = "",
    *, names: Collection[str] = HIGHER_IS_BETTER, **options: object
) -> dict[str, float]:  # fmt: skip
    """Return metrics, by their keys, of log-likelihoods (N, K) of choices, and of labels (N,), -1 where there is none.

    They are nan, and a warning with the reason is logged, where the reader of the tool's runs would refuse the samples:
    those without a label, because of `why`, and those with differing numbers of choices, on which u_M depends.

    >>> metrics_of_choices([0, 2], [[-1.0, -2.0, -3.0], [-1.0, -2.0, -3.0]])["error_rate"]
    0.5
    """
    try:
        if without := sum(label < 0 for label in labels):
            raise InputError("samples", why, count=without, total=len(labels), advice=_ADVICE)
        counts = {len(of_choices) for of_choices in log_likelihoods}
        if len(counts) > 1:
            rule, got = "must be as many in every question, since u_M depends on their number", sorted(counts)
            raise InputError("choices", rule, got=" and ".join(map(str, got)), advice=_ADVICE)
        scores = log_posteriors(np.array(log_likelihoods, dtype=np.float64))
        settings: dict[str, Any] = {"labels": range(scores.shape[1]), "n": (0, 1), **options}
        values = score_posteriors(labels, scores, predictions_are="log_probabilities", **settings)
        return {name: values[name] for name in names}
    except InputError as error:
        warn_once(f"The metrics of ECUAS are nan: {error}")
        return dict.fromkeys(names, math.nan)


@cache
def warn_once(text: str) -> None:
    """Log a warning, the first time that it is given."""
    logging.getLogger(__name__).warning(text)


def aggregation(name: str, **options: object) -> Callable[[Sequence[Mapping[str, Any]]], float]:
    """Return lm-eval's aggregation of a metric of the records of a task, e.g. ``aggregation("ecuas_2", n=2)``."""

    def aggregate(records: Sequence[Mapping[str, Any]]) -> float:
        why = next((record["why"] for record in records if "why" in record), "")
        labels, scores = ([record[of] for record in records] for of in ("true_choice", "log_likelihoods"))
        return metrics_of_choices(labels, scores, why, names=[name], **options)[name]

    aggregate.__name__ = name
    return aggregate
