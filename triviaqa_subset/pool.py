"""TriviaQA's rows -> the pool's texts: redraws the pool as the paper drew it, checks it, and drops the bad aliases."""

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

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

LISTS: tuple[Literal["aliases"], Literal["normalized_aliases"]] = ("aliases", "normalized_aliases")
RawRow = dict[str, object]  # a row of a file, of which nothing is known yet


class TriviaRow(TypedDict):
    """A question of TriviaQA with its gold answer."""

    question_id: str
    question: str
    answer: Gold


@dataclass(frozen=True, slots=True)
class Pool:
    """The texts of the pool by question_id, and what of them could be checked."""

    texts: dict[str, TriviaRow]
    redrawn: bool  # whether the draw was repeated
    by_start: list[str]  # the questions of which only the first 200 characters have a hash
    # whether the gold aliases are those of the curation, where it has a hash of them
    aliases: dict[str, bool]


def read_source(source: str | None) -> list[TriviaRow]:
    """Read TriviaQA's validation rows from the Hub, or from a file with the Hub's columns."""
    place = source or "the Hub"
    raw = read_rows(source) if source else _from_hub()
    golds = [row.get("answer") for row in raw]
    require(_has_lists, golds, f"{place}: answer must have aliases, normalized_aliases (lists)")
    try:
        rows: list[TriviaRow] = pa.Table.from_pylist(raw, ROW).to_pylist()
    except pa.ArrowException as error:
        rule = "question_id, question (text) and answer {value (text), aliases, normalized_aliases (lists of text)}"
        raise ValueError(f"{place} must have {rule}; {error}.") from error
    for column in ROW.names:
        values = [row[column] for row in rows]  # type: ignore[literal-required]
        require(lambda value: value is not None, values, f"{place}: {column} must be given")
    return rows


def _has_lists(gold: object) -> bool:
    return isinstance(gold, dict) and all(isinstance(gold.get(name), list) for name in LISTS)


def read_rows(file: str) -> list[RawRow]:
    """Read the rows of a file: Parquet, JSON lines (.jsonl, .ndjson, .json) or a JSON list of objects (.json)."""
    suffix = Path(file).suffix
    if suffix not in SUFFIXES:
        raise ValueError(f"source must end in one of {', '.join(SUFFIXES)}; got {file}.")
    if suffix == ".parquet":
        return list(pq.read_table(file).to_pylist())
    text = Path(file).read_bytes()
    try:
        # Not splitlines of a str: texts may hold other characters that end lines.
        rows = (
            json.loads(text)
            if text.startswith(b"[")
            else [json.loads(line) for line in text.split(b"\n") if line]
        )
    except ValueError as error:
        raise ValueError(
            f"{file} must be UTF-8 with a JSON object per line, or a list of objects; {error}."
        ) from error
    require(lambda row: isinstance(row, dict), rows, f"{file}: a row must be a JSON object")
    return rows


def _from_hub() -> list[RawRow]:
    from datasets import load_dataset  # takes long to import, and files need none of it

    try:
        rows: list[RawRow] = load_dataset(**HUB).select_columns(ROW.names).to_list()
    except OSError as error:
        raise OSError(
            f"{error}. Without network give the rows as a local file with --source."
        ) from error
    return rows


def draw_pool(rows: list[TriviaRow], questions: pd.DataFrame) -> Pool:
    """Find the pool among the source's rows; ids, order and question hashes must agree, and most of the aliases."""
    by_id = questions.set_index("question_id")
    # with others, it is taken for the split
    is_whole = not {row["question_id"] for row in rows} <= set(by_id.index)
    if is_whole:
        order = list(
            questions.explode("pool_positions").sort_values("pool_positions")["question_id"]
        )
        drawn = _redraw(rows, len(order))
        advice = f" The source has {len(rows)} rows, the split {SPLIT_ROWS}."
    else:
        order = list(by_id.index)
        drawn = _join(rows, order)
        advice = ""
    _check(drawn, by_id.loc[order], advice)
    # of two copies, the one drawn first
    texts = {row["question_id"]: row for row in reversed(drawn)}
    aliases = _compare_aliases(texts, by_id["aliases_sha256"])
    by_start = list(by_id.index[by_id["question_sha256"] == ""])
    return Pool(drop_aliases(texts, by_id["dropped_aliases"]), is_whole, by_start, aliases)


def drop_aliases(
    texts: Mapping[str, TriviaRow],
    dropped: Mapping[str, Collection[str]],
) -> dict[str, TriviaRow]:
    """Return the texts without the gold aliases of these hashes."""
    kept = {}
    for question_id, row in texts.items():
        answer = row["answer"].copy()
        for name in LISTS:
            answer[name] = [
                alias for alias in answer[name] if sha256(plain(alias)) not in dropped[question_id]
            ]
        kept[question_id] = row | {"answer": answer}
    return kept


def _compare_aliases(
    texts: Mapping[str, TriviaRow],
    hashes: Mapping[str, str],
) -> dict[str, bool]:
    """Return for each hash whether it is that of the source's aliases; a second copy of a question may have others."""
    same = {}
    for question_id, expected in hashes.items():
        if expected:
            gold = texts[question_id]["answer"]
            same[question_id] = (
                aliases_sha256(gold["aliases"] + gold["normalized_aliases"]) == expected
            )
    other = [question_id for question_id, agrees in same.items() if not agrees]
    if 2 * len(other) > len(same):
        examples = f"{', '.join(other[:3])} ({len(other)} of {len(same)})"
        raise ValueError(f"gold aliases must be those of TriviaQA; got others for {examples}.")
    return same


def _redraw(rows: list[TriviaRow], size: int) -> list[TriviaRow]:
    if len(rows) < size:
        rule = f"source must be the whole split of {SPLIT_ROWS} rows, from which the pool is drawn"
        number = f"{len(rows)} rows with questions outside the pool"
        raise ValueError(f"{rule}, or the pool's questions only; got {number}.")
    from datasets import Dataset  # as above

    index = Dataset.from_dict({"row": range(len(rows))})
    drawn = index.shuffle(seed=SEED).select(range(size))
    return [rows[row] for row in drawn["row"]]


def _join(
    rows: list[TriviaRow],
    ids: list[str],
) -> list[TriviaRow]:
    present = [row["question_id"] for row in rows]
    counts = Counter(present)
    rule = "question_id must be unique in a source of the pool's questions"
    require(lambda question_id: counts[question_id] == 1, present, rule)
    by_id = dict(zip(present, rows, strict=True))
    missing = [question_id for question_id in ids if question_id not in by_id]
    if missing:
        examples = f"{missing[0]} is missing ({len(missing)} of {len(ids)})"
        raise ValueError(f"source must have all {len(ids)} questions of the pool; {examples}.")
    return [by_id[question_id] for question_id in ids]


def _check(
    drawn: list[TriviaRow],
    expected: pd.DataFrame,
    advice: str,
) -> None:
    """Raise a ValueError unless the rows are those of the curation, by id and by the hash of the question."""
    wrong = []
    for position, (row, known) in enumerate(zip(drawn, expected.itertuples(), strict=True)):
        text = row["question"]
        if row["question_id"] != known.Index:
            wrong.append(f"{row['question_id']} instead of {known.Index} at index {position}")
        elif (
            sha256(text) != known.question_sha256
            and sha256(text[:START]) != known.question_start_sha256
        ):
            wrong.append(f"another text of {known.Index} at index {position}")
    if wrong:
        examples = f"{', '.join(wrong[:3])} ({len(wrong)} of {len(drawn)})"
        raise ValueError(f"pool rows must be those of the curation; got {examples}.{advice}")
