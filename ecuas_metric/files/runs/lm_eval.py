"""The samples of lm-evaluation-harness: ``lm_eval --log_samples --output_path DIR``."""

import gzip
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple, NotRequired, TypedDict

import numpy as np

from ...errors import FileError, InputError, Note, sentence
from ...inputs import Floats, Ints
from . import parts
from .parts import Fields, Of, Reader, RunOptions, RunPart

BY_LENGTH = {"none": "acc", "chars": "acc_norm", "bytes": "acc_bytes"}  # which tell whether lengths are as lm-eval's
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d+)\.jsonl(\.gz)?")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NEEDED = {"doc_id", "target", "filtered_resps", "arguments"}
_LARGE = {"doc", "resps", "arguments"}
_METRICS = ("exact_match", "acc", "f1", "em", "mc1")  # of a task in which the model writes its answer
_RECORD = {"true_choice", "log_likelihoods"}  # keys of every `ChoiceRecord`


class ChoiceRecord(TypedDict):
    """What the plug-in keeps of a sample: its true choice, -1 if there is none and why, and its log-likelihoods."""

    true_choice: int
    log_likelihoods: list[float]
    why: NotRequired[str]


def record_of_sample(target: object, choices: Sequence[str], results: Sequence[Sequence[float]]) -> ChoiceRecord:
    """Return the record of a sample.

    `target` is resolved by the task's `doc_to_target`. `results`, of (log-likelihood, is greedy), are of all choices,
    and after them of the choices without the question where `acc_mutual_info` is computed.
    """
    try:
        scores = [float(score) for score, *_ in results[: len(choices)]]
        return {"true_choice": parts.true_choice(target, choices), "log_likelihoods": scores}
    except (InputError, TypeError, ValueError) as error:  # of a filter that keeps all repeats, but for InputError
        rule = error.rule if isinstance(error, InputError) else "not_one_log_likelihood_each"
        return {"true_choice": -1, "log_likelihoods": [], "why": sentence(rule, {}, {})}


class Sample(NamedTuple):
    """A line without what is large in it, and of multiple choice the log-likelihoods and texts of all choices."""

    line: int
    id: str
    target: str
    scores: tuple[float, ...]
    texts: tuple[str, ...]
    row: Fields


def _parts(files: Sequence[Path], options: RunOptions) -> list[RunPart]:
    """Read files of samples: one part per model, task and number of choices."""
    named = parts.of_tasks([_identify(file) for file in files], options)
    return [part for of in parts.once(named) for part in _of_task(of, options)]


def _of_task(of: Of, options: RunOptions) -> Iterator[RunPart]:
    samples = _samples(of[0], options)
    counts = np.array([len(sample.scores) for sample in samples])
    if not counts.any():
        answers = [(sample.id, sample.row, sample.row) for sample in samples]
        yield parts.part_in_words(
            of,
            _lines(samples),
            answers,
            options,
            what="lm-eval samples",
            metrics=_METRICS,
            rule="answers_of_lm_eval",
        )
        return
    if not counts.all():
        row = samples[int(np.argmin(counts))].line
        raise FileError(of[0], "log_likelihoods_of_some", row=row)
    for number in np.unique(counts).tolist():
        yield _choices(of, [sample for sample in samples if len(sample.scores) == number], options)


def _choices(of: Of, samples: Sequence[Sample], options: RunOptions) -> RunPart:
    file, _, task = of
    rows, scores = _lines(samples), np.array([sample.scores for sample in samples])
    posteriors = parts.log_posteriors(scores, file, rows)
    label, way = _labels(file, samples, scores)
    if options.length != "none":
        posteriors = parts.log_posteriors(scores / _lengths(samples, scores, label, options.length))
    columns = {
        "id": [sample.id for sample in samples],
        **parts.named_columns([sample.row for sample in samples], options.per_sample, file, rows),
        "label": label,
        "posteriors": posteriors,
    }
    num_classes = scores.shape[1]
    fields = {"what": "lm-eval samples", "task": task, "count": len(samples), "choices": num_classes}
    facts = [Note("run_of_choices", fields)]
    if way == "acc":
        facts.append(Note("run_right_by_acc"))
    return parts.part_of(of, rows, columns, facts, num_classes)


