"""Fair comparisons of systems on the same samples: differences, intervals, paired tests, and what not to compare."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..inputs import Floats
from ..intervals import bootstrap, interval
from ..metrics import mean_costs, metric_of
from ..results import System, by_uncertainty, resampling_of, take, values_of
from .significance import bootstrap_p_value, holm, sign_flip_p_values

UNFAIR = (
    "These metrics judge confidences only, and the systems' answers differ: the confidences are about different "
    "things, and a system can gain by answering worse. Do not rank systems by them."
)


class Comparison(NamedTuple):
    """The difference of one metric between two systems, the first less the second.

    Attributes
    ----------
    first, second, key : str
        The systems and the metric.
    difference, low, high : float
        With its bootstrap interval.
    p_bootstrap, p_sign_flip : float
        Two-sided p-values of "no difference"; the second one is nan but for metrics that are means.
    p_holm : float
        The sign-flip p-value, or else the bootstrap's, corrected for the number of pairs.
    fair : bool
        False if the metric judges confidences only and the systems' answers differ.
    """

    first: str
    second: str
    key: str
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_sign_flip: float
    p_holm: float
    fair: bool


def compare(
    systems: Mapping[str, System], *, ids: Mapping[str, Sequence | None] | None = None, progress: bool = False
) -> list[Comparison]:
    """Compare every pair of systems by every metric that both have.

    Parameters
    ----------
    systems : mapping of name to System
        Of `results.prepare`, with one ``confidence_level``. The resampling is that of the first.
    ids : mapping of name to sequence, optional
        The id of each sample of each system: systems are aligned by them. Where there are none for any system,
        samples are paired by their position.
    progress : bool
        Show a bar on long work.

    Returns
    -------
    list of Comparison

    Raises
    ------
    ValueError
        If there are fewer than two systems, or their samples are not the same.

    References
    ----------
    Estienne et al., section "Empirical analysis", on why metrics of the confidences alone do not rank systems.
    """
    if len(systems) < 2:
        raise ValueError(f"a comparison needs at least two systems; got {len(systems)}.")
    aligned = align(systems, ids or dict.fromkeys(systems))
    rows = [
        row
        for first, second in itertools.combinations(aligned, 2)
        for row in _compare_pair(first, aligned[first], second, aligned[second], progress)
    ]
    return _corrected(rows)


def align(systems: Mapping[str, System], ids: Mapping[str, Sequence | None]) -> dict[str, System]:
    """Put the samples of all systems in the order of the first system's.

    Raises
    ------
    ValueError
        If ids are missing for some systems only, repeated, or not the same; or without ids, if the numbers of
        samples or the true classes differ.
    """
    (first, reference), *others = systems.items()
    expected = ids[first]
    aligned = {first: reference}
    for name, system in others:
        if (ids[name] is None) != (expected is None):
            raise ValueError(f"{first} and {name} cannot be paired: only one of them has sample ids.")
        if expected is not None:
            system = take(system, _order_of(name, ids[name] or (), first, expected))
        _same_samples(first, reference, name, system)
        aligned[name] = system
    return aligned


def same_answers(first: System, second: System) -> bool:
    """Tell whether two aligned systems gave answers that are graded the same, sample by sample."""
    return bool(np.array_equal(first.graded.candidate_cost, second.graded.candidate_cost))


def judges_confidences_only(key: str) -> bool:
    """Tell whether a value says nothing of the answers, as a calibration loss: it must not rank different ones."""
    return key.endswith("_calibration_loss") or metric_of(base_key(key)).judges == "confidences"


def base_key(key: str) -> str:
    """Return the key of the metric itself, as ``ecuas_0`` of ``normalized_ecuas_0`` or ``ecuas_0_recalibrated``."""
    key = key.removeprefix("normalized_")
    for ending in ("_recalibrated", "_calibration_loss", "_low", "_high"):
        key = key.removesuffix(ending)
    return key


def _compare_pair(first: str, one: System, second: str, other: System, progress: bool) -> list[Comparison]:
    ones = np.ones((1, len(one.graded.uncertainty)))
    order = by_uncertainty(one)
    sorted_one, other_there = take(one, order), take(other, order)
    other_order = by_uncertainty(other_there)
    sorted_other = take(other_there, other_order)
    weight = sorted_one.options["sample_weight"]

    def differences(counts: Floats) -> dict[str, Floats]:
        weights = counts if weight is None else counts * weight
        a, b = values_of(sorted_one, weights), values_of(sorted_other, weights[:, other_order])
        return {key: _difference(a[key], b[key]) for key in a if key in b}

    resampling = resampling_of(sorted_one)
    replicates = bootstrap(differences, ones.shape[1], resampling=resampling, progress=progress)
    observed = {key: float(value[0]) for key, value in differences(ones).items()}
    flips = _sign_flips(one, other)
    level, alike = one.options["confidence_level"], same_answers(one, other)
    return [
        Comparison(
            first,
            second,
            key,
            observed[key],
            *interval(values, confidence_level=level),
            float(bootstrap_p_value(values)),
            flips.get(key, math.nan),
            math.nan,
            alike or not judges_confidences_only(key),
        )
        for key, values in replicates.items()
    ]


def _difference(a: Floats, b: Floats) -> Floats:
    """Return a - b, and exactly 0 where they differ by rounding only: a test counts what lies at or beyond 0."""
    return np.where(np.isclose(a, b, rtol=1e-12, atol=0), 0.0, a - b)


def _sign_flips(one: System, other: System) -> dict[str, float]:
    """Return the sign-flip p-value of every metric that is a plain mean of a per-sample cost."""
    settings = {name: one.options[name] for name in ("n", "reject_costs", "epsilon")}
    first, second = (dict(mean_costs(system.graded, **settings)) for system in (one, other))
    keys = [key for key in first if key in second and not key.startswith("selective_risk_")]
    differences = np.stack([first[key] - second[key] for key in keys], axis=-1)
    weight = one.options["sample_weight"]
    if weight is not None:
        differences *= weight[:, None]
    p_values = sign_flip_p_values(differences, resampling=resampling_of(one))
    return dict(zip(keys, p_values.tolist(), strict=True))


def _corrected(rows: list[Comparison]) -> list[Comparison]:
    """Correct the p-values of each metric for the number of pairs it is compared in."""
    corrected: dict[int, float] = {}
    for key in dict.fromkeys(row.key for row in rows):
        of_key = [(i, row) for i, row in enumerate(rows) if row.key == key]
        p = [row.p_bootstrap if math.isnan(row.p_sign_flip) else row.p_sign_flip for _, row in of_key]
        corrected |= {i: float(value) for (i, _), value in zip(of_key, holm(p), strict=True)}
    return [row._replace(p_holm=corrected[i]) for i, row in enumerate(rows)]


def _order_of(name: str, ids: Sequence, first: str, expected: Sequence) -> np.ndarray:
    for system, values in ((first, expected), (name, ids)):
        if len(set(values)) < len(values):
            repeated = Counter(values).most_common(1)[0][0]
            raise ValueError(f"{system}: sample ids must be unique; {repeated!r} is repeated.")
    where = {value: position for position, value in enumerate(ids)}
    missing = [value for value in expected if value not in where]
    extra = set(ids) - set(expected)
    if missing or extra:
        offender = f"{missing[0]!r} is not in {name}" if missing else f"{min(map(repr, extra))} is not in {first}"
        raise ValueError(
            f"{first} and {name} have different samples, and cannot be compared: {offender} "
            f"({len(missing)} missing, {len(extra)} extra)."
        )
    return np.array([where[value] for value in expected])


def _same_samples(first: str, reference: System, name: str, system: System) -> None:
    sizes = len(reference.graded.uncertainty), len(system.graded.uncertainty)
    if sizes[0] != sizes[1]:
        raise ValueError(f"{first} and {name} cannot be paired: they have {sizes[0]} and {sizes[1]} samples.")
    if reference.graded.max_uncertainty != system.graded.max_uncertainty:
        raise ValueError(f"{first} and {name} cannot be compared: they have different numbers of classes or costs.")
    for what, one, other in (
        ("true classes", reference.graded.labels, system.graded.labels),
        ("weights", reference.options["sample_weight"], system.options["sample_weight"]),
        ("groups", reference.options["groups"], system.options["groups"]),
        ("strata", reference.options["strata"], system.options["strata"]),
    ):
        if (one is None) != (other is None):
            raise ValueError(f"{first} and {name} cannot be paired: only one of them has {what}.")
        if one is not None and other is not None and not np.array_equal(one, other):
            at = int(np.argmax(one != other))
            raise ValueError(f"{first} and {name} cannot be paired: their {what} differ, first at sample {at}.")
