"""Checked arrays and options -> a prepared system -> every number that its options ask for."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .abstentions import answered_groups, answered_samples, note_abstentions
from .basis import UNKNOWN, Basis, Origin, make_basis
from .calibration import ECE_DEBIASED, limits_of_gap
from .costs import ECUAS_N, note_above
from .decisions import (
    Decisions,
    make_decisions,
    select_rows,
)
from .display import Drawn, Shown
from .errors import InputError, Note
from .groups import Groups, tie_groups
from .inputs import (
    NO_LIMITS,
    Array,
    Bools,
    Floats,
    Ints,
    Limits,
    inner,
    picked,
    repair,
)
from .intervals import (
    NO_UNITS,
    Answers,
    analytic_intervals,
    group_answers,
    note_on,
    notes_without_interval,
    why_no_inference,
)
from .metric import Data, Key, checked_keys
from .metrics import (
    Values,
    add_variants,
    defined_keys,
    metric_values,
    naive_values,
    sample_costs,
)
from .options import (
    Options,
    refuse_options_of_other_forms,
    require_fit,
    select_options,
    with_costs_of_levels,
)
from .order import AUROC, auroc
from .sampling import intervals, make_design

if TYPE_CHECKING:
    from pandas import DataFrame

# below it 95 % intervals of the bootstrap hold the true value in fewer than 93 % of samples
FEW_ERRORS = 25
ENOUGH = 10  # answers of a kind from which a perfect order is no chance: 2 ** -10 for a coin
MOST_DRAWN = 10**8  # copies of samples: beyond, their arrays need gigabytes
MUCH = 0.1  # of a number, which then has no digit that does not depend on it
_UNDEFINED = {AUROC.name: "auroc_undefined", ECE_DEBIASED.name: "ece_debiased_undefined"}
INVERTED = -4  # standard errors of an AUROC of 1/2: what chance does not make


@dataclass(frozen=True, eq=False)
class System(Drawn):
    """The output of one system, ready to be evaluated: its decisions, and the options of its metrics.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> confidence_system([1, 0, 1], [0.9, 0.8, 0.4])
    <System: 3 samples with confidences, mean cost 0.3333, largest uncertainty 1>
    """

    decisions: Decisions
    options: Options  # with K
    ties: Groups  # of `decisions` with the weights: the one sort that metrics and curves share
    notes: tuple[Note, ...] = ()  # on the input
    # to pair samples of systems; of a file, a pyarrow.Array
    ids: Sequence[object] | None = None
    # (N,), numbers for the true classes, where decisions are of confidences in chosen ones
    truth: Floats | None = None
    origin: Origin = UNKNOWN
    audit: Any = None  # an `audit.Audit`, if candidate costs are what a judge and people tell

    @cached_property
    def basis(self) -> Basis:
        """All that the numbers of this system depend on; its text is their signature."""
        return make_basis(
            self.decisions,
            self.options,
            ids=self.ids,
            truth=self.true_classes,
            origin=self.origin,
        )

    @property
    def true_classes(self) -> Array | None:
        """(N,), numbers for the true classes, if they are known."""
        return self.truth if self.decisions.labels is None else self.decisions.labels

    @property
    def num_samples(self) -> int:
        """N."""
        return len(self.decisions.uncertainty)

    def __repr__(self) -> str:
        """Return one line: how many samples of what, their mean cost, and the largest uncertainty."""
        decisions = self.decisions
        weight = self.options.sample_weight
        what = "confidences" if decisions.confidence is not None else "uncertainties"
        cost = np.average(decisions.candidate_cost, weights=weight)
        weighted = "" if weight is None else "weighted "
        return (
            f"<System: {self.num_samples} samples with {what}, {weighted}mean cost {cost:.4g}, "
            f"largest uncertainty {decisions.max_uncertainty:.4g}>"
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, with the limits of its interval if there is one.

    Examples
    --------
    >>> print(Estimate(0.25, 0.2, 0.31))
    0.25 [0.2, 0.31]
    """

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def limits(self) -> Limits:
        """The limits of its interval, nan if there is none."""
        return NO_LIMITS if self.low is None or self.high is None else (self.low, self.high)

    def __str__(self) -> str:
        """Return the value with four digits, and its interval if there is one."""
        if self.low is None or self.high is None or math.isnan(self.low):
            return f"{self.value:.4g}"
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True, slots=True, eq=False)
class Results(Shown):
    """All numbers of a system, with notes for the reader and what the numbers depend on.

    Attributes
    ----------
    estimates : dict of Key to Estimate
    notes : tuple of Note
    basis : Basis
        What the numbers depend on; its text is their signature.

    Examples
    --------
    >>> from ecuas_metric import confidence_system, make_report
    >>> make_report([confidence_system([1, 0, 1], [0.9, 0.8, 0.4])], only="er,ecuas_1").results["system 1"]
    error_rate  0.3333
    ecuas_1     0.67
    """

    estimates: dict[Key, Estimate]
    notes: tuple[Note, ...]
    basis: Basis

    def flat(self) -> dict[str, float]:
        """Return plain floats under plain keys; the limits of intervals are ``{key}_low`` and ``{key}_high``."""
        values = {str(key): estimate.value for key, estimate in self.estimates.items()}
        for key, estimate in self.estimates.items():
            if estimate.low is not None and estimate.high is not None:
                values[f"{key}_low"] = estimate.low
                values[f"{key}_high"] = estimate.high
        return values

    def __repr__(self) -> str:
        """Return a line for each number with its interval, then the notes."""
        width = max((len(str(key)) for key in self.estimates), default=0)
        lines = [f"{key!s:{width}}  {estimate}" for key, estimate in self.estimates.items()]
        return "\n".join([*lines, *map(str, self.notes)])

    def to_frame(self) -> DataFrame:
        """Return a data frame: value, low and high of each number (nan where there is no interval)."""
        import pandas as pd

        rows = {str(key): asdict(estimate) for key, estimate in self.estimates.items()}
        return pd.DataFrame.from_dict(rows, orient="index", dtype=np.float64)


