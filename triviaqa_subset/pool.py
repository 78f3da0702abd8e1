"""TriviaQA's rows -> the pool's texts: redraws the pool as the paper drew it and checks it."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import pandas as pd
import pyarrow.parquet as pq
from datasets import Dataset, load_dataset

from .matching import sha256

HUB = {"path": "mandarjoshi/trivia_qa", "name": "rc.nocontext", "split": "validation"}
SPLIT_ROWS = 17_944
SEED = 42
JSON_LINES = (".jsonl", ".json", ".ndjson")
ANSWER = ("value", "aliases", "normalized_aliases")

Row = dict[str, Any]


class Pool(NamedTuple):
    """The texts of the pool, and what of them could be checked.

    `texts` maps question_id to {question, answer}; `redrawn` tells whether the draw was repeated;
    `unhashed` lists the questions whose text has no hash to be checked against.
    """

    texts: dict[str, Row]
    redrawn: bool
    unhashed: list[str]


def read_source(source: str | None) -> list[Row]:
    """Read TriviaQA's validation rows from the Hub or from a local file.

    Parameters
    ----------
    source : str or None
        None: the Hub. A JSON-lines or Parquet file with the Hub's columns `question_id`, `question` and
        `answer` {value, aliases, normalized_aliases}; in place of `answer`, a list column `aliases`.

    Returns
    -------
    list of dict
        `question_id`, `question`, `answer`, in the source's order.

    Raises
    ------
    ValueError
        A line that is not JSON, a missing column (names those found), a value that is not text; with
        file and row.
    OSError
        A file that cannot be read, or the Hub out of reach.
    """
    rows = _from_hub() if source is None else read_rows(source)
    return [_as_row(row, f"{source or 'the Hub'}, row {number}") for number, row in enumerate(rows)]


def read_rows(file: str) -> list[Row]:
    """Read a JSON-lines or Parquet file, a dict a row; raises as `read_source`."""
    if Path(file).suffix in JSON_LINES:
        return [_parse(line, f"{file}, line {number}") for number, line in enumerate(_lines(file), 1)]
    if Path(file).suffix == ".parquet":
        return pq.read_table(file).to_pylist()
    raise ValueError(f"a source must end in {', '.join(JSON_LINES)} or .parquet; it is {file}")


def draw_pool(rows: list[Row], questions: pd.DataFrame) -> Pool:
    """Find the pool among the source's rows and check it against the curation.

    A source with questions outside the pool is taken for the whole split: the draw is repeated, and
    ids, order and question hashes must agree. One with questions of the pool only is joined by
    question_id, and the hashes must agree.

    Parameters
    ----------
    rows : list of dict
        From `read_source`.
    questions : DataFrame
        From `read_labels`.

    Returns
    -------
    Pool

    Raises
    ------
    ValueError
        If anything differs; names the first three rows that do.
    """
    ids = list(questions["question_id"])
    redrawn = not {row["question_id"] for row in rows} <= set(ids)
    order = _pool_order(questions) if redrawn else ids
    drawn = _redraw(rows, len(order)) if redrawn else _join(rows, ids)
    hashes = dict(zip(ids, questions["question_sha256"], strict=True))
    _check(drawn, order, hashes, f" (the source has {len(rows)} rows, the split {SPLIT_ROWS})" if redrawn else "")
    texts = {row["question_id"]: row for row in reversed(drawn)}  # of two copies, the one drawn first
    return Pool(texts, redrawn, [question_id for question_id in ids if not hashes[question_id]])


def _from_hub() -> list[Row]:
    try:
        return load_dataset(**HUB).select_columns(["question_id", "question", "answer"]).to_list()
    except OSError as error:
        raise OSError(f"{error}; give the rows as a local file with --source") from error


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.readlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error


def _parse(line: str, place: str) -> Row:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{place} is not JSON: {error.msg}") from error
    if not isinstance(row, dict):
        raise ValueError(f"{place} must be a JSON object; it is {line.strip()[:40]}")
    return row


def _as_row(row: Row, place: str) -> Row:
    answer = row.get("answer")
    if "answer" not in row and "aliases" in row:
        answer = {"value": None, "aliases": row["aliases"], "normalized_aliases": []}
    for name in ("question_id", "question"):
        if not isinstance(row.get(name), str):
            found = repr(row[name]) if name in row else f"missing among {', '.join(row)}"
            raise ValueError(f"{place}: {name} must be text; it is {found}")
    if not _is_answer(answer):
        found = repr(answer)[:60] if "answer" in row else f"missing among {', '.join(row)}"
        raise ValueError(
            f"{place}: answer must have value (text), aliases and normalized_aliases (texts); it is {found}"
        )
    return {
        "question_id": row["question_id"],
        "question": row["question"],
        "answer": {name: answer[name] for name in ANSWER},
    }


def _is_answer(answer: Any) -> TypeGuard[Row]:
    if not isinstance(answer, dict) or not set(ANSWER) <= set(answer):
        return False
    lists = [answer["aliases"], answer["normalized_aliases"]]
    return isinstance(answer["value"], str | None) and all(
        isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in lists
    )


def _pool_order(questions: pd.DataFrame) -> list[str]:
    pairs = zip(questions["pool_positions"], questions["question_id"], strict=True)
    at = {position: question_id for positions, question_id in pairs for position in positions}
    return [at[position] for position in range(len(at))]


def _redraw(rows: list[Row], size: int) -> list[Row]:
    if len(rows) < size:
        raise ValueError(
            f"the pool is drawn from the whole split ({SPLIT_ROWS} rows); the source has {len(rows)}, and "
            f"questions outside the pool. Give the whole split, or the pool's questions only"
        )
    index = Dataset.from_dict({"row": range(len(rows))})
    return [rows[row] for row in index.shuffle(seed=SEED).select(range(size))["row"]]


def _join(rows: list[Row], ids: list[str]) -> list[Row]:
    counts = Counter(row["question_id"] for row in rows)
    repeated = [question_id for question_id in counts if counts[question_id] > 1]
    if repeated:
        raise ValueError(
            f"question_id must be unique in a source of the pool's questions; {len(repeated)} are repeated, "
            f"the first is {repeated[0]}, {counts[repeated[0]]} times"
        )
    missing = [question_id for question_id in ids if question_id not in counts]
    if missing:
        raise ValueError(
            f"the source must have all {len(ids)} questions of the pool; {len(missing)} are missing, the "
            f"first is {missing[0]}"
        )
    by_id = {row["question_id"]: row for row in rows}
    return [by_id[question_id] for question_id in ids]


def _check(drawn: list[Row], order: list[str], hashes: dict[str, str], remark: str) -> None:
    wrong = []
    for position, (row, expected) in enumerate(zip(drawn, order, strict=True)):
        if row["question_id"] != expected:
            wrong.append(f"row {position}: expected {expected}, found {row['question_id']}")
        elif hashes[expected] and sha256(row["question"]) != hashes[expected]:
            wrong.append(f"row {position}: the question text of {expected} has changed")
    if wrong:
        first = "; ".join(wrong[:3])
        raise ValueError(f"{len(wrong)} of {len(order)} pool rows differ from the curation{remark}; {first}")
