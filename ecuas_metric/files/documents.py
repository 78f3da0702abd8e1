"""The text of JSON documents, as tools and pandas write tables -> rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeGuard, TypeVar

from ..errors import InputError
from .recipe import FORM_ROLES, NAMES
from .values import value_by_path

Object = dict[str, object]  # of JSON
_T = TypeVar("_T", bound=Sized)
_SPACE = re.compile(r"\s*")
_CLOSING = re.compile(r"[,\]}]")  # where none follows an error, the document is cut off
# names of columns, of which each row has its own value
_ROW_NAMES = {name for role in FORM_ROLES for name in NAMES[role]}
_LONGEST = 40  # characters of a value in an error


@dataclass(frozen=True, slots=True)
class JsonRows:
    """The rows of a table; their lines in the file if each row is a document; and the path of their list."""

    objects: list[Object]
    lines: list[int] | None = None
    path: str = ""
    # parts of the document that are not read: paths, and what they hold
    beside: tuple[tuple[str, str], ...] = ()


def parse_rows(text: str, path: str = "") -> JsonRows:
    """Return the rows in a JSON document, at a dotted path if it is not empty, or in one document for each row.

    InputError if several lists may be the rows and there is no path; ValueError if the JSON is broken or has no table.
    """
    numbered = list(parse_documents(text))
    if not numbered:
        return JsonRows([])
    lines, documents = map(list, zip(*numbered, strict=True))
    whole = documents if len(documents) > 1 else documents[0]
    if not path and (len(documents) > 1 or _is_row(whole)):
        return JsonRows(list(map(_check_row, documents, lines)), lines)
    path = path or _find_path(whole)
    return replace(_parse_at_path(whole, path), path=path)


def _find_path(document: object) -> str:
    """Return the path of the only table within a document, nothing if it is one itself; InputError for several."""
    if _has_columns(document):
        return ""
    tables = _find_tables(document, _are_objects) or _find_tables(document, _has_lists_only)
    if len(tables) > 1:
        sizes = {name: len(_parse_table(part).objects) for name, part in tables.items()}
        raise several_lists_error(sizes)
    return next(iter(tables), "")


def _find_tables(document: object, is_table: Callable[[object], bool]) -> dict[str, object]:
    """Return the parts of a document that are tables, by their dotted paths."""
    tables = {}
    for name, part in _fields(document).items():
        if is_table(part):
            tables[name] = part
        inner = {} if name in tables else _find_tables(part, is_table)
        tables |= {f"{name}.{below}": one for below, one in inner.items()}
    return tables


def _has_lists_only(part: object) -> bool:
    columns = _fields(part).values()
    return bool(columns) and all(isinstance(column, list) and column for column in columns)


def several_lists_error(sizes: Mapping[str, int]) -> InputError:
    """Return the error about several lists or sheets of rows, from the number of rows of each."""
    got = ", ".join(f"{name} ({size} rows)" for name, size in sizes.items())
    longest = max(sizes, key=lambda name: sizes[name])
    columns = {"rows": longest}
    return InputError("rows", "several_lists", got=got, advice="name_list", columns=columns)


def _describe(part: object) -> str:
    """Return a short description of a part of a document: "3 rows"."""
    if isinstance(part, str):
        return "1 text"
    if isinstance(part, dict):
        return format_count(len(part), "field")
    if _are_objects(part):
        return format_count(len(part), "row")
    return format_count(len(part) if isinstance(part, list) else 1, "value")


def format_count(size: object, noun: str) -> str:
    """Return a number and its noun: "1 value", "2x3 values"."""
    return f"{size} {noun}" if size == 1 else f"{size} {noun}s"


def parse_documents(text: str) -> Iterator[tuple[int, object]]:
    """Yield the JSON values in a text, each with the line on which it begins; ValueError if one is broken."""
    decoder = json.JSONDecoder(object_pairs_hook=_make_object)
    position = _skip_space(text, 0)
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
        end = _skip_space(text, end)
        line += text.count("\n", position, end)
        position = end


def _make_object(pairs: list[tuple[str, object]]) -> Object:
    """Return an object from its fields; ValueError if a name is repeated, since only one value would count."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has {repeated!r} twice")
    return values


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _is_row(document: object) -> bool:
    """Return whether a single document is one row: an object of numbers, texts and flat lists.

    With several lists of one length it is a table, unless a confidence, truth or the like stands beside them as a
    single value.
    """
    parts = _fields(document)
    lists = [part for part in parts.values() if isinstance(part, list)]
    single = {name.lower(): part for name, part in parts.items() if not isinstance(part, list)}
    is_table = common_size(map(len, lists)) > 1 and single.keys().isdisjoint(_ROW_NAMES)
    are_nested = {type(part) for part in (*single.values(), *chain.from_iterable(lists))} & {
        dict,
        list,
    }
    return bool(single) and not is_table and not are_nested


def _has_columns(document: object) -> bool:
    """Return whether an object has two lists or objects with names of columns."""
    parts = _fields(document)
    named = [name for name, part in parts.items() if isinstance(part, list | dict)]
    return sum(name.lower() in _ROW_NAMES for name in named) > 1


def common_size(sizes: Iterable[int]) -> int:
    """Return the largest size that occurs at least twice, that of the columns of a table; 0 if none does."""
    counts = Counter(sizes)
    return max((size for size, count in counts.items() if count > 1), default=0)