def prepare(
    form: str,
    predictions: Array,
    references: Array,
    options: Options,
    *,
    ids: Sequence[object] | None = None,
    rank: bool = True,
) -> System:
    """Turn a system's arrays, checked by the form's function of `inputs`, into decisions, and sort them if `rank`.

    Otherwise there are no tie groups, and no metric of the order may be asked for.
    """
    are_positive = options.predictions_are == "positive_probabilities"
    if are_positive and form != "costs":
        form = "posteriors"
    refuse_options_of_other_forms(form, options)
    predictions, notes = repair(
        form,
        predictions,
        predictions_are=options.predictions_are,
        renormalize=options.renormalize,
        missing_confidence=options.missing_confidence,
        abstained=options.abstained,
    )
    if form == "posteriors":
        options = with_costs_of_levels(options.replace(num_classes=predictions.shape[1]))
    decisions = make_decisions(form, predictions, references, options)
    advice = (
        "check_cost"
        if options.decisions is None
        else "There, another decision has a lower expected cost."
    )
    answered = decisions.uncertainty
    if decisions.has_abstentions:
        answered = answered[~decisions.abstained]
    notes += note_above(answered, decisions.max_uncertainty, advice=advice)
    require_fit(
        options,
        num_samples=len(references),
        max_uncertainty=decisions.max_uncertainty,
        are_shares=decisions.confidence is not None,
    )
    options = options.replace(abstained=None)  # decisions have them
    if not rank:
        none = np.empty(0)
        return System(decisions, options, Groups(none, none, none), notes, ids)
    system = ranked(decisions, options, notes=notes, ids=ids)
    if form != "confidences":
        return system
    silent = int(np.count_nonzero(decisions.abstained))
    wrong = int(np.count_nonzero(decisions.candidate_cost)) - silent
    right = system.num_samples - silent - wrong
    notes += note_inverted(answered_groups(system.ties), wrong, right)
    return replace(system, notes=notes + note_abstentions(system.ties, decisions, silent))


