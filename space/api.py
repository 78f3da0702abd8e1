"""What the page can do, as functions of typed values: for programs and agents, and for the page itself.

Programs get JSON, and errors of one line; what the page shows of the same calls is laid out in `app`.
"""

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
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin
from urllib.parse import unquote

import gradio as gr
from gradio.utils import get_upload_folder

from ecuas_metric.errors import InputError
from ecuas_metric.reporting.report import make_report, prepare_open, report_grid, report_records
from ecuas_metric.results import Estimate
from triviaqa_subset.labels import METHODS, REASONS, STRATA

from . import answers, illustrations, scoring, subset, uploads
from .markup import in_words
from .scoring import DEFAULT_N, Json
from .uploads import plain

KINDS = {bool: "true or false", float: "a number", int: "a whole number", str: "text", list: "a list"}
SUFFIX_OF_TEXT = {"{": ".jsonl", "[": ".json"}  # the first character of a file given as text; else .csv
UPLOAD = "/gradio_api/file="  # in the address of an upload
NO_FILE = "Give an upload of this page, a data: address, or the text of the file."
FAILED = "This could not be computed here. The command `ecuas` may do it, and says more."
MAX_OPEN = 1000  # answers that a visitor is asked about
LONGEST = 60  # characters of a value in an error


def attempt(function: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """Return the result of a function, or the reason for its failure in one line."""
    try:
        return function(*arguments), ""
    except InputError as error:
        return None, in_words(error)
    except ImportError as error:  # an extra that is not installed
        return None, plain(str(error), 600)
    except Exception:  # visitors see no traceback; the log has it
        logging.exception("in %s", getattr(function, "__name__", function))
        return None, FAILED


def tool(function: Callable[..., Json], signature: inspect.Signature | None = None) -> Callable[..., Any]:
    """Make a function check the types of its arguments, raise errors of one line, and answer agents with JSON text."""
    signature = signature or inspect.signature(function)

    def checked(given: dict[str, Any]) -> Json:
        for name, value in given.items():
            if name != "file":  # an upload is no text; `path_of` checks it
                require_type(name, value, signature.parameters[name].annotation)
        return function(**given)

    @functools.wraps(function)
    def called(*arguments: Any) -> Any:  # Gradio adds the request
        request = next((one for one in arguments if isinstance(one, gr.Request)), None)
        given = signature.bind(*(one for one in arguments if not isinstance(one, gr.Request)))
        given.apply_defaults()
        result, error = attempt(checked, given.arguments)
        if error:
            raise gr.Error(error, print_exception=False)
        is_agent = request is not None and request.headers.get("x-gradio-user") == "mcp"
        return json.dumps(result) if is_agent else result

    own = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=gr.Request)
    parameters = [*signature.parameters.values(), own]
    called.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=Json
    )
    called.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": Json}
    return called


def require_type(name: str, value: Any, annotation: Any) -> None:
    """Raise InputError unless a value has one of the types of an argument."""
    allowed = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    kinds = [get_origin(one) or one for one in allowed]
    if value is None and types.NoneType in kinds:
        return
    if kinds == [Literal]:
        if value not in get_args(allowed[0]):
            raise InputError(name, f"must be one of {', '.join(map(str, get_args(allowed[0])))}", value=_shown(value))
        return
    plain_kinds = tuple(kind for kind in kinds if kind is not types.NoneType)
    fits = isinstance(value, (*plain_kinds, *[int] * (float in plain_kinds)))
    if not fits or (isinstance(value, bool) and bool not in plain_kinds):
        raise InputError(name, f"must be {' or '.join(KINDS[kind] for kind in plain_kinds)}", value=_shown(value))


