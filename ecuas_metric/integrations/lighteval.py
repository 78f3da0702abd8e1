"""Metrics for lighteval's tasks of multiple choice: ``LightevalTaskConfig(metrics=[ecuas_metrics()], ..)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..api import score_posteriors
from ..metrics import METRICS

NAMES = ("ecuas_0", "ecuas_1", "error_rate", "ece", "auroc", "aurc", "cross_entropy", "brier_score")


def ecuas_metrics() -> Any:
    """Return a group of metrics of the log-probabilities of choices.

    lighteval 0.13's own bootstrap error of metrics of a corpus is too small; `ecuas score DETAILS --interval 0.95` has
    intervals.
    """
    try:
        from lighteval.metrics.sample_preparator import Preparator
        from lighteval.metrics.utils.metric_utils import CorpusLevelMetricGrouping
        from lighteval.tasks.requests import SamplingMethod
    except ImportError as error:
        raise ImportError("ecuas_metric.integrations.lighteval needs lighteval: pip install lighteval") from error

    class Choices(Preparator):  # type: ignore[misc]
        """The true choice and the log-probabilities of all, as one flat list for each metric."""

        def prepare(self, doc: Any, model_response: Any, **_: Any) -> dict[str, list[float]]:
            gold = doc.gold_index[0] if isinstance(doc.gold_index, Sequence) else doc.gold_index
            sample = [float(gold), *map(float, model_response.logprobs)]
            return {name: sample for name in NAMES}

    directions = {name: bool(METRICS[name.partition("_0")[0].partition("_1")[0]].higher_is_better) for name in NAMES}
    return CorpusLevelMetricGrouping(
        metric_name=list(NAMES),
        higher_is_better=directions,
        category=SamplingMethod.LOGPROBS,
        sample_level_fn=Choices(),
        corpus_level_fn={name: Corpus(name) for name in NAMES},
    )


class Corpus(NamedTuple):
    """A metric of prepared samples; at the top of the module, since lighteval pickles it."""

    name: str

    def compute_corpus(self, items: Sequence[Sequence[float]]) -> float:
        """Return the metric; lighteval calls it with this name."""
        values = np.array(items)
        labels, logits = values[:, 0].astype(int), values[:, 1:]
        return score_posteriors(labels, logits, predictions_are="logits", n=(0, 1))[self.name]
