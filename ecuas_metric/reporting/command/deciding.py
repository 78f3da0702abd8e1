"""What the command does with new rows and reject costs: decides, and chooses."""

import csv
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ...classes import matrix_of_classes
from ...errors import FileError, InputError
from ...files.submissions import Submission, read_new_rows
from ...inputs import POSTERIOR_FORMS, Floats
from ...options import LEVEL
from ...recalibration import METHODS
from ...recalibration.maps import Recalibration, fit_to_logs
from ...rejection import RowDecisions, decide, decide_confidences
from ...results import System
from ..recalibrating import log_posteriors_of
from ..report import prepare_submissions
from ..tables import Grid, Record, check_suffix, to_csv, write
from ..thresholds import chosen_costs
from .flags import Flag, flag_of
from .parameters import (
    Columns,
    ColumnsFlag,
    CostFlag,
    Files,
    GroupColumn,
    LabelsFlag,
    MetricOptions,
    Notes,
    Output,
    RightFlag,
    RowFlags,
    ScaleFlag,
    option,
)
from .reading import File, columns_of_files, read_files, reading_of, recipes_of, require_kept


def cost_of_flag(
    text: str | None, submissions: Sequence[Submission]
) -> tuple[str | Floats, list[object] | None]:
    """Return a cost by a matrix or a file, in the order of the classes of posteriors, and the names of decisions."""
    first = submissions[0]
    if first.form != "posteriors":
        if text is not None:
            raise InputError("--cost", "requires_form", forms="posteriors", form=first.form)
        return "zero_one", None
    classes = list(first.recipe.classes or ()) if first.recipe else []
    classes = classes or [str(k) for k in range(first.predictions.shape[1])]
    if text is None:
        return "zero_one", list(classes)
    if Path(text).suffix.lower() in (".csv", ".json"):
        costs, _, decisions = matrix_of_classes(_costs_in(Path(text)), classes)
        return costs, decisions
    try:
        matrix = np.array([list(map(float, row.split(","))) for row in text.split(";")])
    except ValueError:
        raise InputError("--cost", "no_matrix", value=text) from None
    return matrix, list(classes) if matrix.shape[1] == len(classes) else None


