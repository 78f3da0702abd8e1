"""The systematic set: answers that are right in other words, and answers that deny, doubt or list a right one."""

import json
import re
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
# By another hand, which did not see the rules: with those above 103 and 148.
RIGHT_BY_ANOTHER = (
    "<think>Y? Z?</think>X", "<think>\nThe user asks.\n</think>\n\nX", "<thinking>Y</thinking> X",
    "I think the answer is X", "I think it's X.", "I believe it is X", "I believe the answer is X.", "I guess X",
    "Best guess: X", "My best guess is X.", "1. X", "1) X", "X (95%)", "X (0.95)", "X, 95%", "X\nConfidence: 95%",
    "X\nconfidence: 0.95", "X (confidence: 0.95)", "X\n\nProbability: 0.9", "X; 90%", '{"answer": "X"}',
    '{"answer": "X", "confidence": 0.9}', '{"guess": "X", "probability": 0.9}', '```json\n{"answer": "X"}\n```',
    "X<|im_end|>", "X</s>", "X<|eot_id|>", "X<|endoftext|>", "X 🎉", "X ✅", "👍 X", "> X", "* X", "• X", "## X",
    "**The answer is X.**", "Answer - X", "Answer → X", "Answer: **X**.", "Final Answer: X", "The final answer is X.",
    "The right answer is X", "Short answer: X", "Response: X", "So, the answer is X.", "Thus, X",
    "Therefore, the answer is X.", "Yes, it is X.", "Well, it was X.", "Okay, X.", "Certainly! The answer is X.",
    "Of course: X", "He is X.", "She was X.", "They are X.", "This is X", "That would be X.", "It is called X.",
    "It's known as X.", "X is the answer.", "X, definitely.", "\\text{X}", "$X$", "\\(X\\)",
)  # fmt: skip
WRONG_BY_ANOTHER = (
    "! X", "!X", "¬X", "≠ X", "<not>X</not>", "STRUCK", "X%", "X (film)?", "X (...)", "X...?", "X??", "X ?!", "? X",
    "~X", "≈X", "X or so", "X, I guess?", "X, perhaps", "perhaps X", "probably X", "possibly X", "likely X",
    "X, probably", "X, not sure", "not sure, X", "X but I'm not sure", "I'm not sure, but X", "I don't know, X?",
    "I don't think it is X", "I doubt it is X", "X? I doubt it", "It might be X", "It could be X.", "It may be X",
    "It isn't X", "It is not X", "It was never X", "never X", "no X", "No, X is wrong", "non X", "un-X", "anti-X",
    "ex-X", "everything except X", "all but X", "other than X", "instead of X, Y", "Y instead of X", "Y over X",
    "Y > X", "Y = X", "X = Y", "X -> Y", "X → Y", "X vs Y", "X versus Y", "X; Y", "X | Y", "X & Y", "X + Y", "X/Y",
    "X, or Y", "X, or maybe Y", "Y or X", "both X and Y", "neither X nor Y", "X nor Y", "between X and Y", "X then Y",
    "X, then Y", "X. Y", "X\nY", "1. Y\n2. X", "- X\n- Y", "a) X b) Y", "A: X B: Y", "Y (X)", "Y (or X)",
    "Y (also X)", "Y (not X)", "Y (alias X)", "Y, also known as X", "Y aka X", "X's Y", "Y's X", "Y of X", "X of Y",
    "Y in X", "the wrong X", "fake X", "X is false", "X is incorrect", "X: no", "X - no", "X (no)", "X (not)",
    "X (nope)", "X (not really)", "X (I made that up)", "X (?)", "X (!?)", "X (50/50)", "X (or something)",
    "X (guess)", "X [?]", "X {?}",
)  # fmt: skip
MADE = {
    "UPPER": str.upper,
    "FULLWIDTH": lambda text: "".join(
        chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text
    ),
    "INVISIBLE": lambda text: "\u200d".join(text),
    "STRUCK": lambda text: "".join(char + "\u0336" for char in text),
}
SETS = {
    "right, in other words": RIGHT,
    "right, in words of another hand": RIGHT_BY_ANOTHER,
    "denied, doubted or listed": WRONG,
    "denied, doubted or listed by another hand": WRONG_BY_ANOTHER,
}
DECIDED = ("exact", "official", "contained", "refusal")
Texts = dict[str, list[object]]


def read_texts(
    file: Path, dropped: dict[str, list[str]] | None = None
) -> tuple[Texts, pd.DataFrame]:
    """Return the pool's questions as `grade` takes them, without dropped aliases, and the judged answers in clear."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
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


def systematic(dataset: Texts, questions: int = 300) -> dict[str, pd.DataFrame]:
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


def _dressed(form: str, x: str, y: str) -> str:
    if form in MADE:
        return MADE[form](x)
    return re.sub(r"\b[XY]\b", lambda letter: {"X": x, "Y": y}[letter[0]], form)


def rates(dataset: Texts, judged: pd.DataFrame) -> pd.DataFrame:
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
