"""The logs of Inspect, in which a scorer keeps its confidence as metadata.

They are read by Inspect's rules, without it: of a sample that is in an archive twice the last counts, and of several
logs of one run, which attempts and `inspect score` leave, the one written last.
"""

import copy
import json
import math
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from ...errors import FileError, InputError, Note
from ...inputs import grouped
from ..values import value_by_path
from . import RunOptions, parts
from .parts import Column, Fields, Reader, Run, RunPart

_ZSTANDARD = 93  # a method of compression that zipfile knows from Python 3.14 on
_NEEDED = (b'"eval"', b'"task"', b'"model"', b'"version"')
# of a sample
_LARGE = {"messages", "output", "store", "events", "events_data", "timelines", "attachments"}
_CONFIDENCE = "metadata.confidence"  # of a score
# Inspect's
_VERDICTS = {
    "C": 1.0,
    "P": 0.5,
    "I": 0.0,
    "N": 0.0,
    "yes": 1.0,
    "true": 1.0,
    "no": 0.0,
    "false": 0.0,
}
_NO_ANSWER = "N"
_BESIDE = {"eval-set.json", "logs.json"}  # the logs of an eval set
# of the configuration
_ASKED_BY = ("limit", "sample_id", "epochs", "message_limit", "token_limit", "time_limit")
_ARGUMENTS = ("metadata", "model_args", "model_generate_config", "task_args")  # of the header
# what reading other content raises
_NOT_A_LOG = (ValueError, LookupError, TypeError, AttributeError, OSError, zipfile.BadZipFile)
_LONGEST = 40  # characters of a setting in the name of a system


@dataclass(frozen=True, slots=True)
class Log(Run):
    """The samples of a run, in order and without those that were invalidated, and how they came about."""

    samples: Sequence[Fields] = ()
    status: str = "success"  # started: the run goes on, or was killed
    planned: int = 0  # samples that the run was to have, each epoch counted
    dataset: int = 0  # samples of the task
    invalidated: int = 0
    task_id: str = ""  # which the attempts of a run and its scored copies share
    written: tuple[object, ...] = ()  # orders the logs of a run

    @property
    def scored(self) -> set[tuple[str, int]]:
        """The ids and epochs of the samples that have scores."""
        scored = [sample for sample in self.samples if sample.get("scores")]
        return {(str(sample["id"]), _epoch(sample)) for sample in scored}

    @property
    def scores(self) -> str:
        """All scores, as text that is the same for the same ones."""
        scores = [_section(sample, "scores") for sample in self.samples]
        return json.dumps(scores, sort_keys=True, default=str)


def part_of_scorer(log: Log, scorer: str, options: RunOptions) -> RunPart:
    """Return the part of one scorer on the samples of a log, for the reader and the plug-in."""
    file = log.file
    samples = [sample for sample in log.samples if scorer in _section(sample, "scores")]
    scores = [sample["scores"][scorer] for sample in samples]
    rows = np.arange(1, len(samples) + 1)
    name = options.fields.get("confidence", _CONFIDENCE)
    stated = [
        value_by_path(score if _keeps(score, name) else sample, name)
        for score, sample in zip(scores, samples, strict=True)
    ]
    what = f"{name} with a value, of scorer {scorer}"
    confidences = parts.column_of(stated, "confidence", what, file, rows)
    names = [str(sample["id"]) for sample in samples]
    columns = {
        **parts.repeated(names, list(map(_epoch, samples)), "epoch "),
        **parts.named_columns(samples, _per_sample(samples, options), file, rows),
        **_verdicts(scores, options.fields.get("correct", "value"), file),
        "confidence": confidences,
    }
    answers = [score.get("answer") for score in scores]
    return parts.part_of(
        log,
        rows,
        columns,
        _facts(log, scorer, samples, confidences),
        answers=answers if all(answers) else [],
    )


def _epoch(sample: Fields) -> int:
    return int(sample.get("epoch", 1))


def _verdicts(scores: Sequence[Fields], name: str, file: Path) -> dict[str, Column]:
    """Return the columns of grades, None where a score is none, and of what was not answered if anything was."""
    values = [value_by_path(score, name) for score in scores]
    grades = [parts.in_file(file, row, _grade, value, name) for row, value in enumerate(values, 1)]
    abstained = [float(value == _NO_ANSWER) for value in values]
    correct: dict[str, Column] = {"correct": parts.without_nan(grades)}
    return {**correct, "abstained": abstained} if any(abstained) else correct


def _facts(
    log: Log,
    scorer: str,
    samples: Sequence[Fields],
    confidences: Column,
) -> list[Note]:
    """Return notes on the samples of a scorer, and on those that a run was to have, and has not."""
    scored = len(samples)
    epochs = max(map(_epoch, samples))
    count = len({str(sample["id"]) for sample in samples})
    fields = {"task": log.task, "scorer": scorer, "count": count, "epochs": epochs}
    facts = [Note("run_in_epochs" if epochs > 1 else "run_of_inspect", fields)]
    progress = {"count": scored, "total": log.planned, "status": log.status}
    if log.status != "success":
        facts.append(Note("run_not_ended", progress))
    elif scored < log.planned:
        facts.append(Note("run_partial", progress))
    if log.invalidated:
        facts.append(Note("run_invalidated", {"count": log.invalidated}))
    if log.planned and log.planned < log.dataset:
        facts.append(Note("run_limited", {"total": log.dataset}))
    if None in confidences:
        missing = {"count": confidences.count(None), "total": scored}
        facts.append(Note("run_without_confidence", missing))
    return facts


