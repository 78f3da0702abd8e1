"""The logs of Inspect: ``.eval`` and ``.json`` files, in which a scorer keeps its confidence as metadata."""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ...errors import FileAdvice, FileError, InputError, Note
from ...inputs import Ints
from .parts import (
    Column,
    Part,
    Reader,
    Row,
    RunOptions,
    confidences_in,
    field,
    in_file,
    of_tasks,
    once,
    only,
    role_of,
    starts_with,
    weighed,
)

ZSTANDARD = 93  # a method of compression that zipfile knows from Python 3.14 on
NEEDED = (b'"eval"', b'"task"', b'"model"', b'"version"')
CONFIDENCE = "metadata.confidence"  # of a score
PER_SAMPLE = {"weight": "metadata.weight", "stratum": "metadata.stratum"}  # of a sample
VERDICTS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # Inspect's; no answer is no right answer
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
OTHERS = {"eval-set.json", "logs.json"}  # beside the logs of an eval set
RULE = "must be scored as right or wrong: C, I, P, N, or a number"


class Log(NamedTuple):
    """The facts of a log about its run, and its samples in order."""

    file: Path
    header: Row
    samples: Sequence[Row]

    @property
    def planned(self) -> int:
        """How many samples the run was to have, each epoch counted."""
        described, config = self.header["eval"], self.header["eval"].get("config") or {}
        dataset = described.get("dataset") or {}
        count = len(dataset.get("sample_ids") or ()) or dataset.get("samples") or 0
        return max(int(count) * int(config.get("epochs") or 1), len(self.samples))


