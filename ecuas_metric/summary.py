"""Summaries: sums over rows of one system that merge in any order, and the numbers that follow from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from .abstentions import count_answered_groups, note_abstentions, select_answered_groups
from .basis import REJECTIONS, Basis, Digest, Purpose, why_not_comparable
from .calibration import squared_weights
from .decisions import Decisions, confidence_from_uncertainty, one_sample_per_class, select_rows
from .display import Drawn
from .errors import UNLABELLED, InputError, Note, unlabelled_fields
from .groups import Groups, divide, join_groups, run_starts, sum_samples
from .inputs import (
    Floats,
    Ints,
    Limits,
    inner_product,
    make_hard_predictions_note,
    note_hard_predictions,
)
from .intervals import Answers, Intervals, analytic_intervals, next_costs, possible_range
from .metric import Data, Key, checked_keys, set_parameter
from .metrics import (
    add_variants,
    defined_keys,
    metric_values,
    naive_values,
    ratio_keys,
    recalibrated_values,
    sample_costs,
)
from .options import PER_SAMPLE, Options, checked_options
from .order import auroc
from .results import (
    Estimate,
    Results,
    System,
    note_at_floor,
    note_first_class,
    note_inverted,
    note_one_confidence,
    note_perfect,
    note_undefined,
    value_keys,
)

if TYPE_CHECKING:
    from pandas import DataFrame

# beyond it neighbours share a bin; a state then has some ten megabytes, and bounds of AUROC are 1e-5 apart
MOST_GROUPS = 2**18
# a bin is the whole part of LINEAR * share + ROOT * share^(1/8), the share that of the largest uncertainty: fine
# everywhere, finest close to 0; powers of 2, so that all engines round the same
LINEAR = 2.0**17
ROOT = 2.0**15
_MAX_SHARE = 2.0**16  # all above it share a bin
_NONE = (None, None)
_ROUNDING = 1e-13  # share of a group's weight that counts as 0
_PER_ROW = Digest("of each row")
_UNKNOWN: dict[str, Any] = dict.fromkeys(  # fields of the basis that a summary does not keep
    ("groups", "strata", "labels", "ids", "answers", "level", "interval_method", "draws")
)
_WHOLE_NOTES = (
    "inverted",
    "hard_decisions",
    "abstentions",
)  # ids of notes that depend on all rows together


class MergeError(InputError):
    """States that may not be merged, since their numbers depend on different things."""


@dataclass(frozen=True, slots=True)
class LossSums:
    """Sums over rows of w x, w^2 x and w^2 x^2, for weights w and a loss x of the whole posterior."""

    value: float
    weight2: float
    square: float


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Sums over the rows of one system, from which all its numbers follow; `merge` adds them up in any order."""

    basis: Basis
    options: Options
    groups: Groups
    rows: int
    samples: int  # rows with a positive weight
    wrong: int  # samples with a positive candidate cost, without abstentions
    largest_cost: float  # of a candidate decision
    losses: Mapping[Key, LossSums] = field(default_factory=dict)  # of losses of whole posteriors
    classes: Floats | None = None  # (K,), weight of the samples of each class
    notes: tuple[Note, ...] = ()

    @property
    def form(self) -> str:
        """The form of input: "confidences", "posteriors" or "costs"."""
        return str(self.basis.form)

    @property
    def is_exact(self) -> bool:
        """Whether the order of the rows is known: no bin has rows of different uncertainty."""
        return bool(self.groups.are_tied.all())

    @property
    def template(self) -> Decisions:
        """Decisions without rows: which arrays there are, and u_M, from which the defined metrics follow."""
        empty = np.empty(0)
        has_confidence = self.options.max_uncertainty is None and isinstance(self.options.cost, str)
        return Decisions(
            empty,
            empty,
            float(self.basis.max_uncertainty or 0.0),
            confidence=empty if has_confidence and self.options.cost == "zero_one" else None,
            labels=np.empty(0, np.int64) if self.form == "posteriors" else None,
        )


