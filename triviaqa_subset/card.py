"""The dataset card: what `load_dataset` needs to know about the Parquet files, the licence, tables made of data."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
from datasets import Dataset, DatasetInfo
from datasets.info import DatasetInfosDict
from datasets.splits import SplitDict, SplitInfo
from huggingface_hub import DatasetCard

from .labels import Labels

SPLIT = "validation"  # the split of TriviaQA from which every question comes
DEFAULT = "curated"
TEXT_LICENSE = "unknown"  # what TriviaQA's own card on the Hub says of the texts


def write_card(
    template: Path,
    card: Path,
    tables: dict[str, Dataset],
    data: Path,
    remark: str = "",
    made: Mapping[str, str] | None = None,
) -> None:
    """Write the card with `configs` and `dataset_info` of these tables; keep the rest of the template.

    With the text of questions in the tables, the licence is `TEXT_LICENSE` instead of the template's.

    Parameters
    ----------
    template : Path
        A card, whose text and other metadata are kept.
    card : Path
        The file to write.
    tables : dict of str to Dataset
        One configuration each.
    data : Path
        The folder of their Parquet files, for the sizes.
    remark : str
        What distinguishes this copy from the one that the text describes, to be set above the text.
    made : mapping of str to str, optional
        Markdown by name, to be set between the comments of that name: see `card_tables`.

    Raises
    ------
    ValueError
        If the template has no place for what was made.
    """
    page = DatasetCard.load(template)
    page.data.configs = [_config(name) for name in tables]
    infos = DatasetInfosDict({name: _info(name, table, data) for name, table in tables.items()})
    infos.to_dataset_card_data(page.data)
    if any("question" in table.column_names for table in tables.values()):
        page.data.license = TEXT_LICENSE
    for name, markdown in (made or {}).items():
        page.text = _filled(page.text, name, markdown)
    if remark:
        page.text = f"\n> This copy: {remark}.\n" + page.text
    page.save(card)


def card_tables(labels: Labels) -> dict[str, str]:
    """Return the tables of the card that are made of the curation, by the name of their place.

    `discards`: how often questions are discarded where a system is wrong, and what that does to its error rate.
    `unjudged`: what the label bank would know of each LLM if the bank were made of the others' answers.
    `errata`: what has changed since curation 1, or was looked at and left, and why.

    Parameters
    ----------
    labels : Labels

    Returns
    -------
    dict of str to str
        Markdown.
    """
    questions = labels.questions.set_index("question_id")[["stratum", "decision", "weight"]]
    answered = labels.systems.assign(unjudged=unjudged_without(labels.systems)).join(questions, on="question_id")
    systems = list(answered[answered["method"] != "is_true"].groupby(["llm", "method"]))
    systems.sort(key=lambda system: (system[1]["correct"].mean(), system[0]))
    discards = ("discarded where wrong", "where right", "error rate, kept", "error rate, all")
    unjudged = ("error rate", "unjudged", "of these right", "unjudged left out", "unjudged wrong", "bounds")
    return {
        "discards": _table(discards, [(*system, *_discards(group)) for system, group in systems]),
        "unjudged": _table(unjudged, [(*system, *_unjudged(group)) for system, group in systems]),
        "errata": _errata(labels),
    }


def unjudged_without(systems: pd.DataFrame) -> pd.Series:
    """Return which answers the bank would not have if it were made without the answers of the same LLM.

    Parameters
    ----------
    systems : DataFrame
        The configuration `systems`.

    Returns
    -------
    Series of bool
    """
    keys = ["question_id", "answer_sha256"]
    return ~systems["exact_match"] & (systems.groupby(keys, dropna=False)["llm"].transform("nunique") == 1)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return _grid(("llm", "method", *header), rows)


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ("---",) * len(header), *rows))


def _errata(labels: Labels) -> str:
    """Return the changes first, then what was left; questions with the same row share it."""
    states = labels.questions.set_index("question_id")[["in_curation_1", "selected"]].to_dict("index")
    rows: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in labels.errata.sort_values("column", ascending=False, kind="stable").to_dict("records"):
        own, is_question = states[row["question_id"]], row["column"] == "reason"
        values = zip((row["before"], row["after"]), own.values(), strict=True)
        before, after = (_state(value, used) if is_question else f"an answer {value}" for value, used in values)
        left = row["before"] == row["after"]
        key = (before, f"{after}, left" if left else after, row["why"])
        rows.setdefault(key, {})[row["question_id"]] = None
    ordered = sorted(rows.items(), key=lambda item: item[0][1].endswith(", left"))
    return _grid(("question", "curation 1", "curation 2", "why"), [(", ".join(ids), *key) for key, ids in ordered])


def _state(reason: str, selected: bool) -> str:
    return f"discarded: {reason}" if reason != "ok" else "selected" if selected else "kept"


def _unjudged(group: pd.DataFrame) -> list[str]:
    """Return error rates on the weighted 455 and what becomes of them where some answers are unjudged."""
    rows = group[group["weight"].notna()]
    weight, unjudged, wrong = rows["weight"], rows["unjudged"], ~rows["correct"]
    total, left, judged_wrong = weight.sum(), weight[unjudged].sum(), weight[wrong & ~unjudged].sum()
    values = [
        weight[wrong].sum() / total,
        left / total,
        weight[unjudged & ~wrong].sum() / left,
        judged_wrong / (total - left),
        (judged_wrong + left) / total,
        judged_wrong / total,
    ]
    shown = [f"{value:.3f}" for value in values]
    return [*shown[:5], f"{shown[5]} to {shown[4]}"]


def _discards(group: pd.DataFrame) -> list[str]:
    discarded, reviewed = group["decision"] == "discard", group["stratum"] == "reviewed"
    values = [
        discarded[reviewed & ~group["correct"]].mean(),
        discarded[reviewed & group["correct"]].mean(),
        1 - group["correct"][~discarded].mean(),
        1 - group["correct"].mean(),
    ]
    return [f"{value:.3f}" for value in values]


def _filled(text: str, name: str, markdown: str) -> str:
    start, end = f"<!-- {name}: made by the build -->\n", f"<!-- end of {name} -->"
    filled, places = re.subn(f"{re.escape(start)}.*?{re.escape(end)}", f"{start}{markdown}\n{end}", text, flags=re.S)
    if places != 1:
        raise ValueError(f"the card must have one place for {name}, between {start.strip()} and {end}; got {places}.")
    return filled


def _config(name: str) -> dict[str, object]:
    files = {"data_files": [{"split": SPLIT, "path": f"data/{name}.parquet"}]}
    return {"config_name": name, **({"default": True} if name == DEFAULT else {}), **files}


def _info(name: str, table: Dataset, data: Path) -> DatasetInfo:
    num_bytes = pq.read_table(data / f"{name}.parquet").nbytes  # as `datasets-cli test` counts
    split = SplitInfo(name=SPLIT, num_bytes=num_bytes, num_examples=len(table))
    return DatasetInfo(
        config_name=name,
        features=table.features,
        splits=SplitDict({SPLIT: split}),
        download_size=(data / f"{name}.parquet").stat().st_size,
        dataset_size=num_bytes,
    )
