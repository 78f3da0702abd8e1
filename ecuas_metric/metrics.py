"""The registry: every metric with its function, direction, what it assesses and its order in tables.

Two numbers accompany a value: that of the naive system, which outputs the class frequencies of the evaluated data
whatever its input, and normalises it; and that after the best recalibration that keeps the order of the uncertainties,
whose difference to an ECUAS_n is the calibration loss.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from .calibration import (
    calibration_p_value,
    confidence_brier_cost,
    confidence_cross_entropy_cost,
    ece,
    ece_debiased,
    ece_of_groups,
    ece_of_resamples,
    sums_in_bins,
)
from .costs import Scratch, accepted, ecuas_of_checked, fixed_of_checked
from .decisions import Decisions, select
from .inputs import SAMPLE_SIZE, FloatOrFloats, Floats, Ints, blocks
from .options import Options
from .ranking import ResampledTies, Resamples, TieGroups
from .selective import augrc, aurc, auroc

STEP = 1e-5  # of the logarithm of a class's weight, for derivatives of the naive system
BLOCK = 2**22
_NAIVE_OF_CONFIDENCES = ("confidence_cross_entropy", "confidence_brier_score")
_NAIVE_OF_POSTERIORS = ("ecuas", "error_rate", "risk", "cross_entropy", "brier_score", "expected_cost")
VARIANTS = ("", "normalized", "recalibrated", "calibration_loss")


class Key(NamedTuple):
    """What a number is: a metric, its parameter and its variant. `str` gives its key in results.

    >>> str(Key("ecuas", 0.5)), str(Key("ecuas", 1.0, "normalized")), str(Key("ecuas", 0.0, "recalibrated"))
    ('ecuas_0.5', 'normalized_ecuas_1', 'ecuas_0_recalibrated')
    """

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


Values = Mapping[Key, FloatOrFloats]
Isotonic = Callable[[Floats, Floats], Floats]  # values and weights, (G,) each -> their isotonic regression
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


def sample_costs(
    decisions: Decisions, options: Options, *, only: Collection[str] = (), scratch: Scratch | None = None
) -> Iterator[tuple[Key, Floats]]:
    """Yield the key and per-sample cost (N,) of every mean metric; with `scratch` (3, N), valid until the next."""
    size = len(decisions.uncertainty)
    rows_of_parts = list(blocks(size, row_size=SAMPLE_SIZE)) if scratch is None else []
    parts = [(rows, select(decisions, rows)) for rows in rows_of_parts]
    for key in keys(decisions, options, only=only):
        compute, parameter = METRICS[key.metric].sample_cost, key.parameter or 0.0
        if compute is None:
            continue
        if len(parts) <= 1:
            yield key, compute(decisions, parameter, options, scratch)
            continue
        work, cost = np.empty((3, parts[0][0].stop)), np.empty(size)
        for rows, part in parts:
            cost[rows] = compute(part, parameter, options, work[:, : rows.stop - rows.start])
        yield key, cost


def mean_costs(
    decisions: Decisions, options: Options, *, sample_weight: Weights | None = None, only: Collection[str] = ()
) -> dict[Key, FloatOrFloats]:
    """Return the (weighted) mean of each of `sample_costs`, summed in blocks that stay in the cache."""
    if isinstance(sample_weight, Resamples):
        return _means_of_resamples(decisions, options, sample_weight, only)
    totals: dict[Key, FloatOrFloats] = {}
    size = len(decisions.uncertainty)
    parts = list(blocks(size, row_size=SAMPLE_SIZE // 2 if sample_weight is None else SAMPLE_SIZE))
    scratch = np.empty((3, parts[0].stop))
    for rows in parts:
        work = scratch[:, : rows.stop - rows.start]
        for key, cost in sample_costs(select(decisions, rows), options, only=only, scratch=work):
            total = cost.sum() if sample_weight is None else np.vecdot(sample_weight[..., rows], cost)
            totals[key] = totals.get(key, 0.0) + total
    total_weight = size if sample_weight is None else sample_weight.sum(axis=-1)
    return {key: total / total_weight for key, total in totals.items()}


def _means_of_resamples(
    decisions: Decisions, options: Options, resamples: Resamples, only: Collection[str]
) -> dict[Key, FloatOrFloats]:
    """Return the means of each resample; per-sample costs are computed once."""
    totals: dict[Key, FloatOrFloats] = {}
    if not any(METRICS[key.metric].sample_cost for key in keys(decisions, options, only=only)):
        return totals
    for rows, weight in resamples.blocks():
        for key, cost in sample_costs(select(decisions, rows), options, only=only):
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
    """Compute every metric that is defined for a system (those in `only`), in the order of `METRICS`.

    Weights (..., N) or resamples give values (...); `ties` are of the same samples with the same weights.

    >>> from ecuas_metric.decisions import confidence_decisions
    >>> from ecuas_metric.ranking import tie_groups
    >>> decisions = confidence_decisions(np.array([0.9, 0.8, 0.4]), np.array([1, 0, 1]))
    >>> ties = tie_groups(decisions.rank_by, decisions.candidate_cost)
    >>> values = metric_values(decisions, ties, Options(n=(1.0,)))
    >>> {str(key): round(float(value), 4) for key, value in values.items()}
    ... # doctest: +NORMALIZE_WHITESPACE
    {'ecuas_1': 0.67, 'error_rate': 0.3333, 'ece': 0.5, 'auroc': 0.5, 'confidence_cross_entropy': 0.877,
     'confidence_brier_score': 0.3367, 'aurc': 0.3333, 'augrc': 0.1667}
    """
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
    of_confidences = _NAIVE_OF_CONFIDENCES if _has_confidences(decisions) else ()
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
    """Return the naive system's value of every metric that has one; weights (..., N) or resamples give values (...).

    References
    ----------
    Estienne et al., section "Analysis on UA classification systems" (normalisation).
    """
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
    for start in range(0, count, rows := max(1, BLOCK // count)):
        moved = np.arange(start, min(start + rows, count))
        weights = np.tile(shares, (2, len(moved), 1))
        weights[0, np.arange(len(moved)), moved] *= 1 + STEP
        weights[1, np.arange(len(moved)), moved] *= 1 - STEP
        for key, (up, down) in naive_values(one_each, options, sample_weight=weights).items():
            slope = (up - down) / (2 * STEP * np.where(shares[moved] > 0, shares[moved], 1.0))
            parts.setdefault(key, []).append(slope)
    return {key: np.concatenate(slopes) for key, slopes in parts.items()}


def normalized_values(
    values: Mapping[Key, FloatOrFloats], naive: Mapping[Key, FloatOrFloats]
) -> dict[Key, FloatOrFloats]:
    """Divide each value by the naive system's; nan where that is 0."""
    return {
        key._replace(variant="normalized"): values[key] / np.where(np.asarray(value) > 0, value, np.nan)
        for key, value in naive.items()
    }


