"""What evaluation tools leave on disk -> samples with our own names of columns. None of the tools is imported."""

import fnmatch
import re
from pathlib import Path

from .inspect_ai import INSPECT
from .lighteval import LIGHTEVAL
from .lm_eval import LM_EVAL
from .parts import RunOptions, RunPart, files_in, names_of, pool_tasks, refuse_totals

__all__ = ["RUN_FILE", "RunOptions", "RunPart", "names_of", "pool_tasks", "read_parts"]
_READERS = (LM_EVAL, LIGHTEVAL, INSPECT)
RUN_FILE = re.compile("|".join(fnmatch.translate(name) for reader in _READERS for name in reader.names))


def read_parts(path: str | Path, options: RunOptions | None = None) -> list[RunPart] | None:
    """Read a tool's run, a file of samples or a folder: a part for each system and task, or None for other content."""
    place = Path(path)
    if not place.exists():
        return None
    for reader in _READERS:
        files = [file for file in files_in(place, *reader.names) if reader.recognises(file)]
        if files:
            return reader.parts(files, options or RunOptions())
    refuse_totals(place)
    return None
