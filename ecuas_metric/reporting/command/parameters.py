"""Flags that several commands share, each declared once, and the choice of metrics by --metrics.

Flags that go together are a dataclass.
"""

import dataclasses
import difflib
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

from ...basis import Basis
from ...costs import ERROR_RATE
from ...decisions import Decisions
from ...errors import InputError
from ...files.recipe import NAMES, Recipe, describe_recipes
from ...files.runs import LENGTHS
from ...files.submissions import UNLABELLED_RULES
from ...inputs import POSTERIOR_FORMS
from ...metric import METRICS, VARIANTS, Key
from ...metrics import column_order
from ...options import DEFAULTS, OPTIONS, WEIGHTS, Options
from ...results import value_keys
from ..report import (
    Notes,
    Report,
    Systems,
    main_keys,
    origin_fields,
    report_grid,
    report_records,
    title,
)
from ..tables import Grid, Record, check_suffix, screen_width, table_text, to_text, write
from ..words import COMMAND_WORDS
from .flags import Flag, flag_name


def option(
    name: str,
    metavar: str = "",
    *,
    choices: Sequence[str] = (),
    needs: tuple[str, ...] = (),
) -> Flag:
    """Return the flag of an option of `compute`, with its help from `OPTIONS`."""
    text = OPTIONS[name].help
    return Flag(text[0].lower() + text[1:], metavar, choices, needs)


