"""What the page can do, as functions of typed values: JSON and errors of one line for programs, agents and the page."""

# No `from __future__ import annotations`: Gradio reads the types.
import functools
import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeVar
from urllib.parse import unquote

import gradio as gr
from gradio.context import LocalContext
from gradio.utils import get_upload_folder
from pydantic import TypeAdapter, ValidationError

from ecuas_metric.errors import InputError
from triviaqa_subset import tables

from . import subset, tasks, uploads
from .markup import attempt
from .scoring import Json, choose, shorten
from .serving.bounded import bounded
from .words import CONTROLS, Numbers

NOT_OF_TYPE = "Input should be "  # how Pydantic begins
UNTYPED = {"files": list, "file": object}  # uploads are dictionaries, whatever the annotation says
# the first character of a file given as text; else .csv
SUFFIX_OF_TEXT = {"{": ".jsonl", "[": ".json"}
UPLOAD = "/gradio_api/file="  # in the address of an upload
Tool = Callable[..., object]
_Result = TypeVar("_Result")


# ---- how functions are called


def call_checked(function: Callable[..., _Result], *arguments: object) -> _Result:
    """Call a function once its arguments have their types; raise InputError if not."""
    bound = inspect.signature(function).bind(*arguments)
    bound.apply_defaults()
    for name, value in bound.arguments.items():
        kind = UNTYPED.get(name, bound.signature.parameters[name].annotation)
        try:
            _adapter(kind).validate_python(value, strict=True)
        except ValidationError as error:
            kinds = (fault["msg"].removeprefix(NOT_OF_TYPE) for fault in error.errors())
            text = " or ".join(dict.fromkeys(kinds))
            raise InputError(name, "wrong_type", value=shorten(value), kinds=text) from None
    return function(**bound.arguments)


_adapter = functools.cache(TypeAdapter)  # building one takes longer than its answer


def tool(function: Tool) -> Tool:
    """Make a function check the types of its arguments, raise errors of one line, and answer agents with JSON text."""

    @functools.wraps(function)
    def called(*arguments: object) -> object:
        result, error = attempt(call_checked, function, *arguments)
        if result is None:
            raise gr.Error(error, print_exception=False)
        request = LocalContext.request.get(None)
        is_agent = request is not None and request.headers.get("x-gradio-user") == "mcp"
        return json.dumps(result) if is_agent else result

    return called


def path_of(file: object, name: str, folder: Path) -> str:
    """Return the path of an upload of this page, or write what was given as text into a folder.

    No address is fetched, and no file but an upload is read.
    """
    value = file.get("path") if isinstance(file, dict) else file
    text = value if isinstance(value, str) else ""
    suffix = SUFFIX_OF_TEXT.get(text.lstrip()[:1], ".csv" if "\n" in text.strip() else "")
    if suffix:
        path = folder / f"{name}{suffix}"
        path.write_text(text, encoding="utf-8")
        return str(path)
    if UPLOAD in text:
        return uploaded(unquote(text.rpartition(UPLOAD)[2]), name)
    if text.startswith("/"):  # a path, of which "%" is a letter
        return uploaded(text, name)
    raise InputError(name, "not_a_file", value=shorten(file), advice="give_upload")


@contextmanager
def paths_of(files: Sequence[object], names: str = "system_{}") -> Iterator[list[str]]:
    """Have files, those that are texts under names with numbers, where they can be read; texts only meanwhile."""
    uploads.require_at_most("files", "too_many_files", len(files), uploads.LIMITS.files)
    with TemporaryDirectory() as folder:
        home = Path(folder)
        yield [path_of(file, names.format(i), home) for i, file in enumerate(files, 1)]


def uploaded(path: str, name: str) -> str:
    """Return the path of an upload of this page; any other is an error."""
    folder = Path(get_upload_folder()).resolve()
    try:
        file = Path(path).resolve()
        is_upload = file.is_relative_to(folder) and file.is_file()
    except (ValueError, OSError):
        is_upload = False
    if not is_upload:
        raise InputError(name, "no_upload", value=shorten(path), advice="give_upload")
    return str(file)


# ---- the functions


def score(
    files: list[str],
    explain: bool = False,
    **given: Numbers | None,
) -> Json:
    """Score the systems in files of confidences and correctness, or of posteriors and labels, by ECUAS_n and others."""
    with paths_of(files) as paths:
        return bounded(tasks.score_json, paths, given, explain)


def threshold(
    files: list[str],
    budget: float | None = None,
    max_risk: float | None = None,
    **given: Numbers | None,
) -> Json:
    """Choose the reject cost of each system by the share that people can review, or by a certified risk."""
    with paths_of(files) as paths:
        targets = {"budget": budget, "max_risk": max_risk}
        return bounded(choose, paths, given, targets)


RULES_IN_WORDS = "; ".join(f"{rule}: {words}" for rule, words in uploads.TREATMENTS.items())
TEXTS = {  # arguments of functions that take the controls
    "files": "Uploads of this page, their addresses, or texts up to 1 MB; CSV, JSON lines, Parquet.",
    **{name: control.help for name, control in CONTROLS.items()},
    "unlabelled": f"{CONTROLS['unlabelled'].help}. {RULES_IN_WORDS}",
    "explain": "Add what the numbers say, in sentences.",
    "budget": "Share of the answers that people can review, in [0, 1).",
    "max_risk": "Instead: the largest mean cost of what is accepted, e.g. 0.05.",
}


def with_controls(function: Tool) -> Tool:
    """Give a function the controls of the page as arguments, which its docstring explains."""
    *parameters, _ = inspect.signature(function).parameters.values()
    like = parameters[0].replace
    controls = [
        like(
            name=name,
            default=control.default,
            annotation=control.kind,
        )
        for name, control in CONTROLS.items()
    ]
    parameters[1:1] = controls
    lines = "".join(f"    {parameter.name}: {TEXTS[parameter.name]}\n" for parameter in parameters)
    function.__doc__ = f"{function.__doc__}\n\nArgs:\n{lines}"
    function.__signature__ = inspect.Signature(parameters, return_annotation=Json)  # type: ignore[attr-defined]
    annotations = {parameter.name: parameter.annotation for parameter in parameters}
    function.__annotations__ = annotations | {"return": Json}
    return function


def leaderboard(asked: Literal[tables.ASKED] = "kept") -> Json:  # type: ignore[valid-type]
    """Return the error rates of the paper's systems by our labels, and apart from them what the paper prints.

    Args:
        asked: On which questions: curated (those of the subset, weighted) or kept (all that were not discarded).
    """
    rows = [subset.record(row) for row in subset.known_rows(asked)]
    return {"ours": rows, "printed": subset.printed().to_dict("records")}


def grade(
    file: str,
    asked: Literal[tables.ASKED] = "curated",  # type: ignore[valid-type]
    n: str | float | list[float] = "",
) -> Json:
    """Grade answers to the questions of the curated TriviaQA subset, and score the model as `score` does.

    Args:
        file: With columns question_id, answer, confidence; an upload, its address, or a text. A column correct, of 1
            and 0, decides what nothing else does.
        asked: Which questions: curated (those of the subset, weighted) or kept (all that were not discarded).
        n: Parameters of ECUAS_n, e.g. 0, 1, inf; empty for 0, 1, 128.
    """
    with paths_of([file], "file") as (path,):
        return bounded(tasks.grade_json, path, asked, {"n": n})


TOOLS = tuple(map(tool, (with_controls(score), with_controls(threshold), leaderboard, grade)))
