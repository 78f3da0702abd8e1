"""Questions as samples of Inspect: the accepted answers are the target, weight and stratum are metadata."""

from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import TypeGuard

import pyarrow.parquet as pq
from inspect_ai.dataset import Sample, csv_dataset, json_dataset

from ..folders import BUILT, FOLDER
from ..labels import STRATA
from ..pool import RawRow

SETS = ("curated", "kept", "pool")
_LISTS = ("answer", "choices")  # columns that may hold several texts


def triviaqa_samples(questions: str, dataset: str | None) -> list[Sample]:
    """Return questions of the dataset, from a folder that was built with text."""
    if questions not in SETS:
        raise ValueError(f"questions must be one of {', '.join(SETS)}; got {questions!r}.")
    folder = Path(dataset) if dataset else BUILT if BUILT.exists() else FOLDER
    rows = pq.read_table(folder / "data" / f"{questions}.parquet").to_pylist()
    if "question" not in rows[0]:
        how = "Build it with text first: python -m triviaqa_subset.build."
        raise ValueError(f"dataset must have the texts of its questions; got {folder} without. {how}")
    golds = [dict.fromkeys([*row["answer"]["aliases"], *row["answer"]["normalized_aliases"]]) for row in rows]
    strata = [{"stratum": list(STRATA)[row["stratum"]]} for row in rows]
    return [own_sample(row | {"answer": list(gold)} | own) for row, gold, own in zip(rows, golds, strata, strict=True)]


def mmlu_samples() -> list[Sample]:
    """Return the questions of MMLU's test split, from the Hub."""
    from datasets import load_dataset  # takes long to import

    rows = load_dataset("cais/mmlu", "all", split="test").to_list()
    return [own_sample(row | {"question_id": f"{row['subject']}-{number}"}) for number, row in enumerate(rows)]


def own_samples(file: str) -> list[Sample]:
    """Return the questions of a CSV file, where | separates several texts in a cell, or of JSON or JSON lines."""
    if Path(file).suffix == ".csv":
        return list(csv_dataset(file, partial(own_sample, separator="|")))
    return list(json_dataset(file, own_sample))


def own_sample(row: RawRow, separator: str | None = None) -> Sample:
    """Return the sample of a row; with `choices` its `answer` is a letter or a number from 0, else texts."""
    given = {name: value for name, value in row.items() if value not in (None, "")}
    given |= {k: str(v).split(separator) for k, v in given.items() if k in _LISTS and separator and separator in str(v)}
    question, answer, choices = (given.get(name) for name in ("question", *_LISTS))
    letters = list(ascii_uppercase[: len(choices)]) if _are_texts(choices) and len(choices) <= 26 else []
    if letters and str(answer).isdecimal() and int(str(answer)) < len(letters):
        answer = letters[int(str(answer))]
    accepted = answer if isinstance(answer, list) else [answer]
    if not isinstance(question, str) or not _are_texts(accepted) or (choices and accepted[0] not in letters):
        rule = "a question (text) and an answer, a text or several; or choices, and the letter or number of one of them"
        raise ValueError(f"a row must have {rule}; got {row!r:.80}.")
    known: dict[str, object] = {name: str(given[name]) for name in ("stratum", "decision") if name in given}
    known |= {"weight": float(str(given["weight"]))} if "weight" in given else {}
    return Sample(question, choices=choices, target=accepted, id=given.get("question_id"), metadata=known)


def _are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)
