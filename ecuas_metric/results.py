"""Checked arrays and options -> a system, ready to be evaluated -> all numbers that its options ask for."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .abstentions import note_abstentions, select_answered_groups, select_answered_samples
from .basis import UNKNOWN, Basis, Origin, make_basis
from .calibration import ECE_DEBIASED, debiased_ece_limits
from .costs import ECUAS_N, note_above_maximum
from .decisions import (
    Decisions,
    make_decisions,
    select_rows,
)
from .display import Drawn
from .errors import InputError, Note
from .groups import Groups, tie_groups
from .inputs import (
    NO_LIMITS,
    Array,
    Bools,
    Floats,
    Ints,
    Limits,
    inner_product,
    repair_predictions,
    select_or_none,
)
from .intervals import (
    NO_UNITS,
    Answers,
    analytic_intervals,
    group_answers,
    has_binary_sums,
    note_keys,
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
    check_data_options,
    refuse_inapplicable_options,
    resolve_level_costs,
    select_options,
)
from .order import AUROC, auroc
from .sampling import bootstrap_intervals, make_design

if TYPE_CHECKING:
    from pandas import DataFrame

# below it 95 % intervals of the bootstrap hold the true value in fewer than 93 % of samples
FEW_ERRORS = 25
ENOUGH_ANSWERS = 10  # of a kind: a perfect order of as many is no chance, 2 ** -10 for a coin
MOST_DRAWN = 10**8  # samples after repetition by counts: beyond, their arrays need gigabytes
LARGE_SHARE = 0.1  # of ECUAS_0: more of it from epsilon changes its first digit
_UNDEFINED = {AUROC.name: "auroc_undefined", ECE_DEBIASED.name: "ece_debiased_undefined"}
INVERTED_DEVIATES = -4  # standard errors of an AUROC below 1/2 that are no chance


@dataclass(frozen=True, eq=False)
class System(Drawn):
    """One system, ready to be evaluated: its decisions with their costs, and the options of its metrics.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> confidence_system([1, 0, 1], [0.9, 0.8, 0.4])
    <System: 3 samples with confidences, mean cost 0.3333, largest uncertainty 1>
    """

    decisions: Decisions
    options: Options  # with K
    # of equal uncertainty, with the weights: the one sort that metrics and curves share
    ties: Groups
    notes: tuple[Note, ...] = ()  # on the input
    # (N,), pair the samples of several systems; a pyarrow.Array if they come from a file
    ids: Sequence[object] | None = None
    # (N,), the true classes as numbers, where confidences in predicted classes come without posteriors
    truth: Floats | None = None
    origin: Origin = UNKNOWN
    audit: Any = None  # an `audit.Audit`, if answers were labelled by a judge, and some by people

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
class Results(Drawn):
    """All numbers of a system, with notes for the reader and what the numbers depend on.

    Attributes
    ----------
    estimates : dict of Key to Estimate
    notes : tuple of Note
    basis : Basis
        What the numbers depend on; its text is their signature.
    system : System or None
        What they are of, which `plot` draws; None of averages.

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
    system: System | None = None

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


def prepare_system(
    form: str,
    predictions: Array,
    references: Array,
    options: Options,
    *,
    ids: Sequence[object] | None = None,
    sort: bool = True,
) -> System:
    """Return the system of checked arrays.

    Parameters
    ----------
    form : str
        "confidences", "posteriors" or "costs"; `inputs.FORM_CHECKS` has the check of each.
    predictions, references : ndarray, shape (N,) or (N, K), and (N,)
        As `compute` of the Evaluate module takes them in this form.
    options : Options
        Checked; InputError for those that do not fit the form or the data.
    ids : sequence, shape (N,), optional
        Of the samples.
    sort : bool
        Whether to sort the samples. Without, there are no tie groups: only means of costs can be computed.
    """
    are_positive = options.predictions_are == "positive_probabilities"
    if are_positive and form != "costs":
        form = "posteriors"
    refuse_inapplicable_options(form, options)
    predictions, notes = repair_predictions(
        form,
        predictions,
        predictions_are=options.predictions_are,
        renormalize=options.renormalize,
        missing_confidence=options.missing_confidence,
        abstained=options.abstained,
    )
    if form == "posteriors":
        options = resolve_level_costs(options.replace(num_classes=predictions.shape[1]))
    decisions = make_decisions(form, predictions, references, options)
    advice = (
        "check_cost"
        if options.decisions is None
        else "There, another decision has a lower expected cost."
    )
    answered = decisions.uncertainty
    if decisions.has_abstentions:
        answered = answered[~decisions.abstained]
    notes += note_above_maximum(answered, decisions.max_uncertainty, advice=advice)
    check_data_options(
        options,
        num_samples=len(references),
        max_uncertainty=decisions.max_uncertainty,
        are_shares=decisions.confidence is not None,
    )
    options = options.replace(abstained=None)  # decisions have them
    if not sort:
        none = np.empty(0)
        return System(decisions, options, Groups(none, none, none), notes, ids)
    system = make_system(decisions, options, notes=notes, ids=ids)
    if form != "confidences":
        return system
    return replace(system, notes=notes + _note_confidences(system))


