"""The registry of all metrics, and their values: plain, normalised, and after the best recalibration."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from .abstentions import select_answered_groups, select_answered_samples
from .calibration import CALIBRATION_METRICS
from .costs import COST_METRICS, entropy
from .decisions import Decisions, select_rows
from .groups import Groups, Line, positive_or_nan, replace_zeros, sum_parts
from .inputs import NUMBERS_PER_SAMPLE, FloatOrFloats, Floats, blocks, inner_product
from .metric import METRICS as METRICS
from .metric import Data, Frequencies, Key, register, set_parameter
from .metric import Metric as Metric
from .metric import add_metric as add_metric
from .metric import remove_metric as remove_metric
from .options import Options
from .order import ORDER_METRICS
from .peer_metrics import PEER_METRICS

_STEP = 1e-5  # in the logarithm of a class's share, for derivatives of the naive system's values
# share of the total weight that is added for derivatives of a value of groups: about the root of float64's precision
_ADDED = 1e-6
_NOISE = 1e-7  # share of the value below which such a derivative is rounding, 1e-13 of the value / _ADDED
# of a mean cost, relative: what differs by less is equal
_ROUNDING = 1e-12
_MAX_RUNS = 256  # runs of groups with a derivative of their own: two values each

_ENTRIES = [*COST_METRICS, *CALIBRATION_METRICS, *ORDER_METRICS, *PEER_METRICS]
register(sorted(_ENTRIES, key=lambda metric: metric.column))

Values = Mapping[Key, float]


def defined_keys(
    decisions: Decisions,
    options: Options,
    *,
    when: Collection[str] = ("",),
) -> list[Key]:
    """Return the keys of a system's metrics with one of these `Metric.when`, one for each parameter in the options."""
    parameters = {"": (None,), "n": options.n, "reject_costs": options.reject_costs}
    keys = []
    for name, metric in list(METRICS.items()):  # once, since threads may add one
        if metric.when in when and metric.applies(decisions):
            keys += [Key(name, parameter) for parameter in parameters.get(metric.parameter, ())]
    return keys


# ---- plain values --------------------------------------------------------------------------------------------------


def metric_values(
    decisions: Decisions,
    ties: Groups,
    options: Options,
    *,
    keys: Iterable[Key],
) -> dict[Key, float]:
    """Compute metrics without variants, those in `keys`."""
    wanted = list(dict.fromkeys(keys))
    values: dict[Key, float] = {}
    if decisions.has_abstentions:
        of_answers = [key for key in wanted if key.entry.skips_abstentions]
        values = _answered_values(decisions, ties, options, of_answers)
    values |= _sample_values(decisions, ties, options, [key for key in wanted if key not in values])
    return {key: values[key] for key in wanted}


def _answered_values(
    decisions: Decisions, ties: Groups, options: Options, keys: Sequence[Key]
) -> dict[Key, float]:
    """Return the values of keys without the samples where the system abstains; nan if no sample is left."""
    answered, their_options = select_answered_samples(decisions, options)
    if not len(answered.uncertainty):
        return dict.fromkeys(keys, math.nan)
    return _sample_values(answered, select_answered_groups(ties), their_options, keys)


def _sample_values(
    decisions: Decisions, ties: Groups, options: Options, keys: Sequence[Key]
) -> dict[Key, float]:
    """Return the values of keys over all samples."""
    values = _mean_costs(decisions, options, _mean_keys(keys))
    data = Data(decisions, options, grouped=ties)
    for key in keys:
        metric = key.entry
        if metric.value is not None:
            values[key] = metric.value(set_parameter(data, key))
        elif metric.ratio is not None:
            numerator, denominator = ratio_keys(key)
            values[key] = values[numerator] / positive_or_nan(values[denominator])
    return {key: values[key] for key in keys}


def ratio_keys(key: Key) -> list[Key]:
    """Return the keys of the numerator and the denominator of a ratio; nothing for other metrics."""
    return [Key(name, key.parameter) for name in key.entry.ratio or ()]


def _mean_keys(keys: Iterable[Key]) -> list[Key]:
    """Return the keys of the means among these keys, and of the means whose ratios are among them."""
    every = dict.fromkeys(part for key in keys for part in ratio_keys(key) or [key])
    return [key for key in every if key.entry.cost is not None]


def sample_costs(
    key: Key,
    decisions: Decisions,
    options: Options,
) -> Floats:
    """Return the cost (N,) of each sample under a metric that is a mean."""
    cost = key.entry.cost
    assert cost is not None
    data = Data(decisions, options, key.parameter or 0.0)
    return np.asarray(cost(data), np.float64)  # a condition is a cost of 0 or 1


