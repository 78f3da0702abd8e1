"""Metrics for lighteval's tasks of multiple choice: ``LightevalTaskConfig(metrics=[ecuas_metrics()], ..)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import InputError, fill_sentence
from ..files.runs.parts import true_choice
from .choices import HIGHER_IS_BETTER, score_choices

if TYPE_CHECKING:
    from lighteval.metrics.utils.metric_utils import CorpusLevelMetricGrouping
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc


def ecuas_metrics() -> CorpusLevelMetricGrouping:
    """Return a group of metrics of the log-probabilities of choices; `ecuas score DETAILS` has intervals of them."""
    from lighteval.metrics.sample_preparator import Preparator
    from lighteval.metrics.utils.metric_utils import CorpusLevelMetricGrouping
    from lighteval.tasks.requests import SamplingMethod

    class Choices(Preparator):  # type: ignore[misc]
        """The true choice, -1 without one, and the log-probabilities of all, as one flat list for each metric."""

        def prepare(
            self,
            doc: Doc,
            model_response: ModelResponse,
            **_: object,
        ) -> dict[str, list[float]]:
            try:
                label = true_choice(doc.gold_index, doc.choices)
            except InputError:
                label = -1
            sample = [float(label), *map(float, model_response.logprobs)]
            return dict.fromkeys(HIGHER_IS_BETTER, sample)

    return CorpusLevelMetricGrouping(
        metric_name=list(HIGHER_IS_BETTER),
        higher_is_better=HIGHER_IS_BETTER,
        category=SamplingMethod.LOGPROBS,
        sample_level_fn=Choices(),
        corpus_level_fn=score_samples,  # whose dict of all metrics lighteval does not bootstrap
    )


def score_samples(samples: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return all metrics of samples, each a label followed by the log-probabilities of the choices."""
    labels = [int(sample[0]) for sample in samples]
    scores = [sample[1:] for sample in samples]
    return score_choices(labels, scores, fill_sentence("no_one_right_choice", {}, {}))