def named_systems(
    systems: Mapping[str, System] | Iterable[System],
) -> dict[str, System]:
    """Return systems by name, numbered where they have none."""
    if isinstance(systems, System):
        raise InputError(
            "systems", "must be a mapping of names to systems, or a list", got="one System"
        )
    if isinstance(systems, Mapping):
        named = dict(systems)
    else:
        named = {f"system {number}": system for number, system in enumerate(systems, 1)}
    for name, system in named.items():
        if not isinstance(system, System):
            raise InputError(
                "systems",
                "must be of confidence_system, posterior_system or prepare_submissions",
                got=f"{type(system).__name__} for {name!r}",
            )
    return named


def ranked(
    decisions: Decisions,
    options: Options,
    *,
    notes: tuple[Note, ...] = (),
    ids: Sequence[object] | None = None,
) -> System:
    """Return a system of decisions, sorted once."""
    rank = decisions.rank_by
    cost = decisions.candidate_cost
    weight = options.sample_weight
    if options.confidence_level is not None:  # intervals need the order of the samples too
        rank = decisions.ranks
        cost = cost[decisions.order]
        weight = None if weight is None else weight[decisions.order]
    ties = tie_groups(rank, cost, sample_weight=weight)
    return System(decisions, options, ties, notes, ids)


def reordered(system: System, rows: Ints) -> System:
    """Return a system of the samples `rows`, in this order; a row may occur several times or never."""
    return replace(
        system,
        decisions=select_rows(system.decisions, rows),
        options=select_options(system.options, rows),
        ids=_pick(system.ids, rows),
        truth=picked(system.truth, rows),
        audit=None if system.audit is None else system.audit.of_rows(rows),
    )


def compute_results(
    system: System,
    *,
    progress: bool = False,
    only: Sequence[Key] | None = None,
) -> Results:
    """Compute every number that a system's options ask for (or those in `only`), with intervals if there is a level."""
    if system.audit is not None:
        found: Results = system.audit.results(system, only)
        return found
    keys = _keys_asked(system, only)
    values = _values(system, keys)
    notes = (*system.notes, *note_undefined(values), *note_at_floor(values, system))
    limits: dict[Key, Limits] = {}
    if system.options.confidence_level is not None:
        limits, of_intervals = _intervals(system, _inferred(values), progress=progress)
        notes += of_intervals
        debiased = Key(ECE_DEBIASED.name)
        if debiased in values:
            limits[debiased] = _limits_of_gap(samples_drawn(system))
            if math.isnan(limits[debiased][0]):
                notes += note_on("no_interval_known", [debiased])
    estimates = {}
    for key, value in values.items():
        estimates[key] = Estimate(value, *limits.get(key, ()))
    return Results(estimates, notes, system.basis)


def value_keys(decisions: Decisions, options: Options) -> list[Key]:
    """Return the keys of `compute_results`, without computing any number."""
    plain = defined_keys(decisions, options)
    keys = list(plain)
    if options.normalize:
        keys += [key.of("normalized") for key in _divided(plain, decisions)]
    if options.decompose:
        recalibrated = [key for key in plain if key.entry.has_recalibrated]
        variants = ("recalibrated", "calibration_loss")
        keys += [key.of(variant) for key in recalibrated for variant in variants]
    if options.calibration:
        keys += defined_keys(decisions, options, when=("calibration",))
    return keys


def _divided(plain: Sequence[Key], decisions: Decisions) -> list[Key]:
    """Return the keys of what `normalize` divides, in the order of `naive_values`."""
    naive = [key for key in plain if key.entry.naive_confidence is not None]
    if decisions.labels is not None:
        naive += [key for key in plain if key.entry.naive_posterior is not None]
    return naive


def _keys_asked(system: System, only: Iterable[Key] | None) -> list[Key]:
    """Return the keys of all numbers of a system, or those that are asked for."""
    if only is None:
        return value_keys(system.decisions, system.options)
    return checked_keys(only)


def all_values(system: System, only: Sequence[Key] | None = None) -> dict[Key, float]:
    """Compute metrics with their normalised and recalibrated values, but for those of calibration."""
    if system.audit is not None:
        plain = replace(system, options=system.options.replace(confidence_level=None))
        return {key: one.value for key, one in compute_results(plain, only=only).estimates.items()}
    return _inferred(_values(system, _keys_asked(system, only)))


