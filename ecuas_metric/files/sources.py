"""A path, an address, or standard input -> its bytes, and the format they are in."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

Readable = Path | io.BytesIO  # a file, or its content
STANDARD_INPUT = "-"
TEXT = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json")
BINARY = (".parquet", ".npz", ".npy", ".arrow", ".feather", ".xlsx")
SIGNATURES = {b"PAR1": ".parquet", b"\x93NUMPY": ".npy", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrow"}

MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}


class Content(NamedTuple):
    """What a file holds: the path to read it from, or its bytes; and its format, as a suffix."""

    source: Readable
    suffix: str


def content_of(path: str | Path) -> Content:
    """Return where to read a file from, decompressed, and its format, by its suffix or else by how it begins.

    Parameters
    ----------
    path : path
        A path, an address that fsspec knows such as ``hf://``, or ``-`` for standard input.

    Returns
    -------
    Content
        Its suffix is empty where neither name nor content says what it is.

    Raises
    ------
    OSError
        If it cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "a.csv.gz")
    >>> _ = path.write_bytes(gzip.compress(b"confidence,correct"))
    >>> content = content_of(path)
    >>> content.suffix, content.source.read()
    ('.csv', b'confidence,correct')
    """
    name, source = str(path), _source(str(path))
    compression = Path(name).suffix.lower() if Path(name).suffix.lower() in DECOMPRESSORS else _compression(source)
    if compression:
        with opened(source) as file:
            source = io.BytesIO(DECOMPRESSORS[compression](file))
        name = name.removesuffix(Path(name).suffix)
    suffix = Path(name).suffix.lower()
    return Content(source, suffix if suffix in (*TEXT, *BINARY) else sniffed(source))


@contextmanager
def opened(source: Readable) -> Iterator[IO[bytes]]:
    """Open a path, or go to the beginning of bytes."""
    if isinstance(source, io.BytesIO):
        source.seek(0)
        yield source
    else:
        with source.open("rb") as file:
            yield file


def encoding_of(source: Readable) -> str:
    """Return the encoding of text, by its first bytes: UTF-16, or UTF-8 with or without a mark.

    Parameters
    ----------
    source : path or BytesIO

    Returns
    -------
    str
    """
    with opened(source) as file:
        encoding = "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        file.seek(0)
        return encoding


def stem(path: str | Path) -> str:
    """Return the name of a file without its folder and the suffixes of its format and compression.

    Examples
    --------
    >>> stem("runs/gpt-4.1.csv.gz"), stem("hf://datasets/a/b/llama.parquet"), stem("-")
    ('gpt-4.1', 'llama', 'stdin')
    """
    if str(path) == STANDARD_INPUT:
        return "stdin"
    name = Path(path).name
    for known in (tuple(DECOMPRESSORS), (*TEXT, *BINARY)):
        name = Path(name).stem if Path(name).suffix.lower() in known else name
    return name


def _source(path: str) -> Readable:
    if path == STANDARD_INPUT:
        return io.BytesIO(sys.stdin.buffer.read())
    if "://" in path:
        import fsspec

        with fsspec.open(path, "rb") as file:
            return io.BytesIO(file.read())
    # A pipe, such as /dev/stdin, is read once; a file is read from where it is.
    return Path(path) if Path(path).is_file() or not Path(path).exists() else io.BytesIO(Path(path).read_bytes())


def sniffed(source: Readable) -> str:
    """Return the format that a file begins like, as a suffix, or nothing."""
    with opened(source) as file:
        head = file.read(4096)
    for signature, suffix in SIGNATURES.items():
        if head.startswith(signature):
            return suffix
    if head.startswith(b"PK"):
        return ".xlsx" if b"[Content_Types]" in head else ".npz" if b".npy" in head else ""
    if b"\0" in head and head[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        return ""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return ".json" if start.startswith(b"[") else ".jsonl" if start.startswith(b"{") else ".csv"


def _compression(source: Readable) -> str:
    """Return the compression of standard input, which has no name, as a suffix, or nothing."""
    if isinstance(source, Path):
        return ""
    head = source.getvalue()[:6]
    return next((suffix for magic, suffix in MAGIC.items() if head.startswith(magic)), "")


def _zstd(file: IO[bytes]) -> bytes:
    import pyarrow as pa

    with pa.CompressedInputStream(file, "zstd") as stream:
        return bytes(stream.read())


def _unzip(file: IO[bytes]) -> bytes:
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise ValueError(f"the archive must hold one file; it holds {len(names)}")
        return archive.read(names[0])


DECOMPRESSORS: dict[str, Callable[[IO[bytes]], bytes]] = {
    ".gz": lambda file: gzip.decompress(file.read()),
    ".bz2": lambda file: bz2.decompress(file.read()),
    ".xz": lambda file: lzma.decompress(file.read()),
    ".zst": _zstd,
    ".zip": _unzip,
}
