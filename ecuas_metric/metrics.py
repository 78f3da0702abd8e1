"""The registry of all metrics, and their values: plain, normalised, and after the best recalibration."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from .calibration import CALIBRATION_METRICS, sums_in_bins
from .costs import Scratch
from .decisions import Decisions, select_rows
from .expected_costs import COST_METRICS
from .inputs import BLOCK_SIZE, SAMPLE_SIZE, FloatOrFloats, Floats, blocks
from .metric import METRICS as METRICS
from .metric import Data, Frequencies, Key, Line, Ties, Weights, at_parameter
from .metric import Metric as Metric
from .metric import add_metric as add_metric
from .metric import remove_metric as remove_metric
from .options import Options
from .order import ORDER_METRICS
from .peer_metrics import PEER_METRICS
from .ranking import ResampledTies, Resamples, TieGroups
from .scores import SCORES, entropy

_STEP = 1e-5  # of the logarithm of a class's weight, for derivatives of the naive system
_MOST_SLOPES = 2**22  # numbers held for these at a time
_ADDED = 1e-6  # of the weight, for derivatives of a value of groups: the root of what float64 tells apart, or more
_MOST_PARTS = 256  # runs of groups with a derivative of their own: two values each

_ENTRIES = [*COST_METRICS, *CALIBRATION_METRICS, *ORDER_METRICS, *SCORES, *PEER_METRICS]
for _metric in sorted(_ENTRIES, key=lambda metric: metric.column):
    add_metric(_metric)

Values = Mapping[Key, FloatOrFloats]
# values and weights, (G,) each -> their isotonic regression
_Regression = Callable[[Floats, Floats], Floats]


def keys_of(
    decisions: Decisions,
    options: Options,
    *,
    when: Collection[str] = ("",),
) -> list[Key]:
    """Return the keys of the metrics that are defined for a system, in the order of the registry."""
    parameters = {"": (None,), "n": options.n, "reject_costs": options.reject_costs}
    keys = []
    for name, metric in METRICS.items():
        if metric.when in when and metric.applies(decisions):
            keys += [Key(name, parameter) for parameter in parameters.get(metric.parameter, ())]
    return keys


def naive_keys(decisions: Decisions, options: Options) -> list[Key]:
    """Return the keys of what `normalize` divides, in the order of `naive_values`."""
    keys = keys_of(decisions, options)
    naive = [key for key in keys if key.entry.naive_confidence is not None]
    if decisions.labels is not None:
        naive += [key for key in keys if key.entry.naive_posterior is not None]
    return naive


def recalibrated_keys(decisions: Decisions, options: Options) -> list[Key]:
    """Return the keys of what `decompose` adds."""
    plain = [key for key in keys_of(decisions, options) if key.entry.has_recalibrated]
    return [key.of(variant) for key in plain for variant in ("recalibrated", "calibration_loss")]


def keys_of_calibration(decisions: Decisions, options: Options) -> list[Key]:
    """Return the keys of what the option `calibration` asks for."""
    if not options.calibration:
        return []
    return keys_of(decisions, options, when=("calibration",))


# ---- plain values --------------------------------------------------------------------------------------------------


def metric_values(
    decisions: Decisions,
    ties: Ties,
    options: Options,
    *,
    keys: Iterable[Key] | None = None,
    sample_weight: Weights | None = None,
) -> dict[Key, FloatOrFloats]:
    """Compute plain metrics (...) for weights (..., N) or resamples: those in `keys`, by default all."""
    if keys is None:
        keys = keys_of(decisions, options)
    wanted = list(dict.fromkeys(keys))
    values = mean_costs(decisions, options, keys=_with_parts(wanted), sample_weight=sample_weight)
    data = Data(decisions, options, grouped=ties, weight=sample_weight)
    for key in wanted:
        metric = key.entry
        if metric.value is not None:
            values[key] = _value(metric, at_parameter(data, key))
        elif metric.ratio is not None:
            numerator, denominator = ratio_keys(key)
            values[key] = quotient(values[numerator], values[denominator])
    return {key: values[key] for key in wanted}


def ratio_keys(key: Key) -> list[Key]:
    """Return the keys of the numerator and the denominator of a ratio."""
    return [Key(name, key.parameter) for name in key.entry.ratio or ()]


def quotient(numerator: FloatOrFloats, denominator: FloatOrFloats) -> FloatOrFloats:
    """Return a ratio (...), nan where the denominator is 0."""
    divisor = np.asarray(denominator)
    return numerator / np.where(divisor > 0, divisor, np.nan)


def _with_parts(keys: Iterable[Key]) -> list[Key]:
    """Return the keys of means among these and among the parts of ratios."""
    every = dict.fromkeys(keys)
    for key in [key for key in every if key.entry.ratio]:
        every.update(dict.fromkeys(ratio_keys(key)))
    return [key for key in every if key.entry.cost is not None]


def _value(metric: Metric, data: Data) -> FloatOrFloats:
    assert metric.value is not None
    if metric.takes_resamples or not isinstance(data.weight, Resamples):
        return metric.value(data)
    return _value_of_resamples(metric.value, data, data.weight)


def _value_of_resamples(
    value: Callable[[Data], FloatOrFloats],
    data: Data,
    resamples: Resamples,
) -> Floats:
    """Return the value of each resample (B,), one after the other."""
    assert isinstance(data.grouped, ResampledTies)
    values = []
    for counts in resamples.counts:
        weight = counts if resamples.sample_weight is None else counts * resamples.sample_weight
        rows = np.flatnonzero(weight)
        drawn = weight[rows].astype(np.float64)
        resample = replace(
            data,
            decisions=select_rows(data.decisions, rows),
            options=replace(data.options, sample_weight=drawn),
            grouped=data.grouped.of_rows(rows, drawn),
            weight=drawn,
        )
        values.append(float(value(resample)))
    return np.array(values)


def sample_costs(
    decisions: Decisions,
    options: Options,
    *,
    keys: Iterable[Key],
) -> Iterator[tuple[Key, Floats]]:
    """Yield the cost (N,) of each sample under each metric in `keys` that is a mean."""
    size = len(decisions.uncertainty)
    parts = {
        rows.start: select_rows(decisions, rows) for rows in blocks(size, row_size=SAMPLE_SIZE)
    }
    scratch = np.empty((3, BLOCK_SIZE // SAMPLE_SIZE))
    for key in keys:
        if key.entry.cost is None:
            continue
        cost = np.empty(size)
        for start, part in parts.items():
            count = len(part.uncertainty)
            cost[start : start + count] = cost_of(key, part, options, scratch[:, :count])
        yield key, cost


def cost_of(
    key: Key,
    decisions: Decisions,
    options: Options,
    scratch: Scratch | None = None,
) -> Floats:
    """Return the cost (N,) of each sample under a metric that is a mean."""
    cost = key.entry.cost
    assert cost is not None
    data = Data(decisions, options, parameter=key.parameter or 0.0, scratch=scratch)
    return np.asarray(cost(data), np.float64)  # a condition is a cost of 0 or 1


def line_of_mean(
    key: Key,
    u: Floats,
    form: Decisions,
    options: Options,
) -> Line:
    """Return the cost at uncertainties u (G,) of correct samples, and its increase per unit of candidate cost."""
    confidence = None if form.confidence is None else 1 - u
    at_u = replace(form, uncertainty=u, confidence=confidence)
    free = replace(at_u, candidate_cost=np.zeros(len(u)))
    dear = replace(free, candidate_cost=np.ones(len(u)))
    intercept = cost_of(key, free, options)
    return Line(intercept, cost_of(key, dear, options) - intercept)


def line_of_value(metric: Metric, data: Data) -> Line:
    """Return the influence of samples on a function of the tie groups: its own line, or a jackknife over them."""
    return metric.line(data) if metric.line is not None else _jackknife_line(metric, data)


def _jackknife_line(metric: Metric, data: Data) -> Line:
    """Return the line by differences: a little weight is added to each of at most `_MOST_PARTS` runs of groups.

    This is the infinitesimal jackknife (Efron 1982) of right and of wrong samples, of which a line is the secant.
    """
    groups = data.groups
    assert metric.value is not None
    total = float(groups.weight.sum())
    amount = _ADDED * total
    value = float(metric.value(data))
    count = len(groups.weight)
    parts = min(count, _MOST_PARTS)
    part = np.arange(count) * parts // count
    influence = np.empty((2, parts))
    for index in range(parts):
        share = groups.weight * (part == index)
        if share.any():
            share *= amount / share.sum()
        for cost in (0, 1):
            added = TieGroups(groups.weight + share, groups.cost + cost * share, groups.rank)
            moved = float(metric.value(replace(data, grouped=added)))
            influence[cost, index] = (moved - value) / _ADDED
    right, wrong = influence[:, part]
    return Line(right, wrong - right)


def mean_costs(
    decisions: Decisions,
    options: Options,
    *,
    keys: Iterable[Key],
    sample_weight: Weights | None = None,
) -> dict[Key, FloatOrFloats]:
    """Return the (weighted) mean of each of `sample_costs`, summed in blocks that stay in the cache."""
    means = [key for key in keys if key.entry.cost is not None]
    if isinstance(sample_weight, Resamples):
        return _means_of_resamples(decisions, options, means, sample_weight)
    size = len(decisions.uncertainty)
    totals: dict[Key, FloatOrFloats] = dict.fromkeys(means, 0.0)
    parts = list(blocks(size, row_size=SAMPLE_SIZE // 2))
    scratch = np.empty((3, parts[0].stop))
    for rows in parts:
        part = select_rows(decisions, rows)
        weight = None if sample_weight is None else sample_weight[..., rows]
        part_scratch = scratch[:, : rows.stop - rows.start]
        for key in means:
            cost = cost_of(key, part, options, part_scratch)
            totals[key] += cost.sum() if weight is None else _dot(weight, cost)
    total_weight = size if sample_weight is None else sample_weight.sum(axis=-1)
    return {key: total / total_weight for key, total in totals.items()}


def _dot(weight: Floats, cost: Floats) -> FloatOrFloats:
    """Return the products (...) of weights (..., N) and costs (N,), in parts: more would wake other cores."""
    parts = blocks(len(cost), row_size=SAMPLE_SIZE)
    return sum(np.vecdot(weight[..., rows], cost[rows]) for rows in parts)


def _means_of_resamples(
    decisions: Decisions, options: Options, keys: Collection[Key], resamples: Resamples
) -> dict[Key, FloatOrFloats]:
    """Return the means of each resample; per-sample costs are computed once."""
    totals: dict[Key, FloatOrFloats] = {}
    if not keys:
        return totals
    for rows, weight in resamples.blocks():
        part = select_rows(decisions, rows)
        for key, cost in sample_costs(part, options, keys=keys):
            totals[key] = totals.get(key, 0.0) + np.vecdot(weight, cost)
    return {key: total / resamples.total for key, total in totals.items()}


def values_of_calibration(
    decisions: Decisions, options: Options, *, only: Collection[Key] | None = None
) -> dict[Key, float]:
    """Return the numbers that the option `calibration` asks for (those in `only`)."""
    data = Data(decisions, options, weight=options.sample_weight)
    keys = keys_of_calibration(decisions, options)
    if only is not None:
        keys = [key for key in keys if key in only]
    return {key: float(_value(key.entry, data)) for key in keys}


# ---- the naive system ----------------------------------------------------------------------------------------------


def naive_values(
    decisions: Decisions, options: Options, *, sample_weight: Weights | None = None
) -> dict[Key, FloatOrFloats]:
    """Return the naive system's value (...) of every metric that has one, for weights (..., N) or resamples."""
    if isinstance(sample_weight, Resamples):
        return sample_weight.each(
            lambda weight: naive_values(decisions, options, sample_weight=weight)
        )
    values: dict[Key, FloatOrFloats] = {}
    if decisions.confidence is not None:
        share = _shares_of_answers(decisions.candidate_cost, sample_weight)
        values |= _naive_values(
            Frequencies(share, None, decisions.max_uncertainty, options), decisions
        )
    if decisions.labels is not None:
        counts = sums_in_bins(
            np.ones(len(decisions.labels)),
            decisions.labels,
            n_bins=int(options.num_classes or 0),
            sample_weight=sample_weight,
        )
        share = _divided_by_sum(counts)
        u = np.minimum(_uncertainty(share, options.cost), decisions.max_uncertainty)
        values |= _naive_values(
            Frequencies(share, u, decisions.max_uncertainty, options), decisions
        )
    return values


