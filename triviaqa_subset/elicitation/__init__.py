"""A language model -> answers and confidences: of the curated TriviaQA subset, of MMLU, or of your own questions.

The names below are loaded when they are first used. `python -m triviaqa_subset.elicitation` is their command line.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .asking import elicit
    from .chat import Endpoint, chat_backend
    from .confidences import Semantic, is_true, semantic_confidence, sequence_posterior
    from .judging import GradedRow, grade_rows
    from .local import LocalModel, local_backend
    from .methods import Question, Setup
    from .pipeline import run
    from .prompts import load_prompts, task_prompts
    from .questions import load_questions
    from .replies import Failure, Reply, Request, Token
    from .runs import Row, read_run
    from .settings import RunSettings

_MODULES = {
    "asking": ("elicit",),
    "chat": ("Endpoint", "chat_backend"),
    "confidences": ("Semantic", "is_true", "semantic_confidence", "sequence_posterior"),
    "judging": ("GradedRow", "grade_rows"),
    "local": ("LocalModel", "local_backend"),
    "methods": ("Question", "Setup"),
    "prompts": ("load_prompts", "task_prompts"),
    "questions": ("load_questions",),
    "replies": ("Failure", "Reply", "Request", "Token"),
    "pipeline": ("run",),
    "runs": ("Row", "read_run"),
    "settings": ("RunSettings",),
}
__all__ = [
    "Endpoint",
    "Failure",
    "GradedRow",
    "LocalModel",
    "Question",
    "Reply",
    "Request",
    "Row",
    "RunSettings",
    "Semantic",
    "Setup",
    "Token",
    "chat_backend",
    "elicit",
    "grade_rows",
    "is_true",
    "load_prompts",
    "load_questions",
    "local_backend",
    "read_run",
    "run",
    "semantic_confidence",
    "sequence_posterior",
    "task_prompts",
]


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
