"""The dataset card: what `load_dataset` needs to know about the Parquet files, the licence, tables made of data."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from datasets import Dataset
from huggingface_hub import DatasetCard

from .configurations import published
from .folders import FOLDER
from .labels import Labels

SPLIT = "validation"  # the split of TriviaQA from which every question comes
DEFAULT = "curated"
TEXT_LICENSE = "unknown"  # what TriviaQA's own card on the Hub says of the texts
PAGE = FOLDER.parent / "docs" / "dataset.md"  # how the dataset was made; in a clone only
PLACE = re.compile(r"(<!-- (\w+): made by the build -->\n).*?(<!-- end of \2 -->)", re.S)
Row = Sequence[object]


def write_card(
    template: Path, card: Path, tables: Mapping[str, Dataset], remark: str = "", made: Mapping[str, str] | None = None
) -> None:
    """Write the card with the `configs` of these tables, a remark on how this copy differs, and the tables made."""
    page = DatasetCard.load(template)
    page.data.configs = [
        {"config_name": name, **({"default": True} if name == DEFAULT else {})}
        | {"data_files": [{"split": SPLIT, "path": f"data/{name}.parquet"}]}
        for name in tables
    ]
    if any("question" in table.column_names for table in tables.values()):
        page.data.license = TEXT_LICENSE
    page.text = fill(page.text, made or {})
    if remark:
        page.text = f"\n> This copy: {remark}.\n" + page.text
    page.save(card)


def fill(text: str, made: Mapping[str, str]) -> str:
    """Return a page with the tables in their places, as far as they were made."""
    return PLACE.sub(lambda place: f"{place[1]}{made[place[2]]}\n{place[3]}" if place[2] in made else place[0], text)


def card_tables(labels: Labels) -> dict[str, str]:
    """Return the tables of the card and of the second page, in Markdown, by the name of their place."""
    questions = labels.questions.set_index("question_id")[["stratum", "decision", "weight"]]
    answered = labels.systems.assign(unlabelled=unlabelled_without(labels.systems)).join(questions, on="question_id")
    systems = list(answered[answered["method"] != "is_true"].groupby(["llm", "method"]))
    systems.sort(key=lambda system: (-system[1]["correct"].mean(), system[0]))
    header = ("llm", "method")
    unlabelled = ("error rate", "unlabelled", "of these right", "unlabelled left out", "unlabelled wrong", "bounds")
    discards = ("discarded where wrong", "where right", "error rate, kept", "error rate, all")
    return {
        # How often questions are discarded where a system is wrong, and what that does to its error rate.
        "discards": _grid((*header, *discards), [(*system, *_discards(group)) for system, group in systems]),
        # What the label bank would know of each LLM if the bank were made of the answers of the others.
        "unlabelled": _grid((*header, *unlabelled), [(*system, *_unlabelled(group)) for system, group in systems]),
        "rates": _rates(labels, systems),
        "grading": _grading(),
        "decisions": _decisions(labels),
        "errata": _errata(labels),
    }


def unlabelled_without(systems: pd.DataFrame) -> pd.Series:
    """Return which answers the bank would not have if it were made without the answers of the same LLM."""
    keys = ["question_id", "answer_sha256"]
    return ~systems["exact_match"] & (systems.groupby(keys, dropna=False)["llm"].transform("nunique") == 1)


def _grid(header: Row, rows: Sequence[Row]) -> str:
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in (header, ("---",) * len(header), *rows))


def _decimals(values: Sequence[float]) -> list[str]:
    return [f"{value:.3f}" for value in values]


def _rates(labels: Labels, systems: Sequence[tuple[tuple[str, str], pd.DataFrame]]) -> str:
    curated = labels.questions[labels.questions["selected"]]
    paper = published(labels.systems, curated)
    paper = paper[paper["task"] == "triviaqa"].set_index(["llm", "method"])
    rows = []
    for system, group in systems:
        ours, subset = paper.loc[system], group[group["weight"].notna()]
        exact = 1.0 - subset["exact_match"]
        kept = 1.0 - group["correct"][group["decision"] == "keep"].mean()
        own = (ours["our_error_rate"], ours["our_weighted_error_rate"], kept, ours["error_rate"])
        by_rule = (exact.mean(), (exact * subset["weight"]).mean(), ours["error_rate_by_judge"])
        rows.append((*system, *_decimals((*own, *by_rule))))
    labelled = ("labels, subset", "labels, weighted", "labels, pool", "paper, human")
    return _grid(("llm", "method", *labelled, "exact match, subset", "weighted", "paper, LLM judge"), rows)


def _grading() -> str:
    rows = []
    for row in pd.read_csv(FOLDER / "curation" / "rates.csv").to_dict("records"):
        shares = [f"{100 * row[way] / row['number']:.1f} %" for way in ("accepted", "rejected", "unknown")]
        ways = [f"{way} {row[way]:,}" for way in ("exact", "official", "contained", "refusal") if row[way]]
        rows.append((row["rule"], row["answers"], f"{row['number']:,}", *shares, ", ".join(ways) or "none"))
    return _grid(("rule", "answers", "number", "accepted", "rejected", "unknown", "decided by"), rows)


def _decisions(labels: Labels) -> str:
    counts = labels.decisions.groupby(["rule", "decision"], sort=False).size().unstack(fill_value=0)
    rows = [(rule, row.sum(), row["keep"], row["alias"], row["discard"]) for rule, row in counts.iterrows()]
    return _grid(("rule", "questions", "kept", "kept without some aliases", "discarded"), rows)


def _errata(labels: Labels) -> str:
    """Return the changes of each curation first, then what was left as it was; equal rows share a line."""
    rows: dict[tuple[str, str, str, str], dict[str, None]] = {}
    for row in labels.errata.to_dict("records"):
        what = "question" if row["column"] == "reason" else "an answer"
        after = f"{row['after']}, left" if row["before"] == row["after"] else row["after"]
        key = (row["curation"], f"{what}: {row['before']}".replace("_", " "), after.replace("_", " "), row["why"])
        rows.setdefault(key, {})[row["question_id"]] = None
    ordered = sorted(rows.items(), key=lambda item: (item[0][2].endswith(", left"), item[0][0], item[0][1] < "q"))
    lines = [(key[0], ", ".join(ids), *key[1:]) for key, ids in ordered]
    return _grid(("curation", "question", "before", "after", "why"), lines)


def _unlabelled(group: pd.DataFrame) -> list[str]:
    """Return error rates on the weighted 455, and the same where some answers are unlabelled."""
    rows = group[group["weight"].notna()]
    weight, unlabelled, wrong = rows["weight"], rows["unlabelled"], ~rows["correct"]
    total, left, judged_wrong = weight.sum(), weight[unlabelled].sum(), weight[wrong & ~unlabelled].sum()
    high, low = (judged_wrong + left) / total, judged_wrong / total
    right = weight[unlabelled & ~wrong].sum() / left
    values = (weight[wrong].sum() / total, left / total, right, judged_wrong / (total - left), high)
    return [*_decimals(values), f"{low:.3f} to {high:.3f}"]


def _discards(group: pd.DataFrame) -> list[str]:
    discarded, reviewed = group["decision"] == "discard", group["stratum"] == "reviewed"
    shares = [discarded[reviewed & (group["correct"] == right)].mean() for right in (False, True)]
    return _decimals([*shares, 1 - group["correct"][~discarded].mean(), 1 - group["correct"].mean()])
