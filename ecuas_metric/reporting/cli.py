"""The command `ecuas`: its flags, its help, and its words for arguments and advice of the metric."""

from __future__ import annotations

import argparse
import difflib
import functools
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from ..errors import InputError
from ..version import VERSION

_OPTIONS = (  # of the metric, whose flags have their names
    *("n", "num_classes", "predictions_are", "renormalize", "reject_costs", "normalize", "decompose"),
    *("missing_confidence", "weights_are", "interval_method"),
)
_OTHERS = (  # arguments of errors, whose flags have their names
    *("columns", "calibrate", "scale", "unlabelled", "correct_from"),
    *("error_rates", "auroc", "correlation", "samples", "difference", "power", "alpha"),
)
DEFAULTED = ("weights_are", "n_bins", "n_resamples", "interval_method", "random_state")  # with the metric's defaults
_NAMED = {name: f"--{name.replace('_', '-')}" for name in (*_OPTIONS, *_OTHERS)}
FLAGS = {  # an option of the metric -> its flag
    **{name: _NAMED[name] for name in _OPTIONS},
    **{"n_bins": "--bins", "n_resamples": "--resamples", "random_state": "--seed"},
}
COMMAND_WORDS = {  # arguments and advice of the metric -> the command's own words
    **{**_NAMED, **FLAGS, "in_common": "--common", "confidence_level": "the level of intervals"},
    "use_analytic_intervals": "Use --interval-method analytic instead.",
    "set_missing_confidence": "Missing confidences? Set their value with --missing-confidence.",
    "name_form": "Logits or log-probabilities? Specify them with --predictions-are.",
    "name_logits": "Logits? Use --predictions-are logits, which accepts rows with any sum.",
    "logits_not_exponentials": (
        "Logits? This is the sum of their exponentials; --predictions-are logits accepts any sum."
    ),
    "pass_posteriors": "Class labels? Then the predictions must be posteriors, one column per class.",
    "use_probabilities": "Are they class labels? Then they are not confidences; use a file of probabilities.",
    "divide_by_sums": "Rounded probabilities? --renormalize divides each row by its sum.",
    "pass_flat_list": "Confidences? Name their column with --columns confidence=NAME.",
    "check_cost": "The uncertainties do not fit this cost, or --num-classes is too small.",
    "count_as_wrong": "Label them, or count them as wrong with --unlabelled wrong.",
    "label_or_bound": "Label them, or count them as wrong with --unlabelled wrong.",
    "name_columns": "Name them with --columns confidence=NAME,correct=NAME, or label=NAME,posteriors=A+B.",
    "name_role": "Name it with --columns {pairs}.",
    "name_guesses": "Perhaps --columns {pairs}?",
    "name_probabilities": "Probabilities of one of two classes? --columns {pairs} reads them as such.",
    "name_other_class": "Of the other class? --columns positive=1-COLUMN reads it so.",
    "set_num_classes": "If a confidence is of one of these classes, use --num-classes K.",
    "name_ids": "Other ids? Name their columns with --columns FILE:id=NAME, or pair by row: --by-position.",
    "name_complement": "--columns {pairs} reads its complement.",
    "name_whole_id": "Name all columns of the id with --columns id=A+B; or --by COLUMN, --columns system=A+B.",
    "score_in_memory": "Score it in memory, without --out-of-core.",
    "score_out_of_core": "Score it with --out-of-core.",
    "name_weight": "--weight COLUMN uses it.",
    "group_repeated_ids": "Samples of one id depend on each other: without --groups COLUMN, intervals and tests "
    "are too sure.",
    "set_infinite_classes": "For free text, use --num-classes inf.",
    "margins_are_logits": "Margins of a decision function? They are logits: --predictions-are logits.",
    "invert_confidence": "Is it confidence in the answer, and 1 for right? --columns confidence=1-NAME inverts it.",
    "name_one_role": "Specify which with --columns ROLE=NAME.",
    "set_correct_from": "Partly correct? --correct-from GRADE counts answers from that grade up as correct.",
    "set_scale_100": "Percentages? --scale 100 divides by 100.",
    "set_scale": "On another scale? --scale divides by its largest value, e.g. --scale 10 for 0 to 10.",
    "name_confidence_field": "Name the field that has it: --columns confidence=FIELD, e.g. doc.confidence.",
    "name_filter": "Specify which with --filter NAME.",
    "read_partial": "--partial reads what there is.",
    "keep_common": "--common compares them on the ids they share.",
    "add_ids": "--by-position pairs them by their rows.",
    "pass_labels": "Names of classes? List all of them, in the order of the posteriors, with --labels A,B,..",
    "keep_all_classes": "Keep the columns of all classes, or use --columns posteriors=A+B or positive=NAME.",
}
FILES = """\
A file contains one system, named after the file, or several if it has a column `system` (or `model`). Columns are
found by name:
{layouts}
Optional are `id`, which pairs the samples of different systems, and `stratum`, which names parts of the sample whose
sizes were fixed in advance. Values such as 85%, 0,85, yes/no and right/wrong are understood.
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
  posteriors, renormalized: how far sums may be from 1, missing: what replaces a confidence, recal: method/folds of
  --calibrate, weighting: what weights mean; weights:, groups: and strata: are short hashes of columns. intervals: is
  the method; boot:, test: and permutations: are numbers/seeds of random draws, state: bins of --out-of-core, v: the
  version.

"""
SCORE_EXAMPLES = """\
examples
  ecuas score gpt.csv llama.jsonl
      one row per system, one column per metric; the best value in each column is marked
  ecuas score runs.parquet --columns confidence=p_true,correct=grade,system=llm+method --interval 0.95
      columns with other names, one system for each LLM and method, with intervals
  ecuas score GPT-4=gpt.csv Llama=llama.jsonl --columns "gpt.csv:confidence=confidence" --metrics "ECUAS_0, ER"
      your own names for systems, a column name for one file, and two metrics by the names shown in tables
  ecuas score gpt.csv llama.jsonl --calibrate affine
      is it the ranking or the calibration? also shows each system after cross-validated recalibration
  ecuas score logits.csv --predictions-are logits --normalize --output table.tex --output table.csv --figures plots
      a classifier's logits, with values relative to a system that ignores its input; tables and figures for a paper
  ecuas score 'runs*.parquet' --by llm --columns confidence=p_true,correct=grade --out-of-core --state 2026.state
      any number of rows in constant memory; next month's files can be added to the same state
"""
COMPARE_EXAMPLES = """\
examples
  ecuas compare gpt.csv llama.jsonl
      which systems beat which, and the difference in every metric with its 95 % interval and p-values
  ecuas compare runs.csv --only significant --sort difference --explain --figures plots
      only significant differences, largest first; how to read them; a forest plot
  ecuas compare runs.csv --groups document --metrics ecuas_0,error_rate
      questions on the same document depend on each other; two metrics only
"""


