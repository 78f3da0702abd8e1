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
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

import gradio as gr
from gradio.utils import get_upload_folder
from pydantic import TypeAdapter, ValidationError

from ecuas_metric.costs import ecuas_cost
from ecuas_metric.errors import InputError
from ecuas_metric.files.submissions import Submission
from ecuas_metric.inputs import POSTERIOR_FORMS
from ecuas_metric.options import DEFAULTS, OPTIONS, Options, checked_options, is_set
from ecuas_metric.reporting.report import BELOW, Report, make_report, prepare_open, report_grid, report_records
from ecuas_metric.reporting.tables import Grid, Record, to_json, write
from ecuas_metric.reporting.text import explain
from ecuas_metric.results import Estimate, System

from . import answers, markup, subset, uploads, verdict
from .markup import LABELS, LABELS_OF_READING

MAX_NUMBERS = 20
MAX_EXPLAINED = 10  # systems
MAX_OPEN = 1000  # answers that a visitor is asked about
LONGEST = 60  # characters of a value in an error
DEFAULT_N = ", ".join(f"{n:g}" for n in DEFAULTS.n)
KINDS = {"bool": "true or false", "float": "a number", "int": "a whole number", "string": "text", "list": "a list"}
SUFFIX_OF_TEXT = {"{": ".jsonl", "[": ".json"}  # the first character of a file given as text; else .csv
UPLOAD = "/gradio_api/file="  # in the address of an upload
GIVE = "Give an upload of this page, a data: address, or the text of the file."
FAILED = "This could not be computed here. The command `ecuas` may do it, and says more."
NOT_DECIDED = "The plots count answers without correctness as wrong. No best system is named while there are any."
Json = dict[str, Any]
Number = float | None
Numbers = str | float | list[float]


class Control(NamedTuple):
    """An argument of `score`, for programs and on the page: its type, default, label, and what it means."""

    kind: Any
    default: Any
    label: str
    help: str


def _option(name: str, kind: Any, default: Any, more: str = "") -> Control:
    return Control(kind, default, LABELS[name], f"{OPTIONS[name].help}{more}")


CONTROLS = {
    **{role: Control(str, "", role, f"Column: {content}") for role, content in uploads.COLUMNS.items()},
    "n": _option("n", Numbers, DEFAULT_N),
    "num_classes": _option("num_classes", Number, None),
    "predictions_are": _option("predictions_are", Literal[POSTERIOR_FORMS], DEFAULTS.predictions_are),
    "reject_costs": _option("reject_costs", Numbers, "", ", e.g. 0.1, 0.3"),
    "missing_confidence": _option("missing_confidence", Number, None),
    "normalize": _option("normalize", bool, False),
    "decompose": _option("decompose", bool, False),
    "calibration": _option("calibration", bool, False),
    "intervals": Control(bool, True, LABELS["confidence_level"], f"{verdict.LEVEL:.0%}"),
    "unlabelled": Control(
        Literal[answers.RULES], "bounds", markup.UNLABELLED, "bounds: best and worst case; wrong; drop: left out"
    ),
    "scale": Control(
        Number, None, LABELS_OF_READING["scale"], "What a confidence of 1 is in the files, e.g. 100 for percentages"
    ),
    "correct_from": Control(
        Number, None, LABELS_OF_READING["correct_from"], "Lowest grade that counts as correct, e.g. 0.5"
    ),
}


