"""What `docs/files.md` promises is read back equal; what is broken is refused, or changes no number."""

import gzip
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ecuas_metric import prepare_submissions, read_submissions
from ecuas_metric.errors import InputError

N = 12
RNG = np.random.default_rng(5)
Q = RNG.random(N).round(4)
RIGHT = np.arange(N) % 3 > 0
CLASSES = ["cat", "dog", "eel"]
SHARES = RNG.dirichlet(np.ones(3), N).round(6)
SHARES[:, 2] = (1 - SHARES[:, 0] - SHARES[:, 1]).round(6)
TRUE = np.arange(N) % 3
NAMES = np.take(CLASSES, TRUE)
OF_TWO = np.stack([1 - Q, Q], axis=1)
IDS = [f"q{k:02}" for k in range(N)]
CHOSEN = np.take(CLASSES, np.where(RIGHT, TRUE, (TRUE + 1) % 3))


def answers(right="1", wrong="0"):
    return pd.DataFrame({"id": IDS, "confidence": Q, "correct": np.where(RIGHT, right, wrong)})


def with_shares(names, label):
    return pd.DataFrame(SHARES, columns=names).assign(label=label)


PAIRS = "1/0 true/false Yes/No correct/incorrect PASS/FAIL C/I"
TABLES = {  # what a file holds, what is said of it, and which predictions and references it has
    **{words: (answers(*words.split("/")), {}, Q, RIGHT) for words in PAIRS.split()},
    "percentages": (answers().assign(confidence=Q * 100), {"scale": 100}, Q, RIGHT),
    "per cent signs": (answers().assign(confidence=[f"{x * 100:.2f}%" for x in Q]), {}, Q, RIGHT),
    "logarithms": (answers().assign(confidence=np.log(Q + 1e-9)), {"scale": "log"}, Q, RIGHT),
    "ratings": (answers().assign(confidence=1 + 4 * Q), {"scale": "1:5"}, Q, RIGHT),
    "several words for right": (
        answers(np.where(np.arange(N) % 2, "good", "partly"), "bad"),
        {"right": "good,partly/bad"},
        Q,
        RIGHT,
    ),
    "numbered columns": (with_shares(["prob_0", "prob_1", "prob_2"], TRUE), {}, SHARES, TRUE),
    "named columns": (with_shares(CLASSES, NAMES), {}, SHARES, TRUE),
    "named behind a prefix": (
        with_shares([f"prob_{name}" for name in CLASSES], NAMES),
        {},
        SHARES,
        TRUE,
    ),
    "lists": (pd.DataFrame({"label": TRUE, "probs": SHARES.tolist()}), {}, SHARES, TRUE),
    "mappings": (
        pd.DataFrame(
            {"label": NAMES, "probs": [dict(zip(CLASSES, row, strict=True)) for row in SHARES]}
        ),
        {},
        SHARES,
        TRUE,
    ),
    "two classes": (pd.DataFrame({"label": RIGHT * 1, "prob": Q}), {}, OF_TWO, RIGHT),
    "two named classes": (
        pd.DataFrame({"label": np.where(RIGHT, "spam", "ham"), "prob": Q}),
        {"labels": ["ham", "spam"]},
        OF_TWO,
        RIGHT,
    ),
    "chosen classes": (
        pd.DataFrame({"label": NAMES, "predicted": CHOSEN, "confidence": Q}),
        {},
        Q,
        RIGHT,
    ),
}


def as_text(frame):
    """Return a table whose lists and mappings are JSON."""
    return frame.map(lambda cell: json.dumps(cell) if isinstance(cell, list | dict) else cell)


def csv_with(encoding="utf-8", before="", **dialect):
    def write(frame):
        return (before + as_text(frame).to_csv(index=False, **dialect)).encode(encoding)

    return write


def json_of(orient, **options):
    return lambda frame: frame.to_json(orient=orient, double_precision=15, **options).encode()


