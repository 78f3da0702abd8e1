"""JSON as tools nest it -> a table: rows, columns, both apart, or rows among other things."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from ..inputs import Ints

ROWS = "samples"  # where several lists hold objects: those of Inspect's logs


def table_of_json(content: str) -> pd.DataFrame:
    """Return the table of a JSON document, or of JSON lines.

    A list of objects; an object of columns, or of rows under their numbers; ``{"columns": [...], "data": [[...]]}``, as
    pandas ("split"), MLflow and Weights & Biases write it; or an object of which one part is a list of objects.

    Parameters
    ----------
    content : str

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        If it is something else.

    Examples
    --------
    >>> table_of_json('{"columns": ["a", "b"], "data": [[1, 2], [3, 4]]}').to_dict("list")
    {'a': [1, 3], 'b': [2, 4]}
    >>> table_of_json('{"name": "run", "samples": [{"a": 1}, {"a": 3}]}')["a"].tolist()
    [1, 3]
    """
    try:
        value = json.loads(content)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and (rows := _objects(content)) is not None:  # JSON lines, by many tools
            return pd.DataFrame(rows)
        raise
    if isinstance(value, list) and all(isinstance(row, dict) for row in value):
        return pd.DataFrame(value)
    frame = _table_of_object(value) if isinstance(value, dict) else None
    if frame is None:
        raise ValueError("it must be a list of objects, or an object of columns or with one list of objects")
    return frame


def rows_of_lines(content: str) -> tuple[pd.DataFrame, Ints]:
    """Return the table of JSON lines, or of other JSON that was called so, and the number of each row's line.

    Raises
    ------
    ValueError
        Names the first row that is no object.
    """
    rows: list[dict[str, Any]] = []
    numbers = []
    # Not splitlines: the text of a language model may hold other characters that end lines.
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            if not rows and (objects := _objects(content)) is not None:
                return pd.DataFrame(objects), np.arange(len(objects)) + 1
            raise ValueError(f"row {number} is not JSON: {error.msg}") from None
        if not isinstance(row, dict):
            raise ValueError(f"row {number} must be a JSON object; got {line[:40]}")
        rows.append(row)
        numbers.append(number)
    return pd.DataFrame(rows), np.array(numbers, dtype=np.int64)


def _table_of_object(value: dict[str, Any]) -> pd.DataFrame | None:
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return pd.DataFrame(data, columns=[str(name) for name in names])
    parts = {name: part for name, part in value.items() if _are_objects(part)}
    if all(isinstance(part, dict) for part in value.values()) and value:
        by_number = all(map(str.isdecimal, value)) and not any(
            str(key).isdecimal() for key in next(iter(value.values()))
        )
        return pd.DataFrame.from_dict(value, orient="index") if by_number else pd.DataFrame(value)
    if all(isinstance(part, list) for part in value.values()) and (len(value) > 1 or not parts):
        if len({len(part) for part in value.values()}) > 1:
            raise ValueError("its columns must have the same length")
        return pd.DataFrame(value)
    if len(parts) > 1 and ROWS not in parts:
        raise ValueError(f"it must have one list of objects; it has {', '.join(parts)}")
    return pd.DataFrame(parts.get(ROWS, next(iter(parts.values())))) if parts else None


def _are_objects(part: object) -> bool:
    return isinstance(part, list) and len(part) > 0 and all(isinstance(row, dict) for row in part)


def _objects(content: str) -> list[object] | None:
    """Return the objects of a JSON list, or of objects one after the other."""
    decoder, position = json.JSONDecoder(), 0
    rows: list[object] = []
    try:
        while position < len(content.rstrip()):
            value, position = decoder.raw_decode(content, position)
            rows += value if isinstance(value, list) else [value]
            while position < len(content) and content[position].isspace():
                position += 1
    except ValueError:
        return None
    return rows if rows and all(isinstance(row, dict) for row in rows) else None
