"""The logs of Inspect: ``.eval`` and ``.json`` files, in which a scorer keeps its confidence as metadata."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa

from ...errors import FileAdvice, FileError, Note
from .parts import Part, Row, RunOptions, field, files_in, only, starts_with, tasks_among, verdict

ZSTANDARD = 93  # a method of compression that zipfile knows from Python 3.14 on
NEEDED = (b'"eval"', b'"task"', b'"model"', b'"version"')
BESIDE = ("logs.json", "eval-set.json")  # in the folder of an eval set, with the headers of its logs
CONFIDENCE = "metadata.confidence"


def files_of(path: Path) -> list[Path]:
    """Return the logs that a path is or holds; none if there are none."""
    files = files_in(path, "*.eval", "*.json") if path.is_dir() else [path]
    return [file for file in files if _is_log(file)]


def parts(files: Sequence[Path], options: RunOptions) -> list[Part]:
    """Read logs: one part per log and scorer. Repetitions of a sample (epochs) are a group.

    Raises
    ------
    FileError
        If a log has several scorers without confidences and none was chosen, or scores that are neither right nor
        wrong; or if no score has a confidence.
    """
    logs = {file: _log(file) for file in files}
    named = [(file, *_model_and_task(file, header)) for file, (header, _) in logs.items()]
    found = []
    for file, model, task in tasks_among(named, options):
        header, samples = logs[file]
        scored = [sample for sample in samples if sample.get("scores")]
        if not scored:
            raise FileError(file, "holds no scores", got=f"{len(samples)} samples, status {header.get('status')}")
        scorers = _scorers(scored, file, options)
        names = [f"{model} {scorer}" if len(scorers) > 1 else model for scorer in scorers]
        found += [_part(file, *pair, task, scored, len(samples), options) for pair in zip(scorers, names, strict=True)]
    return found


def _scorers(scored: Sequence[Row], file: Path, options: RunOptions) -> list[str]:
    """Return the scorers that keep a confidence, each of which is a system; else the one that there is."""
    names = list(dict.fromkeys(name for sample in scored for name in sample["scores"]))
    keeping = [n for n in names if any("confidence" in (s["scores"].get(n, {}).get("metadata") or ()) for s in scored)]
    return keeping if options.filter is None and keeping else [only(names, options.filter, file, "scorer")]


def _model_and_task(file: Path, header: Row) -> tuple[str, str]:
    return str(header["eval"].get("model") or file.stem), str(header["eval"]["task"])


def _part(
    file: Path, scorer: str, model: str, task: str, scored: Sequence[Row], count: int, options: RunOptions
) -> Part:
    scores = [sample["scores"].get(scorer) or {} for sample in scored]
    frame = pd.DataFrame(
        {
            "id": [f"{sample['id']} {sample.get('epoch', 1)}" for sample in scored],
            "group": [str(sample["id"]) for sample in scored],
            "correct": [verdict(score.get("value"), file, line) for line, score in enumerate(scores)],
            "confidence": [_confidence(*pair, options) for pair in zip(scored, scores, strict=True)],
        }
    )
    for role in ("weight", "stratum"):
        if all((sample.get("metadata") or {}).get(role) is not None for sample in scored):
            frame[role] = [sample["metadata"][role] for sample in scored]
    if frame["confidence"].isna().all():
        rule = f"scorer {scorer} keeps no confidence, as Score(value=.., metadata={{'confidence': p}}) would"
        raise FileError(file, rule, advice=FileAdvice.CONFIDENCE_FIELD)
    failed = count - len(scored)
    epochs = max(int(sample.get("epoch", 1)) for sample in scored)
    fact = f"Inspect log, task {task}, scorer {scorer}, {frame['group'].nunique():,} samples"
    fact += f" in {epochs} epochs, which are groups" * (epochs > 1)
    fact += "; weighted by their metadata" * ("weight" in frame)
    fact += f"; {failed} of {count} without a score are left out" * (failed > 0)
    return Part(model, task, frame if epochs > 1 else frame.drop(columns="group"), str(file), Note("run", f"{fact}."))


def _confidence(sample: Row, score: Row, options: RunOptions) -> object:
    """Return what the score has under the name of the confidence, or else the sample."""
    name = options.confidence or CONFIDENCE
    found = field(score, name)
    return field(sample, name) if found is None else found


def _is_log(file: Path) -> bool:
    if file.suffix == ".eval":
        return starts_with(file, [b"PK"], size=2)
    return file.suffix == ".json" and file.name not in BESIDE and starts_with(file, NEEDED)


def _log(file: Path) -> tuple[Row, list[Row]]:
    """Return what a log says of its run, and its samples in order."""
    try:
        if file.suffix == ".json":
            log = json.loads(file.read_text(encoding="utf-8"))
            return log, list(log.get("samples") or [])
        with zipfile.ZipFile(file) as archive:
            members = [info for info in archive.infolist() if info.filename.startswith("samples/")]
            start = (
                "header.json" if "header.json" in archive.namelist() else "_journal/start.json"
            )  # of a run that goes on
            header = json.loads(_content(archive, archive.getinfo(start)))
            samples = [json.loads(_content(archive, info)) for info in members]
    except (ValueError, KeyError, zipfile.BadZipFile, OSError, pa.ArrowException) as error:
        raise FileError(file, "must be a log of Inspect", got=str(error)[:80]) from None
    return header, sorted(samples, key=lambda sample: (sample.get("epoch", 1), str(sample["id"])))


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
