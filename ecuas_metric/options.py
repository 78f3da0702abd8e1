"""Raw options -> checked options: their names, their defaults and what they may be."""

from __future__ import annotations

from typing import Any

import numpy as np

from .inputs import POSTERIOR_FORMS, Floats, Ints, non_negative, numbers, one_dimensional, require, same_length

MOST_COPIES = 2.0**53  # weights that count copies beyond it are not whole numbers any more
OPTIONS_OF_FORM = {  # those that not every form takes, with the value that says nothing
    "num_classes": (None, "confidences"),
    "missing_confidence": (None, "confidences"),
    "predictions_are": ("probabilities", "posteriors"),
    "cost": ("zero_one", "posteriors"),
    "decisions": (None, "posteriors"),
    "max_uncertainty": (None, "graded"),
}


def checked_options(
    *,
    n: Any = (0, 1, 128),
    num_classes: Any = None,
    predictions_are: str = "probabilities",
    cost: Any = "zero_one",
    decisions: Any = None,
    max_uncertainty: Any = None,
    reject_costs: Any = None,
    normalize: bool = False,
    missing_confidence: Any = None,
    n_bins: Any = 10,
    epsilon: Any = 1e-7,
    sample_weight: Any = None,
    decompose: bool = False,
    confidence_level: Any = None,
    interval_method: str = "percentile",
    n_resamples: Any = 1000,
    random_state: Any = 0,
    groups: Any = None,
    strata: Any = None,
    **unknown: Any,
) -> dict[str, Any]:
    """Return all options of `compute` with their defaults, checked as far as that needs no data.

    Raises
    ------
    TypeError
        If there is no option of that name.
    ValueError
        If a value is out of its range.
    """
    options = {name: value for name, value in locals().items() if name != "unknown"}
    if unknown:
        raise TypeError(f"compute takes no option {next(iter(unknown))!r}; it takes {', '.join(options)}.")
    one_of(predictions_are, POSTERIOR_FORMS, "predictions_are")
    if isinstance(cost, str):
        one_of(cost, ("zero_one", "log"), "cost")
    else:
        numbers(cost, "cost")
    for name, value in (("normalize", normalize), ("decompose", decompose)):
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{name} must be True or False; got {value!r}.")
    checked_reject_costs(reject_costs)  # as far as that goes without the data, which tell the largest
    options["n"] = orders(n)
    options["n_bins"] = number(n_bins, "n_bins", 1, 2**31, whole=True)
    options["epsilon"] = number(epsilon, "epsilon", 0, 0.5, inside=True)
    one_of(interval_method, ("percentile", "bca"), "interval_method")
    options["n_resamples"] = number(n_resamples, "n_resamples", 1, 2**31, whole=True)
    options["random_state"] = number(random_state, "random_state", 0, 2**63, whole=True)
    if confidence_level is not None:
        options["confidence_level"] = number(confidence_level, "confidence_level", 0, 1, inside=True)
    if num_classes is not None:
        options["num_classes"] = number(num_classes, "num_classes", 2, np.inf, whole=True)
    if missing_confidence is not None:
        options["missing_confidence"] = number(missing_confidence, "missing_confidence", 0, 1)
    if max_uncertainty is not None:
        options["max_uncertainty"] = number(max_uncertainty, "max_uncertainty", 0, np.inf, inside=True)
    return options


def refuse_options_of_other_forms(form: str, options: dict[str, Any]) -> None:
    """Raise ValueError if an option is set that means nothing for the form of the input."""
    for name, (default, form_of_option) in OPTIONS_OF_FORM.items():
        is_default = isinstance(options[name], type(default)) and options[name] == default
        if form != form_of_option and not is_default:
            raise ValueError(f"{name} goes with {form_of_option}; the input is {form}.")
    if form == "graded" and options["normalize"]:
        raise ValueError("normalize goes with confidences and posteriors; the input is graded.")