@dataclass(frozen=True)
class Scored:
    """Systems, every number of theirs, and whether some are bounds, since not all answers have correctness."""

    systems: dict[str, System]
    report: Report
    is_open: bool

    @cached_property
    def decision(self) -> verdict.Decision:
        """Who is cheapest, if these systems can be compared."""
        not_comparable = any(key.metric == "ecuas" and not key.variant for key in self.report.not_comparable)
        if self.is_open or self.report.differing or not_comparable:
            return verdict.undecided(verdict.NOT_SAID)
        return verdict.decide(self.systems)

    def sentences(self) -> list[str]:
        """Return an interpretation of the numbers: who is cheapest, and what each system's confidences are worth."""
        if self.is_open:
            return [NOT_DECIDED]
        found = self.decision
        return [found.remark or verdict.summary(found), *verdict.sentences(found), *self.about_each()]

    def about_each(self) -> list[str]:
        """Return the sentences about each system alone."""
        systems = {} if self.is_open or len(self.systems) > MAX_EXPLAINED else self.systems
        return [sentence for name, system in systems.items() for sentence in explain({name: system})]

    def notes(self) -> list[str]:
        """Return the notes beside the numbers; the table has answers without correctness."""
        found: dict[str, dict[str, None]] = {}
        for name, note in self.report.notes():
            if note.kind not in BELOW:
                found.setdefault(note.render(markup.WORDS), {})[name] = None
        return [f"{', '.join(names)}: {text}" for text, names in found.items()]

    def json(self, *, explained: bool = False) -> Json:
        """Return one row per system, signature and notes; what is not a number is None."""
        grid, records = self.tables()
        result = as_json(grid, records) | {"notes": [*grid.above, *grid.below(), *self.notes()]}
        return result | ({"in_words": self.sentences()} if explained else {})

    def html(self, *, title: str, remarks: Sequence[str] = ()) -> str:
        """Lay out everything but the plots: it is one piece, so that no part is of another result."""
        grid, _ = self.tables()
        notes = [" ".join([*remarks, *self.notes()]), NOT_DECIDED if self.is_open else ""]
        return markup.html(
            "result",
            title=title,
            notes=notes,
            decision=verdict.as_html(self.decision, markup.slots(self.systems)),
            tables=markup.tables(self.report, grid),
            sentences=verdict.sentences(self.decision, markup.isolated),
            more=self.about_each(),
        )

    def plots(self) -> str:
        """Draw the curves."""
        return f"<h2>The curves behind the numbers</h2>{markup.figures(self.systems)}"

    def tables(self) -> tuple[Grid, list[Record]]:
        """Return the table for people and that for programs."""
        return report_grid(self.report, sizes=True), report_records(self.report)

    def write(self, folder: Path) -> list[str]:
        """Write the table as `ecuas score --output` does; return the paths of CSV, Markdown and LaTeX."""
        paths = [folder / f"ecuas.{suffix}" for suffix in ("csv", "md", "tex")]
        for path in paths:
            write(path, *self.tables())
        return list(map(str, paths))


def score_files(files: Sequence[str], given: Mapping[str, Any]) -> Scored:
    """Read and score files as `CONTROLS` ask for."""
    options = options_of(given)
    columns = {role: given[role] for role in uploads.COLUMNS if given.get(role)}
    scale, correct_from = (number(given.get(name), LABELS_OF_READING[name]) for name in ("scale", "correct_from"))
    submissions = uploads.read_uploads(
        files,
        columns=columns,
        unlabelled=given.get("unlabelled"),
        scale=1.0 if scale is None else scale,
        correct_from=correct_from,
    )
    return score_submissions(submissions, options)


def score_submissions(submissions: Sequence[Submission], options: Options) -> Scored:
    """Evaluate systems as the command `ecuas score` does, and compare their costs."""
    given = {name: getattr(options, name) for name in LABELS if is_set(options, name)}
    systems, unlabelled = prepare_open(submissions, **given)
    report = make_report(systems, unlabelled=unlabelled)
    return Scored(systems, report, any(found.rule == "bounds" for found in unlabelled.values()))


def options_of(given: Mapping[str, Any]) -> Options:
    """Return the options that controls ask for; what is empty or missing asks for the default."""
    found: dict[str, object] = {name: numbers(given.get(name), LABELS[name]) or None for name in ("n", "reject_costs")}
    found |= {name: number(given.get(name), LABELS[name]) for name in ("num_classes", "missing_confidence")}
    found |= {name: bool(given.get(name)) for name in ("normalize", "decompose", "calibration")}
    level = verdict.LEVEL if given.get("intervals", True) else None
    return checked_options(**found, predictions_are=given.get("predictions_are") or None, confidence_level=level)


