"""The systematic set: answers that are right in other words, and answers that deny, doubt or list a right one."""

import json
import re
from pathlib import Path

import pandas as pd

from triviaqa_subset.grading import grade
from triviaqa_subset.matching import RULES, normalize_answer
from triviaqa_subset.pool import drop_aliases, read_source

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
    texts = {row["question_id"]: row for row in read_source(str(file))}
    golds = [
        row["answer"]
        for row in (texts if dropped is None else drop_aliases(texts, dropped)).values()
    ]
    dataset = {name: [row[name] for row in rows] for name in ("question_id", "question")} | {
        "answer": golds
    }
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
    no_bank = {"question_id": [], "answer_sha256": [], "correct": []}
    rows = []
    for rule in RULES:
        for name, answers in sets.items():
            if rule == "containment" and "another hand" in name:
                continue
            grades = grade(answers, dataset, bank=no_bank, rule=rule)
            accepted, rejected, unknown = (
                grades.correct.count(label) for label in (True, False, None)
            )
            ways = [grades.counts[way] for way in DECIDED]
            rows.append((rule, name, len(answers), accepted, rejected, unknown, *ways))
    header = ["rule", "answers", "number", "accepted", "rejected", "unknown", *DECIDED]
    return pd.DataFrame(rows, columns=header)