PLAN_EXAMPLES = """\
how it is computed
  The difference in a metric between two systems is a mean over samples of each sample's contribution (for AUROC, AURC
  and AUGRC: its influence). If the standard deviation of a single sample's contribution is s, N samples detect a
  difference of (1.96 + 0.84) s / sqrt(N) with a power of 80 % at the level 0.05. Systems that fail on the same samples
  have a small s, and need fewer samples. Weights and groups are used as in `ecuas compare`. With several pairs or
  metrics, divide --alpha by their number to be safe.

what to do
  1. Before you have data: state the error rates that you expect, and how similar the systems are.
         ecuas plan --error-rates 0.30,0.25 --correlation 0.5
  2. With pilot data: files of the two systems, or of similar ones. How small a difference would this N detect?
         ecuas plan gpt.csv llama.csv
  3. How many samples are needed to detect a difference that matters, here 0.02?
         ecuas plan gpt.csv llama.csv --difference 0.02 --metrics ecuas_0,error_rate
  Decide which difference matters before you look at the data. Without --difference, the table shows the N needed for
  the observed difference; it is as uncertain as that difference, and its power says no more than its p-value.
"""


Flag = tuple[tuple[str, ...], dict[str, Any]]  # its names, and what else `add_argument` takes
OF_OPTION = "{option}"  # the help of an option of the metric, which its table has


