"""The files that a command line names -> submissions, each by the name of its system -> systems."""

import csv
import glob
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from ...basis import why_not_rankable
from ...classes import parse_class_costs
from ...comparison.questions import join_questions
from ...costs import ECUAS_N
from ...errors import FileError, InputError, Note, format_columns, format_labels, quote_for_shell
from ...files.cells import is_number
from ...files.read import distinct_names, stem
from ...files.recipe import (
    CLASS_FORMS,
    SEVERAL,
    ColumnNames,
    Reading,
    Recipe,
    parse_labels,
    parse_pairs,
    parse_reading,
    parse_scale,
)
from ...files.runs import RunOptions
from ...files.runs.true_labels import read_labels
from ...files.submissions import Submission
from ...files.systems import prepare_submissions, read_file
from ...inputs import Floats, grouped
from ...metric import Key
from ...options import LEVEL_COSTS
from ...recalibration import FOLDS, METHODS
from ...results import System
from ..report import Notes, Systems, without_bounds
from .flags import COMMANDS, Flag, flag_name
from .new_rows import read_new_rows
from .parameters import (
    ADDING_OPTIONS,
    CostFlag,
    FormOptions,
    MetricOptions,
    NewRowFlags,
    PairFlags,
    ReadingFlags,
    RowFlags,
    list_set_options,
    select_metrics,
)

RUN_FLAGS = ("tasks", "filter", "partial", "truth", "choice_length", "pool_tasks")
SAY_LABELS = "--labels CLASS,.. says which."
LEAVE_TO_SHELL = (
    "Quoted patterns are for ecuas score --out-of-core; unquoted, the shell names the files."
)
LONGEST_LINE = 300  # characters of files and flags in a suggested next command
TRUTH_ROLES = ("label", "correct")  # that new rows need not have
# flags without effect on runs of choices, of lm-eval and lighteval
IDLE_OF_CHOICES = (
    "scale",
    "correct_from",
    "right",
    "abstained",
    "unlabelled",
    "predictions_are",
    "partial",
)


@dataclass(frozen=True, slots=True)
class File:
    """A file of the command line, with the name of its system if NAME=FILE gives one."""

    name: str | None
    path: str

    def is_called(self, text: str) -> bool:
        """Return whether a text is the name, the path, or the last part of the path."""
        return text in (self.name, self.path, Path(self.path).name)


def read_files(
    texts: Iterable[str],
    flags: NewRowFlags,
    *,
    part: str | None = None,
    stratum: str | None = None,
    pool_tasks: bool = False,
    metric: FormOptions,
    unlabelled: str | None = None,
    are_new: bool = False,
    are_verdicts: bool = False,
    classes: Sequence[str] | None = None,
    beside: Iterable[str | None] = (),
) -> list[Submission]:
    """Return the submissions of all files of the command line; InputError if a flag has no effect on them.

    `part` and `stratum` are columns, or for runs "task" or "model". `unlabelled` and `classes` are defaults of flags.
    Rows that `are_new` have no truth; correctness that `are_verdicts` is a judge's, of which people correct some.
    `beside` are further files that the command reads.
    """
    rows = PairFlags(**asdict(flags))
    files = [parse_file(text) for text in texts]
    others = list(map(parse_file, filter(None, [*beside, rows.recipe, rows.truth])))
    readings = make_readings(
        rows,
        metric,
        files,
        others,
        roles={"group": rows.groups, "part": part, "stratum": stratum},
        unlabelled=unlabelled,
        classes=classes,
        are_verdicts=are_verdicts or rows.audit is not None,
    )
    run = _make_run_options(rows, [*files, *others])
    run = replace(run, pools_tasks=pool_tasks, are_new=are_new)
    submissions = []
    stems = []  # of the files without a name
    for file, reading in zip(files, readings, strict=True):
        systems = _read(file.path, reading, run)
        submissions += _rename_systems(systems, file.name)
        stems += ["" if file.name else stem(one.file) for one in systems]
    refuse_idle_flags([rows, metric], list_recipes(submissions), pool_tasks=pool_tasks)
    are_pooled = pool_tasks or part == "model" or stratum == "task"
    _require_tasks([] if are_pooled else run.tasks or [], submissions)
    submissions = _make_names_distinct(submissions, stems, has_parts=part is not None)
    return _pair_rows(_add_audit_labels(submissions, rows.audit), rows)


