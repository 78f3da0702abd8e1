"""A path -> the parts of the run of the tool that left it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import FileError, InputError, Note
from ..read import refuse_changes
from . import FILE_NAMES, RunOptions
from .decision_models import DECISION_MODELS
from .every_eval_ever import EVERY_EVAL_EVER
from .inspect_ai import INSPECT
from .lighteval import LIGHTEVAL
from .lm_eval import LM_EVAL
from .parts import (
    STRANGE,
    Reader,
    RunPart,
    differing_settings,
    files_in,
    starts_with,
    strange_error,
)

_READERS = {
    "lm_eval": LM_EVAL,
    "lighteval": LIGHTEVAL,
    "inspect_ai": INSPECT,
    "every_eval_ever": EVERY_EVAL_EVER,
    "decision_models": DECISION_MODELS,
}
_TOTALS = {  # files of results without samples: the tool, keys by which they are known, and what to do
    "lm-eval": ((b'"results"', b'"configs"', b'"n-shot"'), "log_samples"),
    "lighteval": ((b'"results"', b'"config_general"', b'"config_tasks"'), "save_details"),
}


def read_parts(
    path: str | Path,
    options: RunOptions | None = None,
) -> list[RunPart] | None:
    """Read a tool's run, a file of samples or a folder: a part for each system and task, or None for other content.

    FileError if a file is a tool's results without samples.
    """
    place = Path(path)
    if not place.exists():
        return None
    run_options = options or RunOptions()
    for name, reader in _READERS.items():
        files = _files_of(name, place)
        if files:
            _require_truth(reader, files, run_options)
            with refuse_changes(map(str, files)):
                try:
                    return _note_settings(reader.parts(files, run_options))
                except STRANGE as error:
                    raise strange_error(place, error) from error
    _refuse_totals(place)
    return None


def _require_truth(reader: Reader, files: Sequence[Path], options: RunOptions) -> None:
    """Raise InputError if labels of another file are given for files that say themselves what is true."""
    if options.truth is not None and not reader.lacks_truth:
        rule = "is for decision models; {file} says itself what is true"
        raise InputError("truth", rule, file=files[0].name)


def _refuse_totals(place: Path) -> None:
    for file in files_in(place, r".*\.json"):
        for tool, (keys, advice) in _TOTALS.items():
            if starts_with(file, keys, size=-1):
                raise FileError(file, "results_without_samples", advice=advice, tool=tool)


def is_of_tool(file: Path) -> bool:
    """Return whether a file has a name and the content of a tool's."""
    return any(_files_of(name, file) for name in _READERS)


def _files_of(name: str, place: Path) -> list[Path]:
    """Return the files at a place that have a name and the content of a tool's."""
    return list(filter(_READERS[name].recognises, files_in(place, FILE_NAMES[name])))


def _note_settings(parts: Sequence[RunPart]) -> list[RunPart]:
    """Add a note to the parts of a task that were asked in different ways, which their names do not say."""
    noted = []
    for part in parts:
        names = differing_settings([other.settings for other in parts if other.task == part.task])
        silent = sorted(name for name in names if f"{name}=" not in part.model)
        note = Note("run_settings_differ", {"task": part.task, "names": silent})
        noted.append(replace(part, notes=(*part.notes, note)) if silent else part)
    return noted
