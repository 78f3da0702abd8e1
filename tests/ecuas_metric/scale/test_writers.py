"""Several processes that add to one file of states lose nothing, and take the place of one that is killed."""

import json
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric.scale import read_collection
from tests.conftest import ROOT

WRITER = """
import contextlib, io, json, sys
from ecuas_metric.reporting.cli import main
from ecuas_metric.scale import local

def stop(*_, **__):
    print("in the middle", file=sys.__stdout__, flush=True)
    sys.stdin.read()

print(flush=True)
for line in sys.stdin:
    file, state, stops = json.loads(line)
    if stops:
        local.states_of_frame = stop
    with contextlib.redirect_stdout(io.StringIO()):
        code = main(["score", file, "--out-of-core", "--state", state])
    print(code, flush=True)
"""
pytestmark = pytest.mark.e2e


@pytest.fixture
def writers():
    """Two processes that score a file into a state for each line that they get."""
    command = [sys.executable, "-c", WRITER]
    pipe = subprocess.PIPE
    started = [
        subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        for _ in range(2)
    ]
    for writer in started:
        writer.stdout.readline()
    yield started
    for writer in started:
        writer.kill()
        writer.communicate()


@pytest.fixture
def files(tmp_path):
    """Files of 10 and of 20 rows, all of one system."""
    rng = np.random.default_rng(0)
    paths = []
    for size in (10, 20):
        columns = {"confidence": rng.random(size), "correct": rng.random(size) < 0.5}
        paths.append(tmp_path / f"{size}.parquet")
        pq.write_table(pa.table({"system": ["a"] * size, **columns}), paths[-1])
    return paths


def send(writer, file, state, stops=False):
    writer.stdin.write(json.dumps([str(file), str(state), stops]) + "\n")
    writer.stdin.flush()


@pytest.mark.parametrize("rounds", [10, pytest.param(50, marks=pytest.mark.slow)])
def test_two_writers_of_one_state_lose_nothing(rounds, writers, files, tmp_path):
    for number in range(rounds):
        state = tmp_path / f"{number}.state"
        for writer, file in zip(writers, files[:: 1 - 2 * (number % 2)], strict=True):
            send(writer, file, state)
        assert [writer.stdout.readline() for writer in writers] == ["0\n"] * 2
        held = read_collection(state)
        assert held.files.keys() == set(map(str, files))
        assert held.states["a"].rows == 30


def test_the_same_files_are_counted_once_by_two_writers(writers, files, tmp_path):
    for writer in writers:
        send(writer, tmp_path / "*.parquet", tmp_path / "a.state")
    assert [writer.stdout.readline() for writer in writers] == ["0\n"] * 2
    assert sum(state.rows for state in read_collection(tmp_path / "a.state").states.values()) == 30


def test_one_waits_for_another_and_goes_on_when_that_is_killed(writers, files, tmp_path):
    state = tmp_path / "a.state"
    killed, waiting = writers
    send(killed, files[0], state, stops=True)
    assert killed.stdout.readline() == "in the middle\n"
    send(waiting, files[1], state)
    note = f"note: Another process is adding to {state}; this one goes on when that has ended.\n"
    assert waiting.stderr.readline() == note
    killed.send_signal(signal.SIGKILL)
    assert waiting.stdout.readline() == "0\n"
    assert list(read_collection(state).files) == [str(files[1])]