class Choices:
    """The choices of an option, from a module that is imported only to list or check them."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __iter__(self) -> Iterator[str]:
        return iter(getattr(import_module(self.module, __package__), self.name))

    def __contains__(self, value: object) -> bool:
        return value in tuple(self)


class CommandParser(argparse.ArgumentParser):
    """The parser of a command, which imports the tables in its help only to print it."""

    def format_help(self) -> str:
        """Return the help, with the tables of options, metrics and layouts."""
        from ..files.columns import LAYOUTS, NAMES
        from ..metrics import METRICS
        from ..options import DEFAULTS, OPTIONS

        width, longest = max(len(columns) for columns, _ in LAYOUTS), max(map(len, METRICS))
        layouts = "\n".join(f"  {columns:{width}}  {what}" for columns, what in LAYOUTS)
        shown = [f"  {key:{longest}}  {one.title}: {one.description}" for key, one in METRICS.items() if one.is_shown]
        self.description = (self.description or "").replace("{layouts}", layouts)
        self.epilog = (self.epilog or "").replace("{metrics}", "\n".join(shown))
        for action in self._actions:
            if isinstance(action.choices, Choices):
                action.metavar = None
            if action.help == OF_OPTION:
                default, text = getattr(DEFAULTS, action.dest), OPTIONS[action.dest].help
                default = action.default if default is None or action.dest not in DEFAULTED else default
                action.help = text[0].lower() + text[1:] + (f" (default {default})" if default else "")
            action.help = action.help and action.help.replace("{roles}", ", ".join(NAMES))
        return super().format_help()


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line; of unknown flags, guess which are meant."""
    command = parser()
    arguments, unknown = command.parse_known_args(argv)
    if unknown:
        parts = next(action.choices for action in command._actions if isinstance(action.choices, dict))
        part = parts[arguments.command]
        known = [flag for action in part._actions for flag in action.option_strings]
        close = difflib.get_close_matches(unknown[0].partition("=")[0], known, 1)
        part.error(f"unknown arguments: {' '.join(unknown)}." + (f" Did you mean {close[0]}?" if close else ""))
    return arguments


_HELP = {
    "files": "CSV, JSON lines, JSON, Parquet, Arrow, .npz or Excel, also compressed; - is standard input; NAME=FILE "
    "names the system",
    "--columns": "column for each role; roles: {roles}; join several columns by + (of id, group, stratum, system, "
    "posteriors); 1-COLUMN is the complement; use dotted names for nested fields; FILE:ROLE=COLUMN applies to one "
    "file; repeatable",
    "--labels": "names of all classes in the order of the posteriors, if the columns are not named after them",
    "--tasks": "for runs of evaluation tools: read only these tasks",
    "--filter": "for runs: the filter (lm-eval), scorer (Inspect) or metric (HELM), if there are several",
    "--partial": "for runs: also read those that did not end, as far as they came",
    "--choice-length": "for runs: divide log-likelihoods of choices by their lengths, like acc_norm",
    "--by": "one row for each value of this column, per system, and in `score` the macro-averages over them; for runs: "
    "task, or model, which pools the tasks of each model",
    "--scale": "largest possible confidence or probability, e.g. 100 for percentages (default 1)",
    "--correct-from": "if grades are not 0 or 1, answers with at least this grade are correct",
    "--unlabelled": "how to treat answers whose `correct` is empty: bounds (show the smallest and the largest possible "
    "value of each metric; the default of score), wrong (count them as wrong), drop (leave them out, which makes "
    "nearly every system look better than it is)",
    "--common": "keep only samples whose ids all systems have; a note counts those left out",
    "--by-position": "pair the samples of different systems by row instead of by id",
    "--weight": "column of sample weights",
    "--groups": "column of groups of samples that depend on each other",
    "--metrics": "compute only these metrics, given by key or by the name shown in tables",
    "--calibrate": "add each system after cross-validated recalibration",
    "--folds": "number of folds for --calibrate (default 5)",
    "--digits": "digits after the decimal point (default 3)",
    "--output": "also write the table to a .md, .tex, .txt, .csv or .json file; repeatable",
    "--out-of-core": "read Parquet files of any size in constant memory; FILE may be a folder or a quoted pattern such "
    "as 'a/*'",
    "--state": "with --out-of-core: save the state in this file, and skip files that it already includes",
    "--engine": "what reads the files out of core: this process, or Spark (pip install 'pyspark[connect]')",
    "--figures": "draw risk-coverage, cost, reliability and ECUAS_n curves",
    "--explain": "explain the results in plain words below the table",
    "--interval": "intervals at this level, e.g. 0.95",
    "--sort": "order within each metric (default: as the systems are named)",
    "--only": "show only significant differences",
    "--full": "print all differences, however many there are",
    "--error-rates": "expected error rates of two systems, instead of files",
    "--correlation": "expected correlation of their costs on the same sample (default 0.5)",
    "--auroc": "expected AUROC of their confidences (default 0.8)",
    "--samples": "number of samples (default: as in the files, or 1000)",
    "--difference": "difference to be detected (default: the observed or expected one)",
    "--power": "probability of detecting it (default 0.8)",
    "--alpha": "the level of the test (default 0.05)",
}
OF_COMPARE = {
    "--figures": "draw the differences with their intervals, a panel per metric",
    "--explain": "explain below the table how its numbers are computed and what they mean",
    "--interval": "level of the intervals of differences; p-values up to 1 - LEVEL are significant (default 0.95)",
}
OF_MERGE = {
    "files": "written by `ecuas score --out-of-core --state FILE`",
    "--state": "write the merged states to this file",
    "--interval": "intervals at this level",
}


