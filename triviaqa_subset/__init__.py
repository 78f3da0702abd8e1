"""The curated TriviaQA subset: its build, the grading of answers, and (in `elicitation`) asking language models."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .grading import Grades, grade, judge_key, label_bank
    from .matching import answer_sha256, exact_match, normalize_answer

__all__ = [
    "Grades",
    "answer_sha256",
    "exact_match",
    "grade",
    "judge_key",
    "label_bank",
    "normalize_answer",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".grading", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