def numbers(given: Numbers | None, name: str) -> list[float]:
    """Return numbers, of a text those separated by commas or blanks; inf and ∞ are infinity.

    >>> numbers("0, 1 ∞", "n"), numbers(5, "n")
    ([0.0, 1.0, inf], [5.0])
    """
    parts: Sequence[str | float]
    if isinstance(given, str):
        parts = [part for part in re.split(r"[,;\s]+", given) if part]
    else:
        parts = [] if given is None else [given] if isinstance(given, (int, float)) else given
    if len(parts) > MAX_NUMBERS:
        raise InputError(name, f"must be at most {MAX_NUMBERS} numbers", value=len(parts))
    try:
        return [math.inf if part == "∞" else float(part) for part in parts]
    except (ValueError, TypeError):
        raise InputError(name, "must be numbers, separated by commas", value=_shown(given)) from None


def number(given: str | float | None, name: str) -> float | None:
    """Return a number, None if a text is empty; infinity is None too."""
    found = numbers(given, name)
    if len(found) > 1:
        raise InputError(name, "must be one number", value=_shown(given))
    return None if not found or found[0] == math.inf else found[0]


def as_json(grid: Grid, records: Sequence[Record]) -> Json:
    """Return signature, notes and one row per system; what is not a number is None."""
    result: Json = json.loads(to_json(records, grid.signature, grid.below()))
    return result


# ---- how functions are called


def attempt(function: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """Return the result of a function, or the reason for its failure in one line."""
    try:
        return function(*arguments), ""
    except InputError as error:
        return None, markup.in_words(error)
    except ImportError as error:  # an extra that is not installed
        return None, uploads.plain(str(error), markup.MAX_LENGTH)
    except Exception:  # visitors see no traceback; the log has it
        logging.exception("in %s", getattr(function, "__name__", function))
        return None, FAILED


def checked(function: Callable[..., Json], *arguments: Any) -> Json:
    """Call a function once its arguments have their types; raise InputError if not."""
    given = inspect.signature(function).bind(*arguments)
    given.apply_defaults()
    for name, value in given.arguments.items():
        kind = given.signature.parameters[name].annotation
        require_type(name, value, list if name == "files" else object if name == "file" else kind)  # uploads are dicts
    return function(**given.arguments)


def require_type(name: str, value: Any, kind: Any) -> None:
    """Raise InputError unless a value has a type."""
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        wanted = [KINDS.get(one["type"].split("_")[0]) or f"one of {one['ctx']['expected']}" for one in error.errors()]
        raise InputError(name, f"must be {' or '.join(dict.fromkeys(wanted))}", value=_shown(value)) from None


def tool(function: Callable[..., Json]) -> Callable[..., Any]:
    """Make a function check the types of its arguments, raise errors of one line, and answer agents with JSON text."""

    @functools.wraps(function)
    def called(*arguments: Any) -> Any:  # Gradio adds the request
        request = next((one for one in arguments if isinstance(one, gr.Request)), None)
        given = [one for one in arguments if not isinstance(one, gr.Request)]
        result, error = attempt(checked, function, *given)
        if error:
            raise gr.Error(error, print_exception=False)
        is_agent = request is not None and request.headers.get("x-gradio-user") == "mcp"
        return json.dumps(result) if is_agent else result

    own = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=gr.Request)
    parameters = [*inspect.signature(function).parameters.values(), own]
    signature = inspect.Signature(parameters, return_annotation=Json)
    called.__signature__ = signature  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": Json}
    return called


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
    raise InputError(name, "must be a file", value=_shown(file), advice=GIVE)


@contextmanager
def paths_of(files: Sequence[Any], names: Sequence[str] = ()) -> Iterator[list[str]]:
    """Have files where they can be read; those of texts only meanwhile."""
    if len(files) > uploads.MAX_FILES:
        raise InputError("files", f"must be at most {uploads.MAX_FILES}", got=f"{len(files):,}")
    with TemporaryDirectory() as folder:
        called = names or [f"system_{i}" for i in range(1, len(files) + 1)]
        yield [path_of(file, name, Path(folder)) for file, name in zip(files, called, strict=True)]


