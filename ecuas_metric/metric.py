"""What a metric is: one record with everything about it, and the registry of these records."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from .decisions import Decisions
from .errors import InputError
from .groups import Groups, Line
from .inputs import Array, FloatOrFloats, Floats, Limits, parse_number
from .options import Options, check_choice

OPTION_OF_VARIANT = {
    "": "",
    "normalized": "normalize",
    "recalibrated": "decompose",
    "calibration_loss": "decompose",
}
VARIANTS = tuple(OPTION_OF_VARIANT)


@dataclass(frozen=True, slots=True)
class Key:
    """Which number of a system: a metric, its parameter and its variant; as text, e.g. normalized_ecuas_1.

    Examples
    --------
    >>> str(Key("ecuas", 1.0)), str(Key("ecuas", 1.0, "normalized"))
    ('ecuas_1', 'normalized_ecuas_1')
    """

    metric: str  # in `METRICS`
    parameter: float | None = None  # e.g. n of ECUAS_n, or a reject cost
    variant: str = ""  # of `VARIANTS`

    def __str__(self) -> str:
        name = self.metric if self.parameter is None else f"{self.metric}_{self.parameter:g}"
        if self.variant == "normalized":
            return f"normalized_{name}"
        return f"{name}_{self.variant}" if self.variant else name

    def as_variant(self, variant: str) -> Key:
        """Return the key of the same metric and parameter in another variant."""
        return self if variant == self.variant else Key(self.metric, self.parameter, variant)

    @property
    def entry(self) -> Metric:
        """The metric's entry in the registry, also after another thread removed it while this one scores."""
        try:
            return METRICS[self.metric]
        except KeyError:
            return _REMOVED[self.metric]

    @property
    def options(self) -> set[str]:
        """The options that matter to this number and not to all numbers, such as n or normalize."""
        entry = self.entry
        return {entry.parameter, entry.when, OPTION_OF_VARIANT[self.variant], *entry.options} - {""}

    @property
    def assesses(self) -> str:
        """What the number assesses: as `Metric.assesses`, but "confidences" for a calibration loss of any metric."""
        return "confidences" if self.variant == "calibration_loss" else self.entry.assesses

    @property
    def is_biased(self) -> bool:
        """Whether its upward bias exceeds the width of an interval."""
        return self.entry.is_biased or self.variant == "calibration_loss"

    @property
    def is_plain_share(self) -> bool:
        """Whether the number is a share of the samples: of such a metric, and no variant."""
        return self.entry.is_share and not self.variant


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The arguments of a metric: samples, their tie groups, the options with their weights, and its parameter."""

    decisions: Decisions
    options: Options
    parameter: float = 0.0  # of the key, e.g. n
    grouped: Groups | None = None  # the tie groups; see `groups`
    largest_cost: float = math.inf  # upper bound of candidate costs, for `Metric.range`

    @property
    def groups(self) -> Groups:
        """The tie groups of the samples, where they are known."""
        assert self.grouped is not None
        return self.grouped

    @property
    def confidence(self) -> Floats:
        """The confidences (N,), which systems under the 0-1 cost have."""
        assert self.decisions.confidence is not None
        return self.decisions.confidence


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """The value of a number for some samples, and its influence function there."""

    value: float
    line: Line


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """What the naive system knows: the shares of the K classes, or (K = 2) of right and of wrong answers."""

    share: Floats  # (..., K), sums to 1
    # (...), of the naive system; None if the shares are of right and wrong
    uncertainty: FloatOrFloats
    max_uncertainty: float
    options: Options
    parameter: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class PartialLabels:
    """Answers (N,) some of which have no label, and the same data with all of these right, and with all wrong."""

    confidence: Floats  # (N,)
    correct: Floats  # (N,), 1, 0, or nan without a label
    weight: Floats  # (N,)
    all_right: Data
    all_wrong: Data


@dataclass(frozen=True, kw_only=True)
class Metric:
    """Everything about one metric. Exactly one of `cost`, `value` and `ratio` computes it.

    A metric of your own, in `add_metric`, has its value, interval, comparison, plan, state and column in tables:

    >>> import numpy as np
    >>> from ecuas_metric import Metric, add_metric, make_report, confidence_system
    >>> lost = add_metric(Metric(
    ...     name="missed", title="Missed", description="Share of right answers that are less sure than 1/2",
    ...     assesses="both", higher_is_better=False, needs="confidences", range=(0.0, 1.0),
    ...     cost=lambda data: (data.confidence < 0.5) * (1 - data.decisions.candidate_cost),
    ... ))
    >>> make_report([confidence_system([1, 0, 1, 1], [0.9, 0.2, 0.4, 0.8])]).results["system 1"].flat()["missed"]
    0.25
    >>> _ = remove_metric(lost)

    Attributes
    ----------
    name, title, description : str
        Its name in results, its short name in the header of a table, and one line on what it measures.
    assesses : str
        "decisions", "confidences", "posteriors" or "both" (decisions and confidences). One of confidences only does
        not rank systems whose answers differ.
    higher_is_better : bool or None
        None if neither is better.
    needs : str
        What a system must have: "" (nothing), "confidences" (the 0-1 cost), "costs" (another cost) or "posteriors".
    parameter : str
        The option that has its parameters, one number for each: "", "n" or "reject_costs"; "any" for parameters that
        are named with it, as in ``risk_at_coverage_0.9``.
    options : tuple of str
        Further options that it depends on and not all metrics do, as ``n_bins``. An option that no metric shown
        depends on is refused.
    cost : callable, optional
        `Data` to the cost of each sample, shape (N,), affine in the candidate cost; the metric is its weighted mean.
    value : callable, optional
        `Data` to the value, from `Data.groups`. Its interval holds if it changes smoothly with the weight of each
        answer, as a mean does and a median does not.
    of_samples : bool
        Whether `value` is computed from the samples instead; without a `line` it then has no interval.
    ratio : tuple of str, optional
        The metrics of which it is the quotient.
    line : callable, optional
        `Data` to the influence of a sample, `Line`, from `Data.groups`; by default that of `cost` and `ratio`, and
        for a `value` a jackknife over the groups.
    range : tuple of float or callable, optional
        The least and the largest possible value, or `Data` to these, of which no rows may be used; by default those of
        `cost`, and any number for a `value`.
    bias : callable, optional
        `Data`, value and effective number of samples to the bias, to the order 1 / N; by default none.
    fewest : tuple of int
        The fewest wrong, and right, answers for which its interval holds; with fewer it has no interval and no test.
    is_biased : bool
        Whether its bias exceeds the width of an interval, so that it has none.
    unjudged : callable, optional
        `PartialLabels` to the least and the largest value over all labels that unlabelled answers may have. By default
        that of a mean for a `cost`; for others no bounds are known, and a note says so.
    naive_confidence, naive_posterior : callable, optional
        `Frequencies` to the value (...) of the system that knows only these, by which `normalize` divides.
    two_classes : tuple of str and float, optional
        For a loss of posteriors: the metric of confidences to which it is proportional for two classes, and the
        factor.
    is_share : bool
        Whether it is the share of some samples among all.
    has_order_bounds : bool
        Whether, where the order of some samples is unknown, its extremes are its values with the cheapest first and
        with the dearest first.
    has_average : bool
        Whether its mean over tasks has a meaning.
    has_audit : bool
        For a `value`: whether its interval was found by simulation to hold where people's labels correct a judge's.
        Those of means and ratios hold.
    has_recalibrated : bool
        Whether `decompose` adds its value after the best recalibration.
    when : str
        "" (always), "ratio" (only to compute another), "calibration" (if that option is set) or "named" (in a list of
        metrics).
    only_in_full : bool
        Whether tables leave it out, so that they fit a terminal, unless it is named or all metrics are asked for.
    column : float
        Its place in tables and results, where metrics stand by increasing numbers; by default last.
    """

    name: str
    title: str
    description: str
    assesses: str
    higher_is_better: bool | None
    needs: str = ""
    parameter: str = ""
    options: tuple[str, ...] = ()
    cost: Callable[[Data], Array] | None = None
    value: Callable[[Data], float] | None = None
    ratio: tuple[str, str] | None = None
    of_samples: bool = False
    line: Callable[[Data], Line] | None = None
    range: Limits | Callable[[Data], Limits] | None = None
    bias: Callable[[Data, float, float], float] | None = None
    fewest: tuple[int, int] = (0, 0)
    is_biased: bool = False
    unjudged: Callable[[PartialLabels], Limits] | None = None
    naive_confidence: Callable[[Frequencies], FloatOrFloats] | None = None
    naive_posterior: Callable[[Frequencies], FloatOrFloats] | None = None
    two_classes: tuple[str, float] | None = None
    is_share: bool = False
    has_order_bounds: bool = False
    has_average: bool = True
    has_audit: bool = False
    has_recalibrated: bool = False
    when: str = ""
    only_in_full: bool = False
    column: float = 100.0

    def applies(self, decisions: Decisions) -> bool:
        """Return whether it, and both metrics of its `ratio`, are defined for a system."""
        if not all(METRICS[name].applies(decisions) for name in self.ratio or ()):
            return False
        if self.needs == "confidences":
            return decisions.confidence is not None
        if self.needs == "costs":
            return decisions.confidence is None
        if self.needs == "posteriors":
            return decisions.labels is not None
        return True

    @property
    def has_bounds(self) -> bool:
        """Whether its bounds over the labels of unlabelled answers are known."""
        return self.unjudged is not None or self.cost is not None

    @property
    def skips_abstentions(self) -> bool:
        """Whether abstentions are left out of it: it assesses confidences, which only answers have."""
        return self.assesses == "confidences" and not self.is_share

    @property
    def is_posterior_loss(self) -> bool:
        """Whether it is a mean loss of whole posteriors, which uncertainty and candidate cost do not determine."""
        return self.cost is not None and self.assesses == "posteriors"


Keys = str | Iterable["Key | str"]  # numbers to select, by key or by name


def checked_keys(keys: Keys) -> list[Key]:
    """Return a list of keys from keys or names, or from one text of names joined by commas.

    InputError for an unknown metric, a missing parameter, and one that the metric does not take.
    """
    listed = keys.split(",") if isinstance(keys, str) else keys
    asked = [parse_key(key) if isinstance(key, str) else _widen_parameter(key) for key in listed]
    for key in asked:
        if not isinstance(key, Key):
            rule = 'must be names or keys of numbers, as "ecuas_1"'
            raise InputError("only", rule, value=key)
        if key.metric not in METRICS:
            raise InputError(
                "only",
                "must name one of the metrics {choices}",
                value=key.metric,
                choices=list(METRICS),
            )
        if (key.parameter is None) == bool(key.entry.parameter):
            rule = (
                "must say the parameter of {metric}"
                if key.entry.parameter
                else "must have no parameter of {metric}, which takes none"
            )
            raise InputError("only", rule, value=str(key), metric=key.metric)
    return asked


def parse_key(name: str) -> Key:
    """Return the key of a number by its name in results, or with the metric's title, in any case.

    >>> [str(parse_key(name)) for name in ("ecuas_1", "ECUAS_0.5", "ER", "normalized_ecuas_0")]
    ['ecuas_1', 'ecuas_0.5', 'error_rate', 'normalized_ecuas_0']
    """
    plain = name.strip().lower()
    variant = next((one for one in VARIANTS if one and one in plain), "")
    plain = plain.removeprefix("normalized_").removesuffix(f"_{variant}")
    metrics = {one.title.lower(): one.name for one in METRICS.values()}
    metrics |= {one.name.lower(): one.name for one in METRICS.values()}
    if plain in metrics:
        return Key(metrics[plain], None, variant)
    stem, _, number = plain.rpartition("_")
    if stem in metrics and _PARAMETER.fullmatch(number):
        return Key(metrics[stem], float(number), variant)
    return Key(name.strip())


def _widen_parameter(key: Key) -> Key:
    """Return the key with its parameter in float64, where 0.9 of float32 is 0.9; others unchanged."""
    if isinstance(key, Key) and isinstance(key.parameter, np.floating):
        return Key(key.metric, parse_number(key.parameter, "only"), key.variant)
    return key


MAX_SUMS = 20_000  # of a group: 80 answers of one weight with 240 of another


def attainable_sums(weights: Floats) -> Floats | None:
    """Return the sum of each subset of weights (N,), or None if there may be more than `MAX_SUMS`."""
    sums = np.zeros(1)
    for value, count in zip(*np.unique(weights, return_counts=True), strict=True):
        if len(sums) * (count + 1) > MAX_SUMS:
            return None
        sums = (sums[:, None] + value * np.arange(count + 1)).ravel()
    return sums


_CHOICES = {
    "assesses": ("decisions", "confidences", "posteriors", "both"),
    "needs": ("", "confidences", "costs", "posteriors"),
    "parameter": ("", "n", "reject_costs", "any"),
    "when": ("", "ratio", "calibration", "named"),
}
METRICS: dict[str, Metric] = {}  # by name, in the order of the keys of results; filled by `metrics`
_REMOVED: dict[str, Metric] = {}
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_PARAMETER = re.compile(r"-?\d+(\.\d*)?(e[+-]?\d+)?|inf")
_KEY_SUFFIX = re.compile(  # what follows the name of a metric in keys of results
    r"(_(\d+|inf|recalibrated|calibration_loss|low|high|min|max|standard_error|lower_bound|upper_bound))+"
)
_RESERVED = ("n", "system", "part")  # names of columns of reports, in any case
_OWN: set[str] = set()  # the names of the metrics of this package


def register(metrics: Iterable[Metric]) -> None:
    """Add metrics of this package, which `remove_metric` refuses to remove, to the registry."""
    METRICS.update((metric.name, metric) for metric in metrics)
    _OWN.update(METRICS)


def add_metric(metric: Metric) -> Metric:
    """Add a metric to the registry: from then on all results, comparisons, plans, states and tables have it.

    Parameters
    ----------
    metric : Metric

    Returns
    -------
    Metric
        The same.

    Raises
    ------
    InputError
        If its name is that of another metric, or may be one of its keys, as ``ecuas_3``; if it has other characters
        than letters, digits and _; if it has not exactly one of cost, value and ratio; or if a field has none of its
        choices.

    Examples
    --------
    The share of answers with a confidence of at least 0.9, and the table has one more column:

    >>> from ecuas_metric import confidence_system, make_report
    >>> sure = Metric(
    ...     name="sure", title="Sure", description="Share of answers with a confidence of at least 0.9",
    ...     assesses="confidences", higher_is_better=None, needs="confidences", is_share=True,
    ...     cost=lambda data: (data.confidence >= 0.9).astype(float),
    ... )
    >>> _ = add_metric(sure)
    >>> report = make_report([confidence_system([1, 0, 1, 1], [0.9, 0.2, 0.4, 0.8])])
    >>> report.results["system 1"].flat()["sure"]
    0.25
    >>> _ = remove_metric(sure)
    """
    _check_name(metric)
    ways = [metric.cost, metric.value, metric.ratio]
    if sum(way is not None for way in ways) != 1:
        raise InputError("metric", "must have one of cost, value and ratio", value=metric.name)
    for name, choices in _CHOICES.items():
        check_choice(getattr(metric, name), choices, name)
    for part in metric.ratio or ():
        check_choice(part, tuple(METRICS), "ratio")
    METRICS[metric.name] = metric
    return metric


def _check_name(metric: Metric) -> None:
    """Raise InputError if a metric's name or title is taken, or the name is no valid key of results."""
    there = list(METRICS.values())
    if any(one.name == metric.name or _keys_collide(metric.name, one.name) for one in there):
        raise InputError("metric", "metric_exists", value=metric.name)
    titles = [*_RESERVED, *(one.title.lower() for one in there)]
    if metric.name.lower() in titles or metric.title.lower() in titles:
        raise InputError("metric", "metric_exists", value=metric.title)
    if not _NAME.fullmatch(metric.name) or metric.name.startswith("normalized_"):
        raise InputError(
            "metric",
            "must have a name of letters, digits and _, not normalized_..",
            value=metric.name,
        )


