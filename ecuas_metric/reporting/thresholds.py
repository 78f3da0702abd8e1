"""Reject costs that were chosen, as the command and the page show them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict

from ..basis import signature_of
from ..results import System
from ..thresholds import RejectCostChoice, choose_reject_cost
from .report import estimate_text
from .tables import Cell, Grid, Record

LEGEND = (
    "coverage: share of the answers that are accepted; risk: their mean cost",
    "expected cost: mean cost of all answers, of which a rejected one costs the reject cost",
)
HEADER = ["system", "N", "reject cost", "coverage", "risk", "expected cost"]


def chosen_costs(
    systems: Mapping[str, System],
    *,
    budget: float | None,
    max_risk: float | None,
    level: float,
    digits: int = 3,
) -> tuple[Grid, list[Record]]:
    """Choose a reject cost for each system by `choose_reject_cost`; return the tables for people and for programs."""
    rows = []
    records: list[Record] = []
    for name, system in systems.items():
        choice = choose_reject_cost(
            system, budget=budget, max_risk=max_risk, confidence_level=level
        )
        numbers = (choice.coverage, choice.risk, choice.expected_cost)
        cells = [name, str(system.num_samples), _reject_cost_text(choice)]
        cells += [estimate_text(number, digits) for number in numbers]
        rows.append(list(map(Cell, cells)))
        records.append(dict(_flat({"system": name, "N": system.num_samples, **asdict(choice)})))
    above = []
    if max_risk is not None:
        above = [
            f"The risk of what is accepted is at most {max_risk:g}, with {level:.12g} confidence for each system."
        ]
    note = f"intervals at the level {level:.12g} take the reject cost as given; ecuas decide accepts new rows by it"
    asked = f"budget:{budget:g}" if max_risk is None else f"max-risk:{max_risk:g}"
    signature = signature_of(system.basis for system in systems.values())
    signature += f"|{asked}|level:{level:.12g}"
    return Grid(HEADER, rows, [*LEGEND, note], signature, above=above), records


def sentences(grid: Grid) -> list[str]:
    """Say what each row of `chosen_costs` holds."""
    said = []
    for row in grid.rows:
        name, _, reject_cost, coverage, risk, expected_cost = (cell.text for cell in row)
        numbers = f"; accepted {coverage}, with a risk of {risk}; expected cost {expected_cost}"
        said.append(
            f"{name}: reject cost {reject_cost}{'' if reject_cost.startswith('none') else numbers}."
        )
    return said


def _flat(record: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield name, value["value"]
            yield f"{name}_low", value["low"]
            yield f"{name}_high", value["high"]
        else:
            yield name, value


def _reject_cost_text(choice: RejectCostChoice) -> str:
    if not math.isnan(choice.reject_cost):
        # as many digits as uncertainties have: with fewer, others would be accepted
        return f"{choice.reject_cost:.14g}"
    if choice.num_samples_needed is None:
        return "none; more of such answers would not help"
    return f"none; about {choice.num_samples_needed:,} answers would do"