def arrow(make):
    def write(frame):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        sink = pa.BufferOutputStream()
        with make(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue().to_pybytes()

    return write


def parquet(frame):
    return frame.to_parquet()


def excel(frame):
    pytest.importorskip("openpyxl")
    buffer = io.BytesIO()
    as_text(frame).to_excel(buffer, index=False)
    return buffer.getvalue()


def zipped(frame):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.csv", csv_with()(frame))
    return buffer.getvalue()


FORMATS = {
    "commas": (".csv", csv_with()),
    "semicolons": (".csv", csv_with(sep=";")),
    "decimal commas": (".csv", csv_with(sep=";", decimal=",")),
    "tabs": (".tsv", csv_with(sep="\t")),
    "bars": (".txt", csv_with(sep="|")),
    "quotes": (".csv", csv_with(quoting=1)),
    "CRLF": (".csv", csv_with(lineterminator="\r\n")),
    "CR": (".csv", csv_with(lineterminator="\r")),
    "a mark": (".csv", csv_with("utf-8-sig")),
    "UTF-16": (".csv", csv_with("utf-16")),
    "Windows-1252": (".csv", csv_with("cp1252")),
    "Excel's separator": (".csv", csv_with(before="sep=;\n", sep=";")),
    "comments": (".csv", csv_with(before="# a run\n# of today\n")),
    "an index": (".csv", lambda frame: as_text(frame).to_csv().encode()),
    "gzip": (".csv.gz", lambda frame: gzip.compress(csv_with()(frame))),
    "zip": (".csv.zip", zipped),
    "JSON lines": (".jsonl", json_of("records", lines=True)),
    "JSON records": (".json", json_of("records")),
    "JSON columns": (".json", json_of("columns")),
    "JSON index": (".json", json_of("index")),
    "JSON split": (".json", json_of("split")),
    "JSON lists": (".json", lambda frame: json.dumps(frame.to_dict("list")).encode()),
    "rows within": (
        ".json",
        lambda frame: json.dumps(
            {"type": "run", "of": {"rows": frame.to_dict("records")}}
        ).encode(),
    ),
    "Parquet": (".parquet", parquet),
    "Parquet called CSV": (".csv", parquet),
    "Arrow": (".arrow", arrow(pa.ipc.new_file)),
    "a stream": (".arrow", arrow(pa.ipc.new_stream)),
    "Excel": (".xlsx", excel),
}


def looks(frame, options):
    """Yield a table as it is, among other columns, and by other names, with what is said of it."""
    yield frame, options
    yield frame.assign(note="café", seed=range(N))[["note", *frame, "seed"]], options
    if {"confidence", "correct"} <= set(frame):
        roles = {"confidence": "how sure", "correct": "ok?"}
        yield frame.rename(columns=roles), {**options, "columns": roles}
        yield frame.rename(columns=str.upper), options


@pytest.mark.long
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_read_back_equal(name, format, tmp_path):
    frame, options, predictions, references = TABLES[name]
    suffix, write = FORMATS[format]
    for table, said in looks(frame, options):
        path = tmp_path / f"a{suffix}"
        path.write_bytes(write(table))
        (one,) = read_submissions(path, **said)
        np.testing.assert_allclose(one.predictions, predictions, rtol=1e-12, atol=1e-8)
        assert one.references.tolist() == references.astype(int).tolist()
        used = {name for names in one.recipe.columns.values() for name in names}
        assert set(table) <= used | {name for name, _ in one.recipe.unused}


ODD = [
    "",
    "n/a",
    "2",
    "-1",
    "99",
    "1e5",
    "abc",
    "0,5",
    "50%",
    "0.5.1",
    '"',
    "maybe",
    "0 5",
    "[1, 0]",
]


def corrupted(text, rng):
    """Return the text of a table with something in it that no table has."""
    lines = text.splitlines(keepends=True)
    row = int(rng.integers(1, len(lines)))
    cells = lines[row].rstrip("\n").split(",")
    place = int(rng.integers(0, len(cells)))
    kind = int(rng.integers(0, 9))
    if kind < 3:
        cells[place] = str(rng.choice(ODD))
    elif kind == 3:
        del cells[place]
    elif kind == 4:
        cells.insert(place, cells[place])
    elif kind == 5 and "cat" not in lines[0]:  # which of two shares is which class nobody sees
        cells[place], cells[place - 1] = cells[place - 1], cells[place]
    if kind < 6:
        lines[row] = ",".join(cells) + "\n"
    elif kind == 6:
        lines.insert(row, lines[0])
    elif kind == 7:
        lines.append(f"{rng.choice(['Total', 'mean', 'SUM'])},{Q.sum()},{RIGHT.sum()}\n")
    else:
        return text[: int(rng.integers(len(lines[0]) + 1, len(text)))]
    return "".join(lines)


def known(submission):
    """Return what is known of each id: the numbers that are there."""
    ids = [] if submission.ids is None else submission.ids.to_pylist()
    numbers = np.column_stack([submission.predictions, submission.references]).tolist()
    return {id_: row for id_, row in zip(ids, numbers, strict=False) if not np.isnan(row).any()}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_what_is_corrupted_is_refused_or_changes_no_number(seed, tmp_path):
    rng = np.random.default_rng(seed)
    tables = [answers(), answers("yes", "no"), with_shares(CLASSES, NAMES).assign(id=IDS)]
    path = tmp_path / "a.csv"
    texts = [table[["id", *table.columns.drop("id")]].to_csv(index=False) for table in tables]
    wholes = []
    for text in texts:
        path.write_text(text)
        wholes.append(known(*read_submissions(path)))
    count = 0
    for number in range(500):
        text, expected = texts[number % 3], wholes[number % 3]
        broken = corrupted(text, rng)
        path.write_text(broken)
        try:
            (one,) = read_submissions(path)
            prepare_submissions([one], missing_confidence=0)
        except (InputError, ValueError):
            continue
        count += 1
        changed = {id_: row for id_, row in known(one).items() if row != expected.get(id_, row)}
        assert not changed, (broken, text)
    assert count < 400
