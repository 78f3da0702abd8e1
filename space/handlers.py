"""What the components of the page call: their values in, what other components show out. `api` is for programs."""

from __future__ import annotations

import functools
import logging
import math
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pandas as pd
from gradio.utils import get_upload_folder

from ecuas_metric.comparison.planning import plan_of_rates
from ecuas_metric.errors import InputError
from ecuas_metric.files.read import Sheet, frame_of
from ecuas_metric.metrics import Key
from ecuas_metric.options import Options
from ecuas_metric.reporting.report import make_report, report_grid

from . import answer_cost, answers, drawings, leaderboard, markup, scoring, sharing, simulation, subset, uploads
from .components import OPTION_NAMES
from .words import in_words

Outputs = tuple[Any, ...]  # one value per component
NUM_SHOWN = len(fields(scoring.Shown))
NUM_GRADED = NUM_SHOWN + 4
SETTINGS = (*uploads.COLUMNS, *OPTION_NAMES)
OLD = 1800  # seconds: files of visitors are deleted after that time
LINK = "result"  # what a link's query holds
LAST = "The last result as JSON"
VERDICTS = "How each system's answer was graded"
PLANNED = "Detectable differences, and the number of questions needed for yours"
PLANNED_KEYS = (Key("error_rate"), Key("ecuas", 0.0), Key("ecuas", 1.0))
SIZES = {"455, weighted": 346, "455": 455, "918 (kept)": 918}  # weighted: as many as 455 / the mean squared weight
MAX_OPEN = 1000  # answers that a visitor is asked about
RESTORED = "Restored from a link: computed from the grades and confidences in it, which nobody has checked."
PROGRESS = gr.Progress()  # Gradio passes its own to each call
NO_FILE = "There is no file yet: upload one, or load an example."
BUG = "Something went wrong on this page; this is a bug. The command `ecuas` may work instead."


