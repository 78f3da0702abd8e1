"""A metric and a scorer for Inspect, which finds them as ``ecuas_metric/ecuas`` and ``.../answer_with_confidence``."""

import copy
import logging
import math
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    exact,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState
from numpy.typing import ArrayLike

from ..api import confidence_system
from ..errors import InputError
from ..files.recipe import Reading
from ..files.runs import RunOptions
from ..files.runs.inspect_ai import Log, part_of_scorer
from ..files.runs.parts import without_nan
from ..files.runs.submissions import submission_of
from ..results import compute_results

# What sets a number off from the answer, and the number; a comma between digits belongs to these.
_STATED = re.compile(
    r"(?:[(\[;\n]|,(?!\d))[ \t]*(?:(?:confidence|probability)\b(?:[ \t]*[:=])?[ \t]*)?"
    r"(?P<number>\d+(?:\.\d+)?|\.\d+)\s*(?P<percent>%|per ?cent\b)?\s*[)\]]?\s*\.?\s*\Z",
    re.IGNORECASE,
)
_ANOTHER = re.compile(r"\d\s*%|\d?\.\d|[(\[][^)\]]*\Z")  # a probability, or a bracket that is open


def _score_confidences(
    scores: Sequence[SampleScore],
    reading: Reading,
    options: dict[str, object],
) -> dict[str, float]:
    epochs: Counter[object] = Counter()
    samples = []
    for each in scores:
        epochs[each.sample_id] += 1
        sample = {
            "id": each.sample_id,
            "epoch": epochs[each.sample_id],
            "metadata": each.sample_metadata or {},
            "scores": {"": {"value": each.score.value, "metadata": each.score.metadata or {}}},
        }
        samples.append(sample)
    part = part_of_scorer(Log(Path("the scores"), "", "", samples=samples), "", RunOptions())
    system = submission_of(part, "", reading)
    return _compute_quietly(
        system.references,
        system.predictions,
        {**system.per_sample, **options},
    )


def _compute_quietly(
    correct: ArrayLike,
    confidence: ArrayLike,
    options: dict[str, Any],
) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # epochs are groups, whether or not anything depends on them
        return compute_results(confidence_system(correct, confidence, **options)).flat()


@metric(name="ecuas", scores="unreduced")
def ecuas(
    *,
    only: str | None = None,
    correct_from: float | None = None,
    scale: float = 1,
    **options: object,
) -> Metric:
    """Return a metric: all that `score_confidences` computes, of scores with a confidence in their metadata.

    What a score means is what `ecuas score` reads from the log: every epoch is a sample, whatever the reducer, and a
    `weight` in the metadata of samples weighs them. With the numbers come `samples` and `missing_confidences`, how many
    there are of each. Where `ecuas score` would refuse the log, e.g. for a missing confidence, the numbers are nan and
    the log has a warning that says why; the evaluation goes on.

    Parameters
    ----------
    only : str, optional
        The one number to give, e.g. "ecuas_1", as Inspect's `grouped` needs it.
    correct_from : float, optional
        The lowest grade that is correct, e.g. 0.5 for Inspect's "P"; by default only 1 is.
    scale : float
        What a confidence of 1 is written as, e.g. 100 for percentages without a sign.
    **options
        Those of `score_confidences`; `missing_confidence` says what a missing one counts as.

    Raises
    ------
    InputError
        If an option is unknown, or `only` is no metric.
    """
    reading = Reading(correct_from=correct_from, scale=scale)
    # which checks the options
    undefined = dict.fromkeys(_compute_quietly([0, 1], [0.5, 0.5], options), math.nan)
    if only is not None and only not in undefined:
        raise InputError("only", "not_a_choice", value=only, choices=list(undefined))
    warned: set[str] = set()

    def compute(scores: list[SampleScore]) -> dict[str, float] | float:
        values = undefined
        try:
            values = _score_confidences(scores, reading, options) if scores else undefined
        except InputError as error:
            # metrics are computed again and again while the evaluation runs
            if error.rule not in warned:
                count = len(scores)
                logging.getLogger(__name__).warning(
                    "The metrics of ECUAS are nan, of %d scores: %s", count, error
                )
            warned.add(error.rule)
        if only is not None:
            return values[only]
        stated = without_nan((each.score.metadata or {}).get("confidence") for each in scores)
        return {
            **values,
            "samples": len(scores),
            "missing_confidences": stated.count(None),
        }

    return compute


@scorer(metrics=[accuracy(), ecuas()])
def answer_with_confidence(grader: "Scorer | None" = None, scale: float = 1) -> Scorer:
    """Return a scorer of answers such as "Paris (85 %)": another scorer grades the text before the confidence.

    The confidence ends the reply: a number with a decimal point or a per cent sign (or "percent"), in brackets, after a
    comma or a semicolon, or on a line of its own, with or without the word confidence or probability before it. Nothing
    else is taken for one, nor a number in a bracket or a line that states another one.
    With `scale`, e.g. 100, replies without a sign have it too: then "Paris (85)" is 0.85. The `grader` is by default
    Inspect's `exact()`, which takes any of several targets and ignores case and punctuation. Other options of `ecuas`
    are set by ``Task(metrics=[ecuas(...)])``.
    """
    grade = grader or exact()

    async def score(state: TaskState, target: Target) -> Score:
        answer, confidence = answer_and_confidence(state.output.completion, scale)
        answered = copy.copy(state)
        answered.output = state.output.model_copy(update={"completion": answer})
        graded = await grade(answered, target)
        metadata = {**(graded.metadata or {}), "confidence": confidence}
        return graded.model_copy(update={"answer": answer, "metadata": metadata})

    return score


def answer_and_confidence(
    reply: str,
    scale: float = 1,
) -> tuple[str, float | None]:
    """Return the answer of a reply, and the confidence in [0, 1] that ends it, or None.

    >>> answer_and_confidence("Paris (85 %)"), answer_and_confidence("Paris, 0.9."), answer_and_confidence("1914")
    (('Paris', 0.85), ('Paris', 0.9), ('1914', None))
    >>> answer_and_confidence("Paris (85)"), answer_and_confidence("Paris (85)", 100)
    (('Paris (85)', None), ('Paris', 0.85))
    """
    text = reply.strip()
    stated = _STATED.search(text)
    if stated is None or not (stated["percent"] or "." in stated["number"] or scale != 1):
        return text, None
    confidence = float(stated["number"]) / (100 if stated["percent"] else scale)
    answer = text[: stated.start()].rstrip(" ,;:-\n")
    if confidence > 1 or _ANOTHER.search(answer.rpartition("\n")[2]):
        return text, None
    return answer, confidence