def _flag(*names: str, texts: Mapping[str, str] = _HELP, **settings: object) -> Flag:
    return names, {"help": texts[names[0]], **settings}


def _option(name: str, **settings: object) -> Flag:
    """Return the flag of an option of the metric."""
    return (FLAGS.get(name, f"--{name}"),), {"dest": name, "help": OF_OPTION, **settings}


def _level(texts: Mapping[str, str] = _HELP, default: float | None = None) -> Flag:
    names, settings = ("--interval", "--level"), {"dest": "confidence_level", "type": float, "metavar": "LEVEL"}
    return _flag(*names, texts=texts, default=default, **settings)


def _folds(text: str) -> int:
    if (folds := int(text)) < 2:
        raise argparse.ArgumentTypeError(f"must be at least 2; got {text}")
    return folds


OUTPUT = (
    _flag("--metrics", metavar="METRIC,.."),
    _flag("--digits", type=int, choices=range(16), default=3, metavar="N"),
    _flag("--output", action="append", default=[], metavar="FILE"),
)
COMMON = (
    _flag("--columns", action="append", default=[], metavar="ROLE=COLUMN,.."),
    _flag("--labels", metavar="CLASS,.."),
    _flag("--tasks", metavar="TASK,.."),
    _flag("--filter", metavar="NAME"),
    _flag("--partial", action="store_true"),
    _flag("--choice-length", choices=Choices("..files.runs.lm_eval", "BY_LENGTH"), metavar="UNIT", default="none"),
    _flag("--by", metavar="COLUMN"),
    _option("n", default="0,1,128", metavar="N,.."),
    _option("num_classes", type=float, metavar="K"),
    _option("predictions_are", choices=Choices("..inputs", "POSTERIOR_FORMS"), metavar="FORM"),
    _option("renormalize", action="store_true"),
    _option("reject_costs", metavar="COST,.."),
    _option("normalize", action="store_true"),
    _option("decompose", action="store_true"),
    _option("missing_confidence", type=float, metavar="Q"),
    _flag("--scale", type=float, default=1.0, metavar="MAX"),
    _flag("--correct-from", type=float, metavar="GRADE"),
    _flag("--unlabelled", choices=Choices("..files.submissions", "RULES"), metavar="RULE"),
    _flag("--common", action="store_true"),
    _flag("--by-position", action="store_true"),
    _flag("--weight", metavar="COLUMN"),
    _option("weights_are", choices=Choices("..options", "WEIGHTS"), metavar="MEANING"),
    _flag("--groups", metavar="COLUMN"),
    _option("n_bins", type=int, metavar="BINS"),
    _option("n_resamples", type=int, metavar="B"),
    _option("interval_method", choices=Choices("..options", "INTERVAL_METHODS"), metavar="METHOD"),
    _option("random_state", type=int, metavar="SEED"),
    _flag("--calibrate", choices=Choices(".recalibrating", "METHODS"), metavar="METHOD"),
    _flag("--folds", type=_folds, default=5, metavar="K"),
    *OUTPUT,
)
SCORE = (
    _flag("files", nargs="+", metavar="FILE"),
    *COMMON,
    _level(),
    _option("calibration", action="store_true"),
    _flag("--figures", metavar="DIR"),
    _flag("--explain", action="store_true"),
    _flag("--out-of-core", action="store_true"),
    _flag("--state", metavar="FILE"),
    _flag("--engine", choices=["local", "spark"], default="local"),
)
COMPARE = (
    _flag("files", nargs="+", metavar="FILE"),
    *COMMON,
    _level(OF_COMPARE, 0.95),
    _flag("--sort", choices=Choices(".differences", "SORTS"), default="systems", metavar="ORDER"),
    _flag("--only", choices=["significant"]),
    _flag("--full", action="store_true"),
    _flag("--figures", texts=OF_COMPARE, metavar="DIR"),
    _flag("--explain", texts=OF_COMPARE, action="store_true"),
    _flag("--out-of-core", action="store_true"),
)
PLAN = (
    _flag("files", nargs="*", metavar="FILE"),
    *COMMON,
    _flag("--error-rates", metavar="A,B"),
    _flag("--correlation", metavar="R", type=float),
    _flag("--auroc", metavar="AUROC", type=float),
    _flag("--samples", metavar="N", type=int),
    _flag("--difference", metavar="D", type=float),
    _flag("--power", metavar="POWER", type=float, default=0.8),
    _flag("--alpha", metavar="ALPHA", type=float, default=0.05),
)
MERGE = (
    _flag("files", texts=OF_MERGE, nargs="+", metavar="FILE"),
    _flag("--state", texts=OF_MERGE, metavar="FILE"),
    _flag("--figures", metavar="DIR"),
    _level(OF_MERGE),
    _option("normalize", action="store_true"),
    _option("decompose", action="store_true"),
    *OUTPUT,
)
COMMANDS = {  # what each does, its examples and flags
    "score": ("score all systems in one table", SCORE_EXAMPLES, SCORE),
    "compare": ("test the differences between all pairs of systems", COMPARE_EXAMPLES, COMPARE),
    "plan": ("compute how many samples a comparison needs", PLAN_EXAMPLES, PLAN),
    "merge": ("merge state files, see `ecuas score --state`", "", MERGE),
}


