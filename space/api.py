"""What the page can do, as functions of typed values: JSON and errors of one line for programs, agents and the page."""

# No `from __future__ import annotations`: Gradio reads the types.
import functools
import inspect
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypedDict, TypeVar
from urllib.parse import unquote

import gradio as gr
from gradio.utils import get_upload_folder
from pydantic import TypeAdapter, ValidationError

from ecuas_metric.costs import ecuas_cost
from ecuas_metric.errors import InputError
from ecuas_metric.options import LEVEL, check_number, checked_options
from ecuas_metric.reporting.report import make_report, prepare_open
from ecuas_metric.results import Estimate

from . import answers, subset, uploads
from .markup import attempt
from .scoring import CONTROLS, Json, Numbers, Scored, options_of, score_files, score_submissions, shorten

MAX_OPEN = 1000  # answers that a visitor is asked about
KINDS = {"bool": "true or false", "float": "a number", "int": "a whole number", "string": "text", "list": "a list"}
SUFFIX_OF_TEXT = {"{": ".jsonl", "[": ".json"}  # the first character of a file given as text; else .csv
UPLOAD = "/gradio_api/file="  # in the address of an upload
GIVE = "Give an upload of this page, or the text of the file."
_Result = TypeVar("_Result")


# ---- how functions are called


def call_checked(function: Callable[..., _Result], *arguments: object) -> _Result:
    """Call a function once its arguments have their types; raise InputError if not."""
    given = inspect.signature(function).bind(*arguments)
    given.apply_defaults()
    for name, value in given.arguments.items():
        kind = given.signature.parameters[name].annotation
        require_type(name, value, list if name == "files" else object if name == "file" else kind)  # uploads are dicts
    return function(**given.arguments)


def require_type(name: str, value: object, kind: object) -> None:
    """Raise InputError unless a value has a type."""
    try:
        _adapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        wanted = [KINDS.get(one["type"].split("_")[0]) or f"one of {one['ctx']['expected']}" for one in error.errors()]
        raise InputError(name, f"must be {' or '.join(dict.fromkeys(wanted))}", value=shorten(value)) from None


_adapter = functools.cache(TypeAdapter)  # building one takes longer than its answer


def tool(function: Callable[..., object]) -> Callable[..., object]:
    """Make a function check the types of its arguments, raise errors of one line, and answer agents with JSON text."""

    @functools.wraps(function)
    def called(*arguments: object) -> object:  # Gradio adds the request
        request = next((one for one in arguments if isinstance(one, gr.Request)), None)
        given = [one for one in arguments if not isinstance(one, gr.Request)]
        result, error = attempt(call_checked, function, *given)
        if result is None:
            raise gr.Error(error, print_exception=False)
        is_agent = request is not None and request.headers.get("x-gradio-user") == "mcp"
        return json.dumps(result) if is_agent else result

    own = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=gr.Request)
    parameters = [*inspect.signature(function).parameters.values(), own]
    signature = inspect.Signature(parameters, return_annotation=Json)
    called.__signature__ = signature  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": Json}
    return called


def path_of(file: object, name: str, folder: Path) -> str:
    """Return the path of an upload of this page, or write what was given as text into a folder.

    No address is fetched, and no file but an upload is read.
    """
    if isinstance(file, dict) and isinstance(file.get("path"), str):
        return _uploaded(file["path"], name)
    if not isinstance(file, str) or not ("\n" in file.strip() or UPLOAD in file or file.startswith("/")):
        raise InputError(name, "must be a file", value=shorten(file), advice=GIVE)
    if "\n" not in file.strip():
        return _uploaded(unquote(file.rpartition(UPLOAD)[2]), name)
    path = folder / f"{name}{SUFFIX_OF_TEXT.get(file.lstrip()[:1], '.csv')}"
    path.write_text(file, encoding="utf-8")
    return str(path)


@contextmanager
def paths_of(files: Mapping[str, object]) -> Iterator[list[str]]:
    """Have files, by the names of those that are texts, where they can be read; texts only meanwhile."""
    if len(files) > uploads.MAX_FILES:
        raise InputError("files", f"must be at most {uploads.MAX_FILES}", got=f"{len(files):,}")
    with TemporaryDirectory() as folder:
        yield [path_of(file, name, Path(folder)) for name, file in files.items()]


def _uploaded(path: str, name: str) -> str:
    folder = Path(get_upload_folder()).resolve()
    try:
        found = Path(path).resolve()
        is_there = found.is_relative_to(folder) and found.is_file()
    except (ValueError, OSError):
        is_there = False
    if not is_there:
        raise InputError(name, "is no upload of this page", value=shorten(path), advice=GIVE)
    return str(found)


# ---- the functions


def score(files: list[str], explain: bool = False, **given: Numbers | None) -> Json:
    """Score the systems in files of confidences and correctness, or of posteriors and labels, by ECUAS_n and others."""
    with paths_of({f"system_{i}": file for i, file in enumerate(files, 1)}) as paths:
        return score_files(paths, given).json(explained=explain)


def _say_controls() -> None:
    """Give `score` the controls of the page as arguments, which its docstring explains."""
    files, more, _ = inspect.signature(score).parameters.values()
    lines = {"files": "Uploads of this page, their addresses, or texts; CSV, JSON lines, Parquet."}
    lines |= {name: control.help for name, control in CONTROLS.items()}
    lines["explain"] = "Add what the numbers say, in sentences."
    score.__doc__ = f"{score.__doc__}\n\nArgs:\n" + "".join(f"    {name}: {text}\n" for name, text in lines.items())
    given = [files.replace(name=name, default=one.default, annotation=one.kind) for name, one in CONTROLS.items()]
    score.__signature__ = inspect.Signature([files, *given, more])  # type: ignore[attr-defined]