def _note_confidences(system: System) -> tuple[Note, ...]:
    """Return the notes on all confidences together: inverted ones, and abstentions."""
    decisions = system.decisions
    silent = int(np.count_nonzero(decisions.abstained))
    wrong = int(np.count_nonzero(decisions.candidate_cost)) - silent
    right = system.num_samples - silent - wrong
    inverted = note_inverted(select_answered_groups(system.ties), wrong, right)
    return inverted + note_abstentions(system.ties, decisions, silent)


def name_systems(
    systems: Mapping[str, System] | Iterable[System],
) -> dict[str, System]:
    """Return systems by name; those of a list are "system 1", "system 2", .. InputError for other objects."""
    if isinstance(systems, System):
        raise InputError(
            "systems", "must be a mapping of names to systems, or a list", got="one System"
        )
    if isinstance(systems, Mapping):
        named = dict(systems)
    else:
        named = number_systems(systems)
    for name, system in named.items():
        if not isinstance(system, System):
            raise InputError(
                "systems",
                "must be of confidence_system, posterior_system or prepare_submissions",
                got=f"{type(system).__name__} for {name!r}",
            )
    return named


def number_systems(systems: Iterable[Any]) -> dict[str, Any]:
    """Return what has no names as "system 1", "system 2", .."""
    return {f"system {number}": system for number, system in enumerate(systems, 1)}


def make_system(
    decisions: Decisions,
    options: Options,
    *,
    notes: tuple[Note, ...] = (),
    ids: Sequence[object] | None = None,
) -> System:
    """Return the system of decisions with these options, sorted into tie groups."""
    rank = decisions.rank
    cost = decisions.candidate_cost
    weight = options.sample_weight
    # intervals need the order of the samples too
    if options.confidence_level is not None and not has_binary_sums(decisions, options):
        rank = decisions.sorted_rank
        cost = cost[decisions.order]
        weight = None if weight is None else weight[decisions.order]
    ties = tie_groups(rank, cost, sample_weight=weight)
    return System(decisions, options, ties, notes, ids)


def select_samples(system: System, rows: Ints) -> System:
    """Return the system of the samples `rows`, in this order: indices, which may repeat or leave out samples."""
    return replace(
        system,
        decisions=select_rows(system.decisions, rows),
        options=select_options(system.options, rows),
        ids=_take_ids(system.ids, rows),
        truth=select_or_none(system.truth, rows),
        audit=None if system.audit is None else system.audit.select(rows),
    )


def compute_results(
    system: System,
    *,
    progress: bool = False,
    only: Sequence[Key] | None = None,
) -> Results:
    """Compute all numbers that a system's options ask for, or those in `only`; with intervals at `confidence_level`."""
    if system.audit is not None:
        found: Results = system.audit.compute_results(system, only)
        return found
    keys = _requested_keys(system, only)
    values = _values(system, keys)
    notes = (*system.notes, *note_undefined(values), *note_at_floor(values, system))
    limits: dict[Key, Limits] = {}
    if system.options.confidence_level is not None:
        limits, of_intervals = _intervals(system, _drop_calibration(values), progress=progress)
        notes += of_intervals
        debiased = Key(ECE_DEBIASED.name)
        if debiased in values:
            limits[debiased] = _ece_limits(draw_samples(system))
            if math.isnan(limits[debiased][0]):
                notes += note_keys("no_interval_known", [debiased])
    estimates = {}
    for key, value in values.items():
        estimates[key] = Estimate(value, *limits.get(key, ()))
    return Results(estimates, notes, system.basis, system)


