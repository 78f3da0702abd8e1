"""The paired permutation test: outputs of systems exchanged at random, sample by sample, and what differs then.

For means it is costs that are exchanged. For metrics of the order (AUROC, AURC, AUGRC, recalibration) it is ranks, each
system's among its own samples, since confidences on two scales have no order together: a system's samples lie on a line
as long as their total weight, the most confident first, each tie group on a stretch of its own. The stretches of two
systems end at the same or at other places; between two ends lies a *cell*, which belongs to one tie group of either. A
sample that was exchanged lies where its own system put it, spread evenly over its stretch, so that neither the scale of
confidences nor how often each of them occurs sets two systems apart.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..calibration import ECE, confidence_bins
from ..decisions import Decisions, right_and_wrong
from ..expected_costs import ERROR_RATE
from ..inputs import FloatOrFloats, Floats, Ints, blocks, chunks
from ..intervals import influences
from ..metric import Key
from ..metrics import naive_values, normalized_values, quotient, ratio_keys, recalibrated_values, sample_costs
from ..options import Options
from ..order import AUGRC, AURC, AUROC
from ..ranking import TieGroups, positions
from ..results import System, all_values, as_given
from ..sampling import Resampling, units

SAME_PLACE = 1e-12  # relative distance at which the ends of two groups differ only by rounding
ONE_KIND = 1e-14  # product of the shares of correct and incorrect samples, below which it is rounding
BY_ORDER = (AURC, AUGRC, AUROC)
REFITTED = ("recalibrated", "calibration_loss")
Pair = tuple[str, str]
Differences = dict[Key, Floats]
Bits = npt.NDArray[np.int8]
Both = tuple[Floats, Floats]
_Areas = tuple[Floats, Floats, Floats]  # cost, AURC and AUGRC after permutations, (b,) each


class Ranking(NamedTuple):
    """A system's samples that have weight, from the least to the most uncertain, and its tie groups."""

    order: Ints  # (N,), positions in input order
    starts: Ints | None  # (G,), first sample of each tie group; None without ties
    weight: Floats  # (N,)
    cost: Floats | Bits  # (N,), weight times candidate cost
    group_weight: Floats  # (G,)
    group_cost: Floats | Bits  # (G,)
    ends: Floats  # (G,), cumulative weight of the groups


class Cells(NamedTuple):
    """The intersections (C,) of the tie groups of two rankings."""

    group: tuple[Ints | None, Ints | None]  # the tie group of either ranking for each cell; None: its own
    share: Both  # the share of that group's weight in each cell
    cost: tuple[Floats | Bits, Floats | Bits]  # (C,), of either system's samples in it
    width: Floats  # (C,), their weight
    until: Floats  # (C,), cumulative weight
    costly: Ints  # (E,), cells with a cost
    are_samples: bool  # whether each is one sample of either system, of weight 1 and cost 0 or 1


class Scores(NamedTuple):
    """The increase of AURC per unit of cost by position, see `area_scores`."""

    score: Floats
    integral: Floats
    of_samples: npt.NDArray[np.complex128]  # what a cell that is a sample adds to AURC, and i times to N^2 AUGRC, at
    # (3 cost + weight) (N + 1) + its end (0, 1 .. N); empty if no cells are samples


class _Output(NamedTuple):
    """What is exchanged of a system, samples in the order given; weights are divided by their sum."""

    decisions: Decisions
    options: Options
    means: dict[Key, int]  # the column of each
    sums: Floats  # (N, M + bins), weighted: each mean's cost, then confidence minus correctness in its bin
    ranking: Ranking


class _Moved(NamedTuple):
    """Weight and cost that permutations move out of each tie group, (b, G); cost None: weight times the group's."""

    weight: Floats | Bits
    cost: Floats | Bits | None


