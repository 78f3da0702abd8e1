"""What evaluation tools leave on disk -> samples with our own names of columns, without the tools.

The readers are imported where a file has one of their names.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..read import without_query

PACKED = r"(\.(gz|zst))?"
FILE_NAMES = {  # patterns, by the module that reads them
    "lm_eval": rf"(.*\.(jsonl|ndjson)|samples_.*\.json){PACKED}",
    "lighteval": r"details_.*\.parquet",
    "inspect_ai": r".*\.(eval|json)",
    "every_eval_ever": rf".*\.(jsonl|ndjson){PACKED}",
    "decision_models": rf".*\.(json|jsonl|ndjson){PACKED}",
}
TOTALS_BESIDE = "results_*.json"  # of lm-eval, which name the model of the samples beside them
LENGTHS = ("none", "chars", "bytes")
RUN_FIELDS = (
    "confidence",
    "correct",
    "label",
    "weight",
    "group",
    "id",
)  # roles whose fields can be named


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run leaves open."""

    tasks: Collection[str] | None = None  # None reads all
    filter: str | None = (
        None  # of lm-eval, scorer of Inspect or result of Every Eval Ever, where there are several
    )
    length: str = "none"  # or another of `LENGTHS`: what log-likelihoods are divided by before they are compared
    fields: Mapping[str, str] = field(default_factory=dict)  # dotted names, by some of `RUN_FIELDS`
    partial: bool = False  # whether to read runs that did not end
    pools_tasks: bool = False  # whether the tasks of each model are one
    are_new: bool = False  # whether answers of decision models have no truth, which stands in
    truth: Mapping[str, object] | None = (
        None  # of `true_labels.read_labels`, where it is not in the run
    )

    @property
    def holders(self) -> set[str]:
        """The fields of a sample that hold those that were named."""
        names = "+".join(self.fields.values()).split("+")
        return {name.split(".")[0] for name in names}

    def columns_of(self, roles: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the fields that were named for some roles, as a recipe has them."""
        return {role: (name,) for role, name in self.fields.items() if role in roles}

    @property
    def per_sample(self) -> dict[str, str]:
        """The fields of weights, groups and ids."""
        roles = ("weight", "group", "id")
        return {role: name for role, name in self.fields.items() if role in roles}


def may_be_run(path: str | Path) -> bool:
    """Return whether a path has the name of a file of a tool, or is a folder."""
    return Path(path).is_dir() or has_name_of_tool(path)


def has_name_of_tool(path: str | Path) -> bool:
    """Return whether the last part of a path is the name of a file of a tool."""
    name = Path(without_query(path)).name
    return any(re.fullmatch(pattern, name) for pattern in FILE_NAMES.values())