def _uploaded(path: str, name: str) -> str:
    folder = Path(get_upload_folder()).resolve()
    try:
        found = Path(path).resolve()
        is_there = found.is_relative_to(folder) and found.is_file()
    except (ValueError, OSError):
        is_there = False
    if not is_there:
        raise InputError(name, "is no upload of this page", value=_shown(path), advice=GIVE)
    return str(found)


def _decoded(address: str, name: str) -> bytes:
    try:
        return base64.b64decode(address.partition(",")[2], validate=True)
    except (ValueError, binascii.Error):
        raise InputError(name, "must be base64 after data:...;base64,", value=_shown(address)) from None


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


# ---- the functions


def score(files: list[str], explain: bool = False, **given: Any) -> Json:
    """Score the systems in files of confidences and correctness, or of posteriors and labels, by ECUAS_n and others."""
    with paths_of(files) as paths:
        return score_files(paths, given).json(explained=explain)


def _say_controls() -> None:
    """Give `score` the controls of the page as arguments, which its docstring explains."""
    files, more, _ = inspect.signature(score).parameters.values()
    lines = {"files": "Uploads of this page, their addresses, data: addresses, or texts; CSV, JSON lines, Parquet."}
    lines |= {name: control.help for name, control in CONTROLS.items()}
    lines["explain"] = "Add what the numbers say, in sentences."
    score.__doc__ = f"{score.__doc__}\n\nArgs:\n" + "".join(f"    {name}: {text}\n" for name, text in lines.items())
    given = [files.replace(name=name, default=one.default, annotation=one.kind) for name, one in CONTROLS.items()]
    score.__signature__ = inspect.Signature([files, *given, more])  # type: ignore[attr-defined]


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
    if num_classes is not None and not 2 <= num_classes < math.inf:
        raise InputError("num_classes", "must be >= 2", value=num_classes)
    if not 0 <= confidence <= 1:
        raise InputError("confidence", "must lie in [0, 1]", value=confidence)
    lowest = 0.0 if num_classes is None else 1 / num_classes
    uncertainty = 1 - max(confidence, lowest)
    costs = ecuas_cost(candidate_cost=[0, 1], uncertainty=[uncertainty] * 2, n=n, max_uncertainty=1 - lowest)
    correct, incorrect = costs.tolist()
    return {"correct": correct, "incorrect": incorrect, "counts_as_rejected": confidence < lowest}


def leaderboard() -> Json:
    """Return the leaderboard: the paper's ECUAS_n of 21 systems, and their error rates on the curated subset."""
    return {"rows": [subset.record(row) for row in subset.known_rows()]}


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
    if not difference > 0:
        raise InputError("difference", "must be above 0", value=difference)
    header, rows = subset.detectable([first, second], auroc=auroc, correlation=correlation, difference=difference)
    return {"rows": [dict(zip(header, row, strict=True)) for row in rows]}


class Evaluation(NamedTuple):
    """A visitor's model: its graded answers, every number of theirs, and its row on the leaderboard."""

    graded: answers.Graded
    scored: Scored
    row: subset.Row


def evaluate(graded: answers.Graded, name: str, mark: str, *, weighted: bool, n: Any, intervals: bool) -> Evaluation:
    """Score graded answers, and put them on the leaderboard."""
    submission = graded.submission(name, weighted=weighted)
    scored = score_submissions([submission], options_of({"n": n, "intervals": intervals}))
    correct = graded.frame.set_index("question_id")["correct"].astype(float)
    systems, unlabelled = prepare_open([submission], n=(0, 1, 128), confidence_level=verdict.LEVEL)
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


_say_controls()
_FUNCTIONS: tuple[Callable[..., Json], ...] = (score, detect_columns, cost, leaderboard, plan, grade)
TOOLS = tuple(map(tool, _FUNCTIONS))
