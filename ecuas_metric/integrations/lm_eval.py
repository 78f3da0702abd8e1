"""Functions that a task of lm-evaluation-harness names: `process_results` and one aggregation per metric.

A file ``utils.py`` beside the task's YAML imports them, since that is where ``!function utils.NAME`` looks; the folder
`lm_eval_tasks` beside this module is a template for ``--include_path``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .choices import DIRECTIONS, metric_of_choices

Item = tuple[int, list[float]]  # the true choice, and the log-likelihoods of all


def process_results(doc: Mapping[str, object], results: Sequence[tuple[float, bool]]) -> dict[str, Item]:
    """Return what each metric is computed from: the true choice of a document, and the log-likelihoods of all.

    The true choice is the field `label`, `answer` or `gold`: an index, or a letter.
    """
    true = next(doc[name] for name in ("label", "answer", "gold") if name in doc)
    item = (_index(true), [float(log_likelihood) for log_likelihood, _ in results])
    return dict.fromkeys(DIRECTIONS, item)


def aggregation(name: str, **options: object) -> Callable[[Sequence[Item]], float]:
    """Return the aggregation of a metric, e.g. ``ecuas_0 = aggregation("ecuas_0", n=0)``."""

    def aggregate(items: Sequence[Item]) -> float:
        labels, log_likelihoods = zip(*items, strict=True)
        return metric_of_choices(name, labels, log_likelihoods, **options)

    aggregate.__name__ = name
    return aggregate


ecuas_0, ecuas_1, error_rate, ece, auroc, aurc, cross_entropy, brier_score = map(aggregation, DIRECTIONS)


def _index(true: object) -> int:
    return (
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(true) if isinstance(true, str) and not true.isdecimal() else int(str(true))
    )
