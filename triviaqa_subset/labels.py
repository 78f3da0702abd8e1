"""Reads the curation: which questions, which answers are correct, what each system did. It holds no text."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from .checking import require

STRATA = {"exact_match_all": 256, "reviewed": 199}  # questions of the subset in each stratum
REASONS = ("ok", "ambiguous", "time_dependent", "bad_gold", "offensive")
METHODS = ("sequence_posterior", "is_true", "verbalized")
DECISIONS = ("keep", "alias", "discard")
FORMER = ("in_curation_1", "in_curation_2")
HASH, HASH_OR_NOT, FLAG = "[0-9a-f]{64}", "([0-9a-f]{64})?", "[01]"
# What a value of each column must be: a regular expression that it matches as a whole.
COLUMNS = {
    "questions": {
        "question_id": ".+", "pool_positions": "[0-9]+( [0-9]+)*", "stratum": "|".join(STRATA),
        "decision": "keep|discard", "reason": "|".join(REASONS), "selected": FLAG,
        **dict.fromkeys(FORMER, FLAG), "weight": "([0-9.]+)?", "question_sha256": HASH_OR_NOT,
        "question_start_sha256": HASH_OR_NOT, "aliases_sha256": HASH_OR_NOT,
    },
    "answers": {
        "question_id": ".+", "answer_sha256": HASH, "full_sha256": HASH_OR_NOT,
        "correct": FLAG, "debatable": FLAG, "cut": FLAG,
    },
    "systems": {
        "question_id": ".+", "llm": ".+", "method": "|".join(METHODS),
        "exact_match": FLAG, "correct": FLAG, "answer_sha256": HASH_OR_NOT,
    },
    "errata": {
        "curation": "[23]", "question_id": ".+", "answer_sha256": HASH_OR_NOT, "column": "reason|label",
        "before": ".+", "after": ".+", "why": ".+",
    },
    "decisions": {"question_id": ".+", "rule": "[a-z]+", "decision": "|".join(DECISIONS), "why": ".+"},
    "aliases": {"question_id": ".+", "alias_sha256": HASH, "why": ".+"},
}  # fmt: skip
KEYS = {
    "questions": ["question_id"], "answers": ["question_id", "answer_sha256"],
    "systems": ["question_id", "llm", "method"], "errata": ["curation", "question_id", "answer_sha256"],
    "decisions": ["question_id", "rule"], "aliases": ["question_id", "alias_sha256"],
}  # fmt: skip


class Labels(NamedTuple):
    """The tables of a curation folder, typed and checked."""

    questions: pd.DataFrame  # in pool order, with lists of positions and of hashes; `weight` is NaN outside the subset
    answers: pd.DataFrame  # the label bank
    systems: pd.DataFrame  # by question and system: exact match, correct, and the key of other answers in the bank
    errata: pd.DataFrame  # what each curation changed, or examined and left
    decisions: pd.DataFrame  # on each question that a rule of `checks` finds
    aliases: pd.DataFrame  # those that are dropped


def read_labels(folder: str | Path) -> Labels:
    """Read and check the six CSV files of a curation; a ValueError names table, rule, first value and count."""
    labels = Labels(*(_read(Path(folder), name) for name in COLUMNS))
    for name, table in zip(COLUMNS, labels, strict=True):
        known = table["question_id"].isin(labels.questions["question_id"])
        require(known, table["question_id"], f"{name}: question_id must be in questions")
    _check_questions(labels.questions)
    _check_systems(labels)
    _check_log(labels)
    questions = labels.questions
    questions["pool_positions"] = [[int(place) for place in text.split()] for text in questions["pool_positions"]]
    questions["weight"] = pd.to_numeric(questions["weight"], errors="coerce")
    dropped = labels.aliases.groupby("question_id")["alias_sha256"].agg(list)
    questions["dropped_aliases"] = [dropped.get(own, []) for own in questions["question_id"]]
    for name, table in zip(COLUMNS, labels, strict=True):
        for flag in (column for column, pattern in COLUMNS[name].items() if pattern == FLAG):
            table[flag] = table[flag] == "1"
    return labels


def _read(folder: Path, name: str) -> pd.DataFrame:
    path, columns = folder / f"{name}.csv", COLUMNS[name]
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if list(table.columns) != list(columns):
        raise ValueError(f"{path} must have the columns {', '.join(columns)}; got {', '.join(table)}.")
    for column, pattern in columns.items():
        require(table[column].str.fullmatch(pattern), table[column], f"{name}: {column} must match {pattern}")
    repeated = table.duplicated(KEYS[name])
    require(~repeated, table[KEYS[name][-1]], f"{name}: {', '.join(KEYS[name])} must be unique")
    return table


def _check_questions(questions: pd.DataFrame) -> None:
    def check(column: str, holds: pd.Series, rule: str) -> None:
        require(holds, questions[column], f"questions: {column} must {rule}")

    keep, selected = questions["decision"] == "keep", questions["selected"] == "1"
    check("reason", keep == (questions["reason"] == "ok"), "be ok for what is kept, and for nothing else")
    check("selected", keep | ~selected, "be 0 for what is discarded")
    only_start = (questions["question_start_sha256"] != "") == (questions["question_sha256"] == "")
    check("question_start_sha256", only_start, "be given where question_sha256 is not, and nowhere else")
    check("weight", (questions["weight"] != "") == selected, "be given for what is selected, and for nothing else")
    positions = sorted(int(place) for text in questions["pool_positions"] for place in text.split())
    pairs = zip(positions, range(len(positions)), strict=True)
    rule = f"questions: pool_positions must hold 0 to {len(positions) - 1} once each"
    require((position == place for position, place in pairs), positions, rule)


def _check_systems(labels: Labels) -> None:
    """Each system has each question, and each answer without an exact match is in the bank, with its label."""
    questions, answers, systems = labels[:3]
    of_correct = (answers["correct"] == "0") | (answers["debatable"] == "0")
    require(of_correct, answers["debatable"], "answers: debatable must be 0 for a correct answer")
    exact = (systems["exact_match"] == "1").to_numpy()
    right = ~exact | (systems["correct"] == "1")
    require(right, systems["correct"], "systems: correct must be 1 for an exact match")
    sizes = systems.groupby(["llm", "method"])["question_id"].transform("size")
    rule = f"systems: llm must have all {len(questions)} questions with each method"
    require(sizes == len(questions), systems["llm"], rule)
    by_all = systems.groupby("question_id")["exact_match"].min().reindex(questions["question_id"]) == "1"
    rule = "questions: stratum must be exact_match_all where every system has an exact match, and nowhere else"
    require(by_all.to_numpy() == (questions["stratum"] == "exact_match_all"), questions["stratum"], rule)
    label = systems.merge(answers, "left", on=KEYS["answers"], suffixes=("", "_of_bank"))["correct_of_bank"]
    rule = "systems: answer_sha256 must be that of an answer in answers with the same correct, and empty if exact_match"
    known = (label.fillna("") == systems["correct"]).to_numpy()
    require(np.where(exact, systems["answer_sha256"] == "", known), systems["answer_sha256"], rule)


def _check_log(labels: Labels) -> None:
    """Check that errata and decisions agree with the present state."""
    questions, answers, _, errata, decisions, aliases = labels
    state = {(own, ""): reason for own, reason in zip(questions["question_id"], questions["reason"], strict=True)}
    wrong = np.where(answers["debatable"] == "1", "debatable", "incorrect")
    named = np.where(answers["correct"] == "1", "correct", wrong)
    state |= dict(zip(zip(answers["question_id"], answers["answer_sha256"], strict=True), named, strict=True))
    last = errata.drop_duplicates(KEYS["errata"][1:], keep="last")
    rows = last[["question_id", "answer_sha256", "after"]].values
    holds = [state.get((own, key)) == after for own, key, after in rows]
    require(holds, last["question_id"], "errata: after must be what questions or answers say")
    kind = (errata["answer_sha256"] == "") == (errata["column"] == "reason")
    rule = "errata: column must be label where there is an answer_sha256, and reason elsewhere"
    require(kind, errata["column"], rule)
    discarded = questions["question_id"][questions["decision"] == "discard"]
    rule = "decisions: decision must be discard for what questions discard, and for nothing else"
    same = decisions["question_id"].isin(discarded) == (decisions["decision"] == "discard")
    require(same, decisions["question_id"], rule)
    rule = "decisions: question_id must hold all that is discarded"
    require(discarded.isin(decisions["question_id"]), discarded, rule)
    dropped = aliases["question_id"].isin(decisions["question_id"][decisions["decision"] == "alias"])
    require(dropped, aliases["question_id"], "aliases: question_id must have a decision alias")
