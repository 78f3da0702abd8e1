"""`compute_metrics` for the Trainer of transformers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..api import score_posteriors
from ..errors import InputError
from ..inputs import Array
from .choices import flatten_rows, warn_once

if TYPE_CHECKING:
    from transformers import EvalPrediction


def compute_metrics(
    *,
    shift: bool | None = None,
    **options: object,
) -> Callable[..., dict[str, float]]:
    """Return a function for ``Trainer(compute_metrics=...)``: every metric of a classifier's logits.

    Labels of -100 are left out; the number of classes is that of the logits, so that the evaluation set may lack some.
    With ``metric_for_best_model="eval_ecuas_1", greater_is_better=False`` the Trainer keeps the best model by ECUAS_1.
    It may be called batch by batch, as with ``TrainingArguments(batch_eval_metrics=True)``: then it keeps the logits
    until the last batch.

    Parameters
    ----------
    shift : bool, optional
        Of models of tokens, and needed there: True for a causal language model, whose logits at a token are of the
        next one and whose labels are its input; False for token classification.
    **options
        Those of `ecuas_metric.score_posteriors`, for logits.

    Raises
    ------
    InputError
        By the function, if there are several columns of labels, or logits of tokens without `shift`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> made = SimpleNamespace(predictions=[[2.0, 0.0], [0.0, 1.0], [5.0, 0.0]], label_ids=[0, 1, -100])
    >>> round(compute_metrics(n=1)(made)["ecuas_1"], 4)
    0.1731
    """
    batches: list[tuple[Array, Array]] = []

    def compute(
        prediction: EvalPrediction,
        compute_result: bool = True,
    ) -> dict[str, float]:
        earlier = [*batches]
        batches.clear()  # an error ends the evaluation, of which the next one keeps nothing
        logits = prediction.predictions
        labels = prediction.label_ids
        if isinstance(labels, (tuple, list)) and any(hasattr(label, "shape") for label in labels):
            raise InputError(
                "label_ids",
                (
                    "must be one column of labels; choose the one that the logits are of,"
                    " with label_names"
                ),
                got=f"{len(labels)} columns",
            )
        # hidden states may come after them
        logits = logits[0] if isinstance(logits, tuple) else logits
        rows = [*earlier, flatten_rows(logits, labels, shift=shift)[:2]]
        if not compute_result:
            batches.extend(rows)
            return {}
        logits, labels = (np.concatenate(arrays) for arrays in zip(*rows, strict=True))
        known = range(logits.shape[1])
        settings = {"predictions_are": "logits", **options}
        try:
            return score_posteriors(labels, logits, labels=known, **settings)
        # e.g. of logits that are nan: no reason to lose what was trained
        except InputError as error:
            values = score_posteriors(
                known,
                np.eye(len(known)),
                labels=known,
                **settings,
            )
            warn_once(f"The metrics of ECUAS are nan: {error}")
            return dict.fromkeys(values, math.nan)

    return compute
