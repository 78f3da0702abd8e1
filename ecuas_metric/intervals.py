"""Analytic intervals of every metric, from the influences of the samples. Methods: docs/statistics.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from .decisions import Decisions, one_of_each_class, right_and_wrong
from .errors import Note
from .expected_costs import EXPECTED_COST
from .inputs import Bools, Floats, Ints, Limits
from .metric import Data, Key, Line, bias_of
from .metrics import (
    Values,
    cost_of,
    line_of_mean,
    line_of_value,
    naive_slopes,
    naive_values,
    ratio_keys,
    recalibrated_uncertainty,
)
from .options import Options
from .order import AUROC
from .ranking import TieGroups, run_starts
from .sampling import NONE, Design, design_of, dot, freedom_of, standard_error, student_quantile

NO_UNITS = Note("too_few_units")
_FEW = 10  # effective wrong, or right, answers below which first-order theory does not hold
_ENOUGH = 25  # of them, above which the plug-in interval of a recalibrated value is near its nominal level
_ENOUGH_COSTS = 100  # effective samples for the same, where costs are not 0 or 1 and tell nothing of how many are rare
_FEW_EVENTS = 30  # equal influences below which Newcombe's limits bound DeLong's
_FEW_GROUPS = 5  # effective groups, below which a note calls all intervals approximate
_MOST_GROUPS = 2**16  # of equal uncertainty, used for an interval
_CELLS = 12  # of confidence, at most
_PER_CELL = 5  # incorrect or correct answers, whichever are fewer, per cell
_LEAST_CELLS = 3
_BELIEF = 3.0  # prior samples, anywhere in a cell, on the cost of a mistake there
_DEAREST = 0.5  # prior samples that cost the most that one can, where costs are not 0 or 1
_WORST = 0.25  # prior samples with the largest loss of posteriors there is
_MOST_SKEW = 0.7  # of half an interval
_UNSEEN = 0.75  # reported share of the squared distance to a limit
_PER_CLASS = 10  # samples, below which there are too few for what is normalised by the frequencies of classes
_ROUNDING = 1e-9


class Intervals(NamedTuple):
    """Limits (nan where there are none) and standard errors of numbers, and the notes that belong to them."""

    limits: dict[Key, Limits]
    standard_errors: dict[Key, float]
    notes: tuple[Note, ...]


class Moments(NamedTuple):
    """Sums over groups of equal uncertainty (G,) of weights w and costs c: what an interval is computed from."""

    uncertainty: Floats  # increasing
    weight: Floats  # sum of w, as in `TieGroups`
    cost: Floats  # sum of w c, as in `TieGroups`
    weight2: Floats  # sum of w^2, in the unit of `weight`
    weight2_cost: Floats  # sum of w^2 c
    weight2_cost2: Floats  # sum of w^2 c^2
    num_samples: int  # without those of weight 0

    def merged(self, starts: Ints) -> Moments:
        """Return the moments of neighbours added up, from each start (K,) to the next, at their mean uncertainty."""
        weight, cost, weight2, weight2_cost, weight2_cost2 = (np.add.reduceat(sums, starts) for sums in self[1:6])
        u = np.add.reduceat(self.uncertainty * self.weight, starts) / weight
        return Moments(u, weight, cost, weight2, weight2_cost, weight2_cost2, self.num_samples)

    @property
    def ties(self) -> TieGroups:
        """The same groups, for the metrics of the order."""
        return TieGroups(self.weight, self.cost, self.uncertainty)

    @property
    def effective_count(self) -> float:
        """The effective number of samples, (sum w)^2 / sum w^2 (Kish)."""
        return float(self.weight.sum() ** 2 / self.weight2.sum())

    @property
    def wrong(self) -> float:
        """The effective number of incorrect answers, or of costs."""
        squares = float(self.weight2_cost2.sum())
        return round(float(self.cost.sum()) ** 2 / squares, 9) if squares else 0.0

    @property
    def right(self) -> float:
        """The effective number of correct answers, for the 0-1 cost."""
        squares = float((self.weight2 - 2 * self.weight2_cost + self.weight2_cost2).sum())
        return round(float((self.weight - self.cost).sum()) ** 2 / squares, 9) if squares > 0 else 0.0


class _Data(NamedTuple):
    """The moments of samples, the options, the numbers; `form` tells u_M and which arrays there are."""

    moments: Moments
    form: Decisions
    options: Options
    values: Values

    @property
    def is_binary(self) -> bool:
        """Whether costs are 0 or 1, as those of confidences are."""
        return self.form.confidence is not None

    @property
    def largest_cost(self) -> float:
        """The most that an answer can cost; infinite where costs are given as numbers."""
        if self.is_binary:
            return 1.0
        if self.form.labels is None:
            return math.inf
        cost = self.options.cost
        return -math.log(self.options.epsilon) if isinstance(cost, str) else float(cost.max())

    @property
    def assumed_largest_cost(self) -> float:
        """The largest cost; where costs are given as numbers, that which was seen, or the largest uncertainty."""
        if math.isfinite(self.largest_cost):
            return self.largest_cost
        seen, square = self.moments.weight2_cost, self.moments.weight2_cost2
        own = np.divide(square, seen, out=np.zeros(len(seen)), where=seen > 0)
        return max(self.form.max_uncertainty, float(own.max(initial=0.0)))

    @property
    def is_recalibrated_well(self) -> bool:
        """Whether there are enough answers for the plug-in interval of a recalibrated value."""
        return self.rarer >= _ENOUGH if self.is_binary else self.moments.effective_count >= _ENOUGH_COSTS

    @property
    def rarer(self) -> float:
        """The effective number of incorrect or of correct answers, whichever is smaller; for costs, of costs."""
        return min(self.moments.wrong, self.moments.right) if self.is_binary else self.moments.wrong

    def quantile(self, freedom: float = math.inf) -> float:
        """Return Student's quantile at the confidence level."""
        return student_quantile((1 + (self.options.confidence_level or 0.0)) / 2, freedom)