def value_keys(decisions: Decisions, options: Options) -> list[Key]:
    """Return the keys of all numbers that `compute_results` computes for these options, in order."""
    plain = defined_keys(decisions, options)
    keys = list(plain)
    if options.normalize:
        keys += [key.as_variant("normalized") for key in _normalizable_keys(plain, decisions)]
    if options.decompose:
        recalibrated = [key for key in plain if key.entry.has_recalibrated]
        variants = ("recalibrated", "calibration_loss")
        keys += [key.as_variant(variant) for key in recalibrated for variant in variants]
    if options.calibration:
        keys += defined_keys(decisions, options, when=("calibration",))
    return keys


def _normalizable_keys(plain: Sequence[Key], decisions: Decisions) -> list[Key]:
    """Return the keys that `normalize` divides by the naive system's value, in the order of `naive_values`."""
    naive = [key for key in plain if key.entry.naive_confidence is not None]
    if decisions.labels is not None:
        naive += [key for key in plain if key.entry.naive_posterior is not None]
    return naive


def _requested_keys(system: System, only: Iterable[Key] | None) -> list[Key]:
    """Return the checked keys `only`; by default those of all numbers of the system."""
    if only is None:
        return value_keys(system.decisions, system.options)
    return checked_keys(only)


def compute_values(system: System, only: Sequence[Key] | None = None) -> dict[Key, float]:
    """Compute all numbers of a system, or those in `only`, without intervals and the tests of `calibration`."""
    if system.audit is not None:
        plain = replace(system, options=system.options.replace(confidence_level=None))
        return {key: one.value for key, one in compute_results(plain, only=only).estimates.items()}
    return _drop_calibration(_values(system, _requested_keys(system, only)))


def _drop_calibration(values: Values) -> dict[Key, float]:
    """Return values without those of the option `calibration`, for which there are no intervals."""
    return {key: value for key, value in values.items() if key.entry.when != "calibration"}


def _values(system: System, keys: Sequence[Key]) -> dict[Key, float]:
    """Return the values of keys; keys that the system lacks are left out."""
    decisions = system.decisions
    options = system.options
    applicable = [key.as_variant("") for key in keys if key.entry.applies(decisions)]
    return add_variants(
        keys,
        metric_values(decisions, system.ties, options, keys=applicable),
        naive=lambda: naive_values(decisions, options, options.weights(system.num_samples)),
        ties=system.ties,
        template=decisions,
        options=options,
    )


def _intervals(
    system: System, values: Values, *, progress: bool
) -> tuple[dict[Key, Limits], tuple[Note, ...]]:
    if system.options.interval_method == "analytic":
        inferred = analytic_intervals(make_answers(system), values)
        return inferred.limits, inferred.notes
    samples = draw_samples(system)
    # Stable: which of tied samples are drawn must not depend on the machine.
    samples = select_samples(samples, samples.decisions.order)
    design = make_design(samples.num_samples, samples.options)
    if not design.tells_errors:
        return dict.fromkeys(values, NO_LIMITS), (NO_UNITS,)
    limits, notes = bootstrap_intervals(
        lambda counts: resampled_values(samples, counts, list(values)),
        design,
        samples.options,
        progress=progress,
    )
    recalibration = system.origin.recalibration
    not_inferred = {
        key: value for key, value in values.items() if why_no_inference(key, recalibration)
    }
    notes += notes_without_interval(not_inferred, recalibration) + _note_few_errors(
        samples.decisions
    )
    return limits | dict.fromkeys(not_inferred, NO_LIMITS), notes


def resampled_values(
    system: System, counts: Array, only: Sequence[Key] | None = None
) -> dict[Key, Floats]:
    """Return the values (B,) in each of B resamples, where sample i occurs `counts[b, i]` times."""
    every = [compute_values(_resample(system, row), only) for row in counts]
    return {key: np.array([values[key] for values in every]) for key in every[0]}


def _resample(system: System, counts: Array) -> System:
    weight = counts.astype(np.float64)
    if system.options.sample_weight is not None:
        weight *= system.options.sample_weight
    rows = np.flatnonzero(weight)
    weighted = system.options.replace(sample_weight=weight, confidence_level=None)
    options = select_options(weighted, rows)
    return make_system(select_rows(system.decisions, rows), options)


def _ece_limits(system: System) -> Limits:
    """Return the limits of the debiased ECE; nan if there are too few units to estimate a variance."""
    design = make_design(system.num_samples, system.options)
    if not design.tells_errors:
        return NO_LIMITS
    decisions, options = select_answered_samples(system.decisions, system.options)
    return debiased_ece_limits(Data(decisions, options), design.freedom)