def sample_weights(values: Any, *, num_samples: int) -> Floats | None:
    """Return `values` as (N,) finite, non-negative weights that are not all zero; None stays None.

    Whole numbers count equal samples: 2 is the sample twice. Others say how much of the population a sample
    stands for, in any unit: they are scaled to a mean of 1 over the samples that have a weight.
    """
    if values is None:
        return None
    weights = non_negative(one_dimensional(numbers(values, "sample_weight"), "sample_weight"), "sample_weight")
    same_length(predictions=range(num_samples), sample_weight=weights)
    if not weights.any():
        raise ValueError(f"sample_weight must not be all zero; got {weights.size} zeros.")
    if (weights == np.floor(weights)).all() and weights.max() < MOST_COPIES:
        return weights
    weights = weights / weights.max()  # first: sums of very large or small ones would overflow or vanish
    return weights * (np.count_nonzero(weights) / weights.sum())


def memberships(values: Any, name: str, *, num_samples: int) -> Ints | None:
    """Return `values` (N,), numbers or names of groups or strata, as whole numbers from 0; None stays None."""
    if values is None:
        return None
    array = one_dimensional(np.asarray(values), name)
    same_length(**{"predictions": range(num_samples), name: array})
    if array.dtype.kind == "O":
        missing = np.array([value is None or value != value for value in array])
        require(~missing, np.arange(num_samples), f"{name} must name one for every sample")
        array = np.array([str(value) for value in array])
    elif array.dtype.kind == "f":
        require(~np.isnan(array), array, f"{name} must name one for every sample")
    return np.unique(array, return_inverse=True)[1]


def cost_matrix(values: Any, *, num_classes: int) -> Floats:
    """Return `values` as a (K, D) matrix of finite, non-negative costs, K = `num_classes`."""
    matrix = numbers(values, "cost")
    if matrix.ndim != 2 or len(matrix) != num_classes:
        raise ValueError(
            f"cost must be 'zero_one', 'log' or have shape ({num_classes}, D), one row a class; "
            f"got shape {matrix.shape}."
        )
    return non_negative(matrix, "cost")


def checked_reject_costs(values: Any, *, max_uncertainty: float = np.inf) -> tuple[float, ...]:
    """Return one number or several as a tuple of reject costs in [0, `max_uncertainty`]; None gives none."""
    if values is None:
        return ()
    costs = _several(values, "reject_costs")
    require(
        (costs >= 0) & (costs <= max_uncertainty),
        costs,
        f"reject_costs must lie in [0, {max_uncertainty:g}], the largest sensible uncertainty"
        if max_uncertainty < np.inf
        else "reject_costs must be >= 0",
    )
    return _distinct_keys(costs, "reject_costs")


def orders(n: Any) -> tuple[float, ...]:
    """Return the parameter n of ECUAS_n, one number or several, as a tuple of numbers >= 0 (inf allowed)."""
    values = _several(n, "n")
    require(values >= 0, values, "n must be >= 0 (inf allowed)")
    return _distinct_keys(values, "n")


def number(value: Any, name: str, low: float, high: float, *, inside: bool = False, whole: bool = False) -> float:
    """Return `value` if it is one (whole) number in [`low`, `high`], or strictly `inside`."""
    array = numbers(value, name)
    kind = "a whole number" if whole else "a number"
    interval = f"({low:g}, {high:g})" if inside else f"[{low:g}, {high:g}]"
    fits = array.ndim == 0 and (low < array < high if inside else low <= array <= high)
    if not fits or (whole and array != np.floor(array)):
        raise ValueError(f"{name} must be {kind} in {interval}; got {value!r}.")
    return int(array) if whole and np.isfinite(array) else float(array)


def one_of(value: Any, choices: tuple[str, ...], name: str) -> None:
    """Raise ValueError unless `value` is one of the names in `choices`."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


def _several(values: Any, name: str) -> Floats:
    array = np.atleast_1d(numbers(values, name)).astype(np.float64)
    return one_dimensional(array, name) + 0.0  # not minus 0, whose key would be another


def _distinct_keys(values: Floats, name: str) -> tuple[float, ...]:
    keys = [f"{value:g}" for value in values]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"{name} must differ in their first six digits; got {key} more than once.")
    return tuple(values.tolist())