def _keys_collide(one: str, other: str) -> bool:
    """Return whether the name of one metric may be a key of the other one, as ecuas_3 is of ecuas."""
    shorter, longer = sorted([one, other], key=len)
    return longer.startswith(shorter) and bool(_KEY_SUFFIX.fullmatch(longer.removeprefix(shorter)))


def remove_metric(metric: Metric) -> Metric:
    """Remove a metric that `add_metric` added from the registry.

    Parameters
    ----------
    metric : Metric

    Returns
    -------
    Metric
        The same.

    Raises
    ------
    InputError
        If it is not there, or one of this package.

    Examples
    --------
    >>> rare = Metric(
    ...     name="rare", title="Rare", description="", assesses="both", higher_is_better=None, ratio=("ecuas", "risk")
    ... )
    >>> remove_metric(add_metric(rare)).name
    'rare'
    """
    if metric.name in _OWN or METRICS.get(metric.name) is not metric:
        raise InputError("metric", "must be one that was added", value=metric.name)
    _REMOVED[metric.name] = metric
    del METRICS[metric.name]
    return metric


_Parametrized = TypeVar("_Parametrized", Data, Frequencies)


def set_parameter(data: _Parametrized, key: Key) -> _Parametrized:
    """Return the data, or the naive system's frequencies, with the parameter of a key."""
    return dataclasses.replace(data, parameter=key.parameter or 0.0)