def detect_columns(file: str) -> Json:
    """Find the columns of a file, and the role of each that `score` would find by its name.

    Args:
        file: An upload of this page, its address, or the text of a file.
    """
    with paths_of({"file": file}) as (path,):
        names, roles = uploads.detect(path)
    return {"columns": names, "roles": roles}


class Costs(TypedDict):
    """What a correct and an incorrect answer of one confidence cost."""

    correct: float
    incorrect: float
    counts_as_rejected: bool


def cost(n: float = 1.0, num_classes: float | None = None, confidence: float = 0.8) -> Costs:
    """Compute what a correct and an incorrect answer of one confidence cost under ECUAS_n; "I don't know" costs 1.

    Args:
        n: Parameter of ECUAS_n, at least 0.
        num_classes: Number K of possible answers; without it, infinitely many, e.g. of free text.
        confidence: Of the answer, in [0, 1].
    """
    if not 0 <= confidence <= 1:
        raise InputError("confidence", "must lie in [0, 1]", value=confidence)
    lowest = 1 / (checked_options(num_classes=num_classes).num_classes or math.inf)
    uncertainty = 1 - max(confidence, lowest)
    correct, incorrect = map(
        float, ecuas_cost(candidate_cost=[0, 1], uncertainty=[uncertainty] * 2, n=n, max_uncertainty=1 - lowest)
    )
    return {"correct": correct, "incorrect": incorrect, "counts_as_rejected": confidence < lowest}


def leaderboard() -> Json:
    """Return the leaderboard: the paper's ECUAS_n of 21 systems, and their error rates on the curated subset."""
    return {"rows": [subset.record(row) for row in subset.known_rows()]}


def plan(
    first: float = 0.3, second: float = 0.36, auroc: float = 0.8, correlation: float = 0.5, difference: float = 0.05
) -> dict[str, list[dict[str, str]]]:
    """Plan a comparison: what the subset's questions can detect, and how many a difference needs.

    Args:
        first: Error rate that you expect of one system, in (0, 1).
        second: That of the other system.
        auroc: Of the confidences of both, in (0.5, 1).
        correlation: Of the two systems' costs on the same question, in [-1, 1].
        difference: That you want to detect, above 0.
    """
    for name, value, limit in (("first", first, 1), ("second", second, 1), ("difference", difference, math.inf)):
        check_number(value, name, 0, limit, inside=True)
    header, rows = subset.plan_table([first, second], auroc=auroc, correlation=correlation, difference=difference)
    return {"rows": [dict(zip(header, row, strict=True)) for row in rows]}


def evaluate(
    graded: answers.Graded, name: str, mark: str, *, weighted: bool, n: Numbers, intervals: bool
) -> tuple[Scored, subset.Row]:
    """Score graded answers, and put them on the leaderboard."""
    submission = graded.submission(name, weighted=weighted)
    scored = score_submissions([submission], options_of({"n": n, "intervals": intervals}))
    correct = graded.frame.set_index("question_id")["correct"].astype(float)
    systems, unlabelled = prepare_open([submission], n=(0, 1, 128), confidence_level=LEVEL)
    report = make_report(systems, unlabelled=unlabelled, only=subset.ORDERS.values())
    bounds = report.bounds.get(name, {})
    own = {
        key: Estimate(one.value, bounds[key].low, bounds[key].high) if key in bounds else one
        for key, one in report.results[name].estimates.items()
    }
    return scored, subset.row_of(name, correct, graded.asked, own, mark)


def grade(
    file: str,
    asked: Literal[subset.ASKED] = subset.ASKED[0],  # type: ignore[valid-type]
    accepted: list[str] = [],  # noqa: B006 - Gradio reads the default, and nothing changes it
    others: Literal[uploads.RULES] = uploads.RULES[0],  # type: ignore[valid-type]
    weighted: bool = True,
    n: str | float | list[float] = CONTROLS["n"].default,
    intervals: bool = True,
) -> Json:
    """Grade answers to the questions of the curated TriviaQA subset, and score the model as `score` does.

    Args:
        file: With columns question_id, answer, confidence; an upload, its address, or a text.
        asked: Which questions: curated (those of the subset) or kept (all that were not discarded).
        accepted: Keys of answers, of those in `open` of an earlier result, that are correct.
        others: What the other answers in `open` count as: bounds (best and worst case), wrong, or drop.
        weighted: Weight the questions so that they represent all that were kept.
        n: Parameters of ECUAS_n, e.g. 0, 1, inf.
        intervals: Add 95 % intervals.
    """
    with paths_of({"file": file}) as (path,):
        sheet = uploads.read_answers(path)
    graded = answers.grade_answers(sheet, asked, accepted=accepted, rule=others)
    scored, row = evaluate(graded, "yours", "yours", weighted=weighted, n=n, intervals=intervals)
    return scored.json() | {
        "graded": graded.summary(),
        "open": [key for _, key in graded.open_answers()][:MAX_OPEN],
        "leaderboard": subset.record(row),
    }


_say_controls()
TOOLS = (tool(score), tool(detect_columns), tool(cost), tool(leaderboard), tool(plan), tool(grade))