def verdict(value: object) -> float:
    """Return 1 for what Inspect takes as right, 0 for wrong, a grade between them, nan for unscored; or raise."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return math.nan
    if isinstance(value, str):
        value = VERDICTS.get(value, WORDS.get(value.lower(), value))
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError("score", RULE, value=value) from None


def _parts(files: Sequence[Path], options: RunOptions) -> list[Part]:
    """Read logs: one part for each log and scorer that keeps a confidence. Epochs of a sample are a group."""
    logs = {log.file: log for log in _last_attempts([_log(file) for file in files])}
    named = [(file, _model(log), str(log.header["eval"]["task"])) for file, log in logs.items()]
    systems = [
        (file, model, task, scorer)
        for file, model, task in of_tasks(named, options)
        for scorer in _scorers_in(logs[file], options)
    ]
    scorers = {
        (model, task): {each for *of, each in systems if of[1:] == [model, task]} for _, model, task, _ in systems
    }
    several = any(len(names) > 1 for names in scorers.values())
    once([(file, f"{model} {scorer}", task) for file, model, task, scorer in systems])
    return [
        part_of(logs[file], scorer, options)._replace(model=f"{model} {scorer}" if several else model)
        for file, model, _, scorer in systems
    ]


def part_of(log: Log, scorer: str, options: RunOptions) -> Part:
    """Return the part of one scorer on the samples of a log, for the reader and the plug-in."""
    file, task = log.file, str(log.header["eval"]["task"])
    samples = [sample for sample in log.samples if scorer in (sample.get("scores") or {})]
    rows, scores = np.arange(1, len(samples) + 1), [sample["scores"][scorer] for sample in samples]
    name = options.confidence or CONFIDENCE
    stated = [_field_of(score, sample, name) for score, sample in zip(scores, samples, strict=True)]
    epochs = max(int(sample.get("epoch", 1)) for sample in samples)
    ids = [str(sample["id"]) for sample in samples]
    columns: dict[str, Column] = {
        "id": [f"{sample} {each.get('epoch', 1)}" for sample, each in zip(ids, samples, strict=True)],
        **({"group": ids} if epochs > 1 else {}),
        **_per_sample(samples, options, file, rows),
        "correct": np.array([in_file(file, row, verdict, each.get("value")) for row, each in enumerate(scores, 1)]),
        "confidence": confidences_in(stated, f"{name} with a value, of scorer {scorer}", file, rows),
    }
    missing = sum(value is None or bool(value != value) for value in columns["confidence"])
    fact = f"Inspect log, task {task}, scorer {scorer}, {len(set(ids)):,} samples"
    fact += f" in {epochs} epochs, which are groups" * (epochs > 1)
    fact += f"; {missing:,} of {len(ids):,} without a confidence" * (missing > 0)
    note = Note("run", f"{fact}{_partly(log, len(samples))}{weighed(columns)}.")
    return Part(_model(log), task, str(file), rows, columns, note)


def _partly(log: Log, scored: int) -> str:
    """Return the text of a note on a log that lacks samples: how many were planned, and how many are scored."""
    status = str(log.header.get("status", "started"))
    unfinished = f", status {status}" * (status != "success")
    return (
        f"; partial: {scored:,} of {log.planned:,} planned samples are scored{unfinished}"
        if (scored < log.planned or unfinished)
        else ""
    )


def _scorers_in(log: Log, options: RunOptions) -> list[str]:
    """Return the scorers that are systems: the requested one, or each that keeps a confidence."""
    status, scored = log.header.get("status", "started"), [sample for sample in log.samples if sample.get("scores")]
    if not scored or (status != "success" and not options.partial):
        got = f"status {status}, {len(scored):,} of {log.planned:,} planned samples scored"
        advice = FileAdvice.PARTIAL if scored else ""
        raise FileError(
            log.file, "is the log of a run that did not end" if scored else "holds no scores", got=got, advice=advice
        )
    names = list(dict.fromkeys(name for sample in scored for name in sample["scores"]))
    if options.filter is not None:
        return [only(names, options.filter, log.file, "scorer")]
    field_name = options.confidence or CONFIDENCE
    keeping = [name for name in names if any(_keeps(sample["scores"].get(name), field_name) for sample in scored)]
    if keeping:
        return keeping
    if any(_keeps(sample, field_name) for sample in scored):
        return [only(names, None, log.file, "scorer")]
    if options.confidence:
        raise FileError(log.file, f"has no field {field_name}")
    rule = f"scorer {', '.join(names)} keeps no confidence, as Score(value=.., metadata={{'confidence': p}}) would"
    raise FileError(log.file, rule, advice=FileAdvice.CONFIDENCE_FIELD)


def _keeps(row: Row | None, name: str) -> bool:
    """Return whether a row has a field of this dotted name, be it without a value."""
    above, _, last = name.rpartition(".")
    holder = field(row or {}, above) if above else row
    return isinstance(holder, dict) and last in holder


def _field_of(score: Row, sample: Row, name: str) -> object:
    return field(score if _keeps(score, name) else sample, name)


def _per_sample(samples: Sequence[Row], options: RunOptions, file: Path, rows: Ints) -> dict[str, Column]:
    """Return weights, groups and strata: of the fields that were named, else of those that samples have."""
    found = {}
    for role in ("weight", "group", "stratum"):
        named = {"weight": options.weight, "group": options.group}.get(role)
        name = named if named and any(_keeps(sample, named) for sample in samples) else f"metadata.{named or role}"
        if named or (role in PER_SAMPLE and any(_keeps(sample, name) for sample in samples)):
            found[role] = role_of(role, [field(sample, name) for sample in samples], name, file, rows)
    return found


def _last_attempts(logs: Sequence[Log]) -> list[Log]:
    """Return the logs without those of attempts that an eval set repeated."""
    by_time = sorted(logs, key=lambda log: str(log.header["eval"].get("created", "")))
    last = {log.header["eval"].get("task_id") or str(log.file): log.file for log in by_time}
    return [log for log in logs if log.file in last.values()]


def _model(log: Log) -> str:
    return str(log.header["eval"].get("model") or log.file.stem)


def _is_log(file: Path) -> bool:
    if file.suffix == ".eval":
        return starts_with(file, [b"PK"], size=2)
    return file.name not in OTHERS and starts_with(file, NEEDED)


def _log(file: Path) -> Log:
    try:
        if file.suffix == ".json":
            log = json.loads(file.read_text(encoding="utf-8"))
            return Log(file, log, list(log.get("samples") or []))
        with zipfile.ZipFile(file) as archive:
            members = [info for info in archive.infolist() if info.filename.startswith("samples/")]
            ended = "header.json" in archive.namelist()
            header = json.loads(_content(archive, archive.getinfo("header.json" if ended else "_journal/start.json")))
            samples = [json.loads(_content(archive, info)) for info in members]
    except (ValueError, KeyError, zipfile.BadZipFile, OSError, pa.ArrowException) as error:
        raise FileError(file, "must be a log of Inspect", got=str(error)[:80]) from None
    return Log(file, header, sorted(samples, key=lambda sample: (sample.get("epoch", 1), str(sample["id"]))))


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return a member of an archive, compressed in any way that Inspect uses."""
    if info.compress_type != ZSTANDARD:
        return archive.read(info)
    assert archive.fp is not None
    archive.fp.seek(info.header_offset + 26)
    name, extra = struct.unpack("<HH", archive.fp.read(4))
    archive.fp.seek(name + extra, io.SEEK_CUR)
    raw = io.BytesIO(archive.fp.read(info.compress_size))
    with pa.CompressedInputStream(raw, "zstd") as stream:
        content = bytes(stream.read())
    if zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile(f"{info.filename} is damaged")
    return content


INSPECT = Reader(("*.eval", "*.json"), _is_log, _parts)
