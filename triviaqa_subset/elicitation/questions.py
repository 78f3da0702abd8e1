"""Questions as samples of Inspect: the accepted answers are the target, weight and stratum are metadata."""

import csv
from collections.abc import Sequence
from logging import getLogger
from pathlib import Path
from string import ascii_uppercase

import pyarrow.parquet as pq
from inspect_ai.dataset import Sample

from ..folders import BUILT, FOLDER
from ..labels import STRATA
from ..matching import sha256
from ..pool import RawRow, read_rows, read_source, require_all

SETS = {"curated": "curated subset", "kept": "kept part of the pool", "pool": "pool"}  # a configuration -> what it is
MMLU = {"path": "cais/mmlu", "name": "all", "split": "test"}


def triviaqa_samples(questions: str, dataset: str | None, source: str | None) -> list[Sample]:
    """Return questions of the dataset, from a folder that was built with text, or with the texts of a source."""
    if questions not in SETS:
        raise ValueError(f"questions must be one of {', '.join(SETS)}; got {questions!r}.")
    folder = Path(dataset) if dataset else BUILT if BUILT.exists() and not source else FOLDER
    rows = pq.read_table(folder / "data" / f"{questions}.parquet").to_pylist()
    if source:
        texts = {row["question_id"]: row for row in reversed(read_source(source))}
        require_all(texts, [row["question_id"] for row in rows], source, SETS[questions])
        rows = [row | texts[row["question_id"]] for row in rows]
    if "question" not in rows[0]:
        raise ValueError(
            f"dataset must have the texts of its questions; got {folder} without. Build it with text first, "
            "`python -m triviaqa_subset.build`, or give TriviaQA's rows here: -T source=FILE."
        )
    _warn_of_changes(rows)
    return [_dataset_sample(row) for row in rows]


def mmlu_samples(source: str | None) -> list[Sample]:
    """Return questions of a file, see `own_samples`, or MMLU's test split from the Hub."""
    if source:
        return own_samples(source)
    from datasets import load_dataset  # takes long to import

    return _own(load_dataset(**MMLU).to_list(), MMLU["path"])


def own_samples(file: str) -> list[Sample]:
    """Return the questions of a CSV, JSON lines, JSON or Parquet file.

    A row has `question` and `answer`, a text or several that are right (in CSV separated by |); with `choices` the
    answer is a letter, or a number from 0. `question_id`, `weight` and `stratum` are optional.
    """
    if Path(file).suffix != ".csv":
        return _own(read_rows(file), file)
    with Path(file).open(encoding="utf-8-sig", newline="") as lines:
        rows = [{name: value for name, value in row.items() if value} for row in csv.DictReader(lines)]
    several = [{name: row[name].split("|") for name in ("answer", "choices") if "|" in row.get(name, "")} for row in rows]
    return _own([row | lists for row, lists in zip(rows, several, strict=True)], file)


def _own(rows: Sequence[RawRow], file: str) -> list[Sample]:
    samples = [_own_sample(row, number, f"{file}, row {number}") for number, row in enumerate(rows)]
    ids = [sample.id for sample in samples]
    if not ids or len(set(ids)) < len(ids):
        again = next((own for own in ids if ids.count(own) > 1), "no row")
        raise ValueError(f"{file} must have a row for each question, each with its own question_id; got {again}.")
    return samples


def _own_sample(row: RawRow, number: int, place: str) -> Sample:
    question, answer, choices = row.get("question"), row.get("answer"), row.get("choices")
    letters = list(ascii_uppercase[: len(choices)]) if _are_texts(choices) and len(choices) in range(2, 27) else []
    if not isinstance(question, str) or (choices is not None and not letters):
        raise ValueError(f"{place} must have a question (text), and choices may be 2 to 26 texts; got {row!r:.80}.")
    if letters and str(answer).isdecimal() and int(str(answer)) < len(letters):
        answer = letters[int(str(answer))]
    accepted = [text.strip() for text in answer] if _are_texts(answer) else [answer]
    if not _are_texts(accepted) or (letters and accepted[0] not in letters):
        raise ValueError(f"{place}: answer must be a text or several, or the letter of a choice; got {answer!r:.60}.")
    known = {name: row[name] for name in ("weight", "stratum") if row.get(name) is not None}
    if "weight" in known:
        known["weight"] = float(known["weight"])
    own_id = str(row.get("question_id") or f"{row.get('subject') or 'q'}-{number}")
    return Sample(question, choices=choices, target=accepted, id=own_id, metadata=known)


def _dataset_sample(row: RawRow) -> Sample:
    aliases = dict.fromkeys([*row["answer"]["aliases"], *row["answer"]["normalized_aliases"]])
    known = {"stratum": list(STRATA)[row["stratum"]]} | {name: row[name] for name in ("weight", "decision") if name in row}
    return Sample(row["question"], target=list(aliases), id=row["question_id"], metadata=known)


def _warn_of_changes(rows: Sequence[RawRow]) -> None:
    pool = pq.read_table(FOLDER / "data" / "pool.parquet", columns=["question_id", "question_sha256"]).to_pylist()
    hashes = {row["question_id"]: row["question_sha256"] for row in pool}
    known = [(row["question"], hashes.get(row["question_id"])) for row in rows]
    changed = sum(sha256(text) != expected for text, expected in known if expected)
    if changed:
        getLogger(__name__).warning("%d of %d question texts are not those of the curation", changed, len(rows))


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)
