"""What is true, in a table of its own: by the id of an item, and of several questions by the name of each."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from ...errors import FileError, InputError
from ..read import read_sheet
from ..recipe import Reading
from ..values import as_text, value_by_path
from . import parts
from .parts import Fields

ITEMS = ("item_id", "id")
QUESTIONS = ("question", "question_id")
LABELS = ("labels", "label", "gold")


def first_field(record: Fields, names: Iterable[str]) -> object:
    """Return the first of some fields that has a value, None if none has."""
    return next((record[name] for name in names if record.get(name) is not None), None)


def find_label(record: Fields, named: str | None) -> object:
    """Return what a field of labels holds, or the one that was named; InputError if two hold different ones."""
    if named is not None:
        return value_by_path(record, named)
    labels = {name: record[name] for name in LABELS if record.get(name) is not None}
    first = next(iter(labels.values()), None)
    if any(label != first for label in labels.values()):
        rule = "has several fields of labels, {names}, which differ"
        raise InputError("label", rule, names=list(labels), advice="name_label_field")
    return first


def read_labels(
    path: str | Path, columns: Mapping[str, str] = MappingProxyType({})
) -> dict[str, object]:
    """Return what is true of each item by its id: a label, or a mapping of questions to labels.

    A row has the id and a label, also of one question that it names, or a column for each question. `columns` names
    those of an id and a label that are called otherwise. FileError if a row has no id, or an item two labels.
    """
    sheet = read_sheet(path, **Reading(columns=columns).of_file())
    labels: dict[str, object] = {}
    for row, record in zip(sheet.rows.tolist(), sheet.table.to_pylist(), strict=True):
        parts.in_file(path, row, _add, labels, record, columns)
    if not labels:
        raise FileError(path, "no_rows")
    return labels


def _add(labels: dict[str, object], record: Fields, columns: Mapping[str, str]) -> None:
    """Add what a row says; InputError if it has no id, or says again what is true."""
    named = columns.get("id")
    item = first_field(record, ITEMS) if named is None else value_by_path(record, named)
    if item is None:
        raise InputError("id", "has no id", advice="fill_ids")
    label = _label_in(record, columns)
    known = labels.setdefault(as_text(item), label)
    if known is label:
        return
    if not (isinstance(known, dict) and isinstance(label, dict)) or known.keys() & label.keys():
        raise InputError("id", "has the id of an earlier row, which has a label", value=item)
    known.update(label)


def _label_in(record: Fields, columns: Mapping[str, str]) -> object:
    """Return the label of a row, by its question if it names one: of a column for labels, or else of all others."""
    named = columns.get("label")
    if named is None and record.keys().isdisjoint(LABELS):
        return {name: value for name, value in record.items() if name not in ITEMS}
    label = find_label(record, named)
    question = first_field(record, QUESTIONS)
    return label if question is None or isinstance(label, dict) else {str(question): label}
