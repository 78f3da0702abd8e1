"""TriviaQA's rows -> the pool's texts: redraws the pool as the paper drew it, checks it, and drops the bad aliases."""

import json
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple, TypedDict

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .checking import require
from .matching import Gold, aliases_sha256, plain, sha256

HUB = {"path": "mandarjoshi/trivia_qa", "name": "rc.nocontext", "split": "validation"}
SPLIT_ROWS = 17_944
SEED = 42
START = 200  # characters of a question of which only those were available
SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet")
TEXTS = pa.list_(pa.string())
GOLD = pa.struct({"value": pa.string(), "aliases": TEXTS, "normalized_aliases": TEXTS})
ROW = pa.schema({"question_id": pa.string(), "question": pa.string(), "answer": GOLD})

LISTS = ("aliases", "normalized_aliases")
RawRow = dict[str, object]  # a row of a file, of which nothing is known yet


class TriviaRow(TypedDict):
    """A question of TriviaQA with its gold answer."""

    question_id: str
    question: str
    answer: Gold


class Pool(NamedTuple):
    """The texts of the pool by question_id, and what of them could be checked."""

    texts: dict[str, TriviaRow]
    redrawn: bool  # whether the draw was repeated
    by_start: list[str]  # the questions of which only the first 200 characters have a hash
    aliases: dict[str, bool]  # whether the gold aliases are those of the curation, where it has a hash of them


def read_source(source: str | None) -> list[TriviaRow]:
    """Read TriviaQA's validation rows from the Hub, or from a file with the Hub's columns or with a list `aliases`."""
    raw, place = (_from_hub(), "the Hub") if source is None else (read_rows(source), source)
    made = ({"answer": {"value": None, "aliases": row.get("aliases"), "normalized_aliases": []}} for row in raw)
    given = [answer | row if "aliases" in row else row for answer, row in zip(made, raw, strict=True)]
    golds = [row.get("answer") for row in given]
    rule = f"{place}: answer must have aliases, normalized_aliases (lists)"
    require((_has_lists(gold) for gold in golds), golds, rule)
    try:
        rows: list[TriviaRow] = pa.Table.from_pylist(given, ROW).to_pylist()
    except pa.ArrowException as error:
        rule = "question_id, question (text) and answer {value (text), aliases, normalized_aliases (lists of text)}"
        raise ValueError(f"{place} must have {rule}; {error}.") from error
    for column in ROW.names:
        values = [row[column] for row in rows]  # type: ignore[literal-required]
        require((value is not None for value in values), values, f"{place}: {column} must be given")
    return rows


def _has_lists(gold: object) -> bool:
    return isinstance(gold, dict) and all(isinstance(gold.get(name), list) for name in LISTS)


def read_rows(file: str) -> list[RawRow]:
    """Read the rows of a file: Parquet, JSON lines (.jsonl, .ndjson, .json) or a JSON list of objects (.json)."""
    suffix = Path(file).suffix
    if suffix not in SUFFIXES:
        raise ValueError(f"source must end in one of {', '.join(SUFFIXES)}; got {file}.")
    if suffix == ".parquet":
        rows: list[RawRow] = pq.read_table(file).to_pylist()
        return rows
    text = Path(file).read_bytes()
    try:
        # Not splitlines of a str: texts may hold other characters that end lines.
        rows = json.loads(text) if text.startswith(b"[") else [json.loads(line) for line in text.split(b"\n") if line]
    except ValueError as error:
        raise ValueError(f"{file} must be UTF-8 with a JSON object per line, or a list of objects; {error}.") from error
    require((isinstance(row, dict) for row in rows), rows, f"{file}: a row must be a JSON object")
    return rows


def _from_hub() -> list[RawRow]:
    from datasets import load_dataset  # takes long to import, and files need none of it

    try:
        rows: list[RawRow] = load_dataset(**HUB).select_columns(ROW.names).to_list()
    except OSError as error:
        raise OSError(f"{error}. Without network give the rows as a local file with --source.") from error
    return rows