@dataclass(frozen=True, slots=True)
class BoundedEstimate(Estimate):
    """An estimate with its standard error, nan if there is none, and its bounds where bins leave it open.

    The interval is wider by the distance of the bounds.
    """

    standard_error: float = math.nan
    lower_bound: float | None = None
    upper_bound: float | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SummaryResults(Results):
    """The numbers of a summary: those of `Results`, with bounds and standard errors.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecuas_metric import score_frame
    >>> results = score_frame(pd.DataFrame({"confidence": [0.9, 0.8, 0.4], "correct": [1, 0, 1]}))
    >>> round(results.flat()["ecuas_1"], 2), [*results.to_frame()][:4]
    (0.67, ['value', 'low', 'high', 'standard_error'])
    """

    estimates: dict[Key, BoundedEstimate]  # type: ignore[assignment]

    def flat(self) -> dict[str, float]:
        """Return plain floats under plain keys, what belongs to ``key`` as ``key_low``, ``key_standard_error``, .."""
        values = Results.flat(self)
        for key, estimate in self.estimates.items():
            for name in ("standard_error", "lower_bound", "upper_bound"):
                value = getattr(estimate, name)
                if value is not None and not math.isnan(value):
                    values[f"{key}_{name}"] = value
        return values


class SystemResults(dict[str, SummaryResults], Drawn):
    """The results of several systems, by their names.

    Examples
    --------
    >>> import pandas as pd
    >>> from ecuas_metric import score_frame
    >>> frame = pd.DataFrame({"system": ["a", "b"] * 2, "confidence": [0.9, 0.8, 0.4, 0.7], "correct": [1, 0, 1, 1]})
    >>> [*score_frame(frame)]
    ['a', 'b']
    """

    @property
    def systems(self) -> dict[str, System]:
        """The systems that the numbers are of, where they are known."""
        return {name: one.system for name, one in self.items() if one.system is not None}

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each number of each system."""
        import pandas as pd

        frames = {name: results.to_frame() for name, results in self.items()}
        return pd.concat(frames, names=["system", "metric"])


# ---- rows -> summary -----------------------------------------------------------------------------------------------


def summarize_system(
    system: System,
    *,
    sample_weight: Floats | None = None,
) -> Summary:
    """Return the summary of a system's samples.

    Parameters
    ----------
    system : System
        Without an audit, whose numbers are no sums over rows.
    sample_weight : ndarray, shape (N,), optional
        Weights in the user's unit, for summaries that are to be merged: the system's are scaled by their sum.
    """
    if system.audit is not None:
        raise InputError("a state", "not_of_an_audit")
    weight = system.options.sample_weight if sample_weight is None else sample_weight
    rows = system.num_samples
    decisions = system.decisions
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        decisions = select_rows(decisions, kept)
        weight = weight[kept]
    options = system.options.replace(
        **dict.fromkeys(PER_SAMPLE), decisions=None, confidence_level=None
    )
    weights = None if weight is None else _PER_ROW
    summary = Summary(
        basis=replace(system.basis, num_samples=rows, weights=weights, **_UNKNOWN),
        options=options,
        groups=_group_samples(decisions, options, weight),
        rows=rows,
        samples=len(decisions.uncertainty),
        wrong=int(np.count_nonzero((decisions.candidate_cost > 0) & ~decisions.abstained)),
        largest_cost=float(decisions.candidate_cost.max(initial=0.0)),
        losses=_sum_losses(decisions, options, weight),
        classes=_class_weights(decisions, options, weight),
        notes=_lasting_notes(system),
    )
    return _bin_if_too_many(summary)


def _lasting_notes(system: System) -> tuple[Note, ...]:
    """Return the notes of a system that remain true when rows are added."""
    if system.basis.form != "confidences":
        return system.notes
    return tuple(note for note in system.notes if note.id not in _WHOLE_NOTES)


def _class_weights(
    decisions: Decisions,
    options: Options,
    weight: Floats | None,
) -> Floats | None:
    """Return the weight (K,) of the samples of each class, None without classes."""
    if decisions.labels is None:
        return None
    size = int(options.num_classes or 0)
    return np.bincount(decisions.labels, weight, minlength=size).astype(np.float64)


def _group_samples(decisions: Decisions, options: Options, weight: Floats | None) -> Groups:
    """Return samples in groups of equal uncertainty."""
    order = decisions.order
    rank = decisions.sorted_rank + 0.0  # -0.0 becomes 0.0
    starts = run_starts(rank)
    w = np.ones(len(order)) if weight is None else weight[order]
    c = decisions.candidate_cost[order]
    u = decisions.uncertainty[order]
    add = partial(np.add.reduceat, indices=starts)
    return replace(
        sum_samples(rank[starts], w, c, add, w if options.weights_are == "counts" else 1.0),
        high=rank[starts],
        next_cost=next_costs(decisions, options, order, starts),
        uncertainty=add(w * u),
        cost_uncertainty=add(w * c * u),
    )


def _sum_losses(
    decisions: Decisions,
    options: Options,
    weight: Floats | None,
) -> dict[Key, LossSums]:
    """Return the sums of each loss of whole posteriors over the samples."""
    every = np.ones(len(decisions.uncertainty)) if weight is None else weight
    squares = squared_weights(every, options)
    sums = {}
    for key in defined_keys(decisions, options, when=("", "ratio")):
        if key.entry.is_posterior_loss:
            x = sample_costs(key, decisions, options)
            of_squares = inner_product(squares, np.square(x))
            sums[key] = LossSums(inner_product(every, x), inner_product(squares, x), of_squares)
    return sums


# ---- merging -------------------------------------------------------------------------------------------------------


def merge(summaries: Iterable[Summary]) -> Summary:
    """Return the summary of the rows of all summaries; MergeError, with the reasons, if they may not be merged."""
    parts = list(summaries)
    if not parts:
        raise InputError("states", "empty")
    for part in parts[1:]:
        require_mergeable(parts[0].basis, part.basis)
    return parts[0] if len(parts) == 1 else _bin_if_too_many(_add_summaries(parts))


def require_mergeable(one: Basis, other: Basis) -> None:
    """Raise MergeError, with the reasons, if the rows of two bases may not be merged."""
    reasons = why_not_comparable(one, other, purpose=Purpose.MERGE)
    if reasons:
        raise MergeError(
            "states that are merged",
            "must depend on the same; they differ in their {reasons}",
            reasons=reasons,
        )


def _add_summaries(parts: Sequence[Summary]) -> Summary:
    """Return the summary of all rows, without a limit to the number of groups."""
    first = parts[0]
    rows = sum(part.rows for part in parts)
    classes = [part.classes for part in parts if part.classes is not None]
    return Summary(
        basis=replace(first.basis, num_samples=rows, unlabelled=_common_rule(parts)),
        options=first.options,
        groups=join_groups([part.groups for part in parts]),
        rows=rows,
        samples=sum(part.samples for part in parts),
        wrong=sum(part.wrong for part in parts),
        largest_cost=max(part.largest_cost for part in parts),
        losses={key: _merge_losses(parts, key) for key in first.losses},
        classes=np.sum(classes, axis=0) if classes else None,
        notes=_merge_notes(parts),
    )


def _common_rule(parts: Sequence[Summary]) -> str | None:
    """Return how rows without a label were treated: the treatment of the parts that have any, else None."""
    return next(filter(None, (part.basis.unlabelled for part in parts)), None)


def _merge_losses(parts: Sequence[Summary], key: Key) -> LossSums:
    sums = np.array([astuple(part.losses[key]) for part in parts])
    return LossSums(*sums.sum(axis=0).tolist())


def replace_groups(summary: Summary, groups: Groups) -> Summary:
    """Return a summary with other groups, which may be unsorted and have equal ranks."""
    return _bin_if_too_many(replace(summary, groups=join_groups([groups])))


def _bin_if_too_many(summary: Summary) -> Summary:
    """Return the summary with at most about `MOST_GROUPS` groups: of more, neighbours share a bin."""
    groups = summary.groups
    if len(groups.rank) <= MOST_GROUPS:
        return summary
    places = assign_bins(groups.rank, summary.template, summary.options)
    return replace(summary, groups=groups.binned(run_starts(*places.T)))


def assign_bins(rank: Floats, template: Decisions, options: Options) -> Ints:
    """Return the bin of each rank (N,) as three numbers (N, 3), which increase with the rank.

    The first is the bin by `_bin_ranks`; the others count the `bin_thresholds` below the rank, and up to it, since a
    bin ends there. Bins are narrowest close to certainty, for confidences also close to 0.
    """
    thresholds = bin_thresholds(template, options)
    places = [np.searchsorted(thresholds, rank, side=side) for side in ("left", "right")]
    return np.stack([_bin_ranks(rank, template), *places], axis=1)


def bin_thresholds(template: Decisions, options: Options) -> Floats:
    """Return the ranks at which a bin must end, increasing: edges of ECE's bins and reject costs."""
    thresholds = [template.rank_from_uncertainty(np.array(options.reject_costs))]
    if template.confidence is not None:
        edges = np.arange(1, options.n_bins) / options.n_bins
        thresholds.append(-edges if template.labels is None else confidence_from_uncertainty(edges))
    return np.unique(np.concatenate(thresholds))


