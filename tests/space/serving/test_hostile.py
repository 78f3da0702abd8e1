"""Files that unpack to much, many visitors at once, many requests: against the server in a process of its own."""

import gzip
import io
import json
import re
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import ROOT

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="there is no /proc"),
]
START = """
from dataclasses import replace
from space import uploads
uploads.LIMITS = replace(uploads.LIMITS, **{lowered})
from space.app import launch
launch(server_name="127.0.0.1")
"""
LOWERED = {"unpacked_bytes": 50_000_000, "memory": 200_000_000, "cpu_seconds": 4, "seconds": 9}
BUSY = "This page is busy: too many others wait for their results."
ROW = b"0.5,1\n"
MANY = 10**7  # rows


class Server:
    """A process that serves the page, and its memory."""

    def __init__(self, process):
        self.process = process
        printed = "".join(
            iter(
                process.stdout.readline,
                "* To create a public link, set `share=True` in `launch()`.\n",
            )
        )
        self.page = re.search(r"URL: +(http\S+)", printed)[1] + "/gradio_api"
        self.web = httpx.Client(timeout=400, limits=httpx.Limits(max_connections=None))

    def memory(self, kind="VmRSS"):
        """Return megabytes of memory: now, or at the peak since `forget`."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{kind}:\s+(\d+)", status)[1]) / 1024

    def forget(self):
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def call(self, function, **given):
        """Return the result of a function, or what the page says instead."""
        called = self.web.post(f"{self.page}/call/v2/{function}", json=given)
        if called.is_error:
            return called.text
        address = f"{self.page}/call/{function}/{called.json()['event_id']}"
        text = self.web.get(address).text
        found = json.loads(re.search(r"event: (?:complete|error)\ndata: (.*)", text)[1])
        return found[0] if isinstance(found, list) else found["error"]

    def score(self, name, content):
        sent = self.web.post(f"{self.page}/upload", files={"files": (name, content)})
        return self.call("score", files=sent.json())


@contextmanager
def served(**lowered):
    code = START.format(lowered=lowered)
    call = [sys.executable, "-u", "-W", "ignore", "-c", code]
    with subprocess.Popen(call, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Server(process)
        finally:
            process.terminate()


def parquet(**columns):
    pq.write_table(pa.table(columns), content := io.BytesIO(), compression="zstd")
    return content.getvalue()


def repeated(text, rows):
    """Return one text in every row, which is in the file once."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))


def archive(**members):
    with zipfile.ZipFile(
        content := io.BytesIO(), "w", zipfile.ZIP_DEFLATED, compresslevel=1
    ) as file:
        for name, text in members.items():
            file.writestr(name, text)
    return content.getvalue()


# functions, so that only a process that runs these tests holds what they make


def table():
    return b"confidence,correct\n" + ROW * 20_000_000  # 120 MB


def lines():
    return b'{"confidence":0.5,"correct":1}\n' * 4_000_000


def sheet():
    return b"<worksheet><sheetData>" + b"<row><c><v>1</v></c></row>" * 4_000_000


def samples():
    return b'{"id": 1, "epoch": 1, "scores": {}, "text": "' + b"x" * 200_000_000 + b'"}'


def packed(text):
    return gzip.compress(text, 1)


def zstd(text):
    return pa.compress(text, "zstd", asbytes=True)


def arrays():
    np.savez_compressed(content := io.BytesIO(), confidence=np.ones(MANY), correct=np.ones(MANY))
    return content.getvalue()


