"""The runs of HELM: ``per_instance_stats.json``, in which `max_prob` is the probability of the answer."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ...errors import FileError, Note
from .parts import Column, Fields, Of, Reader, RunOptions, RunPart, named_columns, of_tasks, once, part_of, starts_with

_NEEDED = (b'"instance_id"', b'"train_trial_index"', b'"stats"')
_METRIC = "exact_match"  # what HELM's own calibration errors take for correctness
_ADVICE = "Only models that return log-probabilities have it; see the field `logprobs` of the model's deployment."


def _parts(files: Sequence[Path], options: RunOptions) -> list[RunPart]:
    """Read runs: one part each. Several trials of an instance are a group; perturbed instances are left out."""
    return [_part(of, options) for of in once(of_tasks([_identify(file) for file in files], options))]


def _part(of: Of, options: RunOptions) -> RunPart:
    file, _, task = of
    instances = _read_json(file)
    splits = [_split(instance) for instance in instances]
    split = "test" if "test" in splits else splits[0]
    pairs = zip(instances, splits, strict=True)
    kept = [each for each, own in pairs if own == split and each.get("perturbation") is None]
    metric = options.filter or _METRIC
    stats = [{stat["name"]["name"]: stat.get("mean") for stat in each["stats"]} for each in kept]
    for name in (metric, "max_prob"):
        if not kept or any(stat.get(name) is None for stat in stats):
            raise FileError(file, f"holds no {name}", advice=_ADVICE if name == "max_prob" else "name_filter")
    if not any(stat.get("logprob", -1) < 0 for stat in stats):
        raise FileError(file, "holds no log-probabilities but 0", advice=_ADVICE)
    rows, groups = np.arange(1, len(kept) + 1), [str(each["instance_id"]) for each in kept]
    trials = len({each["train_trial_index"] for each in kept})
    columns: dict[str, Column] = {
        "id": [f"{each['instance_id']} {each['train_trial_index']}" for each in kept],
        **({"group": groups} if trials > 1 else {}),
        **named_columns(kept, options.per_sample, file, rows),
        "correct": np.array([stat[metric] for stat in stats], dtype=np.float64),
        "confidence": np.array([stat["max_prob"] for stat in stats], dtype=np.float64),
    }
    fact = f"HELM run, task {task}, {len(set(groups)):,} instances of the split {split}, correct by {metric}"
    fact += f", in {trials} trials, which are groups" * (trials > 1)
    fact += f"; {len(instances) - len(kept):,} of other splits or perturbed are left out" * (len(instances) > len(kept))
    return part_of(of, rows, columns, [Note(fact)])


def _read_json(file: Path) -> list[Fields]:
    try:
        instances: list[Fields] = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileError(file, "must be JSON", got=str(error)[:80]) from None
    return instances


def _split(instance: Fields) -> str:
    return next((str(stat["name"].get("split")) for stat in instance["stats"]), "")


def _identify(file: Path) -> Of:
    """Return a file with model and task by `run_spec.json`; else by its folder, ``task:model=name``."""
    spec = file.with_name("run_spec.json")
    known = json.loads(spec.read_text(encoding="utf-8")) if spec.exists() else {}
    task, _, arguments = str(known.get("name") or file.parent.name).partition(":")
    others = [one for one in arguments.split(",") if not one.startswith(("model=", "model_deployment=")) and one]
    in_name = dict(one.split("=", 1) for one in arguments.split(",") if "=" in one)
    model = (known.get("adapter_spec") or {}).get("model") or in_name.get("model") or file.parent.name
    return file, str(model), ":".join([task, ",".join(others)] if others else [task])


HELM = Reader(("per_instance_stats.json",), partial(starts_with, needed=_NEEDED), _parts)
