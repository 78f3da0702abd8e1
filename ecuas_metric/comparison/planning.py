"""Plan a comparison: the difference that N samples can detect, and the N that a difference needs."""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ..audit import FEWEST, AuditedNumber, infer_audits, known_numbers, refuse_audit
from ..decisions import one_right_one_wrong
from ..display import Drawn
from ..errors import InputError
from ..files.systems import collect_systems
from ..inference import Inference, Moments, Side, infer
from ..inputs import Floats
from ..metric import Key, Keys
from ..metrics import mean_line, right_and_wrong_samples
from ..options import ALPHA, DEFAULTS, LEVEL, check_alpha, check_number
from ..results import System, compute_values, make_answers
from .compare import Family, align
from .rows import list_fields

if TYPE_CHECKING:
    from pandas import DataFrame

POWER = 0.8  # Cohen's convention, Statistical Power Analysis for the Behavioral Sciences (1988)
SAMPLES = 1000
# of the costs of two systems on a sample, where the same samples are hard for both
CORRELATION = 0.5
EXPECTED_AUROC = 0.8  # about that of verbalized confidences of language models
QUANTILES = (np.arange(2000) + 0.5) / 2000  # at which the model's confidences are taken
MOST = 10**18  # samples, beyond which there is no plan
_TIMES = (1, 2, 4)  # as many labels as a pilot has
STEEPEST = 40.0  # a spread of log-odds with which nearly all confidences are 0 or 1


@dataclass(frozen=True, slots=True)
class Spread:
    """The variation of a difference: its standard deviation for one sample, and its moments in a pilot.

    Those are with one more answer, which moves the difference towards 0.
    """

    deviation: float  # of one sample
    moments: Moments
    samples: int = 1  # of the pilot

    def detectable(self, samples: int, power: float, alpha: float) -> float:
        """Return the difference whose interval, from so many samples, leaves out 0 with this power."""
        moments = self.moments.scaled(samples / self.samples)
        shift = moments.shift / moments.total.sum()
        columns = (moments.deviation, moments.skewness, moments.freedom)
        deviation, skewness, freedom = (float(column.item()) for column in columns)
        limit = Side(float(shift.item()), deviation, skewness, freedom).limit(alpha / 2)
        return NormalDist().inv_cdf(power) * self.deviation / math.sqrt(samples) - limit


@dataclass(frozen=True, slots=True)
class Plan:
    """What a comparison of two systems by one metric can detect.

    Attributes
    ----------
    key : Key
    difference : float
        Planned, or that of the systems, first minus second.
    deviation : float
        The standard deviation of the paired difference of one sample.
    samples : int
        N.
    detectable : float
        The difference that N samples detect with the power; nan if the deviation is 0 or unknown.
    needed : int or None
        The N that detects `difference`; None if that is 0, or the deviation 0 or unknown.
    comparable : bool
        Whether the metric may rank the systems.
    needed_low, needed_high : int or None
        The 95 % range of `needed`, as far as a pilot knows the deviation; None without a pilot.

    Examples
    --------
    >>> Plan(Key("error_rate"), 0.02, 0.4, samples=1000, detectable=0.035, needed=3142).needed
    3142
    """

    key: Key
    difference: float
    deviation: float
    samples: int
    detectable: float
    needed: int | None
    comparable: bool = True
    needed_low: int | None = None
    needed_high: int | None = None


