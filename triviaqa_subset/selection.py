"""Which questions of the pool make up the subset, and what weight each of them has."""

from pathlib import Path

import numpy as np
import pandas as pd
from datasets import load_dataset
from numpy.typing import NDArray

from .labels import FORMER, STRATA
from .matching import sha256
from .pool import START, SUFFIXES, read_rows

AUTHORS = "ErikErnst/triviaqa-extended-subset"


def weights(
    questions: pd.DataFrame,
    selected: pd.Series,
) -> NDArray[np.float64]:
    """Return (N_h / N) / (n_h / n) of each selected question of stratum h, with mean 1, and NaN for the others."""
    # N_h / N
    kept = questions["stratum"][questions["decision"] == "keep"].value_counts(normalize=True)
    chosen = questions["stratum"][selected].value_counts(normalize=True)  # n_h / n
    empty = [stratum for stratum in STRATA if stratum not in chosen]
    if empty:
        raise ValueError(
            f"the selection must have questions of every stratum; got none of {empty[0]}."
        )
    return np.where(
        selected,
        questions["stratum"].map(kept / chosen),
        np.nan,
    )


def choose(
    questions: pd.DataFrame,
    release: str,
) -> tuple[pd.Series, str]:
    """Select the questions of `curation-1`, `curation-2`, `authors`, a file or a Hub dataset, and remark how many."""
    former = f"in_{release.replace('-', '_')}"
    if former in FORMER:
        return questions[
            former
        ], f"the {questions[former].sum()} questions of {release}, reweighted"
    table = read_release(release)
    columns = [column for column in ("question_id", "question") if column in table]
    if not columns:
        raise ValueError(
            f"{release} must have a column question_id or question; got {', '.join(map(str, table))}."
        )
    for column in columns:
        values = [str(value) for value in table[column].unique()]
        ids = values if column == "question_id" else _ids_of_texts(values, questions)
        selected = questions["question_id"].isin(ids)
        if selected.any():
            strangers = (
                f"{len(values) - selected.sum()} of its {len(values)} questions are not in the pool"
            )
            return (
                selected,
                f"{selected.sum()} questions of {release} instead of ours, reweighted; {strangers}",
            )
    rule = f"{release} must have questions of the pool in {' or '.join(columns)}"
    raise ValueError(f"{rule}; got none, the first is {values[:1]}.")


def _ids_of_texts(
    values: list[str],
    questions: pd.DataFrame,
) -> list[str | None]:
    """Return the question of each text by its hash, or by that of its start; None for others."""
    by_text = dict(zip(questions["question_sha256"], questions["question_id"], strict=True))
    by_start = dict(zip(questions["question_start_sha256"], questions["question_id"], strict=True))
    ids = []
    for text in values:
        started = by_start.get(sha256(text[:START])) if len(text) > START else None
        ids.append(by_text.get(sha256(text), started))
    return ids


def read_release(release: str) -> pd.DataFrame:
    """Read a file by its suffix, else a dataset of the Hub with all of its splits."""
    suffix = Path(release).suffix
    if suffix == ".csv":
        return pd.read_csv(release, dtype=str, keep_default_na=False)
    if suffix in SUFFIXES:
        return pd.DataFrame(read_rows(release))
    splits = load_dataset(AUTHORS if release == "authors" else release)
    return pd.concat([split.to_pandas() for split in splits.values()])
