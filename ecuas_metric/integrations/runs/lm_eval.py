"""The samples of lm-evaluation-harness: ``lm_eval --log_samples --output_path DIR``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...errors import Note
from ...inputs import Bools, Floats, Ints
from ...reporting.files import FileError
from .parts import Part, RunOptions, confidences_of, files_in, log_posteriors, no_task, only

NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d+)\.jsonl")
NEEDED = {"doc_id", "target", "filtered_resps", "arguments"}
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
METRICS = ("exact_match", "acc", "f1", "em", "mc1")  # of a task in which the model writes its answer
Row = dict[str, Any]


def files_of(path: Path) -> list[Path]:
    """Return the files of samples that a path is or holds; none if it is no run of this tool."""
    if path.is_dir():
        return [file for file in files_in(path, "samples_*.jsonl") if _is_samples(file)]
    return [path] if path.suffix == ".jsonl" and _is_samples(path) else []


def parts(files: Sequence[Path], options: RunOptions) -> list[Part]:
    """Read files of samples: one part per model, task and number of choices.

    Raises
    ------
    FileError
        If a task was run repeatedly, or has several filters; if its samples hold neither log-likelihoods of choices
        nor the confidence that was asked for; if the label that the target names does not agree with `acc`.
    """
    wanted = [file for file in files if options.tasks is None or _task(file) in options.tasks]
    if not wanted:
        raise FileError(files[0], "has no such task", got=no_task(options, (_task(file) for file in files)))
    seen: dict[tuple[Path, str], Path] = {}
    for file in wanted:
        again = seen.setdefault((file.parent, _task(file)), file)
        if again != file:
            rule = f"task {_task(file)} was run more than once"
            raise FileError(file.parent, rule, got=f"{again.name} and {file.name}", advice="Give the file of one run.")
    return [part for file in wanted for part in _parts(file, options)]


def _parts(file: Path, options: RunOptions) -> Iterator[Part]:
    rows = list(_rows(file))
    chosen = only([str(row.get("filter", "none")) for row in rows], options.filter, file, "filter", "--filter")
    rows = [row for row in rows if str(row.get("filter", "none")) == chosen]
    is_choice = [_is_choice(row["filtered_resps"]) for row in rows]
    if not any(is_choice):
        yield _generated(file, rows, options)
        return
    if not all(is_choice):
        raise FileError(file, "has log-likelihoods of choices for some samples only", row=is_choice.index(False) + 1)
    counts = np.array([len(row["filtered_resps"]) for row in rows])
    for number in np.unique(counts):
        yield _choices(file, rows, counts == number, int(number), options.length)


def _choices(file: Path, rows: Sequence[Row], of_number: Bools, number: int, length: str) -> Part:
    """Return the samples with so many choices; their log-likelihoods, by length if asked for, are log-posteriors."""
    lines = np.flatnonzero(of_number)
    samples = [rows[line] for line in lines.tolist()]
    scores = np.array([[response[0] for response in row["filtered_resps"]] for row in samples], dtype=np.float64)
    if not np.isfinite(scores).all():
        line = int(lines[np.argmin(np.isfinite(scores).all(axis=1))])
        raise FileError(file, "must have finite log-likelihoods", row=line + 1)
    choices = [_texts(row, number) for row in samples]
    label = _labels(file, samples, choices, scores, lines)
    scores = log_posteriors(scores, choices, length)
    frame = pd.DataFrame({"id": _ids(samples), "label": label, "posteriors": scores.tolist()}, index=lines)
    fact = f"lm-eval samples, task {_task(file)}, {len(samples):,} questions, {number} choices."
    return Part(_model(file), _task(file), frame, str(file), Note("run", fact), number)


def _labels(file: Path, samples: Sequence[Row], choices: Sequence[Sequence[str]], scores: Floats, lines: Ints) -> Ints:
    """Return the true choices. A target is an index, a letter or the text of a choice: `acc` shows which it is."""
    likeliest = scores.argmax(axis=1)
    readings = {}
    for name, read in (("index", _by_index), ("letter", _by_letter), ("text", _by_text)):
        label = np.array([read(str(row["target"]), texts) for row, texts in zip(samples, choices, strict=True)])
        if (label >= 0).all() and _agrees(samples, label, likeliest, scores):
            readings[name] = label
    found = list(readings.values())
    if not found:
        rule = "targets must be an index, a letter or the text of a choice, and agree with acc"
        raise FileError(file, rule, row=int(lines[0]) + 1, value=samples[0]["target"])
    if any((other != found[0]).any() for other in found[1:]):
        raise FileError(file, "targets must name one choice", got=f"{' or '.join(readings)}, which differ")
    return found[0]


def _agrees(samples: Sequence[Row], label: Ints, likeliest: Ints, scores: Floats) -> bool:
    """Return whether `acc`, where it is recorded, is what these labels give; of equal scores either may be taken."""
    for row, true, best, line in zip(samples, label, likeliest, scores, strict=True):
        acc = row.get("acc")
        if isinstance(acc, (int, float)) and bool(acc) != (true == best) and np.sum(line == line[best]) == 1:
            return False
    return True


def _by_index(target: str, texts: Sequence[str]) -> int:
    return int(target) if target.isdecimal() and int(target) < len(texts) else -1


def _by_letter(target: str, texts: Sequence[str]) -> int:
    place = LETTERS.find(target.strip(" ().")) if len(target.strip(" ().")) == 1 else -1
    return place if place < len(texts) else -1


def _by_text(target: str, texts: Sequence[str]) -> int:
    same = [place for place, text in enumerate(texts) if text.strip() == target.strip()]
    return same[0] if len(same) == 1 else -1


def _generated(file: Path, rows: Sequence[Row], options: RunOptions) -> Part:
    metric = next((name for name in METRICS if name in rows[0]), None)
    if metric is None or options.confidence is None:
        rule = (
            "holds answers in words, without log-likelihoods" if metric else "holds no metric that says what is right"
        )
        advice = (
            "Name the field that has the confidence: --columns confidence=FIELD, e.g. doc.confidence; or run the task "
            "with output_type: multiple_choice."
        )
        raise FileError(file, rule, advice=advice)
    frame = pd.DataFrame({"id": _ids(rows), "correct": [row[metric] for row in rows]})
    frame["confidence"] = confidences_of(rows, options.confidence, file)
    fact = f"lm-eval samples, task {_task(file)}, {len(rows):,} answers, correct by {metric}."
    return Part(_model(file), _task(file), frame, str(file), Note("run", fact))


def _ids(rows: Sequence[Row]) -> list[str]:
    return [str(row.get("doc_hash", row["doc_id"])) for row in rows]


def _texts(row: Row, number: int) -> list[str]:
    """Return the continuations that were scored; earlier versions keep the arguments as a list."""
    given = row["arguments"]
    if isinstance(given, list):
        return [str(arguments[1]) for arguments in given[:number]]
    return [str(given[f"gen_args_{choice}"]["arg_1"]) for choice in range(number)]


def _is_choice(responses: object) -> bool:
    return isinstance(responses, list) and len(responses) > 1 and all(isinstance(each, list) for each in responses)


def _task(file: Path) -> str:
    found = NAME.fullmatch(file.name)
    return found["task"] if found else file.stem.removeprefix("samples_")


def _model(file: Path) -> str:
    """Return the model's name, which the results beside the samples have; else that of the folder."""
    for results in sorted(file.parent.glob("results_*.json"), reverse=True):
        name = json.loads(results.read_text(encoding="utf-8")).get("model_name")
        if isinstance(name, str) and name:
            return name
    return file.parent.name or file.stem


def _rows(file: Path) -> Iterator[Row]:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except ValueError as error:
                raise FileError(file, "must be JSON in each line", row=number, got=str(error)) from None
            if not isinstance(row, dict) or not row.keys() >= NEEDED:
                raise FileError(file, "must hold samples of lm-eval in each line", row=number)
            yield row


def _is_samples(file: Path) -> bool:
    try:
        with file.open(encoding="utf-8") as lines:
            row = json.loads(lines.readline())
    except (ValueError, UnicodeDecodeError):
        return False
    return isinstance(row, dict) and row.keys() >= NEEDED