_NAMES = {"bins": "n_bins"}  # a flag -> its option, if that has another name
ADDING_OPTIONS = (
    "normalize",
    "decompose",
    "calibration",
    "reject_costs",
    "n",
)  # options that add numbers
_SAME_EFFECT = {"auroc": "n"}  # of a plan: as ECUAS_n, and unlike an error rate, depends on it
# the parameter in the name of a number
_NUMBER = re.compile(r"_(-?\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf)(?=_|\s|$)")
MACRO = "macro"  # the suffix of the files of averages
FIGURES = ("*.png", "*.svg")
Files = Annotated[
    list[str],
    Flag(
        "CSV, JSON lines, JSON, Parquet, Arrow, .npz or Excel, also as .gz, .zst or .zip; - is standard input; "
        "NAME=FILE names the system",
        "FILE",
        reads=True,
    ),
]
By = Annotated[
    str | None,
    Flag(
        "one row for each value of this column, per system, and, without --out-of-core, the macro-averages over them; "
        "for runs: task, or model, which pools the tasks of each model",
        "COLUMN",
        beside=MACRO,
    ),
]
PoolTasks = Annotated[bool, Flag("for runs: pool the tasks of each model")]
PredictionsAre = Annotated[str | None, option("predictions_are", choices=POSTERIOR_FORMS)]
Renormalize = Annotated[bool, option("renormalize")]
Normalize = Annotated[bool, option("normalize")]
Decompose = Annotated[bool, option("decompose")]
Interval = Annotated[float | None, Flag("intervals at this level, e.g. 0.95", "LEVEL")]
Seed = Annotated[int, option("random_state", "SEED")]
Figures = Annotated[
    str | None,
    Flag("draw risk-coverage, cost, reliability and ECUAS_n curves", "DIR", writes=FIGURES),
]
CostFlag = Annotated[
    str | None,
    Flag(
        "cost of decisions (columns) given classes (rows) instead of 0-1: numbers as 0,5;1,0, a .csv with both names, "
        "a .json of classes to costs; of levels, their distance: absolute or squared",
        "MATRIX|FILE",
        reads=True,
    ),
]
Metrics = Annotated[
    str | None,
    Flag("compute only these metrics, given by key or by the name shown in tables", "METRIC,.."),
]
OrdersN = Annotated[tuple[float, ...], option("n", "N,..")]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRowFlags:
    """How files are read whose rows may have no truth."""

    GROUP: ClassVar[str] = "files and columns"

    columns: Annotated[
        Sequence[str],
        Flag(
            f"column for each role: {', '.join(NAMES)}; + joins several (of id, group, stratum, system, posteriors), "
            "1-COLUMN is the complement, dots name nested fields; FILE:ROLE=COLUMN,.. is of one file, "
            "SYSTEM:ROLE=COLUMN,.. of one of several systems in a table; repeatable",
            "ROLE=COLUMN,..",
        ),
    ] = ()
    scale: Annotated[
        str,
        Flag(
            "largest possible confidence, e.g. 100 for percentages; LOW:HIGH of ratings; log of logarithms, nll of "
            "negative ones",
            "MAX",
        ),
    ] = "1"
    labels: Annotated[
        str | None,
        Flag(
            "names of all classes in the order of the posteriors, if the columns are not named after them",
            "CLASS,..",
        ),
    ] = None
    recipe: Annotated[
        str | None,
        Flag(
            "read files as this recipe says, which `ecuas read --output` wrote; other flags change it",
            "FILE",
            reads=True,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingFlags(NewRowFlags):
    """How the cells of a table are read, in memory and out of core."""

    correct_from: Annotated[
        float | None,
        Flag("if grades are not 0 or 1, answers with at least this grade are correct", "GRADE"),
    ] = None
    right: Annotated[
        str | None,
        Flag(
            "the word or number for a correct answer, or that and those for wrong ones: 1/2 or A/B,C",
            "WORD",
        ),
    ] = None
    abstained: Annotated[
        str | None,
        Flag(
            "the word in place of an answer, as NOT_ATTEMPTED: such a row costs what rejecting costs, 1 in ECUAS_n",
            "WORD",
        ),
    ] = None
    unlabelled: Annotated[
        str | None,
        Flag(
            "answers whose `correct` is empty: bounds (the smallest and the largest possible value of each metric; the "
            "default of score), wrong, or drop (which makes nearly every system look better than it is)",
            choices=UNLABELLED_RULES,
        ),
    ] = None
    weight: Annotated[str | None, Flag("column of sample weights", "COLUMN")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFlags(ReadingFlags):
    """How files are read whose rows are in memory."""

    groups: Annotated[
        str | None,
        Flag(
            "column of groups of samples that depend on each other",
            "COLUMN",
            needs=("interval", "calibration", "calibrate", "explain"),
        ),
    ] = None
    tasks: Annotated[
        str | None, Flag("for runs of evaluation tools: read only these tasks", "TASK,..")
    ] = None
    filter: Annotated[
        str | None,
        Flag(
            "for runs: the filter (lm-eval), scorer (Inspect) or result (Every Eval Ever), if there are several",
            "NAME",
        ),
    ] = None
    partial: Annotated[
        bool, Flag("for runs: also read those that did not end, as far as they came")
    ] = False
    truth: Annotated[
        str | None,
        Flag(
            "for decision models: what is true, where it is not in the run: a file with the id of each item, and a "
            "column for each question, or a label, and the question that it is of if there are several",
            "FILE",
            reads=True,
        ),
    ] = None
    choice_length: Annotated[
        str,
        Flag(
            "for runs: divide log-likelihoods of choices by their lengths, like acc_norm",
            choices=LENGTHS,
        ),
    ] = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFlags(RowFlags):
    """How files are read whose systems may be compared."""

    audit: Annotated[
        str | None,
        Flag(
            "labels of people, as of `ecuas audit`, of some answers of which the files have a judge's verdicts",
            "FILE",
            reads=True,
        ),
    ] = None
    common: Annotated[
        bool, Flag("keep only samples whose ids all systems have; a note counts those left out")
    ] = False
    by_position: Annotated[
        bool, Flag("pair the samples of different systems by row instead of by id")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FormOptions:
    """Flags for the form of predictions, and for missing ones."""

    GROUP: ClassVar[str] = "metrics"

    num_classes: Annotated[float | None, option("num_classes", "K")] = None
    predictions_are: PredictionsAre = None
    missing_confidence: Annotated[
        float | None,
        Flag(
            "replaces missing confidences; without it `ecuas score` bounds what they can make of its numbers",
            "Q",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOptions(FormOptions):
    """Options of `compute` that every command on files has."""

    n: OrdersN = DEFAULTS.n
    renormalize: Renormalize = False
    reject_costs: Annotated[tuple[float, ...], option("reject_costs", "COST,..")] = ()
    normalize: Normalize = False
    decompose: Decompose = False
    weights_are: Annotated[str | None, option("weights_are", choices=WEIGHTS)] = None

    def options(self) -> dict[str, object]:
        """Return the flags as options of `compute`."""
        values = dataclasses.asdict(self)
        return {_NAMES.get(name, name): value for name, value in values.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class BinnedOptions(MetricOptions):
    """Options of commands that show the ECE."""

    bins: Annotated[int, option("n_bins", "BINS")] = DEFAULTS.n_bins


@dataclass(frozen=True, slots=True)
class Outcome:
    """The notes of a command, and its exit status: 1 if a gate or a check fails."""

    notes: Notes
    status: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Flags for how a table is shown, and where it is written."""

    GROUP: ClassVar[str] = "output"

    digits: Annotated[
        int | None,
        Flag(
            "digits after the decimal point (default 3, or as many as tell the limits of intervals apart)",
            "N",
            [str(digits) for digits in range(16)],
        ),
    ] = None
    output: Annotated[
        Sequence[str],
        Flag(
            "also write the table to a .md, .tex, .txt, .csv or .json file; repeatable",
            "FILE",
            writes=("",),
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Raise FileError, before anything is computed, if a file has an unknown format."""
        for path in self.files:
            check_suffix(path)

    @property
    def files(self) -> Sequence[str]:
        """The files that are written."""
        return self.output

    @property
    def stream(self) -> str:
        """The suffix of the format that replaces the text on standard output; "" if the text is printed."""
        return ""

    def show(
        self,
        grid: Grid,
        records: Sequence[Record],
        text: str | None = None,
        recipes: Sequence[Recipe] = (),
        bases: Mapping[str, Basis] | None = None,
        *,
        further: Mapping[str, object] | None = None,
    ) -> None:
        """Print the recipes and a table, or `text` in place of both, and write the table to all files.

        JSON also has the recipes, the `bases` of the numbers by system, and `further` fields.
        """
        read = describe_recipes(recipes)
        if not self.stream:
            lines = "".join(f"{line}\n" for line in read) + to_text(grid, screen_width(sys.stdout))
            print(lines if text is None else text, end="")
        if not self.output:  # digests of ids take as long as a table
            return
        fields = dict(further or {}) | origin_fields(recipes, bases or {})
        for path in self.files:
            write(path, grid, records, read=read, fields=fields)
        if self.stream:
            print(table_text(self.stream, grid, records, read=read, fields=fields), end="")

    def show_below(
        self,
        grid: Grid,
        records: Sequence[Record],
        suffix: str,
    ) -> None:
        """Print a second table, and write it to files beside those of the first one."""
        unsigned = replace(grid, signature="")  # that stands below the first
        if not self.stream:
            print("", to_text(unsigned, screen_width(sys.stdout)), sep="\n", end="")
        for path in self.files:
            write(sibling_path(path, suffix), grid, records)


def sibling_path(path: str, suffix: str) -> str:
    """Return a path with a suffix added to the name: table_macro.csv for table.csv."""
    first = Path(path)
    return str(first.with_stem(f"{first.stem}_{suffix}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOutput(Output):
    """Flags for which metrics are shown, and how."""

    metrics: Metrics = None

    def __post_init__(self) -> None:
        """Raise an error if a file has an unknown format, or --metrics ends in a comma."""
        Output.__post_init__(self)
        if self.metrics is not None and self.metrics.rstrip().endswith(","):
            rule = "takes names with commas and no spaces, as ER,AUROC, or in quotes"
            raise InputError("--metrics", rule, value=self.metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOutput(MetricOutput):
    """Flags for what is shown of a report, and where it is written."""

    full: Annotated[
        bool, Flag("show all metrics, not only the main ones; .csv and .json always have all")
    ] = False

    def __post_init__(self) -> None:
        """Raise an error if a file has an unknown format, or --full stands beside --metrics."""
        MetricOutput.__post_init__(self)
        if self.full and self.metrics is not None:
            raise InputError("--full", "has no effect beside --metrics, which names what is shown")

    def show_report(
        self,
        report: Report,
        keys: Sequence[Key],
        *,
        notes: Iterable[str] = (),
        hints: Iterable[str] = (),
        recipes: Sequence[Recipe],
    ) -> None:
        """Print the table of a report, with further notes and hints below it, and write it to all files."""
        shown = self.table_keys(keys)
        grid = report_grid(report, digits=self.digits, keys=shown, words=COMMAND_WORDS)
        grid = replace(
            grid,
            notes=[*grid.notes, *notes],
            hints=[*grid.hints, *hints],
        )
        bases = {name: results.basis for name, results in report.results.items()}
        self.show(grid, report_records(report, keys=keys), recipes=recipes, bases=bases)

    def table_keys(self, keys: Sequence[Key]) -> list[Key]:
        """Return the keys that have a column in the table."""
        return list(keys) if self.full or self.metrics is not None else main_keys(keys)


def list_set_options(
    options: Mapping[str, object],
    *,
    is_binned: bool = False,
) -> list[str]:
    """Return the names of options that are not at their defaults and that not all numbers depend on.

    `is_binned` says that bins have an effect anyway, so that they are not among them.
    """
    names = ADDING_OPTIONS if is_binned else (*ADDING_OPTIONS, "n_bins")
    return [name for name in names if name in options and options[name] != getattr(DEFAULTS, name)]


# ---- which metrics a command shows: the names after --metrics -> keys ----


def select_metrics(text: str | None, systems: Systems, options: Sequence[str]) -> list[Key] | None:
    """Return the metrics of --metrics, None for all; InputError if a set option has no effect on them."""
    first = next(iter(systems.values()))
    return select_keys(text, first.decisions, first.options, options)


def select_keys(
    text: str | None, decisions: Decisions, options: Options, flags: Collection[str]
) -> list[Key] | None:
    """Return the metrics of a system that a text names, None for all; InputError if a flag has no effect on them."""
    if text is None:
        return None
    named = [
        Key(name)
        for name, metric in METRICS.items()
        if metric.when == "named" and metric.applies(decisions)
    ]
    return match_keys(text, [*value_keys(decisions, options), *named], flags)


def match_keys(
    text: str | None,
    keys: Sequence[Key],
    options: Collection[str],
) -> list[Key]:
    """Return those of the keys that a text names by key or title, separated by commas; all for None.

    InputError for an unknown name, and if one of the set `options` has no effect on the chosen keys.
    """
    if text is None:
        return list(keys)
    names = _keys_by_name(keys)
    words = [word for word in map(str.strip, text.split(",")) if word]
    chosen: dict[Key, None] = {}
    for word in words or [text]:
        possible = list(_match_word(_simplify_name(word), names))
        if not possible:
            raise _unknown_metric_error(word, keys)
        chosen |= dict.fromkeys(possible)
    for name in options:
        if not any(_SAME_EFFECT.get(name, name) in key.options for key in chosen):
            got = ", ".join(map(str, chosen))
            raise InputError(name, "has no effect on what --metrics names", got=got)
    return list(chosen)


def _match_word(
    word: str,
    names: Mapping[str, Sequence[Key]],
) -> Iterator[Key]:
    """Yield the keys that a word names; for metrics with any parameter, such as risk_at_coverage_0.9, a new one."""
    for key in names.get(word, []):
        if key.parameter is not None or not key.entry.parameter:
            yield key
    number = _NUMBER.search(word)
    if number:
        for key in names.get(_NUMBER.sub("", word), []):
            if key.parameter is None and key.entry.parameter:
                yield Key(key.metric, float(number[1]))


def _keys_by_name(keys: Sequence[Key]) -> dict[str, list[Key]]:
    """Return keys by name: a single number, or a metric with all its n or reject costs."""
    names: dict[str, list[Key]] = {}
    for key in keys:
        if not key.variant:
            for name in (key.metric, key.entry.title):
                names.setdefault(_simplify_name(name), []).append(key)
    for key in keys:
        names[str(key)] = [key]
        names[_simplify_name(title(key))] = [key]
    return names


def _unknown_metric_error(name: str, keys: Sequence[Key]) -> InputError:
    """Return the error about an unknown name, with the flag that adds such a number, or similar names."""
    rule = "must be among {keys}, or their names in tables"
    listed = sorted(keys, key=column_order)
    error = InputError("--metrics", rule, value=name, keys=listed)
    possible = _list_possible_keys(name)
    number = _NUMBER.search(_simplify_name(name))
    flag = _adding_flag(possible, number[1] if number else "")
    if flag:
        error.advice = "Add {flag}."
        error.fields["flag"] = flag
    elif number is None and any(key.entry.parameter == "any" for key in possible):
        error.advice = "Name it with its number, as in {example}."
        error.fields["example"] = f"{name}_0.1"
    elif possible:
        error.advice = "It does not exist for these systems."
    elif similar := _similar_names(_simplify_name(name), _keys_by_name(keys)):
        error.advice = "Did you mean one of these: {near}?"
        error.fields["near"] = similar
    return error


def _similar_names(word: str, names: Collection[str]) -> list[str]:
    """Return the names that are similar to a word, or contain it; for accuracy the error rate."""
    if word in ("acc", "accuracy"):
        return [ERROR_RATE.name]
    containing = [name for name in names if word in name]
    return difflib.get_close_matches(word, names) or containing[:3]


def _adding_flag(possible: Sequence[Key], number: str) -> str:
    """Return the flag that adds one of these numbers; nothing if none does."""
    for option in ADDING_OPTIONS:
        if any(option in key.options for key in possible):
            has_value = number and option in ("n", "reject_costs")
            return f"{flag_name(option)} {number}" if has_value else flag_name(option)
    return ""


def _list_possible_keys(name: str) -> Sequence[Key]:
    """Return the numbers that a name may mean, with any parameter."""
    keys = [Key(metric, None, variant) for metric in METRICS for variant in VARIANTS]
    return _keys_by_name(keys).get(_NUMBER.sub("", _simplify_name(name)), [])


def _simplify_name(text: str) -> str:
    return re.sub(r"[\s↑↓†]+", " ", text).strip().lower().replace("∞", "inf")
