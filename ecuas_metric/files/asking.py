"""What an error shows of the columns of a table, and the ways to read them from which the user chooses.

A role is filled in only if one column alone fits it by its type; nothing is told by how columns go together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, filterfalse
from os.path import commonprefix

import numpy as np
import pyarrow as pa

from ..errors import Way, in_one_line
from ..inputs import LEAST_PER_CENT, ROUNDED_SUM_TOLERANCE, Array, Bools, Floats, count_up
from .cells import (
    are_known_pair,
    are_numbers,
    numbers_if_any,
    parse_cells,
    texts_of_names,
)
from .recipe import COLUMNS_SHOWN, FORMS, HEAD, OTHER_ROLES, column_in
from .values import (
    TEXT,
    Sheet,
    as_text,
    encode,
    first_of,
    floats_in,
    is_numeric,
    parsed_json,
    parts_by_name,
    plain,
    with_fields,
)

DIFFERENT = ", all different"  # in each system, as ids are
_EMPTY = "empty"
_EXAMPLES = 3  # values of a column
_LONGEST = 30  # characters of a name or an example
_MOST_VALUES = 20  # distinct numbers that are counted; of more, the range says what they are
_MOST_COUNTED = 1000  # distinct texts; there may be more below the head of a file
_ROWS = 1000  # by which columns are of a type
_MOST_CLASSES = 50
_DEEPEST = 10  # of nested objects
_OF_FORMS = {role for roles in FORMS.values() for role in roles}
_NOT_IN_FLAGS = re.compile(rf"[\"+\r\n]|  |{OTHER_ROLES.pattern}")
_ANY = "NAME"


# ---- the columns of a table -----------------------------------------------------------------------------------------


def contents(table: pa.Table, name: str) -> str:
    """Return what a column holds, e.g. "812 texts", "3 values", "numbers from 0 to 1"; by the head of a table."""
    cells = parse_cells(plain(table[name].slice(0, HEAD)))
    if cells.null_count == len(cells):
        return _EMPTY
    if pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type):
        return "lists"
    if cells.type != TEXT and not is_numeric(cells.type):
        return str(cells.type)[:20]
    first = first_of(cells)
    if isinstance(first, str) and first.startswith(("{", "[{")) and parsed_json(first) is None:
        return "Python's repr, no JSON"
    count = len(cells.drop_null().unique())
    different = DIFFERENT if count == len(cells) > 1 else ""
    return _contents(cells, count) + different


def _contents(cells: pa.Array, count: int) -> str:
    """Return how many distinct numbers or texts a column has, or the range of many numbers."""
    is_number = is_numeric(cells.type)
    if is_number and count > _MOST_VALUES:
        values = floats_in(cells)
        return f"numbers from {np.nanmin(values):.6g} to {np.nanmax(values):.6g}"
    number = f"{count:,}" if count <= _MOST_COUNTED else f"over {_MOST_COUNTED:,}"
    noun = "value" if is_number else "text"
    return f"{number} {noun if count == 1 else noun + 's'}"


def list_columns(table: pa.Table, most: int = COLUMNS_SHOWN) -> list[str]:
    """Return a line for each column of a table: its name, what it holds, and values that differ."""
    outer = {name.partition(".")[0] for name in table.column_names if "." in name}
    all_names = [name for name in table.column_names if name not in outer]
    names = all_names[:most]
    rows = [(_shortened(name), contents(table, name), _examples(table, name)) for name in names]
    widths = [max(map(len, cells), default=0) for cells in list(zip(*rows, strict=True))[:2]]
    lines = [
        "   ".join([name.ljust(widths[0]), what.ljust(widths[1]), examples]).rstrip()
        for name, what, examples in rows
    ]
    count = len(all_names) - len(names)
    lines += [f"and {count:,} others"] if count else []
    return [*lines, f"by the first {HEAD:,} rows"] if len(table) > HEAD else lines


def _examples(table: pa.Table, name: str) -> str:
    """Return the first values of a column that differ, or of two how many there are of each."""
    cells = plain(table[name].slice(0, HEAD))
    is_of_words = not is_numeric(cells.type)
    values, codes = encode(parse_cells(cells))
    texts = [
        f"{value:.6g}" if isinstance(value, float) else _shortened(as_text(value))
        for value in values
    ]
    if len(texts) == 2 and is_of_words:
        counts = np.bincount(codes[codes >= 0]).tolist()
        return ", ".join(f"{text} {count}" for text, count in zip(texts, counts, strict=True))
    return ", ".join(list(dict.fromkeys(filter(None, texts)))[:_EXAMPLES])


def _shortened(text: str) -> str:
    text = " ".join(in_one_line(text).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}.."


def with_leaves(sheet: Sheet) -> Sheet:
    """Return a sheet whose columns of objects are followed by the fields within these, by their dotted paths."""
    paths = [path for name in sheet.names for path in _paths_in(first_of(sheet.table[name]), name)]
    return replace(sheet, table=with_fields(sheet.table, paths))


def _paths_in(value: object, path: str, depth: int = 0) -> Iterator[str]:
    """Yield the dotted paths of numbers, texts and lists of several parts in a nested value, also in JSON within it."""
    value = parsed_json(value)
    parts = _parts_of(value) if depth < _DEEPEST else ()
    for key, part in parts:
        if not re.search(r"[.,=:+]", str(key)):
            yield from _paths_in(part, f"{path}.{key}", depth + 1)
    if depth and not parts:
        yield path


def _parts_of(value: object) -> Collection[tuple[object, object]]:
    """Return the fields of an object, or the parts of a list that have names, or else its only one."""
    if isinstance(value, dict):
        return value.items()
    if not isinstance(value, list) or are_numbers(value):
        return ()
    named = parts_by_name(value).items()
    return named if named or len(value) > 1 else list(enumerate(value))


# ---- what the user may say of them ----------------------------------------------------------------------------------


class _Free:
    """The first rows of a table, and its columns by type that have no role and that a flag can name."""

    def __init__(self, sheet: Sheet, roles: Mapping[str, Sequence[str]]) -> None:
        self.roles = {role: names[0] for role, names in roles.items() if names}
        self.sheet = with_leaves(sheet.head(_ROWS))
        objects = {name.partition(".")[0] for name in self.sheet.names if "." in name}
        taken = objects.union(map(column_in, chain.from_iterable(roles.values())))
        names = (name for name in self.sheet.names if name not in taken)
        free = filterfalse(_NOT_IN_FLAGS.search, names)
        self.numbers = {name: numbers_if_any(self.sheet, name) for name in free}
        self.percentages = self._of_kind(_are_percentages)
        self.shares = self._of_kind(are_shares) or self.percentages

    def _of_kind(self, are_such: Callable[[Floats], bool]) -> list[str]:
        return [name for name, values in self.numbers.items() if are_such(values)]

    @property
    def share(self) -> str:
        """The column of confidences or probabilities, or the only one that may be."""
        named = self.roles.get("confidence") or self.roles.get("positive")
        return named or _only(self.shares)

    @property
    def words(self) -> str:
        """The only column of two words, or that of labels if it has two."""
        label = self.roles.get("label", "")
        return _only(self.of_words(2) or [label] * (bool(label) and len(self.texts(label)) == 2))

    def texts(self, name: str) -> list[str]:
        """Return the distinct texts of a column, sorted."""
        return sorted(map(str, encode(texts_of_names(self.sheet.column(name), ()))[0]))

    def of_words(self, most: int) -> list[str]:
        """Return the columns of 2 or more distinct texts, or numbers without fractions, each in several rows."""
        most = min(most, len(self.sheet.rows) // 2)
        names = [name for name, values in self.numbers.items() if not has_fractions(values)]
        return [name for name in names if 2 <= len(self.texts(name)) <= most]

    def way(self, meaning: str, options: Mapping[str, str | list[str]], **columns: str) -> Way:
        """Return a way to read the table, with the columns of those roles that have none yet."""
        lacking = {role: name for role, name in columns.items() if self.roles.get(role) != name}
        parts = "+".join(lacking.values()).removeprefix("1-").split("+")
        scale = {"scale": "100"} if set(parts) & set(self.percentages) else {}
        return Way(meaning, lacking | scale, options)


def ways_to_read(
    sheet: Sheet, roles: Mapping[str, Sequence[str]], said: Collection[str]
) -> list[Way]:
    """Return the two ways to read a table whose columns lack roles; what fits no role alone is called NAME.

    One has verdicts on answers, the other true classes. Roles that were said are kept, and so is their form.
    """
    free = _Free(sheet, roles)
    ways = [*_judged(free, free.roles.get("correct", free.words))]
    if "correct" not in free.roles:
        ways += [*_of_named_classes(free)] or [_of_two_classes(free)]
    possible = [
        way for way in ways[:: -1 if "label" in free.roles else 1] if _may_be_beside(way, said)
    ]
    filled = [way for way in possible if _ANY not in way.columns.values()]
    return filled or possible


def _may_be_beside(way: Way, said: Collection[str]) -> bool:
    """Return whether a way has a form of input with all roles of a form that were said."""
    roles = (way.columns.keys() | said) & _OF_FORMS
    return bool(way.columns) and any(roles <= set(form) for form in FORMS.values())


def _judged(free: _Free, correct: str) -> Iterator[Way]:
    """Yield the confidences of answers, and what says which are right; if that is known, of doubts too."""
    options = {}
    confidence = free.share
    said = f"{correct}: was it right"
    if correct not in (_ANY, free.roles.get("correct")):
        wrong, right = free.texts(correct)
        if not are_known_pair(wrong, right):
            options["right"] = f"{right}/{wrong}"
            said += f" ({right}: right, {wrong}: wrong)"
    sure = f"{confidence}: how sure each answer was; {said}"
    yield free.way(sure, options, confidence=confidence, correct=correct)
    if confidence not in (_ANY, free.roles.get("confidence")) and "correct" in free.roles:
        doubtful = f"{confidence}: how doubtful each answer was; {said}"
        yield free.way(doubtful, {}, confidence=f"1-{confidence}", correct=correct)


def _of_two_classes(free: _Free) -> Way:
    """Return the probability of the second of two classes, and the true ones; or those of any number, unnamed."""
    positive = free.share
    label = free.roles.get("label") or free.words
    if _ANY in (label, positive):
        meaning = (
            "the true class, and the probability of each (of the second of two: positive=NAME)"
        )
        return Way(meaning, {"label": label, "posteriors": "A+B"})
    classes = free.texts(label)
    are_named = len(classes) == 2 and classes != ["0", "1"]
    high = classes[1] if are_named else "1"
    meaning = f"{positive}: the probability of the class {high}; {label}: the true class"
    options = {"labels": classes} if are_named else {}
    return free.way(meaning, options, positive=positive, label=label)


def _of_named_classes(free: _Free) -> Iterator[Way]:
    """Yield columns of numbers whose names, but for a common beginning and end, are the classes in another column."""
    columns = free.shares
    names = dict(zip(_differences(columns), columns, strict=True))
    labels = [free.roles["label"]] if "label" in free.roles else free.of_words(_MOST_CLASSES)
    fitting = [name for name in labels if set(free.texts(name)) <= names.keys()]
    if len(fitting) == 1 and len(names) == len(columns) > 1:
        meaning = f"{columns[0]}, ..: the probability of each class; {fitting[0]}: the true one"
        probabilities = {"label": fitting[0], "posteriors": "+".join(columns)}
        yield free.way(meaning, {"labels": [*names]}, **probabilities)


def _only(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else _ANY


def _differences(texts: Sequence[str]) -> list[str]:
    """Return what texts have but their common beginning and end."""
    begin = len(commonprefix(texts))  # noqa: RUF071 - of names, not of paths
    end = len(commonprefix([text[:begin:-1] for text in texts]))  # noqa: RUF071
    return [text[begin : len(text) - end] for text in texts]


# ---- types of numbers -----------------------------------------------------------------------------------------------


def are_shares(values: Floats) -> bool:
    """Return whether numbers (N,) are from 0 to 1, some of them fractions."""
    return _are_within(values, 1) and has_fractions(values)


def has_fractions(values: Floats) -> bool:
    """Return whether a number (N,) or (N, K) is not whole."""
    return bool((values > np.floor(values)).any())


def _are_percentages(values: Floats) -> bool:
    known: Bools = ~np.isnan(values)
    is_high = bool(known.any() and np.nanmax(values) > LEAST_PER_CENT)
    return is_high and _are_within(values, 100) and not count_up(values[known])


def are_near(sums: Array | float, whole: int = 1) -> bool:
    """Return whether sums (N,), or one, are the whole, but for what rounding each term explains."""
    return bool(np.all(np.abs(np.subtract(sums, whole)) <= whole * ROUNDED_SUM_TOLERANCE))


def _are_within(values: Floats, highest: float) -> bool:
    known = values[~np.isnan(values)]
    return bool(known.size and known.min() >= 0 and known.max() <= highest)
