"""The samples of lm-evaluation-harness: ``lm_eval --log_samples --output_path DIR``."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from ...errors import FileAdvice, FileError, InputError, Note
from ...inputs import Floats, Ints
from .parts import (
    LENGTHS,
    Column,
    Part,
    Reader,
    Row,
    RunOptions,
    confidences_in,
    field,
    log_posteriors,
    named_columns,
    of_tasks,
    once,
    only,
    weighed,
)

NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d+)\.jsonl(\.gz)?")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NEEDED = {"doc_id", "target", "filtered_resps", "arguments"}
METRICS = ("exact_match", "acc", "f1", "em", "mc1")  # of a task in which the model writes its answer
BY_LENGTH = {"none": "", "chars": "acc_norm", "bytes": "acc_bytes"}  # what tells whether lengths are as lm-eval's
RECORD = {"true_choice", "log_likelihoods"}  # what the plug-in keeps of a sample
ONE_RIGHT = "must have one right choice in each sample"


def record_of(target: object, choices: Sequence[str], results: Sequence[Sequence[float]]) -> dict[str, object]:
    """Return what the plug-in keeps of a sample: its true choice, or why there is none, and its log-likelihoods.

    `target` is resolved by the task's `doc_to_target`. `results`, of (log-likelihood, is greedy), are of all choices,
    and after them of the choices without the question where `acc_mutual_info` is computed.
    """
    record: dict[str, object] = {"true_choice": -1, "log_likelihoods": []}
    try:
        scores = [float(score) for score, *_ in results[: len(choices)]]
        return record | {"true_choice": true_choice(target, choices), "log_likelihoods": scores}
    except InputError as error:
        return record | {"why": error.rule}
    except (TypeError, ValueError):  # of a filter that keeps all repeats
        return record | {"why": "must have one log-likelihood of each choice"}


def true_choice(target: object, choices: Sequence[str]) -> int:
    """Return the index that a resolved target names, as lm-eval's own accuracy takes it, or raise InputError."""
    if isinstance(target, list):
        if len(target) != 1:
            raise InputError("target", ONE_RIGHT, value=target)
        target = target[0]
    if isinstance(target, str) and choices.count(target) == 1:
        return choices.index(target)
    if isinstance(target, bool) or not isinstance(target, int) or not 0 <= target < len(choices):
        raise InputError("target", "must be the index of a choice or the text of exactly one", value=target)
    return int(target)


def _parts(files: Sequence[Path], options: RunOptions) -> list[Part]:
    """Read files of samples: one part per model, task and number of choices."""
    named = [(file, _model(file), _task(file)) for file in files]
    return [part for one in once(of_tasks(named, options)) for part in _of_task(*one, options)]


class Sample(NamedTuple):
    """The kept part of a line: of multiple choice `scores` and texts of all choices, else the metric's value."""

    line: int
    id: str
    scores: tuple[float, ...]
    texts: tuple[str, ...]
    target: str
    true_choice: int | None  # of the plug-in's record
    why: str  # there is no true choice
    acc: float  # nan where it is not recorded
    acc_by_length: float
    metric: str | None
    correct: object
    named: Row  # the fields that were asked for


def _of_task(file: Path, model: str, task: str, options: RunOptions) -> Iterator[Part]:
    samples = _samples(file, options)
    counts = np.array([len(sample.scores) for sample in samples])
    if not counts.any():
        yield _generated(file, model, task, samples, options)
        return
    if not counts.all():
        row = samples[int(np.argmin(counts))].line
        raise FileError(file, "has log-likelihoods of choices for some samples only", row=row)
    for number in np.unique(counts).tolist():
        of_number = [sample for sample in samples if len(sample.scores) == number]
        yield _choices(file, model, task, of_number, options)


def _choices(file: Path, model: str, task: str, samples: Sequence[Sample], options: RunOptions) -> Part:
    rows = np.array([sample.line for sample in samples])
    scores = np.array([sample.scores for sample in samples])
    posteriors = log_posteriors(scores, file, rows)
    label, way = _labels(file, samples, scores, rows)
    if options.length != "none":
        posteriors = log_posteriors(scores / _lengths(samples, scores, label, options.length))
    columns = {"id": [sample.id for sample in samples], **_named(samples, options, file, rows)}
    columns |= {"label": label, "posteriors": posteriors}
    fact = f"lm-eval samples, task {task}, {len(samples):,} questions, {scores.shape[1]} choices"
    fact += "; which is right follows from acc" * (way == "acc")
    return Part(model, task, str(file), rows, columns, Note("run", f"{fact}{weighed(columns)}."), scores.shape[1])


