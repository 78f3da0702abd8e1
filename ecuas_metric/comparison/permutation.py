"""Outputs of systems swapped at random, sample by sample: the differences of all pairs and metrics after each swap."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ..baselines import confidence_bins
from ..decisions import Decisions
from ..inputs import FloatOrFloats, Floats, Ints, chunks
from ..intervals import Resampling, units
from ..metrics import METRICS, Key, sample_costs
from ..options import Options
from ..results import System, as_given
from ..variants import naive_values, normalized_values, recalibrated_values
from .permuted_order import (
    BY_ORDER,
    Bits,
    Cells,
    Line,
    Scores,
    Taken,
    cells_of,
    line_of,
    order_differences,
    scores_of,
    taken,
    ties_after_swaps,
)

REFITTED = ("recalibrated", "calibration_loss")
Pair = tuple[str, str]
Differences = dict[Key, Floats]


class _Outputs(NamedTuple):
    """What is swapped of a system, samples in the order given; weights are divided by their sum."""

    decisions: Decisions
    options: Options
    means: dict[Key, int]  # the column of each
    costs: Floats  # (N, M), weighted
    gaps: Floats  # (N, bins), weighted: confidence minus correctness
    line: Line


class _Taken(NamedTuple):
    """What the swaps take away from a system: sums of `_Outputs` over the samples swapped."""

    costs: Floats  # (b, M)
    gaps: Floats  # (b, bins)
    groups: Taken  # (b, G) each
    swaps: Bits  # (b, N)


def swap_differences(
    systems: Mapping[str, System],
    keys: Mapping[str, Collection[Key]],
    *,
    resampling: Resampling,
    progress: bool = False,
) -> dict[Pair, Differences]:
    """Return the difference of every metric of every pair of systems after random swaps of their outputs.

    Each swap gives the first system of a pair the second's output, decision and uncertainty, on a random half of the
    samples, and the second one the first's. If the two were exchangeable, as two runs of one system are, all swaps of
    the data would be as likely as the data: whatever the metric, the sample size and the number of errors. For metrics
    of the order (AUROC, AURC, AUGRC, recalibration) it is ranks that are swapped, each system's among its own samples,
    see `swapped_order`: confidences on two scales have no order together.

    Parameters
    ----------
    systems : mapping of name to System
        Aligned, see `comparison.align`.
    keys : mapping of name to collection of Key
        The metrics that each system has. A pair is compared by those that both have.
    resampling : Resampling
        The number of swaps and their seed; its groups are swapped whole. The same samples are swapped in every pair.
    progress : bool
        Show a bar on long work.

    Returns
    -------
    dict of pair of names to dict of Key to ndarray, shape (n_resamples,)
        nan where a swap leaves a metric without a value.

    References
    ----------
    Fisher 1935, "The design of experiments"; Venkatraman and Begg 1996, "A distribution-free procedure for comparing
    receiver operating characteristic curves from a paired experiment" (swaps of ranks).
    """
    from tqdm.auto import tqdm

    bins = {name: _bins(system) for name, system in systems.items()}
    used = np.unique(np.concatenate(list(bins.values())))
    outputs = {name: _outputs(system, np.searchsorted(used, bins[name]), len(used)) for name, system in systems.items()}
    pairs = list(itertools.combinations(systems, 2))
    wanted = {(a, b): [key for key in keys[a] if key in keys[b]] for a, b in pairs}
    cells = {(a, b): cells_of(outputs[a].line, outputs[b].line) for a, b in pairs if _has_order(wanted[a, b])}
    scores = scores_of(float(next(iter(outputs.values())).line.ends[-1])) if cells else None
    size, parts = len(next(iter(outputs.values())).costs), {pair: dict[Key, list[Floats]]() for pair in pairs}
    with tqdm(total=resampling.n_resamples, desc="swaps", unit="swap", delay=1, disable=not progress) as bar:
        for swaps in _swaps(size, resampling):
            as_floats = swaps.astype(np.float64)
            away = {name: _taken(output, swaps, as_floats) for name, output in outputs.items()}
            for pair in pairs:
                both, gone = [outputs[name] for name in pair], [away[name] for name in pair]
                with np.errstate(divide="ignore", invalid="ignore"):  # a swap may leave no sample of some kind
                    found = _differences(both, gone, wanted[pair], cells.get(pair), scores)
                for key, values in found.items():
                    parts[pair].setdefault(key, []).append(values)
            bar.update(len(swaps))
    return {pair: {key: np.concatenate(values) for key, values in found.items()} for pair, found in parts.items()}


def _bins(system: System) -> Ints:
    decisions, options = as_given(system)
    if decisions.confidence is None:
        return np.zeros(0, np.int64)
    return confidence_bins(decisions.confidence, n_bins=options.n_bins)


def _outputs(system: System, bins: Ints, num_bins: int) -> _Outputs:
    decisions, options = as_given(system)
    size = len(decisions.uncertainty)
    weight = np.ones(size) if options.sample_weight is None else options.sample_weight
    share = (weight / weight.sum())[:, None]
    costs = dict(sample_costs(decisions, options))
    gaps = np.zeros((size, num_bins))
    if decisions.confidence is not None:
        gaps[np.arange(size), bins] = decisions.confidence - (1 - decisions.candidate_cost)
    columns = {key: column for column, key in enumerate(costs)}
    stacked = np.stack(list(costs.values()), axis=-1)
    return _Outputs(decisions, options, columns, stacked * share, gaps * share, line_of(system))


def _taken(output: _Outputs, swaps: Bits, as_floats: Floats) -> _Taken:
    return _Taken(as_floats @ output.costs, as_floats @ output.gaps, taken(output.line, swaps), swaps)


def _differences(
    both: list[_Outputs], gone: list[_Taken], wanted: list[Key], cells: Cells | None, scores: Scores | None
) -> Differences:
    """Return the first system's value of each metric minus the second's, after each swap."""
    first, second = _means_after(both, gone)
    found = {key: first[key] - second[key] for key in first}
    for key in wanted:
        if METRICS[key.metric].ratio is not None:
            found[key] = _ratio(key, first) - _ratio(key, second)
        elif METRICS[key.metric].of_samples is not None and not key.variant:
            found[key] = _of_samples(key, both, gone)
    if any(key.variant == "normalized" for key in wanted):
        above, below = (_normalized(output, means) for output, means in zip(both, (first, second), strict=True))
        found |= {key: above[key] - below[key] for key in above}
    if cells is not None and scores is not None:
        found |= _by_order(both, gone, wanted, cells, scores, found)
    return {key: found[key] for key in wanted}


def _means_after(both: list[_Outputs], gone: list[_Taken]) -> list[dict[Key, Floats]]:
    """Return each mean of both systems."""
    first, second = both[0].costs.sum(axis=0), both[1].costs.sum(axis=0)
    moved = gone[1].costs - gone[0].costs
    return [
        {key: values[:, column] for key, column in both[0].means.items()} for values in (first + moved, second - moved)
    ]


def _ratio(key: Key, means: Mapping[Key, Floats]) -> Floats:
    above, below = (means[Key(name, key.parameter)] for name in METRICS[key.metric].ratio or ())
    return above / np.where(below > 0, below, np.nan)


def _of_samples(key: Key, both: list[_Outputs], gone: list[_Taken]) -> Floats:
    """Return the difference of a metric of samples; those that hold all but their share of the weight weigh nothing."""
    if key.metric == "ece":
        return _ece_difference(both, gone)
    compute = METRICS[key.metric].of_samples
    assert compute is not None
    pooled = Decisions(*(_joined(a, b) for a, b in zip(both[0].decisions, both[1].decisions, strict=True)))  # type: ignore[arg-type]
    groups, weights = both[0].options.groups, [output.options.sample_weight for output in both]
    options = both[0].options.replace(groups=None if groups is None else np.tile(groups, 2), sample_weight=None)
    swaps, weight = gone[0].swaps, np.ones(1) if weights[0] is None else weights[0]
    held = [np.concatenate([part * weight, (1 - part) * weight], axis=1) for part in (1 - swaps, swaps)]
    return np.asarray(compute(pooled, None, options, held[0]) - compute(pooled, None, options, held[1]))


def _joined(ours: Floats | Ints | float | None, theirs: Floats | Ints | float | None) -> object:
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        return np.concatenate([ours, theirs])
    return ours if theirs is not None else None


def _ece_difference(both: list[_Outputs], gone: list[_Taken]) -> Floats:
    first, second = both[0].gaps.sum(axis=0), both[1].gaps.sum(axis=0)
    moved = gone[1].gaps - gone[0].gaps
    return np.asarray(np.abs(first + moved).sum(axis=1) - np.abs(second - moved).sum(axis=1))


def _normalized(output: _Outputs, means: Mapping[Key, Floats]) -> Mapping[Key, FloatOrFloats]:
    """Divide by the naive system's values, which depend on the share of errors or on the classes."""
    naive: dict[Key, FloatOrFloats] = {}
    decisions, options, *_ = output
    if decisions.confidence is not None:
        wrong = means[Key("error_rate")]
        one_each = Decisions(np.zeros(2), np.array([0.0, 1.0]), decisions.max_uncertainty, confidence=np.zeros(2))
        naive |= naive_values(one_each, options, sample_weight=np.stack([1 - wrong, wrong], axis=-1))
    if decisions.labels is not None:
        of_classes = decisions._replace(confidence=None)
        naive |= naive_values(of_classes, options, sample_weight=options.sample_weight)
    return normalized_values(means, {key: value for key, value in naive.items() if key in means})