def permuted_differences(
    systems: Mapping[str, System],
    keys: Mapping[str, Collection[Key]],
    *,
    resampling: Resampling,
    progress: bool = False,
) -> dict[Pair, Differences]:
    """Return the difference of every metric of every pair of aligned systems after each random permutation, (B,).

    A permutation exchanges the outputs (decision and uncertainty) of both systems on a random half of the samples, the
    same in every pair; groups are exchanged whole. If the systems were exchangeable, as two runs of one system are, all
    permutations would be as likely as the data, whatever the metric, sample size and number of errors (Fisher 1935; of
    ranks Venkatraman and Begg 1996). nan where a metric has no value.
    """
    from tqdm.auto import tqdm

    outputs = _outputs(systems, {name: _means_of(keys[name]) for name in systems})
    pairs = list(itertools.combinations(systems, 2))
    wanted = {(a, b): [key for key in keys[a] if key in keys[b]] for a, b in pairs}
    cells = {(a, b): cells_of(outputs[a].ranking, outputs[b].ranking) for a, b in pairs if _has_order(wanted[a, b])}
    total = float(next(iter(outputs.values())).ranking.ends[-1])
    scores = scores_of(total, with_samples=any(of.are_samples for of in cells.values())) if cells else None
    totals = {name: output.sums.sum(axis=0) for name, output in outputs.items()}
    apart = {(a, b): outputs[b].sums - outputs[a].sums for a, b in pairs} if len(pairs) < len(systems) else {}
    size, parts = len(next(iter(outputs.values())).sums), {pair: dict[Key, list[Floats]]() for pair in pairs}
    with tqdm(total=resampling.n_resamples, desc="permutations", unit="", delay=1, disable=not progress) as bar:
        for exchanged in _permutations(size, resampling):
            moved = {name: _move(output.ranking, exchanged) for name, output in outputs.items()} if cells else {}
            sums = {} if apart else {name: _product(exchanged, output.sums) for name, output in outputs.items()}
            for pair in pairs:
                change = _product(exchanged, apart[pair]) if apart else sums[pair[1]] - sums[pair[0]]
                after = totals[pair[0]] + change, totals[pair[1]] - change
                both = outputs[pair[0]], outputs[pair[1]]
                with np.errstate(divide="ignore", invalid="ignore"):  # there may be no sample of some kind
                    found = _of_sums(both, after, wanted[pair])
                    if scores is not None and pair in cells:
                        of_pair = moved[pair[0]], moved[pair[1]]
                        found |= _by_order(both, of_pair, wanted[pair], cells[pair], scores, found)
                for key in wanted[pair]:
                    parts[pair].setdefault(key, []).append(found[key])
            bar.update(len(exchanged))
    return {pair: {key: np.concatenate(values) for key, values in found.items()} for pair, found in parts.items()}


def cells_of(one: Ranking, other: Ranking) -> Cells:
    """Intersect the tie groups of two rankings of equal total weight."""
    ends = np.sort(np.concatenate([one.ends, other.ends]))
    ends = ends[np.append(np.diff(ends) > SAME_PLACE * ends[-1], True)]
    width = np.diff(ends, prepend=0.0)
    (g, r), (h, s) = (_groups_of(ranking, ends, width) for ranking in (one, other))
    cost = _shares(one.group_cost, g, r), _shares(other.group_cost, h, s)
    are_samples = g is None and h is None and one.group_cost.dtype == other.group_cost.dtype == np.int8
    return Cells((g, h), (r, s), cost, width, ends, np.flatnonzero(cost[0] + cost[1]), are_samples)


def _shares(of_groups: Floats | Bits, group: Ints | None, share: Floats) -> Floats | Bits:
    """Return what cells (..., C) have of tie groups (..., G)."""
    return of_groups if group is None else of_groups.take(group, axis=-1) * share


def area_scores(total: float) -> Both:
    r"""Return the increase of AURC per unit of cost at positions j to j + 1 of a ranking, and its integral from 0 to j.

    AURC is :math:`\sum_k \omega_k E_k / k` over the points k of its trapezoids, see `ranking.aurc`; a cost at
    position x counts in all :math:`E_k` with :math:`k \ge x`. Both have the shape (floor(total) + 1,).
    """
    if total <= 1:
        return np.full(2, 1 / total), np.array([0.0, 1 / total])
    whole = math.floor(total)
    points, rest = np.arange(1.0, whole + 1), total - whole
    trapezoids = np.ones(whole)
    trapezoids[0] -= 0.5
    trapezoids[-1] += rest / 2 - 0.5
    last = rest / 2 / total
    scores = np.append(np.cumsum((trapezoids / points)[::-1])[::-1] + last, last) / (total - 1)
    return scores, np.append(0.0, np.cumsum(scores[:-1]))


def scores_of(total: float, *, with_samples: bool) -> Scores:
    """Precompute each position's contribution to AURC for a ranking of total weight `total`."""
    score, integral = area_scores(total)
    of_samples = np.zeros(0, np.complex128)
    if with_samples:  # cost and weight of a cell are 0, 1 or 2, and of weight 0 it has no cost
        end, weight = np.arange(len(integral)), np.arange(3)[:, None]
        area = (integral - integral[np.maximum(end - weight, 0)]) / np.maximum(weight, 1)
        cell = area + 1j * (len(integral) - 1 - end + weight / 2)
        of_samples = np.asarray(np.arange(3)[:, None, None] * cell).ravel()
    # Once more at the end, where rounding may pass it.
    return Scores(np.append(score, score[-1]), np.append(integral, integral[-1]), of_samples)


