"""`ecuas decide`, `threshold` and `check`: decisions on new rows, and the choice of reject costs."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from ...basis import join_signatures
from ...classes import reword_errors
from ...errors import InputError, Note
from ...files.cells import parse_class_scores
from ...files.read import STANDARD_INPUT, read_sheet
from ...files.recipe import Recipe, describe_recipes
from ...files.roles import class_name
from ...files.submissions import Submission
from ...files.systems import prepare_submission, prepare_submissions
from ...files.values import first_value
from ...options import LEVEL
from ...recalibration import METHODS
from ...recalibration.maps import fit_to_logs
from ...rejection import REJECT_COST_WORDS, RowDecisions, decide_system
from ...results import System
from ..recalibrating import log_posteriors_of, with_log_posteriors
from ..report import Notes
from ..tables import Grid, Record, check_suffix, screen_width, to_csv, to_text, write
from .flags import Flag
from .parameters import (
    CostFlag,
    Files,
    FormOptions,
    NewRowFlags,
    Outcome,
    Output,
    RowFlags,
)
from .reading import (
    SAY_LABELS,
    has_cost_file,
    list_notes,
    list_recipes,
    parse_cost,
    read_files,
    set_cost,
    without_truth,
)

# id of an advice of the core -> what these commands say instead
MISSING_ADVICE = {
    "set_missing_confidence": (
        "Missing confidences? --missing-confidence 0 rejects these answers at reject costs below 1."
    )
}


def decide_rows(
    *,
    files: Files,
    reject_cost: Annotated[
        float | None, Flag("reject what is expected to cost more; required", "COST")
    ] = None,
    cost: CostFlag = None,
    rows: NewRowFlags,
    form: FormOptions,
    calibrate_on: Annotated[
        str | None, Flag("recalibrate by a fit on this labelled file", "FILE", reads=True)
    ] = None,
    calibrate: Annotated[
        str, Flag("method of that fit", choices=METHODS, needs=("calibrate_on",))
    ] = METHODS[0],
    output: Annotated[
        Sequence[str],
        Flag("write to a .csv or .json file instead; repeatable", "FILE", writes=("",)),
    ] = (),
) -> Notes:
    """Decide for the rows of files, whose truth is unknown, by the rule that is scored."""
    if reject_cost is None:
        rule = "is missing: what it costs to reject a row"
        advice = "`ecuas threshold` chooses it on labelled rows."
        raise InputError("--reject-cost", rule, advice=advice)
    for path in output:
        check_suffix(path, (".csv", ".json"))
    read = partial(read_files, flags=rows, metric=form)
    options = asdict(form)
    if calibrate_on is None:
        submissions = read(files, are_new=True, beside=[cost])
        labelled_of = {}
    else:
        with reword_errors({"label_or_bound": "leave_rows_out"}):
            labelled = read([calibrate_on], beside=files)
        classes = labelled[0].recipe.classes
        submissions = read(files, are_new=True, classes=classes, beside=[calibrate_on, cost])
        if rows.labels is None and rows.recipe is None:
            _require_class_names(submissions, classes)
        labelled_of = _match_labelled(submissions, labelled)
    records: list[Record] = []
    systems = {}
    for submission in submissions:
        matrix, names = parse_cost(cost, submission)
        options |= {"cost": matrix, "reject_costs": reject_cost}
        system = _prepare_new_rows(submission, labelled_of.get(submission.name), calibrate, options)
        largest = system.decisions.max_uncertainty
        records += _records(submission, decide_system(system, names), largest)
        systems[submission.name] = system
    signature = join_signatures(system.basis for system in systems.values())
    read_as = describe_recipes(map(without_truth, list_recipes(submissions)))
    _show_rows(records, signature, output, reject_cost=reject_cost, read=read_as)
    return list(filter(_tells_nothing_of_truth, list_notes(systems)))


def _tells_nothing_of_truth(one: tuple[str, Note]) -> bool:
    """Return whether a note on a system does not tell of the truth, for which something stands in new rows."""
    return one[1].id not in ("inverted", "abstentions")


def _require_class_names(submissions: Iterable[Submission], classes: Sequence[str] | None) -> None:
    """Raise InputError if the labelled rows name classes, and new rows have other names, another order, or none."""
    for one in submissions:
        if classes and one.form == "posteriors" and not _are_named(one.recipe, classes):
            rule = "has classes that the columns are not named after; {classes}"
            got = ",".join(one.recipe.predictions)
            named = list(classes)
            raise InputError("--calibrate-on", rule, got=got, advice=SAY_LABELS, classes=named)


def _are_named(recipe: Recipe, classes: Sequence[str]) -> bool:
    """Return whether columns are named after the classes, in their order; or a column holds mappings, or a run."""
    columns = recipe.predictions
    if len(columns) > 1:
        return tuple(map(class_name, columns)) == tuple(classes)
    if recipe.format == "run":
        return True
    if recipe.source == STANDARD_INPUT:  # which is read once
        return False
    sheet = read_sheet(recipe.source, rows=recipe.path or None, skip=recipe.skip or None)
    is_there = columns[0] in sheet.names
    return is_there and parse_class_scores(first_value(sheet.table[columns[0]])) is not None


def _match_labelled(
    submissions: Sequence[Submission], labelled: Sequence[Submission]
) -> dict[str, Submission]:
    """Return the labelled submission of each system by name; if there is one of each, names need not agree."""
    forms = {submission.form for submission in (*submissions, *labelled)}
    if len(forms) > 1:
        raise InputError("--calibrate-on", "forms_differ", forms=" and ".join(sorted(forms)))
    if len(submissions) == len(labelled) == 1:
        return {submissions[0].name: labelled[0]}
    by_name = {submission.name: submission for submission in labelled}
    for submission in submissions:
        if submission.name not in by_name:
            raise InputError("--calibrate-on", "has not this system", value=submission.name)
    return by_name


def _prepare_new_rows(
    submission: Submission,
    labelled: Submission | None,
    method: str,
    options: Mapping[str, object],
) -> System:
    """Return the system of new rows, recalibrated by a fit on labelled rows if there are any."""
    with reword_errors({**REJECT_COST_WORDS, **MISSING_ADVICE}):
        system = prepare_submission(submission, options)
    if labelled is None:
        return system
    with reword_errors(MISSING_ADVICE):
        of_labelled = prepare_submission(labelled, options)
    weight = of_labelled.options.sample_weight
    logs = log_posteriors_of(labelled, of_labelled)
    fit = fit_to_logs(logs, labelled.references, method=method, sample_weight=weight)
    values = fit.apply_to_logs(log_posteriors_of(submission, system))
    return with_log_posteriors(submission, system, values, method, **options)


def _show_rows(
    records: Sequence[Record],
    signature: str,
    output: Sequence[str],
    *,
    reject_cost: float,
    read: Sequence[str],
) -> None:
    """Print the decisions; or write them, and print the recipes and the number of accepted rows."""
    if not output:
        print(to_csv(records, signature), end="")
    for path in output:
        write(path, Grid([], [], [], signature), records)
    if output:
        print(*read, sep="\n")
        count = sum(bool(record["accepted"]) for record in records)
        print(f"{count:,} of {len(records):,} rows are accepted at reject cost {reject_cost:g}")


def _records(submission: Submission, decisions: RowDecisions, largest: float) -> Iterator[Record]:
    """Yield the record of each row: system, id or row number, decision, uncertainty, and whether it is accepted."""
    from ..thresholds import round_uncertainty

    if submission.ids is None:
        which = "row"
        places = submission.rows.tolist()
    else:
        which = "id"
        places = submission.ids.to_pylist()
    for row, place in enumerate(places):
        record = {"system": submission.name, which: place}
        if decisions.decision is not None:
            record["decision"] = decisions.decision[row].item()
        record["uncertainty"] = round_uncertainty(float(decisions.uncertainty[row]), largest)
        record["accepted"] = bool(decisions.accepted[row])
        yield record


def choose_threshold(
    *,
    files: Files,
    rows: RowFlags,
    form: FormOptions,
    by: Annotated[
        str | None,
        Flag(
            "a reject cost for each value of this column, as for each question, per system; for runs: question, or "
            "model, which pools the tasks of each model",
            "COLUMN",
        ),
    ] = None,
    cost: CostFlag = None,
    budget: Annotated[
        float | None, Flag("reject at most this share, which people can review", "SHARE")
    ] = None,
    max_risk: Annotated[
        float | None, Flag("accept as many as keep their mean cost at most this, certified", "RISK")
    ] = None,
    interval: Annotated[float, Flag("level of the certificate and of intervals", "LEVEL")] = LEVEL,
    lock: Annotated[
        str | None,
        Flag(
            "also write the reject costs and the answers that they were chosen on, for `ecuas check --against`",
            "FILE",
            writes=("",),
        ),
    ] = None,
    output: Output,
) -> Notes:
    """Print the reject cost that a budget or a promised risk leads to, of each system."""
    from ..thresholds import chosen_costs, write_lock

    submissions = set_cost(cost, read_files(files, rows, part=by, metric=form, beside=[cost]))
    with reword_errors(MISSING_ADVICE):
        systems = prepare_submissions(submissions, **asdict(form))
    grid, records = chosen_costs(
        systems, budget=budget, max_risk=max_risk, level=interval, digits=output.digits
    )
    if lock is not None:
        chosen = {"budget": budget, "max_risk": max_risk, "level": interval}
        flags = {"rows": asdict(rows), "form": asdict(form), "cost": cost, "by": by}
        named = _name_files(flags, partial(os.path.relpath, start=os.path.dirname(lock) or "."))
        write_lock(lock, systems, submissions, records, chosen=chosen, flags=named)
    output.show(grid, records, recipes=list_recipes(submissions))
    return list_notes(systems)


def _name_files(flags: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """Return the flags of a lock with changed names of the files that they read: a lock has them from its folder."""
    rows, cost = dict(flags["rows"]), flags["cost"]
    if rows["truth"]:  # its columns are named after its last part
        name = Path(rows["truth"]).name
        rows["columns"] = [one.replace(f"{rows['truth']}:", f"{name}:") for one in rows["columns"]]
    rows |= {name: change(rows[name]) for name in ("truth", "recipe") if rows[name]}
    return {**flags, "rows": rows, "cost": change(cost) if has_cost_file(cost) else cost}


def check_versions(
    *,
    files: Files,
    against: Annotated[
        str | None,
        Flag("what `ecuas threshold --lock` wrote; required", "FILE", reads=True),
    ] = None,
    output: Output,
) -> Outcome:
    """Check new versions against locked reject costs: exit status 1 if risk or cost is worse by more than chance."""
    from ..thresholds import check_systems, checked_versions, read_lock

    if against is None:
        raise InputError("--against", "is missing: the file of `ecuas threshold --lock`")
    locked = read_lock(against)
    flags = _name_files(locked.flags, partial(os.path.join, os.path.dirname(against)))
    form = FormOptions(**flags["form"])
    rows = RowFlags(recipe=against) if locked.has_one_recipe else RowFlags(**flags["rows"])
    cost = flags["cost"]
    read = read_files(files, rows, part=flags["by"], metric=form, beside=[cost, against])
    submissions = set_cost(cost, read)
    with reword_errors(MISSING_ADVICE):
        systems = prepare_submissions(submissions, **asdict(form))
    checks = check_systems(locked, submissions, systems)
    recipes = list_recipes(submissions)
    grid, shown = checked_versions(checks, systems, digits=output.digits)
    output.show(
        grid,
        shown,
        to_text(replace(grid, hints=describe_recipes(recipes)), screen_width(sys.stdout)),
        recipes,
        further={"sentences": grid.above, "passed": not any(one.failed for one in checks.values())},
    )
    notes = list_notes(systems)
    notes += [(name, note) for name, check in checks.items() for note in check.notes]
    return Outcome(notes, status=int(any(one.failed for one in checks.values())))