def recalibrated_values(ties: Ties, options: Options, *, max_uncertainty: float) -> dict[Key, FloatOrFloats]:
    """Return each ECUAS_n (...) after the best monotone recalibration of the uncertainties, fitted on the same data.

    It replaces the uncertainties by the isotonic regression of the candidate costs on them: among all maps that
    preserve their order, the pool-adjacent-violators solution is optimal for every proper score at once. The metric
    minus this value is its calibration loss; the rest is due to the decisions and the order. At most the ECUAS_n itself
    (which the floor `epsilon` can undercut by about as much), and invariant under strictly increasing maps of the
    uncertainties.

    References
    ----------
    Brummer and du Preez 2013, "The PAV algorithm optimizes binary proper scoring rules".
    """
    if isinstance(ties, ResampledTies):
        return ties.each(lambda groups: recalibrated_values(groups, options, max_uncertainty=max_uncertainty))
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
    weight: Floats, cost: Floats, regression: Isotonic, options: Options, max_uncertainty: float
) -> list[float]:
    """Return each ECUAS_n of tie groups, shape (G,), whose uncertainties are the isotonic regression of their costs."""
    weight, cost = weight[weight > 0], cost[weight > 0]
    u = _best_uncertainty(weight, cost, regression, max_uncertainty)
    # The cost of a sample is affine in its candidate cost: a group costs what its mean would.
    mean_cost = cost / weight
    floor = options.floor
    costs = (ecuas_of_checked(u, mean_cost, n=n, max_uncertainty=max_uncertainty, epsilon=floor) for n in options.n)
    return [float(weight @ cost / weight.sum()) for cost in costs]


