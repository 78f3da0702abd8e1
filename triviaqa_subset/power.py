"""Plans a comparison: the difference between two systems that N questions can detect, and the N that one needs."""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GRID = np.array([NormalDist().inv_cdf((i + 0.5) / 2000) for i in range(2000)])
FLOOR = 1e-7  # of the uncertainty inside the logarithm of ECUAS_0
WEIGHTED = 1.3179  # mean of the squared weights of the 455, whose mean is 1: Kish's design effect
PLANS = (("455, weighted", 455, WEIGHTED), ("455", 455, 1.0), ("926 (kept)", 926, 1.0))
COSTS: dict[str, Callable[[Floats, float], Floats]] = {
    "error_rate": lambda u, c: np.full_like(u, c),
    "ecuas_0": lambda u, c: u - c * np.log(np.maximum(u, FLOOR)),
    "ecuas_1": lambda u, c: u**2 + 2 * c * (1 - u),
}
EPILOG = """\
examples
  python -m triviaqa_subset.power --error-rates 0.30 0.36
      what the 455 and the 926 questions can detect
  python -m triviaqa_subset.power --error-rates 0.30 0.36 --difference 0.05
      and how many questions a difference of 0.05 needs

The model: confidences are calibrated and logit-normal, with the given error rates and AUROC; the costs of the two
systems on the same question have the given correlation. The comparison is paired and two-sided.
"""


def cost_deviation(metric: str, error_rate: float, auroc: float) -> float:
    """Return the standard deviation over questions of a system's cost, under the model of the command's help.

    Parameters
    ----------
    metric : {"error_rate", "ecuas_0", "ecuas_1"}
        For free text: the largest uncertainty is 1.
    error_rate : float
        In (0, 1).
    auroc : float
        In (0.5, 1), of the confidences.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        An unknown metric, a value out of range, or an AUROC that no such confidences have.

    Examples
    --------
    >>> round(cost_deviation("error_rate", 0.3, 0.8), 3), round(cost_deviation("ecuas_1", 0.3, 0.8), 3)
    (0.458, 0.597)
    """
    if metric not in COSTS:
        raise ValueError(f"metric must be one of {', '.join(COSTS)}; got {metric!r}.")
    _require_between("error rate", error_rate, 0, 1)
    confidence = _confidences(error_rate, auroc)
    right, wrong = (COSTS[metric](1 - confidence, cost) for cost in (0.0, 1.0))
    mean, square = (np.mean(confidence * right**k + (1 - confidence) * wrong**k) for k in (1, 2))
    return math.sqrt(max(float(square - mean**2), 0.0))


def paired_deviation(metric: str, error_rates: Sequence[float], auroc: float = 0.8, correlation: float = 0.5) -> float:
    """Return the standard deviation over questions of the difference of two systems' costs.

    Parameters
    ----------
    metric : str
        See `cost_deviation`.
    error_rates : sequence of two floats
    auroc : float
        Of both.
    correlation : float
        In [-1, 1], of the two systems' costs on the same question.

    Returns
    -------
    float
    """
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation must lie in [-1, 1]; got {correlation:g}.")
    a, b = (cost_deviation(metric, error_rate, auroc) for error_rate in error_rates)
    return math.sqrt(max(a**2 + b**2 - 2 * correlation * a * b, 0.0))


def detectable_difference(
    deviation: float, questions: float, *, design_effect: float = 1.0, power: float = 0.8, level: float = 0.05
) -> float:
    """Return the difference of means that a two-sided test finds with this power.

    Parameters
    ----------
    deviation : float
        Of the difference, per question: see `paired_deviation`.
    questions : float
        Their number, > 0.
    design_effect : float
        By how much weights multiply the variance; 1 without.
    power, level : float
        In (0, 1).

    Returns
    -------
    float

    Examples
    --------
    >>> round(detectable_difference(0.5, 455), 4)
    0.0657
    """
    _require_between("questions", questions, 0, math.inf)
    return _quantiles(power, level) * deviation * math.sqrt(design_effect / questions)


def questions_needed(
    deviation: float, difference: float, *, design_effect: float = 1.0, power: float = 0.8, level: float = 0.05
) -> int:
    """Return the number of questions that detect a difference; the inverse of `detectable_difference`.

    Examples
    --------
    >>> questions_needed(0.5, 0.0657)
    455
    """
    _require_between("difference", difference, 0, math.inf)
    return math.ceil(design_effect * (_quantiles(power, level) * deviation / difference) ** 2)


