"""Whether an answer is correct: by exact match, label bank and official normal form, by a judge, else unknown."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow.parquet as pq

from .checking import require
from .folders import FOLDER
from .matching import (
    BRACKET,
    Forms,
    answer_sha256,
    check_rule,
    contains,
    distinct_aliases,
    equals,
    equals_officially,
    exact_match,
    gold_forms,
    has_open_bracket,
    hashed_forms,
    normalize_answer,
    omits_sign,
    sha256,
)
from .readings import is_refusal, readings, without_markup

__all__ = [
    "Grades",
    "answer_sha256",
    "exact_match",
    "grade",
    "judge_key",
    "label_bank",
    "normalize_answer",
]

DECIDED_BY = ("exact", "bank", "official", "refusal", "contained", "judge", "unlabelled")
NO_GOLD = gold_forms([])

Columns = Mapping[str, Any]  # a dict of lists, a DataFrame or a datasets.Dataset
Key = tuple[str, str]  # question_id, answer
Bank = dict[tuple[str, str], bool]  # (question_id, answer_sha256 or full_sha256) -> correct
Grade = tuple[bool | None, str]  # correct, decided_by
Judge = Callable[[str, str, list[str]], bool | None]


@dataclass(frozen=True, slots=True)
class Grades:
    """The grades of answers, in their order, and how many were decided which way."""

    correct: list[bool | None]  # None: unknown
    decided_by: list[str]  # each of `DECIDED_BY`
    counts: dict[str, int]  # of answers, by the same names


def label_bank(table: Columns | None = None) -> Bank:
    """Index the label bank by question and answer hash.

    Parameters
    ----------
    table : mapping of columns, optional
        Has `question_id`, `answer_sha256` and `correct`, and may have `full_sha256`: the configuration `answers`,
        a DataFrame or a dict. By default the bank that comes with this package.

    Returns
    -------
    dict
        (question_id, answer_sha256) -> correct; where the normal form leaves out what the judge saw also
        (question_id, full_sha256) -> correct.

    Examples
    --------
    >>> label_bank()["sfq_178", answer_sha256("Unknown.")]
    False
    """
    if table is None:
        return _own_bank()
    bank = {}
    for column in ("answer_sha256", "full_sha256"):
        if _has_column(table, column):
            for question_id, key, label in zip(
                table["question_id"],
                table[column],
                table["correct"],
                strict=True,
            ):
                if isinstance(key, str):
                    bank[question_id, key] = bool(label)
    return bank


def judge_key(question: str, answer: str) -> str:
    """Return the key of a judge's verdict in a record: the SHA-256, in hex, of the question and the whole answer.

    Parameters
    ----------
    question : str
        Its text.
    answer : str
        As the system gave it: a judge may tell apart what a normal form does not, such as "Paris" and "Paris (or
        Lyon)". So it does not matter which of several runs was judged first.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> judge_key("Capital of France?", "Paris") == judge_key("Capital of France?", "Paris (or Lyon)")
    False
    """
    return sha256(json.dumps([question, answer]))


def grade(
    answers: Columns,
    dataset: Columns,
    *,
    bank: Columns | None = None,
    judge: Judge | None = None,
    rule: str = "equality",
) -> Grades:
    """Grade answers; what nothing decides is unknown, and counted.

    The first of these that applies decides. 1 to 3 are tried on the answer as it is, then on what is left of it
    without markup and the words at its ends that name nothing, see `readings`.

    1. `exact`: the answer equals a gold alias and does not hedge, see `exact_match`. Correct.
    2. `bank`: the label bank knows it. `correct` counts for a hedging answer only if this very answer was judged.
    3. `official`: it equals a gold alias in TriviaQA's own normal form, accents aside. Correct.
    4. `refusal`: it is empty, or says no more than that it has no answer. Incorrect.
    5. `contained`: only with ``rule="containment"``, it contains the words of a gold alias. Correct.
    6. `judge`: what the judge says, if there is one and it can tell.

    Parameters
    ----------
    answers : mapping of columns
        `question_id` and `answer` (str), one row per answer, any number of rows per question: a dict of
        lists, a DataFrame or a `datasets.Dataset`.
    dataset : mapping of columns
        The configuration `curated`, `kept` or `pool`. With text it has the gold aliases; without, their salted hashes
        decide alike: those of a column `gold_sha256`, as in the configuration `gold`, or else those of this package.
    bank : mapping of columns, optional
        A label bank (see `label_bank`) instead of the one that comes with this package.
    judge : callable, optional
        Called as `judge(question, answer, gold_aliases)` once for each distinct answer that
        nothing else decides; returns True, False, or None for "cannot tell".
    rule : {"equality", "containment"}
        Whether containing an alias is enough; never against the bank.

    Returns
    -------
    Grades
        `correct`, `decided_by` and `counts`; ``counts["unlabelled"]`` answers have `correct` None.

    Raises
    ------
    ValueError
        A question that the dataset does not have; an unknown rule; a judge with a dataset without text.
    TypeError
        An answer that is not a string; a judge that returns anything but True, False or None.

    Examples
    --------
    >>> dataset = {"question_id": ["q1"], "question": ["Capital of France?"],
    ...            "answer": [{"value": "Paris", "aliases": ["Paris"], "normalized_aliases": ["paris"]}]}
    >>> answers = {"question_id": ["q1", "q1"], "answer": ["**Paris**.", "Lutetia"]}
    >>> grade(answers, dataset).correct
    [True, None]
    >>> grade(answers, dataset, judge=lambda question, answer, gold: answer == "Lutetia").decided_by
    ['exact', 'judge']
    """
    check_rule(rule)
    keys = _keys(answers, known=set(dataset["question_id"]))
    gold = _gold(dataset)
    labels = label_bank(bank)
    grades = {
        key: _look_up(*key, gold.get(key[0], NO_GOLD), labels, rule) for key in dict.fromkeys(keys)
    }
    if judge is not None:
        undecided = [key for key, (label, _) in grades.items() if label is None]
        grades |= _judge(undecided, dataset, judge)
    correct = [grades[key][0] for key in keys]
    decided_by = [grades[key][1] for key in keys]
    return Grades(
        correct,
        decided_by,
        {way: decided_by.count(way) for way in DECIDED_BY},
    )


def _keys(
    answers: Columns,
    *,
    known: set[str],
) -> list[Key]:
    missing = [name for name in ("question_id", "answer") if not _has_column(answers, name)]
    if missing:
        raise ValueError(
            f"answers must have a column {missing[0]!r}. Pass {{'question_id': [..], 'answer': [..]}}, or a frame."
        )
    ids = list(answers["question_id"])
    texts = list(answers["answer"])
    advice = "Pass an empty string where a system gave no answer."
    require(
        lambda text: isinstance(text, str),
        texts,
        "answer must be text",
        advice,
        error=TypeError,
    )
    advice = "Drop these rows, or grade against `pool`."
    require(
        lambda question_id: question_id in known,
        ids,
        "question_id must be in the dataset",
        advice,
    )
    return list(zip(ids, texts, strict=True))


def _gold(dataset: Columns) -> dict[str, Forms]:
    """Return the forms of the gold aliases by question: of their text, or else by their salted hashes."""
    if _has_column(dataset, "answer"):
        rows = zip(dataset["question_id"], dataset["answer"], strict=True)
        return {question_id: gold_forms(distinct_aliases(gold)) for question_id, gold in rows}
    table = dataset if _has_column(dataset, "gold_sha256") else _own_table("gold")
    rows = zip(table["question_id"], table["gold_sha256"], strict=True)
    return {question_id: hashed_forms(question_id, hashes) for question_id, hashes in rows}


def _has_column(table: Columns, name: str) -> bool:
    return name in getattr(table, "column_names", table)


def _look_up(
    question_id: str,
    answer: str,
    gold: Forms,
    bank: Bank,
    rule: str,
) -> Grade:
    texts = readings(answer)
    for text in texts:
        if equals(text, gold):
            return True, "exact"
        label = _label(question_id, text, gold, bank)
        if label is not None:
            return label, "bank"
        if equals_officially(text, gold):
            return True, "official"
    if is_refusal(answer):
        return False, "refusal"
    if rule == "containment" and contains(without_markup(answer), gold):
        return True, "contained"
    return None, "unlabelled"


def _label(
    question_id: str,
    answer: str,
    gold: Forms,
    bank: Bank,
) -> bool | None:
    """Return the bank's label of this very answer, or of its normal form if that omits nothing that matters."""
    label = bank.get((question_id, answer_sha256(answer)))
    if label is None:
        return None
    whole = bank.get((question_id, sha256(answer.strip())))
    # dates and years were judged with their hyphens
    if omits_sign(answer.replace("-", ""), normalize_answer(answer)):
        return whole
    if label:
        matters = has_open_bracket(answer, gold)
    else:
        matters = _has_right_bracket(question_id, answer, gold, bank)
    return label if whole is None and not matters else whole


