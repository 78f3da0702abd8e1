"""The commands, their help, and their flags, which are the parameters of their functions.

A signature has the names, types, defaults and help of the flags; its module is imported when the command is called.
"""

import argparse
import difflib
import functools
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from pkgutil import resolve_name
from types import UnionType
from typing import Any, NamedTuple, NoReturn, get_args

from ...files.recipe import LAYOUTS
from ...messages import INPUT_RULES
from ...metrics import METRICS

_RULES = {
    int: "takes a whole number",
    float: "takes a number",
    tuple[float, ...]: INPUT_RULES["not_numbers_and_commas"],
}
# by type: a flag without a value, a repeatable one, and the files
_ACTIONS: Mapping[Any, dict[str, Any]] = {
    bool: {"action": "store_true"},
    Sequence[str]: {"action": "append"},
    list[str]: {"nargs": "*"},
}
_HIDDEN_DEFAULTS = (None, (), inspect.Parameter.empty)  # that the help does not show
# names that other tools, or earlier versions, have for a flag -> this flag
OTHER_NAMES = {"--alpha": "--interval", "--confidence-level": "--interval", "--level": "--interval"}
CUTOFF = 0.6  # least similarity of a flag to suggest it
OTHER_CUTOFF = 0.8  # least similarity of a flag to suggest it for the flag of another command


class UsageError(ValueError):
    """A command line with unknown flags, or flags that do not fit together."""


@dataclass(frozen=True, slots=True)
class Flag:
    """The annotation of a parameter besides its type."""

    help: str
    metavar: str = ""
    choices: Sequence[str] = ()
    needs: tuple[str, ...] = ()  # parameters, one of which must be set for it to have an effect
    reads: bool = False  # whether its value names files that are read
    writes: tuple[
        str, ...
    ] = ()  # patterns of the files that are written below its value, "" for itself
    beside: str = ""  # suffix of the names of further files that it writes beside those of --output


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: a flag, or, without a default, the files."""

    name: str
    kind: Any  # bool, str, int, float, tuple[float, ...] (separated by commas), Sequence[str] (repeatable)
    flag: Flag
    default: object = False
    group: str = ""  # its title in the help

    @property
    def is_required(self) -> bool:
        """Whether it has no default: the files."""
        return self.default is inspect.Parameter.empty

    @property
    def text(self) -> str:
        """Its name on the command line."""
        return self.flag.metavar if self.is_required else flag_name(self.name)

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add it to a parser, or a group of one, whose result has it only if it is set."""
        how = _ACTIONS.get(self.kind, {"type": self.parse_value})
        if self.kind is not bool:
            how = how | {"metavar": self.flag.metavar or f"{{{','.join(self.flag.choices)}}}"}
        name = self.name if self.is_required else self.text
        text = self.flag.help + self._default()
        parser.add_argument(name, help=text, default=argparse.SUPPRESS, **how)

    def parse_value(self, text: str) -> object:
        """Return the value in a text; else ArgumentTypeError."""
        choices = self.flag.choices
        if choices and text not in choices:
            raise argparse.ArgumentTypeError(f"must be one of {', '.join(choices)}; got {text!r}")
        kind = self.kind
        if isinstance(kind, UnionType):  # `kind | None`
            kind, _ = get_args(kind)
        try:
            if kind == tuple[float, ...]:
                return tuple(map(float, text.split(",")))
            return kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{_RULES[kind]}; got {text!r}") from None

    def _default(self) -> str:
        if self.kind is bool or self.default in _HIDDEN_DEFAULTS:
            return ""
        values = self.default if isinstance(self.default, tuple) else [self.default]
        texts = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
        return f" (default {','.join(texts)})"


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: its functions and its help."""

    # parameter that chooses a function, "" for none -> MODULE:NAME of the function
    forms: Mapping[str, str]
    description: str = ""
    epilog: str = ""
    usage: str = "FILE [FILE ...]"
    # a flag that it does not have -> what to do instead
    hints: Mapping[str, str] = field(default_factory=dict)

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the function of each form."""
        return {form: resolve_name(f"{__package__}.{name}") for form, name in self.forms.items()}

    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters of all forms by their names."""
        parameters: dict[str, Parameter] = {}
        for function in self.functions().values():
            for one in list_parameters(function):
                parameters.setdefault(one.name, one)
        return parameters


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help in lines of the width of the screen, with hanging indents as the texts need them."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines: list[str] = []
        for layout, together in itertools.groupby(text.splitlines(), _Layout.from_line):
            are_one = layout.hang == layout.indent
            parts = list(together)
            for line in [" ".join([parts[0], *map(str.strip, parts[1:])])] if are_one else parts:
                lines += layout.wrap(line, width)
        return "\n".join(indent + line for line in lines)


class _Layout(NamedTuple):
    """How a line of help is wrapped: a paragraph flush, a command or a row of a list with a hanging indent."""

    indent: int
    hang: int
    end: str = ""

    @classmethod
    def from_line(cls, line: str) -> "_Layout":
        """Return the layout of a line, the same for all lines of a paragraph."""
        indent = len(line) - len(line.lstrip())
        gap = re.search(r"(?<=\S) {2,}(?=\S)", line)
        if gap:
            return cls(indent, gap.end())
        if line.lstrip().startswith("ecuas "):
            return cls(indent, indent + 4, " \\")
        return cls(indent, indent if line else -1)

    def wrap(self, line: str, width: int) -> list[str]:
        """Return a line wrapped to lines of this width."""
        lines = textwrap.wrap(
            line,
            width - len(self.end),
            subsequent_indent=" " * self.hang,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return [f"{part}{self.end}" for part in lines[:-1]] + (lines[-1:] or [""])


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message.removeprefix('argument ').replace(': ', ' ', 1)}.")


def flag_name(name: str) -> str:
    """Return the flag of a parameter: --reject-costs of reject_costs."""
    return f"--{name.replace('_', '-')}"


@functools.cache
def _signature(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function, eval_str=True).parameters


@functools.cache
def list_parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters of a function, with the fields of those that are dataclasses."""
    parameters: list[Parameter] = []
    for one in _signature(function).values():
        if is_dataclass(one.annotation):
            group = getattr(one.annotation, "GROUP", "")
            of_class = list_parameters(one.annotation)  # type: ignore[arg-type]
            parameters += [replace(field, group=group) for field in of_class]
        else:
            kind, flag = get_args(one.annotation)
            parameters.append(Parameter(one.name, kind, flag, one.default))
    return tuple(parameters)


