"""The page for programs and agents: typed values in, JSON out, and errors of one line instead of messages in HTML."""

# No `from __future__ import annotations`: Gradio reads the types.
import base64
import binascii
import functools
import inspect
import json
import logging
import math
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Union, get_args, get_origin
from urllib.parse import unquote

import gradio as gr
from gradio.utils import get_upload_folder

from ecuas_metric.errors import InputError
from ecuas_metric.inputs import POSTERIOR_FORMS
from ecuas_metric.reporting.report import make_report, report_grid, report_records
from triviaqa_subset.labels import METHODS, REASONS, STRATA

from . import answer_cost, answers, handlers, leaderboard, scoring, sharing, simulation, subset, uploads
from .components import DEFAULT_N
from .words import RULES, in_words

Json = dict[str, Any]
KINDS = {bool: "true or false", float: "a number", int: "a whole number", str: "text", list: "a list"}
SUFFIX_OF_TEXT = {"{": ".jsonl", "[": ".json"}  # the first character of a file given as text; else .csv
DECISIONS = ("keep", "discard")
UPLOAD = "/gradio_api/file="  # in the address of an upload
NO_FILE = "Give an upload of this page, a data: address, or the text of the file."


def tool(function: Callable[..., Json]) -> Callable[..., Any]:
    """Make a function check the types of its arguments, raise errors of one line, and answer agents with JSON text."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def called(*arguments: Any) -> Any:  # Gradio adds the request
        request = next((one for one in arguments if isinstance(one, gr.Request)), None)
        given = signature.bind(*(one for one in arguments if not isinstance(one, gr.Request)))
        given.apply_defaults()
        try:
            for name, value in given.arguments.items():
                if name == "file":  # an upload is no text; `path_of` checks it
                    continue
                require_type(name, value, signature.parameters[name].annotation)
            result = function(*given.args)
        except InputError as error:
            raise gr.Error(in_words(error), print_exception=False) from None
        except ImportError as error:  # an extra that is not installed
            raise gr.Error(" ".join(str(error).split()), print_exception=False) from None
        except Exception:  # programs see no traceback; the log has it
            logging.exception("in %s", function.__name__)
            raise gr.Error(handlers.BUG, print_exception=False) from None
        is_agent = request is not None and request.headers.get("x-gradio-user") == "mcp"
        return json.dumps(result) if is_agent else result

    own = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=gr.Request)
    called.__signature__ = signature.replace(parameters=[*signature.parameters.values(), own])  # type: ignore[attr-defined]
    called.__annotations__ = function.__annotations__ | {"request": gr.Request}
    return called


def require_type(name: str, value: Any, annotation: Any) -> None:
    """Raise InputError unless a value has the type of an argument."""
    allowed = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    if value is None and types.NoneType in allowed:
        return
    kind = next(one for one in allowed if one is not types.NoneType)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise InputError(name, f"must be one of {', '.join(map(str, get_args(kind)))}", value=_shown(value))
        return
    plain = get_origin(kind) or kind
    fits = isinstance(value, (int, float) if plain is float else plain)
    if not fits or (isinstance(value, bool) and plain is not bool):
        raise InputError(name, f"must be {KINDS[plain]}", value=_shown(value))


def _shown(value: Any) -> Any:
    return value if not isinstance(value, (str, list, dict)) or len(str(value)) <= 60 else f"{str(value)[:60]}…"


def path_of(file: Any, name: str, folder: Path) -> str:
    """Return the path of a file that a caller uploaded, or write what it gave as text into a folder.

    Parameters
    ----------
    file : dict or str
        What `gradio_client.handle_file` becomes, the address of an upload, a `data:` address, or text of several lines.
    name : str
        Of what is in it, for errors.

    Raises
    ------
    InputError
        If it is nothing of this. No address is fetched, and no file but an upload is read.
    """
    if isinstance(file, dict) and isinstance(file.get("path"), str):
        return _uploaded(file["path"], name)
    if not isinstance(file, str):
        raise InputError(name, "must be a file", value=_shown(file), advice=NO_FILE)
    if file.startswith("data:"):
        return _written(_decoded(file, name), name, folder)
    if "\n" in file.strip():
        return _written(file.encode(), name, folder)
    if UPLOAD in file or file.startswith("/"):
        return _uploaded(unquote(file.rpartition(UPLOAD)[2]), name)
    raise InputError(name, "must be a file", value=_shown(file), advice=NO_FILE)


def _decoded(address: str, name: str) -> bytes:
    try:
        return base64.b64decode(address.partition(",")[2], validate=True)
    except (ValueError, binascii.Error):
        raise InputError(name, "must be base64 after data:...;base64,", value=_shown(address)) from None


def _uploaded(path: str, name: str) -> str:
    folder = Path(get_upload_folder()).resolve()
    try:
        found = Path(path).resolve()
        is_there = found.is_relative_to(folder) and found.is_file()
    except (ValueError, OSError):
        is_there = False
    if not is_there:
        raise InputError(name, "is no upload of this page", value=_shown(path), advice=NO_FILE)
    return str(found)


def _written(content: bytes, name: str, folder: Path) -> str:
    if len(content) > uploads.MAX_BYTES:
        raise InputError("A file", f"must have at most {uploads.MAX_BYTES:,} bytes", got=f"{len(content):,}")
    start = content.lstrip()[:1].decode(errors="ignore")
    suffix = ".parquet" if content.startswith(b"PAR1") else SUFFIX_OF_TEXT.get(start, ".csv")
    path = folder / f"{name}{suffix}"
    path.write_bytes(content)
    return str(path)


@contextmanager
def paths_of(files: list[str], names: Sequence[str] = ()) -> Iterator[list[str]]:
    """Have files where they can be read; those of texts only meanwhile."""
    if len(files) > uploads.MAX_FILES:
        raise InputError("files", f"must be at most {uploads.MAX_FILES}", got=f"{len(files):,}")
    with TemporaryDirectory() as folder:
        called = names or [f"system_{i}" for i in range(1, len(files) + 1)]
        yield [path_of(file, name, Path(folder)) for file, name in zip(files, called, strict=True)]


@tool
def score(
    files: list[str],
    confidence: str = "",
    correct: str = "",
    label: str = "",
    predicted: str = "",
    posteriors: str = "",
    system: str = "",
    sample_id: str = "",
    weight: str = "",
    group: str = "",
    n: str = DEFAULT_N,
    num_classes: float | None = None,
    predictions_are: Literal[POSTERIOR_FORMS] = POSTERIOR_FORMS[0],  # type: ignore[valid-type]
    reject_costs: str = "",
    missing_confidence: float | None = None,
    normalize: bool = False,
    decompose: bool = False,
    calibration: bool = False,
    intervals: bool = True,
    unjudged: Literal[tuple(RULES.values())] = "bounds",  # type: ignore[valid-type]
    scale: float = 1.0,
    correct_from: float | None = None,
    explain: bool = False,
) -> dict[str, Any]:
    """Score the systems in files of confidences and correctness, or of posteriors and labels, by ECUAS_n and others.

    Args:
        files: Uploads of this page, their addresses, data: addresses, or texts; CSV, JSON lines, .. or Parquet.
        confidence: Column of confidences in [0, 1]. A column may be left empty: then it is found by its name.
        correct: Column that says whether an answer is correct, 0 or 1.
        label: Column of true classes, from 0.
        predicted: Column of the classes that the confidences are of, beside the true ones.
        posteriors: Column of lists of posteriors; prob_0, prob_1, .. are found without it.
        system: Column of names of systems, or several joined by +.
        sample_id: Column of ids that pairs the samples of different systems.
        weight: Column of sample weights.
        group: Column of groups whose samples depend on each other.
        n: Parameters of ECUAS_n, e.g. 0, 1, inf.
        num_classes: Number of possible answers of systems with confidences; without it, infinitely many.
        predictions_are: probabilities, log_probabilities or logits.
        reject_costs: Adds cost, coverage and risk for users with these reject costs, e.g. 0.1, 0.3.
        missing_confidence: What an empty confidence counts as; without it, it is an error.
        normalize: Add values divided by those of a system that ignores its input.
        decompose: Add what the best recalibration would save.
        calibration: Add ECE without its bias, and the p-value of a test of calibration.
        intervals: Add 95 % intervals.
        unjudged: What answers without correctness do: bounds (best and worst case), wrong (they count as that) or drop.
        scale: What a confidence of 1 is in the files, e.g. 100 for percentages.
        correct_from: The lowest grade that counts as correct.
        explain: Add what the numbers say, in sentences; with many samples that takes seconds.
    """
    given = {name: _text(value) for name, value in locals().items() if name not in ("files", "sample_id", "explain")}
    given["id"] = sample_id
    with paths_of(files) as paths:
        submissions, options = scoring.requested(paths, given)
    return _result(scoring.evaluated(submissions, options), explain=explain)


def _text(value: Any) -> Any:
    """Return what a control of the page would hold."""
    if value is None or isinstance(value, (bool, str)):
        return value if value is not None else ""
    return repr(value)


def _result(found: scoring.Evaluated, *, explain: bool) -> Json:
    grid = report_grid(found.report, sizes=True)
    notes = scoring.notes(found.report)
    return scoring.as_json(grid, report_records(found.report)) | {
        "notes": [*grid.above, *grid.notes, *notes],
        **({"in_words": scoring.sentences_of(found)} if explain else {}),
    }


@tool
def detect_columns(file: str) -> dict[str, Any]:
    """Find the columns of a file, and the role of each that `score` would find by its name.

    Args:
        file: An upload of this page, its address, a data: address, or the text of a file.
    """
    with paths_of([file], ["file"]) as (path,):
        names, roles = uploads.detect(path)
    return {"columns": names, "roles": roles}


@tool
def cost(n: float = 1.0, num_classes: float | None = None, confidence: float = 0.8) -> dict[str, Any]:
    """Compute what a correct and an incorrect answer of one confidence cost under ECUAS_n; "I don't know" costs 1.

    Args:
        n: Parameter of ECUAS_n, at least 0.
        num_classes: Number K of possible answers; without it, infinitely many, e.g. of free text.
        confidence: Of the answer, in [0, 1].
    """
    handlers.require_numbers(n=n, confidence=confidence)
    if num_classes is not None and not 2 <= num_classes < math.inf:
        raise InputError("num_classes", "must be >= 2", value=num_classes)
    if not 0 <= confidence <= 1:
        raise InputError("confidence", "must lie in [0, 1]", value=confidence)
    answer = answer_cost.Answer(n, num_classes, confidence)
    correct, incorrect = answer_cost.answer_costs(answer)
    return {"correct": correct, "incorrect": incorrect, "counts_as_rejected": confidence < answer.lowest}


@tool
def simulate(accuracy: float = 0.8, separation: float = 1.5, overconfidence: float = 2.5) -> dict[str, Any]:
    """Simulate a system of 2,000 answers, and compare it with the same system calibrated.

    Args:
        accuracy: Share of right answers, in (0, 1).
        separation: Distance of the evidence for right and wrong answers, in standard deviations.
        overconfidence: Factor of the log-odds of the confidences; 1 is calibrated. The temperature is its inverse.
    """
    settings = {"accuracy": accuracy, "separation": separation, "overconfidence": overconfidence}
    handlers.require_numbers(**settings)
    simulation.check(**settings)
    report = make_report(simulation.beside_calibrated(**settings))
    rows = scoring.as_json(report_grid(report), report_records(report))
    return rows | {"in_words": [simulation.interpret(report.results)]}


@tool
def questions(
    selected: bool = True,
    stratum: Literal[(subset.ANY, *STRATA)] = subset.ANY,  # type: ignore[valid-type]
    decision: Literal[(subset.ANY, *DECISIONS)] = subset.ANY,  # type: ignore[valid-type]
    reason: Literal[(subset.ANY, *REASONS)] = subset.ANY,  # type: ignore[valid-type]
    verdict: Literal[(subset.ANY, *subset.VERDICTS)] = subset.ANY,  # type: ignore[valid-type]
    llm: str = "gemini-2.5-pro",
    method: Literal[METHODS] = METHODS[-1],  # type: ignore[valid-type]
    limit: int = 50,
) -> dict[str, Any]:
    """List questions of the TriviaQA pool that pass all filters; `any` keeps every question.

    Args:
        selected: Only the 455 questions of the curated subset.
        stratum: any, exact_match_all or reviewed.
        decision: any, keep or discard.
        reason: any, ok, ambiguous, time_dependent, bad_gold or offensive.
        verdict: any, right or wrong: on the answer of the system that the two other filters name.
        llm: Language model, e.g. gemini-2.5-pro.
        method: How its confidence was elicited: sequence_posterior, is_true or verbalized.
        limit: Of questions that are listed.
    """
    if llm not in subset.llms():
        raise InputError("llm", f"must be one of {', '.join(subset.llms())}", value=_shown(llm))
    found = subset.browse(
        selected=selected, stratum=stratum, decision=decision, reason=reason, verdict=verdict, llm=llm, method=method
    )
    if limit < 0:
        raise InputError("limit", "must be >= 0", value=limit)
    return {"count": len(found), "questions": json.loads(found.head(limit).to_json(orient="records"))}


@tool
def question(question_id: str) -> dict[str, Any]:
    """Show a question of the TriviaQA pool, its labels, and how the answer of each of 21 systems was graded.

    Args:
        question_id: E.g. sfq_178.
    """
    facts, verdicts = subset.facts_of(question_id)
    return facts | {"systems": verdicts.to_dict(orient="records")}


@tool
def error_rates(labels: Literal[leaderboard.LABELS] = leaderboard.LABELS[0]) -> dict[str, Any]:  # type: ignore[valid-type]
    """Return the leaderboard: error rates of 21 systems on the curated TriviaQA subset, with 95 % intervals.

    Args:
        labels: What counts as correct: correct (judged) or exact_match.
    """
    return {"rows": [leaderboard.record(row) for row in leaderboard.known_rows(labels)]}


@tool
def plan(
    first: float = 0.3, second: float = 0.36, auroc: float = 0.8, correlation: float = 0.5, difference: float = 0.05
) -> dict[str, Any]:
    """Plan a comparison: what the subset's questions can detect, and how many a difference needs.

    Args:
        first: Error rate that you expect of one system, in (0, 1).
        second: That of the other system.
        auroc: Of the confidences of both, in (0.5, 1).
        correlation: Of the two systems' costs on the same question, in [-1, 1].
        difference: That you want to detect, above 0.
    """
    header, rows = handlers.planned(first, second, auroc, correlation, difference)
    return {"rows": [dict(zip(header, row, strict=True)) for row in rows]}


@tool
def grade(
    file: str,
    asked: Literal[sharing.ASKED] = sharing.ASKED[0],  # type: ignore[valid-type]
    accepted: list[str] = [],  # noqa: B006 - Gradio reads the default, and nothing changes it
    others: Literal["unknown", "wrong", "drop"] = "unknown",
    weighted: bool = True,
    n: str = DEFAULT_N,
    intervals: bool = True,
) -> dict[str, Any]:
    """Grade answers to the questions of the curated TriviaQA subset, and score the model as `score` does.

    Args:
        file: With columns question_id, answer, confidence; an upload, its address, a data: address, or a text.
        asked: Which questions: curated (the 455 of the subset) or kept (all 918 that were not discarded).
        accepted: Keys of answers, of those in `open` of an earlier result, that are correct.
        others: What the other answers in `open` count as: unknown (best and worst case), wrong, or drop.
        weighted: Weight the questions so that they represent the 918 that were kept.
        n: Parameters of ECUAS_n, e.g. 0, 1, inf.
        intervals: Add 95 % intervals.
    """
    rest = answers.REST[("unknown", "wrong", "drop").index(others)]
    known = handlers.asked_questions(asked)
    options = scoring.page_options(n=n, intervals=intervals)
    with paths_of([file], ["file"]) as (path,):
        sheet = uploads.read_answers(path)
    graded, counts = answers.graded(sheet, known, accepted=accepted, rest=rest)
    found = scoring.evaluated([answers.submission(graded, "yours", weighted=weighted, rest=rest)], options)
    correct = handlers.frame_of(graded, text=answers.TEXT).set_index("question_id")["correct"].astype(float)
    return _result(found, explain=False) | {
        "graded": counts,
        "open": [key for _, key in answers.open_answers(graded, known)][: handlers.MAX_OPEN],
        "leaderboard": leaderboard.record(leaderboard.row_of("yours", correct, asked)),
    }


TOOLS = (score, detect_columns, cost, simulate, questions, question, error_rates, plan, grade)
