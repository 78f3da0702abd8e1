"""A command does not overwrite what it reads: one check of all its files, whatever their names."""

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product, starmap
from pathlib import Path
from typing import NamedTuple

from ...errors import FileError
from ...files.read import STANDARD_INPUT, list_parts
from ...files.runs import FILE_NAMES, TOTALS_BESIDE
from .flags import Parameter
from .parameters import sibling_path
from .reading import parse_file

# files that are read in a folder, besides the parts of a table
_FOLDER_FILES = re.compile("|".join([*FILE_NAMES.values(), r".*\.parquet"]))
_LOCAL = re.compile("^(file|local):(//)?")  # of addresses on this machine
_Values = tuple[Parameter, list[str]]  # with its values


class _Output(NamedTuple):
    path: str | int
    name: str
    flag: str = ""  # none of a stream
    is_named: bool = False  # on the command line, and not found in a folder that is written to

    def error(self, rule: str) -> FileError:
        advice = "name_another_output" if self.flag else "Redirect it to another file."
        return FileError(self.name, rule, advice=advice, flag=self.flag)


def refuse_overwriting(parameters: Iterable[Parameter], values: Mapping[str, object]) -> None:
    """Raise FileError if a command would overwrite a file that it reads, or write one twice."""
    by_parameter = [(one, _select_texts(values.get(one.name, one.default))) for one in parameters]
    written = _map_written(by_parameter)
    if not any(isinstance(identity, tuple) for identity in written):
        return  # none is there, and a folder that is read may hold very many
    for path in filter(os.path.exists, _inputs(by_parameter)):
        identity = _identity(path)
        if identity in written:
            raise written[identity].error("this file is read, and would be overwritten")


def _map_written(by_parameter: Sequence[_Values]) -> dict[object, _Output]:
    """Return the outputs by the identity of their files; FileError if one is written twice."""
    written: dict[object, _Output] = {}
    for output in _outputs(by_parameter):
        identity = _identity(output.path)
        before = written.get(identity)
        if before and (output.is_named or (output.flag and not before.flag)):
            raise output.error("is written twice by this command")
        written.setdefault(identity, output)
    return written


def _select_texts(value: object) -> list[str]:
    """Return the texts among the value, or values, of a parameter."""
    values = value if isinstance(value, list | tuple) else [value]
    return [one for one in values if isinstance(one, str)]


def _outputs(by_parameter: Sequence[_Values]) -> Iterator[_Output]:
    """Yield the files that a command writes; of a folder those that are there and may be overwritten."""
    yield _Output(1, "standard output")
    yield _Output(2, "standard error")
    suffixes = list(filter(None, (one.flag.beside for one, texts in by_parameter if texts)))
    for one, texts in by_parameter:
        if "" in one.flag.writes:
            further = product(texts, suffixes if one.name == "output" else ())
            for path in (*texts, *starmap(sibling_path, further)):
                yield _Output(path, path, one.text, is_named=True)
            continue
        for folder, pattern in product(texts, one.flag.writes):
            for file in map(str, Path(folder).glob(pattern)):
                yield _Output(file, file, one.text)


def _inputs(by_parameter: Sequence[_Values]) -> Iterator[str | int]:
    """Yield the files that a command reads, and the number of standard input."""
    for one, texts in by_parameter:
        for text in texts if one.flag.reads else ():
            path = parse_file(text).path
            if path == STANDARD_INPUT:
                yield 0
            else:
                yield from _files_read(path)


def _files_read(path: str) -> Iterator[str]:
    """Yield the files that may be read for a path, a folder, a pattern, or an address on this machine.

    In memory a path is taken literally; out of core "~" is the home folder, and "file:" and "cache::" begin addresses.
    """
    address = _LOCAL.sub("", path.rpartition("::")[2])
    for place in dict.fromkeys((path, os.path.expanduser(address))):
        yield from _list_files(place)


def _list_files(place: str) -> Iterator[str]:
    if os.path.isdir(place):
        with suppress(FileError):
            yield from (os.path.join(place, part) for part in list_parts(Path(place)))
        for folder, _, names in os.walk(place, followlinks=True):
            yield from (os.path.join(folder, one) for one in filter(_FOLDER_FILES.fullmatch, names))
    elif glob.has_magic(place) and not os.path.exists(place):
        yield from glob.iglob(place, recursive=True, include_hidden=True)
    else:
        yield from _list_with_results(place)


def _list_with_results(file: str) -> Iterator[str]:
    yield file
    if file.endswith((".jsonl", ".jsonl.gz")):  # maybe of lm-eval, which has results beside
        yield from glob.glob(os.path.join(os.path.dirname(file), TOTALS_BESIDE))


def _identity(path: str | int) -> object:
    """Return what is equal for names of the same file: device and number, or the real path of a missing one.

    What is no file, such as a pipe, equals nothing.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return os.path.realpath(path) if isinstance(path, str) else object()
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else object()
