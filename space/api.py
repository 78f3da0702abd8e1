"""Every function of the page under its API name: typed values in, what the components show out."""

from __future__ import annotations

import functools
import logging
import secrets
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd
from gradio.utils import get_upload_folder

from ecuas_metric.errors import InputError
from ecuas_metric.reporting.report import make_report, report_grid
from triviaqa_subset import power

from . import answer_cost, answers, drawings, markup, scoring, simulation, subset, uploads
from .words import in_words

Outputs = tuple[Any, ...]  # one value per component
NUM_SHOWN = len(fields(scoring.Shown))
ASKED = ("curated", "kept")
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
    """Find the role of each column of the first file.

    Args:
        files: CSV, TSV, JSON lines, JSON or Parquet.
    """
    names, used = uploads.detect(files[0]) if files else ([], dict.fromkeys(uploads.COLUMNS))
    return "", *(gr.Dropdown(choices=names, value=used[role] or "") for role in uploads.COLUMNS)


@errors_as_message(NUM_SHOWN)
def score(
    files: list[str] | None,
    confidence: str,
    correct: str,
    label: str,
    posteriors: str,
    system: str,
    sample_id: str,
    weight: str,
    group: str,
    n: str,
    num_classes: str,
    predictions_are: str,
    reject_costs: str,
    missing_confidence: str,
    normalize: bool,
    decompose: bool,
    calibration: bool,
    intervals: bool,
    unjudged: str,
    progress: gr.Progress = PROGRESS,
) -> Outputs:
    """Score the systems in files of confidences and correctness, or of posteriors and labels, by ECUAS_n and others.

    Args:
        files: CSV, TSV, JSON lines, JSON or Parquet; one system per file, or several with a column of systems.
        confidence: Column of confidences in [0, 1]. A column may be left empty: then it is found by its name.
        correct: Column that says whether an answer is correct, 0 or 1.
        label: Column of true classes, from 0.
        posteriors: Column of lists of posteriors; prob_0, prob_1, .. are found without it.
        system: Column of names of systems, or several joined by +.
        sample_id: Column of ids that pairs the samples of different systems.
        weight: Column of sample weights.
        group: Column of groups whose samples depend on each other.
        n: Parameters of ECUAS_n, e.g. 0, 1, 128.
        num_classes: Number of possible answers of systems with confidences; empty: infinitely many.
        predictions_are: probabilities, log_probabilities or logits.
        reject_costs: Adds cost, coverage and risk for users with these reject costs, e.g. 0.1, 0.3.
        missing_confidence: What an empty confidence counts as; empty: it is an error.
        normalize: Add values divided by those of a system that ignores its input.
        decompose: Add what the best recalibration would save.
        calibration: Add ECE without its bias, and the p-value of a test of calibration.
        intervals: Add 95 % intervals.
        unjudged: What answers without correctness do: bounds (best and worst case), wrong (they count as that) or drop.
    """
    if not files:
        return markup.message(NO_FILE), *_nothing(NUM_SHOWN - 1)
    progress(0.1, "Reading")
    options = scoring.page_options(
        n=n,
        num_classes=num_classes,
        predictions_are=predictions_are,
        reject_costs=reject_costs,
        missing_confidence=missing_confidence,
        normalize=normalize,
        decompose=decompose,
        calibration=calibration,
        intervals=intervals,
    )
    chosen = (confidence, correct, label, posteriors, system, sample_id, weight, group)
    columns = dict(zip(uploads.COLUMNS, chosen, strict=True))
    submissions = uploads.read_uploads(files, columns=columns, unjudged=unjudged)
    return laid_out(scoring.score(submissions, options, own_folder(), progress=progress))


@errors_as_message(2)
def cost(n: float, num_classes: float, infinitely_many: bool, confidence: float) -> Outputs:
    """Compute what a correct and an incorrect answer of one confidence cost under ECUAS_n, and draw it for all.

    Args:
        n: Parameter of ECUAS_n, at least 0.
        num_classes: Number K of possible answers.
        infinitely_many: There are infinitely many possible answers, e.g. free text; K is not used.
        confidence: Of the answer, in [0, 1].
    """
    _require_numbers(n=n, K=num_classes, confidence=confidence)
    answer = answer_cost.Answer(n, None if infinitely_many else num_classes, confidence)
    return answer_cost.cost_numbers(answer), answer_cost.cost_figure(answer)


@errors_as_message(4)
def simulate(accuracy: float, separation: float, overconfidence: float) -> Outputs:
    """Simulate a system, and compare it with the same system calibrated.

    Args:
        accuracy: Share of right answers.
        separation: Distance of the evidence for right and wrong answers, in standard deviations.
        overconfidence: Factor of the log-odds of the confidences; 1 is calibrated. The temperature is its inverse.
    """
    _require_numbers(accuracy=accuracy, separation=separation, overconfidence=overconfidence)
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
    """List the questions of the TriviaQA pool that pass all filters; `any` keeps every question.

    Args:
        selected: Only the 455 questions of the curated subset.
        stratum: any, exact_match_all or reviewed.
        decision: any, keep or discard.
        reason: any, ok, ambiguous, time_dependent, bad_gold or offensive.
        verdict: any, right or wrong: on the answer of the system that the two other filters name.
        llm: Language model.
        method: How its confidence was elicited.
    """
    found = subset.browse(
        selected=selected, stratum=stratum, decision=decision, reason=reason, verdict=verdict, llm=llm, method=method
    )
    return f"{len(found)} questions", found


