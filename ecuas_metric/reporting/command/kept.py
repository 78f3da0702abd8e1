"""What a command reads it does not write: one check of all of its files, by whichever of their names."""

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import product, starmap
from pathlib import Path
from typing import NamedTuple

from ...errors import FileError
from ...files.read import STANDARD_INPUT, parts_in
from ...files.runs import FILE_NAMES
from .flags import Parameter
from .parameters import beside
from .reading import parse_file

# what is read of a folder, besides the parts of a table
_OF_FOLDERS = re.compile("|".join([*FILE_NAMES.values(), r".*\.parquet"]))

_Given = tuple[Parameter, list[str]]  # with its values


class _Output(NamedTuple):
    path: str
    flag: str
    is_named: bool = (
        True  # on the command line, and not found in a folder to which a command writes
    )

    def error(self, rule: str) -> FileError:
        return FileError(self.path, rule, advice="name_another_output", flag=self.flag)


def require_kept(parameters: Iterable[Parameter], values: Mapping[str, object]) -> None:
    """Raise FileError if a file that a command reads would be overwritten, or one would be written twice."""
    given = [(one, _texts(values.get(one.name, one.default))) for one in parameters]
    errors: dict[object, FileError] = {}
    for output in _outputs(given):
        identity = _identity(output.path)
        if identity in errors and output.is_named:
            raise output.error("written_twice")
        if identity is not None:
            errors[identity] = output.error("file_is_read")
    for number, name in {1: "standard output", 2: "standard error"}.items():
        error = FileError(name, "file_is_read", advice="redirect_elsewhere")
        errors.setdefault(_identity(number), error)
    are_there = [isinstance(identity, tuple) for identity in errors]
    for path in _inputs(given) if any(are_there) else ():
        identity = _identity(path)
        if isinstance(identity, tuple) and identity in errors:
            raise errors[identity]


def _texts(value: object) -> list[str]:
    """Return which of the values of a parameter, one or several, are texts."""
    values = value if isinstance(value, list | tuple) else [value]
    return [one for one in values if isinstance(one, str)]


def _outputs(given: Iterable[_Given]) -> Iterator[_Output]:
    """Yield the files that a command writes, and those that are there of the ones that it may write to folders."""
    suffixes = [one.flag.beside for one, texts in given if one.flag.beside and texts]
    for one, texts in given:
        for path, name in product(texts, one.flag.writes):
            if name:
                found = Path(path).glob(name)
                yield from (_Output(str(file), one.text, is_named=False) for file in found)
            else:
                yield _Output(path, one.text)
        if one.name == "output":
            further = starmap(beside, product(texts, suffixes))
            yield from (_Output(path, one.text) for path in further)


def _inputs(given: Iterable[_Given]) -> Iterator[str | int]:
    """Yield the files that a command reads, and the number of standard input."""
    for one, texts in given:
        for text in texts if one.flag.reads else ():
            path = parse_file(text).path
            if path == STANDARD_INPUT:
                yield 0
            else:
                yield from _files_read(path)


def _files_read(path: str) -> Iterator[str]:
    """Yield the files that may be read of a path, a folder, a pattern, or an address on this machine."""
    from fsspec.implementations.local import LocalFileSystem

    files = LocalFileSystem()
    place = files._strip_protocol(path)
    if os.path.isdir(place):
        with suppress(FileError):
            yield from (os.path.join(place, part) for part in parts_in(Path(place)))
        names = files.find(place)
        yield from (name for name in names if _OF_FOLDERS.fullmatch(os.path.basename(name)))
    elif glob.has_magic(place) and not os.path.exists(place):
        yield from files.glob(place)
    else:
        yield place
        if os.path.basename(place).startswith("samples_"):  # of lm-eval, which has results beside
            yield from glob.glob(os.path.join(os.path.dirname(place), "results_*.json"))


def _identity(path: str | int) -> object:
    """Return device and number of a file, the path of one that is not there, or None of what is no file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return os.path.realpath(path) if isinstance(path, str) else None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
