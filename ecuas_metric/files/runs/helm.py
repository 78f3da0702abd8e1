"""The runs of HELM: ``per_instance_stats.json``, in which `max_prob` is the probability of the answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import FileAdvice, FileError, Note
from .parts import Column, Part, Reader, Row, RunOptions, named_columns, of_tasks, once, starts_with, weighed

NEEDED = (b'"instance_id"', b'"train_trial_index"', b'"stats"')
METRIC = "exact_match"  # what HELM's own calibration errors take for correctness
ADVICE = "Only models that return log-probabilities have it; see the field `logprobs` of the model's deployment."


def _is_statistics(file: Path) -> bool:
    return starts_with(file, NEEDED)


def _parts(files: Sequence[Path], options: RunOptions) -> list[Part]:
    """Read runs: one part each. Several trials of an instance are a group; perturbed instances are left out."""
    named = [(file, *_model_and_task(file)) for file in files]
    return [_part(*one, options) for one in once(of_tasks(named, options))]


def _part(file: Path, model: str, task: str, options: RunOptions) -> Part:
    instances = _instances(file)
    splits = [_split(instance) for instance in instances]
    split = "test" if "test" in splits else splits[0]
    pairs = zip(instances, splits, strict=True)
    kept = [each for each, of in pairs if of == split and each.get("perturbation") is None]
    metric = options.filter or METRIC
    stats = [{stat["name"]["name"]: stat.get("mean") for stat in each["stats"]} for each in kept]
    for name in (metric, "max_prob"):
        if not kept or any(stat.get(name) is None for stat in stats):
            raise FileError(file, f"holds no {name}", advice=ADVICE if name == "max_prob" else FileAdvice.NAME_FILTER)
    if not any(stat.get("logprob", -1) < 0 for stat in stats):
        raise FileError(file, "holds no log-probabilities but 0", advice=ADVICE)
    rows, groups = np.arange(1, len(kept) + 1), [str(each["instance_id"]) for each in kept]
    trials = len({each["train_trial_index"] for each in kept})
    columns: dict[str, Column] = {
        "id": [f"{each['instance_id']} {each['train_trial_index']}" for each in kept],
        **({"group": groups} if trials > 1 else {}),
        **named_columns(kept, options, file, rows),
        "correct": np.array([stat[metric] for stat in stats], dtype=np.float64),
        "confidence": np.array([stat["max_prob"] for stat in stats], dtype=np.float64),
    }
    fact = f"HELM run, task {task}, {len(set(groups)):,} instances of the split {split}, correct by {metric}"
    fact += f", in {trials} trials, which are groups" * (trials > 1)
    fact += f"; {len(instances) - len(kept):,} of other splits or perturbed are left out" * (len(instances) > len(kept))
    return Part(model, task, str(file), rows, columns, Note("run", f"{fact}{weighed(columns)}."))


def _instances(file: Path) -> list[Row]:
    try:
        instances: list[Row] = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileError(file, "must be JSON", got=str(error)[:80]) from None
    return instances


def _split(instance: Row) -> str:
    return next((str(stat["name"].get("split")) for stat in instance["stats"]), "")


def _model_and_task(file: Path) -> tuple[str, str]:
    """Return both from `run_spec.json`; else from the folder, ``task:model=name``."""
    spec = file.with_name("run_spec.json")
    known = json.loads(spec.read_text(encoding="utf-8")) if spec.exists() else {}
    name = str(known.get("name") or file.parent.name)
    task, _, arguments = name.partition(":")
    others = [one for one in arguments.split(",") if not one.startswith(("model=", "model_deployment=")) and one]
    in_name = dict(one.split("=", 1) for one in arguments.split(",") if "=" in one)
    model = (known.get("adapter_spec") or {}).get("model") or in_name.get("model") or file.parent.name
    return str(model), ":".join([task, ",".join(others)] if others else [task])


HELM = Reader(("per_instance_stats.json",), _is_statistics, _parts)
