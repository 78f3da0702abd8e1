"""Paths, folders, patterns and addresses of fsspec -> Parquet files, and how their rows are read."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from urllib.parse import unquote

import fsspec
import pyarrow as pa
from pyarrow import dataset

from ..errors import FileError, InputError
from ..files.read import distinct_names, is_address, stem, unreached_error
from ..files.recipe import HEAD, Reading, Recipe
from ..files.values import repeat_text
from .batches import first_line, infer_recipe, list_needed_columns

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class InputFile:
    """A Parquet file; the system of its rows if no column names one, `name`; and what comes before names, `prefix`."""

    address: str  # by which states know it
    source: str  # what errors and recipes call it: as it was given
    path: str  # on its file system
    filesystem: fsspec.AbstractFileSystem
    name: str = ""
    prefix: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return not is_address(self.address)

    @cached_property
    def rows(self) -> dataset.Dataset:
        """Its rows, of which nothing is read yet; of an address each column of a row group is one request."""
        options = dataset.ParquetFragmentScanOptions(pre_buffer=not self.is_local)
        format = dataset.ParquetFileFormat(default_fragment_scan_options=options)
        return dataset.dataset(
            [self.path],
            filesystem=self.filesystem,
            format=format,
        )

    @cached_property
    def folder_columns(self) -> dict[str, str | None]:
        """The columns in the names of its folders, as model=a, and their values; those that rows have win."""
        named = (name.partition("=") for name in self.path.split("/")[:-1])
        pairs = {name: value for name, equals, value in named if name and equals}
        return {
            name: None if value == _NO_VALUE else unquote(value)
            for name, value in pairs.items()
            if name not in self.rows.schema.names
        }


def find_files(patterns: Sequence[str | tuple[str, str]]) -> list[InputFile]:
    """Return the files of all patterns, each a text or (name, pattern); FileError if a file is named twice."""
    pairs = [one if isinstance(one, tuple) else ("", one) for one in patterns]
    are_several = len({name for name, _ in pairs if name}) > 1
    parts: dict[str, InputFile] = {}
    for name, (system, pattern) in zip(
        _name_rows(pairs),
        pairs,
        strict=True,
    ):
        for part in find_pattern_files(
            pattern, name, f"{system} " if system and are_several else ""
        ):
            if part.address in parts:
                raise FileError(part.source, "is named twice: its rows would count twice")
            parts[part.address] = part
    return list(parts.values())


def _name_rows(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return the name of the rows of each (name, pattern) where no column has one."""
    names = []
    stems = []
    for name, path in pairs:
        is_pattern = glob.has_magic(path) and not os.path.exists(path)
        of_path = "" if name or is_pattern else stem(path.rstrip("/"))
        names.append(name or of_path or path)
        stems.append(of_path)
    return distinct_names(names, [path for _, path in pairs], stems)


def find_pattern_files(
    pattern: str,
    name: str = "",
    prefix: str = "",
) -> list[InputFile]:
    """Return the files that a path, a folder, a pattern or an address such as ``hf://..`` names, in order."""
    try:
        filesystem, path = fsspec.core.url_to_fs(pattern, skip_instance_cache=True)
        paths = _list_paths(filesystem, path)
    except Exception as error:  # each client has its own
        raise unreached_error(pattern, error) from None
    if not paths:
        raise FileError(pattern, "there is no such Parquet file")
    is_local = not is_address(pattern)
    if not is_local:
        # nothing is read ahead of what is asked for
        filesystem.open = partial(filesystem.open, cache_type="none")
    is_relative = is_local and not os.path.isabs(pattern)
    parts = []
    for path in sorted(paths):
        address = os.path.abspath(path) if is_local else filesystem.unstrip_protocol(path)
        parts.append(
            InputFile(
                address,
                os.path.relpath(path) if is_relative else address,
                path,
                filesystem,
                name,
                prefix,
            )
        )
    return parts


def _list_paths(filesystem: fsspec.AbstractFileSystem, path: str) -> list[str]:
    """Return the paths of a folder, else of a file, else of a pattern: names of files may look like patterns."""
    if filesystem.isdir(path):
        return [name for name in filesystem.find(path) if _is_data(name.removeprefix(path))]
    if filesystem.exists(path):
        return [path]
    return list(filesystem.glob(path)) if glob.has_magic(path) else []


def _is_data(path: str) -> bool:
    """Return whether a file in a folder holds rows; Spark keeps others beside, as in _temporary."""
    return path.endswith(".parquet") and not any(
        name.startswith(("_", ".")) for name in path.split("/")
    )


def infer_file_recipe(part: InputFile, reading: Reading) -> Recipe:
    """Return the recipe that fits the first rows of a file."""
    with reword_read_errors(part.source):
        rows = part.rows
        # Of all columns, also those that are not used, which the recipe names: so of the first row group only.
        groups = next(iter(rows.get_fragments())).split_by_row_group()[:1]
        head = groups[0].head(HEAD, use_threads=False) if groups else rows.schema.empty_table()
        for name, value in part.folder_columns.items():
            head = head.append_column(name, repeat_text(value, len(head)))
        count = rows.count_rows()
    recipe = infer_recipe(head, reading, source=part.source, rows=count)
    for field in rows.schema:
        # which engines take for float32
        if "halffloat" in str(field.type) and field.name in list_needed_columns(
            recipe, [field.name]
        ):
            raise FileError(
                part.source,
                "not_read_out_of_core",
                column=field.name,
                what="numbers of 16 bits",
                advice="score_in_memory",
            )
    return recipe


def digest_file(part: InputFile, recipe: Recipe) -> str:
    """Return a digest of a file's content, its name, and the names of its rows.

    It is the same wherever the file is; of a remote one the identity that its file system gives stands for content.
    """
    folders = [folder for folder in part.path.split("/")[:-1] if "=" in folder]
    name = part.prefix if recipe.systems else part.name
    names = json.dumps([name, *folders, stem(part.path)])
    digest = hashlib.blake2b(names.encode(), digest_size=16)
    if part.is_local:
        with open(part.path, "rb") as content:
            digest.update(hashlib.file_digest(content, "blake2b").digest())
    else:
        digest.update(str(part.filesystem.ukey(part.path)).encode())
    return digest.hexdigest()


@contextmanager
def reword_read_errors(source: str) -> Iterator[None]:
    """Raise FileError, about `source`, for errors of readers raised within."""
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError) as error:
        *_, reason = first_line(error).split(": ")
        raise FileError(
            source,
            "unreadable_as",
            format="Parquet",
            reason=reason,
            advice="convert_to_parquet",
        ) from None
    except ValueError as error:  # as of a server that sends whole files alone
        raise FileError(source, "unreadable", reason=first_line(error)) from None
