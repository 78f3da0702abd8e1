"""The state of some rows: merged in any order to the very same numbers, and all that their metrics are read from."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from .. import inputs
from ..calibration import confidence_bins
from ..costs import above
from ..decisions import Decisions, select_rows
from ..errors import InputError
from ..inputs import SUM_NOTE, Array, Floats, Ints, require, same_length
from ..metrics import keys_of, sample_costs
from ..options import Options, require_counts
from ..ranking import run_starts
from ..results import System, prepare
from .exact_sum import DIGITS, carry, digits_of_groups, total, totals
from .settings import Settings, parse_settings, require_same_settings, resolution_of, settings_text
from .sketch import PLAIN_LIMIT, WEIGHTED_LIMIT, Sketch, join, sort_keys

PART = 2**20  # rows that are summed at a time
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-6, 1e6
LARGEST_COST = 2.0**20  # of a candidate, in units of the largest uncertainty
MOST_ROWS = 2.0**53
COLUMNS = 5  # sums in a bin of rows with weights or costs, see `Sketch`


class State(NamedTuple):
    """What is known of some rows of one system. All of it adds up, and nothing of it depends on their order.

    `sums` has ``rows`` and ``rows of weight 0``; what was repaired (``missing``, ``clipped``, ..); in units of 2^-bits
    each mean cost under its key, the weights under ``1``, and under ``key*key`` the squares of own losses (see
    `Metric.is_own_loss`); and those of ``bin k`` and ``class k``. What is missing is 0.
    """

    settings: str
    sums: Mapping[str, int]
    sketch: Sketch
    largest_cost: float

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.sums.get("rows", 0)

    @property
    def samples(self) -> int:
        """The number of rows that have a weight."""
        return self.rows - self.sums.get("rows of weight 0", 0)


def state_of(
    form: str,
    predictions: object,
    references: object,
    options: Options,
    *,
    sample_weight: object = None,
    level: int = 0,
) -> State:
    """Return the state of some rows.

    `form` and arrays are those of `evaluate`: confidences (N,) and 0 or 1; posteriors (N, K) and classes; or
    uncertainties (N,) and candidate costs. Options come from `options.checked_options`, with `decisions` of these rows,
    and without weights, groups and strata. Weights (N,) are 0, or in [1e-6, 1e6]; states that are to merge have all
    weights, or none. `level` is that of the sketch of a state which this one will be merged with: finer bins would be
    lost, and take longer. InputError as by `evaluate`.
    """
    positive = options.predictions_are == "positive_probabilities"
    predictions, references = inputs.FORM_CHECKS["confidences" if positive else form](predictions, references)
    weight = None if sample_weight is None else _checked_weights(sample_weight, references, options)
    settings_text(form, options, is_weighted=weight is not None)  # before any work
    found: State | None = None
    for start in range(0, len(references), PART):
        rows = slice(start, start + PART)
        of_rows = options if options.decisions is None else options.replace(decisions=options.decisions[rows])
        part_weight = None if weight is None else weight[rows]
        level = level if found is None else found.sketch.level
        try:
            system = prepare(form, predictions[rows], references[rows], of_rows)
            state = _state_of_system(form, system, predictions[rows], part_weight, level)
        except InputError as error:
            raise _shift(error, start) from None
        found = state if found is None else merge([found, state])
    assert found is not None  # checked rows are not empty
    return found


def empty_state(form: str, options: Options, *, is_weighted: bool) -> State:
    """Return the state of no rows; of posteriors the options have K."""
    text = settings_text(form, options, is_weighted=is_weighted)
    return State(text, {}, _empty_sketch(parse_settings(text)), 0.0)


def merge(states: Iterable[State]) -> State:
    """Return the state of all rows of one or more states with the same settings: associative, to the last bit."""
    states = list(states)
    if not states:
        raise InputError("states", "empty")
    for state in states:
        require_same_settings(states[0].settings, state.settings)
    sums: defaultdict[str, int] = defaultdict(int)
    for name, value in itertools.chain.from_iterable(state.sums.items() for state in states):
        sums[name] += value
    settings = parse_settings(states[0].settings)
    sketch = _join([state.sketch for state in states], settings)
    return State(states[0].settings, dict(sums), sketch, max(state.largest_cost for state in states))


def state_of_counts(confidence: object, count: object, wrong: object, options: Options) -> State:
    """Return the state of rows that were counted: ``SELECT confidence, COUNT(*), SUM(wrong) FROM logs GROUP BY 1``."""
    q = inputs.one_dimensional(np.asarray(confidence, np.float64), "predictions")
    rows, incorrect = _whole(count, "count"), _whole(wrong, "wrong")
    same_length(predictions=q, count=rows)
    same_length(count=rows, wrong=incorrect)
    require(incorrect <= rows, incorrect, "wrong", "more_wrong_than_rows")
    both, correct = np.concatenate([q, q]), np.repeat([1, 0], len(q))
    copies = np.concatenate([rows - incorrect, incorrect])
    parts = []
    for power in range(int(copies.max()).bit_length()):
        some = (copies >> power) & 1 > 0
        if some.any():  # a number of copies is a sum of powers of 2
            parts.append(repeated(state_of("confidences", both[some], correct[some], options), power))
    return merge(parts)


def repeated(state: State, power: int) -> State:
    """Return the state of the same rows 2^power times over, as by merging it with itself that often."""
    level, low, high, rows, sums = state.sketch
    for bits in (min(power, 30), max(power - 30, 0)):
        rows, sums = rows << bits, sums << bits
        if len(sums) > 1:
            sums = carry(sums.reshape(-1, DIGITS, len(low))).reshape(sums.shape)
    sketch = Sketch(level, low, high, rows, sums)
    return state._replace(sums={name: value << power for name, value in state.sums.items()}, sketch=sketch)


def cost_unit(max_uncertainty: float) -> float:
    """Return the power of 2 that costs in bins are divided by."""
    return float(2.0 ** np.floor(np.log2(max_uncertainty)))


def _state_of_system(form: str, system: System, predictions: Array, weight: Floats | None, level: int) -> State:
    decisions = system.decisions
    form = "posteriors" if decisions.labels is not None else form
    text = settings_text(form, system.options, is_weighted=weight is not None)
    settings, cost = parse_settings(text), decisions.candidate_cost
    is_small = cost < LARGEST_COST * decisions.max_uncertainty
    require(is_small, cost, "references", "cost_too_large", most=LARGEST_COST)
    sums = {"rows": len(predictions), **_repairs(settings, predictions, decisions)}
    if weight is not None and not weight.all():
        some = np.flatnonzero(weight)
        sums["rows of weight 0"] = len(weight) - len(some)
        decisions, weight = select_rows(decisions, some), weight[some]
    sums |= _sums_of_costs(settings, decisions, weight)
    sums |= _sums_of_bins(settings, decisions, weight)
    if decisions.labels is not None:
        sums |= _sums_in_groups("class", decisions.labels, {}, settings, weight)
    sums = {name: value for name, value in sums.items() if value}
    fine = _plain_sketch(system) if settings.is_plain else _weighted_sketch(settings, decisions, weight)
    sketch = _join([fine], settings, level)
    return State(text, sums, sketch, float(decisions.candidate_cost.max(initial=0.0)))


def _repairs(settings: Settings, predictions: Array, decisions: Decisions) -> dict[str, int]:
    """Count the rows that a note of `results.prepare` speaks of."""
    found = {"above_max_uncertainty": above(decisions.uncertainty, decisions.max_uncertainty)}
    form, options, *_ = settings
    if form == "confidences":
        found["missing"] = np.isnan(predictions)
    if form != "costs" and options.predictions_are not in ("log_probabilities", "logits"):
        found["clipped"] = (predictions < 0) | (predictions > 1)
    if form == "posteriors" and options.predictions_are == "probabilities":
        off = np.abs(np.clip(predictions, 0, 1).sum(axis=1, dtype=np.float64) - 1)
        rounded = (off > inputs.ROW_SUM_TOLERANCE) & (off <= inputs.ROUNDED_SUM_TOLERANCE)
        found |= {"rounded": rounded} if options.renormalize else {}
        found["renormalized"] = (off > SUM_NOTE) & ~rounded
    return {name: int(np.count_nonzero(rows)) for name, rows in found.items()}


def _sums_of_costs(settings: Settings, decisions: Decisions, weight: Floats | None) -> dict[str, int]:
    """Sum w x for every cost x, the weights w under ``1``, and w^2 x and w^2 x^2 of own losses."""
    bits = settings.bits
    sums = {} if weight is None else {"1": total(weight, bits=bits)}
    keys = keys_of(decisions, settings.options, when=("", "ratio"))
    for key, cost in sample_costs(decisions, settings.options, keys=keys):
        name, weighted = str(key), cost if weight is None else weight * cost
        sums[name] = total(weighted, bits=bits)
        if key.entry.is_own_loss:
            sums[f"{name}*{name}"] = total(weighted * weighted, bits=bits)
            sums |= {} if weight is None else {f"1*{name}": total(weight * weighted, bits=bits)}
    return sums


def _sums_of_bins(settings: Settings, decisions: Decisions, weight: Floats | None) -> dict[str, int]:
    """Sum rows, weights, confidences and correct answers in the bins of ECE."""
    if decisions.confidence is None:
        return {}
    columns = {"confidence": decisions.confidence, "correct": 1 - decisions.candidate_cost}
    if weight is not None:
        columns = {name: weight * column for name, column in columns.items()}
    bins = confidence_bins(decisions.confidence, n_bins=settings.options.n_bins)
    return _sums_in_groups("bin", bins, columns, settings, weight)


def _sums_in_groups(
    kind: str, groups: Ints, columns: Mapping[str, Floats], settings: Settings, weight: Floats | None
) -> dict[str, int]:
    sums = {name: totals(values, groups, bits=settings.bits) for name, values in columns.items()}
    if weight is not None:
        sums["weight"] = totals(weight, groups, bits=settings.bits)
    sums["rows"] = np.bincount(groups).tolist()
    return {f"{kind} {k} {name}": value for name, values in sums.items() for k, value in enumerate(values)}


def _plain_sketch(system: System) -> Sketch:
    """Return the tie groups of rows that count one and are right or wrong."""
    ties = system.ties
    keys = sort_keys(ties.rank, mirrored=system.decisions.labels is None)
    return Sketch(0, keys, keys, ties.weight.astype(np.int64), ties.cost.astype(np.int64)[None, :])


def _weighted_sketch(settings: Settings, decisions: Decisions, weight: Floats | None) -> Sketch:
    """Return the tie groups of rows with weights or costs, none of weight 0."""
    if not len(decisions.uncertainty):
        return _empty_sketch(settings)
    keys = sort_keys(decisions.rank_by, mirrored=settings.is_mirrored)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = run_starts(keys)
    c = decisions.candidate_cost[order] / cost_unit(decisions.max_uncertainty)
    w = np.ones(len(c)) if weight is None else weight[order]
    terms = (w, w * c, w * w, w * w * c, (w * c) ** 2)
    sums = np.stack([digits_of_groups(values, starts) for values in terms]).reshape(COLUMNS * DIGITS, -1)
    keys = keys[starts]
    return Sketch(0, keys, keys, np.diff(np.append(starts, len(order))), sums)


def _join(sketches: list[Sketch], settings: Settings, level: int = 0) -> Sketch:
    return join(sketches, PLAIN_LIMIT if settings.is_plain else WEIGHTED_LIMIT, resolution_of(settings), level=level)


def _empty_sketch(settings: Settings) -> Sketch:
    none = np.empty(0, np.int64)
    return Sketch(0, none, none, none, np.empty((1 if settings.is_plain else COLUMNS * DIGITS, 0), np.int64))


def _shift(error: InputError, start: int) -> InputError:
    """Return an error with the index among all rows, not those of the part."""
    if isinstance(error.index, int):
        error.index += start
    elif error.index is not None:
        error.index = (error.index[0] + start, *error.index[1:])
    return error


def _checked_weights(sample_weight: object, references: Array, options: Options) -> Floats:
    weight = inputs.one_dimensional(inputs.finite(sample_weight, "sample_weight"), "sample_weight")
    same_length(predictions=references, sample_weight=weight)
    ok = (weight == 0) | ((weight >= SMALLEST_WEIGHT) & (weight <= LARGEST_WEIGHT))
    limits = {"low": SMALLEST_WEIGHT, "high": LARGEST_WEIGHT}
    require(ok, weight, "sample_weight", "weight_out_of_range", "divide_by_mean", **limits)
    if options.weights_are == "counts":
        require_counts(weight)
    return weight


def _whole(values: object, name: str) -> Array:
    array = inputs.one_dimensional(inputs.finite(values, name), name)
    require((array == np.floor(array)) & (array >= 0) & (array < MOST_ROWS), array, name, "not_whole_and_non_negative")
    return array.astype(np.int64)
