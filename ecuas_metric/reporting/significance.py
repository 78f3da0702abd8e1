"""The test of a difference between two systems: their outputs swapped at random, sample by sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ..baselines import confidence_bins
from ..decisions import Decisions, select
from ..inputs import Floats, Ints
from ..intervals import Resampling, chunks, units
from ..metrics import METRICS, Key, keys, sample_costs
from ..ranking import TieGroups
from ..results import System, all_values

Bools = npt.NDArray[np.bool_]
ROUNDING = 1e-9  # statistics, in standard deviations, that are as close are the same


def swap_differences(
    one: System, other: System, *, resampling: Resampling, only: Sequence[Key] | None = None
) -> dict[Key, Floats]:
    """Return the difference of every metric between two systems after random swaps of their outputs.

    Each swap gives the first system the second's output, decision and uncertainty, on a random half of the samples,
    and the second one the first's. If the two were exchangeable, as two runs of one system are, all swaps of the data
    would be as likely as the data: whatever the metric, the sample size and the number of errors. For the metrics of
    the order (AUROC, AURC, AUGRC, recalibration) it is the ranks that are swapped, each system's among its own samples,
    where neither has ties: confidences on two scales have no order together, and a test by them less power.

    Parameters
    ----------
    one, other : System
        Aligned, see `comparison.align`.
    resampling : Resampling
        The number of swaps and their seed; its groups are swapped whole. The same swaps for every pair of systems.
    only : sequence of Key, optional
        The metrics to compute; by default all.

    Returns
    -------
    dict of Key to ndarray, shape (n_resamples,)
        Of the metrics that both have. nan where a swap leaves a metric without a value.

    References
    ----------
    Venkatraman and Begg 1996, "A distribution-free procedure for comparing receiver operating characteristic curves
    from a paired experiment" (swaps of ranks).
    """
    pooled, rank, sample, is_other = _pooled(one, other)
    options = pooled.options
    is_plain = options.sample_weight is None and not options.normalize and not options.decompose
    differences = _plain_differences(pooled, rank, only) if is_plain else partial(_differences, pooled, rank, only)
    parts: dict[Key, list[Floats]] = {}
    for swaps in _swaps(len(sample) // 2, resampling):
        with np.errstate(divide="ignore", invalid="ignore"):  # a swap may leave no sample of some kind
            of_chunk = differences(swaps[:, sample] == is_other)
        for key, values in of_chunk.items():
            parts.setdefault(key, []).append(values)
    return {key: np.concatenate(values) for key, values in parts.items()}


def swap_p_value(difference: float, swapped: Floats, *, rounding: float = 0.0) -> float:
    """Return the two-sided p-value of a difference: the share of swaps, itself counted, that differ as much.

    Parameters
    ----------
    difference : float
        Of the data.
    swapped : ndarray, shape (B,)
        Of `swap_differences`. Those that are nan count as larger, which can only raise the p-value.
    rounding : float
        How much of a difference is rounding.

    Returns
    -------
    float
        In (0, 1], at least 1 / (B + 1); nan if the difference is.

    References
    ----------
    Fisher 1935, "The design of experiments"; Phipson and Smyth 2010, "Permutation p-values should never be zero".

    Examples
    --------
    >>> swap_p_value(0.3, np.array([0.1, -0.3, 0.2, np.nan]))
    0.6
    """
    if np.isnan(difference):
        return float("nan")
    smaller = int(np.count_nonzero(np.abs(swapped) < abs(difference) - rounding))
    return (1 + len(swapped) - smaller) / (1 + len(swapped))


def step_down(differences: Floats, swapped: Sequence[Floats], p_values: Floats) -> Floats:
    """Return p-values that hold for all M tests together: the largest statistic of each swap, step by step down.

    Each difference is divided by its standard deviation over the swaps. The adjusted p-value of the largest is the
    share of swaps whose largest is as large; the next one is compared with the largest of the others; and so on.

    Parameters
    ----------
    differences : ndarray, shape (M,)
        nan where there is no test.
    swapped : sequence of M ndarrays, shape (B,)
        By the same swaps.
    p_values : ndarray, shape (M,)
        Of each test alone; no adjusted one is smaller.

    Returns
    -------
    ndarray, shape (M,)
        The chance of one false alarm or more is at most alpha where those at or below alpha are called significant. It
        is exact for pairs of systems that have none in common; for pairs that share one, in large samples.

    References
    ----------
    Westfall and Young 1993, "Resampling-based multiple testing", Algorithm 4.1; Ge, Dudoit and Speed 2003,
    "Resampling-based multiple testing for microarray data analysis", for the statement with the maximum.

    Examples
    --------
    >>> swapped = [np.array([1.0, -1.0, 0.9, -0.8]), np.array([-0.2, 0.1, 0.2, -0.1])]
    >>> step_down(np.array([3.0, 0.1]), swapped, np.array([0.2, 1.0])).tolist()
    [0.2, 1.0]
    """
    spread = np.array([_spread(values) for values in swapped])
    observed = np.abs(differences) / spread
    order = np.argsort(observed)[: np.count_nonzero(~np.isnan(observed))]
    adjusted = np.array(p_values, np.float64)
    largest = np.zeros(len(swapped[0]))
    for index in order:  # from the smallest up: `largest` is that of all that are no larger
        np.maximum(largest, np.nan_to_num(np.abs(swapped[index]) / spread[index]), out=largest)
        adjusted[index] = max(swap_p_value(observed[index], largest, rounding=ROUNDING), adjusted[index])
    ranked = order[::-1]
    adjusted[ranked] = np.maximum.accumulate(adjusted[ranked])
    return adjusted


def _spread(values: Floats) -> float:
    """Return the standard deviation of differences about 0; 1 where all are 0."""
    finite = values[np.isfinite(values)]
    return float(np.sqrt(np.square(finite).mean())) or 1.0 if len(finite) else 1.0


def _differences(pooled: System, rank: Floats, only: Sequence[Key] | None, held: Bools) -> dict[Key, Floats]:
    """Return every metric of the samples held, shape (b, 2N), minus that of the others."""
    first, second = (all_values(pooled, np.asarray(part, np.float64), only, rank_by=rank) for part in (held, ~held))
    return {key: np.asarray(first[key] - second[key]) for key in first}


def _plain_differences(
    pooled: System, rank: Floats, only: Sequence[Key] | None
) -> Callable[[Bools], dict[Key, Floats]]:
    """Return `_differences` for samples that weigh the same: N of 2 N are held, which makes it several times faster."""
    decisions, options = pooled.decisions, pooled.options
    costs = dict(sample_costs(decisions, options))
    columns = {key: column for column, key in enumerate(costs)}
    size = len(decisions.uncertainty) // 2
    stacked = np.stack(list(costs.values()), axis=-1) / size
    is_tied = rank[1:] == rank[:-1]
    group = np.concatenate([[0], np.cumsum(~is_tied)]) if is_tied.any() else None

    sums = np.concatenate([stacked, _gaps_in_bins(decisions, options.n_bins) / size], axis=-1)
    total, of_means, of_bins = sums.sum(axis=0), slice(len(costs)), slice(len(costs), None)
    shown = [key for key in keys(decisions, options) if METRICS[key.metric].is_shown and (only is None or key in only)]
    has_order = any(METRICS[key.metric].of_ties for key in shown)

    def differences(held: Bools) -> dict[Key, Floats]:
        first = held.astype(np.float64) @ sums
        means, gaps = ([part[:, which] for part in (first, total - first)] for which in (of_means, of_bins))
        ties = [_ties_held(decisions.candidate_cost, part, group) for part in (held, ~held) if has_order]
        found: dict[Key, Floats] = {}
        for key in shown:
            metric = METRICS[key.metric]
            if metric.sample_cost is not None:
                values = [part[:, columns[key]] for part in means]
            elif metric.of_ties is not None:
                values = [np.asarray(metric.of_ties(part)) for part in ties]
            elif metric.ratio is not None:
                above, below = (columns[Key(name, key.parameter)] for name in metric.ratio)
                values = [part[:, above] / np.where(part[:, below] > 0, part[:, below], np.nan) for part in means]
            else:  # ECE
                values = [np.abs(part).sum(axis=-1) for part in gaps]
            found[key] = values[0] - values[1]
        return found

    return differences


def _gaps_in_bins(decisions: Decisions, n_bins: int) -> Floats:
    """Return confidence minus correctness of each sample in the column of its bin, one column for each bin in use."""
    if decisions.confidence is None:
        return np.zeros((len(decisions.uncertainty), 0))
    bins = confidence_bins(decisions.confidence, n_bins=n_bins)
    used = np.bincount(bins) > 0
    gaps = np.zeros((len(bins), np.count_nonzero(used)))
    gaps[np.arange(len(bins)), np.cumsum(used)[bins] - 1] = decisions.confidence - (1 - decisions.candidate_cost)
    return gaps


def _ties_held(cost: Floats, held: Bools, group: Ints | None) -> TieGroups:
    """Return the samples held, N in each row, one by one; tied ones have the mean cost of those held of their group.

    That is what the expectation over their orders is.
    """
    rows, width = held.shape
    where = np.flatnonzero(held)
    column = where % width
    costs = cost[column]
    if group is not None:
        member = (where // width) * (group[-1] + 1) + group[column]
        sums, counts = np.bincount(member, costs), np.bincount(member)
        costs = (sums / np.maximum(counts, 1))[member]
    costs = costs.reshape(rows, -1)
    return TieGroups(np.broadcast_to(1.0, costs.shape), costs, np.arange(1.0, costs.shape[1] + 1))


def _pooled(one: System, other: System) -> tuple[System, Floats, Ints, Ints]:
    """Return the samples of both systems as one, sorted by rank, the ranks, the sample each is of, and of which."""
    ours, theirs = one.decisions.rank_by, other.decisions.rank_by  # both sorted: to be merged
    if not (_has_ties(ours) or _has_ties(theirs)):  # mean ranks of ties would set the two apart where they agree
        ours = theirs = np.arange(len(ours), dtype=np.float64)
    size = len(ours)
    order = np.empty(2 * size, np.int64)
    order[np.arange(size) + np.searchsorted(theirs, ours, side="left")] = np.arange(size)
    order[np.arange(size) + np.searchsorted(ours, theirs, side="right")] = np.arange(size, 2 * size)
    both = Decisions(*(_joined(a, b) for a, b in zip(one.decisions, other.decisions, strict=True)))  # type: ignore[arg-type]
    options, weight, other_weight = one.options, one.options.sample_weight, other.options.sample_weight
    if weight is not None and other_weight is not None:
        options = options.replace(sample_weight=np.concatenate([weight, other_weight])[order])
    pooled = one._replace(decisions=select(both, order), options=options, order=None, ids=None)
    sample = np.concatenate([np.arange(size) if system.order is None else system.order for system in (one, other)])
    return pooled, np.concatenate([ours, theirs])[order], sample[order], order // size


def _has_ties(ordered: Floats) -> bool:
    return bool((ordered[1:] == ordered[:-1]).any())


def _joined(ours: Floats | Ints | float | None, theirs: Floats | Ints | float | None) -> object:
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        return np.concatenate([ours, theirs])
    return ours if theirs is not None else None


def _swaps(num_samples: int, resampling: Resampling) -> Iterator[npt.NDArray[np.int8]]:
    """Yield which samples are swapped, 0 or 1, shape (b, N), in chunks that add up to `n_resamples` rows."""
    generator = np.random.default_rng(resampling.random_state)
    unit, unit_strata = units(num_samples, resampling)
    for rows in chunks(resampling.n_resamples, 2 * num_samples):
        swaps = generator.integers(0, 2, (rows, len(unit_strata)), dtype=np.int8)
        yield swaps if resampling.groups is None else swaps[:, unit]