def call(
    function: Callable[..., Any],
    values: Mapping[str, object],
) -> Any:
    """Return the result of a function called with those values that are its parameters, or fields of these."""
    arguments = {}
    for name, one in _signature(function).items():
        if is_dataclass(one.annotation):
            arguments[name] = call(one.annotation, values)  # type: ignore[arg-type]
        elif name in values:
            arguments[name] = values[name]
    return function(**arguments)


# ---- the commands, and what their help says ----

_FILES = """\
A file contains one system, named after the file, or several if it has a column `system` or `model`. Columns are found
by their exact names, or you say them with --columns; a line says what was read, and what was not:
{layouts}
Optional is `id`, which pairs the samples of different systems. A column that is written as 85%, 0,85, yes/no or
right/wrong throughout is understood. `ecuas read FILE` shows all columns, and how they would be read.
"""
_METRICS = """\
metrics, by the names that --metrics takes
{metrics}

abbreviations, besides those explained below each table
  ECUAS is the expected cost of an uncertainty-augmented system, ECE the expected calibration error, AUROC the area
  under the receiver operating characteristic, AURC the area under the risk-coverage curve, and AUGRC that of the
  generalized risk. N is the number of samples, u_M the largest uncertainty, that of a system that knows nothing.
  The line below a table has all that its numbers depend on. n:, K:, reject:, level: and bins: are options above; cost:
  is that of a mistake, eps: the least uncertainty, and ties: how equal confidences are ordered. in: is the form of
  posteriors, renormalized: how far sums may be from 1, missing: what replaces a confidence, recal: of --calibrate
  method/folds/seed/order, /together for repeated ids, /weights if it used them, weighting: what weights mean; weights:,
  groups: and strata: are short hashes of columns. intervals: is the method; boot:, test: and deviates: are
  numbers/seeds of random draws, paired: how samples were, unless by ids, state: bins of --out-of-core. grading: and
  reading: are rules by which answers were judged and files were read, recipe: is a short hash of these and of the
  columns, population: a selection of questions, decisions: the system's own, abstentions: what samples without an
  answer count as, max: the largest uncertainty, unlabelled: what became of answers without a label, audit: how many
  people labelled, judge: and drawn: short hashes of verdicts and of probabilities of the draw, v: the version.

"""
_SCORE = """\
examples
  ecuas score gpt.csv llama.jsonl
      one row per system, one column per metric; the best value in each column is marked
  ecuas score runs.parquet --columns confidence=p_true,correct=grade,system=llm+method --interval 0.95
      columns with other names, one system for each LLM and method, with intervals
  ecuas score GPT-4=gpt.csv Llama=llama.jsonl --columns "gpt.csv:confidence=confidence" --metrics "ECUAS_0, ER"
      your own names for systems, a column name for one file, and two metrics by the names shown in tables
  ecuas score logits.csv --predictions-are logits --normalize --output table.tex --output table.csv --figures plots
      a classifier's logits, with values relative to a system that ignores its input; tables and figures for a paper
  ecuas score 'runs*.parquet' --by llm --columns confidence=p_true,correct=grade --out-of-core --state 2026.state
      any number of rows in constant memory; `ecuas merge` adds up the states of several months
"""
_COMPARE = """\
examples
  ecuas compare gpt.csv llama.jsonl
      which system costs its users least, and whether that is more than chance
  ecuas compare gpt.csv llama.jsonl --reject-costs 0.1
      the same for users to whom rejecting an answer costs a tenth of a mistake
  ecuas compare gpt.csv llama.jsonl --fail-if worse --output - --format markdown
      for a build: exit status 1 if the second is worse than the first, and a summary in Markdown
  ecuas compare runs.csv --groups document --metrics ecuas_0,error_rate
      questions on the same document depend on each other; two metrics only
"""

