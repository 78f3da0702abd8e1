"""The words of the page: labels of its controls, and the wording of errors and notes of the metric."""

from __future__ import annotations

from ecuas_metric.errors import Advice, FileAdvice, InputError

MAX_LENGTH = 600  # characters of a message
LABELS = {  # an option of the metric -> the label of its control
    "n": "n",
    "num_classes": "Number of possible answers K",
    "predictions_are": "Form of the posteriors",
    "reject_costs": "Reject costs",
    "missing_confidence": "Missing confidence",
    "normalize": "Normalise",
    "decompose": "Decompose",
    "calibration": "Calibration",
    "confidence_level": "Intervals",
}
LABELS_OF_READING = {"scale": "Largest confidence", "correct_from": "Correct from"}  # what a file has -> its control
UNJUDGED = "Answers without correctness"
RULES = {  # what becomes of them, in words -> the rule
    "show best and worst case": "bounds",
    "count as wrong": "wrong",
    "leave out (makes systems look better)": "drop",
}
WORDS = {  # arguments and advice of the metric -> the page's own words
    **LABELS,
    **LABELS_OF_READING,
    Advice.CLASS_LABELS: "Class labels? Then the predictions must be posteriors, one column per class.",
    Advice.CONFIDENCES: "Confidences? Choose their column under Columns.",
    Advice.EXPONENTIALS: "Logits? This is the sum of their exponentials. Choose logits under Options.",
    Advice.HARD_DECISIONS: "Are they class labels? Then upload probabilities instead.",
    Advice.LOGITS: "Logits? Choose logits under Options; their rows may have any sum.",
    Advice.MISSING_CONFIDENCES: "Missing confidences? Enter a value for them under Options of the first tab.",
    Advice.PREDICTIONS_ARE: "Logits or log-probabilities? Choose them under Options.",
    Advice.RENORMALIZE: "Rounded probabilities? The command `ecuas` can divide each row by its sum.",
    Advice.WRONG_COST: "Under Options, the number of possible answers may be too small.",
    Advice.INTERVALS_OF_FEW: "Use the analytic intervals of the command `ecuas` instead.",
    FileAdvice.PARTLY_CORRECT: "Partly correct? Enter the lowest grade that counts as correct under Options.",
    FileAdvice.PERCENTAGES: "Percentages? Enter 100 under Options, “Largest confidence”.",
    FileAdvice.OTHER_SCALE: "On another scale? Enter its largest value under Options, “Largest confidence”.",
    FileAdvice.CONFIDENCE_FIELD: "The command `ecuas` can read another field of it.",
    FileAdvice.NAME_FILTER: "The command `ecuas` can read one of them.",
    FileAdvice.COMMON: "The command `ecuas` can keep only the common ones.",
    FileAdvice.COUNT_AS_WRONG: f"Choose how to treat them under Options, “{UNJUDGED}”.",
    FileAdvice.UNJUDGED: f"Choose how to treat them under Options, “{UNJUDGED}”.",
    FileAdvice.NAME_COLUMNS: "Choose them under Columns.",
    FileAdvice.NO_POSTERIORS: "Keep the columns of all classes.",
    FileAdvice.SAY_WHICH: "Choose it under Columns.",
}
USE_THE_COMMAND = "Use the command `ecuas`."


def in_words(error: InputError) -> str:
    """Return an error as one line in the words of the page."""
    return " ".join(error.render(WORDS).split())[:MAX_LENGTH]
