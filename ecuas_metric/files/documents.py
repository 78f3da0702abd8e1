"""The text of JSON documents -> the rows of a table, in the forms in which tools and pandas write them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeGuard, TypeVar

from ..errors import InputError, quoted
from .recipe import FORMS, NAMES
from .values import value_at

Object = dict[str, object]  # of JSON
_T = TypeVar("_T", bound=Sized)
_SPACE = re.compile(r"\s*")
_CLOSING = re.compile(r"[,\]}]")  # or else what is broken is cut
# names of what each row has its own of
_OF_ROWS = {name for roles in FORMS.values() for role in roles for name in NAMES[role]}
_LONGEST = 40  # characters of a value in an error


@dataclass(frozen=True, slots=True)
class JsonRows:
    """The rows of a table, the lines on which they begin where each is a document, and the path of their list."""

    objects: list[Object]
    lines: list[int] | None = None
    path: str = ""
    # what else there is, and is not read: paths, and what they hold
    beside: tuple[tuple[str, str], ...] = ()


def rows_in(text: str, path: str = "") -> JsonRows:
    """Return the rows of a document, or of rows one after the other: a list or object has them, or each line is one.

    InputError if several lists may be those of the rows, and `path` names none; ValueError if it is broken.
    """
    numbered = list(documents_in(text))
    if not numbered:
        return JsonRows([])
    lines, documents = map(list, zip(*numbered, strict=True))
    whole = documents if len(documents) > 1 else documents[0]
    if path:
        return _beside_others(_table_at(whole, path), whole, path)
    if len(documents) > 1 or _is_row(whole):
        return JsonRows(list(map(_row, documents, lines)), lines)
    if _has_columns(whole):
        return _table_of(whole)
    tables = _tables_in(whole)
    if len(tables) > 1:
        raise several_lists({name: _size_of(table) for name, table in tables.items()})
    if not tables:
        return _table_of(whole)
    ((name, table),) = tables.items()
    return _beside_others(_table_of(table), whole, name)


def _beside_others(table: JsonRows, document: object, path: str) -> JsonRows:
    """Return the rows at a path, with what else the document has."""
    parts = _parts_in(document, path)
    others = ((name, _what(part)) for name, part in parts.items() if name != path)
    within = ((f"{path}.{name}", what) for name, what in table.beside)
    return replace(table, path=path, beside=(*others, *within))


def _tables_in(document: object) -> dict[str, object]:
    """Return the lists of objects within an object, or else the objects of lists, by their dotted paths."""
    parts = _parts_in(document)
    for is_table in (_are_objects, _is_of_lists):
        tables = {name: part for name, part in parts.items() if is_table(part)}
        if tables:
            return tables
    return {}


def _is_of_lists(part: object) -> bool:
    columns = part.values() if isinstance(part, dict) else ()
    return bool(columns) and all(isinstance(column, list) and column for column in columns)


def _size_of(table: object) -> int:
    """Return the number of rows of a list of them, or of the longest of lists."""
    lists = table.values() if isinstance(table, dict) else [table]
    return max(map(len, lists))


def several_lists(sizes: Mapping[str, int]) -> InputError:
    """Return the error about several lists or tables, by their numbers of rows; where these agree, all may be read."""
    longest = max(sizes, key=lambda name: sizes[name])
    are_alike = len(set(sizes.values())) == 1
    files = [quoted(f"{name}=FILE") for name in sizes]
    flags = [f"--columns {quoted(f'{name}:rows={name}')}" for name in sizes]
    return InputError(
        "rows",
        "several_lists",
        got=", ".join(f"{name} ({size} rows)" for name, size in sizes.items()),
        advice="name_lists" if are_alike else "name_list",
        columns={"rows": longest},
        flags=" ".join([*files, *flags]),
        arguments=f"columns={{'rows': {longest!r}}}",
    )


def _parts_in(document: object, path: str = "") -> dict[str, object]:
    """Return what nested objects hold, by dotted paths: tables, what is at a path, and what stands beside these."""
    parts: dict[str, object] = {}
    step, _, below = path.partition(".")
    for name, part in document.items() if isinstance(document, dict) else ():
        inner = _parts_in(part, below if name == step else "")
        if (name == step and below) or any(map(_are_objects, inner.values())):
            parts |= {f"{name}.{further}": one for further, one in inner.items()}
        else:
            parts[name] = part
    return parts


def _what(part: object) -> str:
    """Return what a part of a document holds."""
    if isinstance(part, str):
        return "1 text"
    if isinstance(part, dict):
        return counted(len(part), "field")
    if _are_objects(part):
        return counted(len(part), "row")
    return counted(len(part) if isinstance(part, list) else 1, "value")


def counted(size: object, noun: str) -> str:
    """Return how many of something there are, e.g. "1 value", "2x3 values"."""
    return f"{size} {noun}" if size == 1 else f"{size} {noun}s"


def documents_in(text: str) -> Iterator[tuple[int, object]]:
    """Yield JSON values one after the other, with the lines on which they begin."""
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    position = _after_space(text, 0)
    line = 1 + text.count("\n", 0, position)
    while position < len(text):
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            if not _CLOSING.search(text, error.pos):
                raise ValueError(f"the file ends within what begins in row {line}") from None
            raise ValueError(f"row {error.lineno} is not JSON: {error.msg}") from None
        except ValueError as error:
            raise ValueError(f"{error}, in what begins in row {line}") from None
        yield line, value
        end = _after_space(text, end)
        line += text.count("\n", position, end)
        position = end


def _object(pairs: list[tuple[str, object]]) -> Object:
    """Return an object; ValueError if a name is there twice, of which only one value would count."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has {repeated!r} twice")
    return values


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _is_row(document: object) -> bool:
    """Return whether a single document is a row: of numbers and texts, and lists of these.

    With several lists of one length it is a table, unless it has one confidence, or one truth, beside them.
    """
    parts = document if isinstance(document, dict) else {}
    lists = [part for part in parts.values() if isinstance(part, list)]
    single = {name.lower(): part for name, part in parts.items() if not isinstance(part, list)}
    is_table = common_size(map(len, lists)) > 1 and single.keys().isdisjoint(_OF_ROWS)
    are_nested = {type(part) for part in (*single.values(), *chain.from_iterable(lists))} & {
        dict,
        list,
    }
    return bool(single) and not is_table and not are_nested


