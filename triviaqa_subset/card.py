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
SYSTEM = ("llm", "method")
Row = Sequence[object]
Systems = Sequence[tuple[tuple[str, str], pd.DataFrame]]  # (llm, method), their answers


def write_card(
    template: Path, card: Path, tables: Mapping[str, Dataset], remark: str = "", made: Mapping[str, str] | None = None
) -> None:
    """Write the card with the `configs` of these tables, a remark on how this copy differs, and the tables made."""
    page = DatasetCard.load(template)
    page.data.configs = []
    for name in tables:
        default = {"default": True} if name == DEFAULT else {}
        files = [{"split": SPLIT, "path": f"data/{name}.parquet"}]
        page.data.configs.append({"config_name": name, **default, "data_files": files})
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
    systems = list(answered[answered["method"] != "is_true"].groupby(list(SYSTEM)))
    systems.sort(key=lambda system: (-system[1]["correct"].mean(), system[0]))
    return {
        "discards": _discards(systems),
        "unlabelled": _unlabelled(systems),
        "rates": _rates(labels, systems),
        "grading": _grading(),
        "decisions": _decisions(labels),
        "errata": _errata(labels.errata),
    }


def unlabelled_without(systems: pd.DataFrame) -> pd.Series:
    """Return which answers the bank would not have if it were made without the answers of the same LLM."""
    llms = systems.groupby(["question_id", "answer_sha256"], dropna=False)["llm"].transform("nunique")
    return ~systems["exact_match"] & (llms == 1)


def _grid(header: Row, rows: Sequence[Row]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _decimals(values: Sequence[float]) -> list[str]:
    return [f"{value:.3f}" for value in values]


def _discards(systems: Systems) -> str:
    """Say how often questions are discarded where a system is wrong, and what that does to its error rate."""
    rows: list[Row] = []
    for system, answers in systems:
        is_discarded = answers["decision"] == "discard"
        reviewed = is_discarded[answers["stratum"] == "reviewed"]
        shares = reviewed.groupby(answers["correct"]).mean()
        error_rates = (1 - answers["correct"][~is_discarded].mean(), 1 - answers["correct"].mean())
        rows.append((*system, *_decimals([shares[False], shares[True], *error_rates])))
    header = ("discarded where wrong", "where right", "error rate, kept", "error rate, all")
    return _grid((*SYSTEM, *header), rows)


def _unlabelled(systems: Systems) -> str:
    """Say what the label bank would know of each LLM, on the weighted 455, if it were made of the others' answers."""
    rows: list[Row] = []
    for system, pool in systems:
        answers = pool[pool["weight"].notna()]
        share = answers["weight"] / answers["weight"].sum()
        wrong = share[~answers["correct"]].sum()
        unlabelled = share[answers["unlabelled"]].sum()
        low = share[~answers["correct"] & ~answers["unlabelled"]].sum()
        high = low + unlabelled
        right = (high - wrong) / unlabelled
        values = _decimals([wrong, unlabelled, right, low / (1 - unlabelled), high])
        rows.append((*system, *values, f"{low:.3f} to {high:.3f}"))
    header = ("error rate", "unlabelled", "of these right", "unlabelled left out", "unlabelled wrong", "bounds")
    return _grid((*SYSTEM, *header), rows)


def _rates(labels: Labels, systems: Systems) -> str:
    """Compare error rates by the labels, by exact match and as printed in the paper."""
    curated = labels.questions[labels.questions["selected"]]
    paper = published(labels.systems, curated).query("task == 'triviaqa'").set_index(list(SYSTEM))
    rows: list[Row] = []
    for system, pool in systems:
        rates = paper.loc[system]
        answers = pool[pool["weight"].notna()]
        no_match = 1.0 - answers["exact_match"]
        values = [
            rates["our_error_rate"],
            rates["our_weighted_error_rate"],
            1.0 - pool["correct"][pool["decision"] == "keep"].mean(),
            rates["error_rate"],
            no_match.mean(),
            (no_match * answers["weight"]).mean(),
            rates["error_rate_by_judge"],
        ]
        rows.append((*system, *_decimals(values)))
    by_labels = ("labels, subset", "labels, weighted", "labels, pool", "paper, human")
    return _grid((*SYSTEM, *by_labels, "exact match, subset", "weighted", "paper, LLM judge"), rows)


def _grading() -> str:
    rows: list[Row] = []
    for row in pd.read_csv(FOLDER / "curation" / "rates.csv").to_dict("records"):
        shares = [f"{100 * row[verdict] / row['number']:.1f} %" for verdict in ("accepted", "rejected", "unknown")]
        ways = [f"{way} {row[way]:,}" for way in ("exact", "official", "contained", "refusal") if row[way]]
        rows.append((row["rule"], row["answers"], f"{row['number']:,}", *shares, ", ".join(ways) or "none"))
    return _grid(("rule", "answers", "number", "accepted", "rejected", "unknown", "decided by"), rows)


def _decisions(labels: Labels) -> str:
    counts = labels.decisions.groupby(["rule", "decision"], sort=False).size().unstack(fill_value=0)
    rows = [(rule, row.sum(), row["keep"], row["alias"], row["discard"]) for rule, row in counts.iterrows()]
    return _grid(("rule", "questions", "kept", "kept without some aliases", "discarded"), rows)


def _errata(errata: pd.DataFrame) -> str:
    """Return the changes of each curation first, then what was left as it was; equal rows share a line."""
    is_left = errata["before"] == errata["after"]
    kind = errata["column"].map({"reason": "question: ", "label": "an answer: "})
    table = errata.assign(
        is_left=is_left,
        before=(kind + errata["before"]).str.replace("_", " "),
        after=(errata["after"] + is_left.map({True: ", left", False: ""})).str.replace("_", " "),
    )
    table = table.sort_values(
        ["is_left", "curation", "column"],
        ascending=[True, True, False],
        kind="stable",
    )
    shown = ["curation", "before", "after", "why"]
    ids = table.groupby(shown, sort=False)["question_id"].agg(lambda group: ", ".join(group.unique())).reset_index()
    rows = ids[["curation", "question_id", "before", "after", "why"]].to_numpy().tolist()
    return _grid(("curation", "question", "before", "after", "why"), rows)
