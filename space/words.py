"""The words of the page: labels of its controls, and what errors and notes of the metric are called here."""

from __future__ import annotations

from ecuas_metric.errors import Advice, InputError
from ecuas_metric.reporting.files import FileAdvice

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
UNJUDGED = "Answers without correctness"
RULES = {  # what becomes of them, in words -> the rule
    "give every number a best and a worst case": "bounds",
    "count as wrong": "wrong",
    "are left out, which flatters": "drop",
}
WORDS = {  # arguments and advice of the metric -> the page's own words
    **LABELS,
    Advice.CLASS_LABELS: "Class labels? Then the predictions must be posteriors, one column per class.",
    Advice.CONFIDENCES: "Confidences? Choose their column under Columns.",
    Advice.EXPONENTIALS: "Logits? These are the exponentials: under Options, logits may have rows of any sum.",
    Advice.HARD_DECISIONS: "Are they class labels? Then upload probabilities instead.",
    Advice.LOGITS: "Logits? Under Options, logits may have rows of any sum.",
    Advice.MISSING_CONFIDENCES: "Missing confidences? Under Options of the first tab, enter what they count as.",
    Advice.PREDICTIONS_ARE: "Logits or log-probabilities? Choose them under Options.",
    Advice.RENORMALIZE: "Rounded probabilities? The command divides each row by its sum where it is asked to.",
    Advice.WRONG_COST: "Under Options, the number of possible answers may be too small.",
    Advice.INTERVALS_OF_FEW: "The analytic intervals of the command hold there.",
    FileAdvice.PARTLY_CORRECT: Advice.PARTLY_CORRECT,
    FileAdvice.PERCENTAGES: Advice.PERCENTAGES,
    FileAdvice.OTHER_SCALE: Advice.OTHER_SCALE,
    FileAdvice.COMMON: "The command keeps the common ones where it is asked to.",
    FileAdvice.UNJUDGED: f"Choose what becomes of them, “{UNJUDGED}”, under Options.",
    FileAdvice.NAME_COLUMNS: "Choose them under Columns.",
    FileAdvice.NO_POSTERIORS: "Keep the columns of all classes.",
    FileAdvice.SAY_WHICH: "Choose it under Columns.",
}
USE_THE_COMMAND = "Use the command `ecuas`."


def in_words(error: InputError) -> str:
    """Return an error as one line in the words of the page."""
    return " ".join(error.render(WORDS).split())[:MAX_LENGTH]