def right_and_wrong_samples(u: Floats, template: Decisions) -> Decisions:
    """Return 2 G samples like a template: G of cost 0 and then G of cost 1, of uncertainties u (G,)."""
    twice = np.append(u, u)
    return replace(
        template,
        uncertainty=twice,
        confidence=None if template.confidence is None else 1 - twice,
        candidate_cost=np.repeat([0.0, 1.0], len(u)),
    )


def mean_line(key: Key, samples: Decisions, options: Options) -> Line:
    """Return the line of a mean from `right_and_wrong_samples`: its cost (G,) at c = 0, and the slope."""
    right, wrong = sample_costs(key, samples, options).reshape(2, -1)
    return Line(right, wrong - right)


def value_line(metric: Metric, data: Data) -> Line:
    """Return the influence function of a metric with a `value`: its `line`, else by `_jackknife_line`."""
    return metric.line(data) if metric.line is not None else _jackknife_line(metric, data)


def _jackknife_line(metric: Metric, data: Data) -> Line:
    """Return the influence function by the infinitesimal jackknife (Efron 1982): the change per weight added.

    The weight is that of right, then of wrong samples, in each of at most `_MAX_RUNS` runs of neighbouring groups; the
    line connects the two influences.
    """
    groups = data.groups
    assert metric.value is not None
    total = float(groups.weight.sum())
    amount = _ADDED * total
    value = float(metric.value(data))
    count = len(groups.weight)
    parts = min(count, _MAX_RUNS)
    part = np.arange(count) * parts // count
    influence = np.empty((2, parts))
    for index in range(parts):
        share = groups.weight * (part == index)
        if share.any():
            share *= amount / share.sum()
        for cost in (0, 1):
            moved = float(metric.value(replace(data, grouped=groups.enlarged(share, cost))))
            influence[cost, index] = (moved - value) / _ADDED
    right, wrong = influence[:, part]
    noise = _NOISE * abs(value)
    return Line(_drop_noise(right, noise), _drop_noise(wrong - right, noise))


def _drop_noise(influence: Floats, noise: float) -> Floats:
    """Return influences, those up to `noise` replaced by 0: rounding must not decide what a number depends on."""
    return np.where(np.abs(influence) > noise, influence, 0.0)


