"""A gate between two builds: whether the new one is worse, or may be worse by more than a margin, by one test."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from ..display import Shown
from ..errors import InputError
from ..files.systems import collect_systems
from ..metric import Key, checked_keys
from ..options import check_number
from .compare import align, compare_aligned
from .planning import POWER, plan_of_systems
from .rows import significance_level
from .verdict import HEADLINE

if TYPE_CHECKING:
    from pandas import DataFrame

NO_TEST = "takes a metric that may rank these two and whose difference has a test"
LEAST_POWER = 0.2  # of what a gate speaks of


@dataclass(frozen=True, slots=True)
class Gate(Shown):
    """Whether a new system passes beside an old one, by one metric.

    Attributes
    ----------
    passed : bool
        Without a margin: whether it is not worse by more than chance; with one: whether its interval excludes that it
        is worse by more than the margin.
    old, new : str
        The systems.
    key : Key
        The metric.
    margin : float or None
        By how much the new system may be worse.
    old_value, new_value : float
        The metric of both.
    worsening, low, high : float
        By how much the new system is worse, with its interval; below 0 it is better.
    p : float
        Two-sided, of this one test.
    visible : float
        A worsening, in round numbers, ..
    power : float
        .. which such samples would show with this probability, at which the gate without a margin fails.
    detectable : float
        What they would show with a probability of 80 %; nan where the systems never differ.
    power_if_equal : float
        The probability with which a system that is equal passes.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> confidences = {"old": [0.9, 0.2, 0.8, 0.4], "new": [0.8, 0.3, 0.9, 0.4]}
    >>> systems = {
    ...     name: confidence_system([1, 0, 1, 1], q, confidence_level=0.95) for name, q in confidences.items()
    ... }
    >>> gate = check_gate(systems, "ecuas_1", by_position=True)
    >>> gate.passed, str(gate.key), gate.to_frame().shape
    (True, 'ecuas_1', (1, 15))
    """

    passed: bool
    old: str
    new: str
    key: Key
    margin: float | None
    old_value: float
    new_value: float
    worsening: float
    low: float
    high: float
    p: float
    visible: float
    power: float
    detectable: float
    power_if_equal: float

    def to_frame(self) -> DataFrame:
        """Return a data frame of one row."""
        import pandas as pd

        return pd.DataFrame([self.to_json()])

    def to_json(self) -> dict[str, Any]:
        """Return the gate as what JSON can hold."""
        return asdict(self) | {"key": str(self.key)}


def check_gate(
    systems: Any,
    metric: Key | str = HEADLINE,
    *,
    margin: float | None = None,
    by_position: bool = False,
) -> Gate:
    """Check the second of two systems against the first, by one test.

    Parameters
    ----------
    systems : mapping of name to System or frame, frame, iterable of System, or list of Submission
        The old one and the new one, as for `compare_systems`.
    metric : Key or str, default "ecuas_1"
        One that may rank them and has a test.
    margin : float, optional
        By how much the new system may be worse; without one it passes unless it is worse by more than chance.
    by_position : bool, default False
        Pair the samples of systems without ids by their position.

    Returns
    -------
    Gate

    Raises
    ------
    InputError
        Unless there are two systems of the same samples, the metric has a test of these, and a margin is at least 0.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> correct, options = [1, 1, 0, 1, 0, 1] * 5, {"confidence_level": 0.95}
    >>> systems = {
    ...     "old": confidence_system(correct, [0.9, 0.8, 0.2, 0.9, 0.1, 0.7] * 5, **options),
    ...     "new": confidence_system(correct, [0.5, 0.6, 0.5, 0.5, 0.4, 0.5] * 5, **options),
    ... }
    >>> gate = check_gate(systems, by_position=True)
    >>> gate.passed, round(gate.worsening, 3)
    (False, 0.187)
    """
    (key,) = checked_keys([metric])
    if margin is not None:
        margin = check_number(margin, "margin", 0, math.inf)
    named = collect_systems(systems)
    if len(named) != 2:
        raise InputError("a gate", "is made for two systems", value=len(named))
    aligned = align(named, by_position=by_position)
    (row,) = compare_aligned(aligned, only=[key]).rows
    if row.verdict in ("unranked", "untested", "undefined"):
        raise InputError("a gate", NO_TEST, value=str(key))
    higher_is_better = bool(key.entry.higher_is_better)
    # first minus second, or second minus first
    worsening = row if higher_is_better else row.turned()
    alpha = significance_level(next(iter(aligned.values())).options)
    old, new = named
    toward = 1.0 if higher_is_better else -1.0  # the sign of a worsening
    (plan,) = plan_of_systems(
        aligned, only=[key], difference=toward, alpha=alpha, by_position=by_position
    )
    error = plan.deviation / math.sqrt(plan.samples)
    visible, power = _find_visible(plan.detectable, error)
    if margin is None:
        passed = row.verdict != "first"
        power_if_equal = 1 - alpha / 2
    else:
        passed = worsening.high <= margin
        power_if_equal = _normal_probability(
            margin - (worsening.high - worsening.difference), error
        )
    return Gate(
        passed=passed,
        old=old,
        new=new,
        key=key,
        margin=margin,
        old_value=row.first_value,
        new_value=row.second_value,
        worsening=worsening.difference,
        low=worsening.low,
        high=worsening.high,
        p=row.p,
        visible=visible,
        power=power,
        detectable=plan.detectable,
        power_if_equal=power_if_equal,
    )


def _find_visible(detectable: float, error: float) -> tuple[float, float]:
    """Return a worsening in round numbers that samples with this standard error would show, and its power; or nan."""
    limit = NormalDist().inv_cdf(POWER) * error - detectable  # about a difference of 0
    for worsening in _round_numbers(detectable):
        power = _normal_probability(worsening + limit, error)
        if power >= LEAST_POWER:
            return worsening, power
    return math.nan, math.nan


def _round_numbers(number: float) -> list[float]:
    """Return the round numbers (1, 2 or 5 times a power of ten) just below and above a number; none unless positive."""
    if not number > 0:
        return []
    power = math.floor(math.log10(number))
    numbers = [float(f"{digit}e{power + more}") for more in (-1, 0, 1) for digit in (1, 2, 5)]
    return [
        max(one for one in numbers if one <= number),
        min(one for one in numbers if one > number),
    ]


def _normal_probability(distance: float, error: float) -> float:
    """Return the probability that a normal deviate of this standard error lies below a distance; nan if unknown."""
    if math.isnan(distance) or not error > 0:
        return math.nan
    return NormalDist().cdf(distance / error)