class Plans(list[Plan], Drawn):
    """Plans of a comparison by each metric, for one power and one level of the test.

    Examples
    --------
    See `plan_of_systems`.

    >>> Plans([], power=0.8, alpha=0.05).to_frame().empty
    True
    """

    def __init__(
        self, plans: Iterable[Plan], *, power: float, alpha: float, planned: bool = False
    ) -> None:
        super().__init__(plans)
        self.power = power
        self.alpha = alpha
        self.planned = planned  # whether their difference was asked for

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each metric."""
        import pandas as pd

        return pd.DataFrame([list_fields(plan) for plan in self])


def plan_of_systems(
    systems: Any,
    *,
    samples: int | None = None,
    difference: float | None = None,
    power: float = POWER,
    alpha: float = ALPHA,
    only: Keys | None = None,
    by_position: bool = False,
) -> Plans:
    """Plan a comparison by each metric, of systems that differ as two do of which there is a pilot.

    The variance of a difference is that of the differences of the samples' influences. Weights and groups count: N is
    the number of samples in groups of such sizes.

    Parameters
    ----------
    systems : mapping of name to System or frame, frame, iterable of System, or list of Submission
        Two, of the same samples, as for `compare_systems`.
    samples : int, optional
        N; by default that of the systems.
    difference : float, optional
        To be found; by default the observed one of each metric.
    power : float, default 0.8
        The probability of finding it, in (0, 1).
    alpha : float, default 0.05
        The level of the two-sided test, in (0, 0.5].
    only : iterable of str or Key, optional
        The metrics; by default all that are not biased.
    by_position : bool, default False
        Pair the samples of systems without ids by their position.

    Returns
    -------
    Plans
        A list of `Plan`: the difference that N samples can find, and the N that the difference takes.

    Raises
    ------
    InputError
        Unless there are two systems of the same samples, or if the labels of one are audited.

    References
    ----------
    Hampel 1974, "The influence curve and its role in robust estimation".

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> confidences = {"old": [0.9, 0.2, 0.8, 0.4] * 9, "new": [0.7, 0.3, 0.9, 0.6] * 9}
    >>> systems = {
    ...     name: confidence_system([1, 0, 1, 1] * 9, q, confidence_level=0.95) for name, q in confidences.items()
    ... }
    >>> [plan] = plan_of_systems(systems, only=["ecuas_1"], by_position=True)
    >>> plan.samples, round(plan.difference, 3), plan.needed > 0
    (36, 0.025, True)
    """
    named = collect_systems(systems)
    if len(named) != 2:
        raise InputError("a plan", "is made for two systems", value=len(named))
    for system in named.values():
        refuse_audit(system, "a plan")
    family = Family(align(named, by_position=by_position), only)
    if not family.design.tells_errors:
        raise InputError("a plan", "needs two samples, or groups, in each stratum", got="fewer")
    planned = len(family.design.weight) if samples is None else samples
    plans = []
    for test in family.tests:
        if test.inference is not None:
            wanted = test.inference.value if difference is None else difference
            spread = _estimate_spread(test.inference, len(family.design.weight), wanted)
            plan = make_plan(test.key, wanted, spread, planned, power=power, alpha=alpha)
            plan = replace(plan, comparable=family.may_rank(test))
            plans.append(_add_range(plan, test.influence(family.design)))
    return Plans(plans, power=power, alpha=alpha, planned=difference is not None)


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """The half width of an interval if people label this number of a judge's answers."""

    key: Key
    labels: int
    half_width: float


def plan_labels(system: System, only: Iterable[Key] | None = None) -> list[LabelPlan]:
    """Return plans of 1, 2 and 4 times as many labels as people gave, or all, for means (in `only`, or all there are).

    InputError if there is no judge whose verdicts they correct, or people saw too few mistakes.
    """
    audit = system.audit
    if audit is None:
        raise InputError("a plan of labels", "needs a judge's verdicts on all answers")
    if audit.rarer_count < FEWEST:
        rule = "needs {few} wrong and {few} right answers that people labelled"
        raise InputError("a plan of labels", rule, got=str(audit.rarer_count), few=FEWEST)
    answers = make_answers(system)
    values = compute_values(system, None if only is None else list(only))
    return [
        plan
        for key, number in known_numbers(system, answers, values).items()
        if key.entry.cost is not None and isinstance(number, AuditedNumber)
        for plan in _plan_mean_labels(key, number, system)
    ]


def _plan_mean_labels(key: Key, number: AuditedNumber, system: System) -> Iterator[LabelPlan]:
    """Yield plans of a mean: more labels lower the variance of corrections, and not that of answers."""
    from scipy.special import stdtrit

    whole = infer_audits([[number]], number.design)[0]
    corrections = infer([number.residual], number.drawn)
    if whole is None or corrections is None:
        return
    bought = corrections.lower.deviation**2
    fixed = max(whole.lower.deviation**2 - bought, 0.0)
    level = system.options.confidence_level or LEVEL
    low, high = whole.limits(level)
    pilot = len(number.rows)
    answers = int(np.count_nonzero(~system.decisions.abstained))
    unit = 0.0
    for labels in dict.fromkeys(min(pilot * times, answers) for times in _TIMES):
        freedom = max(min(labels - 4, whole.lower.freedom * labels / pilot), 1.0)
        quantile = -float(stdtrit(freedom, (1 - level) / 2))
        reach = quantile * math.sqrt(bought * pilot / labels + fixed)
        unit = unit or (high - low) / 2 / reach  # of the pilot, whose interval is known
        yield LabelPlan(key, labels, unit * reach)