def _make_run_options(rows: RowFlags, files: Sequence[File]) -> RunOptions:
    """Return how runs are read; `files` are all that the command reads."""
    tasks = None if rows.tasks is None else list(map(str.strip, rows.tasks.split(",")))
    truth = _read_truth_file(rows, files)
    return RunOptions(tasks, rows.filter, rows.choice_length, partial=rows.partial, truth=truth)


def _add_audit_labels(submissions: list[Submission], audit: str | None) -> list[Submission]:
    """Return submissions with people's labels of some answers from the file of --audit, if there is one."""
    if audit is None:
        return submissions
    from ...comparison.labels import add_labels

    return add_labels(submissions, audit)


def _read_truth_file(rows: RowFlags, others: Sequence[File]) -> dict[str, object] | None:
    """Return the true labels of items from the file of --truth, whose columns are named; None without it."""
    if rows.truth is None:
        return None
    pairs = [pair for text in rows.columns for pair in parse_pairs(text, "--columns")]
    texts = [f"{of}:{role}={column}" for of, role, column in pairs if of]
    (columns,) = assign_columns({}, texts, [File(None, rows.truth)], others)
    return read_labels(rows.truth, Reading().with_columns(columns).columns)


def _pair_rows(submissions: list[Submission], rows: PairFlags) -> list[Submission]:
    """Return submissions with the samples that all have (--common), or without ids (--by-position), if asked for."""
    if rows.common and rows.by_position:
        rule = "cannot be used with --common, which pairs samples by their ids"
        raise InputError("--by-position", rule)
    if not rows.common and not rows.by_position:
        return submissions
    if len(submissions) == 1:
        rule = "has no effect on a single system, whose samples are paired with none"
        raise InputError("--common" if rows.common else "--by-position", rule)
    from ...comparison.compare import in_common, note_unused_ids

    if rows.common:
        return in_common(submissions)
    by_position = []
    for one in submissions:
        note = note_unused_ids(submissions[0], one)
        notes = one.notes if note is None else (*one.notes, note)
        by_position.append(replace(one, ids=None, notes=notes))
    return by_position


def make_readings(
    rows: ReadingFlags,
    metric: FormOptions,
    files: Sequence[File],
    others: Sequence[File] = (),
    *,
    roles: Mapping[str, str | None],
    unlabelled: str | None = None,
    classes: Sequence[str] | None = None,
    are_verdicts: bool = False,
) -> list[Reading]:
    """Return the reading of each file by the flags, on top of a recipe if there is one.

    `roles` are columns that further flags name; `unlabelled` and `classes` are defaults. Of a judge's verdicts what is
    unlabelled stays open.
    """
    said = Reading(
        rows.unlabelled or ("bounds" if are_verdicts else unlabelled),
        classes if rows.labels is None else parse_labels(rows.labels),
        rows.correct_from,
        parse_scale(rows.scale),
        metric.predictions_are,
        rows.right,
        rows.abstained,
        are_verdicts=are_verdicts,
    )
    of_flags = {"weight": rows.weight, **roles}
    columns_of_each = assign_columns(of_flags, rows.columns, files, others)
    readings = list(map(said.with_columns, columns_of_each))
    if rows.recipe is None:
        return readings
    recipe = parse_reading(Path(rows.recipe).read_text(encoding="utf-8"))
    return list(map(recipe.override, readings))


