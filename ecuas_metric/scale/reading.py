"""The metrics of a state: exact, or with the bounds between which they lie, with standard errors and intervals."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from ..basis import Basis, Digest, basis_of_options
from ..calibration import ECE
from ..decisions import Decisions, one_of_each_class, right_and_wrong
from ..errors import InputError, Note
from ..expected_costs import ERROR_RATE
from ..files.submissions import MEANING
from ..inference import Groups
from ..inputs import RANGE_TOLERANCE, FloatOrFloats, Floats, Limits
from ..intervals import Answers, limits_of_answers
from ..metric import Data, Key, at_parameter
from ..metrics import decomposed_values, keys_of, naive_values, normalized_values, ratio_keys, recalibrated_values
from ..options import Options, checked_options
from ..ranking import TieGroups
from ..results import System, note_undefined
from .exact_sum import DIGITS, floats_of_digits
from .settings import empty_decisions, parse_settings
from .sketch import ranks_of
from .state import COLUMNS, State, cost_unit

_UNLABELLED = {"wrong": "unlabelled_without_bounds", "drop": MEANING["drop"]}
_COUNTED = {  # what a state counts -> the note on it
    "missing": "missing",
    "clipped": "clipped_rows",
    "rounded": "rounded_rows",
    "renormalized": "renormalized_rows",
    "above_max_uncertainty": "rows_above_max_uncertainty",
}


class BoundedEstimate(NamedTuple):
    """A number, its bounds where the state does not tell it exactly, and the limits of its interval.

    The limits include the bounds. They and the standard error are nan where there are none; without a confidence level
    limits are None.
    """

    value: float
    lower_bound: float | None = None
    upper_bound: float | None = None
    standard_error: float = math.nan
    low: float | None = None
    high: float | None = None


class StateResults(NamedTuple):
    """All numbers of a state, the number of its rows, and what a reader must know of them."""

    estimates: dict[Key, BoundedEstimate]
    rows: int
    notes: tuple[Note, ...]

    def flat(self) -> dict[str, float]:
        """Return plain floats: ``key``, and what else there is as ``key_lower_bound``, ``key_standard_error``, .."""
        found: dict[str, float] = {}
        for key, estimate in self.estimates.items():
            for field, value in estimate._asdict().items():
                if value is not None and (field == "value" or not math.isnan(value)):
                    found[str(key) if field == "value" else f"{key}_{field}"] = value
        return found


def read(
    state: State,
    *,
    normalize: bool = False,
    decompose: bool = False,
    confidence_level: float | None = None,
    with_errors: bool = True,
    named: Sequence[Key] = (),
) -> StateResults:
    """Return every metric of the rows of a state, in the order of the registry, then those shown only when `named`.

    `normalize` and `decompose` are those of `evaluate`; with a confidence level there are analytic intervals. Standard
    errors, which take most of the time, can be left out. InputError if there are no rows, or all have weight 0.

    Examples
    --------
    >>> from ecuas_metric.options import checked_options
    >>> from ecuas_metric.scale.state import state_of
    >>> results = read(state_of("confidences", [0.9, 0.8, 0.4], [1, 0, 1], checked_options(n=1)))
    >>> round(results.flat()["ecuas_1"], 4), round(results.flat()["ecuas_1_standard_error"], 4)
    (0.67, 0.4954)
    """
    if not state.samples:
        raise InputError("a state", "no_judged_rows", got=f"{state.rows} rows")
    level = checked_options(confidence_level=confidence_level).confidence_level
    settings = parse_settings(state.settings)
    values = _values(state, named, normalize=normalize, decompose=decompose)
    bounds, form = order_bounds(state, named) | _recalibrated_bounds(state, values), empty_decisions(settings)
    limits, errors, notes = dict[Key, Limits](), dict.fromkeys(values, math.nan), _notes(state, values, bounds)
    if with_errors or level is not None:
        options = settings.options.replace(confidence_level=level)
        answers = Answers(_groups(state), form, options, partial(_own_groups, state))
        found = limits_of_answers(answers, values)
        limits, errors, notes = found.limits, errors | found.standard_errors, notes + found.notes
    estimates = dict[Key, BoundedEstimate]()
    for key, value in values.items():
        (least, most), (low, high) = bounds.get(key) or (None, None), limits.get(key) or (None, None)
        if key in bounds and key in limits:
            low, high = _widen(limits[key], value, bounds[key], _range_of(key, form, settings.options))
        estimates[key] = BoundedEstimate(value, least, most, errors[key], low, high)
    return StateResults(estimates, state.rows, notes)


def _groups(state: State) -> Groups:
    """Return what the core computes standard errors and intervals from."""
    settings, sketch = parse_settings(state.settings), state.sketch
    low, high = (ranks_of(edge, mirrored=settings.is_mirrored) for edge in (sketch.low, sketch.high))
    middle = empty_decisions(settings).uncertainty_at(low + (high - low) / 2)  # that of all rows of an exact bin
    unit = _unit(state)
    w, wc, w2, w2c, w2c2 = _bin_sums(state) * np.array([unit, unit, unit**2, unit**2, unit**2])[:, None]
    return Groups(middle, w, wc, w2, w2c, w2c2)


def _unit(state: State) -> float:
    """Return what brings weights to the unit that `options.checked_options` brings them to."""
    settings = parse_settings(state.settings)
    if not settings.is_weighted or settings.options.weights_are != "importance":
        return 1.0
    weight, _, squared, *_ = _bin_sums(state)
    return float(weight.sum() / squared.sum())


def ties_of(state: State) -> TieGroups:
    """Return the bins as tie groups, their weights in the unit that `options.checked_options` brings them to."""
    settings = parse_settings(state.settings)
    weight, cost, *_ = _bin_sums(state)
    unit = _unit(state)
    return TieGroups(weight * unit, cost * unit, ranks_of(state.sketch.low, mirrored=settings.is_mirrored))


def order_bounds(state: State, named: Sequence[Key] = ()) -> dict[Key, Limits]:
    """Return the lowest and the highest value of each metric of the order; nothing where the sketch is exact."""
    if state.sketch.is_exact:
        return {}
    one, other = [_of_ties(state, ties, named) for ties in _extreme_orders(state)]
    keys = [key for key in one if key.entry.has_order_bounds]
    return {key: (min(one[key], other[key]), max(one[key], other[key])) for key in keys}


def _range_of(key: Key, form: Decisions, options: Options) -> float | None:
    """Return the largest value that a number can have, if there is one."""
    top = key.entry.range
    if callable(top):
        top = top(Data(form, options))
    return None if top is None or math.isinf(top[1]) else top[1]


def basis_of_state(state: State, confidence_level: float | None = None) -> Basis:
    """Return all that the numbers of a state depend on."""
    settings = parse_settings(state.settings)
    options = settings.options.replace(confidence_level=confidence_level, interval_method="analytic")
    return replace(
        basis_of_options(options, num_classes=options.num_classes),
        form=settings.form,
        num_samples=state.rows,
        max_uncertainty=empty_decisions(settings).max_uncertainty,
        weights=Digest("column") if settings.is_weighted else None,
        resolution=f"{len(state.sketch.low)} bins",
    )


def system_of(state: State) -> System:
    """Return a system with two weighted samples per bin, which has the curves of the rows: see `plotting.curves`."""
    settings = parse_settings(state.settings)
    if not settings.is_plain:
        raise InputError("curves", "curves_of_state")
    none, ties = empty_decisions(settings), ties_of(state)
    uncertainty = np.repeat(none.uncertainty_at(ties.rank), 2)
    confidence = np.repeat(-ties.rank, 2) if settings.is_mirrored else 1 - uncertainty
    labels = None if settings.is_mirrored else np.zeros(len(uncertainty), np.int64)  # then u orders the rows
    candidate_cost = np.tile([0.0, 1.0], len(ties.rank))
    weight = np.stack([ties.weight - ties.cost, ties.cost], axis=1).ravel()
    decisions = Decisions(uncertainty, candidate_cost, none.max_uncertainty, confidence=confidence, labels=labels)
    options = settings.options.replace(sample_weight=weight, weights_are="counts", missing_confidence=None)
    return System(decisions, options, ties)


def _values(state: State, named: Sequence[Key], *, normalize: bool, decompose: bool) -> dict[Key, float]:
    """Return all values, in the order of the registry; the weights of a state are those of its tie groups."""
    settings, ties = parse_settings(state.settings), ties_of(state)
    none, values = empty_decisions(settings), dict[Key, FloatOrFloats](_of_ties(state, ties, named))
    keys = [*keys_of(none, settings.options), *named]
    for key in keys:
        metric = key.entry
        if metric is ECE:
            values[key] = _ece(state)
        elif metric.value is None:
            parts = [str(part) for part in ratio_keys(key)] if metric.ratio else [str(key), "1"]
            top, bottom = (_sum(state, part) for part in parts)
            values[key] = float(top / bottom) if bottom else math.nan
    values = {key: values[key] for key in keys if key in values}
    if normalize:
        values |= normalized_values(values, _naive_values(state))
    if decompose:
        values |= decomposed_values(values, ties, none, settings.options)
    return {key: float(value) for key, value in values.items()}


def _of_ties(state: State, ties: TieGroups, named: Sequence[Key]) -> dict[Key, float]:
    """Return the metrics that are functions of tie groups."""
    settings = parse_settings(state.settings)
    form = empty_decisions(settings)
    data = Data(form, settings.options, grouped=ties)
    keys = [*keys_of(form, settings.options), *named]
    found = {key: key.entry.value for key in keys if key.entry.is_of_groups}
    return {key: float(value(at_parameter(data, key))) for key, value in found.items() if value is not None}


def _sum(state: State, name: str) -> Fraction:
    """Return the sum of w x over the rows or a group of them, x the cost of a key; that of w is ``1`` or ``weight``."""
    settings, of_weights = parse_settings(state.settings), name == "1" or name.endswith(" weight")
    if of_weights and not settings.is_weighted:
        return Fraction(state.sums.get("rows" if name == "1" else name.replace("weight", "rows"), 0))
    return Fraction(state.sums.get(name, 0), 1 << settings.bits)


def _own_groups(state: State, key: Key) -> Groups | None:
    """Return the sums over all rows of a loss that bins do not tell, if its squares were summed."""
    if not key.entry.is_own_loss or key.variant:
        return None
    weight = _sum(state, "1")
    loss = _sum(state, str(key))
    squares = _sum(state, f"{key}*{key}")
    weight2 = weight
    crossed = loss
    if parse_settings(state.settings).is_weighted:
        weight2 = Fraction(float(_bin_sums(state)[2].sum()))
        crossed = _sum(state, f"1*{key}")
    sums = (np.array([float(total)]) for total in (weight, loss, weight2, crossed, squares))
    return Groups(np.zeros(1), *sums)


def _bin_sums(state: State) -> Floats:
    """Return the sums of w, w c, w^2, w^2 c and w^2 c^2 in each bin, shape (5, G)."""
    settings, sketch = parse_settings(state.settings), state.sketch
    if settings.is_plain:
        rows, wrong = sketch.rows.astype(np.float64), sketch.sums[0].astype(np.float64)
        return np.stack([rows, wrong, rows, wrong, wrong])
    unit = cost_unit(empty_decisions(settings).max_uncertainty)
    sums = floats_of_digits(sketch.sums.reshape(COLUMNS, DIGITS, -1))
    return np.asarray(sums * unit ** np.array([0, 1, 0, 1, 2])[:, None])


def _naive_values(state: State) -> dict[Key, FloatOrFloats]:
    """Return the values of the system that ignores its input, for `normalize`."""
    settings = parse_settings(state.settings)
    none, values = empty_decisions(settings), dict[Key, FloatOrFloats]()
    if none.confidence is not None:
        wrong, one_each = _sum(state, ERROR_RATE.name), right_and_wrong(none.max_uncertainty)
        weights = np.array([float(_sum(state, "1") - wrong), float(wrong)])
        values |= naive_values(one_each, settings.options, sample_weight=weights)
    if none.labels is not None:
        count = int(settings.options.num_classes or 0)
        one_each = one_of_each_class(count, none.max_uncertainty)
        weights = np.array([float(_sum(state, f"class {k} weight")) for k in range(count)])
        values |= naive_values(one_each, settings.options, sample_weight=weights)
    return values


def _ece(state: State) -> float:
    """Return the ECE of the exact sums of each bin: the mean of a bin may round into the next one."""
    bins = range(parse_settings(state.settings).options.n_bins)
    total, *sums = ([_sum(state, f"bin {k} {name}") for k in bins] for name in ("weight", "confidence", "correct"))
    return float(sum(abs(confidence - correct) for confidence, correct in zip(*sums, strict=True)) / sum(total))


def _recalibrated_bounds(state: State, values: Mapping[Key, float]) -> dict[Key, Limits]:
    """Return bounds of recalibrated values and calibration losses; nothing where the sketch is exact."""
    if state.sketch.is_exact or not any(key.variant == "recalibrated" for key in values):
        return {}
    settings = parse_settings(state.settings)
    best, _ = _extreme_orders(state)
    found = dict[Key, Limits]()
    # The value of the bins is the highest, since one uncertainty for all rows of a bin is among the maps.
    for key, value in recalibrated_values(best, empty_decisions(settings), settings.options).items():
        low = float(value)
        loss = key.of("calibration_loss")
        found[key] = min(low, values[key]), values[key]
        found[loss] = values[loss], max(values[key.of("")] - low, values[loss])
    return found


def _extreme_orders(state: State) -> tuple[TieGroups, TieGroups]:
    """Return tie groups with the costs of each inexact bin as late as can be, and as early: they bound each metric."""
    ties, sketch = ties_of(state), state.sketch
    is_tied = sketch.low == sketch.high
    dearest = state.largest_cost or 1.0
    heavy = np.where(is_tied, 0.0, np.minimum(ties.cost / dearest, ties.weight))
    light, light_cost = ties.weight - heavy, np.where(is_tied, ties.cost, 0.0)
    cheap, dear = (light, light_cost), (heavy, ties.cost - light_cost)
    return _interleave(cheap, dear, ties.rank), _interleave(dear, cheap, ties.rank)


def _interleave(first: tuple[Floats, Floats], then: tuple[Floats, Floats], rank: Floats) -> TieGroups:
    weight, cost = (np.stack(pair, axis=1).ravel() for pair in zip(first, then, strict=True))
    some = weight > 0
    return TieGroups(weight[some], cost[some], np.repeat(rank, 2)[some])


def _widen(limits: Limits, value: float, bounds: Limits, top: float | None) -> Limits:
    """Return limits that are as much wider as the bounds are apart, but not beyond what the number can be."""
    low, high = limits[0] - (value - bounds[0]), limits[1] + (bounds[1] - value)
    return max(low, 0.0), high if top is None else min(high, top)


def _notes(state: State, values: Mapping[Key, float], bounds: Mapping[Key, Limits]) -> tuple[Note, ...]:
    settings, rows = parse_settings(state.settings), state.rows
    constants = {"replacement": settings.options.missing_confidence, "tolerance": RANGE_TOLERANCE}
    notes = []
    for name, note in _COUNTED.items():
        if count := state.sums.get(name):
            notes.append(Note(note, {"count": count, "total": rows, **constants}))
    for rule, meaning in _UNLABELLED.items():
        if count := state.sums.get(f"unlabelled, {rule}"):
            total = rows + count if rule == "drop" else rows
            fields = {"count": count, "total": total, "share": count / total, "by_weight": ""}
            notes.append(Note("unlabelled_answers", fields, meaning))
    if settings.is_mirrored and set(-ranks_of(state.sketch.low[:3], mirrored=True) + 0.0) == {0.0, 1.0}:
        notes.append(Note("hard_decisions", {"what": "confidences"}, "use_probabilities"))
    if bounds:
        widest = max(high - low for low, high in bounds.values())
        notes.append(Note("bounded", {"bins": len(state.sketch.low), "widest": widest, "metrics": list(bounds)}))
    return (*notes, *note_undefined(values))
