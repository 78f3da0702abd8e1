"""Every function of the page under its API name: typed values in, what the components show out."""

from __future__ import annotations

import functools
import logging
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd
from gradio.utils import get_upload_folder

from ecuas_metric.reporting.report import make_report

from . import answers, scoring, sentences, simulation, subset, uploads, views

NUM_RESULTS = 13  # what `score` returns
PROGRESS = gr.Progress()  # Gradio gives each call its own in its place
DEFECT = "This page failed there, which is a defect of it. The command `ecuas` may do what you want."


def told(num_outputs: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function show what is wrong in its first output, a message, and empty the others."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def guarded(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except (ValueError, TypeError, OSError, ImportError) as error:
                text = uploads.in_words_of_the_page(error)
            except Exception:  # nobody shall see a traceback; the log has it
                logging.exception("in %s", function.__name__)
                text = DEFECT
            return views.message(text, kind="error"), *[None] * (num_outputs - 1)

        return guarded

    return decorate


@told(1 + len(uploads.COLUMNS))
def detect_columns(files: list[str] | None) -> Any:
    """Find which column of the first file is used for what.

    Args:
        files: CSV, TSV, JSON lines, JSON or Parquet.
    """
    names, used = uploads.detect(files[0]) if files else ([], dict.fromkeys(uploads.COLUMNS))
    return "", *(gr.Dropdown(choices=names, value=used[name] or "") for name in uploads.COLUMNS)


@told(NUM_RESULTS)
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
    intervals: bool,
    drop_unjudged: bool,
    progress: gr.Progress = PROGRESS,
) -> Any:
    """Score the systems in files of confidences and correctness, or of posteriors and labels, by ECUAS_n and others.

    Args:
        files: CSV, TSV, JSON lines, JSON or Parquet; one system each, or several by a column of systems.
        confidence: Column of confidences in [0, 1]. Columns may be left empty: they are found by their names.
        correct: Column that tells whether an answer is correct, 0 or 1.
        label: Column of true classes, from 0.
        posteriors: Column of lists of posteriors; prob_0, prob_1, .. are found by themselves.
        system: Column of names of systems, or several joined by +.
        sample_id: Column of ids that pairs the samples of different systems.
        weight: Column of sample weights.
        group: Column of groups that are resampled together.
        n: Parameters of ECUAS_n, as 0, 1, 128.
        num_classes: Number of possible answers of systems with confidences; empty is infinitely many.
        predictions_are: probabilities, log_probabilities or logits.
        reject_costs: Adds cost, coverage and risk for users with these reject costs, as 0.1, 0.3.
        missing_confidence: What an empty confidence counts as; empty is an error.
        normalize: Add values divided by those of a system that ignores its input.
        decompose: Add what the best recalibration would save.
        intervals: Add 95 % bootstrap intervals.
        drop_unjudged: Leave out answers without a verdict, and count them.
    """
    if not files:
        return views.message("There is no file yet: upload one, or load an example."), *[None] * (NUM_RESULTS - 1)
    progress(0.1, "Reading")
    chosen = (confidence, correct, label, posteriors, system, sample_id, weight, group)
    columns = dict(zip(uploads.COLUMNS, chosen, strict=True))
    tables = uploads.read_uploads(files, columns=columns, drop_unjudged=drop_unjudged)
    progress(0.3, "Scoring")
    scored = scoring.score(
        tables,
        intervals=intervals,
        n=scoring.numbers(n, "n"),
        num_classes=scoring.number(num_classes, "The number of possible answers"),
        predictions_are=predictions_are,
        reject_costs=scoring.numbers(reject_costs, "Reject costs") if reject_costs.strip() else None,
        missing_confidence=scoring.number(missing_confidence, "A missing confidence"),
        normalize=normalize,
        decompose=decompose,
    )
    progress(0.7, "Comparing")
    words = sentences.sentences(scored.systems, tables)
    progress(0.9, "Drawing")
    return (
        views.message(" ".join(scored.notes)),
        views.report_table(scored.report),
        views.bullets(words),
        *scoring.write_tables(scored.report, own_folder()),
        *views.figures(scored.systems),
        scored.report.signature,
        scoring.as_json(scored.report),
    )


@told(2)
def cost(n: float, num_classes: float, infinitely_many: bool, confidence: float) -> Any:
    """Tell what a correct and an incorrect answer of one confidence cost under ECUAS_n, and draw it for all.

    Args:
        n: Parameter of ECUAS_n, at least 0.
        num_classes: Number K of possible answers.
        infinitely_many: There are infinitely many possible answers, as of free text; K is not used.
        confidence: Of the answer, in [0, 1].
    """
    settings: Any = {"n": n, "num_classes": None if infinitely_many else num_classes, "confidence": confidence}
    return views.cost_numbers(**settings), views.cost_figure(**settings)