def list_recipes(submissions: Iterable[Submission]) -> list[Recipe]:
    """Return the recipe of each submission."""
    return [submission.recipe for submission in submissions]


def without_truth(recipe: Recipe) -> Recipe:
    """Return the recipe of new rows without the roles of the truth, which is a stand-in."""
    columns = {role: names for role, names in recipe.columns.items() if role not in TRUTH_ROLES}
    return replace(recipe, columns=columns)


def parse_file(text: str) -> File:
    """Return the file of NAME=FILE, or of FILE."""
    name, equals, path = text.partition("=")
    is_name = bool(equals and name) and not set(name) & set("/\\")
    if not is_name or Path(text).exists():
        return File(None, text)
    return File(name, path)


def assign_columns(
    of_flags: Mapping[str, str | None],
    texts: Iterable[str],
    files: Sequence[File],
    others: Sequence[File],
) -> Sequence[ColumnNames]:
    """Return the columns of each file by role, or by system and role.

    `of_flags` are columns by role for all files. `texts` are of --columns: ROLE=COLUMN,.. for all files, or
    OF:ROLE=COLUMN,.. where OF is a file, its name, one of the `others`, or a system in a single file.
    """
    columns: list[dict[str, Any]] = [{} for _ in files]
    pairs = [("", role, column) for role, column in of_flags.items() if column]
    for text in texts:
        pairs += parse_pairs(text, "--columns")
    _require_once(pairs)
    for of, role, column in sorted(pairs, key=lambda pair: bool(pair[0])):  # those of all first
        for of_file in _match_columns(of, files, columns, others) if of else columns:
            of_file[role] = column
    return columns


def _require_once(pairs: Iterable[tuple[str, str, str]]) -> None:
    """Raise InputError if two pairs name different columns of one role for the same file or system.

    Rows to skip may be named again with further ones, since a refusal prints all of them.
    """
    said: dict[tuple[str, str], str] = {}
    for of, role, column in pairs:
        first = said.get((of, role), column)
        said[of, role] = column
        are_further = role == "skip" and set(first.split("+")) < set(column.split("+"))
        if first != column and not are_further:
            joined = format_columns({role: "+".join([first, column])}, of)
            advice = "Are both read together as one? --columns {pairs}." if role in SEVERAL else ""
            rule = "must name the columns of a role once"
            raise InputError("--columns", rule, value=role, advice=advice, pairs=joined)


def _match_columns(
    of: str,
    files: Sequence[File],
    columns: Sequence[dict[str, Any]],
    others: Sequence[File],
) -> list[dict[str, Any]]:
    """Return the columns of the files that `of` names; else those of the system `of` in a single file, to be filled."""
    pairs = zip(files, columns, strict=True)
    meant = [of_file for file, of_file in pairs if file.is_called(of)]
    if meant or any(one.is_called(of) for one in others):
        return meant
    if len(files) > 1 or stem(of) != of:
        raise InputError("--columns", "names a file or system that is not there", value=of)
    return [columns[0].setdefault(of, {})]


def _read(path: str, reading: Reading, run: RunOptions) -> list[Submission]:
    if run.are_new:
        return read_new_rows(path, reading, run)
    try:
        return read_file(path, reading, run)
    except FileError as error:
        if error.rule == "no_such_file" and glob.has_magic(path):
            error.advice = LEAVE_TO_SHELL
        raise


def refuse_idle_flags(
    flags: Iterable[NewRowFlags | FormOptions],
    recipes: Sequence[Recipe],
    *,
    pool_tasks: bool = False,
) -> None:
    """Raise InputError if a flag is set that has no effect on the files that were read."""
    are_set = [name for record in flags for name in _list_set_flags(record)]
    if pool_tasks:
        are_set.append("pool_tasks")
    idle = _idle_flags(recipes)
    for name in are_set:
        if name in idle:
            raise InputError(flag_name(name), idle[name])