def _has_order(wanted: Iterable[Key]) -> bool:
    return any(key.metric in BY_ORDER or key.variant in REFITTED for key in wanted)


def _by_order(
    both: list[_Outputs], gone: list[_Taken], wanted: list[Key], cells: Cells, scores: Scores, means: Differences
) -> Differences:
    ours, theirs = gone[0].groups, gone[1].groups
    found: Differences = {}
    if any(key.metric in BY_ORDER for key in wanted):
        of_order = order_differences(cells, ours, theirs, scores)
        found |= {Key(name): values for name, values in of_order.items()}
    if any(key.variant in REFITTED for key in wanted):
        options, u_max = both[0].options, both[0].decisions.max_uncertainty
        first, second = (
            recalibrated_values(ties, options, max_uncertainty=u_max) for ties in ties_after_swaps(cells, ours, theirs)
        )
        for key in first:
            best = np.asarray(first[key] - second[key])
            found |= {key: best, key._replace(variant="calibration_loss"): means[key._replace(variant="")] - best}
    return found


def _swaps(num_samples: int, resampling: Resampling) -> Iterator[Bits]:
    """Yield which samples are swapped, 0 or 1, shape (b, N), in chunks that add up to `n_resamples` rows."""
    generator = np.random.default_rng(resampling.random_state)
    unit, unit_strata = units(num_samples, resampling)
    for rows in chunks(resampling.n_resamples, num_samples):
        swaps = generator.integers(0, 2, (rows, len(unit_strata)), dtype=np.int8)
        yield swaps if resampling.groups is None else swaps[:, unit]
