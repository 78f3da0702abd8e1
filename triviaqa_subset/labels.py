"""Reads our curation: which questions, which answers are correct, what each system did. No text in it."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

STRATA = {"exact_match_all": 256, "reviewed": 199}  # questions of the subset in each stratum
REASONS = ("ok", "ambiguous", "time_dependent", "bad_gold", "offensive")
METHODS = ("sequence_posterior", "is_true", "verbalized")
COLUMNS = {
    "questions": (
        "question_id",
        "pool_positions",
        "stratum",
        "decision",
        "reason",
        "selected",
        "weight",
        "question_sha256",
    ),
    "answers": ("question_id", "answer_sha256", "correct", "debatable"),
    "systems": ("question_id", "llm", "method", "exact_match", "correct"),
}
FLAGS = ("selected", "correct", "debatable", "exact_match")


class Labels(NamedTuple):
    """The three tables of a curation folder, typed and checked.

    `questions` is in pool order with `pool_positions` a list of int and `weight` NaN outside the
    subset; `question_sha256` is empty where the text was not at hand whole.
    """

    questions: pd.DataFrame
    answers: pd.DataFrame
    systems: pd.DataFrame


def read_labels(folder: str | Path) -> Labels:
    """Read and check `questions.csv`, `answers.csv` and `systems.csv`.

    Parameters
    ----------
    folder : path
        The folder that holds them.

    Returns
    -------
    Labels

    Raises
    ------
    ValueError
        A column that is missing or unknown, a value outside its vocabulary, a repeated key, a question
        that no pool row has, or a system that lacks a question. Names table, rule, first row and count.
    OSError
        A file that cannot be read.
    """
    questions, answers, systems = (_read(Path(folder), name) for name in COLUMNS)
    _check_questions(questions)
    _check_answers(answers, questions)
    _check_systems(systems, questions)
    questions["pool_positions"] = [[int(p) for p in text.split()] for text in questions["pool_positions"]]
    questions["weight"] = pd.to_numeric(questions["weight"], errors="coerce")
    for table in (questions, answers, systems):
        for flag in table.columns.intersection(FLAGS):
            table[flag] = table[flag] == "1"
    return Labels(questions, answers, systems)


def _read(folder: Path, name: str) -> pd.DataFrame:
    path = folder / f"{name}.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if tuple(table.columns) != COLUMNS[name]:
        raise ValueError(f"{path} must have the columns {', '.join(COLUMNS[name])}; it has {', '.join(table)}")
    for flag in table.columns.intersection(FLAGS):
        require(table[flag].isin(("0", "1")), table, name, f"{flag} must be 0 or 1")
    return table


def require(holds: pd.Series, table: pd.DataFrame, name: str, rule: str) -> None:
    """Raise a ValueError that states the rule, the first row that breaks it, and how many do."""
    if not holds.all():
        first = table[~holds].iloc[0].to_dict()
        raise ValueError(f"{name}: {rule}; {(~holds).sum()} of {len(table)} rows break this, the first is {first}")


def _check_questions(questions: pd.DataFrame) -> None:
    def check(holds: pd.Series, rule: str) -> None:
        require(holds, questions, "questions", rule)

    check(~questions.duplicated("question_id"), "question_id must be unique")
    check(questions["stratum"].isin(tuple(STRATA)), f"stratum must be one of {', '.join(STRATA)}")
    check(questions["reason"].isin(REASONS), f"reason must be one of {', '.join(REASONS)}")
    check(questions["decision"].isin(("keep", "discard")), "decision must be keep or discard")
    check(
        (questions["decision"] == "keep") == (questions["reason"] == "ok"),
        "keep and the reason ok go together",
    )
    check(
        questions["question_sha256"].str.fullmatch("([0-9a-f]{64})?"),
        "question_sha256 must be 64 hex or empty",
    )
    check(questions["pool_positions"].str.fullmatch("[0-9]+( [0-9]+)*"), "pool_positions must be numbers")
    check((questions["weight"] != "") == (questions["selected"] == "1"), "the selected have a weight, no others")
    positions = sorted(int(p) for text in questions["pool_positions"] for p in text.split())
    if positions != list(range(len(positions))):
        raise ValueError(f"questions: pool_positions must hold 0 to {len(positions) - 1} once each; they do not")


def _check_answers(answers: pd.DataFrame, questions: pd.DataFrame) -> None:
    def check(holds: pd.Series, rule: str) -> None:
        require(holds, answers, "answers", rule)

    check(~answers.duplicated(["question_id", "answer_sha256"]), "an answer must be judged once")
    check(answers["answer_sha256"].str.fullmatch("[0-9a-f]{64}"), "answer_sha256 must be 64 hex digits")
    check(answers["question_id"].isin(questions["question_id"]), "question_id must be in questions")
    check((answers["correct"] == "0") | (answers["debatable"] == "0"), "a debatable answer must not be correct")


def _check_systems(systems: pd.DataFrame, questions: pd.DataFrame) -> None:
    def check(holds: pd.Series, rule: str) -> None:
        require(holds, systems, "systems", rule)

    check(~systems.duplicated(["question_id", "llm", "method"]), "a system answers a question once")
    check(systems["method"].isin(METHODS), f"method must be one of {', '.join(METHODS)}")
    check(systems["question_id"].isin(questions["question_id"]), "question_id must be in questions")
    check((systems["exact_match"] == "0") | (systems["correct"] == "1"), "an exact match is correct")
    sizes = systems.groupby(["llm", "method"])["question_id"].transform("size")
    check(sizes == len(questions), f"every system must have all {len(questions)} questions")
    exact = systems.groupby("question_id")["exact_match"].min() == "1"
    by_all = questions.set_index("question_id")["stratum"] == "exact_match_all"
    if not exact.reindex(by_all.index).equals(by_all):
        raise ValueError("questions: exact_match_all must be the questions that every system matched exactly")