def _best_uncertainty(weight: Floats, cost: Floats, regression: Isotonic, max_uncertainty: float) -> Floats:
    return np.asarray(np.clip(regression(cost / weight, weight), 0.0, max_uncertainty))


def _isotonic_regression() -> Isotonic:
    from scipy.optimize import isotonic_regression

    return lambda values, weights: np.asarray(isotonic_regression(values, weights=weights).x)


def place(key: Key) -> tuple[bool, int]:
    """Return what sorts keys as columns of a table: the metrics by their `column`, normalised ones last."""
    return key.variant == "normalized", METRICS[key.metric].column


def _has_confidences(decisions: Decisions) -> bool:
    return decisions.confidence is not None


def _has_costs_only(decisions: Decisions) -> bool:
    return decisions.confidence is None


def _has_posteriors(decisions: Decisions) -> bool:
    return decisions.labels is not None


def _always(decisions: Decisions) -> bool:
    return True


def _candidate_cost(decisions: Decisions, parameter: float, options: Options, scratch: Scratch | None) -> Floats:
    return decisions.candidate_cost


def _confidence_cross_entropy(
    decisions: Decisions, parameter: float, options: Options, scratch: Scratch | None
) -> Floats:
    u, c, *_ = decisions
    return confidence_cross_entropy_cost(u, c, epsilon=options.epsilon, out=_row(scratch))


def _confidence_brier(decisions: Decisions, parameter: float, options: Options, scratch: Scratch | None) -> Floats:
    return confidence_brier_cost(decisions.uncertainty, decisions.candidate_cost, out=_row(scratch))


def _cross_entropy(decisions: Decisions, parameter: float, options: Options, scratch: Scratch | None) -> Floats:
    return _present(decisions.cross_entropy)


def _brier(decisions: Decisions, parameter: float, options: Options, scratch: Scratch | None) -> Floats:
    return _present(decisions.brier_score)


def _ecuas(decisions: Decisions, n: float, options: Options, scratch: Scratch | None) -> Floats:
    u, c, u_max, *_ = decisions
    q = decisions.confidence if decisions.labels is None else None
    return ecuas_of_checked(u, c, n=n, max_uncertainty=u_max, epsilon=options.floor, confidence=q, scratch=scratch)


def _expected_cost(decisions: Decisions, reject_cost: float, options: Options, scratch: Scratch | None) -> Floats:
    u, c, u_max, *_ = decisions
    return fixed_of_checked(u, c, reject_cost=reject_cost, max_uncertainty=u_max)


def _coverage(decisions: Decisions, reject_cost: float, options: Options, scratch: Scratch | None) -> Floats:
    accepts = accepted(decisions.uncertainty, reject_cost=reject_cost, max_uncertainty=decisions.max_uncertainty)
    return accepts.astype(np.float64)


def _accepted_cost(decisions: Decisions, reject_cost: float, options: Options, scratch: Scratch | None) -> Floats:
    return _coverage(decisions, reject_cost, options, scratch) * decisions.candidate_cost


def _ece(decisions: Decisions, ties: Ties | None, options: Options, sample_weight: Weights | None) -> FloatOrFloats:
    if isinstance(sample_weight, Resamples):
        return ece_of_resamples(
            _present(decisions.confidence), decisions.candidate_cost, sample_weight, n_bins=options.n_bins
        )
    if isinstance(ties, TieGroups) and ties.weight.ndim == 1 and decisions.labels is None:  # by confidence already
        return ece_of_groups(ties, n_bins=options.n_bins)
    confidence = _present(decisions.confidence)
    return ece(confidence, decisions.candidate_cost, n_bins=options.n_bins, sample_weight=sample_weight)


