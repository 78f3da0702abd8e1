"""What an error shows of a table: its columns, and the ways to read them from which the user chooses.

A column is filled in for a role only if it alone has the right type; nothing is inferred from values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, filterfalse
from os.path import commonprefix

import numpy as np
import pyarrow as pa

from ..errors import Way, join_lines
from ..inputs import LEAST_PER_CENT, ROUNDED_SUM_TOLERANCE, Array, Bools, Floats, are_consecutive
from .cells import (
    are_known_pair,
    are_numbers,
    numbers_if_any,
    parse_cells,
    read_names,
)
from .recipe import COLUMNS_SHOWN, FORM_ROLES, FORMS, HEAD, OTHER_ROLES, source_column
from .values import (
    TEXT,
    Sheet,
    add_nested_columns,
    as_text,
    distinct_texts,
    encode,
    first_value,
    is_numeric,
    parse_json,
    parts_by_name,
    plain,
    to_floats,
)

DIFFERENT = ", all different"
_EMPTY = "empty"
_EXAMPLES = 3  # values shown of a column
_LONGEST = 30  # characters of a name or an example
_MOST_VALUES = 20  # distinct numbers up to which they are counted; of more, the range is shown
_MOST_COUNTED = 1000  # distinct texts up to which they are counted
_ROWS = 1000  # that decide the type of a column
_MOST_CLASSES = 50
_DEEPEST = 10  # of nested objects
_NOT_IN_FLAGS = re.compile(rf"[\"+\r\n]|  |{OTHER_ROLES.pattern}")
ANY_NAME = "NAME"  # for the user to replace, where no column fits, or several do
ANY_NAMES = "A+B"  # the same for the probabilities of all classes


# ---- the columns of a table -----------------------------------------------------------------------------------------


def describe_column(table: pa.Table, name: str) -> str:
    """Return a short description of a column: "812 texts", "3 values", "numbers from 0 to 1"; by the first rows."""
    cells = parse_cells(plain(table[name].slice(0, HEAD)))
    if cells.null_count == len(cells):
        return _EMPTY
    if pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type):
        return "lists"
    if cells.type != TEXT and not is_numeric(cells.type):
        return str(cells.type)[:20]
    first = first_value(cells)
    if isinstance(first, str) and first.startswith(("{", "[{")) and parse_json(first) is None:
        return "Python's repr, no JSON"
    count = len(cells.drop_null().unique())
    different = DIFFERENT if count == len(cells) > 1 else ""
    return _describe_values(cells, count) + different


def _describe_values(cells: pa.Array, count: int) -> str:
    """Return the number of distinct numbers or texts, `count`, or the range if these are many numbers."""
    is_number = is_numeric(cells.type)
    if is_number and count > _MOST_VALUES:
        values = to_floats(cells)
        return f"numbers from {np.nanmin(values):.6g} to {np.nanmax(values):.6g}"
    number = f"{count:,}" if count <= _MOST_COUNTED else f"over {_MOST_COUNTED:,}"
    noun = "value" if is_number else "text"
    return f"{number} {noun if count == 1 else noun + 's'}"


def list_columns(table: pa.Table, most: int = COLUMNS_SHOWN) -> list[str]:
    """Return a line for each column of a table, at most `most`: its name, its description, and examples."""
    outer = {name.partition(".")[0] for name in table.column_names if "." in name}
    all_names = [name for name in table.column_names if name not in outer]
    names = all_names[:most]
    rows = [
        (_shortened(name), describe_column(table, name), _examples(table, name)) for name in names
    ]
    widths = [max(map(len, cells), default=0) for cells in list(zip(*rows, strict=True))[:2]]
    lines = [
        "   ".join([name.ljust(widths[0]), what.ljust(widths[1]), examples]).rstrip()
        for name, what, examples in rows
    ]
    count = len(all_names) - len(names)
    lines += [f"and {count:,} others"] if count else []
    return [*lines, f"by the first {HEAD:,} rows"] if len(table) > HEAD else lines


def _examples(table: pa.Table, name: str) -> str:
    """Return the first distinct values of a column; of two, each with its number."""
    values, codes = encode(parse_cells(plain(table[name].slice(0, HEAD))))
    texts = [
        f"{value:.6g}" if isinstance(value, float) else _shortened(as_text(value))
        for value in values
    ]
    if len(texts) == 2:
        counts = np.bincount(codes[codes >= 0]).tolist()
        return ", ".join(f"{text} {count}" for text, count in zip(texts, counts, strict=True))
    return ", ".join(list(dict.fromkeys(filter(None, texts)))[:_EXAMPLES])


def _shortened(text: str) -> str:
    """Return text in one line of at most `_LONGEST` characters."""
    text = " ".join(join_lines(text).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}.."


def expand_objects(sheet: Sheet) -> Sheet:
    """Return a sheet with further columns for the fields within its columns of objects, by their dotted paths."""
    paths = [
        path
        for name in sheet.names
        for path in _list_leaf_paths(first_value(sheet.table[name]), name)
    ]
    return replace(sheet, table=add_nested_columns(sheet.table, paths))


def _list_leaf_paths(value: object, path: str, depth: int = 0) -> Iterator[str]:
    """Yield the dotted paths of the leaves of a nested value, also of JSON in its texts."""
    value = parse_json(value)
    parts = _list_named_parts(value) if depth < _DEEPEST else ()
    for key, part in parts:
        if not re.search(r"[.,=:+]", str(key)):
            yield from _list_leaf_paths(part, f"{path}.{key}", depth + 1)
    if depth and not parts:
        yield path


def _list_named_parts(value: object) -> Collection[tuple[object, object]]:
    """Return the fields of an object, the named parts of a list, or the only part of one; nothing of a leaf."""
    if isinstance(value, dict):
        return value.items()
    if not isinstance(value, list) or are_numbers(value):
        return ()
    named = parts_by_name(value).items()
    return named if named or len(value) > 1 else list(enumerate(value))


# ---- ways to read a table -------------------------------------------------------------------------------------------


class _FreeColumns:
    """The columns of a table without a role that a flag can name, by their types in the first rows."""

    def __init__(self, sheet: Sheet, roles: Mapping[str, Sequence[str]]) -> None:
        self.roles = {role: names[0] for role, names in roles.items() if names}
        self.sheet = expand_objects(sheet.head(_ROWS))
        objects = {name.partition(".")[0] for name in self.sheet.names if "." in name}
        taken = objects.union(map(source_column, chain.from_iterable(roles.values())))
        names = (name for name in self.sheet.names if name not in taken)
        free = filterfalse(_NOT_IN_FLAGS.search, names)
        self.numbers = {name: numbers_if_any(self.sheet, name) for name in free}
        self.percentages = self._select_columns(_are_percentages)
        self.shares = self._select_columns(are_shares) or self.percentages

    def _select_columns(self, is_kind: Callable[[Floats], bool]) -> list[str]:
        return [name for name, values in self.numbers.items() if is_kind(values)]

    @property
    def share(self) -> str:
        """The column of confidences or probabilities, or the only one that may be; else NAME."""
        named = self.roles.get("confidence") or self.roles.get("positive")
        return named or _only_name(self.shares)

    @property
    def words(self) -> str:
        """The only column of two words, or that of labels if it has two; else NAME."""
        label = self.roles.get("label", "")
        return _only_name(
            self.word_columns(2) or [label] * (bool(label) and len(self.texts(label)) == 2)
        )

    def texts(self, name: str) -> list[str]:
        """Return the distinct texts of a column, sorted."""
        return sorted(distinct_texts(read_names(self.sheet.column(name), ())))

    def word_columns(self, most: int) -> list[str]:
        """Return the columns of 2 to `most` distinct texts or whole numbers, each in at least two rows on average."""
        most = min(most, len(self.sheet.rows) // 2)
        names = [name for name, values in self.numbers.items() if not has_fractions(values)]
        return [name for name in names if 2 <= len(self.texts(name)) <= most]

    def way(self, meaning: str, options: Mapping[str, str | list[str]], **columns: str) -> Way:
        """Return a way to read the table by columns of roles, of which those that are known already are left out."""
        lacking = {role: name for role, name in columns.items() if self.roles.get(role) != name}
        parts = "+".join(lacking.values()).removeprefix("1-").split("+")
        scale = {"scale": "100"} if set(parts) & set(self.percentages) else {}
        return Way(meaning, lacking | scale, options)


def ways_to_read(
    sheet: Sheet, roles: Mapping[str, Sequence[str]], user_roles: Collection[str]
) -> list[Way]:
    """Return the ways to read a table that lacks roles: with correctness labels, and with true classes.

    `roles` are the known ones, and `user_roles` those that the user named, which a way must keep. NAME stands where no
    column, or more than one, fits; ways without NAME come alone.
    """
    free = _FreeColumns(sheet, roles)
    ways = [*_list_confidence_ways(free, free.roles.get("correct", free.words))]
    if "correct" not in free.roles:
        ways += [*_named_class_ways(free)] or [_two_class_way(free)]
    possible = [
        way
        for way in ways[:: -1 if "label" in free.roles else 1]
        if _fits_user_roles(way, user_roles)
    ]
    filled = [way for way in possible if ANY_NAME not in way.columns.values()]
    return filled or possible


def _fits_user_roles(way: Way, user_roles: Collection[str]) -> bool:
    """Return whether one form of input has all roles of a way and of the user."""
    roles = (way.columns.keys() | user_roles) & FORM_ROLES
    return bool(way.columns) and any(roles <= set(form) for form in FORMS.values())


def _list_confidence_ways(free: _FreeColumns, correct: str) -> Iterator[Way]:
    """Yield the way with confidences and correctness; if `correct` is known, also that with doubts, 1 - confidence."""
    options = {}
    confidence = free.share
    meaning = f"{correct}: was it right"
    if correct not in (ANY_NAME, free.roles.get("correct")):
        wrong, right = free.texts(correct)
        if not are_known_pair(wrong, right):
            options["right"] = f"{right}/{wrong}"
            meaning += f" ({right}: right, {wrong}: wrong)"
    sure = f"{confidence}: how sure each answer was; {meaning}"
    yield free.way(sure, options, confidence=confidence, correct=correct)
    if confidence not in (ANY_NAME, free.roles.get("confidence")) and "correct" in free.roles:
        doubtful = f"{confidence}: how doubtful each answer was; {meaning}"
        yield free.way(doubtful, {}, confidence=f"1-{confidence}", correct=correct)


def _two_class_way(free: _FreeColumns) -> Way:
    """Return the way with the probability of the second of two classes; if a column is open, that of all classes."""
    positive = free.share
    label = free.roles.get("label") or free.words
    if ANY_NAME in (label, positive):
        meaning = (
            "the true class, and the probability of each (of the second of two: positive=NAME)"
        )
        return Way(meaning, {"label": label, "posteriors": ANY_NAMES})
    classes = free.texts(label)
    are_named = len(classes) == 2 and classes != ["0", "1"]
    high = classes[1] if are_named else "1"
    meaning = f"{positive}: the probability of the class {high}; {label}: the true class"
    options = {"labels": classes} if are_named else {}
    return free.way(meaning, options, positive=positive, label=label)


def _named_class_ways(free: _FreeColumns) -> Iterator[Way]:
    """Yield the way with columns of numbers named by the classes in another column, but for a prefix and suffix."""
    columns = free.shares
    names = dict(zip(_distinct_parts(columns), columns, strict=True))
    labels = [free.roles["label"]] if "label" in free.roles else free.word_columns(_MOST_CLASSES)
    fitting = [name for name in labels if set(free.texts(name)) <= names.keys()]
    if len(fitting) == 1 and len(names) == len(columns) > 1:
        meaning = f"{columns[0]}, ..: the probability of each class; {fitting[0]}: the true one"
        probabilities = {"label": fitting[0], "posteriors": "+".join(columns)}
        yield free.way(meaning, {"labels": [*names]}, **probabilities)


def _only_name(names: Sequence[str]) -> str:
    """Return the name if there is just one, else NAME."""
    return names[0] if len(names) == 1 else ANY_NAME


def _distinct_parts(texts: Sequence[str]) -> list[str]:
    """Return texts without their common prefix and suffix."""
    begin = len(commonprefix(texts))  # noqa: RUF071 - of names, not of paths
    end = len(commonprefix([text[:begin:-1] for text in texts]))  # noqa: RUF071
    return [text[begin : len(text) - end] for text in texts]


# ---- types of numbers -----------------------------------------------------------------------------------------------


def are_shares(values: Floats) -> bool:
    """Return whether numbers (N,) lie in [0, 1] and are not all whole."""
    return are_within(values, 1) and has_fractions(values)


def has_fractions(values: Floats) -> bool:
    """Return whether some number is not whole; NaN is whole."""
    return bool((values > np.floor(values)).any())


def _are_percentages(values: Floats) -> bool:
    """Return whether numbers (N,) lie in [0, 100], some above 50, and do not number the rows."""
    known: Bools = ~np.isnan(values)
    is_high = bool(known.any() and np.nanmax(values) > LEAST_PER_CENT)
    return is_high and are_within(values, 100) and not are_consecutive(values[known])


def are_near(sums: Array | float) -> bool:
    """Return whether sums (N,), or one, are 1 up to the rounding of their terms."""
    return bool(np.all(np.abs(np.subtract(sums, 1)) <= ROUNDED_SUM_TOLERANCE))


def are_within(values: Floats, highest: float) -> bool:
    """Return whether there are numbers, and all are from 0 to the highest; NaN does not count."""
    known = values[~np.isnan(values)]
    return bool(known.size and known.min() >= 0 and known.max() <= highest)
