"""The options of `compute`: which there are, their checks, and their checked values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

import numpy as np

from .errors import InputError
from .inputs import (
    NUMBERS_PER_SAMPLE,
    POSTERIOR_FORMS,
    RANGE_TOLERANCE,
    Array,
    Bools,
    Floats,
    Ints,
    blocks,
    check_non_negative,
    check_one_dimensional,
    fill_masked,
    parse_indices,
    parse_numbers,
    parse_vector,
    require,
    require_not_missing,
    require_same_length,
    select_or_none,
    shape_error,
)

LEVEL_COSTS = {"absolute": 1, "squared": 2}  # costs of ordinal classes: powers of their distance
COSTS = ("zero_one", "log", *LEVEL_COSTS)
INTERVAL_METHODS = ("analytic", "percentile")
WEIGHTS = ("importance", "counts")
PER_SAMPLE = (
    "sample_weight",
    "groups",
    "strata",
    "abstained",
    "judge",
    "audit_probability",
)  # options with one value for each sample
LEVEL = 0.95  # of confidence, by default: the convention of the field
ALPHA = round(1 - LEVEL, 12)  # p-values up to it are significant
MOST_COPIES = 2.0**53  # larger weights do not count samples exactly


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Options:
    """The options of `compute`, checked as far as is possible without data; `OPTIONS` has their meanings."""

    n: tuple[float, ...] = (0.0, 1.0, 128.0)
    num_classes: float | None = None
    predictions_are: str = "probabilities"
    renormalize: bool = False
    cost: str | Floats = "zero_one"
    decisions: Array | None = None
    max_uncertainty: float | None = None
    reject_costs: tuple[float, ...] = ()
    normalize: bool = False
    missing_confidence: float | None = None
    n_bins: int = 10
    epsilon: float = 1e-7
    sample_weight: Floats | None = None
    weights_are: str = "importance"
    decompose: bool = False
    calibration: bool = False
    confidence_level: float | None = None
    interval_method: str = "analytic"
    n_resamples: int = 1000
    random_state: int = 0
    groups: Ints | None = None
    strata: Ints | None = None
    abstained: Bools | None = None
    judge: Floats | None = None
    audit_probability: Floats | None = None

    @property
    def floor(self) -> float:
        """The least uncertainty in ECUAS_n: epsilon, in the unit of the costs.

        That unit is `max_uncertainty` for graded costs, and for a matrix the least over decisions of the largest cost
        of each: the worst case of the best fixed decision. It is at most min(K, D) times u_M.
        """
        if self.max_uncertainty is not None:
            return self.epsilon * self.max_uncertainty
        if isinstance(self.cost, str):
            return self.epsilon
        return self.epsilon * float(self.cost.max(axis=0).min())

    def weights(self, size: int) -> Floats:
        """Return the weights (N,) of N = `size` samples: 1, broadcast, without `sample_weight`."""
        weight = self.sample_weight
        return np.broadcast_to(1.0, size) if weight is None else weight

    def replace(self, **changes: Any) -> Options:
        """Return a copy with other values, already checked."""
        return dataclasses.replace(self, **changes)


Check = Callable[[object, str], Any]  # raw value, name -> checked value; raises InputError


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """What an option of `compute` means, and how its value is checked."""

    check: Check
    help: str  # a phrase without a full stop, for `--help` and the page
    forms: tuple[str, ...] = ("confidences", "posteriors", "costs")  # of input that it applies to


def checked_options(**raw: object) -> Options:
    """Return the options, checked, with defaults for those missing or None; TypeError for an unknown name.

    Importance weights are scaled to their effective number, see `scale_to_effective_size`.
    """
    unknown = [name for name in raw if name not in OPTIONS]
    if unknown:
        near = get_close_matches(unknown[0], OPTIONS, 1)
        what = f"Did you mean {near[0]!r}?" if near else f"It takes {', '.join(OPTIONS)}."
        raise TypeError(f"There is no option {unknown[0]!r}. {what}")
    checked = {}
    for name, value in raw.items():
        if value is not None:  # which asks for the default
            checked[name] = OPTIONS[name].check(value, name)
    options = Options(**checked)
    weights = options.sample_weight
    if weights is None:
        return options
    if options.weights_are == "counts":
        require_counts(weights)
        return options
    return options.replace(sample_weight=scale_to_effective_size(weights))


_INTERVAL_OPTIONS = ("interval_method", "groups", "strata")
_DRAW_OPTIONS = ("n_resamples", "random_state")


def refuse_idle_options(options: Options, names: Collection[str] | None = None) -> None:
    """Raise InputError if an option (one of `names`, by default of all) is set but has no effect without another."""
    for name, needed in _idle_options(options).items():
        if is_set(options, name) and (names is None or name in names):
            raise InputError(name, "changes nothing without {needed}", needed=needed)


def _idle_options(options: Options) -> dict[str, str]:
    """Return the options that have no effect, each with the option that is missing for it."""
    idle: dict[str, str] = {}
    if options.confidence_level is None:
        is_tested = options.calibration
        without_level = ("interval_method",) if is_tested else _INTERVAL_OPTIONS + _DRAW_OPTIONS
        idle |= dict.fromkeys(without_level, "confidence_level")
    elif options.interval_method == "analytic" and not options.calibration:
        idle |= dict.fromkeys(_DRAW_OPTIONS, "interval_method='percentile'")
    if options.sample_weight is None:
        idle["weights_are"] = "sample_weight"
    if options.judge is None:
        idle["audit_probability"] = "judge"
    return idle


def select_per_sample(options: Mapping[str, object]) -> dict[str, object]:
    """Return the raw options with one value per sample that are set."""
    names = (*PER_SAMPLE, "decisions")
    return {name: options[name] for name in names if options.get(name) is not None}


def select_options(options: Options, rows: Ints | Bools) -> Options:
    """Return the options with those per sample cut to the samples `rows`, indices or booleans (N,)."""
    kept = {name: select_or_none(getattr(options, name), rows) for name in PER_SAMPLE}
    return options.replace(**kept)


def scale_to_effective_size(weights: Floats) -> Floats:
    """Return weights (N,) scaled so that their sum is their effective number of samples, (sum w)^2 / sum w^2.

    Only AURC depends on the scale.
    """
    # first, since sums of very large or small ones would overflow or vanish
    weights = weights / weights.max()
    # the same to the last bit in another order of rows, so that digests agree
    scale = _reproducible_sum(weights) / _reproducible_sum(weights**2)
    return weights * scale


def _reproducible_sum(values: Floats) -> float:
    """Return the sum of numbers (N,) in [0, 1], to the last bit the same in every order, for N < 2^27.

    Each is split into multiples of 2^-25 and of 2^-53, whose sums are exact (Demmel and Nguyen, 2013, Fast
    Reproducible Floating-Point Summation).
    """
    coarse_sum = fine_sum = 0.0
    for rows in blocks(len(values), row_size=NUMBERS_PER_SAMPLE):
        coarse = values[rows] + 2.0**27
        coarse -= 2.0**27
        fine = values[rows] - coarse
        fine += 1
        fine -= 1
        coarse_sum += float(coarse.sum())
        fine_sum += float(fine.sum())
    return coarse_sum + fine_sum


def require_counts(weights: Floats) -> None:
    """Raise InputError unless weights (N,) that count samples are whole numbers below 2^53."""
    ok = (weights == np.floor(weights)) & (weights < MOST_COPIES)
    require(ok, weights, "sample_weight", "must be whole numbers where weights_are='counts'")


def refuse_inapplicable_options(form: str, options: Options) -> None:
    """Raise InputError if an option is set that does not apply to this form of input."""
    for name, option in OPTIONS.items():
        if form not in option.forms and is_set(options, name):
            forms = " or ".join(option.forms)
            raise InputError(name, "requires_form", forms=forms, form=form)


def is_set(options: Options, name: str) -> bool:
    """Return whether an option differs from its default."""
    value = getattr(options, name)
    default = getattr(DEFAULTS, name)
    return type(value) is not type(default) or bool(value != default)


def parse_cost_matrix(values: object, *, num_classes: int) -> Floats:
    """Return values as a matrix (K, D) of finite, non-negative costs, K = `num_classes`; else InputError."""
    matrix = parse_numbers(values, "cost")
    if matrix.ndim != 2 or len(matrix) != num_classes:
        raise shape_error(
            matrix,
            "cost",
            "must be 'zero_one', 'log' or have shape ({num_classes}, D), one row per class",
            num_classes=num_classes,
        )
    return check_non_negative(matrix, "cost")


def _is_data_frame(cost: object) -> bool:
    """Return whether costs are a data frame of pandas, whose rows have names."""
    return hasattr(cost, "columns") and hasattr(cost, "index")


def cost_frame_to_mapping(cost: Any) -> object:
    """Return a data frame of costs, with classes as rows and decisions as columns, as a mapping; others unchanged."""
    if not _is_data_frame(cost):
        return cost
    are_numbered = [type(names).__name__ == "RangeIndex" for names in (cost.index, cost.columns)]
    if all(are_numbered):
        return cost
    for names in (cost.index, cost.columns):
        if not names.is_unique:
            repeated = names[names.duplicated()][0]
            raise InputError(
                "cost", "must have different names of classes, and of decisions", value=repeated
            )
    table = parse_numbers(cost, "cost")
    return {
        name: dict(zip(cost.columns, row, strict=True))
        for name, row in zip(cost.index, table.tolist(), strict=True)
    }


def resolve_level_costs(options: Options) -> Options:
    """Return options whose cost "absolute" or "squared" is replaced by its matrix (K, K); others unchanged.

    The cost is that power of the distance between two of the K ordered classes, with the largest distance 1.
    """
    if not (isinstance(options.cost, str) and options.cost in LEVEL_COSTS):
        return options
    levels = np.linspace(0, 1, int(options.num_classes or 0))
    distance = np.abs(levels[:, None] - levels)
    return options.replace(cost=distance ** LEVEL_COSTS[options.cost])


def check_data_options(
    options: Options, *, num_samples: int, max_uncertainty: float, are_shares: bool
) -> None:
    """Raise InputError unless reject costs are at most u_M and options per sample have `num_samples` values.

    `are_shares` says that a reject cost is a share of the cost of a wrong answer, for the advice.
    """
    costs = np.array(options.reject_costs)
    require(
        costs <= max_uncertainty * (1 + RANGE_TOLERANCE),
        costs,
        "reject_costs",
        "must lie in [0, {largest:g}], the largest sensible uncertainty",
        advice="It is a share of the cost of a wrong answer, such as 0.2." if are_shares else "",
        largest=max_uncertainty,
    )
    for name in PER_SAMPLE:
        values = getattr(options, name)
        if values is not None:
            require_same_length(**{"predictions": range(num_samples), name: values})


def check_decisions(
    options: Options,
    *,
    num_samples: int,
    num_classes: int,
) -> Ints | None:
    """Return the user's decisions, if any, as indices (N,) of the D decisions of the cost; else InputError."""
    if options.decisions is None:
        return None
    num_decisions = num_classes
    if not isinstance(options.cost, str):
        num_decisions = parse_cost_matrix(options.cost, num_classes=num_classes).shape[1]
    elif options.cost == "log":
        raise InputError("decisions", "decisions_under_log_cost")
    return parse_indices(
        options.decisions, "decisions", num_classes=num_decisions, num_samples=num_samples
    )