def _idle_flags(recipes: Sequence[Recipe]) -> dict[str, str]:
    """Return the flags without effect on these files, each with the rule that it breaks."""
    by_format = grouped(recipes, lambda one: one.format == "run")
    runs = _have_posteriors(by_format.get(True, []))
    tables = _have_posteriors(by_format.get(False, []))
    idle = {}
    if not any(one.of("weight") for one in recipes):
        idle["weights_are"] = "has no effect without --weight"
    if not any(tables):
        idle["labels"] = "is for the classes of posteriors, and no table has them"
    if not any(runs):
        idle["choice_length"] = "is for runs with log-likelihoods of choices, and there is none"
    if not runs:
        idle |= dict.fromkeys(RUN_FLAGS, "is for runs of evaluation tools; these files are tables")
    elif all(runs) and not tables:  # runs of choices
        idle |= dict.fromkeys(
            IDLE_OF_CHOICES, "means nothing for runs with log-likelihoods of choices"
        )
    return idle


def _have_posteriors(recipes: Iterable[Recipe]) -> list[bool]:
    return [one.form in CLASS_FORMS for one in recipes]


def next_lines(
    files: Sequence[str], flags: Sequence[Any], steps: Iterable[tuple[str, list[str], str]]
) -> Iterator[str]:
    """Yield lines that suggest commands on the same files with the same flags, further ones, and why; no long line."""
    for command, further, why in steps:
        taken = COMMANDS[command].parameters().keys() - {*ADDING_OPTIONS, "bins"}
        words = list(map(quote_for_shell, files))
        for record in flags:
            for name in filter(taken.__contains__, _list_set_flags(record)):
                words += _format_flag(name, getattr(record, name))
        if sum(map(len, words)) <= LONGEST_LINE:
            line = " ".join(dict.fromkeys([*words, *further]))  # nothing twice
            yield f"next: ecuas {command} {line}  # {why}"


def _format_flag(name: str, value: object) -> list[str]:
    """Return a flag with its value, or values, as words of a command line."""
    flag = flag_name(name)
    if value is True:
        return [flag]
    values = value if isinstance(value, list) else [value]
    texts = [f"{one:.12g}" if isinstance(one, float) else str(one) for one in values]
    return [
        f"{flag}{'=' if text.startswith('-') else ' '}{quote_for_shell(text)}" for text in texts
    ]


def _list_set_flags(flags: Any) -> Iterator[str]:
    """Yield the names of flags that are not at their defaults."""
    for one in fields(flags):
        if getattr(flags, one.name) != one.default:
            yield one.name


def _require_tasks(tasks: Iterable[str], submissions: Iterable[Submission]) -> None:
    """Raise InputError if no run has one of the tasks; of pooled ones nothing says which there were."""
    parts = {f"{one.part}, " for one in submissions if one.recipe.format == "run"}
    for task in tasks:
        if not any(part.startswith(f"{task}, ") for part in parts):
            raise InputError("--tasks", "names a task that is not there", value=task)


def _rename_systems(
    systems: Sequence[Submission],
    name: str | None,
) -> list[Submission]:
    """Return the systems of a file, with names that begin with the one given to the file, if any."""
    if name is None:
        return list(systems)
    is_alone = len({one.of for one in systems}) == 1
    named = []
    for one in systems:
        of = name if is_alone else f"{name} {one.of}"
        part = one.part if len(systems) > 1 else ""
        named.append(replace(one, name=f"{of} {part}".rstrip(), of=of))
    return named


def _make_names_distinct(
    submissions: Sequence[Submission], stems: Sequence[str], *, has_parts: bool
) -> list[Submission]:
    """Return systems with distinct names; FileError if two stay the same.

    Parts of a single system are named by the part. A name that is the stem of its file gets folder or suffix.
    """
    are_of_one = has_parts and len({one.of for one in submissions}) == 1
    short = [one.part or one.of if are_of_one else one.name for one in submissions]
    names = distinct_names(short, [one.file for one in submissions], stems)
    for name, shown, one in zip(names, short, submissions, strict=True):
        if names.count(name) > 1:
            rule = "holds a system {name!r} as another file does"
            raise FileError(one.file, rule, advice="Name them: NAME=FILE.", name=shown)
    return [replace(one, name=name) for name, one in zip(names, submissions, strict=True)]


