import json
import signal

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.reporting import cli
from tests.ecuas_metric.files.tables import (
    BASE,
    BINARY,
    BY_NAME,
    CHOSEN,
    FOUR,
    LABEL,
    POSTERIORS,
    N,
    judged,
    read_content,
)

SUFFIXES = (".csv", ".jsonl", ".json", ".parquet", ".npz")
SECONDS = 20  # of the processor, for one file
TOKENS = [b"\n", b"\r", b"\t", b" ", b"9" * 40, b"\xff", b"\xe2\x80\xa8", b"\0"]
TOKENS += (
    b'nan inf -1 1e999 " , [ ] { } : null prob_1 label correct confidence =1+1 true % ; | #'.split()
)
ODD = [
    None,
    float("nan"),
    float("inf"),
    -1,
    1.0000001,
    7,
    10**30,
    True,
    "",
    "85%",
    "0,5",
    "N",
    "yes",
    "-",
    "\u2028",
]
ODD += [
    "[0.5, 0.5]",
    "[[[",
    "{'a': 1}",
    [0.5, 0.5],
    [],
    {"a": 0.5},
    [{"label": "a", "score": 1}],
    [[1, 2], [3]],
]
ODD += [{"a": {"b": [1]}}]
NAMES = ",confidence,Correct,label,prob,prob_0,prob_1,probs,system,id,index,y_true,y_pred,scores,prob_a,data,columns,0"


LISTS = pd.DataFrame({"label": LABEL, "probs": FOUR.tolist(), "doc": [{"i": k} for k in range(N)]})
WORDS = judged("yes", "no").assign(system=["a", "b"] * (N // 2))
TABLES = [table.head(12) for table in (BASE, BY_NAME, POSTERIORS, LISTS, BINARY, CHOSEN, WORDS)]


def name_from(rng):
    return str(rng.choice(NAMES.split(",")))


def disturbed(frame, rng):
    """Return a table with a few cells, names, columns or rows that are odd."""
    names = list(frame)
    columns = [frame[name].tolist() for name in names]
    for _ in range(rng.integers(1, 4)):
        row = rng.integers(0, len(columns[0]))
        column = rng.integers(0, len(columns))
        kind = rng.integers(0, 8)
        odd = ODD[rng.integers(0, len(ODD))]
        if kind == 0:
            columns[column] = [odd] * len(columns[0])
        elif kind < 4:
            columns[column][row] = odd
        elif kind == 4:
            names[column] = name_from(rng)
        elif kind == 5:
            names.append(name_from(rng))
            columns.append([*columns[column]])
        elif kind == 6 and len(columns) > 1:
            del names[column], columns[column]
        else:
            for cells in columns:
                cells.append(cells[row])
    columns = [pd.Series(cells, dtype=object) for cells in columns]
    return pd.concat(columns, axis=1, keys=names).infer_objects()


def mutated(content, rng):
    """Return bytes with a few of them changed, cut, repeated or put in."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(0, len(content) + 1))
        length = int(rng.integers(1, 30))
        kind = rng.integers(0, 9) // 2
        if kind == 0:
            content[at : at + 1] = bytes([int(rng.integers(0, 256))])
        elif kind == 1:
            content[at : at + length] = b""
        elif kind == 2:
            content[at:at] = content[at : at + length] * int(rng.integers(1, 4))
        elif kind == 3:
            content[at:at] = TOKENS[rng.integers(0, len(TOKENS))]
        else:
            content[at:] = content[at : at + int(rng.integers(0, 200))]
    return bytes(content)


def broken(number, rng):
    """Return the suffix and the content of a file with something wrong in it."""
    suffix = SUFFIXES[number % 5]
    frame = TABLES[rng.integers(0, len(TABLES))]
    if number % 3:
        try:
            return suffix, read_content(disturbed(frame, rng), suffix)
        except (ValueError, TypeError, OverflowError):  # that format cannot hold it
            suffix = ".csv"
    return suffix, mutated(read_content(frame, suffix), rng)


def _too_long(*_):
    raise AssertionError(f"a file takes more than {SECONDS} s")


def run(count, seed, folder, capsys):
    """Return how many of broken files were scored, and fail where one is not answered in a line, and what is there."""
    rng = np.random.default_rng(seed)
    scored = 0
    signal.signal(signal.SIGPROF, _too_long)
    for number in range(count):
        suffix, content = broken(number, rng)
        path = folder / f"fuzz{suffix}"
        path.write_bytes(content)
        command = ["compare", str(path)] if number % 20 == 0 else ["score", str(path)]
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            code = cli.main([*command, "--output", str(folder / "out.json")])
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        captured = capsys.readouterr()
        assert code in (0, 2), path
        if code:
            assert captured.err.startswith("ecuas: "), captured.err
            _, *below = captured.err.splitlines()
            assert all(line.startswith(("  ", "Say")) for line in below), captured.err
        else:
            scored += 1
            json.loads((folder / "out.json").read_text(encoding="utf-8"))
    return scored


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("count", "seed"), [(100, 0), pytest.param(3000, 1, marks=pytest.mark.slow)]
)
def test_broken_files_are_answered_in_a_line_and_what_is_there(count, seed, tmp_path, capsys):
    assert run(count, seed, tmp_path, capsys) > count / 20