def check_number(
    value: object,
    name: str,
    low: float,
    high: float,
    *,
    inside: bool = False,
    whole: bool = False,
) -> float:
    """Return one number in [`low`, `high`], or (`low`, `high`) if `inside`, and `whole` if asked; else InputError."""
    array = parse_numbers(value, name)
    if array.ndim == 0 and _is_within(float(array), low, high, inside=inside, whole=whole):
        return int(array) if whole and np.isfinite(array) else float(array)
    rule = "must be a whole number in {interval}" if whole else "must be a number in {interval}"
    interval = f"({low:g}, {high:g})" if inside else f"[{low:g}, {high:g}]"
    error = InputError(name, rule, value=value, interval=interval)
    if high == 1 and array.ndim == 0 and 10 <= array < 100:
        error.advice = "A percentage? Write {share:g}."
        error.fields["share"] = float(array) / 100
    raise error


def check_level(value: object, name: str) -> float:
    """Return a level of confidence in [1/2, 1); else InputError."""
    level = check_number(value, name, 0, 1, inside=True)
    if level < 0.5:
        _refuse_complement(
            level,
            name,
            "must be at least 0.5, the share of such intervals that hold the true value",
        )
    return level


def check_alpha(value: object, name: str) -> float:
    """Return the level of a test in (0, 1/2]; else InputError."""
    alpha = check_number(value, name, 0, 1, inside=True)
    if alpha > 0.5:
        _refuse_complement(
            alpha,
            name,
            "must be at most 0.5, the chance of finding a difference where there is none",
        )
    return alpha


