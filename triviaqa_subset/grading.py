"""Is an answer correct? By exact match, else by the label bank, else by a judge, else it stays unknown."""

import csv
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tqdm.auto import tqdm

from .matching import answer_sha256, exact_match, matches, normalize_answer, normalized, sha256

__all__ = ["Grades", "answer_sha256", "exact_match", "grade", "label_bank", "normalize_answer"]

BANK = Path(__file__).parent / "curation" / "answers.csv"
STATES = ("exact", "bank", "judge", "unjudged")

Key = tuple[str, str]  # question_id, normalised answer
Judge = Callable[[str, str, list[str]], bool | None]


class Grades(NamedTuple):
    """Parallel columns, one entry per answer in the order given, and how many were decided which way.

    `correct` holds True, False or None (unknown); `decided_by` one of `exact`, `bank`, `judge`,
    `unjudged`; `counts` the number of answers in each of the four states.
    """

    correct: list[bool | None]
    decided_by: list[str]
    counts: dict[str, int]


def label_bank(table: Mapping[str, Any] | None = None) -> dict[tuple[str, str], bool]:
    """Index the label bank by question and answer hash.

    Parameters
    ----------
    table : mapping of columns, optional
        Has `question_id`, `answer_sha256` and `correct`: the configuration `answers`, a DataFrame or
        a dict. By default the bank that lies beside this module.

    Returns
    -------
    dict
        (question_id, answer_sha256) -> correct.
    """
    if table is None:
        return _own_bank()
    labels = (bool(label) for label in table["correct"])
    return dict(zip(zip(table["question_id"], table["answer_sha256"], strict=True), labels, strict=True))


def grade(
    answers: Mapping[str, Any],
    dataset: Mapping[str, Any],
    *,
    bank: Mapping[str, Any] | None = None,
    judge: Judge | None = None,
    rule: str = "equality",
) -> Grades:
    """Grade whole columns of answers; what nothing decides stays unknown and is counted.

    Parameters
    ----------
    answers : mapping of columns
        `question_id` and `answer` (str), one row an answer, any number of rows per question: a dict of
        lists, a DataFrame or a `datasets.Dataset`.
    dataset : mapping of columns
        The configuration `curated` or `pool`. With text it gives the gold aliases; without, only the
        label bank decides, and a warning says so.
    bank : mapping of columns, optional
        A label bank (see `label_bank`) in place of the one beside this module.
    judge : callable, optional
        Asked `judge(question, answer, gold_aliases)` once for each distinct normalised answer that is
        neither an exact match nor in the bank; returns True, False, or None for "cannot tell".
    rule : {"equality", "containment"}
        How `exact_match` compares.

    Returns
    -------
    Grades
        `correct`, `decided_by` and `counts`; ``counts["unjudged"]`` answers have `correct` None.

    Raises
    ------
    ValueError
        A question that the dataset does not have; an unknown rule; a judge with a text-free dataset.
    TypeError
        An answer that is not a string; a judge that returns something other than True, False or None.

    Examples
    --------
    >>> dataset = {"question_id": ["q1"], "question": ["Capital of France?"],
    ...            "answer": [{"value": "Paris", "aliases": ["Paris"], "normalized_aliases": ["paris"]}]}
    >>> answers = {"question_id": ["q1", "q1"], "answer": ["**Paris**.", "Lutetia"]}
    >>> grade(answers, dataset).correct
    [True, None]
    >>> grade(answers, dataset, judge=lambda question, answer, gold: answer == "Lutetia").counts
    {'exact': 1, 'bank': 0, 'judge': 1, 'unjudged': 0}
    """
    keys = _keys(answers, known=set(dataset["question_id"]))
    first = dict(zip(reversed(keys), reversed(list(answers["answer"])), strict=True))  # wording of each key
    gold, labels = _gold(dataset), label_bank(bank)
    verdicts = {key: _look_up(key, gold, labels, rule) for key in dict.fromkeys(keys)}
    if judge is not None:
        open_ = {key: first[key] for key, (_, state) in verdicts.items() if state == "unjudged"}
        verdicts |= _ask(judge, open_, dataset)
    correct, decided_by = zip(*(verdicts[key] for key in keys), strict=True) if keys else ((), ())
    return Grades(list(correct), list(decided_by), {state: decided_by.count(state) for state in STATES})


def _keys(answers: Mapping[str, Any], *, known: set[str]) -> list[Key]:
    ids, texts = list(answers["question_id"]), list(answers["answer"])
    wrong = [row for row, text in enumerate(texts) if not isinstance(text, str)]
    if wrong:
        raise TypeError(
            f"every answer must be a string; {len(wrong)} of {len(texts)} are not, the first in row "
            f"{wrong[0]}: {texts[wrong[0]]!r}. Pass an empty string where a system gave no answer"
        )
    strange = [row for row, question_id in enumerate(ids) if question_id not in known]
    if strange:
        raise ValueError(
            f"every question_id must be in the dataset; {len(strange)} of {len(ids)} rows are not, the "
            f"first in row {strange[0]}: {ids[strange[0]]!r}. Drop them, or grade against `pool`"
        )
    return [(question_id, normalize_answer(text)) for question_id, text in zip(ids, texts, strict=True)]


def _gold(dataset: Mapping[str, Any]) -> dict[str, set[str]]:
    if not _has_text(dataset):
        warnings.warn(
            "this dataset has no `answer` column, so no exact match can be found and the label bank alone "
            "decides; build the dataset with its text for exact matches",
            stacklevel=3,
        )
        return {}
    rows = zip(dataset["question_id"], dataset["answer"], strict=True)
    return {question_id: normalized(_aliases(gold)) for question_id, gold in rows}


def _has_text(dataset: Mapping[str, Any]) -> bool:
    return "answer" in getattr(dataset, "column_names", dataset)


def _aliases(gold: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([*gold["aliases"], *gold["normalized_aliases"]]))


def _look_up(key: Key, gold: dict[str, set[str]], bank: dict, rule: str) -> tuple[bool | None, str]:
    question_id, answer = key
    if matches(answer, gold.get(question_id, set()), rule):
        return True, "exact"
    label = bank.get((question_id, sha256(answer)))
    return label, "unjudged" if label is None else "bank"


def _ask(judge: Judge, raw: dict[Key, str], dataset: Mapping[str, Any]) -> dict[Key, tuple[bool | None, str]]:
    if not _has_text(dataset):
        raise ValueError("a judge needs questions and gold answers; this dataset has none: build it with text")
    columns = (dataset["question_id"], dataset["question"], dataset["answer"])
    texts = {i: (question, _aliases(gold)) for i, question, gold in zip(*columns, strict=True)}
    verdicts: dict[Key, tuple[bool | None, str]] = {}
    for key, answer in tqdm(raw.items(), desc="judge", unit="answer", delay=1):
        verdict = judge(texts[key[0]][0], answer, texts[key[0]][1])
        if verdict not in (True, False, None):
            raise TypeError(f"a judge returns True, False or None; for {key[0]}, {answer!r}: {verdict!r}")
        verdicts[key] = (None, "unjudged") if verdict is None else (bool(verdict), "judge")
    return verdicts


@cache
def _own_bank() -> dict[tuple[str, str], bool]:
    with BANK.open(encoding="utf-8", newline="") as file:
        return {(row["question_id"], row["answer_sha256"]): row["correct"] == "1" for row in csv.DictReader(file)}