def draw_pool(rows: list[TriviaRow], questions: pd.DataFrame) -> Pool:
    """Find the pool among the source's rows; ids, order and question hashes must agree, and most of the aliases."""
    ids = list(questions["question_id"])
    redrawn = not {row["question_id"] for row in rows} <= set(ids)  # with others, it is taken to be the whole split
    order = list(questions.explode("pool_positions").sort_values("pool_positions")["question_id"]) if redrawn else ids
    drawn = _redraw(rows, len(order)) if redrawn else _join(rows, ids)
    hashes = {row.question_id: (row.question_sha256, row.question_start_sha256) for row in questions.itertuples()}
    _check(drawn, order, hashes, f" The source has {len(rows)} rows, the split {SPLIT_ROWS}." if redrawn else "")
    texts = {row["question_id"]: row for row in reversed(drawn)}  # of two copies, the one drawn first
    aliases = _compare_aliases(texts, dict(zip(ids, questions["aliases_sha256"], strict=True)))
    texts = drop_aliases(texts, dict(zip(ids, questions["dropped_aliases"], strict=True)))
    return Pool(texts, redrawn, [question_id for question_id in ids if not hashes[question_id][0]], aliases)


def drop_aliases(texts: Mapping[str, TriviaRow], dropped: Mapping[str, Collection[str]]) -> dict[str, TriviaRow]:
    """Return the texts without the gold aliases of these hashes."""

    def good(row: TriviaRow) -> TriviaRow:
        gold, hashes = row["answer"], dropped[row["question_id"]]
        kept = [[x for x in gold[name] if sha256(plain(x)) not in hashes] for name in ("aliases", "normalized_aliases")]
        return {**row, "answer": {"value": gold["value"], "aliases": kept[0], "normalized_aliases": kept[1]}}

    return {question_id: good(row) for question_id, row in texts.items()}


def _compare_aliases(texts: dict[str, TriviaRow], hashes: dict[str, str]) -> dict[str, bool]:
    """Return for each hash whether it is that of the source's aliases; a second copy of a question may have others."""
    golds = {question_id: texts[question_id]["answer"] for question_id, known in hashes.items() if known}
    found = {i: aliases_sha256([*gold["aliases"], *gold["normalized_aliases"]]) for i, gold in golds.items()}
    same = {question_id: own == hashes[question_id] for question_id, own in found.items()}
    other = [question_id for question_id, agrees in same.items() if not agrees]
    if 2 * len(other) > len(same):
        named = f"{', '.join(other[:3])} ({len(other)} of {len(same)})"
        raise ValueError(f"gold aliases must be those of TriviaQA; got others for {named}.")
    return same


def _redraw(rows: list[TriviaRow], size: int) -> list[TriviaRow]:
    if len(rows) < size:
        rule = f"source must be the whole split of {SPLIT_ROWS} rows, from which the pool is drawn"
        found = f"{len(rows)} rows with questions outside the pool"
        raise ValueError(f"{rule}, or the pool's questions only; got {found}.")
    from datasets import Dataset  # as above

    index = Dataset.from_dict({"row": range(len(rows))})
    return [rows[row] for row in index.shuffle(seed=SEED).select(range(size))["row"]]


def _join(rows: list[TriviaRow], ids: list[str]) -> list[TriviaRow]:
    given = [row["question_id"] for row in rows]
    counts = Counter(given)
    rule = "question_id must be unique in a source of the pool's questions"
    require((counts[own] == 1 for own in given), given, rule)
    by_id = dict(zip(given, rows, strict=True))
    missing = [question_id for question_id in ids if question_id not in by_id]
    if missing:
        wrong = f"{missing[0]} is missing ({len(missing)} of {len(ids)})"
        raise ValueError(f"source must have all {len(ids)} questions of the pool; {wrong}.")
    return [by_id[question_id] for question_id in ids]


def _check(drawn: list[TriviaRow], order: list[str], hashes: dict[str, tuple[str, str]], advice: str) -> None:
    wrong = []
    for position, (row, expected) in enumerate(zip(drawn, order, strict=True)):
        if row["question_id"] != expected:
            wrong.append(f"{row['question_id']} instead of {expected} at index {position}")
        elif sha256(row["question"]) != hashes[expected][0] and sha256(row["question"][:START]) != hashes[expected][1]:
            wrong.append(f"another text of {expected} at index {position}")
    if wrong:
        found = f"{', '.join(wrong[:3])} ({len(wrong)} of {len(order)})"
        raise ValueError(f"pool rows must be those of the curation; got {found}.{advice}")