def require_numbers(**values: Any) -> None:
    """Raise InputError if a value is no number, e.g. of a control that was emptied."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise InputError(name, "must be a number", value=_shown(value))


def path_of(file: Any, name: str, folder: Path) -> str:
    """Return the path of an upload of this page, or write what was given as text or `data:` address into a folder.

    No address is fetched, and no file but an upload is read.
    """
    if isinstance(file, dict) and isinstance(file.get("path"), str):
        return _uploaded(file["path"], name)
    if isinstance(file, str):
        if file.startswith("data:"):
            return _written(_decoded(file, name), name, folder)
        if "\n" in file.strip():
            return _written(file.encode(), name, folder)
        if UPLOAD in file or file.startswith("/"):
            return _uploaded(unquote(file.rpartition(UPLOAD)[2]), name)
    raise InputError(name, "must be a file", value=_shown(file), advice=NO_FILE)


@contextmanager
def paths_of(files: Sequence[Any], names: Sequence[str] = ()) -> Iterator[list[str]]:
    """Have files where they can be read; those of texts only meanwhile."""
    if len(files) > uploads.MAX_FILES:
        raise InputError("files", f"must be at most {uploads.MAX_FILES}", got=f"{len(files):,}")
    with TemporaryDirectory() as folder:
        called = names or [f"system_{i}" for i in range(1, len(files) + 1)]
        yield [path_of(file, name, Path(folder)) for file, name in zip(files, called, strict=True)]


def score(files: list[str], explain: bool = False, **given: Any) -> Json:
    """Score the systems in files of confidences and correctness, or of posteriors and labels, by ECUAS_n and others."""
    with paths_of(files) as paths:
        return scoring.score_files(paths, given).json(explained=explain)


def _signature_of_score() -> inspect.Signature:
    """Return the arguments of `score` with the controls of the page, which its docstring explains from then on."""
    files, explain, _ = inspect.signature(score).parameters.values()
    listed = {"files": "Uploads of this page, their addresses, data: addresses, or texts; CSV, JSON lines, Parquet."}
    listed |= {name: control.help for name, control in scoring.CONTROLS.items()}
    listed["explain"] = "Add what the numbers say, in sentences."
    lines = "".join(f"        {name}: {text}\n" for name, text in listed.items())
    score.__doc__ = f"{score.__doc__}\n\n    Args:\n{lines}"
    return inspect.Signature(
        [
            files,
            *(
                inspect.Parameter(name, files.kind, default=control.default, annotation=control.kind)
                for name, control in scoring.CONTROLS.items()
            ),
            explain,
        ]
    )


def detect_columns(file: str) -> Json:
    """Find the columns of a file, and the role of each that `score` would find by its name.

    Args:
        file: An upload of this page, its address, a data: address, or the text of a file.
    """
    with paths_of([file], ["file"]) as (path,):
        names, roles = uploads.detect(path)
    return {"columns": names, "roles": roles}


def cost(n: float = 1.0, num_classes: float | None = None, confidence: float = 0.8) -> Json:
    """Compute what a correct and an incorrect answer of one confidence cost under ECUAS_n; "I don't know" costs 1.

    Args:
        n: Parameter of ECUAS_n, at least 0.
        num_classes: Number K of possible answers; without it, infinitely many, e.g. of free text.
        confidence: Of the answer, in [0, 1].
    """
    require_numbers(n=n, confidence=confidence)
    correct, incorrect = illustrations.answer_costs(n, num_classes, confidence)
    is_low = confidence < illustrations.lowest_confidence(num_classes)
    return {"correct": correct, "incorrect": incorrect, "counts_as_rejected": is_low}


def simulate(accuracy: float = 0.8, separation: float = 1.5, overconfidence: float = 2.5) -> Json:
    """Simulate a system of 2,000 answers, and compare it with the same system calibrated.

    Args:
        accuracy: Share of right answers, in (0, 1).
        separation: Distance of the evidence for right and wrong answers, in standard deviations.
        overconfidence: Factor of the log-odds of the confidences; 1 is calibrated. The temperature is its inverse.
    """
    require_numbers(accuracy=accuracy, separation=separation, overconfidence=overconfidence)
    systems = illustrations.beside_calibrated(accuracy=accuracy, separation=separation, overconfidence=overconfidence)
    report = make_report(systems)
    calibrated, as_set = (
        {key: one.value for key, one in results.estimates.items()} for results in report.results.values()
    )
    rows = scoring.as_json(report_grid(report), report_records(report))
    return rows | {"in_words": [illustrations.interpret(calibrated, as_set)]}


def questions(
    selected: bool = True,
    stratum: Literal[(subset.ANY, *STRATA)] = subset.ANY,  # type: ignore[valid-type]
    decision: Literal[(subset.ANY, "keep", "discard")] = subset.ANY,  # type: ignore[valid-type]
    reason: Literal[(subset.ANY, *REASONS)] = subset.ANY,  # type: ignore[valid-type]
    verdict: Literal[(subset.ANY, *subset.VERDICTS)] = subset.ANY,  # type: ignore[valid-type]
    llm: str = "gemini-2.5-pro",
    method: Literal[METHODS] = METHODS[-1],  # type: ignore[valid-type]
    limit: int = 50,
) -> Json:
    """List questions of the TriviaQA pool that pass all filters; `any` keeps every question.

    Args:
        selected: Only the questions of the curated subset.
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
    if limit < 0:
        raise InputError("limit", "must be >= 0", value=limit)
    filters = {"stratum": stratum, "decision": decision, "reason": reason, "llm": llm, "method": method}
    found = subset.browse(selected=selected, verdict=verdict, **filters)
    return {"count": len(found), "questions": json.loads(found.head(limit).to_json(orient="records"))}


