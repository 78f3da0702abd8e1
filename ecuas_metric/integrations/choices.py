"""What plug-ins compute of tasks of multiple choice: one metric at a time, since the tools ask for each by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InputError
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


def metric_of_choices(
    name: str, labels: Sequence[int], log_likelihoods: Sequence[Sequence[float]], **options: object
) -> float:
    """Return one metric of the log-likelihoods of choices.

    Parameters
    ----------
    name : str
        Its key, e.g. "ecuas_1".
    labels : sequence of int
        The true choices, of which not every one needs to occur.
    log_likelihoods : sequence of sequence of float
    **options
        Of `ecuas_metric.score_posteriors`.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If the number of choices differs between questions: u_M depends on it.

    Examples
    --------
    >>> metric_of_choices("error_rate", [0, 2], [[-1.0, -2.0, -3.0], [-1.0, -2.0, -3.0]])
    0.5
    """
    counts = {len(scores) for scores in log_likelihoods}
    if len(counts) > 1:
        rule = "must be as many in every question, since u_M depends on their number"
        advice = "`ecuas score` of the saved samples has a row for each number."
        raise InputError("choices", rule, got=" and ".join(map(str, sorted(counts))), advice=advice)
    checked = checked_options(**{"predictions_are": "logits", "n": (0, 1), **options})
    system = prepare("posteriors", *posteriors(np.array(log_likelihoods, dtype=np.float64), labels), checked)
    wanted = [key for key in keys(system.decisions, checked) if str(key) == name]
    values = all_values(system, only=wanted or None)
    return float({str(key): value for key, value in values.items()}[name])
