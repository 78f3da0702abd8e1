"""Reads the curation: which questions, which answers are correct, what each system did. It holds no text."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

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
    "gold": {"question_id": ".+", "source": "triviaqa|annotator", "gold_sha256": "[0-9a-f]{16}( [0-9a-f]{16})*"},
    "aliases": {"curation": "[34]", "question_id": ".+", "alias_sha256": HASH, "why": ".+"},
}  # fmt: skip
KEYS = {
    "questions": ["question_id"], "answers": ["question_id", "answer_sha256"],
    "systems": ["question_id", "llm", "method"], "errata": ["curation", "question_id", "answer_sha256"],
    "decisions": ["question_id", "rule"], "gold": ["question_id"], "aliases": ["question_id", "alias_sha256"],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Labels:
    """The tables of a curation folder, typed and checked."""

    # in pool order, with lists of positions and of hashes; `weight` is NaN outside the subset
    questions: pd.DataFrame
    answers: pd.DataFrame  # the label bank
    # by question and system: exact match, correct, and the key of other answers in the bank
    systems: pd.DataFrame
    errata: pd.DataFrame  # what each curation changed, or examined and left
    decisions: pd.DataFrame  # on each question that a rule of the curation finds
    gold: pd.DataFrame  # salted hashes of the forms of those that are accepted
    aliases: pd.DataFrame  # those that are dropped


def read_labels(folder: str | Path) -> Labels:
    """Read and check the seven CSV files of a curation; a ValueError names table, rule, first value and count."""
    tables = {name: _read(Path(folder), name) for name in COLUMNS}
    labels = Labels(**tables)
    for table in tables.values():
        _must(
            table,
            "question_id",
            table["question_id"].isin(labels.questions["question_id"]),
            "be in questions",
        )
    _check_questions(labels.questions)
    _check_systems(labels)
    _check_errata(labels)
    _check_decisions(labels)
    for name, table in tables.items():
        for column, pattern in COLUMNS[name].items():
            if pattern == FLAG:
                table[column] = table[column] == "1"
    questions = labels.questions
    questions["pool_positions"] = [
        [int(place) for place in text.split()] for text in questions["pool_positions"]
    ]
    questions["weight"] = pd.to_numeric(questions["weight"], errors="coerce")
    labels.gold["gold_sha256"] = labels.gold["gold_sha256"].str.split()
    dropped = labels.aliases.groupby("question_id")["alias_sha256"].agg(list)
    questions["dropped_aliases"] = [
        dropped.get(question_id, []) for question_id in questions["question_id"]
    ]
    return labels


def _read(folder: Path, name: str) -> pd.DataFrame:
    path = folder / f"{name}.csv"
    columns = COLUMNS[name]
    keys = KEYS[name]
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table.attrs["name"] = name
    if list(table.columns) != list(columns):
        raise ValueError(
            f"{path} must have the columns {', '.join(columns)}; got {', '.join(table)}."
        )
    for column, pattern in columns.items():
        _must(table, column, table[column].str.fullmatch(pattern), f"match {pattern}")
    require(~table.duplicated(keys), table[keys[-1]], f"{name}: {', '.join(keys)} must be unique")
    return table


def _must(
    table: pd.DataFrame,
    column: str,
    holds: Iterable[object],
    rule: str,
) -> None:
    require(holds, table[column], f"{table.attrs['name']}: {column} must {rule}")


def _check_questions(questions: pd.DataFrame) -> None:
    is_kept = questions["decision"] == "keep"
    is_selected = questions["selected"] == "1"
    is_ok = questions["reason"] == "ok"
    _must(questions, "reason", is_kept == is_ok, "be ok for what is kept, and for nothing else")
    _must(questions, "selected", is_kept | ~is_selected, "be 0 for what is discarded")
    has_weight = questions["weight"] != ""
    _must(
        questions,
        "weight",
        is_selected == has_weight,
        "be given for what is selected, and for nothing else",
    )
    only_start = (questions["question_start_sha256"] != "") == (questions["question_sha256"] == "")
    _must(
        questions,
        "question_start_sha256",
        only_start,
        "be given where question_sha256 is not, and nowhere else",
    )
    positions = sorted(int(place) for text in questions["pool_positions"] for place in text.split())
    rule = f"questions: pool_positions must hold 0 to {len(positions) - 1} once each"
    require((position == place for place, position in enumerate(positions)), positions, rule)


def _check_systems(labels: Labels) -> None:
    """Check that each system has each question, and that the bank has its answers without an exact match."""
    questions = labels.questions
    answers = labels.answers
    systems = labels.systems
    is_wrong = answers["correct"] == "0"
    _must(
        answers, "debatable", is_wrong | (answers["debatable"] == "0"), "be 0 for a correct answer"
    )
    is_exact = systems["exact_match"] == "1"
    _must(systems, "correct", ~is_exact | (systems["correct"] == "1"), "be 1 for an exact match")
    sizes = systems.groupby(["llm", "method"])["question_id"].transform("size")
    _must(
        systems,
        "llm",
        sizes == len(questions),
        f"have all {len(questions)} questions with each method",
    )
    by_all = (
        is_exact.groupby(systems["question_id"]).all().reindex(questions["question_id"]).to_numpy()
    )
    rule = "be exact_match_all where every system has an exact match, and nowhere else"
    _must(questions, "stratum", by_all == (questions["stratum"] == "exact_match_all"), rule)
    label = systems.merge(
        answers,
        "left",
        on=KEYS["answers"],
        suffixes=("", "_of_bank"),
    )["correct_of_bank"]
    is_known = label.fillna("").to_numpy() == systems["correct"]
    rule = "be that of an answer in answers with the same correct, and empty if exact_match"
    _must(
        systems,
        "answer_sha256",
        np.where(is_exact, systems["answer_sha256"] == "", is_known),
        rule,
    )


def _check_errata(labels: Labels) -> None:
    """Check that the last change of a question or an answer is its present state."""
    questions = labels.questions
    answers = labels.answers
    errata = labels.errata
    wrong = np.where(answers["debatable"] == "1", "debatable", "incorrect")
    state = pd.concat([
        questions[["question_id"]].assign(answer_sha256="", state=questions["reason"]),
        answers[KEYS["answers"]].assign(state=np.where(answers["correct"] == "1", "correct", wrong)),
    ])  # fmt: skip
    last = errata.drop_duplicates(KEYS["answers"], keep="last").merge(
        state,
        "left",
        on=KEYS["answers"],
    )
    rule = "errata: after must be what questions or answers say"
    require(last["after"] == last["state"], last["question_id"], rule)
    is_question = errata["answer_sha256"] == ""
    rule = "be label where there is an answer_sha256, and reason elsewhere"
    _must(errata, "column", is_question == (errata["column"] == "reason"), rule)


def _check_decisions(labels: Labels) -> None:
    """Check that what is discarded, and aliases that are dropped, have a decision that says so."""
    questions = labels.questions
    decisions = labels.decisions
    discarded = questions["question_id"][questions["decision"] == "discard"]
    is_discard = decisions["decision"] == "discard"
    rule = "be discard for what questions discard, and for nothing else"
    _must(decisions, "decision", decisions["question_id"].isin(discarded) == is_discard, rule)
    rule = "decisions: question_id must hold all that is discarded"
    require(discarded.isin(decisions["question_id"]), discarded, rule)
    with_alias = decisions["question_id"][decisions["decision"] == "alias"]
    _must(
        labels.aliases,
        "question_id",
        labels.aliases["question_id"].isin(with_alias),
        "have a decision alias",
    )