def _labels(file: Path, samples: Sequence[Sample], scores: Floats) -> tuple[Ints, str]:
    """Return the true choices, as the plug-in recorded them, or else the reading of the targets that `acc` shows."""
    records = [record for sample in samples if (record := _record(sample.row)) is not None]
    if len(records) == len(samples):
        for sample, record in zip(samples, records, strict=True):
            if "why" in record:
                raise FileError(file, "recorded_reason", row=sample.line, value=sample.target, why=record["why"])
        return np.array([record["true_choice"] for record in records]), "record"
    acc = _numbers(samples, "acc")
    whole = np.isnan(acc) | (acc == 0) | (acc == 1)
    if not whole.all():
        row = int(np.argmin(whole))
        line = samples[row].line
        raise FileError(file, "acc_is_a_share", row=line, value=acc[row], advice="use_task_of_one_right_choice")
    readings = _readings(samples)
    agreeing = {way: label for way, label in readings.items() if _fits(label, scores, acc)}
    # Two contexts with the same continuation, as in winogrande: the target names neither.
    of_two = not agreeing and scores.shape[1] == 2 and not np.isnan(acc).any()
    if of_two and (readings["text"] < 0).all() and (scores[:, 0] != scores[:, 1]).all():
        likeliest = scores.argmax(axis=1)
        return np.where(acc == 1, likeliest, 1 - likeliest), "acc"
    found = list(agreeing.values())
    if not found:
        raise FileError(file, "targets_disagree_with_acc", row=samples[0].line, value=samples[0].target)
    if any((other != found[0]).any() for other in found[1:]):
        raise FileError(file, "targets_ambiguous", got=f"{' or '.join(agreeing)}, which differ")
    return found[0], next(iter(agreeing))


def _readings(samples: Sequence[Sample]) -> dict[str, Ints]:
    """Return the possible readings of targets as text: an index, a letter, a choice's text; -1 where none."""
    targets = [sample.target for sample in samples]
    texts = [[text.strip() for text in sample.texts] for sample in samples]
    letters = [target.strip(" ().") for target in targets]
    pairs = [(target.strip(), of) for target, of in zip(targets, texts, strict=True)]
    return {
        "index": np.array([int(text) if text.isdecimal() and len(text) < 9 else -1 for text in targets]),
        "letter": np.array([_LETTERS.find(letter) if len(letter) == 1 else -1 for letter in letters]),
        "text": np.array([of.index(target) if of.count(target) == 1 else -1 for target, of in pairs]),
    }


def _fits(label: Ints, scores: Floats, acc: Floats) -> bool:
    """Return whether labels are choices, and give the recorded accuracies; of equal scores any may be taken."""
    best = scores.max(axis=1, keepdims=True)
    is_decided = ~np.isnan(acc) & ((scores == best).sum(axis=1) == 1)
    choices = ((label >= 0) & (label < scores.shape[1])).all()
    return bool(choices and (((label == scores.argmax(axis=1)) == acc) | ~is_decided).all())


def _lengths(samples: Sequence[Sample], scores: Floats, label: Ints, length: str) -> Ints:
    """Return lengths as lm-eval's: without the space that joins choices to the question, unless acc_norm differs."""
    sizes = np.array([list(map(parts.LENGTHS[length], sample.texts)) for sample in samples])
    spaces = np.array([[text.startswith(" ") for text in sample.texts] for sample in samples])
    without = np.maximum(sizes - spaces, 1)
    lengths: Ints = without
    if not _fits(label, scores / without, _numbers(samples, BY_LENGTH[length])):
        lengths = np.maximum(sizes, 1)
    return lengths


def _record(row: Fields) -> Fields | None:
    """Return the record of the plug-in."""
    found = (row.get(name) for name in row.get("metrics", ()))
    return next((one for one in found if isinstance(one, Mapping) and one.keys() >= _RECORD), None)


def _lines(samples: Sequence[Sample]) -> Ints:
    return np.array([sample.line for sample in samples])