_PLAN = """\
how it is computed
  The difference in a metric between two systems is a mean over samples of each sample's contribution (for AUROC, AURC
  and AUGRC: its influence). If the standard deviation of a single sample's contribution is s, N samples detect a
  difference of about (1.96 + 0.84) s / sqrt(N) with a power of 80 % at the level 0.05; where contributions are skewed,
  the limit of an interval about 0 stands in place of 1.96 s / sqrt(N). Systems that fail on the same samples need
  fewer. With several pairs or metrics, divide --alpha by their number to be safe.

what to do
  1. Before you have data: the error rates that you expect, and how similar the systems are.
         ecuas plan --error-rates 0.30,0.25 --correlation 0.5
  2. With pilot data: how small a difference would this N detect?
         ecuas plan gpt.csv llama.csv
  3. How many samples detect a difference that matters, here 0.02?
         ecuas plan gpt.csv llama.csv --difference 0.02 --metrics ecuas_0,error_rate
  4. How far do intervals reach if people label more answers of a judge?
         ecuas plan run.csv --audit to_label.csv
  Decide which difference matters before you look at the data: the N of an observed one is as uncertain as it is.
"""

_DECIDE = """\
examples
  ecuas threshold labelled.csv --budget 0.2
      the reject cost at which at most 20 % are left to people, and what that costs
  ecuas threshold labelled.csv --max-risk 0.05
      the largest one at which at most 5 % of what is accepted is wrong, certified with 95 % confidence
  ecuas decide new.csv --reject-cost 0.1 --calibrate-on labelled.csv --output decisions.csv
      decision, uncertainty and whether to accept it of each new row, which need no truth
"""
_CHECK = """\
New versions are read as the files that were locked, and answer the same questions, of the same ids.

examples
  ecuas threshold gpt.csv --budget 0.2 --lock lock.json
      choose the reject cost, and keep it with the answers that it was chosen on
  ecuas check llama.jsonl --against lock.json
      exit status 1 if risk or expected cost at this reject cost is worse by more than chance
"""
_NEW_ROWS = """\
New rows have a confidence, or the probability of each class, and need no truth: `correct` and `label` below are for the
file of --calibrate-on. Each row gets an answer or is rejected, by the rule that is scored. Rows without an id are named
by their number in the file, as `row`: in a CSV file the header is row 1, and the first of the data row 2.

"""
_REPORT = """\
what is written
  report.tex      a document around the parts below: pdflatex, bibtex, pdflatex twice
  table.tex       to \\input: of two systems their differences, of others the values, with intervals; 8 pt in 3.3 inches
  methods.tex     to \\input: metrics, intervals, tests, what was left out, the version
  results.tex     to \\input: the verdict, as of `ecuas compare`
  references.bib  what these cite
  results.json    all numbers, with the keys of `ecuas compare --output FILE.json`, and how files were read
  *.pdf, *.png    curves of risk, of expected cost, of ECUAS_n, and reliability; the extra `report` draws them

examples
  ecuas report gpt.csv llama.jsonl --output paper
      both systems, the differences between them, and what may be said of these
  ecuas report GPT-4=gpt.csv Llama=llama.jsonl --calibrate affine
      names as the paper has them; also each system after recalibration
"""
_PUBLISH = """\
what is written
  .eval_results/*.yaml in the model's repository, a file for each metric: its value, interval, N and signature.
  A board has no direction, and shows the largest value first: of ECUAS it is 1 - ECUAS.

examples
  ecuas publish-results me/model answers.csv --benchmark me/questions
      print the file, and change nothing
  ecuas publish-results me/model answers.csv --benchmark me/questions --pull-request
      open a pull request with it, as whoever `hf auth login` says
"""
_AUDIT = """\
what to do
  1. ecuas audit run.csv --answers 120 --output to_label.csv
         questions drawn at random; the file shows neither verdicts nor confidences, so that nobody is led by them
  2. People write 1 or 0 into each `correct` of to_label.csv. None stays empty.
  3. ecuas score run.csv --audit to_label.csv
         numbers that hold whatever the judge's mistakes: `correct` of run.csv, or `judge`, are its verdicts
"""
_NO_PAIRS = (
    "States do not say which rows are of one question: compare a sample of the questions, or score both systems with "
    "--interval."
)
_MOST_HOLDERS = 3  # commands that an error names
_AS_LOCKED = "Files are read as the lock says, also those of true labels, placed from its folder: leave it out."
_NO_PARTS = (
    "Compare one part at a time: a file, or several systems in one, for each. Questions with probabilities of all "
    "options are compared by their mean: --columns part=COLUMN."
)
_WIDTH = max(len(columns) for columns, _ in LAYOUTS)
_LAYOUT_LINES = [f"  {columns:{_WIDTH}}  {meaning}" for columns, meaning in LAYOUTS]
FILES = _FILES.replace("{layouts}", "\n".join(_LAYOUT_LINES))
_WHEN = {"named": " (when named)"}
_METRIC_LINES = [
    f"  {key:{max(map(len, METRICS))}}  {metric.title}: {metric.description}{_WHEN.get(metric.when, '')}"
    for key, metric in METRICS.items()
    if metric.when != "ratio"
]
METRIC_NAMES = _METRICS.replace("{metrics}", "\n".join(_METRIC_LINES))
COMMANDS = {
    "score": Command(
        {"": "in_memory:score_in_memory", "out_of_core": "out_of_core:score_out_of_core"},
        FILES,
        METRIC_NAMES + _SCORE,
    ),
    "compare": Command(
        {"": "comparing:compare_in_memory"},
        FILES,
        METRIC_NAMES + _COMPARE,
        hints={"--by": _NO_PARTS, "--out-of-core": _NO_PAIRS},
    ),
    "plan": Command(
        {"": "planning:plan_of_files", "error_rates": "planning:plan_of_error_rates"},
        FILES,
        METRIC_NAMES + _PLAN,
        usage="[FILE FILE]",
        hints={"--by": _NO_PARTS, "FILE": "A plan needs two, or --error-rates instead."},
    ),
    "report": Command({"": "comparing:write_for_paper"}, FILES, _REPORT, hints={"--by": _NO_PARTS}),
    "decide": Command(
        {"": "deciding:decide_rows"},
        _NEW_ROWS + FILES,
        _DECIDE,
        usage="FILE [FILE ...] --reject-cost COST",
    ),
    "threshold": Command({"": "deciding:choose_threshold"}, FILES, _DECIDE),
    "check": Command(
        {"": "deciding:check_versions"},
        epilog=_CHECK,
        usage="NEW [NEW ...] --against LOCK",
        hints=dict.fromkeys(["--truth", "--columns", "--scale", "--recipe"], _AS_LOCKED),
    ),
    "audit": Command({"": "planning:draw_audit"}, FILES, _AUDIT),
    "read": Command({"": "recipes:show_recipes"}, FILES),
    "publish-results": Command(
        {"": "publishing:publish_results"},
        FILES,
        _PUBLISH,
        usage="MODEL FILE [FILE ...] --benchmark DATASET",
    ),
    "merge": Command({"": "out_of_core:merge_states"}, epilog=METRIC_NAMES),
}


