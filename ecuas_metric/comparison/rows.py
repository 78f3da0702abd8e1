"""The comparison of two systems by one metric: what it is, and who is better by it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..metric import Key
from ..options import LEVEL, Options

VERDICTS = {
    "first": "the first is better, by more than chance",
    "second": "the second is better, by more than chance",
    "close": "too close to call",
    "equal": "they are equal",
    "untested": "not tested: not of the family, or no valid test is known",
    "unranked": "this metric may not rank these two, or has no direction",
    "undefined": "a value is not defined",
}
DIRECTIONS = {True: "higher", False: "lower", None: None}
REJECTING = "rejecting everything\u2060"  # a system that does; the mark is in no name of a file


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of one metric between two systems, the first minus the second.

    Examples
    --------
    >>> row = Comparison("a", "b", Key("error_rate"), -0.1, -0.18, -0.02, 0.012, 0.04, True)
    >>> print(row)
    error_rate: a - b = -0.1 [-0.18, -0.02], adjusted p = 0.04
    >>> print(row.turned())
    error_rate: b - a = +0.1 [+0.02, +0.18], adjusted p = 0.04
    """

    first: str
    second: str
    key: Key
    difference: float
    low: float  # see `inference.infer`; nan where no interval is valid
    high: float
    p: float  # two-sided: 1 minus the level at which the interval touches 0; nan without a test
    p_adjusted: float  # for the whole family together, see `Family.step_down`
    # False if the metric assesses the confidences only and the systems' answers differ
    comparable: bool
    # simultaneous for the family, see `compare.simultaneous_level`
    low_all: float = math.nan
    high_all: float = math.nan
    first_value: float = math.nan
    second_value: float = math.nan
    untested: str | None = None  # why there is no test: the id of a note
    family: bool = True  # whether it is one of the tests that were adjusted together
    verdict: str = ""  # who is better, or why nobody is called so: one of `VERDICTS`

    def turned(self) -> Comparison:
        """Return the same comparison, second minus first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=0.0 - self.difference,  # no negative zero
            low=-self.high,
            high=-self.low,
            low_all=-self.high_all,
            high_all=-self.low_all,
            first_value=self.second_value,
            second_value=self.first_value,
            verdict={"first": "second", "second": "first"}.get(self.verdict, self.verdict),
        )

    def __str__(self) -> str:
        """Return one line: the metric, the difference with its interval, and its adjusted p-value."""
        tested = f", adjusted p = {self.p_adjusted:.3g}" if self.family else ", not tested"
        limits = "" if math.isnan(self.low) else f" [{self.low:+.4g}, {self.high:+.4g}]"
        return f"{self.key}: {self.first} - {self.second} = {self.difference:+.4g}{limits}{tested}"


def list_fields(row: Any) -> dict[str, object]:
    """Return the fields of a comparison or a plan by name: the key as text, and whether lower or higher is better."""
    direction = DIRECTIONS[row.key.entry.higher_is_better]
    return asdict(row) | {"key": str(row.key), "direction": direction}


def significance_level(options: Options) -> float:
    """Return the level of the tests, 1 minus that of the intervals."""
    return round(1 - (options.confidence_level or LEVEL), 12)


def choose_verdict(row: Comparison, alpha: float) -> str:
    """Return which of `VERDICTS` follows from a comparison at the level `alpha`."""
    higher_is_better = row.key.entry.higher_is_better
    if not row.comparable or higher_is_better is None:
        return "unranked"
    if math.isnan(row.difference):
        return "undefined"
    if not row.family:
        return "untested"
    if not row.difference:
        return "equal"
    if row.p_adjusted > alpha:
        return "close"
    return "first" if (row.difference > 0) == higher_is_better else "second"
