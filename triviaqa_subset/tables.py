"""The tables of the dataset as they were built: its questions, and labels of the answers of systems."""

from functools import cache
from pathlib import Path

import pandas as pd

from .folders import dataset_folder
from .labels import METHODS, STRATA

ASKED = ("curated", "kept")
WORDS = {"stratum": tuple(STRATA), "method": METHODS}  # a column -> its class labels


@cache
def table(name: str, folder: Path | None = None) -> pd.DataFrame:
    """Return a configuration, by default of the newest build, with names for class labels."""
    frame = pd.read_parquet((folder or dataset_folder()) / "data" / f"{name}.parquet")
    for column in WORDS.keys() & set(frame.columns):
        frame[column] = frame[column].map(dict(enumerate(WORDS[column])))
    return frame


def write_form(asked: str, path: Path) -> None:
    """Write the ids of questions, and the texts where there are some, with empty columns for answers."""
    frame = table(asked)
    shown = [name for name in ("question_id", "question") if name in frame]
    frame[shown].assign(answer="", confidence="").to_csv(path, index=False)


def with_design(frame: pd.DataFrame, asked: str) -> pd.DataFrame:
    """Return answers in the order of the questions, with the weight and the stratum of each."""
    questions = table(asked).set_index("question_id")
    order = questions.index.get_indexer(frame["question_id"]).argsort()
    return frame.iloc[order].join(questions[["weight", "stratum"]], on="question_id")
