"""Multiple choice of lm-evaluation-harness with ECUAS_n: a class of tasks, and one aggregation per metric.

A file ``utils.py`` beside the task's YAML imports them, since that is where ``!function utils.NAME`` looks; the folder
`lm_eval_tasks` beside this module is a template for ``--include_path``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lm_eval.api.task import ConfigurableTask

from ..files.runs.lm_eval import record_of_sample
from .choices import HIGHER_IS_BETTER, make_aggregation

ecuas_0, ecuas_1, error_rate, auroc = map(make_aggregation, HIGHER_IS_BETTER)


class EcuasTask(ConfigurableTask):  # type: ignore[misc]
    """A task of multiple choice, whose `doc_to_target` names the right choice, as for lm-eval's own metrics."""

    def __init__(self, config: Mapping[str, object]) -> None:
        without = {name: value for name, value in config.items() if name != "class"}
        # no metric of its own is sought
        super().__init__(config={**without, "process_results": "process_results"})

    def process_results(
        self, doc: Mapping[str, object], results: Sequence[tuple[float, bool]]
    ) -> dict[str, dict[str, object]]:
        """Return the record that each metric of the task is computed from; lm-eval calls it with this name."""
        ours = [name for name in self._metric_fn_list if name in HIGHER_IS_BETTER]
        values = (
            {} if len(ours) == len(self._metric_fn_list) else super().process_results(doc, results)
        )
        target = self.doc_to_text(doc) if self.multiple_input else self.doc_to_target(doc)
        record = record_of_sample(target, self.doc_to_choice(doc), results)
        return {**values, **dict.fromkeys(ours, record)}
