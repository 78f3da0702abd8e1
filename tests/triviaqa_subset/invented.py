"""Invented texts of the pool's questions, and our curation with the hashes of these."""

import shutil

import numpy as np
import pandas as pd

from triviaqa_subset.labels import CURATION
from triviaqa_subset.matching import aliases_sha256, sha256

# some questions are known by their first 200 characters only
LONG = " It is not the largest of its cities." * 5


def as_row(question_id):
    """A row of TriviaQA."""
    city = f"City {question_id}"
    answer = {"value": city, "aliases": [city], "normalized_aliases": ["city"]}
    question = f"What is the capital of “{question_id}”?{LONG}"
    return {"question_id": question_id, "question": question, "answer": answer}


def write_curation(folder):
    """Write our curation with hashes of invented texts; ten questions stay without one. Return the rows."""
    shutil.copytree(CURATION, folder)
    questions = pd.read_csv(folder / "questions.csv", dtype=str, keep_default_na=False)
    rows = [as_row(question_id) for question_id in questions["question_id"]]
    for name, hashes in {
        "question_sha256": [sha256(row["question"]) for row in rows],
        "question_start_sha256": [sha256(row["question"][:200]) for row in rows],
        "aliases_sha256": [aliases_sha256([*row["answer"]["aliases"], "city"]) for row in rows],
    }.items():
        questions[name] = np.where(questions[name] == "", "", hashes)
    questions.to_csv(folder / "questions.csv", index=False)
    return rows