def _product(exchanged: Bits, sums: Floats) -> Floats:
    """Return the matrix product (b, M) of permutations (b, N) and sums (N, M), by blocks that stay in the cache."""
    found = np.zeros((len(exchanged), sums.shape[1]))
    for rows in blocks(len(sums), row_size=4 * len(exchanged)):
        found += exchanged[:, rows].astype(np.float64) @ sums[rows]
    return found


def _means_of(keys: Iterable[Key]) -> list[Key]:
    """Return the keys of what is exchanged as means: those, the parts of ratios, and what normalised values need."""
    every = [part for key in keys for part in (key.of(""), *ratio_keys(key))]
    error_rate = Key(ERROR_RATE.name) if any(key.variant == "normalized" for key in keys) else None
    means = [*every, *([error_rate] if error_rate is not None else [])]
    return [key for key in dict.fromkeys(means) if not (key.entry in BY_ORDER or key.entry is ECE or key.entry.ratio)]


def _exchanged_costs(system: System, keys: Collection[Key]) -> dict[Key, Floats]:
    """Return the cost (N,) of each sample, and for a value of groups its influence on it, in input order."""
    decisions, options = as_given(system)
    costs = dict(sample_costs(decisions, options, keys=[key for key in keys if key.entry.applies(decisions)]))
    values = all_values(system, only=[key for key in keys if key.entry.value is not None])
    for key, influence in influences(system.decisions, system.options, values):
        cost = influence + float(values[key])
        costs[key] = cost if system.order is None else cost[positions(system.order)]
    return costs


def _outputs(systems: Mapping[str, System], keys: Mapping[str, Collection[Key]]) -> dict[str, _Output]:
    """Return the output of each system to be exchanged; bins of confidence that no system uses are left out."""
    given = {name: as_given(system) for name, system in systems.items()}
    bins = {}
    for name, (decisions, options) in given.items():
        if decisions.confidence is not None:
            bins[name] = confidence_bins(decisions.confidence, n_bins=options.n_bins)
    used = np.unique(np.concatenate(list(bins.values()))) if bins else np.zeros(0, np.int64)
    found = {}
    for name, (decisions, options) in given.items():
        size, costs = len(decisions.uncertainty), _exchanged_costs(systems[name], keys[name])
        weight = np.ones(size) if options.sample_weight is None else options.sample_weight
        sums = np.zeros((size, len(costs) + len(used)))
        for column, cost in enumerate(costs.values()):
            sums[:, column] = cost
        if decisions.confidence is not None:
            column_of_bin = len(costs) + np.searchsorted(used, bins[name])
            sums[np.arange(size), column_of_bin] = decisions.confidence - (1 - decisions.candidate_cost)
        sums *= (weight / weight.sum())[:, None]
        columns = {key: column for column, key in enumerate(costs)}
        found[name] = _Output(decisions, options, columns, sums, _ranking_of(systems[name]))
    return found


def _ranking_of(system: System) -> Ranking:
    """Return the ranking of a system whose samples are sorted."""
    decisions, weight = system.decisions, system.options.sample_weight
    size = len(decisions.uncertainty)
    weight = np.ones(size) if weight is None else weight
    kept = np.flatnonzero(weight > 0)
    order = kept if system.order is None else system.order[kept]
    ranked, weight, cost = decisions.rank_by[kept], weight[kept], (weight * decisions.candidate_cost)[kept]
    is_new = ranked[1:] != ranked[:-1]
    if is_new.all():
        if (weight == 1).all() and np.isin(cost, (0, 1)).all():
            cost = cost.astype(np.int8)  # an eighth of the memory that permutations go through
        return Ranking(order, None, weight, cost, weight, cost, np.cumsum(weight))
    starts = np.concatenate([[0], np.flatnonzero(is_new) + 1])
    group_weight, group_cost = np.add.reduceat(weight, starts), np.add.reduceat(cost, starts)
    return Ranking(order, starts, weight, cost, group_weight, group_cost, np.cumsum(group_weight))


