"""The systematic set: answers that are right in another dress, and answers that deny, doubt or list a right one."""

import json
from pathlib import Path

import pandas as pd

from triviaqa_subset.grading import grade
from triviaqa_subset.matching import RULES, normalize_answer
from triviaqa_subset.pool import drop_aliases, read_source

# X: a gold alias; Y: one of another question
RIGHT = (
    "It is X.", "It's X", "That is X.", "It was X", "The answer is X.", "The correct answer is: X", "Answer: X",
    "Final answer: **X**.", "**Answer:** X", "A: X", "Sure! It is X.", "X, of course.", "X is the correct answer.",
    "**X**", "*X*", "`X`", "«X»", "“X”", "'X'.", "„X“", "- X", "# X", "$\\boxed{X}$", "\\boxed{\\text{X}}", "<b>X</b>",
    "X [1]", "X.\n", "The X!", "\ufeffX", "(X)", '{"answer": "X"}', "X\u200b", "UPPER", "FULLWIDTH", "INVISIBLE",
    "I believe that it is X.", "X, as everybody knows", "X (see the question)", "I think: X",
)  # fmt: skip
WRONG = (
    "not X", "It is not X.", "Anything but X", "X is wrong", "X is not the answer", "X? No.", "X, no", "not X but Y",
    "Y, not X", "Y (not X)", "Y rather than X", "~~X~~ Y", "~~X~~", "<del>X</del>", "X?", "X (?)", "maybe X",
    "X, maybe",
    "X (maybe)", "X (probably)", "X (could be Y)", "X (might be Y)", "X (unsure)", "X (uncertain)", "X (no, Y)",
    "X (actually Y)", "X (wrong)", "X (false)", "X (just kidding: Y)", "X (rather Y)", "X (oder Y)", "X (Y)", "X or Y",
    "X / Y", "X, Y", "X and Y", "X (or Y)", "X (alternatively Y)", "X (/ Y)", "Either X or Y", "1. X 2. Y",
)  # fmt: skip
MADE = {
    "UPPER": str.upper,
    "FULLWIDTH": lambda text: "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text),
    "INVISIBLE": lambda text: "\u200d".join(text),
}
DECIDED = ("exact", "official", "contained", "refusal")
Texts = dict[str, list[object]]


def read_texts(file: Path, dropped: dict[str, list[str]] | None = None) -> tuple[Texts, pd.DataFrame]:
    """Return the pool's questions as `grade` takes them, without dropped aliases, and the judged answers in clear."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
    texts = {row["question_id"]: row for row in read_source(str(file))}
    golds = [row["answer"] for row in (texts if dropped is None else drop_aliases(texts, dropped)).values()]
    dataset = {name: [row[name] for row in rows] for name in ("question_id", "question")} | {"answer": golds}
    return dataset, pd.DataFrame([{"question_id": r["question_id"], **answer} for r in rows for answer in r["answers"]])


def systematic(dataset: Texts, questions: int = 300) -> dict[str, pd.DataFrame]:
    """Return the right and the not right answers to the first questions that have an alias of letters."""
    golds = {}
    for own, gold in zip(dataset["question_id"], dataset["answer"], strict=True):
        aliases = [alias for alias in gold["aliases"] if normalize_answer(alias) == alias.lower() and len(alias) > 2]
        if aliases and len(golds) < questions:
            golds[own] = aliases[len(golds) % len(aliases)]
    others = dict(zip(golds, [*golds.values()][1:] + [*golds.values()][:1], strict=True))
    return {
        name: pd.DataFrame(
            [(own, _dressed(form, x, others[own])) for own, x in golds.items() for form in forms],
            columns=["question_id", "answer"],
        )
        for name, forms in (("right, in another dress", RIGHT), ("denied, doubted or listed", WRONG))
    }


def _dressed(form: str, x: str, y: str) -> str:
    return MADE[form](x) if form in MADE else "".join({"X": x, "Y": y}.get(char, char) for char in form)


def rates(dataset: Texts, judged: pd.DataFrame) -> pd.DataFrame:
    """Return what each rule makes of the systematic set and of the judged answers, without the label bank."""
    correct = judged["correct"].astype(bool)
    sets = systematic(dataset) | {"judged correct": judged[correct], "judged incorrect": judged[~correct]}
    no_bank = {"question_id": [], "answer_sha256": [], "correct": []}
    rows = []
    for rule in RULES:
        for name, answers in sets.items():
            grades = grade(answers, dataset, bank=no_bank, rule=rule)
            accepted, rejected, unknown = (grades.correct.count(label) for label in (True, False, None))
            ways = [grades.counts[way] for way in DECIDED]
            rows.append((rule, name, len(answers), accepted, rejected, unknown, *ways))
    header = ["rule", "answers", "number", "accepted", "rejected", "unknown", *DECIDED]
    return pd.DataFrame(rows, columns=header)
