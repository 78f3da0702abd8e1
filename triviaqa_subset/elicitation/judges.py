"""Two judges of one run: how far they agree, and a log that leaves unlabelled what they judge differently.

``python -m triviaqa_subset.elicitation.judges FIRST SECOND OUTPUT``; `ecuas score OUTPUT` then gives bounds, within
which the metrics lie whichever of the two is right about each answer.
"""

import argparse
import math
from collections import Counter
from collections.abc import Sequence

from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.scorer import Score

# of the first judge and of the second: C, I, or nan where it left an answer open
Verdict = tuple[str, str]


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


def compare_judges(first: EvalLog, second: EvalLog) -> dict[str, list[Verdict]]:
    """Return the verdicts on the judged answers of each method, and take those that differ from the first log.

    Raises
    ------
    ValueError
        If the logs are not of the same answers.
    """
    others = _scores(second)
    verdicts: dict[str, list[Verdict]] = {}
    for (sample, epoch, method), score in _scores(first).items():
        other = others.get((sample, epoch, method))
        if other is None or other.answer != score.answer:
            raise ValueError(
                f"the logs must have the same answers; they differ in {method} of sample {sample}."
            )
        if "judge" in {**(score.metadata or {}), **(other.metadata or {})}:
            verdict = (str(score.value), str(other.value))
            verdicts.setdefault(method, []).append(verdict)
            if verdict[0] != verdict[1]:
                score.value = math.nan
    return verdicts


def _scores(log: EvalLog) -> dict[tuple[int | str, int, str], Score]:
    """Return the scores of a log by sample, epoch and method."""
    return {
        (sample.id, sample.epoch, method): score
        for sample in log.samples or ()
        for method, score in (sample.scores or {}).items()
    }


def compare_logs(arguments: Sequence[str] | None = None) -> None:
    """Print how far the judges agree on each method, and write the log."""
    parser = argparse.ArgumentParser(
        prog="python -m triviaqa_subset.elicitation.judges", description=__doc__
    )
    for name in ("first", "second", "output"):
        parser.add_argument(name)
    files = parser.parse_args(arguments)
    try:
        log = read_eval_log(files.first)
        verdicts = compare_judges(log, read_eval_log(files.second))
    except (OSError, ValueError) as error:
        parser.error(str(error))
    for method, pairs in verdicts.items():
        same = sum(mine == other for mine, other in pairs)
        alike = f"{same} of {len(pairs)} judged answers have one verdict"
        print(f"{method}: {alike}, Cohen's kappa {cohens_kappa(pairs):.3f}")
    write_eval_log(log, files.output)


if __name__ == "__main__":
    compare_logs()
