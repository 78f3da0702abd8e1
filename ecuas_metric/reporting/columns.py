"""What is in which column of a file: the roles of columns, and the names they are known by."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from ..errors import InputError
from .files import FileAdvice, FileError

NAMES = {  # the role of a column -> the names it is known by, lower case
    "confidence": ("confidence", "confidences", "conf", "q_e"),
    "correct": ("correct", "is_correct", "correctness"),
    "label": ("label", "labels", "target", "true_label"),
    "posteriors": ("posteriors", "probabilities", "probs", "logits", "log_probabilities", "scores"),
    "system": ("system", "model"),
    "id": ("id", "question_id", "sample_id"),
    "weight": (),
    "group": (),
    "stratum": (),
}
ARE_TEXT = ("system", "id", "group", "stratum")
POSTERIOR_COLUMN = re.compile(r"(prob|p|probability|posterior|logit|score)_?(\d+)")
Columns = Mapping[str, Sequence[str]]  # role -> its columns: none, one, or several for posteriors and system


def text_columns(columns: Mapping[str, str] | None = None) -> set[str]:
    """Return the names of columns that hold names and ids, and must be read as text.

    Parameters
    ----------
    columns : mapping, optional
        See `read_submissions`.

    Returns
    -------
    set of str
        In lower case.

    Examples
    --------
    >>> "question" in text_columns({"id": "Question"}), "id" in text_columns(), "confidence" in text_columns()
    (True, True, False)
    """
    given = columns or {}
    return {name for role in ARE_TEXT for name in (*NAMES[role], *given.get(role, "").strip().lower().split("+"))}


def find_columns(frame: pd.DataFrame, given: Mapping[str, str], file: str) -> dict[str, list[str]]:
    """Return the columns of each role of `NAMES`.

    Parameters
    ----------
    frame : DataFrame
    given : mapping of str to str
        Role to name, where the name in the file does not say; see `read_submissions`.
    file : str
        For errors.

    Returns
    -------
    dict of str to list of str
        No column, one, or several for posteriors and system. Posteriors are in the order of their numbers.

    Raises
    ------
    InputError
        If `given` has an unknown role.
    FileError
        If it names a column that the frame does not have; if two columns are known by the names of one role; if
        columns of posteriors are not numbered from 0 without a gap.

    Examples
    --------
    >>> used = find_columns(pd.DataFrame(columns=["p_1", "p_0", "Label"]), {}, "a.csv")
    >>> used["posteriors"], used["label"], used["id"]
    (['p_0', 'p_1'], ['Label'], [])
    """
    unknown = [role for role in given if role not in NAMES]
    if unknown:
        raise InputError("columns", f"must be among {', '.join(NAMES)}", value=unknown[0])
    by_name: dict[str, list[str]] = {}
    for name in frame.columns:
        by_name.setdefault(name.strip().lower(), []).append(name)
    used = {}
    for role, names in NAMES.items():
        if role in given:
            parts = given[role].split("+") if role == "system" else [given[role]]
            used[role] = [_named(part, by_name, frame, file) for part in parts]
        else:
            used[role] = _only([name for known in names for name in by_name.get(known, [])], role, file)
    if not used["posteriors"]:
        used["posteriors"] = _posterior_columns(by_name, file)
    return used


def require_form(frame: pd.DataFrame, used: Columns, file: str) -> None:
    """Raise FileError unless there are columns of one of the two forms of input.

    Parameters
    ----------
    frame : DataFrame
    used : mapping of str to sequence of str
        Of `find_columns`.
    file : str

    Raises
    ------
    FileError
        If confidence or correct is missing, and label or the posteriors are.
    """
    if not (used["confidence"] and used["correct"]) and not (used["label"] and used["posteriors"]):
        rule = f"there must be columns confidence and correct, or label and prob_0, prob_1, ..; found {_listed(frame)}"
        raise FileError(file, rule, advice=FileAdvice.NAME_COLUMNS)


def _named(part: str, by_name: Mapping[str, list[str]], frame: pd.DataFrame, file: str) -> str:
    if part in frame.columns:
        return part
    found = by_name.get(part.strip().lower(), [])
    if not found:
        raise FileError(file, f"there is no column {part!r}; found {_listed(frame)}")
    return _only(found, part, file)[0]


def _only(found: list[str], role: str, file: str) -> list[str]:
    if len(found) > 1:
        rule = f"columns {found[0]!r} and {found[1]!r} may both be the {role}"
        raise FileError(file, rule, advice=FileAdvice.SAY_WHICH)
    return found


def _posterior_columns(by_name: Mapping[str, list[str]], file: str) -> list[str]:
    numbered: dict[str, dict[int, str]] = {}
    for name, columns in by_name.items():
        if match := POSTERIOR_COLUMN.fullmatch(name):
            numbered.setdefault(match[1], {})[int(match[2])] = columns[0]
    if len(numbered) > 1:
        both = [f"{prefix}_.." for prefix in numbered]
        rule = f"columns {both[0]} and {both[1]} may both be the posteriors"
        raise FileError(file, rule, advice=FileAdvice.KEEP_ONE)
    for prefix, by_number in numbered.items():
        ordered = [by_number[k] for k in sorted(by_number)]
        if sorted(by_number) != list(range(len(by_number))):
            rule = f"columns of posteriors must be numbered from 0 without a gap, {prefix}_0 to "
            raise FileError(file, f"{rule}{prefix}_{len(by_number) - 1}; found {', '.join(ordered[:20])}")
        return ordered
    return []


def _listed(frame: pd.DataFrame) -> str:
    return ", ".join(frame.columns[:20]) + (", .." if len(frame.columns) > 20 else "")
