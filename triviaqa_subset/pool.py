"""TriviaQA's rows -> the pool's texts: redraws the pool as the paper drew it, and checks it."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, TypeGuard

import pandas as pd
import pyarrow.parquet as pq

from .checking import require
from .matching import Gold, aliases_sha256, sha256

HUB = {"path": "mandarjoshi/trivia_qa", "name": "rc.nocontext", "split": "validation"}
SPLIT_ROWS = 17_944
SEED = 42
START = 200  # characters of a question of which only those were available
SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet")
ANSWER = ("value", "aliases", "normalized_aliases")

RawRow = dict[str, Any]  # a row of a file, of which nothing is known yet


class TriviaRow(TypedDict):
    """A question of TriviaQA with its gold answer."""

    question_id: str
    question: str
    answer: Gold


class Pool(NamedTuple):
    """The texts of the pool, and what of them could be checked.

    Attributes
    ----------
    texts : dict of str to TriviaRow
        By question_id.
    redrawn : bool
        Whether the draw was repeated.
    by_start : list of str
        The questions of whose text only the first 200 characters have a hash to be checked against.
    aliases : dict of str to bool
        Whether the gold aliases are those of the curation, for each question for which it has a hash of them.
    """

    texts: dict[str, TriviaRow]
    redrawn: bool
    by_start: list[str]
    aliases: dict[str, bool]


def read_source(source: str | None) -> list[TriviaRow]:
    """Read TriviaQA's validation rows from the Hub or from a local file.

    Parameters
    ----------
    source : str or None
        None: the Hub. A file that `read_rows` reads, with the Hub's columns `question_id`, `question` and
        `answer` {value, aliases, normalized_aliases}; instead of `answer`, a list column `aliases`.

    Returns
    -------
    list of dict
        `question_id`, `question`, `answer`, in the source's order.

    Raises
    ------
    ValueError
        As `read_rows`; a missing column (names those found), or a value that is not text, with file and row.
    OSError
        A file that cannot be read, or the Hub out of reach.
    """
    rows = _from_hub() if source is None else read_rows(source)
    return [_as_row(row, f"{source or 'the Hub'}, row {number}") for number, row in enumerate(rows)]


def read_rows(file: str) -> list[RawRow]:
    """Read a file of rows.

    Parameters
    ----------
    file : str
        JSON lines (.jsonl, .ndjson), Parquet (.parquet), or JSON (.json): one document, a list of objects
        or an object of columns. A .json file that is no document is read as JSON lines.

    Returns
    -------
    list of dict

    Raises
    ------
    ValueError
        Another suffix, or content that is not what the suffix says, with the line.
    OSError
        A file that cannot be read.
    """
    suffix = Path(file).suffix
    if suffix == ".parquet":
        rows: list[RawRow] = pq.read_table(file).to_pylist()
        return rows
    if suffix not in SUFFIXES:
        raise ValueError(f"source must end in one of {', '.join(SUFFIXES)}; got {file}.")
    text = _text(file)
    document = _document(text) if suffix == ".json" else None
    return _json_lines(text, file) if document is None else _rows_of(document, file)


def draw_pool(rows: list[TriviaRow], questions: pd.DataFrame) -> Pool:
    """Find the pool among the source's rows and check it against the curation.

    A source with questions outside the pool is taken to be the whole split: the draw is repeated, and
    ids, order and question hashes must agree. One with questions of the pool only is joined by
    question_id, and the hashes must agree. Of the gold aliases more than half must agree.

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
    hashes = {row.question_id: (row.question_sha256, row.question_start_sha256) for row in questions.itertuples()}
    _check(drawn, order, hashes, f" The source has {len(rows)} rows, the split {SPLIT_ROWS}." if redrawn else "")
    texts = {row["question_id"]: row for row in reversed(drawn)}  # of two copies, the one drawn first
    aliases = _compare_aliases(texts, dict(zip(ids, questions["aliases_sha256"], strict=True)))
    return Pool(texts, redrawn, [question_id for question_id in ids if not hashes[question_id][0]], aliases)


def _compare_aliases(texts: dict[str, TriviaRow], hashes: dict[str, str]) -> dict[str, bool]:
    """Return for each hash whether it is that of the source's aliases; refuse a source where most of them are not.

    A few may differ: a question that was drawn twice may have other aliases in its other copy.
    """
    golds = {question_id: texts[question_id]["answer"] for question_id, known in hashes.items() if known}
    found = {i: aliases_sha256([*gold["aliases"], *gold["normalized_aliases"]]) for i, gold in golds.items()}
    same = {question_id: own == hashes[question_id] for question_id, own in found.items()}
    other = [question_id for question_id, agrees in same.items() if not agrees]
    if 2 * len(other) > len(same):
        raise ValueError(
            f"gold aliases must be those of TriviaQA; got others for {', '.join(other[:3])} "
            f"({len(other)} of {len(same)})."
        )
    return same


def _from_hub() -> list[RawRow]:
    from datasets import load_dataset  # takes long to import, and files need none of it

    try:
        rows: list[RawRow] = load_dataset(**HUB).select_columns(["question_id", "question", "answer"]).to_list()
    except OSError as error:
        raise OSError(f"{error}. Without network give the rows as a local file with --source.") from error
    return rows


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} must be UTF-8; got {error.reason} at byte {error.start}.") from error


