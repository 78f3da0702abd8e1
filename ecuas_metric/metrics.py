"""The registry: every metric with its function, direction, what it assesses and its order in tables."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from .calibration import (
    Weighting,
    calibration_test,
    confidence_brier_cost,
    confidence_cross_entropy_cost,
    ece,
    ece_debiased,
    ece_of_groups,
    ece_of_resamples,
    sums_in_bins,
)
from .costs import Scratch, accepted, ecuas_of_checked, fixed_of_checked
from .decisions import Decisions, select_rows
from .inputs import BLOCK_SIZE, SAMPLE_SIZE, FloatOrFloats, Floats, Ints, blocks
from .options import Options
from .ranking import ResampledTies, Resamples, TieGroups, augrc, aurc, auroc

_STEP = 1e-5  # of the logarithm of a class's weight, for derivatives of the naive system
_BLOCK = 2**22
NAIVE_OF_CONFIDENCES = ("confidence_cross_entropy", "confidence_brier_score")
_NAIVE_OF_POSTERIORS = ("ecuas", "error_rate", "risk", "cross_entropy", "brier_score", "expected_cost")
VARIANTS = ("", "normalized", "recalibrated", "calibration_loss")


class Key(NamedTuple):
    """What a number is: a metric, its parameter and its variant. `str` gives its key in results: normalized_ecuas_1."""

    metric: str  # in `METRICS`
    parameter: float | None = None  # n of ECUAS_n, or a reject cost
    variant: str = ""  # of `VARIANTS`

    def __str__(self) -> str:
        name = self.metric if self.parameter is None else f"{self.metric}_{self.parameter:g}"
        if self.variant == "normalized":
            return f"normalized_{name}"
        return f"{name}_{self.variant}" if self.variant else name

    @property
    def assesses(self) -> str:
        """What the number assesses: a calibration loss only the confidences, whatever its metric does."""
        return "confidences" if self.variant == "calibration_loss" else METRICS[self.metric].assesses

    @property
    def is_biased(self) -> bool:
        """Whether its upward bias exceeds the width of an interval."""
        return self.metric == "ece" or self.variant == "calibration_loss"


Values = Mapping[Key, FloatOrFloats]
_Regression = Callable[[Floats, Floats], Floats]  # values and weights, (G,) each -> their isotonic regression
# decisions, parameter, options, arrays to write to -> cost of each sample
SampleCost = Callable[[Decisions, float, Options, "Scratch | None"], Floats]
Ties = TieGroups | ResampledTies
Weights = Floats | Resamples
OfTies = Callable[[Ties], FloatOrFloats]
OfSamples = Callable[[Decisions, "Ties | None", Options, "Weights | None"], FloatOrFloats]


class Metric(NamedTuple):
    """One metric; exactly one of `sample_cost`, `of_ties`, `of_samples` and `ratio` computes it."""

    title: str  # short name, for the header of a table
    assesses: str  # "decisions", "confidences", "posteriors" or "both" (decisions and confidences)
    higher_is_better: bool | None  # None if neither is better
    column: int  # order in tables, the paper's: decisions first, then with confidences
    applies: Callable[[Decisions], bool]  # whether it is defined for a system
    one_per: str = ""  # option with one value per metric: "", "n" or "reject_costs"
    sample_cost: SampleCost | None = None  # cost of each sample (N,), of which it is the mean
    of_ties: OfTies | None = None  # value from `TieGroups`, of the order alone
    of_samples: OfSamples | None = None  # value from decisions, ties, options and weights
    ratio: tuple[str, str] | None = None  # names of numerator and denominator
    is_shown: bool = True  # False if it only serves a ratio
    is_alone: bool = False  # of the data only, never of resamples, see `values_of_calibration`
    description: str = ""  # one line on what it measures


def sample_costs(decisions: Decisions, options: Options, *, only: Collection[str] = ()) -> Iterator[tuple[Key, Floats]]:
    """Yield the key and per-sample cost (N,) of every mean metric."""
    size = len(decisions.uncertainty)
    parts = [(rows, select_rows(decisions, rows)) for rows in blocks(size, row_size=SAMPLE_SIZE)]
    for key, compute in _means(decisions, options, only):
        cost, work = np.empty(size), np.empty((3, BLOCK_SIZE // SAMPLE_SIZE))
        for rows, part in parts:
            cost[rows] = compute(part, key.parameter or 0.0, options, work[:, : rows.stop - rows.start])
        yield key, cost


def _means(decisions: Decisions, options: Options, only: Collection[str]) -> list[tuple[Key, SampleCost]]:
    """Return the key of each metric that is a mean, and what computes the cost of each sample."""
    ways = ((key, METRICS[key.metric].sample_cost) for key in keys(decisions, options, only=only))
    return [(key, compute) for key, compute in ways if compute]


def mean_costs(
    decisions: Decisions, options: Options, *, sample_weight: Weights | None = None, only: Collection[str] = ()
) -> dict[Key, FloatOrFloats]:
    """Return the (weighted) mean of each of `sample_costs`, summed in blocks that stay in the cache."""
    if isinstance(sample_weight, Resamples):
        return _means_of_resamples(decisions, options, sample_weight, only)
    size, means = len(decisions.uncertainty), _means(decisions, options, only)
    totals: dict[Key, FloatOrFloats] = {key: 0.0 for key, _ in means}
    parts = list(blocks(size, row_size=SAMPLE_SIZE // 2))
    scratch = np.empty((3, parts[0].stop))
    for rows in parts:
        part, work = select_rows(decisions, rows), scratch[:, : rows.stop - rows.start]
        for key, compute in means:
            cost = compute(part, key.parameter or 0.0, options, work)
            if sample_weight is None:
                totals[key] += cost.sum()
                continue
            for half in blocks(len(cost), row_size=SAMPLE_SIZE):  # more would wake other cores
                totals[key] += np.vecdot(sample_weight[..., rows][..., half], cost[half])
    total_weight = size if sample_weight is None else sample_weight.sum(axis=-1)
    return {key: total / total_weight for key, total in totals.items()}


def _means_of_resamples(
    decisions: Decisions, options: Options, resamples: Resamples, only: Collection[str]
) -> dict[Key, FloatOrFloats]:
    """Return the means of each resample; per-sample costs are computed once."""
    totals: dict[Key, FloatOrFloats] = {}
    if not _means(decisions, options, only):
        return totals
    for rows, weight in resamples.blocks():
        for key, cost in sample_costs(select_rows(decisions, rows), options, only=only):
            totals[key] = totals.get(key, 0.0) + np.vecdot(weight, cost)
    return {key: total / resamples.total for key, total in totals.items()}


def metric_values(
    decisions: Decisions,
    ties: Ties,
    options: Options,
    *,
    sample_weight: Weights | None = None,
    only: Collection[str] = (),
) -> dict[Key, FloatOrFloats]:
    """Compute every metric (...) that is defined for a system (those in `only`), for weights (..., N) or resamples."""
    values = mean_costs(decisions, options, sample_weight=sample_weight, only=only)
    for key in keys(decisions, options, only=only):
        metric = METRICS[key.metric]
        if metric.of_ties is not None:
            values[key] = metric.of_ties(ties)
        elif metric.of_samples is not None:
            values[key] = metric.of_samples(decisions, ties, options, sample_weight)
        elif metric.ratio is not None:
            numerator, denominator = (values[Key(name, key.parameter)] for name in metric.ratio)
            values[key] = numerator / np.where(np.asarray(denominator) > 0, denominator, np.nan)
    return {key: values[key] for key in shown_keys(decisions, options, only=only)}


def keys(decisions: Decisions, options: Options, *, only: Collection[str] = ()) -> Iterator[Key]:
    """Yield the key of every metric that is defined for a system, in the order of `METRICS`."""
    parameters = {"": (None,), "n": options.n, "reject_costs": options.reject_costs}
    wanted = {part for name in only for part in (name, *(METRICS[name].ratio or ()))}
    for name, metric in METRICS.items():
        if metric.applies(decisions) and (not only or name in wanted) and not metric.is_alone:
            yield from (Key(name, parameter) for parameter in parameters[metric.one_per])


def shown_keys(decisions: Decisions, options: Options, *, only: Collection[str] = ()) -> list[Key]:
    """Return the keys of `metric_values`: without those that only serve a ratio."""
    return [key for key in keys(decisions, options, only=only) if METRICS[key.metric].is_shown]


def naive_keys(decisions: Decisions, options: Options) -> list[Key]:
    """Return the keys of `naive_values`."""
    of_confidences = NAIVE_OF_CONFIDENCES if _is_binary(decisions) else ()
    of_posteriors = _NAIVE_OF_POSTERIORS if _has_posteriors(decisions) else ()
    return [key for names in (of_confidences, of_posteriors) if names for key in keys(decisions, options, only=names)]


def keys_of_calibration(decisions: Decisions, options: Options) -> list[Key]:
    """Return the keys of what the option `calibration` asks for."""
    alone = (name for name, metric in METRICS.items() if metric.is_alone and metric.applies(decisions))
    return [Key(name) for name in alone] if options.calibration else []


def values_of_calibration(
    decisions: Decisions, options: Options, *, only: Collection[Key] | None = None
) -> dict[Key, float]:
    """Return the numbers that the option `calibration` asks for (those in `only`)."""
    found: dict[Key, float] = {}
    for key in keys_of_calibration(decisions, options):
        compute = METRICS[key.metric].of_samples
        if compute and (only is None or key in only):
            found[key] = float(compute(decisions, None, options, options.sample_weight))
    return found


def naive_values(
    decisions: Decisions, options: Options, *, sample_weight: Weights | None = None
) -> dict[Key, FloatOrFloats]:
    """Return the naive system's value (...) of every metric that has one, for weights (..., N) or resamples."""
    if isinstance(sample_weight, Resamples):
        return sample_weight.each(lambda weight: naive_values(decisions, options, sample_weight=weight))
    values: dict[Key, FloatOrFloats] = {}
    if decisions.confidence is not None:
        values |= _of_confidences(decisions.candidate_cost, sample_weight)
    if decisions.labels is not None:
        u_max = decisions.max_uncertainty
        values |= _of_posteriors(decisions.labels, options, max_uncertainty=u_max, sample_weight=sample_weight)
    return values