def _move(ranking: Ranking, exchanged: Bits) -> _Moved:
    """Return the weight and cost that permutations (b, N) of 0 and 1 move out of each tie group of a ranking."""
    bits = exchanged.take(ranking.order, axis=1)
    if ranking.starts is not None:
        weight, cost = (np.add.reduceat(bits * of, ranking.starts, axis=1) for of in (ranking.weight, ranking.cost))
        return _Moved(weight, cost)
    if (ranking.weight == 1).all():
        return _Moved(bits, None)
    return _Moved(bits * ranking.weight, bits * ranking.cost)


def _of_sums(both: tuple[_Output, _Output], after: Both, wanted: Iterable[Key]) -> Differences:
    """Return the differences of means, ratios, ECE and normalised metrics, of the systems' sums (b, M + bins)."""
    first, second = ({key: sums[:, column] for key, column in both[0].means.items()} for sums in after)
    found = {key: first[key] - second[key] for key in first}
    for key in wanted:
        if key.entry.ratio is not None:
            found[key] = _ratio(key, first) - _ratio(key, second)
        elif key.entry is ECE:
            gaps = [np.abs(sums[:, len(both[0].means) :]).sum(axis=1) for sums in after]
            found[key] = gaps[0] - gaps[1]
    if any(key.variant == "normalized" for key in wanted):
        above, below = (_normalize_means(output, means) for output, means in zip(both, (first, second), strict=True))
        found |= {key: above[key] - below[key] for key in above}
    return found


def _ratio(key: Key, means: Mapping[Key, Floats]) -> Floats:
    return np.asarray(quotient(*(means[part] for part in ratio_keys(key))))


def _normalize_means(output: _Output, means: Mapping[Key, Floats]) -> Mapping[Key, FloatOrFloats]:
    """Divide by the naive system's values, which depend on the share of errors or on the classes."""
    naive: dict[Key, FloatOrFloats] = {}
    decisions, options = output.decisions, output.options
    if decisions.confidence is not None:
        wrong = means[Key(ERROR_RATE.name)]
        one_each = right_and_wrong(decisions.max_uncertainty)
        naive |= naive_values(one_each, options, sample_weight=np.stack([1 - wrong, wrong], axis=-1))
    if decisions.labels is not None:
        of_classes = replace(decisions, confidence=None)
        naive |= naive_values(of_classes, options, sample_weight=options.sample_weight)
    return normalized_values(means, naive)


def _has_order(wanted: Iterable[Key]) -> bool:
    return any(key.entry in BY_ORDER or key.variant in REFITTED for key in wanted)


def _by_order(
    both: tuple[_Output, _Output],
    moved: tuple[_Moved, _Moved],
    wanted: Collection[Key],
    cells: Cells,
    scores: Scores,
    means: Differences,
) -> Differences:
    """Return the differences of metrics of the order and of recalibration after permutations, (b,)."""
    rankings, found = (both[0].ranking, both[1].ranking), Differences()
    if any(key.entry in BY_ORDER for key in wanted):
        of_samples = cells.are_samples
        areas = _sample_areas(cells, moved, scores) if of_samples else _cell_areas(cells, rankings, moved, scores)
        values = (_values(*of_system, float(cells.until[-1])) for of_system in areas)
        found |= {Key(metric.name): a - b for metric, a, b in zip(BY_ORDER, *values, strict=True)}
    if any(key.variant in REFITTED for key in wanted):
        options, form = both[0].options, both[0].decisions
        weight, cost = _weights(cells, moved), _costs(cells, rankings, moved, np.arange(len(cells.width)))
        other = TieGroups(2 * cells.width - weight, cells.cost[0] + cells.cost[1] - cost, cells.until)
        ties = TieGroups(weight, cost, cells.until), other
        first, second = (recalibrated_values(groups, form, options) for groups in ties)
        for key in first:
            best = np.asarray(first[key] - second[key])
            found |= {key: best, key.of("calibration_loss"): means[key.of("")] - best}
    return found


def _groups_of(ranking: Ranking, ends: Floats, width: Floats) -> tuple[Ints | None, Floats]:
    """Return the tie group of a ranking that each cell belongs to, None if cells are groups, and its part of it."""
    if len(ends) == len(ranking.ends):
        return None, np.ones_like(width)
    group = np.minimum(np.searchsorted(ranking.ends, ends - width / 2), len(ranking.ends) - 1)
    return group, width / ranking.group_weight[group]


def _weights(cells: Cells, moved: tuple[_Moved, _Moved]) -> Floats:
    """Return the weight (b, C) of the first system's cells: its own, less what is moved, plus the other's."""
    parts = zip(moved, cells.group, cells.share, strict=True)
    less, more = (_shares(of.weight, group, share) for of, group, share in parts)
    return cells.width - less + more