def _costs_in(path: Path) -> Mapping[object, object]:
    """Return the costs of a file by names of classes."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() == ".json":
        return {str(name): costs for name, costs in json.loads(text).items()}
    header, *rows = csv.reader(text.splitlines())
    try:
        return {row[0]: dict(zip(header[1:], map(float, row[1:]), strict=True)) for row in rows}
    except ValueError:
        raise FileError(path, "no_costs") from None


def decide_rows(
    *,
    files: Files,
    reject_cost: Annotated[
        float | None, Flag("reject what is expected to cost more; required", "COST")
    ] = None,
    cost: CostFlag = None,
    columns: ColumnsFlag = (),
    scale: ScaleFlag = "1",
    labels: LabelsFlag = None,
    num_classes: Annotated[float | None, option("num_classes", "K")] = None,
    predictions_are: Annotated[
        str | None, option("predictions_are", choices=POSTERIOR_FORMS)
    ] = None,
    missing_confidence: Annotated[float | None, option("missing_confidence", "Q")] = None,
    calibrate_on: Annotated[
        str | None, Flag("recalibrate by a fit on this labelled file", "FILE")
    ] = None,
    calibrate: Annotated[
        str, Flag("method of that fit", choices=METHODS, needs=("calibrate_on",))
    ] = METHODS[0],
    output: Annotated[
        Sequence[str], Flag("write to a .csv or .json file instead; repeatable", "FILE")
    ] = (),
) -> Notes:
    """Decide for the rows of files, whose truth is unknown, by the rule that is scored."""
    if reject_cost is None:
        raise InputError("--reject-cost", "reject_cost_missing", advice="choose_threshold")
    for path in output:
        check_suffix(path)
    rows = RowFlags(columns=columns, scale=scale, labels=labels)
    metric = MetricOptions(num_classes=num_classes, predictions_are=predictions_are)
    options = {
        "num_classes": num_classes,
        "predictions_are": predictions_are,
        "missing_confidence": missing_confidence,
    }
    reading = reading_of(rows, metric, None)
    reading = reading.with_columns(columns_of_files(columns, [File(None, "")])[0])
    fits: dict[str, Recalibration] = {}
    if calibrate_on is not None:
        labelled = read_files([calibrate_on], rows, groups=None, metric=metric, outputs=output)
        fits = _fits_on(labelled, calibrate, options)
        recipe = labelled[0].recipe
        reading = replace(reading, labels=reading.labels or (recipe.classes if recipe else None))
    require_kept([File(None, path) for path in files], output)
    records: list[Record] = []
    notes: Notes = []
    for submission in (one for path in files for one in read_new_rows(path, reading=reading)):
        matrix, names = cost_of_flag(cost, [submission])
        if submission.form == "confidences":
            _refuse_posteriors({"labels": labels, "predictions_are": predictions_are})
        system = _prepared(submission, matrix, reject_cost, options)
        notes += [(submission.name, note) for note in system.notes]
        fitted = _fit_of(submission.name, fits)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the notes of the system say it
            decided = _decided(submission, system, fitted, reject_cost)
        signature = f"{system.basis}|recal:{calibrate}" if fitted else str(system.basis)
        records += _records(submission, decided, names)
    _show_rows(records, signature, output, reject_cost)
    return notes


def _fits_on(
    submissions: Sequence[Submission], method: str, options: Mapping[str, Any]
) -> dict[str, Recalibration]:
    """Return the recalibration of each labelled system, fitted on all of its rows."""
    fits = {}
    for submission in submissions:
        (system,) = prepare_submissions([submission], **options).values()
        logs, _ = log_posteriors_of(submission, system)
        fits[submission.name] = fit_to_logs(logs, submission.references, method=method)
    return fits


def _prepared(
    submission: Submission, cost: str | Floats, reject_cost: float, options: Mapping[str, Any]
) -> System:
    """Return the system of new rows, whose truth is left open; an error names the flag of this command."""
    of_form = {} if submission.form == "confidences" else {"cost": cost}
    try:
        prepared = prepare_submissions([submission], **options, **of_form, reject_costs=reject_cost)
    except InputError as error:
        error.argument = "reject_cost" if error.argument == "reject_costs" else error.argument
        raise
    (system,) = prepared.values()
    return system


def _show_rows(
    records: Sequence[Record], signature: str, output: Sequence[str], reject_cost: float
) -> None:
    """Write what is decided, or print it."""
    if not output:
        print(to_csv(records, signature), end="")
    for path in output:
        write(path, Grid([], [], [], signature), records)
    if output:
        count = sum(bool(record["accepted"]) for record in records)
        print(f"{count:,} of {len(records):,} rows are accepted at reject cost {reject_cost:g}")


def _refuse_posteriors(flags: Mapping[str, object]) -> None:
    """Raise InputError for a flag of posteriors, where there are none."""
    for name, value in flags.items():
        if value is not None:
            raise InputError(flag_of(name), "idle_of_posteriors")


def _fit_of(name: str, fits: Mapping[str, Recalibration]) -> Recalibration | None:
    """Return the fit of a system: of several that of its name, or the only one."""
    if len(fits) > 1 and name not in fits:
        raise InputError("--calibrate-on", "system_not_in_file", value=name)
    return fits[name] if name in fits else next(iter(fits.values()), None)


def _records(
    submission: Submission, decided: RowDecisions, names: Sequence[object] | None
) -> Iterator[Record]:
    """Yield what is written of each row."""
    places = (
        submission.source.rows.tolist() if submission.ids is None else submission.ids.to_pylist()
    )
    which = "row" if submission.ids is None else "id"
    for row, place in enumerate(places):
        record = {"system": submission.name, which: place}
        if decided.decision is not None:
            number = int(decided.decision[row])
            record["decision"] = number if names is None else names[number]
        yield {
            **record,
            "uncertainty": float(decided.uncertainty[row]),
            "accepted": bool(decided.accepted[row]),
        }


def _decided(
    submission: Submission, system: System, fitted: Recalibration | None, reject_cost: float
) -> RowDecisions:
    """Return what is decided for a prepared submission, recalibrated if there is a fit."""
    options = system.options
    logs = (
        None if fitted is None else fitted.apply_to_logs(log_posteriors_of(submission, system)[0])
    )
    if submission.form == "confidences":
        confidence = submission.predictions if logs is None else np.exp(logs[:, 1])
        missing = options.missing_confidence
        classes = options.num_classes
        return decide_confidences(
            confidence, reject_cost, num_classes=classes, missing_confidence=missing
        )
    form = options.predictions_are if logs is None else "log_probabilities"
    predictions = submission.predictions if logs is None else logs
    return decide(predictions, cost=options.cost, reject_cost=reject_cost, predictions_are=form)


def choose_threshold(
    *,
    files: Files,
    columns: Columns,
    right: RightFlag = None,
    labels: LabelsFlag = None,
    groups: GroupColumn = None,
    num_classes: Annotated[float | None, option("num_classes", "K")] = None,
    predictions_are: Annotated[
        str | None, option("predictions_are", choices=POSTERIOR_FORMS)
    ] = None,
    missing_confidence: Annotated[float | None, option("missing_confidence", "Q")] = None,
    cost: CostFlag = None,
    budget: Annotated[
        float | None, Flag("reject at most this share, which people can review", "SHARE")
    ] = None,
    max_risk: Annotated[
        float | None, Flag("accept as many as keep their mean cost at most this, certified", "RISK")
    ] = None,
    interval: Annotated[float, Flag("level of the certificate and of intervals", "LEVEL")] = LEVEL,
    digits: Annotated[
        int, Flag("digits after the decimal point", "N", [str(digits) for digits in range(16)])
    ] = 3,
    output: Annotated[
        Sequence[str],
        Flag("also write the table to a .md, .tex, .txt, .csv or .json file; repeatable", "FILE"),
    ] = (),
) -> Notes:
    """Print the reject cost that a budget or a promised risk leads to, of each system."""
    table = Output(digits=digits, output=output)
    table.check()
    metric = MetricOptions(
        num_classes=num_classes,
        predictions_are=predictions_are,
        missing_confidence=missing_confidence,
    )
    rows = RowFlags(**asdict(columns), right=right, labels=labels)
    submissions = read_files(files, rows, groups=groups, metric=metric, outputs=output)
    matrix, _ = cost_of_flag(cost, submissions)
    options = metric.options(rows) | ({} if cost is None else {"cost": matrix})
    systems = prepare_submissions(submissions, **options)
    grid, records = chosen_costs(
        systems, budget=budget, max_risk=max_risk, level=interval, digits=digits
    )
    table.show(grid, records, recipes=recipes_of(submissions))
    return [(name, note) for name, system in systems.items() for note in system.notes]