def _grade(value: object, name: str) -> float:
    """Return 1 for what Inspect takes as right, 0 for wrong, a grade between them, nan for unscored; or raise."""
    if isinstance(value, dict):
        rule = "score_of_several_values"
        raise InputError("score", rule, advice="name_value", keys=list(value), name=name)
    if isinstance(value, str):
        value = _VERDICTS.get(value, _VERDICTS.get(value.lower(), value))
    try:
        return math.nan if value is None else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError("score", "not_a_verdict", value=value) from None


def _per_sample(
    samples: Sequence[Fields],
    options: RunOptions,
) -> dict[str, str]:
    """Return the fields of weights, groups and strata: those that were named, else those that samples have."""
    names = {role: f"metadata.{role}" for role in ("weight", "stratum")}
    names = {role: name for role, name in names.items() if _any_keeps(samples, name)}
    for role, name in options.per_sample.items():
        names[role] = name if _any_keeps(samples, name) else f"metadata.{name}"
    return names


def _parts(files: Sequence[Path], options: RunOptions) -> list[RunPart]:
    """Read logs: one part for each run and scorer that keeps a confidence. Epochs of a sample are a group."""
    read_logs = [_read_log(file, _LARGE - options.holders) for file in files]
    tasks = grouped(read_logs, lambda log: (log.model, log.task)).values()
    logs = chain.from_iterable(_named(_with_scores(_latest(same))) for same in tasks)
    read: list[RunPart] = []
    for log in parts.once(sorted(logs, key=lambda log: log.file), options):
        scorers = _scorers_in(log, options)
        for scorer in scorers:
            part = part_of_scorer(log, scorer, options)
            name = f"{part.model} {scorer}" if len(scorers) > 1 else part.model
            read.append(replace(part, model=name))
    return read


def _latest(logs: Sequence[Log]) -> list[Log]:
    """Return the last log of each run, which names the earlier ones; FileError if these have samples that it lacks.

    Also if they have other scores, and the file system alone says which is the last: a copy has a time of its own.
    """
    latest = []
    for same in grouped(logs, lambda log: log.task_id or log.file).values():
        *earlier, last = sorted(same, key=lambda log: log.written)
        for log in earlier:
            if log.scored - last.scored:
                parts.refuse_two(log, last)
            is_attempt = log.written[0] != last.written[0]
            are_archives = log.file.suffix == last.file.suffix == ".eval"
            if not (is_attempt or are_archives) and log.scores != last.scores:
                parts.refuse_two(log, last, "scores_of_logs_differ")
        latest.append(_instead_of(last, earlier, "an earlier log of this run"))
    return latest


def _with_scores(logs: Sequence[Log]) -> Sequence[Log]:
    """Return logs of a task without those that hold no scores, as of a run that failed, where others have some."""
    empty = [log for log in logs if not log.scored]
    if len(empty) == len(logs):
        return logs
    return [_instead_of(log, empty, "no scores") for log in logs if log.scored]


def _instead_of(
    log: Log,
    others: Sequence[Log],
    why: str,
) -> Log:
    unused = [(other.file.name, why) for other in others]
    return replace(log, unused=(*log.unused, *unused))


def _named(logs: Sequence[Log]) -> Iterator[Log]:
    """Yield logs of a task whose systems are named by their model and by the settings in which they differ."""
    differing = parts.differing_settings([log.settings for log in logs])
    for log in logs:
        texts = [f"{name}={log.settings.get(name, 'default')[:_LONGEST]}" for name in differing]
        yield replace(log, model=f"{log.model} {', '.join(texts)}".rstrip())


def _scorers_in(log: Log, options: RunOptions) -> list[str]:
    """Return the scorers that are systems: the requested one, or each that keeps a confidence; or raise FileError."""
    _require_scores(log, options)
    scores = [_section(sample, "scores") for sample in log.samples]
    scorers = list(dict.fromkeys(chain.from_iterable(scores)))
    name = options.fields.get("confidence", _CONFIDENCE)
    if options.filter is None:
        keeping = [
            scorer for scorer in scorers if _any_keeps((each.get(scorer) for each in scores), name)
        ]
        if keeping:
            return keeping
        if not _any_keeps(log.samples, name):
            if "confidence" in options.fields:
                raise FileError(log.file, "no_field", name=name)
            advice = "name_confidence_field"
            raise FileError(log.file, "scorer_without_confidence", advice=advice, scorers=scorers)
    return [parts.only(scorers, options.filter, log.file, "scorer")]


