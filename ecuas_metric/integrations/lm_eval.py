"""Multiple choice of lm-evaluation-harness with ECUAS_n: a class of tasks, and one aggregation per metric.

A file ``utils.py`` beside the task's YAML imports them, since that is where ``!function utils.NAME`` looks; the folder
`lm_eval_tasks` beside this module is a template for ``--include_path``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ..errors import missing_package
from ..files.runs.lm_eval import record_of
from .choices import DIRECTIONS, metric_of_choices

Record = Mapping[str, Any]  # of `record_of`


def __getattr__(name: str) -> object:
    if name == "EcuasTask":
        return _task()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _task() -> object:
    try:
        from lm_eval.api.task import ConfigurableTask
    except ImportError as error:
        raise missing_package(f"{__name__} needs", "lm-eval") from error

    class EcuasTask(ConfigurableTask):  # type: ignore[misc]
        """A task of multiple choice, whose `doc_to_target` names the right choice, as for lm-eval's own metrics."""

        def __init__(self, config: Mapping[str, Any]) -> None:
            without = {name: value for name, value in config.items() if name != "class"}
            super().__init__(config={**without, "process_results": "process_results"})  # no metric of its own is sought

        def process_results(self, doc: Any, results: Sequence[tuple[float, bool]]) -> dict[str, Any]:
            """Return the record that each metric of the task is computed from; lm-eval calls it with this name."""
            own = [name for name in self._metric_fn_list if name in DIRECTIONS]
            others = {} if len(own) == len(self._metric_fn_list) else super().process_results(doc, results)
            target = self.doc_to_text(doc) if self.multiple_input else self.doc_to_target(doc)
            return {**others, **dict.fromkeys(own, record_of(target, self.doc_to_choice(doc), results))}

    return EcuasTask


def aggregation(name: str, **options: object) -> Callable[[Sequence[Record]], float]:
    """Return the aggregation of a metric, e.g. ``ecuas_0 = aggregation("ecuas_0", n=0)``."""

    def aggregate(records: Sequence[Record]) -> float:
        why = next((record["why"] for record in records if "why" in record), "")
        labels, scores = ([record[of] for record in records] for of in ("true_choice", "log_likelihoods"))
        return metric_of_choices(name, labels, scores, why, **options)

    aggregate.__name__ = name
    return aggregate


ecuas_0, ecuas_1, error_rate, ece, auroc, aurc, cross_entropy, brier_score = map(aggregation, DIRECTIONS)