# ---- submissions -> systems ----


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFlags:
    """Flags for the cost and the recalibration of systems."""

    GROUP: ClassVar[str] = "systems"

    cost: CostFlag = None
    calibrate: Annotated[
        str | None, Flag("add each system after cross-validated recalibration", choices=METHODS)
    ] = None
    folds: Annotated[int, Flag("number of folds for --calibrate", "K", needs=("calibrate",))] = (
        FOLDS
    )

    def with_recalibrated(
        self,
        systems: dict[str, System],
        submissions: Sequence[Submission],
        options: Mapping[str, object],
    ) -> tuple[dict[str, System], Sequence[Submission]]:
        """Return systems and submissions, each followed by its recalibrated version if the flags ask for it."""
        if self.calibrate is None:
            return systems, submissions
        from ..recalibrating import add_recalibrated

        return add_recalibrated(
            systems, submissions, method=self.calibrate, folds=self.folds, **options
        )


def list_notes(systems: Systems) -> Notes:
    """Return the notes of systems by name; of unlabelled answers without the bounds, which only a table shows."""
    return [
        (name, without_bounds(note)) for name, system in systems.items() for note in system.notes
    ]


OF_ALL = "Name those that all were asked with --tasks; of tables leave out the rows of others."
OF_ONE = "is of one question: choose it with --tasks; of tables leave out the rows of others"
Questions = Mapping[str, Mapping[str, System]]  # the answers of each system to each question


@dataclass(frozen=True, slots=True)
class Compared:
    """Systems that are compared; of several questions each is the mean."""

    submissions: Sequence[Submission]
    systems: Systems
    questions: Questions
    keys: list[Key] | None  # those of --metrics, of means ECUAS_n; None for all

    @property
    def recipes(self) -> list[Recipe]:
        """How the files were read."""
        return list_recipes(self.submissions)

    def require_two(self) -> None:
        """Raise InputError unless there are two systems; a note may say that a column names several, read as one."""
        count = len(self.systems)
        if count < 2:
            notes = [note for note in self.submissions[0].notes if note.advice == "name_system"]
            fields = notes[0].fields if notes else {}
            advice = "name_system" if notes else "add_system"
            error = InputError("a comparison", "needs_two_systems", value=count, advice=advice)
            error.fields.update(fields)
            raise error


def read_compared(
    files: Sequence[str],
    rows: PairFlags,
    metric: MetricOptions,
    options: Mapping[str, object],
    metrics: str | None,
    *,
    pool_tasks: bool,
    made: SystemFlags | None = None,
    stratum: str | None = None,
) -> Compared:
    """Return the systems of files that can be paired, prepared with `options`, and the keys of `metrics`."""
    made = made or SystemFlags()
    read = read_files(
        files, rows, stratum=stratum, pool_tasks=pool_tasks, metric=metric, beside=[made.cost]
    )
    _require_pairs(read, rows)
    submissions = set_cost(made.cost, read)
    prepared = prepare_submissions(submissions, **options)
    systems, _ = made.with_recalibrated(prepared, submissions, options)
    questions: Questions = {}
    if _answer_questions(submissions):
        questions = _systems_by_question(submissions, systems)
        systems = {name: join_questions(one) for name, one in questions.items()}
    else:
        _require_one_task(submissions, are_pooled=pool_tasks)
    keys = select_metrics(metrics, systems, list_set_options(options))
    if keys is None and questions:  # of which the mean over questions is one
        orders = next(iter(systems.values())).options.n
        keys = [Key(ECUAS_N.name, order) for order in sorted(orders, key=lambda n: n != 1)]
    return Compared(submissions, systems, questions, keys)