def _naive_values(naive: Frequencies, decisions: Decisions) -> dict[Key, FloatOrFloats]:
    """Return the values of what is known of the classes if there is an uncertainty, else of right and wrong."""
    values = {}
    form = decisions if naive.uncertainty is None else _form_of_classes(decisions, naive.options)
    for key in keys_of(form, naive.options):
        compute = (
            key.entry.naive_confidence if naive.uncertainty is None else key.entry.naive_posterior
        )
        if compute is not None:
            values[key] = compute(replace(naive, parameter=key.parameter or 0.0))
    return values


def _form_of_classes(decisions: Decisions, options: Options) -> Decisions:
    """Return decisions of posteriors, which have confidences if and only if the cost is the 0-1 cost."""
    is_zero_one = isinstance(options.cost, str) and options.cost == "zero_one"
    return replace(decisions, confidence=decisions.uncertainty if is_zero_one else None)


def _shares_of_answers(incorrect: Floats, sample_weight: Floats | None) -> Floats:
    """Return the shares (..., 2) of incorrect and correct answers."""
    # each summed for itself: one that is missing is exactly 0
    both = np.stack([incorrect, 1 - incorrect], axis=-1)
    counts = both.sum(axis=0) if sample_weight is None else sample_weight @ both
    return _divided_by_sum(counts)