def _costs(cells: Cells, rankings: tuple[Ranking, Ranking], moved: tuple[_Moved, _Moved], at: Ints) -> Floats:
    """Return the cost (b, E) of the first system's cells `at`."""
    parts = []
    for of, ranking, group, share in zip(moved, rankings, cells.group, cells.share, strict=True):
        groups = at if group is None else group[at]
        cost = of.weight if of.cost is None else of.cost
        of_cost = ranking.group_cost[groups] if of.cost is None else 1.0
        parts.append(cost.take(groups, axis=1) * (of_cost * share[at]))
    return cells.cost[0][at] - parts[0] + parts[1]


def _cell_areas(
    cells: Cells, rankings: tuple[Ranking, Ranking], moved: tuple[_Moved, _Moved], scores: Scores
) -> list[_Areas]:
    """Return the areas of the first system and of the second after permutations."""
    at, total = cells.costly, cells.until[-1]
    weight, cost = _weights(cells, moved), _costs(cells, rankings, moved, at)
    until = np.cumsum(weight, axis=1).take(at, axis=1)
    weight, found = weight.take(at, axis=1), []
    for of_system in (cost, (cells.cost[0] + cells.cost[1])[at] - cost):
        per_weight = np.divide(of_system, weight, out=np.zeros_like(of_system), where=weight > 0)
        area = np.vecdot(per_weight, _integral(until, scores) - _integral(until - weight, scores))
        generalized = np.vecdot(of_system, total - until + weight / 2) / total**2
        found.append((of_system.sum(axis=1), area, generalized))
        weight, until = 2 * cells.width[at] - weight, 2 * cells.until[at] - until
    return found


def _sample_areas(cells: Cells, moved: tuple[_Moved, _Moved], scores: Scores) -> list[_Areas]:
    """Return the same where each cell is one sample of either system: a table has all that one adds."""
    (one, _), (other, _) = moved
    at, size = cells.costly, len(cells.width)
    before, both = cells.cost[0], cells.cost[0] + cells.cost[1]
    own = at + 1 + (size + 1) * (1 + 3 * before[at].astype(np.int64))  # the row of the table without permutation
    of_both = 2 * (at + 1) + (size + 1) * (2 + 3 * both[at].astype(np.int64))
    cost, sums = np.empty(len(one)), np.empty((2, len(one)), np.complex128)
    for part in blocks(len(one), row_size=size):
        change, gained = other[part] - one[part], other[part] * cells.cost[1] - one[part] * before
        until = change.astype(np.int32)
        np.cumsum(until, axis=1, out=until)
        row = (change + 3 * gained).take(at, axis=1).astype(np.int64)
        row *= size + 1
        row += until.take(at, axis=1)
        row += own
        cost[part] = np.count_nonzero(before) + gained.sum(axis=1, dtype=np.int32)
        for index, rows in enumerate((row, of_both - row)):
            sums[index, part] = scores.of_samples.take(rows).sum(axis=1)
    costs = cost, np.count_nonzero(cells.cost[0]) + np.count_nonzero(cells.cost[1]) - cost
    return [(cost, both.real, both.imag / size**2) for cost, both in zip(costs, sums, strict=True)]


def _values(cost: Floats, area: Floats, generalized: Floats, total: float) -> list[Floats]:
    """Return AURC, AUGRC and AUROC."""
    risk = cost / total
    pairs = risk * (1 - risk)
    # See `ranking.augrc` for the relation of the two areas.
    roc = 1 - (generalized - risk**2 / 2) / np.where(pairs > ONE_KIND, pairs, np.nan)
    return [area, generalized, roc]


def _integral(place: Floats, scores: Scores) -> Floats:
    below = place.astype(np.int32)
    return scores.integral[below] + (place - below) * scores.score[below]


def _permutations(num_samples: int, resampling: Resampling) -> Iterator[Bits]:
    """Yield which samples are exchanged, 0 or 1, shape (b, N), in chunks that add up to `n_resamples` rows."""
    generator = np.random.default_rng(resampling.random_state)
    unit, unit_strata = units(num_samples, resampling)
    for count in chunks(resampling.n_resamples, num_samples):
        size = count * len(unit_strata)
        words = generator.integers(2**32, size=-(-size // 4), dtype=np.uint32)  # a bit of each byte, and it is random
        exchanged = (words.view(np.uint8)[:size] >> 7).view(np.int8).reshape(count, -1)
        yield exchanged if resampling.groups is None else exchanged.take(unit, axis=1)
