"""Reject costs that were chosen, as the command and the page show them; their files, and checks against these."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ..basis import join_signatures
from ..comparison.locked import Lock, VersionCheck, check_locked, lock_reject_cost
from ..errors import FileError, InputError
from ..files.recipe import distinct_fields
from ..files.submissions import Submission
from ..files.write import write_whole
from ..inputs import grouped
from ..rejection import RejectCostChoice, choose_reject_cost
from .report import DIGITS, Systems, digits_for, estimate_text, interval_text, p_text
from .sentences import MORE_THAN_CHANCE, STEPWISE
from .tables import Cell, Grid, Record, with_nulls

LEGEND = (
    "coverage: share of the answers that are accepted; risk: their mean cost",
    "expected cost: mean cost of all answers, of which a rejected one costs the reject cost (compare systems by it at "
    "one reject cost only)",
)
_DIGITS = 14  # of the largest uncertainty, without what floats add to 1 minus a confidence
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
        shown[field] = digits_for(estimates, digits)
    rows = []
    records: list[Record] = []
    for name, choice in choices.items():
        size = systems[name].num_samples
        largest = systems[name].decisions.max_uncertainty
        cells = [name, str(size), _reject_cost_text(choice, largest)]
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
    asked = f"budget:{budget:.12g}" if max_risk is None else f"max-risk:{max_risk:.12g}"
    signature = join_signatures(system.basis for system in systems.values())
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
    promise = (
        f"The risk of what is accepted is at most {max_risk:.12g}, with {level:.12g} confidence"
    )
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


def round_uncertainty(uncertainty: float, largest: float) -> float:
    """Return an uncertainty, or a reject cost that is one, to 14 digits of the largest uncertainty, u_M."""
    return round(uncertainty, _DIGITS - math.ceil(math.log10(largest)))


def _reject_cost_text(choice: RejectCostChoice, largest: float) -> str:
    if not math.isnan(choice.reject_cost):
        # as many digits as uncertainties have: with fewer, others would be accepted
        return f"{round_uncertainty(choice.reject_cost, largest):.{_DIGITS}g}"
    if choice.num_samples_needed is None:
        return f"{UNCERTIFIED}more of such answers would not help"
    return f"{UNCERTIFIED}about {choice.num_samples_needed:,} such answers are needed"


# ---- lock files, and checks against them ----


TITLES = ("risk", "expected cost")  # of the two tests
KIND = "ecuas lock 1"  # of file
LEGEND_OF_CHECKS = (
    "risk: mean cost of what is accepted; expected cost: mean cost of all answers, of which a rejected one costs the "
    "reject cost",
)


def write_lock(
    path: str,
    systems: Systems,
    submissions: Sequence[Submission],
    records: Sequence[Record],
    *,
    chosen: Mapping[str, object],
    flags: Mapping[str, object],
) -> None:
    """Write the reject cost of each system, how it was chosen and files were read, and the answers, to a file."""
    locked = []
    for one, record in zip(submissions, records, strict=True):
        reject_cost = cast("float", record["reject_cost"])
        if math.isnan(reject_cost):
            raise InputError(
                "--lock", "needs a reject cost of each system", got=f"none of {one.name}"
            )
        lock = lock_reject_cost(_version(one), systems[one.name], reject_cost)
        of = {"model": one.of, "question": one.part, "signature": str(lock.basis)}
        locked.append({**record, **of, **lock.to_json()})
    recipes = {one["digest"]: one for one in distinct_fields(one.recipe for one in submissions)}
    document = {
        "kind": KIND,
        "chosen": {name: value for name, value in chosen.items() if value is not None},
        "flags": flags,
        "recipes": [*recipes.values()],
        "systems": locked,
    }
    # in one line, as three numbers a line are long
    write_whole(path, f"{json.dumps(with_nulls(document), ensure_ascii=False)}\n".encode())


@dataclass(frozen=True, slots=True)
class LockFile:
    """What a lock file has: the locks by their questions, and how these were made."""

    path: str
    locks: Mapping[str, Sequence[Lock]]
    level: float
    flags: Mapping[str, Any]
    has_one_recipe: bool  # of a table, by which others are read

    def lock_for(self, submission: Submission) -> Lock:
        """Return the lock of a question: its only one, or that of the system of the same name."""
        name = _version(submission)
        of_part = self.locks.get(submission.part, ())
        found = [lock for lock in of_part if lock.name == name] or of_part
        if len(found) == 1:
            return found[0]
        rule = "needs one system of each question, or one called {name}"
        got = ", ".join(lock.name for lock in of_part) or "none"
        advice = "Lock one system, on answers to all questions, or call the new version as it: NAME=FILE."
        raise FileError(self.path, rule, got=got, advice=advice, name=name)


def read_lock(path: str) -> LockFile:
    """Return what a file of `write_lock` has; FileError if it is none."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        if document["kind"] != KIND:
            raise ValueError
        by_question = grouped(document["systems"], lambda one: one["question"])
        locks = {question: [*map(Lock.from_json, same)] for question, same in by_question.items()}
        formats = [one["format"] for one in document["recipes"]]
        is_of_table = len(formats) == 1 and formats != ["run"]
        level = document["chosen"]["level"]
        return LockFile(path, locks, level, document["flags"], is_of_table)
    except (ValueError, KeyError, TypeError):
        rule = "is no file of this version's `ecuas threshold --lock`"
        raise FileError(path, rule, advice="Write it again.") from None