UNPACKED = {  # a file -> what makes it, and what is said of it
    "a.csv": (lambda: packed(table()), "must be text, Parquet, or a log"),
    "b.jsonl": (lambda: packed(lines()), "must be text, Parquet, or a log"),
    "c.parquet": (lambda: packed(table()), "must be text, Parquet, or a log"),
    "d.csv": (lambda: packed(packed(table())), "must be text, Parquet, or a log"),
    "e.csv.gz": (lambda: packed(table()), "must have one of the suffixes"),
    "f.csv": (lambda: zstd(table()), "must be text, Parquet, or a log"),
    "g.json": (lambda: zstd(lines()), "must be text, Parquet, or a log"),
    "h.txt": (lambda: zstd(zstd(table())), "must be text, Parquet, or a log"),
    "i.parquet": (
        lambda: parquet(confidence=np.ones(MANY), correct=np.ones(MANY)),
        "must have at most 1,000,000 rows; got 10,000,000",
    ),
    "j.csv": (
        lambda: parquet(confidence=np.ones(MANY), correct=np.ones(MANY)),
        "must have at most 1,000,000 rows; got 10,000,000",
    ),
    "k.parquet": (
        lambda: parquet(
            confidence=np.ones(300), correct=np.ones(300), question=repeated("x" * 10**6, 300)
        ),
        "takes more memory or time",
    ),
    "l.parquet": (
        lambda: parquet(
            confidence=np.ones(300),
            correct=np.ones(300),
            question=pa.ListArray.from_arrays(range(301), repeated("x" * 10**6, 300)),
        ),
        "takes more memory or time",
    ),
    "m.parquet": (
        lambda: parquet(**{f"prob_{i}": np.zeros(1000) for i in range(6000)}),
        "must have at most 5,000 columns; got 6,000",
    ),
    "n.parquet": (
        lambda: parquet(**{f"prob_{i}": np.zeros(3000) for i in range(4000)}),
        "must unpack to at most 50,000,000 bytes; got 96,000,000",
    ),
    "o.csv": (arrays, "must be text, Parquet, or a log"),
    "p.npz": (arrays, "must have one of the suffixes"),
    "q.csv": (
        lambda: archive(**{"xl/worksheets/sheet1.xml": sheet()}),
        "must be text, Parquet, or a log",
    ),
    "r.csv": (lambda: archive(table=table()), "must be text, Parquet, or a log"),
    "s.eval": (
        lambda: archive(**{"header.json": b"{}", "samples/1_epoch_1.json": samples()}),
        "must unpack to at most 50,000,000 bytes; got 200,000,0",
    ),
    "t.csv": (
        lambda: b"confidence,correct\n" + packed(table()),
        "t.csv",
    ),
    "u.jsonl": (
        lambda: b"".join(b'{"k%d":1}\n' % i for i in range(5000)),
        "takes more memory or time|must",
    ),
    "v.json": (lambda: b"[" * 2_000_000, "nested too deeply"),
    "w.csv": (
        lambda: b",".join(b"c%d" % i for i in range(300_000)) + b"\n" + b"0," * 299_999 + b"0\n",
        "must have at most 5,000 columns",
    ),
    "x.csv": (
        lambda: b",".join(b"c%d" % i for i in range(3000)) + b"\n" + b"1\n" * 12_000,
        "must unpack to at most 50,000,000 bytes; got 288,024,000",
    ),
}


GOOD = b"confidence,correct\n" + ROW * 1000


@pytest.fixture(scope="module")
def server():
    """A server with low limits that has answered already."""
    with served(**LOWERED) as server:
        server.score("good.csv", GOOD)
        yield server


@contextmanager
def same_memory(server):
    """Require that a server needs little more memory meanwhile, and afterwards."""
    server.forget()
    before = server.memory()
    yield
    assert server.memory("VmHWM") <= before + 200
    assert server.memory() <= before + 100


def test_what_unpacks_to_much_is_refused_in_words_and_the_servers_memory_stays(server):
    good = server.score("good.csv", GOOD)
    with same_memory(server):
        for name, (make, said) in UNPACKED.items():
            assert re.search(said, str(server.score(name, make()))), name
    assert server.score("good.csv", GOOD) == good
    assert good["rows"][0]["system"] == "good"


def test_calls_that_hold_much_are_refused_and_the_servers_memory_stays(server):
    table = "confidence,correct\n0.5,1\n"
    with same_memory(server):
        for said, given in (
            ("files must be at most 50", {"files": [[]] * 300_000}),
            ("Too Large", {"files": ["confidence,correct\n" + "0.5,1\n" * 10**7]}),
            ("files must be at most 50", {"files": ["x\n"] * 150_000}),
            ("n must be at most 20 numbers", {"files": [table], "n": [0] * 450_000}),
            ("Columns must", {"files": [table], "columns": "x=y," * 200_000}),
        ):
            assert said in server.call("score", **given)


VISITORS = 200


def visit(server, number):
    """Return whether a visitor got the answer to the own file, and not that the page is busy."""
    right = number + 1
    rows = "".join(f"{0.3 + 0.001 * row:.3f},{int(row < right)}\n" for row in range(300))
    found = server.score(f"visitor{number}.csv", f"confidence,correct\n{rows}".encode())
    if isinstance(found, str):
        assert found.startswith(BUSY), found
        return False
    (row,) = found["rows"]
    assert row["system"] == f"visitor{number}"
    assert row["error_rate"] == pytest.approx(1 - right / 300)
    return True


@pytest.mark.slow
def test_many_visitors_at_once_get_their_own_answers_or_are_told_that_the_page_is_busy():
    with served() as server, ThreadPoolExecutor(VISITORS) as visitors:
        answered = list(visitors.map(lambda number: visit(server, number), range(VISITORS)))
        assert sum(answered) >= VISITORS / 4
        assert visit(server, 0)


@pytest.mark.slow
def test_the_memory_of_the_server_does_not_grow_with_requests():
    with served() as server, ThreadPoolExecutor(4) as visitors:
        for numbers, most in ((range(50), np.inf), (range(50, 500), 100)):
            before = server.memory()
            assert all(visitors.map(lambda number: visit(server, number % 200), numbers))
            assert server.memory() <= before + most