def _numbers(samples: Sequence[Sample], name: str) -> Floats:
    """Return the values of a metric (N,), nan where it is not recorded."""
    values = [sample.row.get(name) for sample in samples]
    return np.array([value if isinstance(value, (int, float)) else math.nan for value in values], dtype=np.float64)


def _identify(file: Path) -> Of:
    """Return a file, its task, and its model by the results of the same time beside it, any others, or its folder."""
    found = _NAME.fullmatch(file.name)
    task = found["task"] if found else file.name.split(".jsonl")[0].removeprefix("samples_")
    same = file.with_name(f"results_{found['time']}.json") if found else file
    for results in [same] if found and same.exists() else sorted(file.parent.glob("results_*.json"), reverse=True):
        name = json.loads(results.read_text(encoding="utf-8")).get("model_name")
        if isinstance(name, str) and name:
            return file, name, task
    return file, file.parent.name or file.stem, task


def _samples(file: Path, options: RunOptions) -> list[Sample]:
    """Return the lines of a file that have the requested filter, or the only one."""
    kept: list[Sample] = []
    filters: dict[str, None] = {}
    named = {name.split(".")[0] for name in (options.confidence, *options.per_sample.values()) if name}
    for number, row in _rows(file):
        name = str(row.get("filter", "none"))
        filters[name] = None
        if options.filter is None or options.filter == name:
            kept.append(parts.in_file(file, number, _sample, number, row, _LARGE - named))
    if not filters:
        raise FileError(file, "no_samples", advice="check_interruption")
    parts.only(filters, options.filter, file, "filter")
    return kept


def _sample(number: int, row: Fields, left_out: set[str]) -> Sample:
    responses = row["filtered_resps"]
    small = {name: value for name, value in row.items() if name not in left_out}
    if not (isinstance(responses, list) and len(responses) > 1 and isinstance(responses[0], list)):
        responses = []
    if "acc_mutual_info" in row:  # the second half are the choices without their question
        responses = responses[: len(responses) // 2]
    try:
        scores = tuple(float(response[0]) for response in responses)
    except (TypeError, ValueError):  # of a filter that keeps all repeats
        raise InputError("filtered_resps", "not_one_log_likelihood_each", value=responses[0]) from None
    named = str(row.get("doc_hash", row["doc_id"])), str(row["target"])
    return Sample(number, *named, scores, _texts(row, len(scores)), small)


def _texts(row: Fields, number: int) -> tuple[str, ...]:
    """Return the continuations that were scored; earlier versions keep the arguments as a list."""
    given = row["arguments"]
    if isinstance(given, list):
        return tuple(str(arguments[1]) for arguments in given[:number])
    return tuple(str(given[f"gen_args_{choice}"]["arg_1"]) for choice in range(number))


def _is_samples(file: Path) -> bool:
    """Return whether the first line of a file is a sample, or the file is empty and named as samples."""
    try:
        with _open_lines(file) as lines:
            line = lines.readline()
        row = json.loads(line) if line else None
    except (ValueError, OSError, EOFError, RecursionError):
        return False
    return row.keys() >= _NEEDED if isinstance(row, dict) else not line and file.name.startswith("samples_")


def _open_lines(file: Path) -> IO[str]:
    """Open a file of lines, compressed or not; only a newline ends one."""
    opened: Callable[..., IO[str]] = gzip.open if file.suffix == ".gz" else open
    return opened(file, "rt", encoding="utf-8", newline="\n")


def _rows(file: Path) -> Iterator[tuple[int, Fields]]:
    with _open_lines(file) as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except ValueError as error:
                if line.isspace():
                    continue
                advice = "" if line.endswith("\n") else "check_last_line"
                raise FileError(file, "lines_not_json", row=number, got=str(error), advice=advice) from None
            if not isinstance(row, dict) or not row.keys() >= _NEEDED:
                raise FileError(file, "lines_not_of_lm_eval", row=number)
            yield number, row


LM_EVAL = Reader(("*.jsonl", "*.jsonl.gz"), _is_samples, _parts)