def select_question(event: gr.SelectData) -> str:
    """Return the id in the row that was selected."""
    return str(event.row_value[0])


@errors_as_message(2)
def question(question_id: str) -> tuple[str, pd.DataFrame]:
    """Show a question of the TriviaQA pool, its labels, and how the answer of each of 21 systems was graded.

    Args:
        question_id: E.g. sfq_178.
    """
    return subset.question(question_id)


@errors_as_message(3)
def error_rates(method: str, labels: str) -> Outputs:
    """Return the error rate of each language model: on the subset, unweighted and weighted, and on the pool.

    Args:
        method: How confidences were elicited.
        labels: What counts as correct: correct (judged) or exact_match.
    """
    rates = subset.error_rates(method=method, labels=labels)
    return "", subset.rates_figure(rates), subset.rates_table(rates)


@errors_as_message(2)
def plan(first: float, second: float, auroc: float, correlation: float, difference: float) -> Outputs:
    """Plan a comparison: what the subset's questions can detect, and how many a difference needs.

    Args:
        first: Error rate that you expect of one system, in (0, 1).
        second: That of the other system.
        auroc: Of the confidences of both, in (0.5, 1).
        correlation: Of the two systems' costs on the same question, in [-1, 1].
        difference: That you want to detect, above 0.
    """
    values = {"AUROC": auroc, "correlation": correlation, "difference": difference}
    _require_numbers(**{"first error rate": first, "second error rate": second, **values})
    try:
        header, *rows = power.plan([first, second], auroc=auroc, correlation=correlation, difference=difference)
    except ValueError as error:
        raise InputError("A plan", f"is not possible: {str(error).rstrip('.')}") from None
    return "", pd.DataFrame(rows, columns=header)


@errors_as_message(2)
def grade_answers(file: str | None, asked: str) -> Outputs:
    """Grade answers to the questions by exact match and label bank, and list those that neither decides.

    Args:
        file: With columns question_id, answer, confidence.
        asked: Which questions: curated (the 455 of the subset) or kept (all 926 that were not discarded).
    """
    if not file:
        return markup.message(NO_FILE), gr.CheckboxGroup(choices=[], value=[])
    known = _asked(asked)
    graded, counts = answers.graded(uploads.read_answers(file), known)
    return markup.message(counts), gr.CheckboxGroup(choices=answers.open_answers(graded, known), value=[])


@errors_as_message(NUM_SHOWN)
def score_answers(
    file: str | None,
    asked: str,
    accepted: list[str],
    rest: str,
    weighted: bool,
    n: str,
    intervals: bool,
    progress: gr.Progress = PROGRESS,
) -> Outputs:
    """Grade answers to the questions, and score the model as `score` does.

    Args:
        file: With columns question_id, answer, confidence.
        asked: Which questions: curated (the 455 of the subset) or kept (all 926 that were not discarded).
        accepted: Those of the answers listed by `grade_answers` that are correct.
        rest: What the other answers of that list count as.
        weighted: Weight the questions so that they represent the 926 that were kept.
        n: Parameters of ECUAS_n, e.g. 0, 1, 128.
        intervals: Add 95 % intervals.
    """
    if not file:
        return markup.message(NO_FILE), *_nothing(NUM_SHOWN - 1)
    progress(0.1, "Grading")
    options = scoring.page_options(n=n, intervals=intervals)
    graded, counts = answers.graded(uploads.read_answers(file), _asked(asked), accepted=accepted, rest=rest)
    submission = answers.submission(graded, file, weighted=weighted, rest=rest)
    return laid_out(scoring.score([submission], options, own_folder(), remarks=[counts], progress=progress))


def _asked(name: str) -> pd.DataFrame:
    if name not in ASKED:
        raise InputError("Questions", f"must be one of {', '.join(ASKED)}", value=name)
    return subset.tables()[name]


def laid_out(shown: scoring.Shown) -> Outputs:
    """Return what the components show, in the order of `components.results`, and then signature and record."""
    return tuple(getattr(shown, field.name) for field in fields(shown))


def own_folder() -> Path:
    """Make a folder in Gradio's cache, emptied with it, at an address that cannot be guessed."""
    folder = Path(get_upload_folder()) / secrets.token_hex(16)
    folder.mkdir(parents=True)
    return folder


def _nothing(num_outputs: int) -> list[None]:
    return [None] * num_outputs


def _require_numbers(**values: float | None) -> None:
    for name, value in values.items():
        if value is None:
            raise InputError(name, "must be a number")