def _refuse_complement(level: float, name: str, rule: str) -> NoReturn:
    """Raise InputError for a level that is on the wrong side of 1/2, with the advice to take 1 minus it."""
    raise InputError(
        name, rule, value=level, advice="Did you mean {complement:g}?", complement=1 - level
    )


def _is_within(
    number: float,
    low: float,
    high: float,
    *,
    inside: bool,
    whole: bool,
) -> bool:
    if whole and number != np.floor(number):
        return False
    return low < number < high if inside else low <= number <= high


def check_choice(
    value: object,
    choices: tuple[str, ...],
    name: str,
) -> str:
    """Return one of the names in `choices`; else InputError."""
    if not (isinstance(value, str) and value in choices):
        listed = [repr(choice) for choice in choices]
        raise InputError(name, "not_a_choice", value=value, choices=listed)
    return value


def _check_parameters(
    values: object,
    name: str,
    *,
    rule: str = "negative_or_nan",
) -> tuple[float, ...]:
    """Return one or several parameters >= 0 as a tuple; InputError if two give the same key of results."""
    array = check_one_dimensional(np.atleast_1d(parse_numbers(values, name)), name)
    array = array.astype(np.float64) + 0.0  # not minus 0, whose key would be another
    require(array >= 0, array, name, rule)
    keys = [f"{value:g}" for value in array]
    commonest = max(keys, key=keys.count)
    if keys.count(commonest) > 1:
        got = f"{commonest} more than once"
        raise InputError(
            name, "must differ in their first six digits", value=float(commonest), got=got
        )
    return tuple(array.tolist())


