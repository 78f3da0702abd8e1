"""The text of JSON documents -> the rows of a table, in the forms in which tools and pandas write them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from ..errors import InputError, quoted
from .values import value_at

Object = dict[str, object]  # of JSON
_SPACE = re.compile(r"\s*")
_CLOSING = re.compile(r"[,\]}]")  # or else what is broken is cut
_LONG = 10  # values of a list
_LONGEST = 40  # characters of a value in an error


@dataclass(frozen=True, slots=True)
class JsonRows:
    """The rows of a table, the lines on which they begin where each is a document, and the path of their list."""

    objects: list[Object]
    lines: list[int] | None = None
    path: str = ""
    # other lists, which are not read: paths, and what they hold
    beside: tuple[tuple[str, str], ...] = ()


def rows_in(text: str, path: str = "") -> JsonRows:
    """Return the rows of a document, or of rows one after the other: a list or object has them, or each line is one.

    InputError if several lists may be those of the rows, and `path` names none; ValueError if it is broken.
    """
    documents = list(_documents(text))
    if not documents:
        return JsonRows([])
    _, document = documents[0]
    if len(documents) > 1 or _is_row(document):
        return JsonRows(
            [_row(value, line) for line, value in documents], [line for line, _ in documents]
        )
    nested = dict(_lists_in(document))
    if path:
        return JsonRows(_rows_at(document, path), path=path, beside=_beside(nested, path))
    if not nested:
        return JsonRows(_rows_of(document))
    if len(nested) > 1:
        raise several_lists({name: len(rows) for name, rows in nested.items()})
    ((name, objects),) = nested.items()
    return JsonRows(objects, path=name)


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


def _beside(
    nested: Mapping[str, Sequence[Object]],
    path: str,
) -> tuple[tuple[str, str], ...]:
    """Return the lists that are neither at a path nor around it, with their sizes."""
    names = (name for name in nested if name != path and not path.startswith(f"{name}."))
    return tuple((name, f"{len(nested[name])} rows") for name in names)


def _documents(text: str) -> Iterator[tuple[int, object]]:
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
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has {repeated!r} twice")
    return found


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _is_row(document: object) -> bool:
    """Return whether a single document is a row: of numbers and texts, and lists of these."""
    parts = list(document.values()) if isinstance(document, dict) else []
    lists = [part for part in parts if isinstance(part, list)]
    inner = [value for part in lists for value in part]
    are_plain = not any(isinstance(value, dict) for value in parts)
    are_plain &= not any(isinstance(value, dict | list) for value in inner)
    return are_plain and len(lists) < len(parts) and not _are_columns(lists)


def _are_columns(lists: Sequence[Sequence[object]]) -> bool:
    """Return whether there are several long lists of one length, which one row hardly has."""
    sizes = set(map(len, lists))
    return len(lists) > 1 == len(sizes) and min(sizes) >= _LONG


def _row(value: object, line: int) -> Object:
    if not isinstance(value, dict):
        raise ValueError(f"row {line} must be a JSON object; got {json.dumps(value)[:_LONGEST]}")
    return value


def _rows_at(document: object, path: str) -> list[Object]:
    """Return the rows at a path; of a list of objects those of each, with its numbers and texts as further columns."""
    if not _are_objects(document):
        return _rows_of(_part_at(document, path))
    rows = []
    for part in document:
        beside = {name: value for name, value in part.items() if not isinstance(value, dict | list)}
        rows += [{**beside, **row} for row in _rows_of(_part_at(part, path))]
    return rows


def _part_at(document: object, path: str) -> object:
    part = value_at(document, path)
    if part is None:
        raise ValueError(f"there is nothing at {path}")
    return part


def _rows_of(document: object) -> list[Object]:
    """Return the rows that a document holds in one of the forms of pandas: records, split, index, columns, lists."""
    if document == [] or _are_objects(document):
        return document
    columns = document if isinstance(document, dict) else {}
    names = columns.get("columns")
    data = columns.get("data")
    if isinstance(names, list) and isinstance(data, list):
        return _named(names, data)
    kinds = {type(part) for part in columns.values()}
    if kinds == {dict}:
        _refuse_tables(columns)
        return _rows_by_key(columns)
    lists = {name: part for name, part in columns.items() if isinstance(part, list)}
    if kinds == {list} or (_are_columns([*lists.values()]) and dict not in kinds):
        return _rows_of_columns(lists, columns)
    raise ValueError(
        "it must be a list of objects, or an object of columns or with one list of objects"
    )


def _rows_of_columns(lists: Mapping[str, Sequence[object]], document: Object) -> list[Object]:
    """Return the rows of lists of one length, each with what else a document has."""
    beside = {name: part for name, part in document.items() if name not in lists}
    rows = zip(*lists.values(), strict=True)
    return [{**beside, **row} for row in _named(lists, rows)]


def _refuse_tables(document: dict[str, Object]) -> None:
    """Raise InputError if each part of a document is a table of its own, an object of lists."""
    parts = {name: list(part.values()) for name, part in document.items()}
    if all(isinstance(value, list) for part in parts.values() for value in part):
        raise several_lists({name: _longest_in(part) for name, part in parts.items()})


def _longest_in(parts: Iterable[object]) -> int:
    """Return the number of values of the longest list, 0 if there is none."""
    return max((len(part) for part in parts if isinstance(part, list)), default=0)


def _named(
    names: Iterable[str],
    rows: Iterable[Iterable[object]],
) -> list[Object]:
    names = list(names)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _rows_by_key(document: dict[str, Object]) -> list[Object]:
    """Return the rows of objects by the numbers or ids of rows; by the names of columns, if rows are numbered."""
    first = next(iter(document.values()))
    has_numbers = all(map(str.isdecimal, document))
    if all(map(str.isdecimal, first)) and not has_numbers:
        numbers = dict.fromkeys(number for part in document.values() for number in part)
        return [{name: part.get(number) for name, part in document.items()} for number in numbers]
    if has_numbers or "id" in first:
        return list(document.values())
    return [{"id": name, **row} for name, row in document.items()]


def _lists_in(value: object) -> list[tuple[str, list[Object]]]:
    """Return the lists of objects in nested objects, with their dotted paths."""
    lists: list[tuple[str, list[Object]]] = []
    for name, part in value.items() if isinstance(value, dict) else ():
        if _are_objects(part):
            lists.append((name, part))
        lists += [(f"{name}.{path}", rows) for path, rows in _lists_in(part)]
    return lists


def _are_objects(part: object) -> TypeGuard[list[Object]]:
    if not isinstance(part, list):
        return False
    return bool(part) and all(isinstance(row, dict) for row in part)
