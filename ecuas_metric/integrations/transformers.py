"""`compute_metrics` for the Trainer of transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..api import score_posteriors

IGNORED = -100  # the label of what is not to be evaluated, e.g. the second piece of a word


def compute_metrics(**options: Any) -> Callable[[Any], dict[str, float]]:
    """Return a function for ``Trainer(compute_metrics=...)``: every metric of a classifier's logits.

    Labels of -100 are left out, so that it serves token classification too. With
    ``metric_for_best_model="eval_ecuas_1", greater_is_better=False`` the Trainer keeps the best model by ECUAS_1.

    Parameters
    ----------
    **options
        Of `ecuas_metric.score_posteriors`, for logits.

    Returns
    -------
    callable
        EvalPrediction -> dict of float.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> made = SimpleNamespace(predictions=[[2.0, 0.0], [0.0, 1.0], [5.0, 0.0]], label_ids=[0, 1, -100])
    >>> round(compute_metrics(n=1)(made)["ecuas_1"], 4)
    0.1731
    """

    def compute(prediction: Any) -> dict[str, float]:
        given = prediction.predictions
        logits = np.asarray(given[0] if isinstance(given, tuple) else given)  # hidden states may come after the logits
        labels = np.asarray(prediction.label_ids)
        kept = labels.reshape(-1) != IGNORED
        return score_posteriors(
            labels.reshape(-1)[kept],
            logits.reshape(-1, logits.shape[-1])[kept],
            predictions_are="logits",
            **options,
        )

    return compute