def analytic_intervals(decisions: Decisions, options: Options, values: Values) -> Intervals:
    """Return the intervals of numbers of samples sorted by increasing uncertainty, none of weight 0."""
    design = design_of(options, len(decisions.uncertainty))
    if not design.freedom:
        return Intervals(dict.fromkeys(values, NONE), {}, (NO_UNITS,))

    moments = moments_of(decisions, options.sample_weight)

    def own_error(key: Key) -> float:
        influence = _of_own(key, decisions, options, float(values[key]))
        influence = influence - np.average(influence, weights=options.sample_weight)
        error = standard_error(influence, design)
        few = key.variant and moments.effective_count < _PER_CLASS * int(options.num_classes or 0)
        return math.nan if few or error <= _ROUNDING * abs(float(values[key])) else error

    spread = None if design.unit is None and options.strata is None else _spread(decisions, design)
    found = analytic_limits(moments, decisions, options, values, own_error=own_error, spread=spread)
    return found._replace(notes=found.notes + _note_few_groups(design))


def analytic_limits(
    moments: Moments,
    form: Decisions,
    options: Options,
    values: Values,
    *,
    own_error: Callable[[Key], float],
    spread: Callable[[Key, Line | None], tuple[float, float]] | None = None,
) -> Intervals:
    """Return the interval of each number in `values`: the one function for samples in memory, with groups, and states.

    `form` tells u_M and which arrays there are, and may have no rows. `own_error` gives the standard error of a number
    that is no function of the groups, such as a loss of posteriors: nan if it is not known. `spread`, for groups or
    strata, gives the design effect and the degrees of freedom of a key and its line, if it has one. Without a
    confidence level there are standard errors only.
    """
    data = _Data(moments if spread else _coarse(moments), form, options, values)
    count, cells = data.moments.effective_count, dict[float, _Cells]()
    limits, errors, unseen = dict.fromkeys(values, NONE), dict[Key, float](), dict[Key, _Unseen]()
    for key in [key for key, value in values.items() if math.isfinite(float(value)) and not key.is_biased]:
        line = _line_of(key, data)
        effect, freedom = spread(key, line) if spread else (1.0, count - 1)
        errors[key] = math.sqrt(_variance(line, data.moments) * effect) if line else own_error(key)
        if options.confidence_level is None or not freedom > 0 or math.isnan(errors[key]):
            continue
        t = data.quantile(freedom)
        if line is None or key.entry is AUROC or key.is_plain_share:
            limits[key] = _limits_of_kind(key, line, data, errors[key], effect, t)
        elif key.variant != "recalibrated" or data.is_recalibrated_well:
            scale = effect * (t / data.quantile()) ** 2
            if scale not in cells:
                cells[scale] = _cells(data, scale)
            *found, blame = _limits_by_cells(key, line, data, cells[scale])
            if key.variant == "normalized":  # by a number that is as uncertain where few answers are right
                by_logarithm = limits_on_log_scale(float(values[key]), t * errors[key])
                others = _at_other_rates(key, data, cells[scale].rate, count / scale)
                most = max(found[1], by_logarithm[1]) * _excess(data, count, scale)
                found = [min(found[0], by_logarithm[0], *others), max(most, *others)]
            if math.isfinite(found[1]):
                limits[key] = _within(_range_of(key, data), float(values[key]), *found, count=count / scale)
            unseen |= {key: blame} if blame else {}
    if options.confidence_level is None:
        return Intervals({}, errors, ())
    return Intervals(limits, errors, _notes(data, limits) + _notes_unseen(unseen))


