"""One line that names everything a number depends on, to be printed beside it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

VERSION = "0.3.0"


def signature(options: dict[str, Any], *, num_classes: float | None = None) -> str:
    """Return the signature of numbers computed with these options.

    Parameters
    ----------
    options : dict
        Of `options.checked_options`.
    num_classes : int, optional
        K of posteriors; for confidences it is among the options.

    Returns
    -------
    str
        ``name:value`` parts joined by ``|``; those of options that change nothing unless set stand only where they are.

    Examples
    --------
    >>> from ecuas_metric.options import checked_options
    >>> signature(checked_options(n=0))
    'ecuas|n:0|K:inf|cost:zero_one|eps:1e-07|ties:expected|bins:10|v:0.3.0'
    >>> signature(checked_options(n=(0, 1), num_classes=4, confidence_level=0.95))
    'ecuas|n:0,1|K:4|cost:zero_one|eps:1e-07|ties:expected|bins:10|level:0.95|boot:1000/0|v:0.3.0'
    """
    classes = num_classes or options["num_classes"]
    is_graded = options["max_uncertainty"] is not None  # by costs and a K that only the user knows
    cost = options["cost"] if isinstance(options["cost"], str) else f"matrix-{_digest(options['cost'])}"
    parts = {
        "n": _joined(options["n"]),
        "K": None if is_graded else "inf" if classes is None else f"{classes:g}",
        "cost": "graded" if is_graded else cost,
        "eps": f"{options['epsilon']:g}",
        "ties": "expected",
        "bins": options["n_bins"],
        "in": None if options["predictions_are"] == "probabilities" else options["predictions_are"],
        "max": None if options["max_uncertainty"] is None else f"{options['max_uncertainty']:g}",
        "reject": _joined(np.atleast_1d(() if options["reject_costs"] is None else options["reject_costs"])) or None,
        "decisions": None if options["decisions"] is None else "given",
        "missing": None if options["missing_confidence"] is None else f"{options['missing_confidence']:g}",
        "weights": None if options["sample_weight"] is None else _digest(options["sample_weight"]),
        **_resampling(options),
        "v": VERSION,
    }
    return "|".join(["ecuas", *(f"{name}:{value}" for name, value in parts.items() if value is not None)])


def _resampling(options: dict[str, Any]) -> dict[str, Any]:
    if options["confidence_level"] is None:
        return {}
    method = options["interval_method"]
    return {
        "level": f"{options['confidence_level']:g}",
        "boot": f"{options['n_resamples']}/{options['random_state']}"
        + ("" if method == "percentile" else f"/{method}"),
        "groups": None if options["groups"] is None else _digest(options["groups"]),
        "strata": None if options["strata"] is None else _digest(options["strata"]),
    }


def _joined(values: Any) -> str:
    return ",".join(f"{value:g}" if float(f"{value:g}") == value else repr(float(value)) for value in values)


def _digest(values: Any) -> str:
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        content = array.astype("<f8").tobytes()  # the same for every type of number, and on every machine
    else:
        content = "\0".join(map(str, array.ravel().tolist())).encode()
    return hashlib.sha256(content).hexdigest()[:8]