def _quantiles(power: float, level: float) -> float:
    for name, value in (("power", power), ("level", level)):
        _require_between(name, value, 0, 1)
    return NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(power)


@cache  # the same for each metric
def _confidences(error_rate: float, auroc: float) -> Floats:
    """Return equally likely confidences sigmoid(m + s z) with this error rate and AUROC, if they are calibrated."""
    _require_between("AUROC", auroc, 0.5, 1)

    def at(spread: float) -> Floats:
        shift = _bisect(lambda shift: float(_sigmoid(shift + spread * GRID).mean()) - (1 - error_rate), -200, 200)
        return _sigmoid(shift + spread * GRID)

    highest = _auroc(at(40.0))
    if auroc >= highest:
        raise ValueError(f"AUROC must be below {highest:.4f} for an error rate of {error_rate:g}; got {auroc:g}.")
    confidences = at(_bisect(lambda spread: _auroc(at(spread)) - auroc, 0, 40))
    confidences.flags.writeable = False
    return confidences


def _auroc(confidence: Floats) -> float:
    """Return the AUROC of calibrated confidences in increasing order, ties at one grid point counting 1/2."""
    wrong = 1 - confidence
    won = confidence @ (np.cumsum(wrong) - wrong / 2)
    return float(won / (confidence.sum() * wrong.sum()))


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))


def _bisect(increasing: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) < 0 else (low, middle)
    return (low + high) / 2


def _require_between(name: str, value: float, low: float, high: float) -> None:
    if not low < value < high:
        rule = f"must lie in ({low:g}, {high:g})" if high < math.inf else f"must be finite and above {low:g}"
        raise ValueError(f"{name} {rule}; got {value:g}.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m triviaqa_subset.power",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--error-rates", nargs=2, type=float, required=True, metavar="RATE", help="error rates of the two systems")
    add("--auroc", type=float, default=0.8, help="AUROC of their confidences (default: 0.8)")
    add("--correlation", type=float, default=0.5, help="correlation of their costs on the same question (default: 0.5)")
    add("--questions", type=int, nargs="+", metavar="N", help="numbers of questions (default: 455 and 926)")
    add("--difference", type=float, metavar="D", help="also compute how many questions this difference needs")
    add("--power", type=float, default=0.8, help="power of the test (default: 0.8)")
    add("--level", type=float, default=0.05, help="significance level (default: 0.05)")
    return parser


def plan(
    error_rates: Sequence[float],
    *,
    auroc: float = 0.8,
    correlation: float = 0.5,
    questions: Sequence[float] | None = None,
    difference: float | None = None,
    power: float = 0.8,
    level: float = 0.05,
) -> list[list[str]]:
    """Return a table: what numbers of questions can detect, metric by metric, and how many a difference needs.

    Parameters
    ----------
    error_rates, auroc, correlation
        See `paired_deviation`.
    questions : sequence of float, optional
        By default those of the subset and of all that were kept.
    difference : float, optional
        Adds a row: the number of questions that it needs.
    power, level
        See `detectable_difference`.

    Returns
    -------
    list of list of str
        The header first.

    Examples
    --------
    >>> plan([0.3, 0.36], questions=[455])
    [['questions', 'error_rate', 'ecuas_0', 'ecuas_1'], ['455', '0.062', '0.077', '0.078']]
    """
    test = {"power": power, "level": level}
    plans = [(f"{n:g}", n, 1.0) for n in questions] if questions else PLANS
    rows = [["questions", *COSTS]]
    spread = {metric: paired_deviation(metric, error_rates, auroc, correlation) for metric in COSTS}
    for name, n, effect in plans:
        found = (detectable_difference(sd, n, design_effect=effect, **test) for sd in spread.values())
        rows.append([name, *(f"{detected:.3f}" for detected in found)])
    if difference is not None:
        needed = (questions_needed(sd, difference, **test) for sd in spread.values())
        rows.append([f"needed for {difference:g}", *map(str, needed)])
    return rows


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return 2, with one line on stderr, if a value is out of range."""
    try:
        rows = plan(**vars(_parser().parse_args(argv)))
    except ValueError as error:
        print(f"power: {error}", file=sys.stderr)
        return 2
    for name, *cells in rows:
        print("  ".join([name.ljust(20), *(cell.rjust(10) for cell in cells)]).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