def _bin_ranks(rank: Floats, template: Decisions) -> Ints:
    """Return the bin of each rank (N,) without thresholds; abstentions, of rank above 0, have one of their own."""
    if not template.has_only_confidences:
        top = 2.0 ** np.ceil(np.log2(template.max_uncertainty))
        return _bin_shares(rank / top)
    confidence = np.maximum(-rank, 0.0)
    end = _bin_shares(np.array([0.5]))
    steps = _bin_shares(np.minimum(confidence, 1 - confidence))
    of_answers = np.where(confidence >= 0.5, steps, 2 * end + 1 - steps)
    return np.where(rank > 0, 2 * end + 2, of_answers)


def _bin_shares(share: Floats) -> Ints:
    """Return the bins (N,) of shares of the largest uncertainty, see `LINEAR`; all engines round square roots alike."""
    root = np.sqrt(np.sqrt(np.sqrt(np.minimum(share, _MAX_SHARE))))
    steps = LINEAR * np.minimum(share, 1.0) + ROOT * root
    return np.floor(steps).astype(np.int64)


def _merge_notes(parts: Sequence[Summary]) -> tuple[Note, ...]:
    """Return each note once, with counts added up; those on all rows together only if all parts have them."""
    by_kind: dict[str, Note] = {}
    for part in parts:
        for note in part.notes:
            by_kind.setdefault(note.id if _is_counted(note) else str(note), note)
    notes = []
    for note in by_kind.values():
        if _is_counted(note):
            notes.append(_add_counts(note, parts))
        elif note.id not in _WHOLE_NOTES or _is_note_shared(note, parts):
            notes.append(note)
    return tuple(notes)


