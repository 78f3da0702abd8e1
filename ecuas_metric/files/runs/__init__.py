"""What evaluation tools leave on disk -> samples with our own names of columns. None of the tools is imported."""

from __future__ import annotations

from pathlib import Path

from . import callm, helm, inspect_ai, lighteval, lm_eval
from .parts import Part, RunOptions, names_of, pooled, refuse_totals

__all__ = ["Part", "RunOptions", "names_of", "pooled", "read_parts"]
TOOLS = (lm_eval, lighteval, inspect_ai, helm, callm)


def read_parts(path: str | Path, options: RunOptions | None = None) -> list[Part] | None:
    """Read a tool's run, a file of samples or a folder: a part for each system and task, or None for other content."""
    place = Path(path)
    for tool in TOOLS if place.exists() else ():
        files = tool.files_of(place)
        if files:
            found: list[Part] = tool.parts(files, options or RunOptions())
            return found
    if place.exists():
        refuse_totals(place)
    return None
