"""The state of some rows: merged in any order to the very same bytes, and all that their metrics are read from."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ..baselines import confidence_bins
from ..costs import above
from ..decisions import SUM_NOTE, Decisions, select
from ..errors import InputError
from ..inputs import (
    ROUNDED_SUM_TOLERANCE,
    ROW_SUM_TOLERANCE,
    Array,
    Floats,
    Ints,
    blocks,
    confidences,
    costs,
    finite,
    one_dimensional,
    posteriors,
    require,
    same_length,
)
from ..metrics import sample_costs
from ..options import Options
from ..results import System, prepare
from .cells import PLAIN_LIMIT, VALUED_LIMIT, Cells, join, keys_of
from .settings import (
    Settings,
    bits_of,
    is_mirrored,
    is_plain,
    mean_keys,
    ratio_parts,
    require_same_settings,
    settings_of,
    settings_text,
)
from .sums import LIMBS, limbs, total, totals

PART = 2**20  # rows that are summed at a time
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-6, 1e6
LARGEST_COST = 2.0**20  # of a candidate, in units of the largest uncertainty
CHECKS: dict[str, Callable[[object, object], tuple[Array, Array]]] = {
    "confidences": confidences,
    "posteriors": posteriors,
    "costs": costs,
}


class State(NamedTuple):
    """What is known of some rows of one system. All of it adds up, and nothing of it depends on their order.

    Attributes
    ----------
    settings : str
        See `settings.settings_text`: only states with the same settings merge.
    sums : mapping of str to int
        ``rows``; what was repaired (``missing``, ``clipped``, ..); ``weight``; each mean cost under its key, in units
        of 2^-bits; ``key*key`` its square and other products; ``bin k`` and ``class k``. What is missing is 0.
    cells : Cells
        The tie groups.
    largest_cost : float
        The largest candidate cost.
    """

    settings: str
    sums: Mapping[str, int]
    cells: Cells
    largest_cost: float

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.sums["rows"]


def state_of(
    form: str, predictions: object, references: object, options: Options, *, sample_weight: object = None
) -> State:
    """Return the state of some rows.

    Parameters
    ----------
    form : {"confidences", "posteriors", "costs"}
        What the arrays are, as for `evaluate`: confidences (N,) and 0 or 1; posteriors (N, K) and classes; or
        uncertainties (N,) and candidate costs.
    predictions, references : array_like
    options : Options
        Of `options.checked_options`, without weights, groups and strata. `decisions` are those of these rows.
    sample_weight : array_like, shape (N,), optional
        0, or in [1e-6, 1e6]. Either all states that are to merge have weights, or none.

    Returns
    -------
    State

    Raises
    ------
    InputError
        As by `evaluate`: the argument, the rule, the value, its index, how many.

    Examples
    --------
    >>> from ecuas_metric.options import checked_options
    >>> one = state_of("confidences", [0.9, 0.4], [1, 0], checked_options(n=1))
    >>> two = state_of("confidences", [0.8], [0], checked_options(n=1))
    >>> merge([one, two]).rows, merge([one, two]).cells.rows.tolist()
    (3, [1, 1, 1])
    """
    positive = options.predictions_are == "positive_probabilities"
    predictions, references = CHECKS["confidences" if positive else form](predictions, references)
    weight = None if sample_weight is None else _checked_weights(sample_weight, references)
    settings_text(form, options, is_weighted=weight is not None)  # before any work
    starts = range(0, len(references), PART)
    return merge(
        _state_of_part(
            form, predictions[rows], references[rows], _select(options, rows), None if weight is None else weight[rows]
        )
        for rows in (slice(start, start + PART) for start in starts)
    )


def merge(states: Iterable[State]) -> State:
    """Return the state of all rows of some states: associative and commutative, to the byte.

    Parameters
    ----------
    states : iterable of State
        At least one, all with the same settings.

    Returns
    -------
    State

    Raises
    ------
    InputError
        If there is none, or if their settings differ.
    """
    states = list(states)
    if not states:
        raise InputError("states", "must not be empty")
    for state in states:
        require_same_settings(states[0].settings, state.settings)
    sums: dict[str, int] = {}
    for name, value in itertools.chain.from_iterable(state.sums.items() for state in states):
        sums[name] = sums.get(name, 0) + value
    limit = PLAIN_LIMIT if is_plain(settings_of(states[0].settings)) else VALUED_LIMIT
    cells = join([state.cells for state in states], limit)
    return State(states[0].settings, sums, cells, max(state.largest_cost for state in states))


def _state_of_part(form: str, predictions: Array, references: Array, options: Options, weight: Floats | None) -> State:
    system = prepare(form, predictions, references, options)
    decisions = system.decisions
    form = "posteriors" if decisions.labels is not None else form
    text = settings_text(form, system.options, is_weighted=weight is not None)
    settings = settings_of(text)
    sums = {"rows": len(references)} | _repairs(settings, predictions, decisions)
    for part in (
        _sums_of_costs(settings, decisions, weight),
        _sums_of_bins(settings, decisions, weight),
        _sums_of_classes(settings, decisions, weight),
    ):
        sums |= part
    sums = {name: value for name, value in sums.items() if value}
    largest = float(decisions.candidate_cost.max())
    return State(text, sums, _cells(settings, system, weight), largest)


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
        rounded = (off > ROW_SUM_TOLERANCE) & (off <= ROUNDED_SUM_TOLERANCE)
        found |= {"rounded": rounded} if options.renormalize else {}
        found["renormalized"] = (off > SUM_NOTE) & ~rounded
    return {name: int(np.count_nonzero(rows)) for name, rows in found.items()}


def _sums_of_costs(settings: Settings, decisions: Decisions, weight: Floats | None) -> dict[str, int]:
    """Sum every cost, its square, and the products that ratios need: see `moments.py` for what is read from them."""
    sums: dict[str, int] = {}
    bits = bits_of(settings)
    products = [(str(key), str(key)) for key in mean_keys(settings)]
    products += [(str(top), str(bottom)) for top, bottom in ratio_parts(settings).values()]
    for rows in blocks(len(decisions.uncertainty)):
        w = None if weight is None else weight[rows]
        columns = {str(key): cost for key, cost in sample_costs(select(decisions, rows), settings.options)}
        terms = dict(columns if w is None else {name: w * cost for name, cost in columns.items()})
        terms |= {f"{one}*{two}": terms[one] * terms[two] for one, two in products}
        if w is not None:
            terms |= {"weight": w, "1*1": w * w} | {f"1*{name}": w * terms[name] for name in columns}
        for name, values in terms.items():
            sums[name] = sums.get(name, 0) + total(values, bits=bits)
    return sums


def _sums_of_bins(settings: Settings, decisions: Decisions, weight: Floats | None) -> dict[str, int]:
    """Sum rows, weights, confidences and correct answers in the bins of ECE."""
    if decisions.confidence is None:
        return {}
    bins = confidence_bins(decisions.confidence, n_bins=settings.options.n_bins)
    columns = {"confidence": decisions.confidence, "correct": 1 - decisions.candidate_cost}
    if weight is not None:
        columns = {name: weight * column for name, column in columns.items()}
    return _in_groups("bin", bins, columns, settings, weight)


def _sums_of_classes(settings: Settings, decisions: Decisions, weight: Floats | None) -> dict[str, int]:
    """Sum the rows of each class, which the naive system's values are made of."""
    return {} if decisions.labels is None else _in_groups("class", decisions.labels, {}, settings, weight)