def _is_counted(note: Note) -> bool:
    return {"count", "total"} <= note.fields.keys()


def _is_note_shared(note: Note, parts: Sequence[Summary]) -> bool:
    """Return whether every part with rows has a note with this id."""
    ids = [[other.id for other in part.notes] for part in parts if part.rows]
    return all(note.id in of_part for of_part in ids)


def _add_counts(note: Note, parts: Sequence[Summary]) -> Note:
    """Return a note with its counts added up over all parts."""
    first = next(part for part in parts if note in part.notes)
    fields: dict[str, Any] = dict(note.fields)
    # a row may have several of the values that are counted; unlabelled rows that were dropped are no rows of a part
    per_row = 1 if note.id == UNLABELLED else fields["total"] // first.rows
    noted = list(chain.from_iterable(_note_fields(note.id, part, per_row) for part in parts))
    fields |= _add_fields(noted, "count", "total")
    if note.id == UNLABELLED:
        weights = _add_fields(noted, "weight", "of_weight")
        return note_unlabelled(fields["count"], fields["total"], weights, note.advice)
    if "largest" in fields:
        fields["largest"] = max(one.get("largest", 0.0) for one in noted)
    if "share" in fields:
        fields["share"] = fields["count"] / fields["total"]
    return replace(note, fields=fields)