def errors_as_message(num_outputs: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function show an error in its first output, a message, and empty the others."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def guarded(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except InputError as error:
                text = in_words(error)
            except ImportError as error:  # an extra that is not installed
                text = str(error)
            except Exception:  # visitors see no traceback; the log has it
                logging.exception("in %s", function.__name__)
                text = BUG
            return markup.message(text, kind="error"), *_nothing(num_outputs - 1)

        return guarded

    return decorate


@errors_as_message(1 + len(uploads.COLUMNS))
def detect_columns(files: list[str] | None) -> Outputs:
    """Find the role of each column of the first file."""
    names, used = uploads.detect(files[0]) if files else ([], dict.fromkeys(uploads.COLUMNS))
    return "", *(gr.Dropdown(choices=names, value=used[role] or "") for role in uploads.COLUMNS)


@errors_as_message(NUM_SHOWN)
def score(progress: gr.Progress = PROGRESS, files: list[str] | None = None, *values: Any) -> Outputs:
    """Score the systems in files; the values are those of the controls in `SETTINGS`."""
    if not files:
        return markup.message(NO_FILE), *_nothing(NUM_SHOWN - 1)
    progress(0.1, "Reading")
    submissions, options = scoring.requested(files, dict(zip(SETTINGS, values, strict=True)))
    return laid_out(scoring.score(submissions, options, own_folder(), progress=progress))


@errors_as_message(2)
def cost(n: float, num_classes: float, infinitely_many: bool, confidence: float) -> Outputs:
    """Compute what a correct and an incorrect answer of one confidence cost, and draw it for all."""
    require_numbers(n=n, K=num_classes, confidence=confidence)
    answer = answer_cost.Answer(n, None if infinitely_many else num_classes, confidence)
    return answer_cost.cost_numbers(answer), answer_cost.cost_figure(answer)


@errors_as_message(4)
def simulate(accuracy: float, separation: float, overconfidence: float) -> Outputs:
    """Simulate a system, and compare it with the same system calibrated."""
    require_numbers(accuracy=accuracy, separation=separation, overconfidence=overconfidence)
    systems = simulation.beside_calibrated(accuracy=accuracy, separation=separation, overconfidence=overconfidence)
    report = make_report(systems)
    return (
        markup.message(simulation.interpret(report.results)),
        markup.report_table(report, report_grid(report)),
        simulation.metrics_figure(simulation.metrics_frame(accuracy=accuracy, separation=separation)),
        drawings.reliability_figure({name: drawings.curves_of(system) for name, system in systems.items()}),
    )


@errors_as_message(2)
def questions(selected: bool, stratum: str, decision: str, reason: str, verdict: str, llm: str, method: str) -> Outputs:
    """List the questions of the pool that pass all filters."""
    found = subset.browse(
        selected=selected, stratum=stratum, decision=decision, reason=reason, verdict=verdict, llm=llm, method=method
    )
    return f"{len(found)} questions", found


def select_question(event: gr.SelectData) -> str:
    """Return the id in the row that was selected."""
    return str(event.row_value[0])


@errors_as_message(2)
def question(question_id: str) -> Outputs:
    """Show a question of the pool."""
    facts, verdicts = subset.question(question_id)
    return facts, markup.plain_table(list(verdicts), verdicts.to_numpy().tolist(), VERDICTS)


@errors_as_message(2)
def plan(first: float, second: float, auroc: float, correlation: float, difference: float) -> Outputs:
    """Plan a comparison: what the subset's questions can detect, and how many a difference needs."""
    header, rows = planned(first, second, auroc, correlation, difference)
    return "", markup.plain_table(header, rows, PLANNED)


def planned(
    first: float, second: float, auroc: float, correlation: float, difference: float
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the plan of a comparison.

    Raises
    ------
    InputError
        If a value is out of range.
    """
    values = {"AUROC": auroc, "correlation": correlation, "difference": difference}
    require_numbers(**{"first error rate": first, "second error rate": second, **values})
    expected = {"error_rates": (first, second), "auroc": auroc, "correlation": correlation, "difference": difference}
    try:
        plans = [[plan_of_rates(key, samples=size, **expected) for key in PLANNED_KEYS] for size in SIZES.values()]
    except (ValueError, OverflowError) as error:
        raise InputError("A plan", f"is not possible: {str(error).rstrip('.')}") from None
    rows = [[name, *(f"{plan.detectable:.3f}" for plan in row)] for name, row in zip(SIZES, plans, strict=True)]
    needed = [f"needed for {difference:g}", *(str(plan.needed) for plan in plans[0])]
    return ["questions", *map(str, PLANNED_KEYS)], [*rows, needed]


@errors_as_message(2)
def grade_answers(file: str | None, asked: str) -> Outputs:
    """Grade answers by exact match and label bank, and list those that neither decides."""
    if not file:
        return markup.message(NO_FILE), gr.CheckboxGroup(choices=[], value=[])
    known = asked_questions(asked)
    graded, counts = answers.graded(uploads.read_answers(file), known)
    found = answers.open_answers(graded, known)
    remark = f" Here are the first {MAX_OPEN:,} of those." if len(found) > MAX_OPEN else ""
    return markup.message(counts + remark), gr.CheckboxGroup(choices=found[:MAX_OPEN], value=[])


@errors_as_message(NUM_GRADED)
def score_answers(
    file: str | None,
    asked: str,
    accepted: list[str],
    rest: str,
    weighted: bool,
    n: str,
    intervals: bool,
    labels: str,
    progress: gr.Progress = PROGRESS,
) -> Outputs:
    """Grade answers, put the system on the leaderboard, and score it as `score` does."""
    if not file:
        return markup.message(NO_FILE), gr.skip(), *_nothing(NUM_GRADED - 2)
    progress(0.1, "Grading")
    options = scoring.page_options(n=n, intervals=intervals)
    graded, counts = answers.graded(
        uploads.read_answers(file), asked_questions(asked), accepted=accepted or [], rest=rest
    )
    return _on_the_leaderboard(graded, Path(file).name, asked, options, counts, labels, weighted=weighted, rest=rest)


@errors_as_message(NUM_GRADED)
def restore(token: str, labels: str) -> Outputs:
    """Show the result that a link holds."""
    if not token:
        return (gr.skip(),) * NUM_GRADED
    name, asked, content = sharing.unpack(token)
    frame = answers.with_design(sharing.answers_of(content, asked_questions(asked)), asked_questions(asked))
    graded = Sheet(frame, np.arange(len(frame)) + 1)
    return _on_the_leaderboard(graded, name, asked, scoring.page_options(), RESTORED, labels)


def leaderboard_table(labels: str, mine: leaderboard.Row | None = None) -> str:
    """Show the error rates of the dataset's own systems, and of the visitor's."""
    return leaderboard.table(leaderboard.known_rows(labels), mine=mine)


def _on_the_leaderboard(
    graded: Sheet,
    file: str,
    asked: str,
    options: Options,
    remark: str,
    labels: str,
    *,
    weighted: bool = True,
    rest: str = answers.REST[0],
) -> Outputs:
    """Return the leaderboard with the system, the graded file, a link, and what `scoring.score` shows."""
    submission = answers.submission(graded, file, weighted=weighted, rest=rest)
    folder = own_folder()
    shown = scoring.score([submission], options, folder, remarks=[remark])
    frame, known = frame_of(graded, text=answers.TEXT), asked_questions(asked)
    mine = leaderboard.row_of(submission.name, frame.set_index("question_id")["correct"].astype(float), asked)
    table = leaderboard_table(labels, mine)
    path = folder / f"{submission.name}.graded.csv"
    answers.write(frame, path)
    token = sharing.pack(frame, known, name=submission.name, asked=asked)
    link = markup.link(f"?{LINK}={token}", "Link to this result")
    message, *rest_of_it = laid_out(shown)
    return message, table, mine, gr.DownloadButton(value=str(path), interactive=True), link, *rest_of_it


def asked_questions(name: str) -> pd.DataFrame:
    """Return the questions of a configuration.

    Raises
    ------
    InputError
        If its name is none of `sharing.ASKED`.
    """
    if name not in sharing.ASKED:
        raise InputError("Questions", f"must be one of {', '.join(sharing.ASKED)}", value=name)
    return subset.tables()[name]


def laid_out(shown: scoring.Shown) -> Outputs:
    """Return what the components show, in the order of `components.results`, and then signature and record."""
    values = {field.name: getattr(shown, field.name) for field in fields(shown)}
    values |= {name: gr.DownloadButton(value=values[name], interactive=True) for name in scoring.DOWNLOADS}
    return tuple((values | {"record": markup.folded_json(shown.record, LAST)}).values())


def own_folder() -> Path:
    """Make a folder in Gradio's cache, emptied with it, at an address that cannot be guessed."""
    uploaded = Path(get_upload_folder())
    folder = uploaded / secrets.token_hex(16)
    folder.mkdir(parents=True)
    sweep(uploaded)
    return folder


def sweep(folder: Path, age: float = OLD) -> None:
    """Delete what Gradio forgets: the file of an upload that was aborted, and folders that it emptied."""
    before = time.time() - age
    for path in folder.iterdir():
        with suppress(OSError):  # it is not empty, or somebody else was first
            if path.stat().st_mtime >= before:
                continue
            if path.is_dir():
                path.rmdir()
            elif path.name.startswith("tmp"):
                path.unlink()


def require_numbers(**values: float | None) -> None:
    """Raise InputError if one of these is no number, e.g. of a control that was emptied."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise InputError(name, "must be a number", value=value)


def _nothing(num_outputs: int) -> list[None]:
    return [None] * num_outputs
