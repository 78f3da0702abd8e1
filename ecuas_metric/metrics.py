"""Every metric of a graded system under its key: the one list that the adapter, the reports and the laws share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .baselines import augrc, aurc, auroc, confidence_brier_cost, confidence_cross_entropy_cost, ece
from .costs import accepted, ecuas_cost, fixed_reject_cost
from .decisions import Graded, select
from .inputs import FloatOrFloats, Floats, blocks
from .ranking import tie_groups


class Metric(NamedTuple):
    """What a reader needs to know of a metric.

    Attributes
    ----------
    title : str
        Short name for a table's head.
    judges : str
        "decisions", "confidences", "posteriors" or "both" (decisions and confidences).
    higher_is_better : bool or None
        None if neither is better in itself.
    tells : str
        One line on what it measures.
    """

    title: str
    judges: str
    higher_is_better: bool | None
    tells: str


METRICS = {
    "ecuas": Metric("ECUAS", "both", False, "Expected cost over all reject costs; lower n punishes confident mistakes"),
    "error_rate": Metric("ER", "decisions", False, "Share of incorrect decisions"),
    "risk": Metric("Risk", "decisions", False, "Mean cost of the decisions"),
    "ece": Metric("ECE", "confidences", False, "Gap between confidence and accuracy, averaged over bins"),
    "auroc": Metric(
        "AUROC", "confidences", True, "Chance that a correct answer is more confident than an incorrect one"
    ),
    "confidence_cross_entropy": Metric("CE conf", "confidences", False, "Cross-entropy of the confidences (nats)"),
    "confidence_brier_score": Metric("BS conf", "confidences", False, "Squared error of the confidences"),
    "aurc": Metric("AURC", "both", False, "Area under risk against coverage; blind to calibration"),
    "augrc": Metric("AUGRC", "both", False, "Area under accepted cost against coverage; blind to calibration"),
    "cross_entropy": Metric("CE", "posteriors", False, "Cross-entropy of the posteriors (nats)"),
    "brier_score": Metric("BS", "posteriors", False, "Squared error of the posteriors"),
    "expected_cost": Metric("EC", "both", False, "Mean cost for a user with this reject cost"),
    "coverage": Metric("Cov", "confidences", None, "Share that a user with this reject cost accepts"),
    "selective_risk": Metric("SR", "both", False, "Mean cost of what a user with this reject cost accepts"),
}


def scores(
    graded: Graded,
    *,
    n: tuple[float, ...] = (0, 1, 128),
    reject_costs: tuple[float, ...] = (),
    n_bins: int = 10,
    epsilon: float = 1e-7,
    sample_weight: Floats | None = None,
) -> dict[str, FloatOrFloats]:
    """Compute every metric that the input allows.

    Parameters
    ----------
    graded : Graded
        Of one of the `decisions.grade_*` functions.
    n, reject_costs : tuple of float
        One ``ecuas_{n:g}`` each; one ``expected_cost_{g:g}``, ``coverage_{g:g}``, ``selective_risk_{g:g}`` each.
    n_bins, epsilon
        See `baselines.ece`, `costs.ecuas_cost`.
    sample_weight : ndarray, shape (..., N), optional
        Leading axes ask for as many values of each metric, as a bootstrap does.

    Returns
    -------
    dict
        Key to a float, or to an array of shape (...).

    Examples
    --------
    >>> from ecuas_metric.decisions import grade_confidences
    >>> graded = grade_confidences(np.array([0.9, 0.8, 0.4]), np.array([1, 0, 1]))
    >>> {key: round(float(value), 4) for key, value in scores(graded, n=(1,)).items()}
    ... # doctest: +NORMALIZE_WHITESPACE
    {'ecuas_1': 0.67, 'error_rate': 0.3333, 'ece': 0.5, 'auroc': 0.5, 'confidence_cross_entropy': 0.877,
     'confidence_brier_score': 0.3367, 'aurc': 0.3333, 'augrc': 0.1667}
    """
    values = means(graded, n=n, reject_costs=reject_costs, epsilon=epsilon, sample_weight=sample_weight)
    for reject_cost in reject_costs:
        coverage, accepted_cost = (
            values[f"coverage_{reject_cost:g}"],
            values[f"selective_risk_{reject_cost:g}"],
        )
        values[f"selective_risk_{reject_cost:g}"] = _ratio(accepted_cost, coverage)
    groups = tie_groups(graded.rank_by, graded.candidate_cost, sample_weight=sample_weight)
    values["aurc"], values["augrc"] = aurc(groups), augrc(groups)
    if graded.confidence is not None:
        values["auroc"] = auroc(groups)
        values["ece"] = ece(graded.confidence, graded.candidate_cost, n_bins=n_bins, sample_weight=sample_weight)
    return {key: values[key] for key in sorted(values, key=_place)}


def means(graded: Graded, *, sample_weight: Floats | None = None, **settings: Any) -> dict[str, FloatOrFloats]:
    """Return the mean of each of `mean_costs`, summed in blocks of samples."""
    totals: dict[str, FloatOrFloats] = {}
    for rows in blocks(len(graded.uncertainty)):
        costs = dict(mean_costs(select(graded, rows), **settings))
        if sample_weight is None:
            sums: Any = [cost.sum() for cost in costs.values()]
        else:  # one product for all, since a bootstrap's weights are large
            sums = np.moveaxis(sample_weight[..., rows] @ np.stack(list(costs.values()), axis=-1), -1, 0)
        for key, value in zip(costs, sums, strict=True):
            totals[key] = totals.get(key, 0.0) + value
    total_weight = len(graded.uncertainty) if sample_weight is None else sample_weight.sum(axis=-1)
    return {key: total / total_weight for key, total in totals.items()}


def mean_costs(
    graded: Graded, *, n: tuple[float, ...], reject_costs: tuple[float, ...] = (), epsilon: float = 1e-7
) -> Iterator[tuple[str, Floats]]:
    """Yield the key and the per-sample cost (N,) of every metric that is a mean, one at a time.

    Under ``selective_risk_{g:g}`` stands the accepted cost: its mean is still to be divided by the coverage.
    """
    u, c, max_uncertainty = graded.uncertainty, graded.candidate_cost, graded.max_uncertainty
    limited = np.minimum(u, max_uncertainty)
    for order in n:
        yield (
            f"ecuas_{order:g}",
            ecuas_cost(limited, c, n=order, max_uncertainty=max_uncertainty, epsilon=epsilon),
        )
    if graded.confidence is None:
        yield "risk", c
    else:
        yield "error_rate", c
        yield "confidence_cross_entropy", confidence_cross_entropy_cost(u, c, epsilon=epsilon)
        yield "confidence_brier_score", confidence_brier_cost(u, c)
    if graded.cross_entropy is not None and graded.brier_score is not None:
        yield "cross_entropy", graded.cross_entropy
        yield "brier_score", graded.brier_score
    for reject_cost in reject_costs:
        limits = {"reject_cost": reject_cost, "max_uncertainty": max_uncertainty}
        yield f"expected_cost_{reject_cost:g}", fixed_reject_cost(u, c, **limits)
        accepts = accepted(u, **limits).astype(np.float64)
        yield f"coverage_{reject_cost:g}", accepts
        yield f"selective_risk_{reject_cost:g}", accepts * c


def metric_of(key: str) -> Metric:
    """Return what is known of the metric with this key, as "ecuas" of ``ecuas_0.5``."""
    return METRICS[name_and_parameter(key)[0]]


def name_and_parameter(key: str) -> tuple[str, str]:
    """Split a key into its name in `METRICS` and its parameter, empty where there is none.

    Examples
    --------
    >>> name_and_parameter("ecuas_0.5"), name_and_parameter("brier_score")
    (('ecuas', '0.5'), ('brier_score', ''))
    """
    if key in METRICS:
        return key, ""
    name, _, parameter = key.rpartition("_")
    return name, parameter


def _place(key: str) -> int:
    return list(METRICS).index(name_and_parameter(key)[0])


def _ratio(numerator: FloatOrFloats, denominator: FloatOrFloats) -> FloatOrFloats:
    return numerator / np.where(np.asarray(denominator) > 0, denominator, math.nan)