def _answer_questions(submissions: Sequence[Submission]) -> bool:
    """Return whether the parts of systems are several questions, each with options or levels of its own."""
    has_options = all(
        one.num_classes or one.cost is not None or (one.form == "posteriors" and one.recipe.parts)
        for one in submissions
    )
    return has_options and len({one.part for one in submissions}) > 1


def _systems_by_question(submissions: Sequence[Submission], systems: Systems) -> Questions:
    """Return the answers of each system to each question.

    InputError unless all systems have the same questions, asked alike, and none is recalibrated.
    """
    if len(systems) > len(submissions):
        raise InputError("--calibrate", OF_ONE)
    by_system = grouped(submissions, lambda one: one.of)
    questions = {
        name: {one.part: systems[one.name] for one in same} for name, same in by_system.items()
    }
    first = next(iter(questions.values()))
    for of_system in questions.values():
        differing_parts = first.keys() ^ of_system.keys()
        if differing_parts:
            rule = "needs the same questions of all systems"
            got = f"only of some: {'; '.join(sorted(differing_parts))}"
            raise InputError("a comparison", rule, got=got, advice=OF_ALL)
        for part, system in of_system.items():
            reasons = why_not_rankable([first[part].basis, system.basis])
            if reasons:
                rule = "needs questions that all systems were asked alike; these differ: {reasons}"
                raise InputError("a comparison", rule, got=part, reasons=reasons)
    return questions


def _require_one_task(submissions: Iterable[Submission], *, are_pooled: bool) -> None:
    """Raise InputError if systems have several parts, such as tasks: one number needs the same questions of all."""
    parts = {one.part: one.recipe.format for one in submissions if one.part}
    if len(parts) > 1:
        rule = "takes one task of each model"
        advice = "Choose one with --tasks."
        if not are_pooled:
            advice = "Choose one with --tasks, or pool them with --pool-tasks."
        if "run" not in parts.values():
            rule = "takes one part of the data"
            advice = "All together? Leave out part=COLUMN. Else take a file with the rows of one."
        raise InputError("a comparison", rule, got="; ".join(list(parts)[:9]), advice=advice)


def _require_pairs(submissions: Sequence[Submission], rows: PairFlags) -> None:
    """Raise InputError if systems cannot be paired: several without ids, or classes in several orders."""
    classes = {frozenset(one.recipe.classes or ()) for one in submissions}
    if len(classes) == 1 and submissions[0].recipe.classes:
        require_one_order("a comparison", submissions)
    without = [one for one in submissions if one.ids is None]
    if len(without) > 1 and not rows.by_position:
        raise _no_ids_error(without)


def set_cost(text: str | None, submissions: Sequence[Submission]) -> Sequence[Submission]:
    """Return submissions with the cost in the text of --cost, if any; InputError if classes have several orders.

    A cost of levels, such as "absolute", applies to the submissions with levels, if there are any.
    """
    if text is None:
        return submissions
    if text in LEVEL_COSTS and any(one.cost is not None for one in submissions):
        return [one if one.cost is None else replace(one, cost=text) for one in submissions]
    matrices = [parse_cost(text, submission)[0] for submission in submissions]
    require_one_order("--cost", submissions)
    notes = _note_order(text, _list_classes(submissions[0]))
    return [replace(one, cost=matrices[0], notes=(*one.notes, *notes)) for one in submissions]


def _note_order(text: str, classes: Sequence[str]) -> list[Note]:
    """Return a note on the order of levels, or of the rows of a matrix, if names of classes are no numbers."""
    if has_cost_file(text) or all(map(is_number, classes)):
        return []
    what = "levels" if text in LEVEL_COSTS else "rows of the cost"
    rule = "The {what} are {classes}, in this order; --labels says another."
    return [Note(rule, {"what": what, "classes": list(classes)})]