def _check_reject_costs(values: object, name: str) -> tuple[float, ...]:
    is_default = isinstance(values, tuple) and not values
    return () if is_default else _check_parameters(values, name, rule="negative")


def _are_by_place(cost: Any) -> bool:
    """Return whether rows and columns of costs, if these are a data frame, are numbered from 0."""
    axes = (cost.index, cost.columns) if _is_data_frame(cost) else ()
    return all([*map(str, names)] == [*map(str, range(len(names)))] for names in axes)


def _check_cost(value: object, name: str) -> str | Floats:
    if isinstance(value, str):
        return check_choice(value, COSTS, name)
    if isinstance(value, Mapping) or not _are_by_place(value):
        rule = "must be an array here, where no class has a name"
        advice = (
            "Pass a row for each class, in the order of the classes, and a column per decision."
        )
        raise InputError(name, rule, got="costs by name", advice=advice)
    return parse_numbers(value, name, are_costs=True).astype(np.float64, copy=False)


def _check_flag(value: object, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(name, "must be True or False", value=value)
    return bool(value)


def _check_weights(values: object, name: str) -> Floats:
    """Return weights (N,), finite, non-negative and not all zero; else InputError."""
    weights = check_non_negative(parse_vector(values, name), name)
    if not weights.max() > 0:
        raise InputError(name, "all_zero", value=0.0, got=f"{weights.size} zeros")
    return weights


def _check_abstained(values: object, name: str) -> Bools:
    """Return whether the system abstains from each sample (N,), from 0 and 1 or booleans; else InputError."""
    array = parse_vector(values, name)
    require((array == 0) | (array == 1), array, name, "must be 0 or 1")
    return np.asarray(array == 1)


def _check_verdicts(values: object, name: str) -> Floats:
    """Return a judge's labels (N,), 1, 0 or nan where it gives none; else InputError."""
    array = parse_vector(values, name).astype(np.float64)
    ok = np.isnan(array) | (array == 0) | (array == 1)
    require(ok, array, name, "must be 0 or 1, or nan where there is no verdict")
    return np.where(np.isnan(array), np.nan, array)  # one bit pattern for all nan, for digests


def _check_draw_probabilities(values: object, name: str) -> Floats:
    """Return the probabilities (N,) with which answers were drawn; of answers that were not, any number or nan."""
    array = parse_vector(values, name).astype(np.float64)
    return np.where(np.isnan(array), np.nan, array)


def code_memberships(values: object, name: str) -> Ints:
    """Return the names or numbers (N,) of groups or strata as integers from 0; InputError if one is missing."""
    array = check_one_dimensional(np.asarray(fill_masked(values)), name)
    if array.dtype.kind in "UmM":  # NumPy would make a text of nan
        array = np.asarray(values, object)
    if array.dtype.kind == "O":
        require_not_missing(array, name)
        array = np.array([str(value) for value in array])
    elif array.dtype.kind == "f":
        require(~np.isnan(array), array, name, "no_membership")
    _, codes = np.unique(array, return_inverse=True)
    return codes


def _number_check(low: float, high: float, **kind: bool) -> Check:
    return lambda value, name: check_number(value, name, low, high, **kind)


def _choice_check(*choices: str) -> Check:
    return lambda value, name: check_choice(value, choices, name)


DEFAULTS = Options()
_CONFIDENCES = ("confidences",)
_POSTERIORS = ("posteriors",)
_SHARES = ("confidences", "posteriors")
OPTIONS = {
    "n": Option(
        _check_parameters, "Parameter n of ECUAS_n: one or several numbers >= 0 (inf allowed)"
    ),
    "num_classes": Option(
        _number_check(2, np.inf, whole=True),
        "Number K of possible answers; by default infinite, as for free text",
        _CONFIDENCES,
    ),
    "predictions_are": Option(
        _choice_check(*POSTERIOR_FORMS),
        "Form of the posteriors: probabilities, log_probabilities or logits; or positive_probabilities (N,), those of "
        "class 1",
        _POSTERIORS,
    ),
    "renormalize": Option(
        _check_flag,
        "Divide rows of probabilities by their sums if these are within 0.05 of 1",
        _POSTERIORS,
    ),
    "cost": Option(
        _check_cost,
        "Cost: 'zero_one', 'log' or an array (K, D), a row per class and a column per decision",
        _POSTERIORS,
    ),
    "decisions": Option(
        parse_numbers,
        "The system's own decisions, if not those of lowest expected cost",
        _POSTERIORS,
    ),
    "max_uncertainty": Option(
        _number_check(0, np.inf, inside=True),
        "Uncertainty u_M of a system that knows nothing; required",
        ("costs",),
    ),
    "reject_costs": Option(
        _check_reject_costs,
        "Also compute expected cost, coverage and selective risk for users with these reject costs",
    ),
    "normalize": Option(
        _check_flag,
        "Also compute values relative to a system that ignores its input",
        _SHARES,
    ),
    "missing_confidence": Option(
        _number_check(0, 1),
        "Value that replaces missing confidences; by default they are an error",
        _CONFIDENCES,
    ),
    "n_bins": Option(_number_check(1, 2**31, whole=True), "Number of bins of ECE", _SHARES),
    "epsilon": Option(
        _number_check(0, 0.5, inside=True),
        "Lower bound of uncertainties in ECUAS_n (times a cost matrix's least column maximum, or max_uncertainty), and "
        "of probabilities in logarithms",
    ),
    "sample_weight": Option(_check_weights, "Weight of each sample, >= 0"),
    "weights_are": Option(
        _choice_check(*WEIGHTS),
        "Meaning of weights: importance, or counts, as if each row stood there so often; AURC and intervals depend "
        "on it",
    ),
    "decompose": Option(
        _check_flag,
        "Also compute each ECUAS_n after the best recalibration, and its calibration loss",
    ),
    "calibration": Option(
        _check_flag,
        "Also compute the debiased ECE, and the p-value of a test of calibration",
        _SHARES,
    ),
    "confidence_level": Option(check_level, "Also compute intervals at this level, e.g. 0.95"),
    "interval_method": Option(
        _choice_check(*INTERVAL_METHODS), "Method for intervals: analytic, or percentile bootstrap"
    ),
    "n_resamples": Option(
        _number_check(1, 2**31, whole=True), "Number of resamples for the bootstrap and for tests"
    ),
    "random_state": Option(
        _number_check(0, 2**63, whole=True),
        "Seed of the resamples (folds of a recalibration have their own, 42)",
    ),
    "groups": Option(
        code_memberships,
        "Groups of samples that depend on each other, e.g. questions on one document",
    ),
    "strata": Option(
        code_memberships,
        "Parts of the sample with sizes fixed in advance, e.g. easy and hard questions",
    ),
    "abstained": Option(
        _check_abstained,
        "Where a system gives no answer, 1; that costs the reject cost: 1 in ECUAS_n",
        _CONFIDENCES,
    ),
    "judge": Option(
        _check_verdicts,
        "A judge's verdicts, 1 or 0 (nan: none); labels are then people's, nan where they did not look. Numbers hold "
        "whatever the judge's mistakes if people's answers were drawn at random",
        _CONFIDENCES,
    ),
    "audit_probability": Option(
        _check_draw_probabilities,
        "The probability with which each answer was drawn for people; by default all the same",
        _CONFIDENCES,
    ),
}