def influences(decisions: Decisions, options: Options, values: Values) -> Iterator[tuple[Key, Floats]]:
    """Yield the influence (N,) of each sorted sample on each number; its weighted mean is 0."""
    data = _Data(moments_of(decisions, options.sample_weight), decisions, options, values)
    sizes = np.diff(run_starts(decisions.rank_by), append=len(decisions.rank_by))
    for key in values:
        line = _line_of(key, data)
        own = _of_line(line, sizes, decisions) if line else _of_own(key, decisions, options, float(values[key]))
        yield key, own - np.average(own, weights=options.sample_weight)


def moments_of(decisions: Decisions, sample_weight: Floats | None = None) -> Moments:
    """Return the moments of samples sorted by increasing uncertainty, none of weight 0."""
    rank, c = decisions.rank_by, decisions.candidate_cost
    starts, c2 = run_starts(rank), c if decisions.confidence is not None else np.square(c)
    w = np.broadcast_to(1.0, c.shape) if sample_weight is None else sample_weight / sample_weight.max()
    w2 = w if sample_weight is None else np.square(w)
    sums = [w, c, w, c, c2] if sample_weight is None else [w, w * c, w2, w2 * c, w2 * c2]
    if len(starts) < len(rank):
        sums = [np.add.reduceat(values, starts) for values in sums]
    weight, cost, weight2, weight2_cost, weight2_cost2 = sums
    u = decisions.uncertainty_at(rank[starts])
    return Moments(u, weight, cost, weight2, weight2_cost, weight2_cost2, len(rank))