@told(4)
def simulate(accuracy: float, separation: float, overconfidence: float) -> Any:
    """Simulate a system, and compare it with the same one if it was calibrated.

    Args:
        accuracy: Share of right answers.
        separation: Distance of the evidence for right and wrong answers, in standard deviations.
        overconfidence: Factor of the log-odds of the confidences; 1 is calibrated. The temperature is its inverse.
    """
    settings = {"accuracy": accuracy, "separation": separation}
    systems = simulation.beside_calibrated(**settings, overconfidence=overconfidence)
    with scoring.WARNINGS:
        report = make_report(systems)
    return (
        views.message(simulation.reading(report.values)),
        views.report_table(report),
        views.metrics_figure(simulation.metrics_frame(**settings)),
        views.reliability_figure(systems),
    )


@told(2)
def questions(
    selected: bool, stratum: str, decision: str, reason: str, verdict: str, llm: str, method: str
) -> tuple[str, pd.DataFrame]:
    """List the questions of the TriviaQA pool that fit all filters; `any` fits everything.

    Args:
        selected: Only the 455 questions of the curated subset.
        stratum: any, exact_match_all or reviewed.
        decision: any, keep or discard.
        reason: any, ok, ambiguous, time_dependent, bad_gold or offensive.
        verdict: any, right or wrong: of the system that the two other filters name.
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


@told(2)
def question(question_id: str) -> tuple[str, pd.DataFrame]:
    """Show a question of the TriviaQA pool, its labels, and what each of 21 systems did with it.

    Args:
        question_id: As sfq_178.
    """
    return subset.question(question_id)


@told(3)
def error_rates(method: str, labels: str) -> Any:
    """Return the error rate of each language model: on the subset, unweighted and weighted, and on the pool.

    Args:
        method: How confidences were elicited.
        labels: What counts as right: correct (judged) or exact_match.
    """
    rates = subset.error_rates(method=method, labels=labels)
    wide = rates.pivot(index="llm", columns="estimate", values="error_rate").reset_index()
    wide = wide.set_index("llm").loc[rates["llm"].unique(), list(subset.ESTIMATES)].reset_index()
    return "", views.rates_figure(rates), wide


@told(2)
def grade_answers(file: str | None) -> Any:
    """Grade answers to the curated questions by exact match and label bank, and list those that neither knows.

    Args:
        file: With columns question_id, answer, confidence.
    """
    if not file:
        return views.message("There is no file yet."), gr.CheckboxGroup(choices=[], value=[])
    with scoring.WARNINGS:
        done, counts = answers.graded(uploads.read_answers(file), subset.tables()["curated"])
    unknown = answers.open_answers(done, subset.tables()["curated"])
    return views.message(counts), gr.CheckboxGroup(choices=unknown, value=[])


@told(NUM_RESULTS)
def score_answers(file: str | None, accepted: list[str], rest: str, weighted: bool, n: str, intervals: bool) -> Any:
    """Grade answers to the curated questions, and score the model as `score` does.

    Args:
        file: With columns question_id, answer, confidence.
        accepted: Those of the answers listed by `grade_answers` that are correct.
        rest: What the other answers of that list count as.
        weighted: Weigh the questions so that they stand for the pool of 931.
        n: Parameters of ECUAS_n, as 0, 1, 128.
        intervals: Add 95 % bootstrap intervals.
    """
    if not file:
        return views.message("There is no file yet."), *[None] * (NUM_RESULTS - 1)
    with scoring.WARNINGS:
        given = uploads.read_answers(file)
        done, counts = answers.graded(given, subset.tables()["curated"], accepted=accepted, rest=rest)
    path = own_folder() / f"{Path(file).stem}.csv"
    done.to_csv(path, index=False)
    columns = ("confidence", "correct", "", "", "", "question_id", "weight" if weighted else "", "")
    options = (n, "", "probabilities", "", "", False, False, intervals, True)
    said, *shown = score([str(path)], *columns, *options)
    path.unlink()
    return views.message(counts) + said, *shown


def own_folder() -> Path:
    """Make a folder in Gradio's cache, emptied with it, at an address that nobody guesses."""
    folder = Path(get_upload_folder()) / secrets.token_hex(16)
    folder.mkdir(parents=True)
    return folder