def naive_slopes(one_each: Decisions, shares: Floats, options: Options) -> dict[Key, Floats]:
    """Return the derivatives of the naive system's values by the share of each class, by central differences."""
    count, parts = len(shares), dict[Key, list[Floats]]()
    for start in range(0, count, rows := max(1, _BLOCK // count)):
        moved = np.arange(start, min(start + rows, count))
        weights = np.tile(shares, (2, len(moved), 1))
        weights[0, np.arange(len(moved)), moved] *= 1 + _STEP
        weights[1, np.arange(len(moved)), moved] *= 1 - _STEP
        for key, (up, down) in naive_values(one_each, options, sample_weight=weights).items():
            slope = (up - down) / (2 * _STEP * np.where(shares[moved] > 0, shares[moved], 1.0))
            parts.setdefault(key, []).append(slope)
    return {key: np.concatenate(slopes) for key, slopes in parts.items()}


def normalized_values(
    values: Mapping[Key, FloatOrFloats], naive: Mapping[Key, FloatOrFloats]
) -> dict[Key, FloatOrFloats]:
    """Divide each value by the naive system's; nan where that is 0."""
    return {
        key._replace(variant="normalized"): values[key] / np.where(np.asarray(value) > 0, value, np.nan)
        for key, value in naive.items()
        if key in values
    }


def decomposed_values(
    values: Mapping[Key, FloatOrFloats], ties: Ties, options: Options, *, max_uncertainty: float
) -> dict[Key, FloatOrFloats]:
    """Return each ECUAS_n after the best recalibration, and the loss that it saves."""
    found: dict[Key, FloatOrFloats] = {}
    for key, best in recalibrated_values(ties, options, max_uncertainty=max_uncertainty).items():
        found |= {key: best, key._replace(variant="calibration_loss"): values[key._replace(variant="")] - best}
    return found


def recalibrated_values(ties: Ties, options: Options, *, max_uncertainty: float) -> dict[Key, FloatOrFloats]:
    """Return each ECUAS_n (...) after the best recalibration, on the same data, that keeps the uncertainties' order."""
    if isinstance(ties, ResampledTies):
        return ties.each(lambda groups: recalibrated_values(groups, options, max_uncertainty=max_uncertainty))
    # Among all such maps it is optimal for every proper score at once (Brummer and du Preez 2013).
    regression, shape = _isotonic_regression(), ties.weight.shape[:-1]
    rows = [
        _best_values(weight, cost, regression, options, max_uncertainty)
        for weight, cost in zip(*(a.reshape(-1, a.shape[-1]) for a in (ties.weight, ties.cost)), strict=True)
    ]
    columns = np.array(rows).T.reshape(len(options.n), *shape)
    return {Key("ecuas", n, "recalibrated"): column[()] for n, column in zip(options.n, columns, strict=True)}


def recalibrated_uncertainty(ties: TieGroups, *, max_uncertainty: float) -> Floats:
    """Return the uncertainty of each tie group (G,) after the best monotone recalibration."""
    held = ties.weight > 0
    u = _best_uncertainty(ties.weight[held], ties.cost[held], _isotonic_regression(), max_uncertainty)
    return np.asarray(u[np.maximum(np.cumsum(held) - 1, 0)])


def _of_confidences(incorrect: Floats, sample_weight: Floats | None) -> dict[Key, FloatOrFloats]:
    """Return the two confidence metrics of the constant confidence p = accuracy: H(p) (nats) and p (1 - p)."""
    both = np.stack([incorrect, 1 - incorrect], axis=-1)  # each summed for itself: one that is missing is exactly 0
    p = _shares(both.sum(axis=0) if sample_weight is None else sample_weight @ both)
    return {Key("confidence_cross_entropy"): _entropy(p), Key("confidence_brier_score"): p.prod(axis=-1)}


def _of_posteriors(
    labels: Ints, options: Options, *, max_uncertainty: float, sample_weight: Floats | None
) -> dict[Key, FloatOrFloats]:
    """Return the metrics of the system that always outputs the class frequencies, with the Bayes decision for these."""
    num_classes = int(options.num_classes or 0)
    q = _shares(sums_in_bins(np.ones(len(labels)), labels, n_bins=num_classes, sample_weight=sample_weight))
    u = np.minimum(_uncertainty(q, options.cost), max_uncertainty)
    is_zero_one = isinstance(options.cost, str) and options.cost == "zero_one"
    values = {
        Key("ecuas", n): ecuas_of_checked(u, u, n=n, max_uncertainty=max_uncertainty, epsilon=options.floor)
        for n in options.n
    }
    values[Key("error_rate" if is_zero_one else "risk")] = u
    values[Key("cross_entropy")] = _entropy(q)
    values[Key("brier_score")] = 1 - np.square(q).sum(axis=-1)
    for g in options.reject_costs:
        accepts = accepted(u, reject_cost=g, max_uncertainty=max_uncertainty)
        values[Key("expected_cost", g)] = np.where(accepts, u, g)
    return values


def _shares(counts: Floats) -> Floats:
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(counts / np.where(total > 0, total, 1.0))  # a resample may hold nothing that weighs: all is nan


def _uncertainty(q: Floats, cost: str | Floats) -> FloatOrFloats:
    if not isinstance(cost, str):
        return (q @ cost).min(axis=-1)
    return _entropy(q) if cost == "log" else 1 - q.max(axis=-1)


def _entropy(q: Floats) -> FloatOrFloats:
    return -(q * np.log(np.where(q > 0, q, 1.0))).sum(axis=-1)


def _best_values(
    weight: Floats, cost: Floats, regression: _Regression, options: Options, max_uncertainty: float
) -> list[float]:
    """Return each ECUAS_n of tie groups, shape (G,), whose uncertainties are the isotonic regression of their costs."""
    weight, cost = weight[weight > 0], cost[weight > 0]
    u = _best_uncertainty(weight, cost, regression, max_uncertainty)
    # The cost of a sample is affine in its candidate cost: a group costs what its mean would.
    mean_cost = cost / weight
    floor = options.floor
    costs = (ecuas_of_checked(u, mean_cost, n=n, max_uncertainty=max_uncertainty, epsilon=floor) for n in options.n)
    return [float(weight @ cost / weight.sum()) for cost in costs]


def _best_uncertainty(weight: Floats, cost: Floats, regression: _Regression, max_uncertainty: float) -> Floats:
    return np.asarray(np.clip(regression(cost / weight, weight), 0.0, max_uncertainty))


def _isotonic_regression() -> _Regression:
    from scipy.optimize import isotonic_regression

    return lambda values, weights: np.asarray(isotonic_regression(values, weights=weights).x)


def place(key: Key) -> tuple[bool, int]:
    """Return what sorts keys as columns of a table: the metrics by their `column`, normalised ones last."""
    return key.variant == "normalized", METRICS[key.metric].column


def _is_binary(decisions: Decisions) -> bool:
    return decisions.confidence is not None


def _is_other(decisions: Decisions) -> bool:
    return decisions.confidence is None


def _has_posteriors(decisions: Decisions) -> bool:
    return decisions.labels is not None


def _always(decisions: Decisions) -> bool:
    return True


def _candidate_cost(d: Decisions, parameter: float, options: Options, scratch: Scratch | None) -> Floats:
    return d.candidate_cost


def _ce_conf(d: Decisions, parameter: float, options: Options, scratch: Scratch | None) -> Floats:
    out = None if scratch is None else scratch[0]
    return confidence_cross_entropy_cost(d.uncertainty, d.candidate_cost, epsilon=options.epsilon, out=out)


def _brier_conf(d: Decisions, parameter: float, options: Options, scratch: Scratch | None) -> Floats:
    return confidence_brier_cost(d.uncertainty, d.candidate_cost, out=None if scratch is None else scratch[0])


def _cross_entropy(d: Decisions, parameter: float, options: Options, scratch: Scratch | None) -> Floats:
    return _present(d.cross_entropy)


def _brier(d: Decisions, parameter: float, options: Options, scratch: Scratch | None) -> Floats:
    return _present(d.brier_score)


def _ecuas(d: Decisions, n: float, options: Options, scratch: Scratch | None) -> Floats:
    u, c, u_max, *_ = d
    q = d.confidence if d.labels is None else None
    return ecuas_of_checked(u, c, n=n, max_uncertainty=u_max, epsilon=options.floor, confidence=q, scratch=scratch)


def _expected_cost(d: Decisions, reject_cost: float, options: Options, scratch: Scratch | None) -> Floats:
    u, c, u_max, *_ = d
    return fixed_of_checked(u, c, reject_cost=reject_cost, max_uncertainty=u_max)


def _coverage(d: Decisions, reject_cost: float, options: Options, scratch: Scratch | None) -> Floats:
    return accepted(d.uncertainty, reject_cost=reject_cost, max_uncertainty=d.max_uncertainty).astype(np.float64)


def _accept_cost(d: Decisions, reject_cost: float, options: Options, scratch: Scratch | None) -> Floats:
    return _coverage(d, reject_cost, options, scratch) * d.candidate_cost


def _ece(d: Decisions, ties: Ties | None, options: Options, weight: Weights | None) -> FloatOrFloats:
    confidence = _present(d.confidence)
    if isinstance(weight, Resamples):
        return ece_of_resamples(confidence, d.candidate_cost, weight, n_bins=options.n_bins)
    if isinstance(ties, TieGroups) and d.labels is None:  # by confidence already
        return ece_of_groups(ties, n_bins=options.n_bins)
    return ece(confidence, d.candidate_cost, n_bins=options.n_bins, sample_weight=weight)


def _ece_debiased(d: Decisions, ties: Ties | None, options: Options, weight: Weights | None) -> FloatOrFloats:
    return ece_debiased(
        _present(d.confidence), d.candidate_cost, n_bins=options.n_bins, weighting=weighting_of(options)
    )


def _calibration_p(d: Decisions, ties: Ties | None, options: Options, weight: Weights | None) -> FloatOrFloats:
    return calibration_test(
        _present(d.confidence),
        d.candidate_cost,
        weighting=weighting_of(options),
        n_resamples=options.n_resamples,
        random_state=options.random_state,
    )


def weighting_of(options: Options) -> Weighting:
    """Return what samples count for in `calibration`."""
    return Weighting(options.sample_weight, options.weights_are == "counts", options.groups)


def _present(values: Floats | None) -> Floats:
    """Return values that exist wherever `applies` holds."""
    assert values is not None
    return values


_DESCRIPTIONS = {
    "ecuas": "Expected cost over all reject costs, 0 perfect, 1 useless; the lower n, the more confident mistakes cost",
    "error_rate": "Share of incorrect decisions",
    "risk": "Mean cost of the decisions",
    "ece": "Gap between confidence and accuracy, averaged over bins",
    "auroc": "Probability that a correct answer has a higher confidence than an incorrect one",
    "confidence_cross_entropy": "Cross-entropy of the confidences (nats)",
    "confidence_brier_score": "Squared error of the confidences",
    "aurc": "Area under risk against coverage; blind to calibration",
    "augrc": "Area under accepted cost against coverage; blind to calibration",
    "cross_entropy": "Cross-entropy of the posteriors (nats)",
    "brier_score": "Squared error of the posteriors",
    "expected_cost": "Mean cost for a user with this reject cost",
    "coverage": "Share of samples that a user with this reject cost accepts",
    "accepted_cost": "Cost of what a user with this reject cost accepts, divided by the number of all samples",
    "selective_risk": "Mean cost of what a user with this reject cost accepts",
    "ece_debiased": "Root mean square gap between confidence and accuracy over bins, without the bias of a finite "
    "sample",
    "calibration_p": "Chance of gaps between confidence and accuracy as large as these if the system were calibrated",
}
# Short name, what it assesses, whether higher is better, column in tables, where it applies; how it is computed.
_ROWS = {
    "ecuas": Metric("ECUAS", "both", False, 11, _always, "n", sample_cost=_ecuas),
    "error_rate": Metric("ER", "decisions", False, 1, _is_binary, sample_cost=_candidate_cost),
    "risk": Metric("Risk", "decisions", False, 2, _is_other, sample_cost=_candidate_cost),
    "ece": Metric("ECE", "confidences", False, 3, _is_binary, of_samples=_ece),
    "auroc": Metric("AUROC", "confidences", True, 4, _is_binary, of_ties=auroc),
    "confidence_cross_entropy": Metric("CE conf", "confidences", False, 5, _is_binary, sample_cost=_ce_conf),
    "confidence_brier_score": Metric("BS conf", "confidences", False, 6, _is_binary, sample_cost=_brier_conf),
    "aurc": Metric("AURC", "both", False, 9, _always, of_ties=aurc),
    "augrc": Metric("AUGRC", "both", False, 10, _always, of_ties=augrc),
    "cross_entropy": Metric("CE", "posteriors", False, 7, _has_posteriors, sample_cost=_cross_entropy),
    "brier_score": Metric("BS", "posteriors", False, 8, _has_posteriors, sample_cost=_brier),
    "expected_cost": Metric("EC", "both", False, 12, _always, "reject_costs", sample_cost=_expected_cost),
    "coverage": Metric("Cov", "confidences", None, 13, _always, "reject_costs", sample_cost=_coverage),
    "accepted_cost": Metric("AC", "both", False, 14, _always, "reject_costs", sample_cost=_accept_cost, is_shown=False),
    "selective_risk": Metric("SR", "both", False, 15, _always, "reject_costs", ratio=("accepted_cost", "coverage")),
    "ece_debiased": Metric("ECE deb.", "confidences", False, 16, _is_binary, of_samples=_ece_debiased, is_alone=True),
    "calibration_p": Metric("p cal.", "confidences", None, 17, _is_binary, of_samples=_calibration_p, is_alone=True),
}
METRICS = {name: row._replace(description=_DESCRIPTIONS[name]) for name, row in _ROWS.items()}
