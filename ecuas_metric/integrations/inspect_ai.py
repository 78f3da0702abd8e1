"""A metric and a scorer for Inspect: ``@scorer(metrics=[ecuas()])`` on a scorer that keeps a confidence."""

from __future__ import annotations

import copy
import logging
import math
import re
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from ..api import score_confidences
from ..errors import InputError, missing_package
from ..files.runs.inspect_ai import Log, part_of_scorer
from ..files.runs.parts import RunOptions
from ..files.submissions import Reading, submission_of

LOGGER = logging.getLogger(__name__)
BEFORE = r"[(\[,;\n]\s*(?:(?:confidence|probability)\W*)?|\b(?:confidence|probability)\b\W*"  # what sets a number off
STATED = re.compile(
    rf"(?:{BEFORE})(?P<number>\d+(?:\.\d+)?|\.\d+)\s*(?P<percent>%|per ?cent\b)?\s*[)\]]?\s*\.?\s*$", re.IGNORECASE
)


def ecuas(*, correct_from: float | None = None, scale: float = 1, **options: Any) -> object:
    """Return a metric: all that `score_confidences` computes, of scores with a confidence in their metadata.

    What a score means is what `ecuas score` reads from the log: every epoch is a sample, whatever the reducer, and a
    `weight` in the metadata of samples weighs them. With the numbers come `samples` and `missing_confidences`, how many
    there are of each. Where `ecuas score` would refuse the log, e.g. for a missing confidence, the numbers are nan and
    the log has a warning that says why; the evaluation goes on.

    Parameters
    ----------
    correct_from : float, optional
        Grades from this one up count as correct, e.g. 0.5 for Inspect's "P"; by default only 0 and 1 are taken.
    scale : float
        What a confidence of 1 is written as, e.g. 100 for percentages without a sign.
    **options
        Of `ecuas_metric.score_confidences`, e.g. `missing_confidence`, which says what a missing confidence counts as.
    """
    inspect = _inspect()
    reading = Reading(None, None, correct_from, scale)
    undefined = dict.fromkeys(_quietly([0, 1], [0.5, 0.5], options), math.nan)  # which checks the options

    said: set[str] = set()

    @inspect.metric(name="ecuas", scores="unreduced")  # type: ignore[untyped-decorator]
    def made() -> object:
        def compute(scores: list[Any]) -> dict[str, float]:
            try:
                values = _values(scores, reading, options) if scores else undefined
            except InputError as error:
                if error.rule not in said:  # metrics are computed again and again while the evaluation runs
                    LOGGER.warning("The metrics of ECUAS are nan, here of %d samples: %s", len(scores), error)
                said.add(error.rule)
                values = undefined
            return values | _counts(scores)

        return compute

    return made()


def answer_with_confidence(*, grader: Any = None, scale: float = 1, **options: Any) -> object:
    """Return a scorer of answers such as "Paris (85 %)": another scorer grades the text before the confidence.

    The confidence ends the reply: a number with a decimal point or a per cent sign (or "percent"), in brackets, after a
    comma, a semicolon or the word confidence or probability, or on a line of its own. Nothing else is taken for one.

    Parameters
    ----------
    grader : scorer
        By default Inspect's `exact()`, which takes any of several targets and ignores case and punctuation.
    scale : float
        What a confidence of 1 is in replies without a sign, e.g. 100: then "Paris (85)" is 0.85.
    **options
        Of its metric, `ecuas`.
    """
    inspect = _inspect()
    grade = grader or inspect.exact()

    @inspect.scorer(metrics=[inspect.accuracy(), ecuas(**options)], name="answer_with_confidence")  # type: ignore[untyped-decorator]
    def made() -> object:
        async def score(state: Any, target: Any) -> object:
            answer, confidence = answer_and_confidence(state.output.completion, scale)
            answered = copy.copy(state)
            answered.output = state.output.model_copy(update={"completion": answer})
            graded = await grade(answered, target)
            metadata = {**(graded.metadata or {}), "confidence": confidence}
            return graded.model_copy(update={"answer": answer, "metadata": metadata})

        return score

    return made()


def answer_and_confidence(reply: str, scale: float = 1) -> tuple[str, float | None]:
    """Return the answer of a reply, and the confidence in [0, 1] that ends it, or None.

    >>> answer_and_confidence("Paris (85 %)"), answer_and_confidence("Paris, 0.9."), answer_and_confidence("1914")
    (('Paris', 0.85), ('Paris', 0.9), ('1914', None))
    >>> answer_and_confidence("Paris (85)"), answer_and_confidence("Paris (85)", 100)
    (('Paris (85)', None), ('Paris', 0.85))
    """
    text = reply.strip()
    found = STATED.search(text)
    if found is None or not (found["percent"] or "." in found["number"] or scale != 1):
        return text, None
    confidence = float(found["number"]) / (100 if found["percent"] else scale)
    return (text[: found.start()].rstrip(" (,;:-\n"), confidence) if confidence <= 1 else (text, None)


def _values(scores: list[Any], reading: Reading, options: dict[str, Any]) -> dict[str, float]:
    epochs: Counter[object] = Counter()
    samples: list[dict[str, Any]] = []
    for each in scores:
        epochs[each.sample_id] += 1
        kept = {"": {"value": each.score.value, "metadata": each.score.metadata or {}}}
        of = {"id": each.sample_id, "epoch": epochs[each.sample_id], "metadata": each.sample_metadata or {}}
        samples.append({**of, "scores": kept})
    log = Log(Path("the scores"), samples)
    system = submission_of(part_of_scorer(log, "", RunOptions()), "", reading)
    return _quietly(system.references, system.predictions, {**system.per_sample, **options})


def _quietly(correct: Any, confidence: Any, options: dict[str, Any]) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return score_confidences(correct, confidence, **options)


def _counts(scores: list[Any]) -> dict[str, float]:
    """Return how many samples there are, each epoch counted, and how many have no confidence."""
    confidences = [(each.score.metadata or {}).get("confidence") for each in scores]
    missing = sum(value is None or bool(value != value) for value in confidences)
    return {"samples": len(scores), "missing_confidences": missing}


def _inspect() -> ModuleType:
    try:
        return import_module("inspect_ai.scorer")
    except ImportError as error:
        raise missing_package(f"{__name__} needs", "inspect-ai") from error
