"""Reads the curation: which questions, which answers are correct, what each system did. It holds no text."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from .checking import require

STRATA = {"exact_match_all": 256, "reviewed": 199}  # questions of the subset in each stratum
REASONS = ("ok", "ambiguous", "time_dependent", "bad_gold", "offensive")
METHODS = ("sequence_posterior", "is_true", "verbalized")
CSV_COLUMNS = {
    "questions": (
        "question_id",
        "pool_positions",
        "stratum",
        "decision",
        "reason",
        "selected",
        "in_curation_1",
        "weight",
        "question_sha256",
        "question_start_sha256",
        "aliases_sha256",
    ),
    "answers": ("question_id", "answer_sha256", "full_sha256", "correct", "debatable", "cut"),
    "systems": ("question_id", "llm", "method", "exact_match", "correct", "answer_sha256"),
    "errata": ("question_id", "answer_sha256", "column", "before", "after", "why"),
}
FLAGS = ("selected", "in_curation_1", "correct", "debatable", "cut", "exact_match")


class Labels(NamedTuple):
    """The four tables of a curation folder, typed and checked.

    Attributes
    ----------
    questions : DataFrame
        In pool order; `pool_positions` holds lists of int, `weight` is NaN outside the subset,
        `question_sha256` is empty where the whole text was not available, where alone
        `question_start_sha256` is not, and `aliases_sha256` is empty where no alias was.
    answers : DataFrame
        The label bank. `cut`: the hash is of the answer's first 200 characters, which alone were available.
    systems : DataFrame
        Per question and system, whether its answer was an exact match and whether it was correct, and where it
        was no exact match its key in the label bank.
    errata : DataFrame
        What has changed since curation 1, or was looked at and left: the `reason` of a question, or the `label` of
        an answer (`correct`, `debatable`, `incorrect`), before and after, and why.
    """

    questions: pd.DataFrame
    answers: pd.DataFrame
    systems: pd.DataFrame
    errata: pd.DataFrame


def read_labels(folder: str | Path) -> Labels:
    """Read and check `questions.csv`, `answers.csv`, `systems.csv` and `errata.csv`.

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
        that is not in the pool, a system that lacks a question, or an erratum that does not say what is. Names
        table, rule, first value and count.
    OSError
        A file that cannot be read.
    """
    questions, answers, systems, errata = (_read(Path(folder), name) for name in CSV_COLUMNS)
    _check_questions(questions)
    _check_answers(answers, questions)
    _check_systems(systems, questions)
    _check_keys(systems, answers)
    _check_errata(errata, questions, answers)
    questions["pool_positions"] = [[int(p) for p in text.split()] for text in questions["pool_positions"]]
    questions["weight"] = pd.to_numeric(questions["weight"], errors="coerce")
    for table in (questions, answers, systems):
        for flag in table.columns.intersection(FLAGS):
            table[flag] = table[flag] == "1"
    return Labels(questions, answers, systems, errata)


def _read(folder: Path, name: str) -> pd.DataFrame:
    path = folder / f"{name}.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if tuple(table.columns) != CSV_COLUMNS[name]:
        raise ValueError(f"{path} must have the columns {', '.join(CSV_COLUMNS[name])}; got {', '.join(table)}.")
    for flag in table.columns.intersection(FLAGS):
        require(table[flag].isin(("0", "1")), table[flag], f"{name}: {flag} must be 0 or 1")
    return table


def _check_questions(questions: pd.DataFrame) -> None:
    def check(column: str, holds: pd.Series, rule: str) -> None:
        require(holds, questions[column], f"questions: {column} must {rule}")

    keep, selected = questions["decision"] == "keep", questions["selected"] == "1"
    check("question_id", ~questions.duplicated("question_id"), "be unique")
    check("stratum", questions["stratum"].isin(tuple(STRATA)), f"be one of {', '.join(STRATA)}")
    check("reason", questions["reason"].isin(REASONS), f"be one of {', '.join(REASONS)}")
    check("decision", questions["decision"].isin(("keep", "discard")), "be keep or discard")
    check("reason", keep == (questions["reason"] == "ok"), "be ok for what is kept, and for nothing else")
    for column in ("question_sha256", "question_start_sha256", "aliases_sha256"):
        check(column, questions[column].str.fullmatch("([0-9a-f]{64})?"), "be 64 hex digits or empty")
    only_start = (questions["question_start_sha256"] != "") == (questions["question_sha256"] == "")
    check("question_start_sha256", only_start, "be given where question_sha256 is not, and nowhere else")
    check("pool_positions", questions["pool_positions"].str.fullmatch("[0-9]+( [0-9]+)*"), "be whole numbers")
    check("weight", (questions["weight"] != "") == selected, "be given for what is selected, and for nothing else")
    positions = sorted(int(p) for text in questions["pool_positions"] for p in text.split())
    pairs = zip(positions, range(len(positions)), strict=True)
    rule = f"questions: pool_positions must hold 0 to {len(positions) - 1} once each"
    require((position == place for position, place in pairs), positions, rule)


def _check_answers(answers: pd.DataFrame, questions: pd.DataFrame) -> None:
    def check(column: str, holds: pd.Series, rule: str) -> None:
        require(holds, answers[column], f"answers: {column} must {rule}")

    check("answer_sha256", ~answers.duplicated(["question_id", "answer_sha256"]), "be unique within a question")
    check("answer_sha256", answers["answer_sha256"].str.fullmatch("[0-9a-f]{64}"), "be 64 hex digits")
    check("full_sha256", answers["full_sha256"].str.fullmatch("([0-9a-f]{64})?"), "be 64 hex digits or empty")
    check("question_id", answers["question_id"].isin(questions["question_id"]), "be in questions")
    check("debatable", (answers["correct"] == "0") | (answers["debatable"] == "0"), "be 0 for a correct answer")


def _check_systems(systems: pd.DataFrame, questions: pd.DataFrame) -> None:
    def check(column: str, holds: pd.Series, rule: str) -> None:
        require(holds, systems[column], f"systems: {column} must {rule}")

    check("question_id", ~systems.duplicated(["question_id", "llm", "method"]), "be unique within a system")
    check("method", systems["method"].isin(METHODS), f"be one of {', '.join(METHODS)}")
    check("question_id", systems["question_id"].isin(questions["question_id"]), "be in questions")
    check("correct", (systems["exact_match"] == "0") | (systems["correct"] == "1"), "be 1 for an exact match")
    sizes = systems.groupby(["llm", "method"])["question_id"].transform("size")
    check("llm", sizes == len(questions), f"have all {len(questions)} questions with each method")
    exact = systems.groupby("question_id")["exact_match"].min().reindex(questions["question_id"]) == "1"
    by_all = questions["stratum"] == "exact_match_all"
    rule = "questions: stratum must be exact_match_all where every system has an exact match, and nowhere else"
    require(exact.to_numpy() == by_all.to_numpy(), questions["stratum"], rule)


def _check_keys(systems: pd.DataFrame, answers: pd.DataFrame) -> None:
    """Every answer without an exact match is in the bank, with the label that the system has."""
    keys = ["question_id", "answer_sha256"]
    found = systems[keys].merge(answers.set_index(keys)["correct"], how="left", left_on=keys, right_index=True)
    label = found["correct"].fillna("").to_numpy()
    exact = (systems["exact_match"] == "1").to_numpy()
    rule = "systems: answer_sha256 must be that of an answer in answers with the same correct, and empty if exact_match"
    holds = np.where(exact, systems["answer_sha256"] == "", label == systems["correct"].to_numpy())
    require(holds, systems["answer_sha256"], rule)


def _check_errata(errata: pd.DataFrame, questions: pd.DataFrame, answers: pd.DataFrame) -> None:
    """Check that what a row says of the state after is the state."""
    of_answer = (errata["column"] == "label").to_numpy()
    rule = "errata: column must be label where there is an answer_sha256, and reason elsewhere"
    require(np.where(errata["answer_sha256"] != "", of_answer, errata["column"] == "reason"), errata["column"], rule)
    named = np.where(
        answers["correct"] == "1", "correct", np.where(answers["debatable"] == "1", "debatable", "incorrect")
    )
    labels = dict(zip(zip(answers["question_id"], answers["answer_sha256"], strict=True), named, strict=True))
    reasons = dict(zip(questions["question_id"], questions["reason"], strict=True))
    rows = zip(errata["question_id"], errata["answer_sha256"], errata["after"], strict=True)
    holds = [(labels.get((own, key)) if key else reasons.get(own)) == after for own, key, after in rows]
    require(holds, errata["question_id"], "errata: after must be what questions or answers say")
