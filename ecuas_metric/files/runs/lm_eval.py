"""The samples of lm-evaluation-harness: ``lm_eval --log_samples --output_path DIR``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ...errors import FileAdvice, FileError, Note
from ...inputs import Bools, Floats, Ints
from .lm_eval_rows import Samples, is_samples, samples_of
from .parts import Part, RunOptions, files_in, log_posteriors, missing, posterior_frame, tasks_among

NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d+)\.jsonl(\.gz)?")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SUFFIXES = (".jsonl", ".jsonl.gz")


def files_of(path: Path) -> list[Path]:
    """Return the files of samples that a path is or holds; none if it is no run of this tool."""
    if path.is_dir():
        return [file for file in files_in(path, *(f"samples_*{suffix}" for suffix in SUFFIXES)) if is_samples(file)]
    return [path] if path.name.endswith(SUFFIXES) and is_samples(path) else []


def parts(files: Sequence[Path], options: RunOptions) -> list[Part]:
    """Read files of samples: one part per model, task and number of choices.

    Raises
    ------
    FileError
        If a task was run repeatedly, or has several filters; if its samples hold neither log-likelihoods of choices
        nor the confidence that was asked for; if the label that the target names does not agree with `acc`.
    """
    named = [(file, _model(file), _task(file)) for file in files]
    return [part for one in tasks_among(named, options) for part in _parts(*one, options)]


def _parts(file: Path, model: str, task: str, options: RunOptions) -> Iterator[Part]:
    samples = samples_of(file, options)
    counts = np.array(samples.counts)
    if not counts.any():
        yield _generated(file, model, task, samples, options)
        return
    if not counts.all():
        row = samples.lines[int(np.argmin(counts))]
        raise FileError(file, "has log-likelihoods of choices for some samples only", row=row)
    for number in np.unique(counts).tolist():
        frame, way = _choices(file, samples, counts == number, number, options.length)
        fact = f"lm-eval samples, task {task}, {len(frame):,} questions, {number} choices"
        fact += "; which is right follows from acc" * (way == "acc")
        yield Part(model, task, frame, str(file), Note("run", f"{fact}."), number)


def _choices(file: Path, samples: Samples, rows: Bools, number: int, length: str) -> tuple[pd.DataFrame, str]:
    """Return the samples with so many choices, and how their targets say which is right."""
    lines, counts = np.array(samples.lines)[rows], np.array(samples.counts)
    scores = _of_choices(np.array(samples.scores), rows, counts)
    if not np.isfinite(scores).all():
        line = int(lines[np.argmin(np.isfinite(scores).all(axis=1))])
        raise FileError(file, "must have finite log-likelihoods", row=line)
    targets = [samples.targets[row] for row in np.flatnonzero(rows).tolist()]
    label, way = _labels(file, targets, np.array(samples.named)[rows], np.array(samples.acc)[rows], scores, lines)
    if length != "none":
        sizes = [_of_choices(np.array(each), rows, counts) for each in (samples.lengths, samples.spaces)]
        scores = scores / _lengths(sizes[0], sizes[1], scores, label, np.array(samples.acc_by_length)[rows])
    ids = [samples.ids[row] for row in np.flatnonzero(rows).tolist()]
    return posterior_frame(ids, label, log_posteriors(scores), lines - 1), way


def _of_choices(values: Floats, rows: Bools, counts: Ints) -> Floats:
    return values[np.repeat(rows, counts)].reshape(int(rows.sum()), -1)


def _labels(
    file: Path, targets: Sequence[str], named: Ints, acc: Floats, scores: Floats, lines: Ints
) -> tuple[Ints, str]:
    """Return the true choices. A target is an index, a letter or the text of a choice: `acc` shows which it is."""
    whole = np.isnan(acc) | (acc == 0) | (acc == 1)
    if not whole.all():
        row = int(np.argmin(whole))
        rule = "must have one right choice in each sample; acc is a share of the probability, as in truthfulqa_mc2"
        raise FileError(file, rule, row=int(lines[row]), value=acc[row], advice="Use a task with one, e.g. the mc1.")
    number, likeliest = scores.shape[1], scores.argmax(axis=1)
    codes, texts = pd.factorize(np.array(targets, dtype=object))
    indices = np.array([int(text) if text.isdecimal() and len(text) < 9 else -1 for text in texts])[codes]
    letters = np.array([LETTERS.find(text) if len(text) == 1 else -1 for text in (t.strip(" ().") for t in texts)])
    readings = {"index": indices, "letter": letters[codes], "text": named}
    agreeing = {
        way: label
        for way, label in readings.items()
        if ((label >= 0) & (label < number)).all() and _agrees(label, likeliest, scores, acc)
    }
    # Two contexts with the same continuation, as in winogrande: the target names neither.
    of_two = not agreeing and number == 2 and (named < 0).all() and not np.isnan(acc).any()
    if of_two and (scores[:, 0] != scores[:, 1]).all():
        return np.where(acc == 1, likeliest, 1 - likeliest), "acc"
    found = list(agreeing.values())
    if not found:
        rule = "targets must be an index, a letter or the text of a choice, and agree with acc"
        raise FileError(file, rule, row=int(lines[0]), value=targets[0])
    if any((other != found[0]).any() for other in found[1:]):
        raise FileError(file, "targets must name one choice", got=f"{' or '.join(agreeing)}, which differ")
    return found[0], next(iter(agreeing))


def _agrees(label: Ints, likeliest: Ints, scores: Floats, acc: Floats) -> bool:
    """Return whether accuracies, where they are recorded, are what labels give; of equal scores any may be taken."""
    best = scores.max(axis=1, keepdims=True)
    told = ~np.isnan(acc) & ((scores == best).sum(axis=1) == 1)
    return bool((((label == likeliest) == acc) | ~told).all())


def _lengths(lengths: Floats, spaces: Floats, scores: Floats, label: Ints, acc: Floats) -> Floats:
    """Return lengths as lm-eval's: without the space that joins choices to the question, unless acc_norm differs."""
    without = np.maximum(lengths - spaces, 1)
    scaled = scores / without
    return without if _agrees(label, scaled.argmax(axis=1), scaled, acc) else np.maximum(lengths, 1)


