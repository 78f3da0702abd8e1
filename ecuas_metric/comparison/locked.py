"""A reject cost that is locked with the answers that it was chosen on, and the check of a new version against it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..audit import refuse_audit
from ..basis import Basis, Purpose, why_not_comparable
from ..classes import reword_errors
from ..costs import EXPECTED_COST, SELECTIVE_RISK, are_accepted
from ..display import Shown
from ..errors import InputError, Note
from ..files.values import from_values
from ..inputs import Floats
from ..metric import Key
from ..options import LEVEL, check_level, check_number
from ..results import System, make_system, select_samples
from .compare import compare_aligned, match_ids
from .planning import Plan, plan_of_systems
from .rows import Comparison, list_fields, significance_level

if TYPE_CHECKING:
    from pandas import DataFrame

TESTED = (SELECTIVE_RISK, EXPECTED_COST)
LOCK_AGAIN = "Lock the reject cost again, on answers to these questions."
ID_ADVICE = dict.fromkeys(("keep_common", "pair_by_row", "name_other_ids"), LOCK_AGAIN)
WITHOUT_IDS = "need ids, by which those of a new version are paired with them"


@dataclass(frozen=True, slots=True, eq=False)
class Lock:
    """A reject cost, and the answers that it was chosen on.

    Attributes
    ----------
    name : str
        Of the system.
    reject_cost : float
    basis : Basis
        What the numbers of these answers depend on.
    ids : list of str or int
        The id of each answer (N,).
    uncertainty, cost : ndarray of float64, shape (N,)
        In the unit of the reject cost; an answer that was refused has an uncertainty above the largest one.

    Examples
    --------
    See `lock_reject_cost`; a lock can be kept as JSON.

    >>> from ecuas_metric import confidence_system
    >>> lock = lock_reject_cost("v1", confidence_system([1, 0], [0.9, 0.4], ids=["q1", "q2"]), 0.2)
    >>> Lock.from_json(lock.to_json()).range
    (0.2, 0.6)
    """

    name: str
    reject_cost: float
    basis: Basis
    ids: list[str | int]
    uncertainty: Floats
    cost: Floats

    @property
    def range(self) -> tuple[float, float]:
        """The reject costs from the first up to, but without, the second accept the same of these answers."""
        is_rejected = ~are_accepted(self.uncertainty, reject_cost=self.reject_cost)
        above = self.uncertainty[is_rejected].min(initial=math.inf)
        return self.reject_cost, min(float(above), self.basis.max_uncertainty or math.inf)

    def to_json(self) -> dict[str, Any]:
        """Return the lock as what JSON can hold."""
        return {
            "system": self.name,
            "reject_cost": self.reject_cost,
            "range": self.range,
            "basis": self.basis.to_json(),
            "ids": self.ids,
            "uncertainty": self.uncertainty.tolist(),
            "cost": self.cost.tolist(),
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Lock:
        """Return the lock of `to_json`."""
        numbers = (np.array(fields[name], np.float64) for name in ("uncertainty", "cost"))
        basis = Basis.from_json(fields["basis"])
        return cls(fields["system"], fields["reject_cost"], basis, fields["ids"], *numbers)


def lock_reject_cost(name: str, system: System, reject_cost: float) -> Lock:
    """Return a reject cost with the answers of a system, beside which `check_locked` puts a new version.

    Parameters
    ----------
    name : str
        What errors call the system.
    system : System
        The answers, with ``ids``.
    reject_cost : float
        As `choose_reject_cost` returns.

    Returns
    -------
    Lock

    Raises
    ------
    InputError
        If the reject cost is no number in [0, u_M], ids are missing or repeated, or the labels are audited.

    Examples
    --------
    >>> from ecuas_metric import choose_reject_cost, confidence_system
    >>> system = confidence_system([1, 1, 0, 1], [0.9, 0.8, 0.6, 0.7], ids=["q1", "q2", "q3", "q4"])
    >>> lock = lock_reject_cost("v1", system, choose_reject_cost(system, budget=0.25).reject_cost)
    >>> round(lock.reject_cost, 2), lock.ids
    (0.3, ['q1', 'q2', 'q3', 'q4'])
    """
    decisions = system.decisions
    reject_cost = check_number(reject_cost, "reject_cost", 0, decisions.max_uncertainty)
    refuse_audit(system, "a lock")  # whose costs are no verdicts
    if system.ids is None:
        raise InputError(f"{name}: answers to lock", WITHOUT_IDS, advice="fill_ids")
    ids = system.ids if isinstance(system.ids, pa.Array) else from_values(list(system.ids))
    match_ids(name, ids, name, ids)  # which must be unique
    return Lock(
        name,
        reject_cost,
        system.basis,
        ids.to_pylist(),
        decisions.uncertainty,
        decisions.candidate_cost,
    )


@dataclass(frozen=True, slots=True)
class VersionCheck(Shown):
    """A new version beside the answers of a lock.

    Attributes
    ----------
    rows : tuple of Comparison
        Of the risk and the expected cost, the new version minus what is locked.
    detectable : tuple of float
        By how much each would have to be worse to be found in 80 % of such samples; nan where that is not known.
    alpha : float
        The level of both tests together.
    locked : str
        The name of the version that is locked.
    coverage, locked_coverage : float
        The shares that are accepted.
    num_samples, both, dearer, cheaper : int
        How many answers there are, how many both versions accept, and how many of these cost more, or less, than
        before: of the 0-1 cost, turned from right to wrong, or back.
    notes : tuple of Note

    Examples
    --------
    See `check_locked`, which returns it.

    >>> counts = {"num_samples": 4, "both": 2, "dearer": 0, "cheaper": 1}
    >>> VersionCheck((), (), 0.05, "old", 0.5, 0.75, **counts).failed
    []
    """

    rows: tuple[Comparison, ...]
    detectable: tuple[float, ...]
    alpha: float
    locked: str
    coverage: float
    locked_coverage: float
    num_samples: int
    both: int
    dearer: int
    cheaper: int
    notes: tuple[Note, ...] = ()

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each test."""
        import pandas as pd

        return pd.DataFrame([list_fields(row) for row in self.rows])

    @property
    def failed(self) -> list[Comparison]:
        """By what the new version is worse, by more than chance."""
        return [row for row in self.rows if row.difference > 0 and row.p_adjusted <= self.alpha]


