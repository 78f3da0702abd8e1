"""What --cost says: a matrix, or a file of costs by names of classes -> the option of a cost."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...classes import matrix_of_classes
from ...errors import FileError, InputError
from ...files.proposals import Proposal
from ...files.submissions import Submission
from ...inputs import Floats


def cost_of_all(text: str | None, submissions: Sequence[Submission]) -> dict[str, object]:
    """Return the option of a cost, if there is one, which means the same classes in all submissions."""
    if text is None:
        return {}
    matrices = [cost_of_flag(text, submission)[0] for submission in submissions]
    require_one_order("--cost", submissions)
    return {"cost": matrices[0]}


def require_one_order(argument: str, submissions: Sequence[Submission]) -> None:
    """Raise InputError if systems have the classes of posteriors in several orders, by which their numbers differ."""
    orders = {",".join(_classes_of(submission)): submission.name for submission in submissions}
    if len(orders) > 1:
        listed = [f"{classes} in {name}" for classes, name in orders.items()]
        named = [one.recipe.classes for one in submissions if one.recipe.classes]
        advice: dict[str, Any] = {"advice": "say_labels"}
        if named:
            advice = Proposal("say_first_order", {}, named[0]).to_fields({})
        raise InputError(argument, "orders_of_classes", orders=listed, **advice)


def cost_of_flag(
    text: str | None, submission: Submission
) -> tuple[str | Floats, Sequence[object] | None]:
    """Return a cost by a matrix or a file, in the order of the classes of posteriors, and the names of decisions."""
    if submission.form != "posteriors":
        if text is not None:
            raise InputError("--cost", "requires_form", forms="posteriors", form=submission.form)
        return "zero_one", None
    classes = _classes_of(submission)
    if text is None:
        return "zero_one", classes
    if Path(text).suffix.lower() in (".csv", ".json"):
        costs, _, decisions = matrix_of_classes(_costs_in(Path(text)), classes)
        return costs, decisions
    matrix = _matrix_in(text)
    return matrix, classes if matrix.shape[1] == len(classes) else None


def _classes_of(submission: Submission) -> list[str]:
    """Return the names of the classes of posteriors, or their numbers as text."""
    named = submission.recipe.classes
    return list(named or map(str, range(submission.predictions.shape[1])))


def _matrix_in(text: str) -> Floats:
    try:
        rows = [row.split(",") for row in text.split(";")]
        return np.array([list(map(float, row)) for row in rows])
    except ValueError:
        raise InputError("--cost", "no_matrix", value=text) from None


def _costs_in(path: Path) -> Mapping[object, object]:
    """Return the costs of a file by names of classes."""
    text = path.read_text(encoding="utf-8-sig")
    try:
        if path.suffix.lower() == ".json":
            return dict(json.loads(text, object_pairs_hook=_distinct))
        header, *rows = filter(None, csv.reader(text.splitlines(), skipinitialspace=True))
        costs = [map(float, row[1:]) for row in rows]
        of_class = [_distinct(zip(header[1:], row, strict=True)) for row in costs]
        return _distinct(zip((row[0] for row in rows), of_class, strict=True))
    except (ValueError, TypeError, IndexError):
        raise FileError(path, "no_costs") from None


def _distinct(pairs: Iterable[tuple[str, object]]) -> dict[object, object]:
    """Return pairs as a mapping; ValueError if a name is there twice."""
    pairs = list(pairs)
    mapping: dict[object, object] = dict(pairs)
    if len(mapping) < len(pairs):
        raise ValueError
    return mapping
