"""What evaluation tools leave on disk -> samples with our own names of columns. Only Inspect's logs need their tool.

The readers are imported where a file has one of their names.
"""

import fnmatch
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

FILE_NAMES = {  # of files, by the module that reads them
    "lm_eval": ("*.jsonl", "*.jsonl.gz"),
    "lighteval": ("details_*.parquet",),
    "inspect_ai": ("*.eval", "*.json"),
}
_RUN_FILE = re.compile(
    "|".join(fnmatch.translate(name) for names in FILE_NAMES.values() for name in names)
)
LENGTHS = ("none", "chars", "bytes")
RUN_FIELDS = ("confidence", "correct", "weight", "group")  # roles whose fields can be named


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run leaves open; `confidence`, `correct`, `weight` and `group` are dotted names of fields."""

    tasks: Collection[str] | None = None  # None reads all
    filter: str | None = None  # of lm-eval, or the scorer of Inspect, where there are several
    length: str = "none"  # or another of `LENGTHS`: what log-likelihoods are divided by before they are compared
    confidence: str | None = None
    correct: str | None = None
    weight: str | None = None
    group: str | None = None
    partial: bool = False  # whether to read runs that did not end

    @property
    def fields(self) -> dict[str, str]:
        """The fields that were named, by role."""
        named = {role: getattr(self, role) for role in RUN_FIELDS}
        return {role: name for role, name in named.items() if name}

    @property
    def holders(self) -> set[str]:
        """The fields of a sample that hold these."""
        return {name.split(".")[0] for name in self.fields.values()}

    @property
    def per_sample(self) -> dict[str, str]:
        """Those of weights and groups."""
        return {role: name for role, name in self.fields.items() if role in ("weight", "group")}


def may_be_run(path: str | Path) -> bool:
    """Return whether a path has the name of a file of a tool, or is a folder."""
    place = Path(path)
    return _RUN_FILE.fullmatch(place.name) is not None or place.is_dir()