def _note_fields(rule: str, part: Summary, per_row: int) -> list[dict[str, Any]]:
    """Return the fields of a part's notes with the id `rule`; of a part without one, a count of 0."""
    noted = [dict(note.fields) for note in part.notes if note.id == rule]
    weight = part.groups.total
    none = {"count": 0, "total": per_row * part.rows, "weight": 0.0, "of_weight": weight}
    return noted or [none]


def _add_fields(noted: Sequence[Mapping[str, Any]], *names: str) -> dict[str, Any]:
    return {name: sum(fields[name] for fields in noted) for name in names}


def note_unlabelled(count: int, total: int, weights: Mapping[str, float], advice: str) -> Note:
    """Return the note on unlabelled rows, with their weight and that of all rows, so that notes can be merged."""
    of_weight = weights["of_weight"]
    share = weights["weight"] / of_weight if of_weight > 0 else count / total
    return Note(UNLABELLED, {**unlabelled_fields(count, total, share), **weights}, advice)


# ---- summary -> numbers --------------------------------------------------------------------------------------------


def compute_summary_results(
    summary: Summary,
    *,
    normalize: bool = False,
    decompose: bool = False,
    confidence_level: float | None = None,
    with_errors: bool = True,
    only: Iterable[Key] | None = None,
) -> SummaryResults:
    """Return all numbers of a summary, or those in `only`, as `compute_results` does for a system.

    With `confidence_level` there are analytic intervals. `with_errors` False leaves out standard errors, which take
    most of the time. InputError if no row has a weight and a label.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> results = compute_summary_results(summarize_system(confidence_system([1, 0, 1], [0.9, 0.8, 0.4], n=1)))
    >>> round(results.flat()["ecuas_1"], 4), round(results.flat()["ecuas_1_standard_error"], 4)
    (0.67, 0.4954)
    """
    if not summary.samples or _is_unlabelled(summary):
        raise InputError(
            "a state",
            "must have rows that are judged and have a weight",
            got=f"{summary.rows} rows",
        )
    asked = {
        "normalize": normalize,
        "decompose": decompose,
        "confidence_level": confidence_level,
    }
    checked_options(**asked)
    options = summary.options.replace(**asked, calibration=False)
    system = make_equivalent_system(summary)
    values = _summary_values(summary, system, options, _requested_keys(summary, options, only))
    bounds = _bound_by_order(summary, system.ties, values)
    notes = (
        *_notes(summary, system, bounds),
        *note_undefined(values),
        *note_at_floor(values, system),
    )
    inference = Intervals({}, {}, ())
    if with_errors or confidence_level is not None:
        answers = Answers(system.ties, summary.template, options, losses=_loss_groups(summary))
        inference = _widen_intervals(analytic_intervals(answers, values), answers, values, bounds)
    estimates = {
        key: _estimate(key, value, inference, bounds.get(key)) for key, value in values.items()
    }
    basis = _summary_basis(summary, options)
    return SummaryResults(estimates, notes + inference.notes, basis, system)


def _requested_keys(summary: Summary, options: Options, only: Iterable[Key] | None) -> list[Key]:
    """Return the keys of all numbers of a summary, or those of `only` that it has."""
    template = summary.template
    keys = value_keys(template, options)
    if only is None:
        return keys
    asked = checked_keys(only)
    keys += [key for key in asked if key.entry.when == "named" and key.entry.applies(template)]
    return [key for key in asked if key in keys]


