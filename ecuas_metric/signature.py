"""One line that names everything a number depends on, to be printed beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from .inputs import Array
from .options import Options, is_set

VERSION = "0.3.0"


def signature(options: Options, *, num_classes: float | None = None) -> str:
    """Return the signature of numbers computed with these options.

    Parameters
    ----------
    options : Options
        With weights, groups and strata in the order of the samples as they were given.
    num_classes : int, optional
        K of posteriors; for confidences it is among the options.

    Returns
    -------
    str
        ``name:value`` parts joined by ``|``; an option that changes no number unless it is set appears only where it
        is set.

    Examples
    --------
    >>> from ecuas_metric.options import checked_options
    >>> signature(checked_options(n=0))
    'ecuas|n:0|K:inf|cost:zero_one|eps:1e-07|ties:expected|bins:10|v:0.3.0'
    >>> signature(checked_options(n=(0, 1), num_classes=4, confidence_level=0.95))
    'ecuas|n:0,1|K:4|cost:zero_one|eps:1e-07|ties:expected|bins:10|level:0.95|boot:1000/0|v:0.3.0'
    """
    classes = 2 if options.predictions_are == "positive_probabilities" else num_classes or options.num_classes
    has_costs = options.max_uncertainty is not None  # and a K that only the user knows
    cost = options.cost if isinstance(options.cost, str) else f"matrix-{_digest(options.cost)}"
    parts = {
        "n": _joined(options.n),
        "K": None if has_costs else "inf" if classes is None else f"{classes:g}",
        "cost": "graded" if has_costs else cost,
        "eps": f"{options.epsilon:g}",
        "ties": "expected",
        "bins": str(options.n_bins),
        "in": options.predictions_are if is_set(options, "predictions_are") else None,
        "renormalized": "0.05" if options.renormalize else None,
        "max": _short(options.max_uncertainty),
        "reject": _joined(options.reject_costs) or None,
        "decisions": None if options.decisions is None else "given",
        "missing": _short(options.missing_confidence),
        "weights": _digest(options.sample_weight),
        "weighting": options.weights_are if is_set(options, "weights_are") else None,
        **_resampling(options),
        "v": VERSION,
    }
    return "|".join(["ecuas", *(f"{name}:{value}" for name, value in parts.items() if value is not None)])


def _resampling(options: Options) -> dict[str, str | None]:
    if options.confidence_level is None:
        return {}
    method = f"/{options.interval_method}" if is_set(options, "interval_method") else ""
    is_analytic = options.interval_method == "analytic"
    return {
        "level": _short(options.confidence_level),
        "intervals": "analytic" if is_analytic else None,
        "boot": None if is_analytic else f"{options.n_resamples}/{options.random_state}{method}",
        "groups": _digest(options.groups),
        "strata": _digest(options.strata),
    }


def _short(value: float | None) -> str | None:
    return None if value is None else f"{value:g}"


def _joined(values: Iterable[float]) -> str:
    return ",".join(f"{value:g}" if float(f"{value:g}") == value else repr(value) for value in values)


def _digest(values: Array | None) -> str | None:
    """Return eight digits that stand for numbers: the same for every type of number, and on every machine."""
    return None if values is None else hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()[:8]