@functools.cache
def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; options of the metric are stored under their own names."""
    command = argparse.ArgumentParser(
        prog="ecuas",
        description="Evaluate systems that answer and say how sure they are: by ECUAS_n, the expected cost of an "
        "uncertainty-augmented system, and the usual metrics.",
        epilog="`ecuas score --help`, `ecuas compare --help` and `ecuas plan --help` show examples.",
    )
    command.add_argument("--version", action="version", version=f"ecuas {VERSION}")
    parts = command.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=CommandParser)
    for name, (what, examples, flags) in COMMANDS.items():
        part = parts.add_parser(
            name,
            help=what,
            usage=f"ecuas {name} {'[FILE FILE]' if name == 'plan' else 'FILE [FILE ...]'} [options]",
            description="" if name == "merge" else FILES,
            epilog=_METRICS + examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for names, settings in flags:
            part.add_argument(*names, **settings)
    parts.choices["plan"].set_defaults(confidence_level=0.95)  # which no number of a plan depends on
    return command


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return 0, 2 where the input cannot be used, or 130 after Ctrl-C."""
    arguments = parse(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal has no letters for
    try:
        return _run(arguments)
    except BrokenPipeError:  # who read the output has enough of it, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python flushes at its end
        return 0
    except KeyboardInterrupt:
        print("ecuas: interrupted", file=sys.stderr)
        return 130


def _run(arguments: argparse.Namespace) -> int:
    try:
        from .commands import run  # what parses and explains the arguments imports nothing large

        found = ((f"{system}: " if system else "", note.render(COMMAND_WORDS)) for system, note in run(arguments))
        for system, note in dict.fromkeys(found):
            print(f"note: {system}{note}", file=sys.stderr)
        sys.stdout.flush()
    except InputError as error:
        return _fail(error.render(COMMAND_WORDS))
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}." if error.filename and error.strerror else str(error))
    except (ValueError, TypeError, ImportError) as error:
        return _fail(str(error))
    return 0


def _fail(text: str) -> int:
    print(f"ecuas: {' '.join(text.split())}", file=sys.stderr)
    return 2
