"""Answers by which the rules are measured: wordings that they were mended on, and answers held apart from them."""

import hashlib
import json
import re
from pathlib import Path

import pandas as pd

from triviaqa_subset.grading import grade
from triviaqa_subset.matching import RULES, normalize_answer
from triviaqa_subset.pool import drop_aliases

# X: a gold alias; Y: one of another question. The sets by another hand were made without a look at the rules.
SETS = json.loads(Path(__file__).with_suffix(".json").read_text())
MADE = {
    "UPPER": str.upper,
    "FULLWIDTH": lambda text: "".join(
        chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text
    ),
    "INVISIBLE": lambda text: "\u200d".join(text),
    "STRUCK": lambda text: "".join(char + "\u0336" for char in text),
}
DECIDED = ("exact", "official", "contained", "refusal")


def read_texts(file, dropped=None):
    """Return the pool's questions as `grade` takes them, without dropped aliases, and the judged answers in clear."""
    rows = [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]
    texts = {
        row["question_id"]: {name: row[name] for name in ("question_id", "question")}
        | {"answer": {"value": None, "aliases": row["aliases"], "normalized_aliases": []}}
        for row in rows
    }
    kept = texts if dropped is None else drop_aliases(texts, dropped)
    dataset = pd.DataFrame(kept.values()).to_dict("list")
    return dataset, pd.DataFrame(
        [{"question_id": r["question_id"], **answer} for r in rows for answer in r["answers"]]
    )


def systematic(dataset, questions=300):
    """Return the right and the not right answers to the first questions that have an alias of letters."""
    golds = {}
    for own, gold in zip(dataset["question_id"], dataset["answer"], strict=True):
        aliases = [
            alias
            for alias in gold["aliases"]
            if normalize_answer(alias) == alias.lower() and len(alias) > 2
        ]
        if aliases and len(golds) < questions:
            golds[own] = aliases[len(golds) % len(aliases)]
    others = dict(zip(golds, [*golds.values()][1:] + [*golds.values()][:1], strict=True))
    return {
        name: pd.DataFrame(
            [(own, _dressed(form, x, others[own])) for own, x in golds.items() for form in forms],
            columns=["question_id", "answer"],
        )
        for name, forms in SETS.items()
    }


def _dressed(form, x, y):
    if form in MADE:
        return MADE[form](x)
    return re.sub(r"\b[XY]\b", lambda letter: {"X": x, "Y": y}[letter[0]], form)


def rates(dataset, judged):
    """Return what each rule makes of the systematic set and of the judged answers, without the label bank."""
    correct = judged["correct"].astype(bool)
    sets = systematic(dataset) | {
        "judged correct": judged[correct],
        "judged incorrect": judged[~correct],
    }
    return _table(
        [
            (rule, name, *_counts(answers, dataset, rule))
            for rule in RULES
            for name, answers in sets.items()
            if rule == "equality" or "another hand" not in name
        ]
    )


def held_apart_rates(file, pool):
    """Return what each rule makes of the answers in EVOUNA's `TQ.json`, which people judged (Wang et al. 2023).

    Of its questions those count that its authors call proper and that are not in our pool, by their hash. FiD answers
    in a few words, the language models in sentences.
    """
    rows = [
        row
        for row in json.loads(file.read_text("utf-8"))
        if not row["improper"] and hashlib.sha256(row["question"].encode()).hexdigest() not in pool
    ]
    ids = list(map(str, range(len(rows))))
    golds = [_gold(row["golden_answer"]) for row in rows]
    dataset = {"question_id": ids, "question": [row["question"] for row in rows], "answer": golds}
    answers = pd.DataFrame(
        [
            (own, row[f"answer_{system}"] or "", bool(row[f"judge_{system}"]), system == "fid")
            for system in ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
            for own, row in zip(ids, rows, strict=True)
        ],
        columns=["question_id", "answer", "correct", "short"],
    )
    sets = {
        f"held apart, {'right' if correct else 'wrong'}, {'short' if short else 'in sentences'}": part
        for (correct, short), part in sorted(
            answers.groupby(["correct", "short"]), key=lambda group: group[0], reverse=True
        )
    }
    return _table(
        [
            (rule, name, *_counts(part, dataset, rule))
            for rule in RULES
            for name, part in sets.items()
        ]
    )


def _gold(text):
    # aliases are set off by a slash, which may belong to one
    return {"value": None, "aliases": [text, *text.split("/")], "normalized_aliases": []}


def _counts(answers, dataset, rule):
    """Return the number of answers, of the grades True, False and None, and of the ways to decide, without a bank."""
    no_bank = {"question_id": [], "answer_sha256": [], "correct": []}
    grades = grade(answers, dataset, bank=no_bank, rule=rule)
    labels = [grades.correct.count(label) for label in (True, False, None)]
    return [len(answers), *labels, *(grades.counts[way] for way in DECIDED)]


def _table(rows):
    header = ["rule", "answers", "number", "accepted", "rejected", "unknown", *DECIDED]
    return pd.DataFrame(rows, columns=header)