# ---- a command line -> a call ----


def parse(
    name: str,
    argv: Sequence[str],
) -> tuple[Callable[..., Any], Mapping[str, object]]:
    """Return the function that a command line calls, and the values that it sets; UsageError for wrong flags."""
    command = COMMANDS[name]
    functions = command.functions()
    parameters = command.parameters()
    values, unknown = _make_parser(name).parse_known_intermixed_args(argv)
    for text in unknown:
        raise UsageError(_describe_unknown(text.partition("=")[0], name))
    arguments = vars(values)
    form = next((one for one in functions if one in arguments), "")
    function = functions[form]
    accepted = {one.name: one for one in list_parameters(function)}
    for other in arguments.keys() - accepted.keys():
        _refuse(parameters[other], parameters.get(form), functions)
    if "files" in accepted and not arguments.get("files"):
        hint = command.hints.get("FILE", f"See ecuas {name} --help.")
        raise UsageError(f"FILE is missing. {hint}")
    _require_needs(accepted, arguments)
    return function, arguments


@functools.cache
def _make_parser(name: str) -> _Parser:
    """Return the parser of a command."""
    command = COMMANDS[name]
    documented = inspect.getdoc(command.functions()[""]) or ""
    about = documented.split("\n")[0]
    parser = _Parser(
        prog=f"ecuas {name}",
        usage=f"ecuas {name} {command.usage} [options]",
        description=f"{about}\n\n{command.description}",
        epilog=command.epilog,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    by_group: dict[str, list[Parameter]] = {}
    for one in command.parameters().values():
        by_group.setdefault(one.group, []).append(one)
    for title, parameters in by_group.items():
        group = parser.add_argument_group(title) if title else parser
        for one in parameters:
            one.add_to(group)
    return parser


def _require_needs(
    accepted: Mapping[str, Parameter],
    arguments: Mapping[str, object],
) -> None:
    """Raise UsageError if a parameter is set, but none of those that it needs."""
    for name in arguments:
        needs = [accepted[need] for need in accepted[name].flag.needs if need in accepted]
        if needs and not any(need.name in arguments or need.default for need in needs):
            flags = " or ".join(need.text for need in needs)
            raise UsageError(f"{accepted[name].text} has no effect without {flags}.")


def _refuse(
    parameter: Parameter, chooser: Parameter | None, functions: Mapping[str, Callable[..., Any]]
) -> NoReturn:
    """Raise UsageError for a parameter that the chosen form of a command does not take."""
    if chooser is not None:
        chosen = f"{chooser.text} {chooser.flag.metavar}".rstrip()
        raise UsageError(f"{parameter.text} cannot be used with {chosen}.")
    takers = []
    for name, function in functions.items():
        if parameter in list_parameters(function):
            takers.append(flag_name(name))
    raise UsageError(f"{parameter.text} requires {' or '.join(takers)}.")


def _describe_unknown(flag: str, name: str) -> str:
    """Return the message on an unknown flag: whose it is, or which one it may be."""
    flags = {}
    for other, command in COMMANDS.items():
        flags[other] = [one.text for one in command.parameters().values()]
    holders = [f"ecuas {other}" for other, texts in flags.items() if flag in texts]
    if not holders:
        return f"there is no {flag}. {_guess(flag, name, flags)}"
    if len(holders) > _MOST_HOLDERS:
        holders = [holders[0], f"{len(holders) - 1} others"]
    near = _find_nearest(flag, flags[name], OTHER_CUTOFF)
    hint = COMMANDS[name].hints.get(flag, f"Did you mean {near}?" if near else "")
    return f"ecuas {name} takes no {flag}, which is of {' and '.join(holders)}. {hint}".rstrip()


def _guess(flag: str, name: str, flags: Mapping[str, Sequence[str]]) -> str:
    """Return the question whether the nearest flag of a command is meant, or else that of another one."""
    near = _find_nearest(flag, flags[name], CUTOFF)
    if near:
        return f"Did you mean {near}?"
    homes = {text: other for other, texts in reversed([*flags.items()]) for text in texts}
    near = _find_nearest(flag, homes, CUTOFF)
    return f"Did you mean {near} of ecuas {homes[near]}?" if near else f"See ecuas {name} --help."


def _find_nearest(flag: str, flags: Collection[str], cutoff: float) -> str:
    """Return the flag that other tools call so, or else the most similar one; or ""."""
    other_name = OTHER_NAMES.get(flag, "")
    if other_name in flags:
        return other_name
    return next(iter(difflib.get_close_matches(flag, flags, 1, cutoff)), "")