def _ece_debiased(
    decisions: Decisions, ties: Ties | None, options: Options, sample_weight: Weights | None
) -> FloatOrFloats:
    return ece_debiased(
        _present(decisions.confidence),
        decisions.candidate_cost,
        n_bins=options.n_bins,
        sample_weight=_of_one_sample(sample_weight),
        copies=options.weights_are == "counts",
        groups=options.groups,
    )


def _calibration_p_value(
    decisions: Decisions, ties: Ties | None, options: Options, sample_weight: Weights | None
) -> FloatOrFloats:
    return calibration_p_value(
        _present(decisions.confidence),
        decisions.candidate_cost,
        sample_weight=_of_one_sample(sample_weight),
        copies=options.weights_are == "counts",
        groups=options.groups,
        n_resamples=options.n_resamples,
        random_state=options.random_state,
    )


def _of_one_sample(weights: Weights | None) -> Floats | None:
    """Return weights other than those of resamples, which `is_alone` metrics never get."""
    assert not isinstance(weights, Resamples)
    return weights


def _row(scratch: Scratch | None) -> Floats | None:
    return None if scratch is None else scratch[0]


def _present(values: Floats | None) -> Floats:
    """Return values that exist wherever `applies` holds."""
    assert values is not None
    return values


DESCRIPTIONS = {
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
    "ece_debiased": "Root mean square gap between confidence and accuracy over bins, without the bias of a finite sample",  # noqa: E501
    "calibration_p": "Chance of gaps between confidence and accuracy as large as these if the system were calibrated",
}
# Title, what it assesses, whether higher is better, order in tables, where it applies; how it is computed.
_ROWS = {
    "ecuas": Metric("ECUAS", "both", False, 11, _always, "n", sample_cost=_ecuas),
    "error_rate": Metric("ER", "decisions", False, 1, _has_confidences, sample_cost=_candidate_cost),
    "risk": Metric("Risk", "decisions", False, 2, _has_costs_only, sample_cost=_candidate_cost),
    "ece": Metric("ECE", "confidences", False, 3, _has_confidences, of_samples=_ece),
    "auroc": Metric("AUROC", "confidences", True, 4, _has_confidences, of_ties=auroc),
    "confidence_cross_entropy": Metric(
        "CE conf", "confidences", False, 5, _has_confidences, sample_cost=_confidence_cross_entropy
    ),
    "confidence_brier_score": Metric(
        "BS conf", "confidences", False, 6, _has_confidences, sample_cost=_confidence_brier
    ),
    "aurc": Metric("AURC", "both", False, 9, _always, of_ties=aurc),
    "augrc": Metric("AUGRC", "both", False, 10, _always, of_ties=augrc),
    "cross_entropy": Metric("CE", "posteriors", False, 7, _has_posteriors, sample_cost=_cross_entropy),
    "brier_score": Metric("BS", "posteriors", False, 8, _has_posteriors, sample_cost=_brier),
    "expected_cost": Metric("EC", "both", False, 12, _always, "reject_costs", sample_cost=_expected_cost),
    "coverage": Metric("Cov", "confidences", None, 13, _always, "reject_costs", sample_cost=_coverage),
    "accepted_cost": Metric(
        "AC", "both", False, 14, _always, "reject_costs", sample_cost=_accepted_cost, is_shown=False
    ),
    "selective_risk": Metric("SR", "both", False, 15, _always, "reject_costs", ratio=("accepted_cost", "coverage")),
    "ece_debiased": Metric(
        "ECE deb.", "confidences", False, 16, _has_confidences, of_samples=_ece_debiased, is_alone=True
    ),
    "calibration_p": Metric(
        "p cal.", "confidences", None, 17, _has_confidences, of_samples=_calibration_p_value, is_alone=True
    ),
}
METRICS = {name: row._replace(description=DESCRIPTIONS[name]) for name, row in _ROWS.items()}
