"""Labels, selection and texts -> the five configurations, as typed datasets."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
from datasets import ClassLabel, Dataset, Features, List, Value
from numpy.typing import NDArray

from .labels import METHODS, REASONS, STRATA, Labels
from .pool import TriviaRow

ID = {"question_id": Value("string")}
STRATUM = {"stratum": ClassLabel(names=list(STRATA))}
TEXT = {
    "question": Value("string"),
    "answer": {
        "value": Value("string"),
        "aliases": List(Value("string")),
        "normalized_aliases": List(Value("string")),
    },
}
CURATED = ID | STRATUM | {"weight": Value("float64"), "pool_position": Value("int32")}
POOL = (
    ID
    | {"pool_positions": List(Value("int32"))}
    | STRATUM
    | {
        "decision": Value("string"),
        "reason": ClassLabel(names=list(REASONS)),
        "selected": Value("bool"),
        "in_curation_1": Value("bool"),
        "question_sha256": Value("string"),
        "question_start_sha256": Value("string"),
        "aliases_sha256": Value("string"),
    }
)
SYSTEMS = ID | {
    "llm": Value("string"),
    "method": ClassLabel(names=list(METHODS)),
    "exact_match": Value("bool"),
    "correct": Value("bool"),
    "answer_sha256": Value("string"),
}
ANSWERS = ID | {
    "answer_sha256": Value("string"),
    "full_sha256": Value("string"),
    "correct": Value("bool"),
    "debatable": Value("bool"),
    "cut": Value("bool"),
}


def make_configurations(
    labels: Labels, selected: pd.Series, weight: NDArray[np.float64], texts: Mapping[str, TriviaRow]
) -> dict[str, Dataset]:
    """Make the configurations `curated`, `kept`, `pool`, `systems` and `answers`.

    Parameters
    ----------
    labels : Labels
    selected : Series of bool, length 977
        The questions of `curated`.
    weight : ndarray of float64, shape (977,)
        Positive where selected.
    texts : mapping
        question_id -> row with question and answer; empty for the form without text.

    Returns
    -------
    dict of str to Dataset
        With question and answer in `curated`, `kept` and `pool` where there are texts.
    """
    questions = labels.questions.assign(
        weight=weight,
        pool_position=[positions[0] for positions in labels.questions["pool_positions"]],
        **{name: labels.questions[name].replace("", None) for name in POOL if name.endswith("_sha256")},
    )
    text = TEXT if texts else {}
    for column in text:
        questions[column] = [dict(texts[own])[column] for own in questions["question_id"]]
    return {
        "curated": _dataset(questions[selected], CURATED | text),
        "kept": _dataset(questions[questions["decision"] == "keep"].assign(weight=1.0), CURATED | text),
        "pool": _dataset(questions.assign(selected=selected), POOL | text),
        "systems": _dataset(labels.systems.replace({"answer_sha256": {"": None}}), SYSTEMS),
        "answers": _dataset(labels.answers.replace({"full_sha256": {"": None}}), ANSWERS),
    }


def _dataset(table: pd.DataFrame, columns: Mapping[str, object]) -> Dataset:
    """Make a dataset of the given columns, from lists: without the index of pandas, and with null for NaN."""
    features = Features(columns)
    missing = table.isna()
    values = {name: table[name].astype(object).mask(missing[name], None).tolist() for name in columns}
    for name, feature in columns.items():
        if isinstance(feature, ClassLabel):
            values[name] = feature.str2int(values[name])
    return Dataset(pa.table(values, schema=features.arrow_schema))
