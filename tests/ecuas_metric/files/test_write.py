"""A file is there whole or not at all, and one that is changed while it is read is refused."""

import os
import resource
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.errors import FileError
from ecuas_metric.files.read import read_sheet, refuse_changes
from ecuas_metric.files.write import write_whole
from tests.conftest import ROOT


@contextmanager
def largest_file(size):
    """Let no file that is written be larger, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_is_named_and_leaves_what_was_there(tmp_path):
    file = tmp_path / "a.csv"
    file.write_bytes(b"before")
    for size in (0, 1, 999):
        with (
            largest_file(size),
            pytest.raises(FileError, match=r"a\.csv: cannot be written: File too"),
        ):
            write_whole(file, bytes(1000))
        assert file.read_bytes() == b"before"
        assert list(tmp_path.iterdir()) == [file]
    with largest_file(1000):
        write_whole(file, bytes(1000))
    assert file.read_bytes() == bytes(1000)


def test_what_a_command_that_was_killed_left_is_removed_by_the_next(tmp_path):
    now = time.time()
    for name, age in ((".ecuas-old", 7200), (".ecuas-new", 60), (".other", 7200)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now - age, now - age))
    write_whole(tmp_path / "a.csv", b"content")
    assert sorted(os.listdir(tmp_path)) == [".ecuas-new", ".other", "a.csv"]


def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path):
    full = tmp_path / "full.csv"
    full.symlink_to("/dev/full")
    with pytest.raises(FileError, match=r"full\.csv: cannot be written: No space left"):
        write_whole(full, b"content")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"content")
    assert os.read(reader, 99) == b"content"
    os.close(reader)
    assert pipe.is_fifo()
    with pytest.raises(FileError, match="cannot be written: Is a directory"):
        write_whole(tmp_path, b"content")


def test_a_link_stays_one_and_a_mode_what_it_was_and_folders_are_made(tmp_path):
    file = tmp_path / "a" / "b" / "file"
    write_whole(file, b"1")
    umask = os.umask(0)
    os.umask(umask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~umask
    file.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(file)
    write_whole(link, b"2")
    assert link.is_symlink()
    assert file.read_bytes() == b"2"
    assert file.stat().st_mode & 0o777 == 0o640


def change_size(path):
    path.write_text("longer than before")


def change_content(path):
    path.write_text("other!")
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


def replace(path):
    status = path.stat()
    write_whole(path, path.read_bytes())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def remove(path):
    path.unlink()


def fail_after(change, path):
    change(path)
    raise OSError("what a parser says")


@pytest.mark.parametrize("change", [change_size, change_content, replace, remove])
def test_a_file_that_is_changed_while_it_is_read_is_refused_whatever_else_that_led_to(
    change, tmp_path
):
    file = tmp_path / "a.csv"
    file.write_text("before")
    sentence = (
        r"a\.csv: the file was changed while it was read\. Read it again once it is written\."
    )
    with pytest.raises(FileError, match=sentence), refuse_changes([str(file)]):
        change(file)
    file.write_text("before")
    with pytest.raises(FileError, match=sentence), refuse_changes([str(file)]):
        fail_after(change, file)
    with pytest.raises(KeyError), refuse_changes([str(file), str(tmp_path), "none"]):
        raise KeyError


REWRITES = """
import sys, time
from pathlib import Path
target, *others = map(Path, sys.argv[1:])
contents = [other.read_bytes() for other in others]
print(flush=True)
while True:
    for content in contents:
        with target.open("r+b") as file:
            file.write(content)
            file.truncate()
"""


@pytest.mark.e2e
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_reader_beside_one_who_writes_goes_on_with_a_sentence(suffix, tmp_path):
    """The rows are those before or after; where the writer paused, none can know that it is half done."""
    sizes = (30_000, 300)
    for size in sizes:
        frame = pd.DataFrame({"confidence": np.full(size, 0.5), "correct": np.arange(size) % 2})
        write = frame.to_csv if suffix == ".csv" else frame.to_parquet
        write(tmp_path / f"{size}{suffix}", index=False)
    target = tmp_path / f"target{suffix}"
    target.touch()
    paths = [target, *(tmp_path / f"{size}{suffix}" for size in sizes)]
    command = [sys.executable, "-c", REWRITES, *map(str, paths)]
    found = set()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as writer:
        writer.stdout.readline()
        for count in range(9999):  # on a busy machine the two may take turns for long
            try:
                found.add(len(read_sheet(target).rows))
            except FileError as error:
                found.add(error.rule)
            if count >= 300 and "changed_while_read" in found:
                break
        writer.kill()
    assert "changed_while_read" in found
