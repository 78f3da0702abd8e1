"""Labels, selection and texts -> the six configurations, as typed datasets."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
from datasets import ClassLabel, Dataset, Features, List, Value
from numpy.typing import NDArray

from .folders import FOLDER
from .labels import FORMER, METHODS, REASONS, STRATA, Labels
from .pool import TriviaRow

PUBLISHED_FILE = FOLDER / "curation" / "published.csv"
ID = {"question_id": Value("string")}
STRATUM = {"stratum": ClassLabel(names=list(STRATA))}
METHOD = {"method": ClassLabel(names=list(METHODS))}
TEXT = {
    "question": Value("string"),
    "answer": {"value": Value("string"), **dict.fromkeys(("aliases", "normalized_aliases"), List(Value("string")))},
}
CURATED = ID | STRATUM | {"weight": Value("float64"), "pool_position": Value("int32")}
POOL = {
    **ID,
    "pool_positions": List(Value("int32")),
    **STRATUM,
    "decision": Value("string"),
    "reason": ClassLabel(names=list(REASONS)),
    **dict.fromkeys(("selected", *FORMER), Value("bool")),
    **dict.fromkeys(("question_sha256", "question_start_sha256", "aliases_sha256"), Value("string")),
    "dropped_aliases": List(Value("string")),
}
SYSTEMS = ID | {"llm": Value("string")} | METHOD | dict.fromkeys(("exact_match", "correct"), Value("bool"))
SYSTEMS |= {"answer_sha256": Value("string")}
ANSWERS = ID | dict.fromkeys(("answer_sha256", "full_sha256"), Value("string"))
ANSWERS |= dict.fromkeys(("correct", "debatable", "cut"), Value("bool"))
OURS = ("our_error_rate", "our_weighted_error_rate")
PRINTED = ("error_rate", "error_rate_by_judge", "ece", "auroc", "confidence_cross_entropy", "confidence_brier_score",
           "ecuas_0", "ecuas_1", "ecuas_128")  # fmt: skip
PUBLISHED = {
    "task": ClassLabel(names=["triviaqa", "mmlu"]),
    "llm": Value("string"),
    **METHOD,
    **dict.fromkeys((*PRINTED, *OURS), Value("float64")),
    "source": Value("string"),
}


def make_configurations(
    labels: Labels, selected: pd.Series, weight: NDArray[np.float64], texts: Mapping[str, TriviaRow]
) -> dict[str, Dataset]:
    """Make `curated`, `kept`, `pool`, `systems`, `answers` and `published`; the first three with the texts, if any."""
    first = [positions[0] for positions in labels.questions["pool_positions"]]
    questions = labels.questions.assign(selected=selected, weight=weight, pool_position=first)
    text = TEXT if texts else {}
    for column in text:
        questions[column] = [dict(texts[own])[column] for own in questions["question_id"]]
    kept = questions[questions["decision"] == "keep"].assign(weight=1.0)
    return {
        "curated": _dataset(questions[selected], CURATED | text),
        "kept": _dataset(kept, CURATED | text),
        "pool": _dataset(questions, POOL | text),
        "systems": _dataset(labels.systems, SYSTEMS),
        "answers": _dataset(labels.answers, ANSWERS),
        "published": _dataset(published(labels.systems, questions[selected]), PUBLISHED),
    }


def published(systems: pd.DataFrame, curated: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's numbers of its systems, with our error rates of those that we have labels of."""
    rows = systems.merge(curated[["question_id", "weight"]], on="question_id")
    wrong = (~rows["correct"]).astype(float)
    rates = rows.assign(our_error_rate=wrong, our_weighted_error_rate=wrong * rows["weight"])  # the mean weight is 1
    rates = rates.groupby(["llm", "method"])[list(OURS)].mean().reset_index().assign(task="triviaqa")
    return pd.read_csv(PUBLISHED_FILE).merge(rates, how="left", on=["task", "llm", "method"])


def _dataset(table: pd.DataFrame, columns: Mapping[str, object]) -> Dataset:
    """Make a dataset of the given columns, from lists: without the index of pandas, and null for NaN or no hash."""
    features = Features(columns)
    missing = table.isna() | (table == "")
    values = {name: table[name].astype(object).mask(missing[name], None).tolist() for name in columns}
    for name, feature in columns.items():
        if isinstance(feature, ClassLabel):
            values[name] = feature.str2int(values[name])
    return Dataset(pa.table(values, schema=features.arrow_schema))