def _has_right_bracket(question_id: str, answer: str, gold: Forms, bank: Bank) -> bool:
    """Return whether a bracket of a wrong answer holds a right one: "Lyon (actually Paris)"."""
    return any(
        contains(inside, gold) or bank.get((question_id, answer_sha256(text)))
        for inside in BRACKET.findall(answer)
        for text in readings(inside)
    )


def _judge(
    undecided: list[Key],
    dataset: Columns,
    judge: Judge,
) -> dict[Key, Grade]:
    if not _has_column(dataset, "answer"):
        rule = "dataset must have questions and gold answers if there is a judge"
        raise ValueError(f"{rule}; it has none. Build it with text.")
    texts = zip(dataset["question"], dataset["answer"], strict=True)
    known = dict(zip(dataset["question_id"], texts, strict=True))
    grades: dict[Key, Grade] = {}
    for question_id, answer in undecided:
        question, gold = known[question_id]
        verdict = judge(question, answer, distinct_aliases(gold))
        if verdict not in (True, False, None):
            raise TypeError(
                f"judge must return True, False or None; got {verdict!r} for {question_id}, {answer!r}."
            )
        grades[question_id, answer] = (
            (None, "unlabelled") if verdict is None else (bool(verdict), "judge")
        )
    return grades


@cache
def _own_bank() -> Bank:
    return label_bank(_own_table("answers"))


@cache
def _own_table(name: str) -> Columns:
    columns: Columns = pq.read_table(FOLDER / "data" / f"{name}.parquet").to_pydict()
    return columns