def _labels(file: Path, samples: Sequence[Sample], scores: Floats, rows: Ints) -> tuple[Ints, str]:
    """Return the true choices, as the plug-in recorded them, or else the reading of the targets that `acc` shows."""
    recorded = np.array([-2 if sample.true_choice is None else sample.true_choice for sample in samples])
    acc = np.array([sample.acc for sample in samples])
    if (recorded != -2).all():
        for sample in samples:
            if sample.why:
                raise FileError(file, sample.why, row=sample.line, value=sample.target)
        return recorded, "record"
    whole = np.isnan(acc) | (acc == 0) | (acc == 1)
    if not whole.all():
        row = int(np.argmin(whole))
        rule = f"{ONE_RIGHT}; acc is a share of the probability, as in truthfulqa_mc2"
        raise FileError(file, rule, row=int(rows[row]), value=acc[row], advice="Use a task with one, e.g. the mc1.")
    agreeing = {way: label for way, label in _readings(samples).items() if _fits(label, scores, acc)}
    # Two contexts with the same continuation, as in winogrande: the target names neither.
    of_two = not agreeing and scores.shape[1] == 2 and not np.isnan(acc).any()
    if of_two and (_readings(samples)["text"] < 0).all() and (scores[:, 0] != scores[:, 1]).all():
        likeliest = scores.argmax(axis=1)
        return np.where(acc == 1, likeliest, 1 - likeliest), "acc"
    found = list(agreeing.values())
    if not found:
        rule = "targets must be an index, a letter or the text of a choice, and agree with acc"
        raise FileError(file, rule, row=int(rows[0]), value=samples[0].target)
    if any((other != found[0]).any() for other in found[1:]):
        raise FileError(file, "targets must name one choice", got=f"{' or '.join(agreeing)}, which differ")
    return found[0], next(iter(agreeing))


def _readings(samples: Sequence[Sample]) -> dict[str, Ints]:
    """Return the possible readings of targets as text: an index, a letter, a choice's text; -1 where none."""
    targets = [sample.target for sample in samples]
    texts = [[text.strip() for text in sample.texts] for sample in samples]
    letters = [target.strip(" ().") for target in targets]
    pairs = [(target.strip(), of) for target, of in zip(targets, texts, strict=True)]
    return {
        "index": np.array([int(text) if text.isdecimal() and len(text) < 9 else -1 for text in targets]),
        "letter": np.array([LETTERS.find(letter) if len(letter) == 1 else -1 for letter in letters]),
        "text": np.array([of.index(target) if of.count(target) == 1 else -1 for target, of in pairs]),
    }


def _fits(label: Ints, scores: Floats, acc: Floats) -> bool:
    """Return whether labels are choices, and give the recorded accuracies; of equal scores any may be taken."""
    best = scores.max(axis=1, keepdims=True)
    told = ~np.isnan(acc) & ((scores == best).sum(axis=1) == 1)
    choices = ((label >= 0) & (label < scores.shape[1])).all()
    return bool(choices and (((label == scores.argmax(axis=1)) == acc) | ~told).all())


def _lengths(samples: Sequence[Sample], scores: Floats, label: Ints, length: str) -> Ints:
    """Return lengths as lm-eval's: without the space that joins choices to the question, unless acc_norm differs."""
    sizes = np.array([list(map(LENGTHS[length], sample.texts)) for sample in samples])
    spaces = np.array([[text.startswith(" ") for text in sample.texts] for sample in samples])
    without = np.maximum(sizes - spaces, 1)
    fits = _fits(label, scores / without, np.array([sample.acc_by_length for sample in samples]))
    lengths: Ints = without if fits else np.maximum(sizes, 1)
    return lengths