def _generated(file: Path, model: str, task: str, samples: Samples, options: RunOptions) -> Part:
    metric = samples.answers[0][0]
    if metric is None or options.confidence is None:
        what = "answers in words, and log-likelihoods only with output_type: multiple_choice in the task"
        rule = f"holds {what if metric else 'no metric that says what is right'}"
        raise FileError(file, rule, advice=FileAdvice.CONFIDENCE_FIELD)
    frame = pd.DataFrame({"id": samples.ids, "correct": [correct for _, correct, _ in samples.answers]})
    frame["confidence"] = [confidence for *_, confidence in samples.answers]
    missing(frame["confidence"], options.confidence, file)
    frame.index = np.array(samples.lines) - 1
    fact = f"lm-eval samples, task {task}, {len(frame):,} answers, correct by {metric}."
    return Part(model, task, frame, str(file), Note("run", fact))


def _task(file: Path) -> str:
    found = NAME.fullmatch(file.name)
    return found["task"] if found else file.name.split(".jsonl")[0].removeprefix("samples_")


def _model(file: Path) -> str:
    """Return the model's name, which the results of the same time beside the samples have; else that of the folder."""
    found = NAME.fullmatch(file.name)
    same = file.with_name(f"results_{found['time']}.json") if found else file
    for results in [same] if found and same.exists() else sorted(file.parent.glob("results_*.json"), reverse=True):
        name = json.loads(results.read_text(encoding="utf-8")).get("model_name")
        if isinstance(name, str) and name:
            return name
    return file.parent.name or file.stem