def _is_unlabelled(summary: Summary) -> bool:
    """Return whether no row has a label, so that all count as wrong."""
    counts = [note.fields for note in summary.notes if note.id == UNLABELLED]
    return any(fields["count"] == fields["total"] for fields in counts)


def _estimate(
    key: Key,
    value: float,
    inference: Intervals,
    bounds: Limits | None,
) -> BoundedEstimate:
    """Return a value with its interval, standard error and bounds, as far as there are any."""
    error = inference.standard_errors.get(key, math.nan)
    low, high = inference.limits.get(key, _NONE)
    lower, upper = bounds or _NONE
    return BoundedEstimate(value, low, high, error, lower, upper)


def make_equivalent_system(summary: Summary) -> System:
    """Return a system with the same values and curves as the summary: two weighted samples for each group.

    All costs are affine in the candidate cost c. So a row of weight w counts as two samples: one of cost 0 and weight
    w (1 - c / d), and one of cost d and weight w c / d, with the largest candidate cost d.
    """
    template = summary.template
    groups = summary.groups
    dearest = summary.largest_cost or 1.0
    heavy = groups.cost / dearest
    light = groups.weight - heavy
    light = np.where(light > _ROUNDING * groups.weight, light, 0.0)
    of_heavy = groups.cost_uncertainty / dearest
    rank = _interleave(
        _mean_rank(summary, groups.uncertainty - of_heavy, light),
        _mean_rank(summary, of_heavy, heavy),
    )
    weight = _weight_unit(summary) * _interleave(light, heavy)
    uncertainty = template.uncertainty_from_rank(rank)
    confidence = None
    if template.confidence is not None:
        confidence = -rank if template.labels is None else confidence_from_uncertainty(uncertainty)
    decisions = Decisions(
        uncertainty,
        np.tile([0.0, dearest], len(light)),
        template.max_uncertainty,
        confidence=confidence,
        labels=None
        if template.labels is None
        else np.zeros(len(rank), np.int64),  # any class: with labels, u orders the rows
    )
    options = summary.options.replace(
        sample_weight=weight, weights_are="counts", missing_confidence=None
    )
    return System(decisions, options, _groups_at_means(summary))


def _interleave(first: Floats, second: Floats) -> Floats:
    """Return an array (2 G,) of the numbers of two arrays (G,) in turn."""
    return np.stack([first, second], axis=1).ravel()


def _mean_rank(summary: Summary, total: Floats, weight: Floats) -> Floats:
    """Return the rank (G,) of each group's mean uncertainty, from sums (G,) of w u (`total`) and of w (`weight`)."""
    groups = summary.groups
    rank = summary.template.rank_from_uncertainty(divide(total, weight))
    mean = np.clip(rank, groups.rank, groups.high)
    return np.where(groups.are_tied, groups.rank, mean)


def _groups_at_means(summary: Summary) -> Groups:
    """Return the groups, each at the rank of its mean uncertainty, with weights scaled as `checked_options` does."""
    groups = summary.groups
    rank = _mean_rank(summary, groups.uncertainty, groups.weight)
    return replace(groups.scaled(_weight_unit(summary)), rank=rank)


def _summary_values(
    summary: Summary,
    system: System,
    options: Options,
    keys: Sequence[Key],
) -> dict[Key, float]:
    """Return the values of keys: from groups, but means of losses of whole posteriors from their own sums."""
    total = summary.groups.total
    losses = {key: sums.value / total for key, sums in summary.losses.items()}
    plain = [key.as_variant("") for key in keys]
    of_groups = [key for key in plain if losses.keys().isdisjoint([key, *ratio_keys(key)])]
    return add_variants(
        keys,
        metric_values(system.decisions, system.ties, system.options, keys=of_groups) | losses,
        naive=partial(_summary_naive_values, summary, system),
        ties=system.ties,
        template=summary.template,
        options=options,
    )