def select_common_size(lists: Mapping[str, _T]) -> dict[str, _T]:
    """Return the lists of the size `common_size`; all of them if no two have one size."""
    size = common_size(map(len, lists.values()))
    return {name: part for name, part in lists.items() if len(part) == size or not size}


def require_one_size(lists: Mapping[str, Sized], what: str) -> None:
    """Raise ValueError if lists or arrays, called `what`, differ in length."""
    sizes = {len(part): f"{name} has {len(part)}" for name, part in lists.items()}
    if len(sizes) > 1:
        two = " and ".join(list(sizes.values())[:2])
        raise ValueError(f"its {what} must have the same length; {two}")


def _check_row(value: object, line: int) -> Object:
    """Return a value that is an object; ValueError for any other."""
    if not isinstance(value, dict):
        raise ValueError(f"row {line} must be a JSON object; got {json.dumps(value)[:_LONGEST]}")
    return value


def _parse_at_path(document: object, path: str) -> JsonRows:
    """Return the rows at a path, and what stands beside it."""
    if not path:
        return _parse_table(document)
    parts = _fields(document)
    step, below = _split_path(path, parts)
    if _are_objects(document) and not step.isdecimal():
        return JsonRows(list(chain.from_iterable(_rows_within(part, path) for part in document)))
    part = parts[step] if step in parts else value_by_path(document, step)
    if part is None:
        raise ValueError(f"there is nothing at {path}")
    table = _parse_at_path(part, below)
    others = [(name, _describe(other)) for name, other in parts.items() if name != step]
    within = [(f"{step}.{name}", what) for name, what in table.beside]
    return replace(table, beside=(*others, *within))


def _split_path(path: str, names: Collection[str]) -> tuple[str, str]:
    """Return the first step of a dotted path, which may be a name with points, and the path from there."""
    step, _, below = path.partition(".")
    return (path, "") if path in names else (step, below)


def _rows_within(document: Object, path: str) -> Iterator[Object]:
    """Yield the rows at a path, each with the numbers and texts that the document has for all of them."""
    for row in _parse_at_path(document, path).objects:
        yield {**_scalar_fields(document), **row}


def _parse_table(document: object) -> JsonRows:
    """Return the rows of a document in a form that pandas writes (records, split, index, columns), or of lists."""
    if document == [] or _are_objects(document):
        return JsonRows(document)
    columns: Any = _fields(document)
    names = columns.get("columns")
    data = columns.get("data")
    if isinstance(names, list) and isinstance(data, list):
        return JsonRows(_add_ids(columns.get("index"), _make_rows(names, data)))
    if {type(part) for part in columns.values()} == {dict}:
        return JsonRows(_rows_by_key(columns))
    return _parse_lists(columns)


def _parse_lists(document: Object) -> JsonRows:
    """Return the rows of an object of lists of one length, each row with the object's numbers and texts."""
    lists = {name: part for name, part in document.items() if isinstance(part, list)}
    alike = select_common_size(lists)
    if not alike or len(alike) == 1 < len(document):
        raise ValueError(
            "it must be a list of objects, or an object of columns or with one list of objects"
        )
    require_one_size(alike, "lists")
    further = {name: part for name, part in document.items() if name not in alike}
    each = _scalar_fields(further)
    rows = _make_rows(alike, zip(*alike.values(), strict=True))
    beside = tuple((name, _describe(part)) for name, part in further.items() if name not in each)
    return JsonRows([{**each, **row} for row in rows], beside=beside)


def _scalar_fields(document: Object) -> Object:
    """Return the fields of an object that are neither objects nor lists."""
    return {name: part for name, part in document.items() if not isinstance(part, dict | list)}


def _make_rows(
    names: Iterable[str],
    rows: Iterable[Iterable[object]],
) -> list[Object]:
    names = list(names)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _rows_by_key(document: dict[str, Object]) -> list[Object]:
    """Return the rows of an object of objects, {id: row} or {column: {id: value}}."""
    if _is_keyed_by_column(document):
        ids = dict.fromkeys(name for column in document.values() for name in column)
        document = {
            one: {name: column.get(one) for name, column in document.items()} for one in ids
        }
    return _add_ids(list(document), list(document.values()))


def _add_ids(keys: object, rows: list[Object]) -> list[Object]:
    """Return rows with their keys as ids, unless they have ids, or the keys only number them from 0 or 1."""
    texts = list(map(str, keys)) if isinstance(keys, list) else []
    first = int(texts[0]) if texts and texts[0].isdecimal() else 0
    are_counted = texts == [str(first + place) for place in range(len(texts))] and first < 2
    if len(texts) != len(rows) or are_counted or "id" in rows[0]:
        return rows
    return [{"id": key, **row} for key, row in zip(texts, rows, strict=True)]


def _is_keyed_by_column(document: dict[str, Object]) -> bool:
    """Return whether an object of objects is {column: {id: value}}, and not {id: row}.

    It is if its names are those of columns, or only the inner names are numbers.
    """
    if not {name.lower() for name in document}.isdisjoint(_ROW_NAMES):
        return True
    first = next(iter(document.values()))
    return all(map(str.isdecimal, first)) and not all(map(str.isdecimal, document))


def _fields(document: object) -> Object:
    """Return the fields of an object, none of anything else."""
    return document if isinstance(document, dict) else {}


def _are_objects(part: object) -> TypeGuard[list[Object]]:
    if not isinstance(part, list):
        return False
    return bool(part) and all(isinstance(row, dict) for row in part)