def _coarse(moments: Moments) -> Moments:
    """Merge neighbouring groups where there are more than `_MOST_GROUPS`."""
    size = len(moments.weight)
    return moments if size <= _MOST_GROUPS else moments.merged(np.arange(_MOST_GROUPS) * size // _MOST_GROUPS)


def _spread(decisions: Decisions, design: Design) -> Callable[[Key, Line | None], tuple[float, float]]:
    """Return a function of a key and line: the design effect on a number's variance, and its degrees of freedom."""
    alone = design._replace(unit=None, stratum=np.zeros(len(design.weight), np.int64))
    sizes = np.diff(run_starts(decisions.rank_by), append=len(decisions.rank_by))

    def spread(key: Key, line: Line | None) -> tuple[float, float]:
        if line is None:
            return 1.0, design.freedom
        influence = _of_line(line, sizes, decisions)
        mean = dot(design.weight, influence)
        centred = influence - mean
        centred /= np.abs(centred).max() or 1.0  # squares of what is tiny would be 0
        independent = standard_error(centred, alone)
        effect = (standard_error(centred, design) / independent) ** 2 if independent > 0 else 1.0
        effect = effect if effect > _ROUNDING else 1.0  # that few units happen to agree is no certainty
        if design.unit is not None and key.is_plain_share:
            return effect, freedom_of(design, (influence > 0.5) == (mean < 0.5))
        counted = np.repeat(line.slope != 0, sizes)  # of a selective risk, what is accepted
        return effect if design.unit is None else max(effect, 1.0), freedom_of(design, counted)

    return spread


def _of_line(line: Line, sizes: Ints, decisions: Decisions) -> Floats:
    """Expand a line over groups of these sizes to influences (N,), up to a constant."""
    intercept, slope = (np.repeat(values, sizes) for values in line)
    return np.asarray(intercept + slope * decisions.candidate_cost)


def _of_own(key: Key, decisions: Decisions, options: Options, value: float) -> Floats:
    """Return the influences (N,) on a number that is no function of uncertainties and costs, up to a constant."""
    weight = options.sample_weight
    labels = decisions.labels
    cost = cost_of(key, decisions, options)
    if not key.variant:
        return cost
    assert labels is not None
    count = int(options.num_classes or 0)
    one_each = one_of_each_class(count, decisions.max_uncertainty)
    shares = np.bincount(labels, weight, minlength=count) / 1.0
    naive, slopes = _naive(key, one_each, shares, options)
    return (cost - value * slopes[labels]) / (naive or math.nan)


def _line_of(key: Key, data: _Data) -> Line | None:
    """Return the influence of the samples on a number; None if it is no function of their uncertainties and costs."""
    metric, moments, u = key.entry, data.moments, data.moments.uncertainty
    if metric.assesses == "posteriors":
        return _line_of_two_classes(key, data)
    if metric.value is not None and metric.of_samples and metric.line is None:
        return None
    if key.variant == "normalized":
        return _normalized_line(key, data)
    if key.variant:  # the effect of a new fit is of second order
        best = recalibrated_uncertainty(moments.ties, max_uncertainty=data.form.max_uncertainty)
        line = _mean_line(key, best, data)
        if key.variant == "recalibrated":
            return line
        intercept, slope = _mean_line(key, u, data)
        return Line(intercept - line.intercept, slope - line.slope)
    if metric.value is not None:
        return line_of_value(metric, _at(key, data, moments.ties))
    if metric.ratio is not None:
        above, below = (_mean_line(part, u, data) for part in ratio_keys(key))
        return _ratio(above, below, float(data.values[key]), _mean(below, moments))
    return _mean_line(key, u, data)


def _line_of_two_classes(key: Key, data: _Data) -> Line | None:
    """Return the line of a loss of posteriors of two classes, which is that of a confidence; None of other numbers."""
    if key.variant or data.options.num_classes != 2 or not data.is_binary:
        return None
    if key.entry.two_classes is None:
        return None
    name, factor = key.entry.two_classes
    line = _mean_line(Key(name), data.moments.uncertainty, data)
    return Line(factor * line.intercept, factor * line.slope)


def _mean_line(key: Key, u: Floats, data: _Data) -> Line:
    return line_of_mean(key, u, data.form, data.options)


def _normalized_line(key: Key, data: _Data) -> Line | None:
    """Divide by the naive system's value, which depends on the error rate; None where it depends on the labels."""
    moments = data.moments
    if not data.is_binary or key.entry.naive_confidence is None:
        return None
    shares = np.array([float((moments.weight - moments.cost).sum()), float(moments.cost.sum())])
    naive, (right, wrong) = _naive(key, right_and_wrong(data.form.max_uncertainty), shares, data.options)
    below = Line(*(np.full(len(moments.weight), one) for one in (right, wrong - right)))
    return _ratio(_mean_line(key, moments.uncertainty, data), below, float(data.values[key]), naive)


def _naive(key: Key, one_each: Decisions, shares: Floats, options: Options) -> tuple[float, Floats]:
    """Return the naive system's value, and its slope in the share of each kind of sample, (K,): `one_each` has one."""
    value, plain = _naive_value(key, one_each, shares, options), key.of("")
    rounded = np.round(shares / shares.sum(), 12)  # the slopes, differences, would show how the shares were summed
    return value, naive_slopes(one_each, rounded, options)[plain]


def _naive_value(key: Key, one_each: Decisions, shares: Floats, options: Options) -> float:
    return float(naive_values(one_each, options, sample_weight=shares)[key.of("")])


def _at(key: Key, data: _Data, ties: TieGroups) -> Data:
    grouped = TieGroups(ties.weight, ties.cost, data.form.rank_at(ties.rank))
    return Data(data.form, data.options, parameter=key.parameter or 0.0, grouped=grouped)


def _ratio(above: Line, below: Line, value: float, mean: float) -> Line:
    mean = mean or math.nan
    return Line((above.intercept - value * below.intercept) / mean, (above.slope - value * below.slope) / mean)


def _mean(line: Line, moments: Moments) -> float:
    """Return the mean of a line over the samples."""
    return (dot(moments.weight, line.intercept) + dot(moments.cost, line.slope)) / float(moments.weight.sum())


def _variance(line: Line, moments: Moments) -> float:
    """Return the variance of a number whose samples are independent: the infinitesimal jackknife."""
    if moments.num_samples < 2:
        return math.nan
    centred = line.intercept - _mean(line, moments)
    squares = dot(moments.weight2, np.square(centred)) + 2 * dot(moments.weight2_cost, centred * line.slope)
    squares += dot(moments.weight2_cost2, np.square(line.slope))
    return max(squares, 0.0) / float(moments.weight.sum()) ** 2 * moments.num_samples / (moments.num_samples - 1)


def _limits_of_kind(key: Key, line: Line | None, data: _Data, error: float, effect: float, t: float) -> Limits:
    """Return the limits of an AUROC, a share, or what is no function of the groups: none where few are wrong."""
    value, moments = float(data.values[key]), data.moments
    if line is None:
        is_loss = key.entry.is_own_loss
        if _has_few(key, data) if data.is_binary else not is_loss:  # the naive system's cost may hang on a rare class
            return NONE
        _, most = _range_of(key, data)
        unseen = 0.0 if key.variant else math.sqrt(_WORST) * most / moments.effective_count
        return limits_on_log_scale(value, t * math.hypot(error, unseen))
    if key.entry is AUROC:
        events = max(_events_of(line, moments) / effect, 1.0)
        return limits_of_auroc(value, error, moments.wrong / effect, moments.right / effect, t, events)
    if min(value, 1 - value) < _ROUNDING or not error > 0:  # within rounding of 0 or 1 it is that of all units
        return share_limits(float(round(value)), moments.effective_count / effect, t)
    # Kish's number bounds it: among few large weights, those of one outcome may be missing.
    size = min(value * (1 - value) / error**2, moments.effective_count / effect)
    return share_limits(value, size, t)


def _has_few(key: Key, data: _Data) -> bool:
    """Return whether few answers are wrong or few are right, for an expected cost of those accepted."""
    moments = data.moments
    if key.entry is EXPECTED_COST:
        accepts = _mean_line(key, moments.uncertainty, data).slope > 0
        data = data._replace(moments=_accepted(accepts, moments))
    return data.rarer < min(_FEW, moments.effective_count / 2)  # half of the samples are never rare


def _accepted(accepts: Bools, moments: Moments) -> Moments:
    """Return moments in which groups that are not accepted (G,) cost nothing."""
    return moments._replace(cost=moments.cost * accepts, weight2_cost2=moments.weight2_cost2 * accepts)


def share_limits(share: float, size: float, z: float) -> Limits:
    """Return the wider of Wilson's and Jeffreys' limits of a share of `size` samples, each side by itself."""
    low, high = jeffreys_limits(np.array([share * size]), np.array([(1 - share) * size]), z)
    wilson = wilson_limits(share, size, z)
    return min(wilson[0], float(low[0])), max(wilson[1], float(high[0]))


def wilson_limits(share: float, size: float, z: float) -> Limits:
    """Return Wilson's interval of a share of `size` samples, which may be an effective number; `z` is the quantile."""
    if math.isnan(z):
        return NONE
    shrunk = 1 + z * z / size
    centre = (share + z * z / (2 * size)) / shrunk
    half = z / shrunk * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return (max(centre - half, 0.0) if share > 0 else 0.0), (min(centre + half, 1.0) if share < 1 else 1.0)


def jeffreys_limits(count: Floats, rest: Floats, z: float, *, prior: float = 0.5) -> tuple[Floats, Floats]:
    """Return limits of shares of `count` and `rest` samples, any numbers, (K,) each: Jeffreys' (Brown et al. 2001).

    With a `prior` of 0 the limits next to 0 and to 1 are Clopper and Pearson's, never too close to the share.
    """
    from scipy.special import betaincinv, ndtr

    low = betaincinv(count + prior, rest + 0.5, ndtr(-z))
    high = betaincinv(count + 0.5, rest + prior, ndtr(z))
    return np.where(count > _ROUNDING, low, 0.0), np.where(rest > _ROUNDING, high, 1.0)


def limits_on_log_scale(value: float, half: float) -> Limits:
    """Return the limits of a positive number on the log scale; none of 0."""
    if not (value > 0 and math.isfinite(half)):
        return NONE
    factor = math.exp(min(half / value, 700.0))
    return value / factor, value * factor


def limits_of_auroc(value: float, error: float, wrong: float, right: float, quantile: float, events: float) -> Limits:
    """Return DeLong's limits on the logit scale, with as many `events`; Newcombe's where one kind of answer is rare."""
    rarer, newcombe = min(wrong, right), newcombe_limits(value, wrong, right, quantile)
    if rarer < _FEW or not (error > 0 and 0 < value < 1):
        return newcombe
    wider = student_quantile(NormalDist().cdf(quantile), events) * math.sqrt(rarer / (rarer - 1))
    logit, half = math.log(value / (1 - value)), max(wider, quantile) * error / (value * (1 - value))
    low, high = 1 / (1 + math.exp(min(half - logit, 700.0))), 1 / (1 + math.exp(min(-half - logit, 700.0)))
    return (low, high) if events >= _FEW_EVENTS else (max(low, newcombe[0]), min(high, newcombe[1]))


def newcombe_limits(area: float, positives: float, negatives: float, z: float) -> Limits:
    """Return Newcombe's interval of an AUROC (2006, method 5): all areas within z of their own standard errors."""
    from scipy.optimize import brentq

    pairs = (positives + negatives) / 2 - 1

    def excess(other: float) -> float:
        inflation = 1 + pairs * ((1 - other) / (2 - other) + other / (1 + other))  # Hanley and McNeil's correlations
        return (other - area) ** 2 - z * z * (other * (1 - other) * inflation / (positives * negatives))

    inside = min(max(area, 1e-12), 1 - 1e-12)  # at 0 and at 1 no area varies
    low, high = brentq(excess, 0.0, inside), brentq(excess, inside, 1.0)
    return min(float(low), area), max(float(high), area)


def _events_of(line: Line, moments: Moments) -> float:
    """Return the effective number of equal influences, by kurtosis: (sum of squares)^2 / sum of fourth powers."""
    right, wrong = moments.weight2 - moments.weight2_cost, moments.weight2_cost
    squares = np.square(line.intercept - _mean(line, moments))
    squares_of_wrong = np.square(line.intercept + line.slope - _mean(line, moments))
    fourth = dot(np.square(moments.weight2 / moments.weight), right * squares**2 + wrong * squares_of_wrong**2)
    return max((dot(right, squares) + dot(wrong, squares_of_wrong)) ** 2 / fourth, 1.0) if fourth > 0 else 1.0


class _Cells(NamedTuple):
    """Cells of neighbouring tie groups (K,), and what they imply for the groups (G,)."""

    starts: Ints  # (K,), first group of each cell
    wrong: Floats  # (K,), effective number of incorrect answers
    right: Floats  # (K,), effective number of correct answers
    low: Floats  # (K,), limits of the share of incorrect ones
    high: Floats
    factor: Floats  # (K,), square of what that share counts in the mean cost
    rare: Floats  # (G,), weight by the number of incorrect or correct answers, whichever is smaller
    rate: Floats  # (G,), smoothed mean cost
    scale: float


def _cells(data: _Data, scale: float) -> _Cells:
    """Cut the samples into cells, few where incorrect or correct answers are few; `scale` divides all counts."""
    moments, total = data.moments, float(data.moments.weight.sum())
    starts = _cut(moments.weight, min(max(data.rarer / scale / _PER_CELL, _LEAST_CELLS), _CELLS))
    _, weight, cost, weight2, _, square, _ = moments.merged(starts)
    event = np.ones(len(starts))
    if not data.is_binary:
        mean, everywhere = cost / weight, _event_size(moments, data, scale)
        own = np.divide(square / weight2, mean, out=np.zeros(len(mean)), where=mean > 0)
        event = np.maximum(np.maximum(own, everywhere), mean)
    rate, size = cost / weight / event, np.square(weight) / weight2 / scale
    wrong, right = rate * size, (1 - rate) * size
    low, high = jeffreys_limits(wrong, right, data.quantile(), prior=0.0)
    factor, sizes = np.square(weight / total * event), np.diff(starts, append=len(moments.weight))

    def of_groups(values: Floats) -> Floats:
        return np.repeat(values, sizes)

    of_wrong = moments.weight2_cost2 / of_groups(np.square(event))
    of_right = np.maximum(moments.weight2 - of_wrong, 0.0)
    rare = of_groups(np.square(1 - rate)) * of_wrong + of_groups(np.square(rate)) * of_right
    rare += of_groups(_BELIEF / (size * scale)) * moments.weight2
    fine = _cut(moments.weight, _CELLS)
    _, weight, cost, weight2, *_ = moments.merged(fine)
    held = np.square(weight) / weight2 / scale
    seen, share = (np.repeat(values, np.diff(fine, append=len(moments.weight))) for values in (cost / weight, held))
    smooth = (seen * share + of_groups((wrong + 0.5) / (wrong + right + 1) * event)) / (share + 1)
    return _Cells(starts, wrong, right, low, high, factor, rare, smooth, scale)


def _cut(weight: Floats, count: float) -> Ints:
    """Return where cells of about equal weight start; tie groups of 1/12 of the weight are cells of their own."""
    if len(weight) <= _CELLS:
        return np.arange(len(weight))
    until, total = np.cumsum(weight), float(weight.sum())
    # Rounded, so that the unit of the weights does not decide where a cell ends.
    place = np.floor(np.round((until - weight / 2) / total * int(count), 9))
    large = weight >= total / _CELLS * (1 - _ROUNDING)
    is_new = (place[1:] != place[:-1]) | large[1:] | large[:-1]
    return np.flatnonzero(np.append(True, is_new))


def _event_size(moments: Moments, data: _Data, scale: float) -> float:
    """Return the size of events that have the mean and mean square of the costs, a few samples of the largest added."""
    total, largest = float(moments.weight.sum()), data.assumed_largest_cost
    added = _DEAREST * largest * scale / moments.effective_count
    squares = float(moments.weight2_cost2.sum()) / float(moments.weight2.sum())
    return (squares + added * largest) / (float(moments.cost.sum()) / total + added)


def _limits_by_cells(key: Key, line: Line, data: _Data, cells: _Cells) -> tuple[float, float, _Unseen | None]:
    """Return the limits of a number that is linear in the costs, and the rare answers they mostly depend on, if any."""
    value, moments, z = float(data.values[key]), data.moments, data.quantile()
    if key.entry is EXPECTED_COST:
        return *_limits_of_expected_cost(key, line.slope > 0, data, cells.scale), None
    if key.entry.value is not None:
        smooth = TieGroups(moments.weight, moments.weight * cells.rate, moments.uncertainty)
        line = line_of_value(key.entry, _at(key, data, smooth))
    total, squares = float(moments.weight.sum()), cells.rare * np.square(line.slope)
    rising = np.add.reduceat(np.where(line.slope > 0, squares, 0.0), cells.starts)
    size = np.add.reduceat(cells.rare, cells.starts)
    rising, falling = (
        rising / size * cells.factor,
        (np.add.reduceat(squares, cells.starts) - rising) / size * cells.factor,
    )
    rate = cells.wrong / (cells.wrong + cells.right)
    lower, higher = np.square(rate - cells.low), np.square(cells.high - rate)
    less, more = rising * lower + falling * higher, rising * higher + falling * lower
    all_less, all_more = _without_rare(line.slope, data, cells.scale)
    rest = line.intercept + cells.rate * line.slope
    rest = rest - dot(moments.weight, rest) / total
    grown = cells.scale * moments.num_samples / (moments.num_samples - 1)
    # The confidences, with Hall's correction for skewness, and the cells are independent parts: Zou and Donner 2008.
    half = z * math.sqrt(dot(moments.weight2, np.square(rest)) * grown) / total
    third = dot(np.square(moments.weight2) / moments.weight, rest * np.square(rest)) / total**3 * cells.scale**2
    skew = (2 * z**2 + 1) / 6 * third / (half / z) ** 2 if half > 0 else 0.0
    skew = min(max(skew, -_MOST_SKEW * half), _MOST_SKEW * half)
    centre = value - bias_of(key, _at(key, data, moments.ties), value, moments.effective_count)
    below = math.sqrt(max(less.sum(), all_less) + (half + max(-skew, 0.0)) ** 2)
    above = math.sqrt(max(more.sum(), all_more) + (half + max(skew, 0.0)) ** 2)
    low, high = centre - below, centre + above
    parts = np.maximum(less / ((centre - low) ** 2 or 1.0), more / ((high - centre) ** 2 or 1.0))
    return low, high, _unseen(parts, np.abs(line.slope), data, cells)


def _without_rare(slope: Floats, data: _Data, scale: float) -> tuple[float, float]:
    """Return the squared distance to each limit if all rare answers are taken as one cell; 0 if they are not few."""
    moments, total, ends = data.moments, float(data.moments.weight.sum()), [0.0, 0.0]
    are_right = data.is_binary and moments.right < moments.wrong
    amount, square = moments.cost, moments.weight2_cost2
    if are_right:
        amount, square = moments.weight - amount, moments.weight2 - 2 * moments.weight2_cost + square
    share = data.rarer / moments.effective_count
    for end, sign in ((0, 1), (1, -1)):
        held = np.maximum(-sign * slope if are_right else sign * slope, 0.0)
        most, variance = dot(amount, held) / total, dot(square, np.square(held)) * scale / total**2
        count = most**2 / variance if variance > 0 else math.inf
        if count < _FEW:
            rest = count * max(1 / share - 1, _ROUNDING)
            low, _ = jeffreys_limits(np.array([count]), np.array([rest]), data.quantile(), prior=0.0)
            ends[end] = (most * (1 - float(low[0]) * (count + rest) / count)) ** 2
    return ends[0], ends[1]


def _limits_of_expected_cost(key: Key, accepts: Bools, data: _Data, scale: float) -> Limits:
    """Return limits from those of two shares of samples: accepted and incorrect, and accepted and correct."""
    value, moments, gamma = float(data.values[key]), data.moments, key.parameter or 0.0
    total, count = float(moments.weight.sum()), moments.effective_count / scale
    accepted, cost = float(moments.weight[accepts].sum()) / total, float(moments.cost[accepts].sum()) / total
    if data.is_binary:
        shares, sizes = np.array([cost, accepted - cost]), np.array([1 - gamma, gamma])
        odds = shares / np.maximum(1 - shares, _ROUNDING)
        together = math.sqrt(min(max(float(odds.prod()), 0.0), 1.0))  # minus the correlation of two shares of one whole
    else:
        event = max(_event_size(_accepted(accepts, moments), data, scale), cost)
        shares, sizes, together = np.array([cost / event, accepted]), np.array([event, gamma]), 0.0
    low, high = np.array([share_limits(float(share), count, data.quantile()) for share in shares]).T
    (wrong_below, right_below), (wrong_above, right_above) = sizes * (shares - low), sizes * (high - shares)
    low_half = wrong_below**2 + right_above**2 + 2 * together * wrong_below * right_above
    high_half = wrong_above**2 + right_below**2 + 2 * together * wrong_above * right_below
    return value - math.sqrt(low_half), value + math.sqrt(high_half)


def _at_other_rates(key: Key, data: _Data, rate: Floats, count: float) -> list[float]:
    """Return a normalised number at both limits of the error rate, as logits of the groups' rates (G,) move alike.

    Where all confidences are equal to the error rate its influences are 0, and only the second order remains.
    """
    moments, line = data.moments, _mean_line(key, data.moments.uncertainty, data)
    total, found = float(moments.weight.sum()), []
    mean, wrong = _mean(line, moments), float(moments.cost.sum()) / total
    share = moments.weight * rate * (1 - rate)
    slope = dot(share, line.slope) / float(share.sum())
    one_each = right_and_wrong(data.form.max_uncertainty)
    for limit in share_limits(wrong, count, data.quantile()):
        naive = _naive_value(key, one_each, np.array([1 - limit, limit]), data.options)
        found.append((mean + (limit - wrong) * slope) / (naive or math.nan))
    return found


def _excess(data: _Data, count: float, scale: float) -> float:
    """Return by which factor the rare answers, if they are few, may be more than usual; infinite if any may be."""
    few = data.rarer / scale
    if not 0 < few < _FEW:
        return 1.0
    low, _ = jeffreys_limits(np.array([few]), np.array([count / scale - few]), data.quantile(), prior=0.0)
    return few * scale / float(low[0] * count) if low[0] > 0 else math.inf


def _range_of(key: Key, data: _Data) -> Limits:
    """Return the smallest and largest possible value of a number that is linear in the costs."""
    largest = data.largest_cost
    if key.variant == "normalized":
        return 0.0, math.inf
    metric = key.entry
    if metric.range is not None:
        return metric.range if isinstance(metric.range, tuple) else metric.range(_at(key, data, data.moments.ties))
    if metric.ratio is not None:
        return 0.0, largest
    if metric.value is not None:
        return -math.inf, math.inf
    line = _mean_line(key, np.array([0.0, data.form.max_uncertainty]), data)
    dearest = np.array([slope and slope * largest for slope in line.slope.tolist()])  # not 0 times infinity
    least, most = line.intercept + np.minimum(dearest, 0.0), line.intercept + np.maximum(dearest, 0.0)
    return float(least.min()), float(most.max())


def _within(bounds: Limits, value: float, low: float, high: float, *, count: float) -> Limits:
    """Clip limits to a range; if they coincide, allow for unseen samples of any cost."""
    least, most = bounds
    if high - low <= _ROUNDING * abs(value) and math.isfinite(most):
        _, share = wilson_limits(0.0, count, student_quantile(0.975, math.inf))
        low, high = value - share * (value - least), value + share * (most - value)
    value = min(value, most)  # which rounding may pass
    return min(max(low, least), value), max(min(high, most), value)


_Unseen = tuple[tuple[str, int, str], float]  # which answers were not seen, and the largest cost of one


def _unseen(parts: Floats, size: Floats, data: _Data, cells: _Cells) -> _Unseen | None:
    """Return what was not seen, incorrect or correct answers, if most of one side of an interval rests on that."""
    wrong, right, moments, rows = cells.wrong, cells.right, data.moments, slice(None)
    is_none = np.minimum(wrong, right) <= _ROUNDING
    k = int(np.where(is_none, parts, -1.0).argmax())
    if min(wrong.sum(), right.sum()) > _ROUNDING:
        rows = slice(cells.starts[k], [*cells.starts[1:], len(moments.weight)][k])
        if not (is_none[k] and parts[k] > _UNSEEN):
            return None
    ends = moments.uncertainty[rows][[0, -1]].tolist()
    first, last = [1 - u for u in ends[::-1]] if data.is_binary else ends
    answers = float(moments.weight[rows].sum() ** 2 / moments.weight2[rows].sum())
    kind = "mistake" if wrong[k] <= right[k] else "right answer"
    name = "confidence" if data.is_binary else "uncertainty"
    where = f"{name} {first:.3g}" if first == last else f"{name} {first:.3g} to {last:.3g}"
    return (kind, round(answers), where), float(size[rows].max())


def _notes_unseen(unseen: Mapping[Key, _Unseen]) -> tuple[Note, ...]:
    """Return one note per cell of answers that were not seen, with the intervals that depend on it."""
    sizes_by_cell = dict[tuple[str, int, str], dict[Key, float]]()
    for key, (cell, size) in unseen.items():
        sizes_by_cell.setdefault(cell, {})[key] = size
    notes = []
    for (kind, count, where), sizes in sizes_by_cell.items():
        largest, keys = max(sizes.values()), list(sizes)
        fields = {"kind": kind, "count": count, "where": where, "largest": largest, "metrics": keys}
        notes.append(Note("unseen", fields))
    return tuple(notes)


def _notes(data: _Data, limits: Mapping[Key, Limits]) -> tuple[Note, ...]:
    """Return why numbers have no interval, and what those of recalibrated values leave out."""
    bare = [key for key, (low, _) in limits.items() if math.isnan(low) and math.isfinite(float(data.values[key]))]
    few = [key for key in bare if not key.is_biased]
    fitted = [key for key in limits if key.variant == "recalibrated" and key not in bare]
    notes = note_biased([key for key in bare if key.is_biased]) + _note_on("too_few_answers", few)
    if math.isinf(data.largest_cost):
        keys = [key for key in limits if key not in bare and not key.is_plain_share]
        notes += _note_on("assumed", keys, largest=data.assumed_largest_cost)
    return notes + _note_on("recalibration_taken_as_given", fitted)


def note_biased(keys: Sequence[Key]) -> tuple[Note, ...]:
    """Return a note that names the numbers without interval because they are biased."""
    return _note_on("biased", keys)


def _note_on(identifier: str, keys: Sequence[Key], **fields: object) -> tuple[Note, ...]:
    return (Note(identifier, {**fields, "metrics": list(keys)}),) if keys else ()


def _note_few_groups(design: Design) -> tuple[Note, ...]:
    if design.unit is None or design.freedom + 1 >= _FEW_GROUPS:
        return ()
    return (Note("few_groups", {"count": design.freedom + 1, "needed": _FEW_GROUPS}),)
