"""Reject costs that were chosen, as the command and the page show them."""

import math
from collections.abc import Mapping

from ..basis import signature_of
from ..rejection import RejectCostChoice, choose_reject_cost
from .report import Systems, digits_for, estimate_text
from .tables import Cell, Grid, Record

LEGEND = (
    "coverage: share of the answers that are accepted; risk: their mean cost",
    "expected cost: mean cost of all answers, of which a rejected one costs the reject cost; those at other reject "
    "costs do not compare",
)
DECIMALS = 14  # of uncertainties and the reject costs that they are, without what floats add to 1 minus a confidence
UNCERTIFIED = "none; "  # begins the reason why there is no reject cost
ESTIMATES = {"coverage": "coverage", "risk": "risk", "expected_cost": "expected cost"}


def chosen_costs(
    systems: Systems,
    *,
    budget: float | None,
    max_risk: float | None,
    level: float,
    digits: int | None = None,
) -> tuple[Grid, list[Record]]:
    """Choose a reject cost for each system by `choose_reject_cost`; return the tables for people and for programs.

    Without `digits` each column has those that its intervals need.
    """
    choices = {
        name: choose_reject_cost(system, budget=budget, max_risk=max_risk, confidence_level=level)
        for name, system in systems.items()
    }
    shown = {}
    for field in ESTIMATES:
        estimates = (getattr(choice, field) for choice in choices.values())
        shown[field] = digits_for(estimates) if digits is None else digits
    rows = []
    records: list[Record] = []
    for name, choice in choices.items():
        size = systems[name].num_samples
        cells = [name, str(size), _reject_cost_text(choice)]
        record = {"system": name, "N": size, "reject_cost": choice.reject_cost}
        for field in ESTIMATES:
            estimate = getattr(choice, field)
            cells.append(estimate_text(estimate, shown[field]))
            record |= {
                field: estimate.value,
                f"{field}_low": estimate.low,
                f"{field}_high": estimate.high,
            }
        rows.append(list(map(Cell, cells)))
        records.append({**record, "num_samples_needed": choice.num_samples_needed})
    above = [] if max_risk is None else _certificates(systems, choices, max_risk, level)
    note = f"intervals at the level {level:.12g} take the reject cost as given; ecuas decide accepts new rows by it"
    asked = f"budget:{budget:g}" if max_risk is None else f"max-risk:{max_risk:g}"
    signature = signature_of(system.basis for system in systems.values())
    signature += f"|{asked}|level:{level:.12g}"
    header = ["system", "N", "reject cost", *ESTIMATES.values()]
    return Grid(header, rows, [*LEGEND, note], signature, above=above), records


def _certificates(
    systems: Systems,
    choices: Mapping[str, RejectCostChoice],
    max_risk: float,
    level: float,
) -> list[str]:
    """Return what is certified, if a system has a reject cost."""
    are_certified = [not math.isnan(choice.reject_cost) for choice in choices.values()]
    if not any(are_certified):
        return []
    each = "each system" if all(are_certified) else "each system that has a reject cost"
    has_groups = any(system.options.groups is not None for system in systems.values())
    provided = ", if no group is larger than the largest here" if has_groups else ""
    promise = f"The risk of what is accepted is at most {max_risk:g}, with {level:.12g} confidence"
    return [f"{promise} for {each}{provided}."]


def sentences(grid: Grid) -> list[str]:
    """Say what each row of `chosen_costs` holds."""
    said = []
    for row in grid.rows:
        name, size, reject_cost, coverage, risk, expected_cost = (cell.text for cell in row)
        if reject_cost.startswith(UNCERTIFIED):
            why = reject_cost.removeprefix(UNCERTIFIED)
            said.append(f"{name}: {size} answers cannot certify this at any reject cost; {why}.")
            continue
        numbers = f"accepted {coverage}, with a risk of {risk}; expected cost {expected_cost}"
        said.append(f"{name}: reject cost {reject_cost}; {numbers}.")
    return said


def _reject_cost_text(choice: RejectCostChoice) -> str:
    if not math.isnan(choice.reject_cost):
        # as many digits as uncertainties have: with fewer, others would be accepted
        return f"{round(choice.reject_cost, DECIMALS):.{DECIMALS}g}"
    if choice.num_samples_needed is None:
        return f"{UNCERTIFIED}more of such answers would not help"
    return f"{UNCERTIFIED}about {choice.num_samples_needed:,} such answers are needed"
