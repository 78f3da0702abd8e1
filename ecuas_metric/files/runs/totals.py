"""Files in which a tool keeps its results but no samples: refused with the flag that would have kept them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from ...errors import FileError
from .parts import files_in, starts_with


class Totals(NamedTuple):
    """A tool's file of results: its name in messages, keys by which it is known, and what to do."""

    what: str
    keys: set[str]
    advice: str


KNOWN = (
    Totals("lm-eval", {"results", "configs", "n-shot"}, "Run it again with --log_samples --output_path DIR."),
    Totals("lighteval", {"results", "config_general", "config_tasks"}, "Run it again with --save-details."),
    Totals(
        "simple-evals",
        {"score", "metrics", "htmls", "convos"},
        "It keeps the verdicts as HTML only: write confidence and correct of each question to a file of JSON lines.",
    ),
)
MARKS = (b'"results"', b'"config_general"', b'"htmls"')  # one of which is near the beginning


def refuse_totals(path: Path) -> None:
    """Raise FileError if a file, or one in a folder, is a tool's results without samples."""
    for file in files_in(path, "*.json") if path.is_dir() else [path] * (path.suffix == ".json"):
        if not any(starts_with(file, [mark]) for mark in MARKS):
            continue
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            continue
        for totals in KNOWN:
            if isinstance(content, dict) and content.keys() >= totals.keys:
                raise FileError(file, f"holds results of {totals.what} without samples", advice=totals.advice)
