"""A metric and a scorer for Inspect: ``@scorer(metrics=[ecuas()])`` on a scorer that keeps a confidence."""

from __future__ import annotations

import re
from importlib import import_module
from types import ModuleType
from typing import Any

from ..api import score_confidences
from ..errors import missing_package

STATED = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<percent>%)?\s*\)?\s*\.?\s*$")


def ecuas(**options: object) -> object:
    """Return a metric: all that `score_confidences` computes, of scores with a confidence in their metadata.

    Parameters
    ----------
    **options
        Of `ecuas_metric.score_confidences`. A score without a confidence is an error unless `missing_confidence` says
        what it counts as.
    """
    inspect = _inspect()

    @inspect.metric(name="ecuas")  # type: ignore[untyped-decorator]
    def made() -> object:
        as_number = inspect.value_to_float()

        def compute(scores: list[Any]) -> dict[str, float]:
            correct = [as_number(each.score.value) for each in scores]
            confidence = [(each.score.metadata or {}).get("confidence", float("nan")) for each in scores]
            return score_confidences(correct, confidence, **options)

        return compute

    return made()


def answer_with_confidence(**options: object) -> object:
    """Return a scorer of answers such as "Paris (85 %)": right if the target is in what stands before the number.

    Parameters
    ----------
    **options
        Of its metric, `ecuas`.
    """
    inspect = _inspect()

    @inspect.scorer(metrics=[inspect.accuracy(), ecuas(**options)], name="answer_with_confidence")  # type: ignore[untyped-decorator]
    def made() -> object:
        async def score(state: Any, target: Any) -> object:
            text = state.output.completion.strip()
            found = STATED.search(text)
            answer = (text[: found.start()] if found else text).rstrip(" (,;:-\n")
            stated = float(found["number"]) / (100 if found["percent"] else 1) if found else float("nan")
            kept = {"confidence": stated} if 0 <= stated <= 1 else {}
            value = inspect.CORRECT if target.text.lower() in answer.lower() else inspect.INCORRECT
            return inspect.Score(value=value, answer=answer, metadata=kept)

        return score

    return made()


def _inspect() -> ModuleType:
    try:
        return import_module("inspect_ai.scorer")
    except ImportError as error:
        raise missing_package(f"{__name__} needs", "inspect-ai") from error
