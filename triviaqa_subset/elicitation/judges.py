"""Two judges of one run: how far they agree, and a log that leaves unlabelled what they judge differently.

``python -m triviaqa_subset.elicitation.judges FIRST SECOND OUTPUT``; `ecuas score OUTPUT` then gives bounds, within
which the metrics lie whichever of the two is right about each answer.
"""

import argparse
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.log import EvalLog, EvalSample, read_eval_log, write_eval_log
from inspect_ai.scorer import Score

# of the first judge and of the second: C, I, or nan where it left an answer open
Verdict = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many answers two judges saw, of how many they say the same, and Cohen's kappa, nan if it has no value."""

    count: int
    same: int
    kappa: float


def cohens_kappa(verdicts: Sequence[Verdict]) -> float:
    r"""Return :math:`(p_o - p_e) / (1 - p_e)` of the observed and the expected share of equal verdicts (Cohen, 1960).

    >>> cohens_kappa([("C", "C"), ("C", "I"), ("I", "I"), ("I", "I")])
    0.5
    """
    count = len(verdicts)
    first = Counter(verdict[0] for verdict in verdicts)
    second = Counter(verdict[1] for verdict in verdicts)
    expected = sum(first[value] * second[value] for value in first)
    observed = count * sum(mine == other for mine, other in verdicts)
    return (observed - expected) / (count**2 - expected) if expected < count**2 else math.nan


def compare_judges(
    first: EvalLog,
    second: EvalLog,
) -> tuple[dict[str, Agreement], EvalLog]:
    """Return the agreement on the judged answers of each method, and the first log without what differs.

    Raises
    ------
    ValueError
        If the logs are not of the same answers.
    """
    others = {(sample.id, sample.epoch): sample for sample in second.samples or ()}
    verdicts: dict[str, list[Verdict]] = {}
    merged = []
    for sample in first.samples or ():
        other = others.get((sample.id, sample.epoch))
        scores = dict(sample.scores or {})
        for method, score, judged in _judged(sample, other):
            pair = (str(score.value), str(judged.value))
            verdicts.setdefault(method, []).append(pair)
            if pair[0] != pair[1]:
                scores[method] = score.model_copy(update={"value": math.nan})
        merged.append(sample.model_copy(update={"scores": scores}))
    agreements = {}
    for method, pairs in verdicts.items():
        same = sum(mine == judged for mine, judged in pairs)
        agreements[method] = Agreement(len(pairs), same, cohens_kappa(pairs))
    return agreements, first.model_copy(update={"samples": merged})


def _judged(
    sample: EvalSample,
    other: EvalSample | None,
) -> list[tuple[str, Score, Score]]:
    """Return the scores of both logs by their method, of which a judge gave at least one."""
    scores = (other.scores or {}) if other else {}
    pairs = []
    for method, score in (sample.scores or {}).items():
        judged = scores.get(method)
        if judged is None or judged.answer != score.answer:
            raise ValueError(
                f"the logs must have the same answers; they differ in {method} of sample {sample.id}."
            )
        if any("judge" in (each.metadata or {}) for each in (score, judged)):
            pairs.append((method, score, judged))
    return pairs


def compare_logs(arguments: Sequence[str] | None = None) -> None:
    """Print the agreement, and write the log."""
    parser = argparse.ArgumentParser(
        prog="python -m triviaqa_subset.elicitation.judges", description=__doc__
    )
    for name in ("first", "second", "output"):
        parser.add_argument(name)
    files = parser.parse_args(arguments)
    try:
        agreements, merged = compare_judges(read_eval_log(files.first), read_eval_log(files.second))
    except (OSError, ValueError) as error:
        parser.error(str(error))
    for method, agreement in agreements.items():
        alike = f"{agreement.same} of {agreement.count} judged answers have one verdict"
        print(f"{method}: {alike}, Cohen's kappa {agreement.kappa:.3f}")
    write_eval_log(merged, files.output)


if __name__ == "__main__":
    compare_logs()
