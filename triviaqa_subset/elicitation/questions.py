"""Questions as samples of Inspect: the accepted answers are the target, weight and stratum are metadata."""

import csv
from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, TypeGuard

import pyarrow.parquet as pq
from inspect_ai.dataset import Sample

from ..folders import BUILT, FOLDER
from ..labels import STRATA, read_labels
from ..pool import RawRow, draw_pool, read_rows, read_source

SETS = ("curated", "kept", "pool")
MMLU = {"path": "cais/mmlu", "name": "all", "split": "test"}


def triviaqa_samples(questions: str, dataset: str | None, source: str | None) -> list[Sample]:
    """Return questions of the dataset, from a folder that was built with text, or with the texts of a source."""
    if questions not in SETS:
        raise ValueError(f"questions must be one of {', '.join(SETS)}; got {questions!r}.")
    folder = Path(dataset) if dataset else BUILT if BUILT.exists() and not source else FOLDER
    rows = pq.read_table(folder / "data" / f"{questions}.parquet").to_pylist()
    if source:
        texts = draw_pool(read_source(source), read_labels(FOLDER / "curation").questions).texts
        rows = [row | texts[row["question_id"]] for row in rows]
    if "question" not in rows[0]:
        raise ValueError(
            f"dataset must have the texts of its questions; got {folder} without. Build it with text first, "
            "`python -m triviaqa_subset.build`, or give TriviaQA's rows here: -T source=FILE."
        )
    return [_dataset_sample(row) for row in rows]


def mmlu_samples(source: str | None) -> list[Sample]:
    """Return questions of a file, see `own_samples`, or MMLU's test split from the Hub."""
    if source:
        return own_samples(source)
    from datasets import load_dataset  # takes long to import

    return _samples(load_dataset(**MMLU).to_list(), MMLU["path"])


def own_samples(file: str) -> list[Sample]:
    """Return the questions of a CSV, JSON lines, JSON or Parquet file.

    A row has `question` and `answer`, a text or several that are right (in CSV separated by |); with `choices` the
    answer is a letter, or a number from 0. `question_id`, `weight` and `stratum` are optional.
    """
    if Path(file).suffix != ".csv":
        return _samples(read_rows(file), file)
    with Path(file).open(encoding="utf-8-sig", newline="") as lines:
        rows = [{name: text.split("|") for name, text in row.items() if text} for row in csv.DictReader(lines)]
    return _samples([{name: cell if cell[1:] else cell[0] for name, cell in row.items()} for row in rows], file)


def _samples(rows: Sequence[RawRow], file: str) -> list[Sample]:
    samples = [_own_sample(row, number, f"{file}, row {number}") for number, row in enumerate(rows)]
    if not samples or len({sample.id for sample in samples}) < len(samples):
        raise ValueError(f"{file} must have questions, each with a question_id of its own; got {len(samples)}.")
    return samples


def _own_sample(row: RawRow, number: int, place: str) -> Sample:
    question, answer, choices = row.get("question"), row.get("answer"), row.get("choices")
    letters = list(ascii_uppercase[: len(choices)]) if _are_texts(choices) and len(choices) <= 26 else []
    if letters and str(answer).isdecimal() and int(str(answer)) < len(letters):
        answer = letters[int(str(answer))]
    accepted = answer if isinstance(answer, list) else [answer]
    if not isinstance(question, str) or not _are_texts(accepted) or (choices and accepted[0] not in letters):
        raise ValueError(
            f"{place} must have a question (text) and an answer, a text or several; or choices, and the letter or "
            f"number of one of them; got {row!r:.80}."
        )
    known: dict[str, Any] = {name: row[name] for name in ("weight", "stratum") if row.get(name) is not None}
    if "weight" in known:
        known["weight"] = float(known["weight"])
    own_id = str(row.get("question_id") or f"{row.get('subject') or 'q'}-{number}")
    return Sample(question, choices=choices, target=accepted, id=own_id, metadata=known)


def _dataset_sample(row: RawRow) -> Sample:
    aliases = dict.fromkeys([*row["answer"]["aliases"], *row["answer"]["normalized_aliases"]])
    known: dict[str, Any] = {name: row[name] for name in ("weight", "decision") if name in row}
    known["stratum"] = list(STRATA)[row["stratum"]]
    return Sample(row["question"], target=list(aliases), id=row["question_id"], metadata=known)


def _are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)