def _inferred(values: Values) -> dict[Key, float]:
    """Return the values whose errors are known by the influences of the samples, or from resamples."""
    return {key: value for key, value in values.items() if key.entry.when != "calibration"}


def _values(system: System, keys: Sequence[Key]) -> dict[Key, float]:
    """Return the values of keys; keys that the system lacks are left out."""
    decisions = system.decisions
    options = system.options
    applicable = [key.of("") for key in keys if key.entry.applies(decisions)]
    return add_variants(
        keys,
        metric_values(decisions, system.ties, options, keys=applicable),
        naive=lambda: naive_values(decisions, options, options.weights(system.num_samples)),
        ties=system.ties,
        form=decisions,
        options=options,
    )


def _intervals(
    system: System, values: Values, *, progress: bool
) -> tuple[dict[Key, Limits], tuple[Note, ...]]:
    if system.options.interval_method == "analytic":
        inferred = analytic_intervals(answers_drawn(system), values)
        return inferred.limits, inferred.notes
    samples = samples_drawn(system)
    # Stable: which of tied samples are drawn must not depend on the machine.
    samples = reordered(samples, samples.decisions.order)
    design = make_design(samples.num_samples, samples.options)
    if not design.tells_errors:
        return dict.fromkeys(values, NO_LIMITS), (NO_UNITS,)
    limits, notes = intervals(
        lambda counts: resampled_values(samples, counts, list(values)),
        design,
        samples.options,
        progress=progress,
    )
    recalibration = system.origin.recalibration
    not_inferred = {
        key: value for key, value in values.items() if why_no_inference(key, recalibration)
    }
    notes += notes_without_interval(not_inferred, recalibration) + _few_errors(samples.decisions)
    return limits | dict.fromkeys(not_inferred, NO_LIMITS), notes


def resampled_values(
    system: System, counts: Array, only: Sequence[Key] | None = None
) -> dict[Key, Floats]:
    """Return the values (B,) of resamples, which hold each sample as often as `counts` (B, N) says."""
    every = [all_values(_resample(system, row), only) for row in counts]
    return {key: np.array([values[key] for values in every]) for key in every[0]}


def _resample(system: System, counts: Array) -> System:
    weight = counts.astype(np.float64)
    if system.options.sample_weight is not None:
        weight *= system.options.sample_weight
    rows = np.flatnonzero(weight)
    weighted = system.options.replace(sample_weight=weight, confidence_level=None)
    options = select_options(weighted, rows)
    return ranked(select_rows(system.decisions, rows), options)


def _limits_of_gap(system: System) -> Limits:
    """Return the limits of the debiased ECE; none if no unit is left to estimate a variance from."""
    design = make_design(system.num_samples, system.options)
    if not design.tells_errors:
        return NO_LIMITS
    decisions, options = answered_samples(system.decisions, system.options)
    return limits_of_gap(Data(decisions, options), design.freedom)


def answers_drawn(system: System) -> Answers:
    """Return the answers of the samples that were drawn."""
    samples = samples_drawn(system)
    return group_answers(samples.decisions, samples.options, samples.origin.recalibration)


def samples_drawn(system: System) -> System:
    """Return the samples without those of weight 0, and repeated as their weights say if weights are counts.

    Errors depend on them; values do not.
    """
    options = system.options
    weight = options.sample_weight
    is_count = options.weights_are == "counts"
    if weight is None or (not is_count and weight.all()):
        return system
    if is_count and weight.sum() > MOST_DRAWN:
        raise InputError(
            "sample_weight",
            "must count at most {most:,} samples for intervals",
            value=int(weight.sum()),
            most=MOST_DRAWN,
        )
    copies = (weight if is_count else weight > 0).astype(np.int64)
    rows = np.repeat(np.arange(len(copies)), copies)
    samples = reordered(replace(system, ids=None), rows)
    if not is_count:
        return samples
    return replace(samples, options=samples.options.replace(sample_weight=None))