def question(question_id: str) -> Json:
    """Show a question of the TriviaQA pool, its labels, and how the answer of each of 21 systems was graded.

    Args:
        question_id: E.g. sfq_178.
    """
    facts, verdicts = subset.facts_of(question_id)
    return facts | {"systems": verdicts.to_dict(orient="records")}


def leaderboard(labels: Literal["correct", "exact_match"] = "correct") -> Json:
    """Return the leaderboard: the paper's ECUAS_n of 21 systems, and their error rates on the curated subset.

    Args:
        labels: What counts as correct in our error rates: correct (judged) or exact_match.
    """
    return {"rows": [subset.record(row) for row in subset.known_rows(labels)]}


def plan(
    first: float = 0.3, second: float = 0.36, auroc: float = 0.8, correlation: float = 0.5, difference: float = 0.05
) -> Json:
    """Plan a comparison: what the subset's questions can detect, and how many a difference needs.

    Args:
        first: Error rate that you expect of one system, in (0, 1).
        second: That of the other system.
        auroc: Of the confidences of both, in (0.5, 1).
        correlation: Of the two systems' costs on the same question, in [-1, 1].
        difference: That you want to detect, above 0.
    """
    require_numbers(first=first, second=second, auroc=auroc, correlation=correlation, difference=difference)
    header, rows = subset.plan([first, second], auroc=auroc, correlation=correlation, difference=difference)
    return {"rows": [dict(zip(header, row, strict=True)) for row in rows]}


class Evaluation(NamedTuple):
    """A visitor's model: its graded answers, every number of theirs, and its row on the leaderboard."""

    graded: answers.Graded
    scored: scoring.Scored
    row: subset.Row


def evaluate(graded: answers.Graded, name: str, mark: str, *, weighted: bool, n: Any, intervals: bool) -> Evaluation:
    """Score graded answers, and put them on the leaderboard."""
    options = scoring.options_of({"n": n, "intervals": intervals})
    submission = graded.submission(name, weighted=weighted)
    scored = scoring.score_submissions([submission], options)
    correct = graded.frame.set_index("question_id")["correct"].astype(float)
    systems, unlabelled = prepare_open([submission], n=(0, 1, 128), confidence_level=scoring.LEVEL)
    report = make_report(systems, unlabelled=unlabelled, only=subset.ORDERS.values())
    bounds = report.bounds.get(name, {})
    own = {
        key: Estimate(one.value, *bounds[key]) if key in bounds else one
        for key, one in report.results[name].estimates.items()
    }
    return Evaluation(graded, scored, subset.row_of(name, correct, graded.asked, own, mark))


def grade(
    file: str,
    asked: Literal[subset.ASKED] = subset.ASKED[0],  # type: ignore[valid-type]
    accepted: list[str] = [],  # noqa: B006 - Gradio reads the default, and nothing changes it
    others: Literal[answers.RULES] = answers.RULES[0],  # type: ignore[valid-type]
    weighted: bool = True,
    n: str | float | list[float] = DEFAULT_N,
    intervals: bool = True,
) -> Json:
    """Grade answers to the questions of the curated TriviaQA subset, and score the model as `score` does.

    Args:
        file: With columns question_id, answer, confidence; an upload, its address, a data: address, or a text.
        asked: Which questions: curated (those of the subset) or kept (all that were not discarded).
        accepted: Keys of answers, of those in `open` of an earlier result, that are correct.
        others: What the other answers in `open` count as: bounds (best and worst case), wrong, or drop.
        weighted: Weight the questions so that they represent all that were kept.
        n: Parameters of ECUAS_n, e.g. 0, 1, inf.
        intervals: Add 95 % intervals.
    """
    with paths_of([file], ["file"]) as (path,):
        sheet = uploads.read_answers(path)
    graded = answers.graded(sheet, asked, accepted=accepted, rule=others)
    found = evaluate(graded, "yours", "yours", weighted=weighted, n=n, intervals=intervals)
    return found.scored.json() | {
        "graded": graded.summary(),
        "open": [key for _, key in graded.open_answers()][:MAX_OPEN],
        "leaderboard": subset.record(found.row),
    }


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
    path = folder / f"{name}{'.parquet' if content.startswith(b'PAR1') else SUFFIX_OF_TEXT.get(start, '.csv')}"
    path.write_bytes(content)
    return str(path)


def _shown(value: Any) -> Any:
    is_long = isinstance(value, (str, list, dict)) and len(str(value)) > LONGEST
    return f"{str(value)[:LONGEST]}…" if is_long else value


TOOLS = tuple(
    tool(function) if function is not score else tool(score, _signature_of_score())
    for function in (score, detect_columns, cost, simulate, questions, question, leaderboard, plan, grade)
)
