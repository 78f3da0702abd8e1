"""The curves of `plotting.curves` from a state: a system with two weighted samples per cell, and the exact bins."""

from __future__ import annotations

import numpy as np

from ..decisions import Decisions
from ..errors import InputError
from ..plotting.curves import Reliability
from ..results import System
from .reading import reliability_bins, ties_of
from .sketch import ranks_of
from .settings import empty_decisions, parse_settings
from .state import State


def system_of(state: State) -> System:
    """Return a system that has the curves of the rows of a state.

    Its risk against coverage is exact at each of its points, which are those of the rows at the edges of sketch. Against
    the reject cost, costs and coverages are exact where sketch are, and else within a cell of the rows' own; so is
    ECUAS_n against n.

    Parameters
    ----------
    state : State
        Without weights, of confidences or of posteriors under the 0-1 cost.

    Returns
    -------
    System
        For `plotting.curves` and `reporting.report.write_figures`. It has no results: `read` has them.

    Raises
    ------
    InputError
        If rows have weights or costs.

    Examples
    --------
    >>> from ecuas_metric.options import checked_options
    >>> from ecuas_metric.plotting.curves import risk_coverage
    >>> from ecuas_metric.scale.state import state_of
    >>> state = state_of("confidences", [0.9, 0.5, 0.5, 0.2], [1, 1, 0, 0], checked_options())
    >>> risk_coverage(system_of(state)).risk.round(2).tolist()
    [0.0, 0.33, 0.5]
    """
    settings = parse_settings(state.settings)
    if not settings.is_plain:
        raise InputError("curves", "are drawn of states without weights and of the 0-1 cost")
    none, ties, sketch = empty_decisions(settings), ties_of(state), state.sketch
    rank = ranks_of(sketch.low, mirrored=settings.is_mirrored)
    uncertainty = np.repeat(none.uncertainty_at(rank), 2)
    confidence = np.repeat(-rank, 2) if settings.is_mirrored else 1 - uncertainty
    labels = None if settings.is_mirrored else np.zeros(len(uncertainty), np.int64)  # then u orders the rows
    candidate_cost = np.tile([0.0, 1.0], len(rank))
    weight = np.stack([ties.weight - ties.cost, ties.cost], axis=1).ravel()
    decisions = Decisions(uncertainty, candidate_cost, none.max_uncertainty, confidence=confidence, labels=labels)
    options = settings.options.replace(sample_weight=weight, weights_are="counts", missing_confidence=None)
    return System(decisions, options, ties)


def reliability(state: State) -> Reliability:
    """Return accuracy against mean confidence in the bins of ECE, exactly.

    Parameters
    ----------
    state : State

    Returns
    -------
    Reliability

    Raises
    ------
    InputError
        If the state has no confidences.

    Examples
    --------
    >>> from ecuas_metric.options import checked_options
    >>> from ecuas_metric.scale.state import state_of
    >>> bins = reliability(state_of("confidences", [0.9, 0.8, 0.4], [1, 0, 1], checked_options(n_bins=2)))
    >>> bins.accuracy.tolist(), bins.counts.tolist()
    ([1.0, 0.5], [1, 2])
    """
    settings = parse_settings(state.settings)
    if empty_decisions(settings).confidence is None:
        raise InputError("a reliability diagram", "needs confidences: a system under the 0-1 cost")
    rows, weight, confidence, accuracy = reliability_bins(state)
    edges = np.arange(len(rows) + 1) / len(rows)
    return Reliability(edges[:-1], edges[1:], confidence, accuracy, rows.astype(np.int64), weight / weight.sum())