def check_systems(
    locked: LockFile, submissions: Sequence[Submission], systems: Systems
) -> dict[str, VersionCheck]:
    """Check each system against its lock: two tests of each, at the level divided by their number.

    InputError if a question that is locked was not answered.
    """
    missing = locked.locks.keys() - {one.part for one in submissions}
    if missing:
        rule = "lacks questions that are locked: {missing}"
        raise InputError("the new version", rule, missing=sorted(missing))
    level = 1 - (1 - locked.level) / len(systems)
    checks = {}
    for one in submissions:
        name = _version(one)
        checks[name] = check_locked(locked.lock_for(one), name, systems[one.name], level=level)
    return checks


def _version(submission: Submission) -> str:
    """Return the name of a system with its model, which a name by question leaves out."""
    name = submission.name
    return name if submission.of in name else f"{submission.of} {name}"


def checked_versions(
    checks: Mapping[str, VersionCheck], systems: Systems, *, digits: int | None
) -> tuple[Grid, list[Record]]:
    """Return the tables of checks for people and for programs; above the first, the verdict."""
    digits = digits_for([row for check in checks.values() for row in check.rows], digits)
    cells = []
    notes = []
    records: list[Record] = []
    for name, check in checks.items():
        records.append(_record(name, check))
        notes.append(_describe(name, check))
        for title, row in zip(TITLES, check.rows, strict=True):
            texts = [name, title, f"{row.second_value:.{digits}f}", f"{row.first_value:.{digits}f}"]
            interval = interval_text(row.low_all, row.high_all, f"+.{digits}f")
            texts += [f"{row.difference + 0.0:+.{digits}f}", interval]
            texts.append(p_text(row.p_adjusted, check.alpha, in_cell=True))
            cells.append([*map(Cell, texts)])
    alpha = next(iter(checks.values())).alpha
    interval = f"[{100 * (1 - alpha):.4g}%]"
    signature = f"{join_signatures(one.basis for one in systems.values())}|level:{1 - alpha:.12g}"
    header = ["system", "metric", "locked", "new", "worse by", interval, "adj. p"]
    of_level = f"adj. p, intervals: two tests together, at the level {alpha:.3g}"
    if len(checks) > 1:
        of_level += f" of each of {len(checks)}"
    notes += [*LEGEND_OF_CHECKS, f"{of_level}; {STEPWISE}"]
    above = [_verdict(checks)]
    return Grid(header, cells, notes, signature, labels=2, grouped=True, above=above), records


def _verdict(checks: Mapping[str, VersionCheck]) -> str:
    """Say whether new versions pass; PASS or FAIL is the first word."""
    worse = []
    for name, check in checks.items():
        titles = [
            title for title, row in zip(TITLES, check.rows, strict=True) if row in check.failed
        ]
        if titles:
            worse.append(f"{name} by {' and '.join(titles)}")
    if worse:
        return f"FAIL  Worse than what is locked: {'; '.join(worse)}. {MORE_THAN_CHANCE}"
    return f"PASS  Not clearly worse than what is locked: {', '.join(checks)}."


def _describe(name: str, check: VersionCheck) -> str:
    """Say how much is accepted, which answers flipped, and what would be found."""
    cost = check.rows[0].key.parameter
    said = (
        f"{name}: at reject cost {cost:.6g} it accepts {check.coverage:.{DIGITS}f}, where "
        f"{check.locked_coverage:.{DIGITS}f} is locked of {check.locked}. Of {check.both:,} answers that both accept, "
        f"{check.dearer:,} cost more now, and {check.cheaper:,} less."
    )
    found = [
        f"{size:.{DIGITS}f} more {title}"
        for title, size in zip(TITLES, check.detectable, strict=True)
        if size > 0
    ]
    untested = [
        title for title, row in zip(TITLES, check.rows, strict=True) if math.isnan(row.p_adjusted)
    ]
    if untested:
        said += f" Not tested: {' and '.join(untested)}."
    if found:
        said += f" Found in 80% of such samples: {', '.join(found)}."
    return said


def _record(name: str, check: VersionCheck) -> Record:
    """Return what programs get of a check."""
    record: dict[str, object] = {
        "system": name,
        "locked": check.locked,
        "N": check.num_samples,
        "passed": not check.failed,
        "reject_cost": check.rows[0].key.parameter,
        "coverage": check.coverage,
        "coverage_locked": check.locked_coverage,
        "both_accept": check.both,
        "dearer": check.dearer,
        "cheaper": check.cheaper,
    }
    for title, row, detectable in zip(TITLES, check.rows, check.detectable, strict=True):
        field = title.replace(" ", "_")
        numbers = {
            "": row.first_value,
            "_locked": row.second_value,
            "_worse_by": row.difference,
            "_worse_by_low": row.low_all,
            "_worse_by_high": row.high_all,
            "_p": row.p_adjusted,
            "_detectable": detectable,
        }
        record.update({f"{field}{end}": number for end, number in numbers.items()})
    return record