def _mean_costs(
    decisions: Decisions,
    options: Options,
    keys: Collection[Key],
) -> dict[Key, float]:
    """Return the weighted mean cost of each key, summed in blocks of rows that stay in the cache."""
    totals = dict.fromkeys(keys, 0.0)
    weight = options.sample_weight
    size = len(decisions.uncertainty)
    for rows in blocks(size, row_size=NUMBERS_PER_SAMPLE // 2):
        part = select_rows(decisions, rows)
        for key in keys:
            cost = sample_costs(key, part, options)
            totals[key] += (cost if weight is None else weight[rows] * cost).sum()
    total_weight = size if weight is None else weight.sum()
    return {key: total / total_weight for key, total in totals.items()}


# ---- the naive system ----------------------------------------------------------------------------------------------


def naive_values(decisions: Decisions, options: Options, weight: Floats) -> dict[Key, float]:
    """Return the values of the naive system, which knows the frequencies of samples with weights (N,) and no more."""
    values: dict[Key, float] = {}
    if decisions.confidence is not None:
        # each summed for itself: one that is missing is exactly 0
        wrong = decisions.candidate_cost
        if decisions.has_abstentions:
            weight = weight * ~decisions.abstained
        values |= _naive_answer_values(
            np.array([inner_product(weight, 1 - wrong), inner_product(weight, wrong)]),
            decisions,
            options,
        )
    if decisions.labels is not None:
        num_classes = int(options.num_classes or 0)
        counts = sum_parts(decisions.labels, weight, num_classes)
        values |= _naive_class_values(counts, decisions, options)
    return values


def _naive_answer_values(
    counts: Floats, decisions: Decisions, options: Options
) -> dict[Key, FloatOrFloats]:
    """Return the values (...) of the naive system from counts (..., 2) of right and of wrong answers."""
    naive = Frequencies(_shares(counts), None, decisions.max_uncertainty, options)
    return _naive_entry_values("naive_confidence", naive, decisions)


def _naive_class_values(
    counts: Floats, decisions: Decisions, options: Options
) -> dict[Key, FloatOrFloats]:
    """Return the values (...) of the naive system from counts (..., K) of the classes."""
    share = _shares(counts)
    largest = decisions.max_uncertainty
    u = np.minimum(_class_uncertainty(share, options.cost), largest)
    naive = Frequencies(share, u, largest, options)
    # posteriors have confidences if and only if the cost is the 0-1 cost
    is_zero_one = isinstance(options.cost, str) and options.cost == "zero_one"
    template = replace(decisions, confidence=decisions.uncertainty if is_zero_one else None)
    return _naive_entry_values("naive_posterior", naive, template)


def _naive_entry_values(
    field: str, naive: Frequencies, template: Decisions
) -> dict[Key, FloatOrFloats]:
    """Return the naive values (...) of all metrics that have this field, naive_confidence or naive_posterior."""
    values = {}
    for key in defined_keys(template, naive.options):
        value = getattr(key.entry, field)
        if value is not None:
            values[key] = value(set_parameter(naive, key))
    return values


def _shares(counts: Floats) -> Floats:
    """Return counts (..., K) divided by their sums; nan where these are 0, as for a system that always abstains."""
    total = counts.sum(axis=-1, keepdims=True)
    none = np.full(counts.shape, np.nan)
    return np.asarray(np.divide(counts, total, out=none, where=total > 0))


def _class_uncertainty(share: Floats, cost: str | Floats) -> FloatOrFloats:
    """Return the uncertainty (...) of the posterior `share` (..., K) under a cost."""
    if not isinstance(cost, str):
        return (share @ cost).min(axis=-1)
    return entropy(share) if cost == "log" else 1 - share.max(axis=-1)


def naive_slopes(
    one_each: Decisions,
    shares: Floats,
    options: Options,
) -> dict[Key, Floats]:
    """Return the derivatives (K,) of the naive system's values by each of the shares (K,), by central differences.

    `one_each` has one sample of each class, or one right and one wrong answer.
    """
    values_of = _naive_answer_values if one_each.labels is None else _naive_class_values
    step = _STEP * np.eye(len(shares))
    moved = shares * np.stack([1 + step, 1 - step])  # up and down (2, K, K), a class in each row
    width = 2 * _STEP * replace_zeros(shares)
    slopes = values_of(moved, one_each, options).items()
    return {key: (up - down) / width for key, (up, down) in slopes}


def add_variants(
    keys: Sequence[Key],
    plain: Values,
    *,
    naive: Callable[[], Values],
    ties: Groups,
    template: Decisions,
    options: Options,
) -> dict[Key, float]:
    """Return the values of keys: plain ones, and variants computed from these; keys without a value are left out.

    `naive` computes the naive system's values, which only normalised variants need.
    """
    values = dict(plain)
    variants = {key.variant for key in keys}
    if "normalized" in variants:
        for key, value in naive().items():
            if key in plain:
                values[key.as_variant("normalized")] = plain[key] / positive_or_nan(value)
    if variants & {"recalibrated", "calibration_loss"}:
        for key, best in recalibrated_values(ties, template, options).items():
            if key.as_variant("") in plain:
                values[key] = best
                values[key.as_variant("calibration_loss")] = plain[key.as_variant("")] - best
    return {key: float(values[key]) for key in keys if key in values}


# ---- the best recalibration ----------------------------------------------------------------------------------------


def recalibrated_values(
    ties: Groups,
    template: Decisions,
    options: Options,
) -> dict[Key, float]:
    """Return ECUAS_n after the best monotone recalibration of the uncertainties, fitted on the same data.

    It is the isotonic regression, optimal for every proper score at once (Brummer and du Preez 2013). `template` says
    which metrics are defined, and u_M; its rows are not used.
    """
    u = recalibrated_uncertainty(ties, max_uncertainty=template.max_uncertainty)
    # The cost of a sample is affine in its candidate cost: a group costs what its mean would.
    groups = Decisions(u, ties.mean_cost, template.max_uncertainty)
    return {
        key.as_variant("recalibrated"): float(
            np.average(sample_costs(key, groups, options), weights=ties.weight)
        )
        for key in defined_keys(template, options)
        if key.entry.has_recalibrated
    }


def recalibrated_uncertainty(ties: Groups, *, max_uncertainty: float) -> Floats:
    """Return the isotonic regression (G,) of the groups' mean costs on their uncertainties, cut off at u_M."""
    from scipy.optimize import isotonic_regression

    is_weighted = ties.weight > 0
    fitted = isotonic_regression(ties.mean_cost[is_weighted], weights=ties.weight[is_weighted])
    u = np.clip(fitted.x, 0.0, max_uncertainty)
    # a mean of u_M is rejected at every cost, also where its last digit fell below in this unit of weights
    u[u >= max_uncertainty * (1 - _ROUNDING)] = max_uncertainty
    place_before = np.cumsum(is_weighted) - 1
    return np.asarray(u[np.maximum(place_before, 0)])


def column_order(key: Key) -> tuple[bool, float]:
    """Return the sort key of a table's columns: metrics by their `column`, normalised ones last."""
    return key.variant == "normalized", key.entry.column