def _generated(file: Path, model: str, task: str, samples: Sequence[Sample], options: RunOptions) -> Part:
    metric = samples[0].metric
    if metric is None or options.confidence is None:
        what = "answers in words, and log-likelihoods only with output_type: multiple_choice in the task"
        rule = f"holds {what if metric else 'no metric that says what is right'}"
        raise FileError(file, rule, advice=FileAdvice.CONFIDENCE_FIELD)
    rows = np.array([sample.line for sample in samples])
    stated = [field(sample.named, options.confidence) for sample in samples]
    columns: dict[str, Column] = {
        "id": [sample.id for sample in samples],
        **_named(samples, options, file, rows),
        "correct": [sample.correct for sample in samples],
        "confidence": confidences_in(stated, options.confidence, file, rows),
    }
    fact = f"lm-eval samples, task {task}, {len(samples):,} answers, correct by {metric}{weighed(columns)}."
    return Part(model, task, str(file), rows, columns, Note("run", fact))


def _named(samples: Sequence[Sample], options: RunOptions, file: Path, rows: Ints) -> dict[str, Column]:
    return named_columns([sample.named for sample in samples], options, file, rows)


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


def _samples(file: Path, options: RunOptions) -> list[Sample]:
    """Return the lines of a file that have the requested filter, or the only one."""
    kept: list[Sample] = []
    filters: dict[str, None] = {}
    for number, row in _rows(file):
        name = str(row.get("filter", "none"))
        filters[name] = None
        if options.filter is None or options.filter == name:
            kept.append(_sample(number, row, options))
    if not filters:
        raise FileError(file, "holds no samples", advice="Was the run interrupted?")
    only(filters, options.filter, file, "filter")
    return kept


def _sample(number: int, row: Row, options: RunOptions) -> Sample:
    responses, metric = row["filtered_resps"], next((name for name in METRICS if name in row), None)
    asked = [name for name in (options.confidence, options.weight, options.group) if name]
    named = {name.split(".")[0]: row.get(name.split(".")[0]) for name in asked}
    scores: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    if isinstance(responses, list) and len(responses) > 1 and isinstance(responses[0], list):
        if "acc_mutual_info" in row:  # the second half are the choices without their question
            responses = responses[: len(responses) // 2]
        scores, texts = tuple(float(response[0]) for response in responses), _texts(row, len(responses))
    records = (row.get(name) for name in row.get("metrics", ()))
    record = next((each for each in records if isinstance(each, Mapping) and each.keys() >= RECORD), None)
    return Sample(
        number,
        str(row.get("doc_hash", row["doc_id"])),
        scores,
        texts,
        str(row["target"]),
        None if record is None else record["true_choice"],
        "" if record is None else str(record.get("why", "")),
        _number(row.get("acc")),
        _number(row.get(BY_LENGTH[options.length])),
        metric,
        row.get(metric or ""),
        named,
    )


def _texts(row: Row, number: int) -> tuple[str, ...]:
    """Return the continuations that were scored; earlier versions keep the arguments as a list."""
    given = row["arguments"]
    if isinstance(given, list):
        return tuple(str(arguments[1]) for arguments in given[:number])
    return tuple(str(given[f"gen_args_{choice}"]["arg_1"]) for choice in range(number))


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def _is_samples(file: Path) -> bool:
    """Return whether the first line of a file is a sample, or the file is empty and named as samples."""
    try:
        with _opened(file) as lines:
            line = lines.readline()
        row = json.loads(line) if line else None
    except (ValueError, OSError, EOFError, RecursionError):
        return False
    return row.keys() >= NEEDED if isinstance(row, dict) else not line and file.name.startswith("samples_")


@contextmanager
def _opened(file: Path) -> Iterator[IO[str]]:
    """Open a file of lines, compressed or not; only a newline ends one."""
    if file.suffix == ".gz":
        with gzip.open(file, "rt", encoding="utf-8", newline="\n") as lines:
            yield lines
    else:
        with file.open(encoding="utf-8", newline="\n") as lines:
            yield lines


def _rows(file: Path) -> Iterator[tuple[int, Row]]:
    with _opened(file) as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except ValueError as error:
                if line.isspace():
                    continue
                advice = "" if line.endswith("\n") else "The file ends within a line: was the run interrupted?"
                raise FileError(file, "must be JSON in each line", row=number, got=str(error), advice=advice) from None
            if not isinstance(row, dict) or not row.keys() >= NEEDED:
                raise FileError(file, "must hold samples of lm-eval in each line", row=number)
            yield number, row


LM_EVAL = Reader(("*.jsonl", "*.jsonl.gz"), _is_samples, _parts)