def _few_errors(decisions: Decisions) -> tuple[Note, ...]:
    """Return a note if there are too few errors, or samples without error, for the bootstrap (found by simulation)."""
    wrong = int(np.count_nonzero(decisions.candidate_cost))
    counts = {"errors": wrong, "samples without error": len(decisions.candidate_cost) - wrong}
    kind = min(counts, key=counts.__getitem__)
    if counts[kind] >= FEW_ERRORS:
        return ()
    fields = {"kind": kind, "count": counts[kind], "needed": FEW_ERRORS}
    return (Note("few_errors", fields, "use_analytic_intervals"),)


def note_undefined(values: Mapping[Key, float]) -> tuple[Note, ...]:
    """Return notes on values that do not exist for this sample, except selective risks of an empty selection."""
    notes = [
        Note(identifier)
        for name, identifier in _UNDEFINED.items()
        if math.isnan(values.get(Key(name), 0.0))
    ]
    zeros = [
        str(key.of(""))
        for key, value in values.items()
        if key.variant == "normalized" and math.isnan(value)
    ]
    if zeros:
        notes.append(Note("naive_costs_nothing", {"metrics": zeros}))
    return tuple(notes)


def note_at_floor(values: Mapping[Key, float], system: System) -> tuple[Note, ...]:
    """Return a note if much of ECUAS_0 is mistakes at the least uncertainty, which count what epsilon sets."""
    key = Key(ECUAS_N.name, 0.0)
    value = values.get(key, 0.0)
    decisions = system.decisions
    if not value > 0 or decisions.uncertainty.min() > system.options.floor:
        return ()
    is_at_floor = decisions.uncertainty <= system.options.floor
    rows = np.flatnonzero(is_at_floor & (decisions.candidate_cost > 0))
    if not len(rows):
        return ()
    weight = system.options.weights(system.num_samples)
    cost = sample_costs(key, select_rows(decisions, rows), system.options)
    share = inner(weight[rows], cost) / (value * float(weight.sum()))
    if share < MUCH:
        return ()
    return (
        Note(
            "mistakes_at_epsilon",
            {"share": share},
            "Are the confidences rounded? Then go by a larger n, such as 1.",
        ),
    )


def note_inverted(
    ties: Groups,
    wrong: int,
    right: int,
) -> tuple[Note, ...]:
    """Return a note if incorrect answers have higher confidences than correct ones, by more than chance."""
    if not wrong or not right:
        return ()
    # standard errors by chance in an AUROC of 1 (Mann and Whitney 1947, without ties)
    deviates = math.sqrt(12 * wrong * right / (wrong + right + 1))
    if -deviates / 2 > INVERTED:
        return ()
    value = float(auroc(ties))
    if not (value - 0.5) * deviates <= INVERTED:  # nan is neither
        return ()
    return (Note("inverted", {"auroc": value}, "invert_confidence"),)


def note_perfect(wrong: int, right: int) -> tuple[Note, ...]:
    """Return a note on confidences that tell right from wrong answers without a mistake, if these are not few."""
    return (Note("perfect"),) if min(wrong, right) >= ENOUGH else ()


def require_same_keys(keys: Mapping[str, Collection[Key]]) -> None:
    """Raise InputError if the systems of one table have other numbers than the first, which are named."""
    first = next(iter(keys.values()), ())
    for name, of_system in keys.items():
        differing = sorted(map(str, {*first} ^ {*of_system}))
        if differing:
            raise InputError(
                "systems of one table",
                "must have one form and the same options; those of {name!r} differ in {keys}",
                name=name,
                keys=differing,
            )


def note_one_confidence(count: int, value: float) -> tuple[Note, ...]:
    """Return a note on confidences that all have one value, if these are not few."""
    fields = {"count": count, "value": value}
    return (Note("one_confidence", fields),) if count >= ENOUGH else ()


def note_first_class(occurs: Bools) -> tuple[Note, ...]:
    """Return a note if labels may have been counted from 1: of K classes (K,) only the first is never true."""
    if len(occurs) < 3 or occurs[0] or not occurs[1:].all():
        return ()
    return (Note("labels_from_1", {"last": len(occurs) - 1}),)


def _pick(
    ids: Sequence[object] | None,
    rows: Ints,
) -> Sequence[object] | None:
    if ids is None:
        return None
    return ids.take(rows) if hasattr(ids, "take") else [ids[row] for row in rows]
