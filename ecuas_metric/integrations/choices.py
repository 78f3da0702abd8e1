"""What plug-ins compute of tasks of multiple choice: one metric at a time, since the tools ask for each by itself."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from ..errors import InputError
from ..files.runs.parts import log_posteriors
from ..inputs import posteriors
from ..metrics import METRICS, Key, keys
from ..options import checked_options
from ..results import all_values, prepare

KEYS = (
    Key("ecuas", 0.0),
    Key("ecuas", 1.0),
    *map(Key, ("error_rate", "ece", "auroc", "aurc", "cross_entropy", "brier_score")),
)
DIRECTIONS = {str(key): bool(METRICS[key.metric].higher_is_better) for key in KEYS}  # is a higher value better?
ADVICE = "`ecuas score` of the saved samples says which, and has a row for each number of choices."


def metric_of_choices(
    name: str, labels: Sequence[int], log_likelihoods: Sequence[Sequence[float]], why: str = "", **options: object
) -> float:
    """Return a metric, by its key, of log-likelihoods (N, K) of choices, and of labels (N,), -1 where there is none.

    It is nan, and a warning with the reason is logged, where the reader of the tool's runs would refuse the samples:
    those without a label, because of `why`, and those with differing numbers of choices, on which u_M depends.

    >>> metric_of_choices("error_rate", [0, 2], [[-1.0, -2.0, -3.0], [-1.0, -2.0, -3.0]])
    0.5
    """
    try:
        return _value(name, labels, log_likelihoods, why, {"n": (0, 1), **options})
    except InputError as error:
        warn_once(f"The metrics of ECUAS are nan: {error}")
        return math.nan


@cache
def warn_once(text: str) -> None:
    """Log a warning, the first time that it is given."""
    logging.getLogger(__name__).warning(text)


def _value(
    name: str, labels: Sequence[int], scores: Sequence[Sequence[float]], why: str, options: dict[str, object]
) -> float:
    if without := sum(label < 0 for label in labels):
        raise InputError("samples", why, count=without, total=len(labels), advice=ADVICE)
    counts = {len(of_choices) for of_choices in scores}
    if len(counts) > 1:
        got = " and ".join(map(str, sorted(counts)))
        rule = "must be as many in every question, since u_M depends on their number"
        raise InputError("choices", rule, got=got, advice=ADVICE)
    checked = checked_options(predictions_are="log_probabilities", **options)
    values = log_posteriors(np.array(scores, dtype=np.float64))
    system = prepare("posteriors", *posteriors(values, labels), checked)
    wanted = [key for key in keys(system.decisions, checked) if str(key) == name]
    return float({str(key): value for key, value in all_values(system, only=wanted or None).items()}[name])
