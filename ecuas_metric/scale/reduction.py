"""Rows -> what they add to a state: the sums of their costs, of bins and of classes, and their tie groups."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..calibration import confidence_bins
from ..costs import above
from ..decisions import SUM_NOTE, Decisions, select
from ..inputs import ROUNDED_SUM_TOLERANCE, ROW_SUM_TOLERANCE, Array, Floats, Ints, blocks, require
from ..metrics import sample_costs
from ..results import System
from .cells import PLAIN_LIMIT, VALUED_LIMIT, Cells, join, keys_of
from .settings import Settings, bits_of, is_mirrored, is_plain, mean_keys, ratio_parts, ruler_of
from .sums import LIMBS, Moments, limbs, totals

COLUMNS = 5  # sums in a cell of rows with weights or costs: see `Cells.sums`
LARGEST_COST = 2.0**20  # of a candidate, in units of the largest uncertainty


def repairs(settings: Settings, predictions: Array, decisions: Decisions) -> dict[str, int]:
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


def sums_of(settings: Settings, decisions: Decisions, weight: Floats | None) -> dict[str, int]:
    """Return all sums over rows, under their names: see `State.sums`."""
    sums = _sums_of_costs(settings, decisions, weight)
    return sums | _sums_of_bins(settings, decisions, weight) | _sums_of_classes(settings, decisions, weight)


def _sums_of_costs(settings: Settings, decisions: Decisions, weight: Floats | None) -> dict[str, int]:
    """Sum every cost, its square, and the products that ratios need: see `moments.py` for what is read from them."""
    names = [str(key) for key in mean_keys(settings)]
    products = [(name, name) for name in names]
    products += [(str(top), str(bottom)) for top, bottom in ratio_parts(settings).values()]
    if weight is not None:
        products += [("1", name) for name in ["1", *names]]
    moments = Moments(products, bits=bits_of(settings))
    for rows in blocks(len(decisions.uncertainty)):
        columns = {str(key): cost for key, cost in sample_costs(select(decisions, rows), settings.options)}
        if weight is not None:
            columns = {name: weight[rows] * cost for name, cost in columns.items()} | {"1": weight[rows]}
        moments.add(columns)
    return moments.sums


def _sums_of_bins(settings: Settings, decisions: Decisions, weight: Floats | None) -> dict[str, int]:
    """Sum rows, weights, confidences and correct answers in the bins of ECE."""
    if decisions.confidence is None:
        return {}
    sums: dict[str, int] = {}
    for rows in blocks(len(decisions.confidence)):
        confidence, w = decisions.confidence[rows], None if weight is None else weight[rows]
        columns = {"confidence": confidence, "correct": 1 - decisions.candidate_cost[rows]}
        if w is not None:
            columns = {name: w * column for name, column in columns.items()}
        bins = confidence_bins(confidence, n_bins=settings.options.n_bins)
        for name, more in _in_groups("bin", bins, columns, settings, w).items():
            sums[name] = sums.get(name, 0) + more
    return sums


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


def cells_of(settings: Settings, system: System, weight: Floats | None, *, level: int) -> Cells:
    """Return the tie groups of the rows of a system, no finer than `level`."""
    mirrored = is_mirrored(settings)
    if is_plain(settings):
        ties = system.ties
        keys = keys_of(ties.rank, mirrored=mirrored)
        columns = ties.cost.astype(np.int64)[None, :]
        cells = Cells(0, keys, keys, ties.weight.astype(np.int64), columns)
        return join([cells], PLAIN_LIMIT, ruler_of(settings), level=level)
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
    cells = Cells(0, keys[starts], keys[starts], rows, sums)
    return join([cells], VALUED_LIMIT, ruler_of(settings), level=level)


def cost_unit(max_uncertainty: float) -> float:
    """Return the power of 2 that costs in cells are divided by."""
    return float(2.0 ** np.floor(np.log2(max_uncertainty)))