def _estimate_spread(inference: Inference, samples: int, difference: float) -> Spread:
    """Return the spread of a difference of this sign from its inference in a pilot of so many samples."""
    side = inference.lower if difference > 0 else inference.upper
    assert inference.observed is not None
    assert inference.observed.moments is not None
    assert side.moments is not None
    deviation = inference.observed.moments.standard_error.item() * math.sqrt(samples)
    return Spread(deviation, side.moments, samples)


def _add_range(plan: Plan, influence: Floats) -> Plan:
    r"""Return a plan with the range of N, from the influence (U,) of each unit of the pilot on the difference.

    N is proportional to the variance, the logarithm of which varies by about :math:`\sum d^4 / (\sum d^2)^2 - 1 / U`.
    """
    if plan.needed is None:
        return plan
    squares = np.square(influence)
    variance = float(np.square(squares).sum() / squares.sum() ** 2) - 1 / len(squares)
    factor = math.exp(NormalDist().inv_cdf(0.975) * math.sqrt(max(variance, 0.0)))
    low, high = math.floor(plan.needed / factor), math.ceil(plan.needed * factor)
    return replace(plan, needed_low=max(low, 1), needed_high=min(high, MOST))


def plan_from_rates(
    key: Key,
    error_rates: Sequence[float],
    *,
    samples: int | None = None,
    correlation: float = CORRELATION,
    auroc: float = EXPECTED_AUROC,
    difference: float | None = None,
    power: float = POWER,
    alpha: float = ALPHA,
) -> Plan:
    """Plan a comparison by the error rate or an ECUAS_n of two future systems from their `error_rates` in (0, 1).

    Both are assumed to be calibrated, with normal log-odds, K unknown, and the same `auroc` in (0.5, 1); N defaults to
    `SAMPLES`. `correlation` is that of their costs of a sample, about 0.5 where the same samples are hard for both; it
    counts up to that of errors of which the rarer are all among the others.
    """
    if len(error_rates) != 2:
        raise InputError("error_rates", "takes two rates", value=len(error_rates))
    check_number(correlation, "correlation", -1, 1)
    first, second = (_model_costs(key, rate, auroc) for rate in error_rates)
    rare, often = sorted(error_rates)
    most = math.sqrt(rare * (1 - often) / (often * (1 - rare)))
    product = min(correlation, most) * first.deviation * second.deviation
    variance = first.deviation**2 + second.deviation**2 - 2 * product
    deviation = math.sqrt(max(variance, 0.0))
    wanted = first.mean - second.mean if difference is None else difference
    dear, cheap = (first, second) if wanted > 0 else (second, first)
    shift = (dear.mean - dear.right) + (cheap.wrong - cheap.mean)
    one = np.ones(1)
    moments = Moments(
        total=one,
        unit=one,
        units=one,
        squares=one * deviation**2,
        cubes=0 * one,
        mass=one,
        added=-one * shift,
        added_squares=one * shift**2,
        added_cubes=-one * shift**3,
    )
    spread = Spread(deviation, moments)
    planned = SAMPLES if samples is None else samples
    return make_plan(key, wanted, spread, planned, power=power, alpha=alpha)


