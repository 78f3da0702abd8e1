"""What is written on the command line -> the columns of each file, the names of systems, the metrics to show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import FileError, InputError
from ..files.columns import NAMES
from ..files.sources import STANDARD_INPUT
from ..metrics import METRICS, Key
from .report import title

PAIRS = re.compile(rf",(?=\s*(?:[^,=]*:)?\s*(?:{'|'.join(NAMES)})\s*=)")  # the commas that are in no column's name


class Named(NamedTuple):
    """A file of the command line, with the name that was given to its system, if one was."""

    name: str | None
    path: str


def named_file(text: str) -> Named:
    """Return the file of NAME=FILE, or of FILE.

    Examples
    --------
    >>> named_file("GPT-4=runs/a.csv"), named_file("runs/a.csv")
    (Named(name='GPT-4', path='runs/a.csv'), Named(name=None, path='runs/a.csv'))
    """
    name, equals, path = text.partition("=")
    if not equals or not name or "/" in name or "\\" in name or (text != STANDARD_INPUT and Path(text).exists()):
        return Named(None, text)
    return Named(name, path)


def columns_of_files(texts: Iterable[str], files: Sequence[Named]) -> list[dict[str, str]]:
    """Return the columns of each file by their roles.

    Parameters
    ----------
    texts : iterable of str
        ROLE=COLUMN, several of them joined by commas; for one file FILE:ROLE=COLUMN or NAME:ROLE=COLUMN.
    files : sequence of Named

    Returns
    -------
    list of dict of str to str

    Examples
    --------
    >>> columns_of_files(["confidence=p(a, b),b.csv:confidence=q"], [Named(None, "a.csv"), Named(None, "b.csv")])
    [{'confidence': 'p(a, b)'}, {'confidence': 'q'}]
    """
    common: dict[str, str] = {}
    special: list[dict[str, str]] = [{} for _ in files]
    for part in (part for text in texts for part in PAIRS.split(text) if part.strip()):
        role, equals, column = part.partition("=")
        if not equals:
            raise InputError("--columns", "takes ROLE=COLUMN pairs", value=part)
        file, colon, role = role.strip().rpartition(":")
        if not colon:
            common[role] = column.strip()
            continue
        meant = [i for i, one in enumerate(files) if file in (one.name, one.path, Path(one.path).name)]
        if not meant:
            raise InputError("--columns", "names a file or system that is not there", value=file)
        for i in meant:
            special[i][role] = column.strip()
    return [common | own for own in special]


def chosen_keys(text: str | None, keys: Sequence[Key]) -> list[Key]:
    """Return the metrics that a text names: by their keys or as tables show them, in any case.

    Parameters
    ----------
    text : str or None
        Names joined by commas, or spaces between those without; None is all.
    keys : sequence of Key

    Returns
    -------
    list of Key

    Raises
    ------
    InputError
        If there is no such metric; it lists them.

    Examples
    --------
    >>> [str(key) for key in chosen_keys("ECUAS_0, er", [Key("error_rate"), Key("ecuas", 0.0)])]
    ['ecuas_0', 'error_rate']
    """
    if text is None:
        return list(keys)
    names = {name: key for key in keys for name in (_simple(title(key)), _simple(METRICS[key.metric].title), str(key))}
    names |= {str(key): key for key in keys}
    names |= {_simple(title(key)): key for key in keys}
    parts = [part.strip() for part in text.split(",") if part.strip()]
    parts = [word for part in parts for word in ([part] if _simple(part) in names else part.split())]
    unknown = [part for part in parts if _simple(part) not in names]
    if unknown or not parts:
        known = ", ".join(str(key) for key in keys)
        raise InputError("--metrics", f"must be among {known}", value=unknown[0] if unknown else text)
    return list(dict.fromkeys(names[_simple(part)] for part in parts))


def refuse_clashes(names: Sequence[str], paths: Sequence[str]) -> None:
    """Raise FileError if two systems have the same name.

    Parameters
    ----------
    names, paths : sequence of str
        Of each system.
    """
    for name, path in zip(names, paths, strict=True):
        if names.count(name) > 1:
            rule = f"holds a system {name!r} as another file does"
            raise FileError(path, rule, advice="Name them: NAME=FILE.")


def told_apart(names: Sequence[str], paths: Sequence[str], stems: Sequence[str]) -> list[str]:
    """Return names that differ where files did: with their folders, or else with their suffixes.

    Examples
    --------
    >>> told_apart(["a", "a", "b"], ["x/a.csv", "y/a.csv", "b.csv"], ["a", "a", "b"])
    ['x/a', 'y/a', 'b']
    >>> told_apart(["a", "a"], ["a.csv", "a.jsonl"], ["a", "a"])
    ['a.csv', 'a.jsonl']
    """
    with_folders = [str(Path(path).with_name(stem)) if stem else path for path, stem in zip(paths, stems, strict=True)]
    told = list(names)
    for longer in (with_folders, paths):
        repeated = {name for name in told if told.count(name) > 1}
        told = [
            longer[i] if name in repeated and names[i] == stems[i] else name  # not one that was given
            for i, name in enumerate(told)
        ]
    return told


def _simple(text: str) -> str:
    return re.sub(r"[\s↑↓†]+", " ", text).strip().lower().replace("∞", "inf")
