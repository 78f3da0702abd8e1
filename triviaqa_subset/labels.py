"""Reads the curation: which questions, which answers are correct, what each system did. It holds no text.

What must hold of its tables is in tests/triviaqa_subset/test_labels.py.
"""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from .folders import FOLDER

CURATION = FOLDER / "curation"
STRATA = {"exact_match_all": 256, "reviewed": 199}  # questions of the subset in each stratum
REASONS = ("ok", "ambiguous", "time_dependent", "bad_gold", "offensive")
METHODS = ("sequence_posterior", "is_true", "verbalized")
FORMER = ("in_curation_1", "in_curation_2")
FLAGS = ("selected", *FORMER, "exact_match", "correct", "debatable", "cut")


@dataclass(frozen=True, slots=True)
class Labels:
    """The tables of the curation that the dataset is made of, typed."""

    # in pool order, with lists of positions and of hashes
    questions: pd.DataFrame
    answers: pd.DataFrame  # the label bank
    # by question and system: exact match, correct, and the key of other answers in the bank
    systems: pd.DataFrame
    gold: pd.DataFrame  # salted hashes of the forms of those that are accepted


def read_labels(folder: Path) -> Labels:
    """Read the CSV files of the curation, of which only the types are made here."""
    questions = read_table(folder, "questions")
    questions["pool_positions"] = [
        [int(place) for place in text.split()] for text in questions["pool_positions"]
    ]
    dropped = read_table(folder, "aliases").groupby("question_id")["alias_sha256"].agg(list)
    questions["dropped_aliases"] = [
        dropped.get(question_id, []) for question_id in questions["question_id"]
    ]
    gold = read_table(folder, "gold")
    gold["gold_sha256"] = gold["gold_sha256"].str.split()
    return Labels(
        questions=questions,
        answers=read_table(folder, "answers"),
        systems=read_table(folder, "systems"),
        gold=gold,
    )


def read_table(folder: Path, name: str) -> pd.DataFrame:
    """Read a CSV file of the curation as text, but for its flags."""
    table = pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False)
    for column in table.columns.intersection(FLAGS):
        table[column] = table[column] == "1"
    return table
