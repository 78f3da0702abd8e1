"""What evaluation tools leave on disk -> samples with our own names of columns. Only Inspect's logs need their tool."""

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import Note
from .inspect_ai import INSPECT
from .lighteval import LIGHTEVAL
from .lm_eval import LM_EVAL
from .parts import (
    RUN_FIELDS,
    RunOptions,
    RunPart,
    differing_settings,
    files_in,
    names_of,
    pool_tasks,
    refuse_totals,
)

__all__ = [
    "RUN_FIELDS",
    "RUN_FILE",
    "RunOptions",
    "RunPart",
    "names_of",
    "pool_tasks",
    "read_parts",
]
_READERS = (LM_EVAL, LIGHTEVAL, INSPECT)
RUN_FILE = re.compile(
    "|".join(fnmatch.translate(name) for reader in _READERS for name in reader.names)
)


def read_parts(
    path: str | Path,
    options: RunOptions | None = None,
) -> list[RunPart] | None:
    """Read a tool's run, a file of samples or a folder: a part for each system and task, or None for other content."""
    place = Path(path)
    if not place.exists():
        return None
    for reader in _READERS:
        files = [file for file in files_in(place, *reader.names) if reader.recognises(file)]
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