def _document(text: str) -> object:
    """Return the value of a JSON document, or None if the text is not a single one."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


def _rows_of(document: object, file: str) -> list[RawRow]:
    if isinstance(document, list) and all(isinstance(row, dict) for row in document):
        return document
    if isinstance(document, dict):
        columns = document.values()
        if not all(isinstance(column, list) for column in columns):
            return [document]  # JSON lines of a single row
        if len({len(column) for column in columns}) <= 1:
            return [dict(zip(document, row, strict=True)) for row in zip(*columns, strict=True)]
    raise ValueError(
        f"{file} must hold a list of objects, or an object of columns of one length; got {str(document)[:40]}."
    )


def _json_lines(text: str, file: str) -> list[RawRow]:
    # Not splitlines: texts may hold other characters that end lines.
    lines = text.removesuffix("\n").split("\n") if text else []
    return [_parse(line, f"{file}, line {number}") for number, line in enumerate(lines, 1)]


def _parse(line: str, place: str) -> RawRow:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{place} must be JSON; got {line.strip()[:40]!r} ({error.msg}).") from error
    if not isinstance(row, dict):
        raise ValueError(f"{place} must be a JSON object; got {line.strip()[:40]}.")
    return row


def _as_row(row: RawRow, place: str) -> TriviaRow:
    answer = row.get("answer")
    if "answer" not in row and "aliases" in row:
        answer = {"value": None, "aliases": row["aliases"], "normalized_aliases": []}
    for name in ("question_id", "question"):
        if not isinstance(row.get(name), str):
            raise ValueError(f"{place}: {name} must be text; {_found(row, name)}.")
    if not _is_gold(answer):
        raise ValueError(f"{place}: {_wrong_answer(row)}.")
    gold = Gold(value=answer["value"], aliases=answer["aliases"], normalized_aliases=answer["normalized_aliases"])
    return {"question_id": row["question_id"], "question": row["question"], "answer": gold}


def _found(row: RawRow, name: str) -> str:
    return f"got {repr(row[name])[:60]}" if name in row else f"there is none, only {', '.join(row)}"


def _wrong_answer(row: RawRow) -> str:
    """Say which part of a gold answer is missing or of another type."""
    if "answer" not in row and "aliases" in row:
        return f"aliases must be a list of text; {_found(row, 'aliases')}"
    answer = row.get("answer")
    if not isinstance(answer, dict) or not set(ANSWER) <= set(answer):
        got = f"got {', '.join(answer)}" if isinstance(answer, dict) else _found(row, "answer")
        return f"answer must have value (text), aliases and normalized_aliases (lists of text); {got}"
    if not isinstance(answer["value"], str | None):
        return f"answer: value must be text; {_found(answer, 'value')}"
    name = next(name for name in ANSWER[1:] if not _is_texts(answer[name]))
    return f"answer: {name} must be a list of text; {_found(answer, name)}"


def _is_texts(texts: object) -> bool:
    return isinstance(texts, list) and all(isinstance(text, str) for text in texts)


def _is_gold(answer: object) -> TypeGuard[Gold]:
    if not isinstance(answer, dict) or not set(ANSWER) <= set(answer):
        return False
    return isinstance(answer["value"], str | None) and all(_is_texts(answer[name]) for name in ANSWER[1:])


def _pool_order(questions: pd.DataFrame) -> list[str]:
    pairs = zip(questions["pool_positions"], questions["question_id"], strict=True)
    at = {position: question_id for positions, question_id in pairs for position in positions}
    return [at[position] for position in range(len(at))]


def _redraw(rows: list[TriviaRow], size: int) -> list[TriviaRow]:
    if len(rows) < size:
        raise ValueError(
            f"source must be the whole split of {SPLIT_ROWS} rows, from which the pool is drawn, or the pool's "
            f"questions only; got {len(rows)} rows with questions outside the pool."
        )
    from datasets import Dataset  # as above

    index = Dataset.from_dict({"row": range(len(rows))})
    return [rows[row] for row in index.shuffle(seed=SEED).select(range(size))["row"]]


def _join(rows: list[TriviaRow], ids: list[str]) -> list[TriviaRow]:
    given = [row["question_id"] for row in rows]
    counts = Counter(given)
    require(
        (counts[own] == 1 for own in given), given, "question_id must be unique in a source of the pool's questions"
    )
    by_id = dict(zip(given, rows, strict=True))
    require_all(by_id, ids, "source", "pool")
    return [by_id[question_id] for question_id in ids]


def require_all(given: Mapping[str, object], ids: list[str], source: str, whole: str) -> None:
    """Raise a ValueError unless a source has all questions of a whole: the pool or the curated subset."""
    missing = [question_id for question_id in ids if question_id not in given]
    if missing:
        raise ValueError(
            f"{source} must have all {len(ids)} questions of the {whole}; {missing[0]} is missing "
            f"({len(missing)} of {len(ids)})."
        )


def _check(drawn: list[TriviaRow], order: list[str], hashes: dict[str, tuple[str, str]], advice: str) -> None:
    wrong = []
    for position, (row, expected) in enumerate(zip(drawn, order, strict=True)):
        if row["question_id"] != expected:
            wrong.append(f"{row['question_id']} instead of {expected} at index {position}")
        elif sha256(row["question"]) != hashes[expected][0] and sha256(row["question"][:START]) != hashes[expected][1]:
            wrong.append(f"another text of {expected} at index {position}")
    if wrong:
        first = ", ".join(wrong[:3])
        raise ValueError(
            f"pool rows must be those of the curation; got {first} ({len(wrong)} of {len(order)}).{advice}"
        )
