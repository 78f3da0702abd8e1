"""What plug-ins share: rows of logits and labels as arrays of one shape, and the metrics of multiple choice."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Sequence
from functools import cache

import numpy as np

from ..api import score_posteriors
from ..calibration import ECE
from ..errors import InputError
from ..expected_costs import ECUAS_N, ERROR_RATE
from ..files.runs.lm_eval import ChoiceRecord
from ..files.runs.parts import log_posteriors
from ..inputs import IGNORED, Array, detach
from ..metric import Key
from ..order import AURC, AUROC
from ..scores import BRIER_SCORE, CROSS_ENTROPY

_OTHERS = (ERROR_RATE, ECE, AUROC, AURC, CROSS_ENTROPY, BRIER_SCORE)
_KEYS = (Key(ECUAS_N.name, 0.0), Key(ECUAS_N.name, 1.0), *(Key(metric.name) for metric in _OTHERS))
HIGHER_IS_BETTER = {str(key): bool(key.entry.higher_is_better) for key in _KEYS}


def rows_of(
    logits: object, labels: object, weights: object = None,
    *, ignored: int | None = IGNORED, class_axis: int | None = -1,
) -> tuple[Array, Array, Array | None]:  # fmt: skip
    """Return rows (N, K), labels and weights (N,) without ignored labels; shapes decide on a `class_axis` of None."""
    values, truth = np.asarray(detach(logits)), np.asarray(detach(labels))
    fitting = [axis for axis in (1, -1) if values.ndim > 1 and np.moveaxis(values, axis, -1).shape[:-1] == truth.shape]
    axis = class_axis if class_axis is not None else fitting[-1] if fitting else -1
    if class_axis is None and values.ndim > 2 and len(fitting) == 2:
        raise InputError("class_axis", "class_axis_ambiguous")
    if axis not in fitting:
        raise InputError("labels", "not_one_class_a_row", got=f"shapes {truth.shape} and {values.shape}")
    values, truth = np.moveaxis(values, axis, -1), truth.reshape(-1)
    kept = np.ones(len(truth), dtype=bool) if ignored is None else truth != ignored
    weight = None if weights is None else np.asarray(detach(weights)).reshape(-1)[kept]
    return values.reshape(-1, values.shape[-1])[kept], truth[kept], weight


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
            advice = "score_saved_samples"
            raise InputError("samples", "recorded_reason", count=without, total=len(labels), advice=advice, why=why)
        counts = {len(of_choices) for of_choices in log_likelihoods}
        if len(counts) > 1:
            got = " and ".join(map(str, sorted(counts)))
            raise InputError("choices", "numbers_of_choices_differ", got=got, advice="score_saved_samples")
        scores = log_posteriors(np.array(log_likelihoods, dtype=np.float64))
        options = {"n": (0, 1), "predictions_are": "log_probabilities", **options}
        values = score_posteriors(labels, scores, labels=range(scores.shape[1]), **options)
        return {name: values[name] for name in names}
    except InputError as error:
        warn_once(f"The metrics of ECUAS are nan: {error}")
        return dict.fromkeys(names, math.nan)


@cache
def warn_once(text: str) -> None:
    """Log a warning, the first time that it is given."""
    logging.getLogger(__name__).warning(text)


def aggregation(name: str, **options: object) -> Callable[[Sequence[ChoiceRecord]], float]:
    """Return lm-eval's aggregation of a metric of the records of a task, e.g. ``aggregation("ecuas_2", n=2)``."""

    def aggregate(records: Sequence[ChoiceRecord]) -> float:
        why = next((record["why"] for record in records if "why" in record), "")
        labels, scores = [of["true_choice"] for of in records], [of["log_likelihoods"] for of in records]
        return metrics_of_choices(labels, scores, why, names=[name], **options)[name]

    aggregate.__name__ = name
    return aggregate
