"""Labels, selection, texts and scores -> the configurations, as typed datasets."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
from datasets import ClassLabel, Dataset, Features, List, Value
from numpy.typing import NDArray

from .labels import CURATION, FORMER, METHODS, REASONS, STRATA, Labels
from .pool import TriviaRow

SCORES_FILE = "scores.npz"
SCORES_LICENSE = "scores_LICENSE.txt"  # of these alone
TEXT_CELL = Value("string")
FLAG_CELL = Value("bool")
ID = {"question_id": TEXT_CELL}
STRATUM = {"stratum": ClassLabel(names=list(STRATA))}
METHOD = {"method": ClassLabel(names=list(METHODS))}
TEXT = {
    "question": TEXT_CELL,
    "answer": {
        "value": TEXT_CELL,
        "aliases": List(TEXT_CELL),
        "normalized_aliases": List(TEXT_CELL),
    },
}
CURATED = ID | STRATUM | {"weight": Value("float64"), "pool_position": Value("int32")}
POOL = {
    **ID,
    "pool_positions": List(Value("int32")),
    **STRATUM,
    "decision": TEXT_CELL,
    "reason": ClassLabel(names=list(REASONS)),
    **dict.fromkeys(("selected", *FORMER), FLAG_CELL),
    **dict.fromkeys(("question_sha256", "question_start_sha256", "aliases_sha256"), TEXT_CELL),
    "dropped_aliases": List(TEXT_CELL),
}
SYSTEMS = {
    **ID,
    "llm": TEXT_CELL,
    **METHOD,
    "exact_match": FLAG_CELL,
    "correct": FLAG_CELL,
    "answer_sha256": TEXT_CELL,
}
ANSWERS = {
    **ID,
    **dict.fromkeys(("answer_sha256", "full_sha256"), TEXT_CELL),
    **dict.fromkeys(("correct", "debatable", "cut"), FLAG_CELL),
}
GOLD_FEATURES = {**ID, "source": TEXT_CELL, "gold_sha256": List(TEXT_CELL)}
SCORES = {
    "system": TEXT_CELL,
    "label": Value("int64"),
    "logits": List(Value("float32")),
}
OURS = ("our_error_rate", "our_weighted_error_rate")
PRINTED = ("error_rate", "error_rate_by_judge", "ece", "auroc", "confidence_cross_entropy", "confidence_brier_score",
           "ecuas_0", "ecuas_1", "ecuas_128")  # fmt: skip
PUBLISHED = {
    "task": ClassLabel(names=["triviaqa", "mmlu"]),
    "llm": TEXT_CELL,
    **METHOD,
    **dict.fromkeys((*PRINTED, *OURS), Value("float64")),
    "source": TEXT_CELL,
}


def make_configurations(
    labels: Labels, selected: pd.Series, weight: NDArray[np.float64], texts: Mapping[str, TriviaRow]
) -> dict[str, Dataset]:
    """Make the configurations by name; `curated`, `kept` and `pool` with the texts, if any."""
    questions = labels.questions.assign(selected=selected, weight=weight)
    questions["pool_position"] = questions["pool_positions"].str[0]
    text = TEXT if texts else {}
    for column in text:
        questions[column] = [
            dict(texts[question_id])[column] for question_id in questions["question_id"]
        ]
    kept = questions[questions["decision"] == "keep"].assign(weight=1.0)
    return {
        "curated": _dataset(questions[selected], CURATED | text),
        "kept": _dataset(kept, CURATED | text),
        "pool": _dataset(questions, POOL | text),
        "systems": _dataset(labels.systems, SYSTEMS),
        "answers": _dataset(labels.answers, ANSWERS),
        "gold": _dataset(labels.gold, GOLD_FEATURES),
        "published": _dataset(published(labels.systems, questions[selected]), PUBLISHED),
        "scores": _dataset(read_scores(), SCORES),
    }


def read_scores() -> pd.DataFrame:
    """Return what two classifiers of the paper gave each sentence, and its class."""
    tables = []
    with np.load(CURATION / SCORES_FILE) as arrays:
        for system in arrays["systems"].tolist():
            columns = {
                "label": arrays[f"{system}_label"],
                "logits": arrays[f"{system}_logits"].tolist(),
            }
            tables.append(pd.DataFrame(columns).assign(system=system))
    return pd.concat(tables, ignore_index=True)


def published(systems: pd.DataFrame, curated: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's numbers of its systems, with our error rates of those that we have labels of."""
    rows = systems.merge(curated[["question_id", "weight"]], on="question_id")
    rows["our_error_rate"] = 1.0 - rows["correct"]
    # the mean weight is 1
    rows["our_weighted_error_rate"] = rows["our_error_rate"] * rows["weight"]
    of_systems = rows.groupby(["llm", "method"])
    rates = of_systems[list(OURS)].mean().reset_index().assign(task="triviaqa")
    return pd.read_csv(CURATION / "published.csv").merge(
        rates,
        how="left",
        on=["task", "llm", "method"],
    )


def _dataset(
    table: pd.DataFrame,
    columns: Mapping[str, object],
) -> Dataset:
    """Make a dataset of the given columns, from lists: without the index of pandas, and null for NaN or no hash."""
    features = Features(columns)
    present = table.notna() & (table != "")
    values = {}
    for name, feature in columns.items():
        cells = table[name].astype(object).where(present[name], None).tolist()
        values[name] = feature.str2int(cells) if isinstance(feature, ClassLabel) else cells
    return Dataset(pa.table(values, schema=features.arrow_schema))