def _require_scores(log: Log, options: RunOptions) -> None:
    """Raise FileError for a run without scores, or that did not end unless it is read in part."""
    scored = len(log.scored)
    got = f"status {log.status}, {scored:,} of {log.planned:,} planned samples scored"
    if log.invalidated:
        got += f", {log.invalidated:,} invalidated"
    if not scored:
        raise FileError(log.file, "no_scores", got=got)
    if log.status != "success" and not options.partial:
        raise FileError(log.file, "run_did_not_end", got=got, advice="read_partial")


def _any_keeps(rows: Iterable[Fields | None], name: str) -> bool:
    return any(_keeps(row, name) for row in rows)


def _keeps(row: Fields | None, name: str) -> bool:
    """Return whether a row has a field of this dotted name, be it without a value."""
    above, _, last = name.rpartition(".")
    holder = value_by_path(row, above) if above else row
    return isinstance(holder, dict) and last in holder


def _is_log(file: Path) -> bool:
    return file.name not in _BESIDE and parts.starts_with(
        file, [b"PK"] if file.suffix == ".eval" else _NEEDED
    )


def _read_log(file: Path, left_out: set[str]) -> Log:
    """Return a log, without some fields of the samples of an archive; FileError if it is none."""
    try:
        return _log_of(file, _document_of(file, left_out))
    except _NOT_A_LOG as error:
        raise FileError(file, "not_a_log_of_inspect", got=str(error)[:80]) from None


def _document_of(file: Path, left_out: set[str]) -> Fields:
    """Return a log as Inspect would read it; an archive without a header is of a run that goes on."""
    if file.suffix == ".json":
        return dict(json.loads(file.read_text(encoding="utf-8")))
    with zipfile.ZipFile(file) as archive:
        members = {info.filename: info for info in archive.infolist()}  # of one name the last
        header = members.get("header.json") or members["_journal/start.json"]
        samples = []
        for name in members:
            if name.startswith("samples/"):
                sample = json.loads(_content(archive, members[name]))
                samples.append({field: sample[field] for field in sample.keys() - left_out})
        return {**json.loads(_content(archive, header)), "samples": samples}


def _log_of(file: Path, document: Fields) -> Log:
    run = document["eval"]
    listed = {}
    for sample in document.get("samples") or ():
        listed[_epoch(sample), str(sample["id"])] = sample
    samples = [listed[key] for key in sorted(listed)]
    valid = [sample for sample in samples if not sample.get("invalidation")]
    invalidated = len(samples) - len(valid)
    planned, dataset = _sizes(run)
    return Log(
        file,
        str(run.get("model") or file.stem),
        str(run["task"]),
        _settings(document),
        samples=valid,
        status=str(document.get("status", "started")),
        planned=(planned or len(samples)) - invalidated,
        dataset=dataset - invalidated,
        invalidated=invalidated,
        task_id=str(run.get("task_id") or ""),
        written=(str(run.get("created", "")), *_time_of(file)),
    )


def _section(document: Fields, name: str) -> Fields:
    return document.get(name) or {}


def _sizes(run: Fields) -> tuple[int, int]:
    """Return how many samples a run was to have, and how many its task has, each epoch counted; 0 if unknown."""
    dataset = _section(run, "dataset")
    epochs = int(_section(run, "config").get("epochs") or 1)
    size = int(dataset.get("samples") or 0)
    chosen = len(dataset.get("sample_ids") or ()) or size
    return chosen * epochs, size * epochs


def _time_of(file: Path) -> tuple[object, ...]:
    """Return when a log was written: by the archive, whose copies keep it, and by the file system."""
    modified = file.stat().st_mtime_ns
    if file.suffix == ".json":
        return time.localtime(modified / 1e9)[:6], modified
    with zipfile.ZipFile(file) as archive:
        return max(info.date_time for info in archive.infolist()), modified


def _settings(document: Fields) -> dict[str, str]:
    """Return how the model was asked: arguments of task, model and solvers, generation, prompts and roles."""
    settings: dict[str, object] = {}
    for source in _sources(document["eval"], _section(document, "plan")):
        settings |= {name: value for name, value in source.items() if value is not None}
    empty: tuple[object, ...] = ("", {}, [])
    return {name: str(value) for name, value in settings.items() if value not in empty}


def _sources(run: Fields, plan: Fields) -> Iterator[Fields]:
    steps = plan.get("steps") or []
    yield {"solver": "+".join(step["solver"] for step in steps)}
    yield from [_section(step, "params") for step in steps]
    yield from [_section(run, name) for name in _ARGUMENTS]
    yield _section(plan, "config")
    config = _section(run, "config")
    yield {name: config.get(name) for name in _ASKED_BY}
    for role, judge in _section(run, "model_roles").items():
        yield {role: judge.get("model") if isinstance(judge, dict) else judge}


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return a member of an archive, compressed in any way that Inspect uses."""
    if info.compress_type != _ZSTANDARD:
        return archive.read(info)
    stored = copy.copy(info)
    stored.compress_type = zipfile.ZIP_STORED
    stored.file_size = info.compress_size
    del stored.CRC  # which is of the content
    packed = archive.read(stored)
    content: bytes = pa.decompress(packed, info.file_size, "zstd", asbytes=True)
    if zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile(f"{info.filename} is damaged")
    return content


INSPECT = Reader(_is_log, _parts)