def _divided_by_sum(counts: Floats) -> Floats:
    total = counts.sum(axis=-1, keepdims=True)
    # a resample may hold nothing that weighs: all is nan
    return np.asarray(counts / np.where(total > 0, total, 1.0))


def _uncertainty(share: Floats, cost: str | Floats) -> FloatOrFloats:
    if not isinstance(cost, str):
        return (share @ cost).min(axis=-1)
    return entropy(share) if cost == "log" else 1 - share.max(axis=-1)


def naive_slopes(
    one_each: Decisions,
    shares: Floats,
    options: Options,
) -> dict[Key, Floats]:
    """Return the derivatives of the naive system's values by the share of each class, by central differences."""
    count = len(shares)
    step = max(1, _MOST_SLOPES // count)
    slopes: dict[Key, list[Floats]] = {}
    for start in range(0, count, step):
        moved = np.arange(start, min(start + step, count))
        weights = np.tile(shares, (2, len(moved), 1))
        weights[0, np.arange(len(moved)), moved] *= 1 + _STEP
        weights[1, np.arange(len(moved)), moved] *= 1 - _STEP
        share = shares[moved]
        width = 2 * _STEP * np.where(share > 0, share, 1.0)
        values = naive_values(one_each, options, sample_weight=weights)
        for key, (up, down) in values.items():
            slopes.setdefault(key, []).append((up - down) / width)
    return {key: np.concatenate(parts) for key, parts in slopes.items()}


def normalized_values(
    values: Mapping[Key, FloatOrFloats], naive: Mapping[Key, FloatOrFloats]
) -> dict[Key, FloatOrFloats]:
    """Divide each value by the naive system's; nan where that is 0."""
    normalized = {}
    for key, value in naive.items():
        if key in values:
            normalized[key.of("normalized")] = quotient(values[key], value)
    return normalized


# ---- the best recalibration ----------------------------------------------------------------------------------------


def decomposed_values(
    values: Mapping[Key, FloatOrFloats], ties: Ties, form: Decisions, options: Options
) -> dict[Key, FloatOrFloats]:
    """Return each ECUAS_n after the best recalibration, and the loss that it saves."""
    decomposed: dict[Key, FloatOrFloats] = {}
    for key, best in recalibrated_values(ties, form, options).items():
        plain = key.of("")
        if plain in values:
            decomposed[key] = best
            decomposed[key.of("calibration_loss")] = values[plain] - best
    return decomposed


def recalibrated_values(
    ties: Ties,
    form: Decisions,
    options: Options,
) -> dict[Key, FloatOrFloats]:
    """Return each ECUAS_n (...) after the best recalibration, on the same data, that keeps the uncertainties' order.

    Of `form` the largest uncertainty and which arrays there are is used. Among all maps that keep the order, the
    isotonic regression is optimal for every proper score at once (Brummer and du Preez 2013).
    """
    if isinstance(ties, ResampledTies):
        return ties.each(lambda groups: recalibrated_values(groups, form, options))
    regression = _isotonic_regression()
    shape = ties.weight.shape[:-1]
    keys = [key for key in keys_of(form, options) if key.entry.has_recalibrated]
    num_groups = ties.weight.shape[-1]
    weights = ties.weight.reshape(-1, num_groups)
    costs = ties.cost.reshape(-1, num_groups)
    rows = []
    for weight, cost in zip(weights, costs, strict=True):
        rows.append(_best_values(weight, cost, regression, keys, form, options))
    columns = np.array(rows).T.reshape(len(keys), *shape)
    recalibrated = [key.of("recalibrated") for key in keys]
    return {key: column[()] for key, column in zip(recalibrated, columns, strict=True)}


def recalibrated_uncertainty(ties: TieGroups, *, max_uncertainty: float) -> Floats:
    """Return the uncertainty of each tie group (G,) after the best monotone recalibration."""
    is_weighted = ties.weight > 0
    weight = ties.weight[is_weighted]
    u = _best_uncertainty(weight, ties.cost[is_weighted], _isotonic_regression(), max_uncertainty)
    place_before = np.cumsum(is_weighted) - 1
    return np.asarray(u[np.maximum(place_before, 0)])


def _best_values(
    weight: Floats,
    cost: Floats,
    regression: _Regression,
    keys: Iterable[Key],
    form: Decisions,
    options: Options,
) -> list[float]:
    """Return each metric of tie groups, shape (G,), whose uncertainties are the isotonic regression of their costs."""
    is_weighted = weight > 0
    weight = weight[is_weighted]
    cost = cost[is_weighted]
    u = _best_uncertainty(weight, cost, regression, form.max_uncertainty)
    # The cost of a sample is affine in its candidate cost: a group costs what its mean would.
    groups = Decisions(u, cost / weight, form.max_uncertainty)
    totals = [weight @ cost_of(key, groups, options) for key in keys]
    return [float(total / weight.sum()) for total in totals]


def _best_uncertainty(
    weight: Floats, cost: Floats, regression: _Regression, max_uncertainty: float
) -> Floats:
    u = regression(cost / weight, weight)
    return np.asarray(np.clip(u, 0.0, max_uncertainty))


def _isotonic_regression() -> _Regression:
    from scipy.optimize import isotonic_regression

    def regression(values: Floats, weights: Floats) -> Floats:
        return np.asarray(isotonic_regression(values, weights=weights).x)

    return regression


def place(key: Key) -> tuple[bool, float]:
    """Return what sorts keys as columns of a table: the metrics by their `column`, normalised ones last."""
    return key.variant == "normalized", key.entry.column