def _summary_naive_values(summary: Summary, system: System) -> Mapping[Key, float]:
    """Return the naive system's values, from the shares of right answers and of classes."""
    template = summary.template
    values: dict[Key, float] = {}
    if template.confidence is not None:
        answers = replace(system.decisions, labels=None)
        values |= naive_values(answers, summary.options, system.options.weights(system.num_samples))
    if summary.classes is not None:
        one_each = one_sample_per_class(len(summary.classes), template.max_uncertainty)
        values |= naive_values(one_each, summary.options, summary.classes)
    return values


def _weight_unit(summary: Summary) -> float:
    """Return the factor by which `checked_options` would scale weights: sum w / sum w^2, 1 for counts."""
    if summary.basis.weights is None or summary.options.weights_are != "importance":
        return 1.0
    return summary.groups.total / float(summary.groups.weight2.sum())


def _loss_groups(summary: Summary) -> dict[Key, Groups]:
    """Return, for each loss of whole posteriors, its sums as one group of all rows."""
    every = summary.groups
    groups = {}
    for key, sums in summary.losses.items():
        cells = {
            "weight": every.total,
            "cost": sums.value,
            "rank": 0.0,
            "weight2": every.weight2.sum(),
            "weight2_cost": sums.weight2,
            "weight2_cost2": sums.square,
            "weight4": every.weight4.sum(),
        }
        groups[key] = Groups(**{name: np.array([cell]) for name, cell in cells.items()})
    return groups


def _summary_basis(summary: Summary, options: Options) -> Basis:
    """Return what the numbers of a summary depend on, with intervals, weights and bins."""
    basis = summary.basis
    if options.confidence_level is not None:
        basis = replace(basis, level=options.confidence_level, interval_method="analytic")
    if basis.weights is not None:
        total = summary.groups.total
        basis = replace(basis, weights=Digest(f"of sum {total:.9g}"))
    ranks = summary.groups.rank
    if count_answered_groups(ranks) < len(ranks) and summary.template.has_only_confidences:
        basis = replace(basis, abstentions=REJECTIONS)
    return replace(basis, resolution=f"{len(summary.groups.rank)} groups")


# ---- bounds --------------------------------------------------------------------------------------------------------


def _bound_by_order(
    summary: Summary,
    ties: Groups,
    values: Mapping[Key, float],
) -> dict[Key, Limits]:
    """Return the least and the largest value over all orders of rows within bins; nothing if the order is known."""
    if summary.is_exact:
        return {}
    orders = _extreme_orders(summary, ties)
    bounds = {}
    for key in values:
        if key.entry.has_order_bounds and not key.variant:
            ends = [_evaluate_order(key, order, summary) for order in orders]
            bounds[key] = (min(ends), max(ends))
    if any(key.variant for key in values):
        bounds |= _recalibrated_bounds(summary, ties, orders[0], values)
    return bounds


def _evaluate_order(key: Key, order: Groups, summary: Summary) -> float:
    """Return the value of a number with samples in this order; of the answers alone if the metric skips abstentions."""
    compute = key.entry.value
    assert compute is not None  # a mean knows no order
    if key.entry.skips_abstentions and summary.template.has_only_confidences:
        order = select_answered_groups(order)
    data = Data(summary.template, summary.options, grouped=order)
    return float(compute(set_parameter(data, key)))


def _recalibrated_bounds(
    summary: Summary, ties: Groups, latest: Groups, values: Mapping[Key, float]
) -> dict[Key, Limits]:
    """Return the bounds of recalibrated values and calibration losses.

    A recalibrated value is least if costs come as late as possible (`latest`), and at most that of the bins, since
    recalibration may give all rows of a bin one uncertainty.
    """
    highest = recalibrated_values(ties, summary.template, summary.options)
    lowest = recalibrated_values(latest, summary.template, summary.options)
    bounds = {}
    for key, value in highest.items():
        apart = max(value - lowest[key], 0.0)
        loss = key.as_variant("calibration_loss")
        if key in values:
            bounds[key] = (values[key] - apart, values[key])
        if loss in values:
            bounds[loss] = (values[loss], values[loss] + apart)
    return bounds