def make_plan(
    key: Key,
    difference: float,
    spread: Spread,
    samples: int,
    *,
    power: float = POWER,
    alpha: float = ALPHA,
) -> Plan:
    r"""Return the plan for a difference, from its spread with the standard deviation s.

    .. math:: D = z_{power} \frac{s}{\sqrt N} - l_{\alpha / 2}(N)

    l is the lower limit about a difference of 0, with one more answer among N: to first order
    :math:`-z_{1 - \alpha / 2}\, s / \sqrt N`.
    """
    check_number(power, "power", 0, 1, inside=True)
    check_alpha(alpha, "alpha")
    if samples < 1:
        raise InputError("samples", "must be at least 1", value=samples)
    if power <= alpha / 2:
        raise InputError(
            "power", "must be above half of alpha, its value without a difference", value=power
        )
    if not math.isfinite(difference):
        raise InputError("difference", "not_finite", value=difference)
    detectable = math.nan
    needed = None
    # Pilot samples that never differ, but for rounding, tell nothing.
    if spread.deviation > 1e-12 * abs(difference):
        detectable = spread.detectable(samples, power, alpha)
        needed = _find_needed_samples(spread, abs(difference), power, alpha)
    return Plan(key, difference, spread.deviation, samples, detectable, needed)


def _find_needed_samples(
    spread: Spread, difference: float, power: float, alpha: float
) -> int | None:
    """Return the smallest number of samples that detects a difference, by bisection from the normal approximation."""

    def detect(samples: int) -> bool:
        return spread.detectable(samples, power, alpha) <= difference

    normal = NormalDist()
    deviations = normal.inv_cdf(power) - normal.inv_cdf(alpha / 2)
    root = deviations * spread.deviation
    low = high = MOST
    if root < difference * math.sqrt(MOST):
        low = high = max(1, round((root / difference) ** 2))
    step = max(1, low // 256)
    while low > 0 and detect(low):
        low = max(0, low - step)
        step *= 2
    while high < MOST and not detect(high):
        high = min(MOST, high + step)
        step *= 2
    sizes = range(low + 1, high + 1)
    fewer = bisect_left(sizes, True, key=detect)
    return sizes[fewer] if fewer < len(sizes) else None


@dataclass(frozen=True, slots=True)
class _Costs:
    """The cost of a sample of a future system: mean, standard deviation, and the means of right and of wrong ones."""

    mean: float
    deviation: float
    right: float
    wrong: float


def _model_costs(key: Key, error_rate: float, auroc: float) -> _Costs:
    """Return the cost of a sample of a future system under the model of `plan_from_rates`."""
    if key.entry.cost is None or key.entry.needs not in ("", "confidences") or key.variant:
        raise InputError(
            "a plan without files", "knows metrics that are means of costs only", value=str(key)
        )
    check_number(error_rate, "error_rates", 0, 1, inside=True)
    check_number(auroc, "auroc", 0.5, 1, inside=True)
    confidence = _model_confidences(error_rate, auroc)
    samples = right_and_wrong_samples(1 - confidence, one_right_one_wrong(1.0))
    line = mean_line(key, samples, DEFAULTS)
    right = line.intercept
    wrong = line.influence(1.0)
    mean = float(np.mean(confidence * right + (1 - confidence) * wrong))
    square = float(np.mean(confidence * right**2 + (1 - confidence) * wrong**2))
    deviation = math.sqrt(max(square - mean**2, 0.0))
    return _Costs(mean, deviation, float(right.mean()), float(wrong.mean()))


@functools.cache
def _model_confidences(error_rate: float, auroc: float) -> Floats:
    """Return equally likely calibrated confidences with this error rate and AUROC, see `plan_from_rates`."""
    from scipy.optimize import brentq
    from scipy.special import expit, ndtri

    normal = ndtri(QUANTILES)

    def at(spread: float) -> Floats:
        shift = brentq(
            lambda shift: float(expit(shift + spread * normal).mean()) - (1 - error_rate),
            -200,
            200,
        )
        return np.asarray(expit(shift + spread * normal))

    most = _expected_auroc(at(STEEPEST))
    if auroc > most:
        raise InputError(
            "auroc",
            "of calibrated confidences is at most {largest:.3f} here",
            value=auroc,
            largest=most,
        )
    return at(brentq(lambda spread: _expected_auroc(at(spread)) - auroc, 0.0, STEEPEST))


def _expected_auroc(confidence: Floats) -> float:
    """Return the expected AUROC of calibrated confidences in increasing order."""
    wrong = 1 - confidence
    below = np.cumsum(wrong) - wrong / 2
    return float(confidence @ below / (confidence.sum() * wrong.sum()))