def check_locked(lock: Lock, name: str, system: System, *, level: float = LEVEL) -> VersionCheck:
    """Check a new version against a lock: whether risk and expected cost at its reject cost are worse.

    Both are tested together by paired differences, as in `compare_systems`.

    Parameters
    ----------
    lock : Lock
        Of `lock_reject_cost`.
    name : str
        What errors call the new version.
    system : System
        Its answers to the same questions, by their ``ids``.
    level : float, default=0.95
        Of the intervals; 1 - level is that of both tests together.

    Returns
    -------
    VersionCheck

    Raises
    ------
    InputError
        If the questions, or their costs, labels, weights or groups, are not those of the lock, or labels are audited.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> ids = [f"q{number}" for number in range(200)]
    >>> old = confidence_system([1, 1, 1, 0] * 50, [0.9, 0.8, 0.7, 0.3] * 50, ids=ids)
    >>> new = confidence_system([1, 0, 1, 0] * 50, [0.9, 0.8, 0.7, 0.3] * 50, ids=ids)
    >>> check = check_locked(lock_reject_cost("old", old, 0.4), "new", new)
    >>> [str(row.key) for row in check.failed], check.dearer
    (['selective_risk_0.4', 'expected_cost_0.4'], 50)
    """
    refuse_audit(system, "a check")
    if system.ids is None:
        raise InputError(f"{name}: answers to check", WITHOUT_IDS, advice="fill_ids")
    with reword_errors(ID_ADVICE):
        order = match_ids(name, system.ids, "the lock", lock.ids)
    basis = replace(system.basis, version=lock.basis.version)
    reasons = why_not_comparable(lock.basis, basis, purpose=Purpose.PAIR)
    if reasons:
        rule = "cannot be checked against the lock: these differ: {reasons}"
        raise InputError(name, rule, advice=LOCK_AGAIN, reasons=reasons)
    level = check_level(level, "level")
    options = system.options.replace(reject_costs=(lock.reject_cost,), confidence_level=level)
    aligned = select_samples(replace(system, options=options, ids=None), order)
    new = make_system(aligned.decisions, aligned.options, ids=lock.ids)
    has_confidence = new.decisions.confidence is not None
    decisions = replace(
        new.decisions,
        uncertainty=lock.uncertainty,
        candidate_cost=lock.cost,
        confidence=1 - lock.uncertainty if has_confidence else None,
    )
    pair = {"locked": make_system(decisions, new.options, ids=lock.ids), "new": new}
    return _compare_versions(pair, lock)


def _compare_versions(pair: Mapping[str, System], lock: Lock) -> VersionCheck:
    """Return the check of two aligned systems, the locked one first."""
    reject_cost = lock.reject_cost
    keys = [Key(metric.name, reject_cost) for metric in TESTED]
    locked, new = (one.decisions for one in pair.values())
    options = pair["new"].options
    alpha = significance_level(options)
    compared = compare_aligned(pair, only=keys)
    before, after = (
        are_accepted(one.uncertainty, reject_cost=reject_cost, max_uncertainty=new.max_uncertainty)
        for one in (locked, new)
    )
    weight = options.weights(len(before))
    coverage, locked_coverage = (float(np.average(one, weights=weight)) for one in (after, before))
    mistake = _typical_mistake_cost(np.concatenate([locked.candidate_cost, new.candidate_cost]))
    # at the level of one test, since both are of the same mistakes; what is worse is larger
    plans = plan_of_systems(pair, only=keys, difference=-1.0, alpha=alpha)
    found = {}
    for plan in plans:
        is_risk = plan.key.entry is SELECTIVE_RISK
        found[plan.key] = _find_detectable(plan, mistake / locked_coverage if is_risk else mistake)
    both = before & after
    change = new.candidate_cost - locked.candidate_cost
    return VersionCheck(
        rows=tuple(row.turned() for row in compared.rows),
        detectable=tuple(found.get(row.key, math.nan) for row in compared.rows),
        alpha=alpha,
        locked=lock.name,
        coverage=coverage,
        locked_coverage=locked_coverage,
        num_samples=len(before),
        both=int(np.count_nonzero(both)),
        dearer=int(np.count_nonzero(both & (change > 0))),
        cheaper=int(np.count_nonzero(both & (change < 0))),
        notes=tuple(note for _, note in compared.notes),
    )


def _typical_mistake_cost(cost: Floats) -> float:
    """Return the mean square of costs (N,) over their mean, 1 for the 0-1 cost; 1 if all are 0."""
    total = float(cost.sum())
    return float(np.square(cost).sum()) / total if total > 0 else 1.0


def _find_detectable(plan: Plan, step: float) -> float:
    r"""Return the difference that is found with the plan's power if mistakes cause it, each a `step` of one sample.

    The mistakes add to the variance :math:`v` of a sample's difference, which the plan takes from the systems at hand:
    :math:`d = d_0 \sqrt{(v + d s) / v}` with the plan's :math:`d_0`.
    """
    variance = plan.deviation**2
    if not variance > 0:
        return math.nan
    added = plan.detectable**2 * step / variance
    return (added + math.sqrt(added**2 + 4 * plan.detectable**2)) / 2