def _extreme_orders(summary: Summary, ties: Groups) -> tuple[Groups, Groups]:
    """Return the groups with the costs of each bin as late as possible, and as early: the two bound each metric."""
    are_tied = summary.groups.are_tied
    dearest = summary.largest_cost or 1.0
    heavy = np.where(are_tied, 0.0, np.minimum(ties.cost / dearest, ties.weight))
    light = ties.weight - heavy
    light_cost = np.where(are_tied, ties.cost, 0.0)
    heavy_cost = ties.cost - light_cost
    rank = np.repeat(ties.rank, 2)
    return (
        Groups(_interleave(light, heavy), _interleave(light_cost, heavy_cost), rank),
        Groups(_interleave(heavy, light), _interleave(heavy_cost, light_cost), rank),
    )


def _widen_intervals(
    inference: Intervals,
    answers: Answers,
    values: Mapping[Key, float],
    bounds: Mapping[Key, Limits],
) -> Intervals:
    """Return intervals widened by the distances of the bounds from the value, within the range of each metric."""
    limits = dict(inference.limits)
    for key in limits.keys() & bounds.keys():
        least, most = possible_range(key, answers)
        low = limits[key][0] - (values[key] - bounds[key][0])
        high = limits[key][1] + (bounds[key][1] - values[key])
        limits[key] = max(low, least), min(high, most)
    return replace(inference, limits=limits)


# ---- notes ---------------------------------------------------------------------------------------------------------


def _note_columns(summary: Summary, system: System) -> tuple[Note, ...]:
    """Return the notes on columns that may have been taken for others, as for files in memory."""
    ranks = summary.groups.rank
    if summary.form == "confidences":
        ranks = ranks[: count_answered_groups(ranks)]
        if len(ranks) == 1 and summary.is_exact:
            return note_one_confidence(summary.rows, float(-ranks[0]))
        answered = select_answered_groups(system.ties)
        right = _count_right(summary, answered)
        return note_perfect(summary.wrong, right) if auroc(answered) == 1 else ()
    if summary.classes is None:
        return ()
    are_certain = not ranks.any()
    notes = (make_hard_predictions_note("probabilities"),) if are_certain else ()
    return notes + note_first_class(summary.classes > 0)


def _count_silent(summary: Summary, answered: Groups) -> int | None:
    """Return how many samples have no answer; None of weighted ones, of which their share alone is known."""
    if summary.basis.weights is not None:
        return None
    return round(summary.groups.total - float(answered.weight.sum()))


def _count_right(summary: Summary, answered: Groups) -> int:
    """Return how many answers are right; of weighted samples those without an answer are among them."""
    return summary.samples - summary.wrong - (_count_silent(summary, answered) or 0)


def _notes(summary: Summary, system: System, bounds: Mapping[Key, Limits]) -> tuple[Note, ...]:
    """Return the notes on single rows, on all rows together, and on bounds."""
    notes = list(summary.notes)
    if summary.form == "confidences":
        ranks = summary.groups.rank
        notes += note_hard_predictions(-ranks[: count_answered_groups(ranks)])
        answered = select_answered_groups(system.ties)
        notes += note_inverted(answered, summary.wrong, _count_right(summary, answered))
        notes += note_abstentions(system.ties, summary.template, _count_silent(summary, answered))
    if summary.basis.recipe is not None:
        notes += _note_columns(summary, system)
    if bounds:
        widest = max(high - low for low, high in bounds.values())
        fields = {"bins": len(summary.groups.rank), "widest": widest, "metrics": list(bounds)}
        notes.append(Note("bounded", fields))
    return tuple(notes)