def _has_columns(document: object) -> bool:
    """Return whether lists or objects in an object have the names of two roles, as columns have."""
    parts = document if isinstance(document, dict) else {}
    named = [name for name, part in parts.items() if isinstance(part, list | dict)]
    return sum(name.lower() in _OF_ROWS for name in named) > 1


def common_size(sizes: Iterable[int]) -> int:
    """Return the largest size that two have, or 0: that of the columns of a table."""
    counts = Counter(sizes)
    return max((size for size, count in counts.items() if count > 1), default=0)


def of_common_size(lists: Mapping[str, _T]) -> dict[str, _T]:
    """Return the lists of the largest size that two have, or all if no two have one."""
    size = common_size(map(len, lists.values()))
    return {name: part for name, part in lists.items() if len(part) == size or not size}


def require_one_size(lists: Mapping[str, Sized], what: str) -> None:
    """Raise ValueError if lists, or arrays, differ in length."""
    sizes = {len(part): f"{name} has {len(part)}" for name, part in lists.items()}
    if len(sizes) > 1:
        said = " and ".join(list(sizes.values())[:2])
        raise ValueError(f"its {what} must have the same length; {said}")


def _row(value: object, line: int) -> Object:
    if not isinstance(value, dict):
        raise ValueError(f"row {line} must be a JSON object; got {json.dumps(value)[:_LONGEST]}")
    return value


def _table_at(document: object, path: str) -> JsonRows:
    """Return the rows at a path; of lists of objects on it those of all, with the numbers and texts beside them."""
    if not path:
        return _table_of(document)
    step, _, below = path.partition(".")
    if not _are_objects(document) or step.isdecimal():
        part = value_at(document, step)
        if part is None:
            raise ValueError(f"there is nothing at {path}")
        return _table_at(part, below)
    rows = []
    for part in document:
        rows += [{**_single_in(part), **row} for row in _table_at(part, path).objects]
    return JsonRows(rows)


def _table_of(document: object) -> JsonRows:
    """Return the rows that a document holds in one of the forms of pandas: records, split, index, columns, lists."""
    if document == [] or _are_objects(document):
        return JsonRows(document)
    columns = document if isinstance(document, dict) else {}
    names = columns.get("columns")
    data = columns.get("data")
    if isinstance(names, list) and isinstance(data, list):
        return JsonRows(_with_ids(columns.get("index"), _named(names, data)))
    if {type(part) for part in columns.values()} == {dict}:
        return JsonRows(_rows_by_key(columns))
    return _table_of_lists(columns)


def _table_of_lists(document: Object) -> JsonRows:
    """Return the rows of lists of one length, each with the numbers and texts of a document."""
    lists = {name: part for name, part in document.items() if isinstance(part, list)}
    alike = of_common_size(lists)
    if not alike or len(alike) == 1 < len(document):
        raise ValueError(
            "it must be a list of objects, or an object of columns or with one list of objects"
        )
    require_one_size(alike, "lists")
    further = {name: part for name, part in document.items() if name not in alike}
    each = _single_in(further)
    rows = _named(alike, zip(*alike.values(), strict=True))
    beside = tuple((name, _what(part)) for name, part in further.items() if name not in each)
    return JsonRows([{**each, **row} for row in rows], beside=beside)


def _single_in(document: Object) -> Object:
    """Return the numbers and texts of an object."""
    return {name: part for name, part in document.items() if not isinstance(part, dict | list)}


def _named(
    names: Iterable[str],
    rows: Iterable[Iterable[object]],
) -> list[Object]:
    names = list(names)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _rows_by_key(document: dict[str, Object]) -> list[Object]:
    """Return the rows of objects by their ids; or of columns, if a name says so, or rows are numbered."""
    if _is_of_columns(document):
        ids = dict.fromkeys(name for column in document.values() for name in column)
        document = {
            one: {name: column.get(one) for name, column in document.items()} for one in ids
        }
    return _with_ids(list(document), list(document.values()))


def _with_ids(keys: object, rows: list[Object]) -> list[Object]:
    """Return rows with their keys as ids, unless they have ids, or these only count them."""
    texts = list(map(str, keys)) if isinstance(keys, list) else []
    first = int(texts[0]) if texts and texts[0].isdecimal() else 0
    are_counted = texts == [str(first + place) for place in range(len(texts))] and first < 2
    if len(texts) != len(rows) or are_counted or "id" in rows[0]:
        return rows
    return [{"id": key, **row} for key, row in zip(texts, rows, strict=True)]


def _is_of_columns(document: dict[str, Object]) -> bool:
    """Return whether a name is that of a role, or what is within is numbered, and names are not."""
    if not {name.lower() for name in document}.isdisjoint(_OF_ROWS):
        return True
    first = next(iter(document.values()))
    return all(map(str.isdecimal, first)) and not all(map(str.isdecimal, document))


def _are_objects(part: object) -> TypeGuard[list[Object]]:
    if not isinstance(part, list):
        return False
    return bool(part) and all(isinstance(row, dict) for row in part)