def require_one_order(argument: str, submissions: Sequence[Submission]) -> None:
    """Raise InputError if posteriors of systems have their classes in different orders."""
    orders = {",".join(_list_classes(submission)): submission.name for submission in submissions}
    if len(orders) > 1:
        listed = [f"{classes} in {name}" for classes, name in orders.items()]
        named = [one.recipe.classes for one in submissions if one.recipe.classes]
        flags = f"--labels {quote_for_shell(format_labels(named[0]))}" if named else ""
        advice = "For one order: {flags}." if named else SAY_LABELS
        rule = "needs one order of the classes of all systems; {orders}"
        raise InputError(argument, rule, orders=listed, advice=advice, flags=flags)


def parse_cost(
    text: str | None, submission: Submission
) -> tuple[str | Floats, Sequence[object] | None]:
    """Return the cost in the text of --cost, a matrix or a file, for a submission, and the names of decisions.

    Rows are in the order of the classes. Without a text it is the submission's cost.
    """
    classes = _list_classes(submission) if submission.form == "posteriors" else None
    if text is None:
        return "zero_one" if submission.cost is None else submission.cost, classes
    if classes is None:
        raise InputError("--cost", "requires_form", forms="posteriors", form=submission.form)
    if text in LEVEL_COSTS:
        return text, classes
    if has_cost_file(text):
        costs, _, decisions = parse_class_costs(_read_costs(Path(text)), classes)
        return costs, decisions
    matrix = _parse_matrix(text)
    return matrix, classes if matrix.shape[1] == len(classes) else None


def has_cost_file(text: str | None) -> bool:
    """Return whether the text of --cost names a file, which has the names of classes."""
    return text is not None and Path(text).suffix.lower() in (".csv", ".json")


def _parse_matrix(text: str) -> Floats:
    """Return the matrix in a text such as 0,5;1,0; else InputError."""
    try:
        rows = [row.split(",") for row in text.split(";")]
        return np.array([list(map(float, row)) for row in rows])
    except ValueError:
        raise InputError(
            "--cost", "must be numbers as 0,5;1,0, or a .csv or .json file", value=text
        ) from None


def _list_classes(submission: Submission) -> list[str]:
    """Return the names of the classes of posteriors, or their numbers as text."""
    named = submission.recipe.classes
    return list(named or map(str, range(submission.predictions.shape[1])))


def _read_costs(path: Path) -> Mapping[object, object]:
    """Return the costs by names of classes in a .csv or .json file; else FileError."""
    text = path.read_text(encoding="utf-8-sig")
    try:
        if path.suffix.lower() == ".json":
            return dict(json.loads(text, object_pairs_hook=_distinct_pairs))
        header, *rows = filter(None, csv.reader(text.splitlines(), skipinitialspace=True))
        costs = [map(float, row[1:]) for row in rows]
        of_class = [_distinct_pairs(zip(header[1:], row, strict=True)) for row in costs]
        return _distinct_pairs(zip((row[0] for row in rows), of_class, strict=True))
    except (ValueError, TypeError, IndexError):
        rule = "must have distinct names of decisions above, of classes on the left, and numbers"
        raise FileError(path, rule) from None


def _distinct_pairs(pairs: Iterable[tuple[str, object]]) -> dict[object, object]:
    """Return pairs as a mapping; ValueError if a name is there twice."""
    pairs = list(pairs)
    mapping: dict[object, object] = dict(pairs)
    if len(mapping) < len(pairs):
        raise ValueError
    return mapping


def _no_ids_error(submissions: Iterable[Submission]) -> InputError:
    """Return the error about systems without ids, with the unused columns that may be ids."""
    unused = [{name for name, _ in one.recipe.unused} for one in submissions]
    names = ", ".join(sorted(set.intersection(*unused)))
    got = f"columns that are not used: {names}" if names else ""
    return InputError("systems", "no_ids", got=got, advice="name_ids")
