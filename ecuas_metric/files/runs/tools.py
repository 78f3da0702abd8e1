"""A path -> the parts of the run of the tool that left it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import Note
from . import FILE_NAMES, RunOptions
from .inspect_ai import INSPECT
from .lighteval import LIGHTEVAL
from .lm_eval import LM_EVAL
from .parts import RunPart, differing_settings, files_in, refuse_totals

_READERS = {"lm_eval": LM_EVAL, "lighteval": LIGHTEVAL, "inspect_ai": INSPECT}


def read_parts(
    path: str | Path,
    options: RunOptions | None = None,
) -> list[RunPart] | None:
    """Read a tool's run, a file of samples or a folder: a part for each system and task, or None for other content."""
    place = Path(path)
    if not place.exists():
        return None
    for name, reader in _READERS.items():
        files = [file for file in files_in(place, *FILE_NAMES[name]) if reader.recognises(file)]
        if files:
            return _note_settings(reader.parts(files, options or RunOptions()))
    refuse_totals(place)
    return None


def _note_settings(parts: Sequence[RunPart]) -> list[RunPart]:
    """Add a note to the parts of a task that were asked in different ways, which their names do not say."""
    noted = []
    for part in parts:
        names = differing_settings([other.settings for other in parts if other.task == part.task])
        silent = sorted(name for name in names if f"{name}=" not in part.model)
        note = Note("run_settings_differ", {"task": part.task, "names": silent})
        noted.append(replace(part, notes=(*part.notes, note)) if silent else part)
    return noted