def _in_groups(
    kind: str, groups: Ints, columns: Mapping[str, Floats], settings: Settings, weight: Floats | None
) -> dict[str, int]:
    sums = {name: totals(values, groups, bits=bits_of(settings)) for name, values in columns.items()}
    if weight is not None:
        sums["weight"] = totals(weight, groups, bits=bits_of(settings))
    sums["rows"] = np.bincount(groups).tolist()
    return {f"{kind} {k} {name}": value for name, values in sums.items() for k, value in enumerate(values)}


def _cells(settings: Settings, system: System, weight: Floats | None) -> Cells:
    mirrored = is_mirrored(settings)
    if is_plain(settings):
        ties = system.ties
        keys = keys_of(ties.rank, mirrored=mirrored)
        columns = ties.cost.astype(np.int64)[None, :]
        return join([Cells(0, keys, keys, ties.weight.astype(np.int64), columns)], PLAIN_LIMIT)
    decisions = system.decisions
    keys = keys_of(decisions.rank_by, mirrored=mirrored)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    c = decisions.candidate_cost[order] / cost_unit(decisions.max_uncertainty)
    require(c < LARGEST_COST, c, "candidate costs", f"must be below {LARGEST_COST:g} times the largest uncertainty")
    w = np.ones(len(c)) if weight is None else weight[order]
    terms = (w, w * c, w * w, w * w * c, (w * c) ** 2)
    sums = np.stack([limbs(values, starts) for values in terms]).reshape(len(terms) * LIMBS, -1)
    rows = np.diff(np.append(starts, len(order)))
    return join([Cells(0, keys[starts], keys[starts], rows, sums)], VALUED_LIMIT)


def _select(options: Options, rows: slice) -> Options:
    return options if options.decisions is None else options.replace(decisions=options.decisions[rows])


def cost_unit(max_uncertainty: float) -> float:
    """Return the power of 2 that costs in cells are divided by."""
    return float(2.0 ** np.floor(np.log2(max_uncertainty)))


def _checked_weights(sample_weight: object, references: Array) -> Floats:
    weight = one_dimensional(finite(sample_weight, "sample_weight"), "sample_weight")
    same_length(predictions=references, sample_weight=weight)
    ok = (weight == 0) | ((weight >= SMALLEST_WEIGHT) & (weight <= LARGEST_WEIGHT))
    rule = f"must be 0 or lie in [{SMALLEST_WEIGHT:g}, {LARGEST_WEIGHT:g}] in a state"
    require(ok, weight, "sample_weight", rule, "Divide all weights by their mean.")
    return weight
