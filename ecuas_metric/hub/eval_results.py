"""Results -> entries for the folder `.eval_results` of model repositories, which boards of benchmarks show."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..errors import InputError
from ..metric import Key
from ..results import Results

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

FOLDER = ".eval_results"


def eval_result_entries(
    results: Results,
    *,
    benchmark: str,
    only: Iterable[Key] | None = None,
    date: str | None = None,
    source: str | None = None,
) -> list[EvalResultEntry]:
    """Return the entries of a system's results, one for each metric, whose tasks are the keys of the metrics.

    A board has no direction, and shows the largest value first: of a metric that is better when lower the entry has
    1 - value, and its notes say so. They also have the interval, N and the signature.

    Parameters
    ----------
    results : Results
        Of one system.
    benchmark : str
        The dataset on the Hub that the questions are of, NAMESPACE/NAME.
    only : iterable of Key, optional
        The metrics; by default all that have a direction and a value.
    date : str, optional
        When the system was evaluated, ISO 8601; by default now.
    source : str, optional
        An address where the evaluation can be seen.

    Returns
    -------
    list of huggingface_hub.EvalResultEntry

    Raises
    ------
    InputError
        If the benchmark is no name of a dataset, or a metric that is named has no direction or no value.

    Examples
    --------
    >>> from ecuas_metric import confidence_system, make_report
    >>> report = make_report([confidence_system([1, 0, 1, 1], [0.9, 0.2, 0.4, 0.8], n=1)])
    >>> (entry,) = eval_result_entries(
    ...     report.results["system 1"], benchmark="me/questions", only=[Key("ecuas", 1.0)], date="2026-11-28"
    ... )
    >>> entry.task_id, round(entry.value, 4), entry.notes.split(";")[0]
    ('ecuas_1', 0.6375, '1 - ecuas_1, N = 4')
    """
    from huggingface_hub import EvalResultEntry

    require_repository(benchmark, "benchmark")
    keys = keys_to_write(results) if only is None else list(only)
    return [
        EvalResultEntry(
            dataset_id=benchmark,
            task_id=str(key),
            value=_value(key, results),
            date=date or datetime.now(UTC).isoformat(timespec="seconds"),
            source_url=source,
            notes=_notes(key, results),
        )
        for key in keys
    ]


def require_repository(name: str, argument: str) -> None:
    """Raise InputError unless a text is the name of a repository with its namespace."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name, re.ASCII):
        raise InputError(argument, "must be NAMESPACE/NAME", value=name)


def make_entry_files(entries: Sequence[EvalResultEntry]) -> dict[str, str]:
    """Return the content of a file for each entry, by its path in the repository of a model."""
    from huggingface_hub import eval_result_entries_to_yaml
    from huggingface_hub.utils import yaml_dump

    files = {}
    for entry in entries:
        name = f"{entry.dataset_id}_{entry.task_id}".replace("/", "_")
        files[f"{FOLDER}/{name}.yaml"] = yaml_dump(eval_result_entries_to_yaml([entry]))
    return files


def open_pull_request(model: str, files: Mapping[str, str], *, title: str) -> str:
    """Open a pull request with files in the repository of a model, and return its address."""
    from huggingface_hub import CommitOperationAdd, HfApi

    require_repository(model, "model")
    operations = [
        CommitOperationAdd(path_in_repo=path, path_or_fileobj=text.encode())
        for path, text in files.items()
    ]
    try:
        info = HfApi().create_commit(model, operations, commit_message=title, create_pr=True)
    except OSError:
        raise
    except Exception as error:  # of its client, where nothing answers
        raise ConnectionError(f"{model}: {error}") from error
    return str(info.pr_url)


def keys_to_write(results: Results) -> list[Key]:
    """Return the plain metrics that rank systems and have a value."""
    return [
        key
        for key, estimate in results.estimates.items()
        if key.entry.higher_is_better is not None
        and not key.variant
        and math.isfinite(estimate.value)
    ]


def _rising(key: Key, value: float) -> float:
    """Return a value of a metric, or 1 minus it, so that more is better."""
    return value if key.entry.higher_is_better else 1 - value


def _value(key: Key, results: Results) -> float:
    """Return the value of an entry; InputError if the metric has no value or no direction."""
    if key.entry.higher_is_better is None:
        raise InputError(
            "only", "has no direction, so that no board can rank by it", value=str(key)
        )
    value = results.estimates[key].value
    if math.isnan(value):
        raise InputError("only", "is not defined for these answers", value=str(key))
    return _rising(key, value)


def _notes(key: Key, results: Results) -> str:
    estimate = results.estimates[key]
    name = str(key) if key.entry.higher_is_better else f"1 - {key}"
    limits = ""
    if estimate.low is not None and estimate.high is not None and not math.isnan(estimate.low):
        low, high = sorted(_rising(key, limit) for limit in (estimate.low, estimate.high))
        limits = f", {results.basis.level:.0%} interval [{low:.4g}, {high:.4g}]"
    return f"{name}{limits}, N = {results.basis.num_samples}; {results.basis}"
