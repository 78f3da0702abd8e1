"""Metrics for lighteval's tasks of multiple choice: ``LightevalTaskConfig(metrics=[ecuas_metrics()], ..)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import InputError, missing_package
from ..files.runs.parts import ONE_RIGHT, true_choice
from .choices import DIRECTIONS, metric_of_choices


def ecuas_metrics() -> object:
    """Return a group of metrics of the log-probabilities of choices.

    lighteval 0.13's own bootstrap error of metrics of a corpus is too small; `ecuas score DETAILS --interval 0.95` has
    intervals.
    """
    try:
        from lighteval.metrics.sample_preparator import Preparator
        from lighteval.metrics.utils.metric_utils import CorpusLevelMetricGrouping
        from lighteval.tasks.requests import SamplingMethod
    except ImportError as error:
        raise missing_package(f"{__name__} needs", "lighteval") from error

    class Choices(Preparator):  # type: ignore[misc]
        """The true choice, -1 without one, and the log-probabilities of all, as one flat list for each metric."""

        def prepare(self, doc: Any, model_response: Any, **_: object) -> dict[str, list[float]]:
            scores = list(map(float, model_response.logprobs))
            try:
                label = true_choice(doc.gold_index, doc.choices)
            except InputError:
                label = -1
            sample = [float(label), *scores]
            return dict.fromkeys(DIRECTIONS, sample)

    return CorpusLevelMetricGrouping(
        metric_name=list(DIRECTIONS),
        higher_is_better=DIRECTIONS,
        category=SamplingMethod.LOGPROBS,
        sample_level_fn=Choices(),
        corpus_level_fn={name: Corpus(name) for name in DIRECTIONS},
    )


class Corpus(NamedTuple):
    """A metric of prepared samples; at the top of the module, since lighteval pickles it."""

    name: str

    def compute_corpus(self, items: Sequence[Sequence[float]]) -> float:
        """Return the metric; lighteval calls it with this name."""
        labels, scores = [int(label) for label, *_ in items], [of_choices for _, *of_choices in items]
        return metric_of_choices(self.name, labels, scores, ONE_RIGHT)