def make_answers(system: System) -> Answers:
    """Return the answers that intervals are computed from: those of `draw_samples` in tie groups."""
    samples = draw_samples(system)
    ties = system.ties if samples is system else None
    return group_answers(samples.decisions, samples.options, ties, samples.origin.recalibration)


def draw_samples(system: System) -> System:
    """Return the system without samples of weight 0; if weights are counts, with each sample repeated that often.

    These are the samples that were drawn, on whose number standard errors depend.
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
    samples = select_samples(replace(system, ids=None), rows)
    if not is_count:
        return samples
    return replace(samples, options=samples.options.replace(sample_weight=None))


def _note_few_errors(decisions: Decisions) -> tuple[Note, ...]:
    """Return a note if fewer than `FEW_ERRORS` samples are wrong, or fewer right: too few for the bootstrap."""
    wrong = int(np.count_nonzero(decisions.candidate_cost))
    counts = {"errors": wrong, "samples without error": len(decisions.candidate_cost) - wrong}
    kind = min(counts, key=counts.__getitem__)
    if counts[kind] >= FEW_ERRORS:
        return ()
    fields = {"kind": kind, "count": counts[kind], "needed": FEW_ERRORS}
    return (Note("few_errors", fields, "use_analytic_intervals"),)


def note_undefined(values: Mapping[Key, float]) -> tuple[Note, ...]:
    """Return notes that say why values are undefined (nan), but for selective risks where nothing is accepted."""
    notes = [
        Note(identifier)
        for name, identifier in _UNDEFINED.items()
        if math.isnan(values.get(Key(name), 0.0))
    ]
    zeros = [
        str(key.as_variant(""))
        for key, value in values.items()
        if key.variant == "normalized" and math.isnan(value)
    ]
    if zeros:
        notes.append(Note("naive_costs_nothing", {"metrics": zeros}))
    return tuple(notes)


def note_at_floor(values: Mapping[Key, float], system: System) -> tuple[Note, ...]:
    """Return a note if at least a tenth of ECUAS_0 comes from mistakes at uncertainty 0, whose cost epsilon decides."""
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
    share = inner_product(weight[rows], cost) / (value * float(weight.sum()))
    if share < LARGE_SHARE:
        return ()
    return (
        Note(
            "mistakes_at_epsilon",
            {"share": share, "floor": system.options.floor},
            "Are the confidences rounded? Then go by a larger n, such as 1.",
        ),
    )


def note_inverted(
    ties: Groups,
    wrong: int,
    right: int,
) -> tuple[Note, ...]:
    """Return a note if incorrect answers tend to have higher confidences than correct ones, by more than chance."""
    if not wrong or not right:
        return ()
    # standard errors by chance in an AUROC of 1 (Mann and Whitney 1947, without ties)
    deviates = math.sqrt(12 * wrong * right / (wrong + right + 1))
    if -deviates / 2 > INVERTED_DEVIATES:
        return ()
    value = float(auroc(ties))
    if not (value - 0.5) * deviates <= INVERTED_DEVIATES:  # nan is neither
        return ()
    return (Note("inverted", {"auroc": value}, "invert_confidence"),)


def note_perfect(wrong: int, right: int) -> tuple[Note, ...]:
    """Return the note that confidences separate right from wrong answers perfectly, unless there are few of a kind."""
    return (Note("perfect"),) if min(wrong, right) >= ENOUGH_ANSWERS else ()


def require_same_keys(keys: Mapping[str, Collection[Key]]) -> None:
    """Raise InputError, with the differing keys, unless all systems have the same."""
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
    """Return the note that all confidences, `count` many, have one value; unless they are few."""
    fields = {"count": count, "value": value}
    return (Note("one_confidence", fields),) if count >= ENOUGH_ANSWERS else ()


def note_first_class(occurs: Bools) -> tuple[Note, ...]:
    """Return a note if labels seem to count from 1: of the K >= 3 classes only class 0 never `occurs` (K,)."""
    if len(occurs) < 3 or occurs[0] or not occurs[1:].all():
        return ()
    return (Note("labels_from_1", {"last": len(occurs) - 1}),)


def _take_ids(
    ids: Sequence[object] | None,
    rows: Ints,
) -> Sequence[object] | None:
    if ids is None:
        return None
    return ids.take(rows) if hasattr(ids, "take") else [ids[row] for row in rows]
