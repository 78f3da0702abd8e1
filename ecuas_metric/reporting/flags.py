"""The flags of the command `ecuas`, its help, and its words for arguments and advice of the metric."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import Advice, InputError
from ..inputs import POSTERIOR_FORMS
from ..options import DEFAULTS, INTERVAL_METHODS, OPTIONS, VERSION, WEIGHTS
from .columns import NAMES
from .differences import MAX_ROWS, ORDERS
from .files import FileAdvice
from .recalibrating import METHODS
from .unjudged import RULES

FLAGS = {  # an option of the metric -> its flag
    "n": "--n",
    "num_classes": "--num-classes",
    "predictions_are": "--predictions-are",
    "renormalize": "--renormalize",
    "reject_costs": "--reject-costs",
    "normalize": "--normalize",
    "decompose": "--decompose",
    "missing_confidence": "--missing-confidence",
    "weights_are": "--weights-are",
    "n_bins": "--bins",
    "n_resamples": "--resamples",
    "interval_method": "--interval-method",
    "random_state": "--seed",
}
PLANNED = {  # an argument of a plan -> its flag
    "error_rates": "--error-rates",
    "auroc": "--auroc",
    "correlation": "--correlation",
    "samples": "--samples",
    "difference": "--difference",
    "power": "--power",
    "alpha": "--alpha",
}
WORDS = {  # arguments and advice of the metric -> the command's own words
    **FLAGS,
    "confidence_level": "the level of intervals",
    **PLANNED,
    "columns": "--columns",
    "calibrate": "--calibrate",
    "scale": "--scale",
    "correct_from": "--correct-from",
    Advice.INTERVALS_OF_FEW: "--interval-method analytic holds there.",
    Advice.MISSING_CONFIDENCES: "Missing confidences? --missing-confidence says what they count as.",
    Advice.PREDICTIONS_ARE: "Logits or log-probabilities? Say so with --predictions-are.",
    Advice.LOGITS: "Logits? --predictions-are logits takes rows of any sum.",
    Advice.EXPONENTIALS: "Logits? These are the exponentials: --predictions-are logits takes rows of any sum.",
    Advice.CLASS_LABELS: "Class labels? Then the predictions must be posteriors, one column per class.",
    Advice.HARD_DECISIONS: "Are they class labels? Then they are no confidences: a file of probabilities is needed.",
    Advice.RENORMALIZE: "Rounded probabilities? --renormalize divides each row by its sum.",
    Advice.CONFIDENCES: "Confidences? Name their column with --columns confidence=NAME.",
    Advice.WRONG_COST: "The uncertainties do not fit this cost, or --num-classes is too small.",
    FileAdvice.UNJUDGED: "Judge them, or count them as wrong with --unjudged wrong.",
    FileAdvice.NAME_COLUMNS: "Name them with --columns confidence=NAME,correct=NAME, or label=NAME,posteriors=A+B with "
    "all classes, or label=NAME,positive=NAME with the probability of class 1, or "
    "label=NAME,predicted=NAME,confidence=NAME.",
    FileAdvice.SAY_WHICH: "Say which with --columns ROLE=NAME.",
    FileAdvice.PARTLY_CORRECT: "Partly correct? --correct-from GRADE counts an answer from that grade on as correct.",
    FileAdvice.PERCENTAGES: "Percentages? --scale 100 divides by 100.",
    FileAdvice.OTHER_SCALE: "On another scale? --scale divides by its largest value: --scale 10 from 0 to 10.",
    FileAdvice.COMMON: "--common compares them on the ids they share.",
    FileAdvice.BY_POSITION: "--by-position pairs them by their rows.",
    FileAdvice.SAY_LABELS: "Names of classes? Say all, in the order of the posteriors, with --labels A,B,..",
    FileAdvice.NO_POSTERIORS: "Keep the columns of all classes, or say what there is with --columns posteriors=A+B or "
    "positive=NAME.",
}
FILES = """\
A file holds one system, named after it, or several if it has a column `system` (or `model`). Its columns are found by
their names: confidence and correct (0 or 1) for a system with confidences; label (from 0) and prob_0, prob_1, .. (or
one column of lists, `posteriors`, or one column per class named by it) for a classifier, or prob, the probability of
class 1; id, if there is one, pairs the samples of different systems, and stratum names parts of the sample whose sizes
resamples keep. SYSTEM_confidence and SYSTEM_correct, or several
columns for the role confidence, are several systems. 85%, 0,85 and words such as yes/no or right/wrong are understood.
"""
SCORE_EXAMPLES = """\
examples
  ecuas score gpt.csv llama.jsonl
      one row per system, one column per metric, the best of each column marked
  ecuas score runs.parquet --columns confidence=p_true,correct=grade,system=llm+method --interval 0.95
      columns of other names, one system for each LLM and method, bootstrap intervals
  ecuas score GPT-4=gpt.csv Llama=llama.jsonl --columns "gpt.csv:confidence=confidence" --metrics "ECUAS_0, ER"
      names of your own, a column of one file only, two metrics as tables show them
  ecuas score gpt.csv llama.jsonl --calibrate affine
      is it the ranking or the calibration? each system also as recalibrated by cross-validation
  ecuas score logits.csv --predictions-are logits --normalize --output table.tex --output table.csv --figures plots
      a classifier's logits, also relative to a system that ignores its input; written for a paper, with figures
  ecuas score 'runs*.parquet' --by llm --columns confidence=p_true,correct=grade --out-of-core --state 2026.state
      any number of rows in constant memory; next month's files are added to the same state
"""
COMPARE_EXAMPLES = """\
examples
  ecuas compare gpt.csv llama.jsonl
      who beats whom, and every metric's difference with its 95 % interval and p-values
  ecuas compare runs.csv --only significant --sort difference --explain --figures plots
      the differences that are more than chance, largest first; how to read them; a forest plot
  ecuas compare runs.csv --groups document --metrics ecuas_0,error_rate
      several questions of a document are resampled together; two metrics only
"""


PLAN_EXAMPLES = """\
how it is computed
  A metric's difference between two systems is a mean over samples, of how much each sample moves it (for AUROC, AURC
  and AUGRC: of its influence). If the standard deviation of a single sample's contribution is s, N samples find a
  difference of (1.96 + 0.84) s / sqrt(N) with a power of 80 % at the level 0.05. Systems that fail on the same samples
  have a small s, and need fewer. Weights and groups count as they do in `ecuas compare`. With several pairs or metrics
  divide --alpha by their number, to be safe.

what to do
  1. Before there are data: say what error rates you expect, and how alike the systems are.
         ecuas plan --error-rates 0.30,0.25 --correlation 0.5
  2. From a pilot: two files of the systems, or of ones like them. How small a difference would these N find?
         ecuas plan gpt.csv llama.csv
  3. How many samples would find a difference that matters, here of 0.02?
         ecuas plan gpt.csv llama.csv --difference 0.02 --metrics ecuas_0,error_rate
  Decide what matters before you look: the N that the difference seen needs, which is shown where --difference is not
  given, is as uncertain as that difference, and the power to find it says no more than its p-value.
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; options of the metric are stored under their own names.

    Returns
    -------
    argparse.ArgumentParser

    Examples
    --------
    >>> arguments = parser().parse_args(["score", "a.csv", "--bins", "5"])
    >>> arguments.command, arguments.files, arguments.n_bins
    ('score', ['a.csv'], 5)
    """
    command = argparse.ArgumentParser(
        prog="ecuas",
        description="Evaluate systems that answer and say how sure they are: ECUAS_n and the usual metrics.",
        epilog="`ecuas score --help`, `ecuas compare --help` and `ecuas plan --help` show examples.",
    )
    command.add_argument("--version", action="version", version=f"ecuas {VERSION}")
    parts = command.add_subparsers(dest="command", required=True, metavar="COMMAND")
    raw = argparse.RawDescriptionHelpFormatter
    score = parts.add_parser(
        "score", help="one table of all systems", description=FILES, epilog=SCORE_EXAMPLES, formatter_class=raw
    )
    compare = parts.add_parser(
        "compare", help="the differences of all pairs", description=FILES, epilog=COMPARE_EXAMPLES, formatter_class=raw
    )
    _add_plan(parts.add_parser("plan", help="how many samples a comparison needs", **_texts(PLAN_EXAMPLES)))
    for part in (score, compare):
        _add_common(part)
    _add_of_score(score)
    _add_of_compare(compare)
    _add_merge(parts.add_parser("merge", help="merge files of states, see `ecuas score --state`"))
    return command


def _add_of_score(score: argparse.ArgumentParser) -> None:
    help_ = "bootstrap intervals at this level, e.g. 0.95"
    score.add_argument("--interval", "--level", dest="confidence_level", type=float, metavar="LEVEL", help=help_)
    _add_option(score, "calibration", action="store_true")
    score.add_argument("--figures", metavar="DIR", help="draw risk-coverage, cost, reliability and ECUAS_n curves")
    score.add_argument("--explain", action="store_true", help="say below the table what it means, in plain words")
    _add_out_of_core(score)


def _add_of_compare(compare: argparse.ArgumentParser) -> None:
    add = compare.add_argument
    help_ = "level of the intervals of differences; 1 minus it is what p-values must reach (default 0.95)"
    add("--interval", "--level", dest="confidence_level", type=float, metavar="LEVEL", default=0.95, help=help_)
    add(
        "--sort", choices=ORDERS, default=ORDERS[0], help="order within each metric (default: as the systems are named)"
    )
    add("--only", choices=["significant"], help="leave out the differences that may be chance")
    add("--full", action="store_true", help=f"print all differences, also where there are more than {MAX_ROWS}")
    add("--figures", metavar="DIR", help="draw the differences with their intervals, a panel per metric")
    add("--explain", action="store_true", help="say below the table how its numbers came about and what they mean")


def _texts(epilog: str) -> dict[str, Any]:
    return {"description": FILES, "epilog": epilog, "formatter_class": argparse.RawDescriptionHelpFormatter}


def _add_plan(part: argparse.ArgumentParser) -> None:
    _add_common(part, nargs="*")
    part.set_defaults(confidence_level=0.95)  # which no number of a plan depends on
    for name, metavar, kind, help_ in (
        ("error_rates", "A,B", str, "expected error rates of two systems, instead of files"),
        ("correlation", "R", float, "expected correlation of their costs of a sample (default 0.5)"),
        ("auroc", "AUROC", float, "expected AUROC of their confidences (default 0.8)"),
        ("samples", "N", int, "plan for this many samples (default: those of the files, or 1000)"),
        ("difference", "D", float, "the difference to be found (default: the one that is seen, or expected)"),
        ("power", "POWER", float, "the chance to find it (default 0.8)"),
        ("alpha", "ALPHA", float, "the level of the test (default 0.05)"),
    ):
        part.add_argument(PLANNED[name], dest=name, metavar=metavar, type=kind, help=help_)


def _add_common(part: argparse.ArgumentParser, nargs: str = "+") -> None:
    add = part.add_argument
    help_ = (
        "CSV, JSON lines, JSON, Parquet, Arrow, .npz or Excel, also compressed; - is standard input; NAME=FILE names it"
    )
    add("files", nargs=nargs, metavar="FILE", help=help_)
    help_ = (
        f"what is in which column; roles: {', '.join(NAMES)}; several columns are joined by +; a dotted name is what "
        "is nested; FILE:ROLE=COLUMN is for one file; repeatable"
    )
    add("--columns", action="append", default=[], metavar="ROLE=COLUMN,..", help=help_)
    help_ = "names of all classes in the order of the posteriors, where the columns are not named by them"
    add("--labels", metavar="CLASS,..", help=help_)
    add("--tasks", metavar="TASK,..", help="of a run of lm-eval, lighteval or Inspect: these tasks only")
    add(
        "--filter",
        metavar="NAME",
        help="of a run: the filter (lm-eval) or the scorer (Inspect) where there are several",
    )
    help_ = "of a run: divide log-likelihoods of choices by their lengths, as acc_norm does"
    add("--choice-length", choices=("none", "chars", "bytes"), default="none", help=help_)
    _add_option(part, "n", default="0,1,128", metavar="N,..")
    _add_option(part, "num_classes", type=float, metavar="K")
    _add_option(part, "predictions_are", choices=POSTERIOR_FORMS)
    _add_option(part, "renormalize", action="store_true")
    _add_option(part, "reject_costs", metavar="COST,..")
    _add_option(part, "normalize", action="store_true")
    _add_option(part, "decompose", action="store_true")
    _add_option(part, "missing_confidence", type=float, metavar="Q")
    help_ = "confidences and probabilities are from 0 to this: 100 for percentages (default 1)"
    add("--scale", type=float, default=1.0, metavar="MAX", help=help_)
    help_ = "answers with this grade or a higher one are correct, where grades are not 0 or 1"
    add("--correct-from", type=float, metavar="GRADE", help=help_)
    help_ = (
        "answers with an empty column `correct`: bounds (the default of score: the smallest and the largest value of "
        "each metric), wrong (they count as wrong), drop (they are left out, which flatters nearly every system)"
    )
    add("--unjudged", choices=RULES, help=help_)
    add("--drop-unjudged", dest="unjudged", action="store_const", const="drop", help=argparse.SUPPRESS)
    add(
        "--common",
        action="store_true",
        help="keep the samples whose ids all systems have, and say how many are left out",
    )
    add("--by-position", action="store_true", help="pair the samples of different systems by their rows, not by ids")
    add("--weight", metavar="COLUMN", help="column of sample weights")
    _add_option(part, "weights_are", choices=WEIGHTS, default=DEFAULTS.weights_are)
    add("--groups", metavar="COLUMN", help="column of groups that are resampled together")
    _add_option(part, "n_bins", type=int, default=DEFAULTS.n_bins, metavar="BINS")
    _add_option(part, "n_resamples", type=int, default=DEFAULTS.n_resamples, metavar="B")
    _add_option(part, "interval_method", choices=INTERVAL_METHODS, default=DEFAULTS.interval_method)
    _add_option(part, "random_state", type=int, default=DEFAULTS.random_state, metavar="SEED")
    _add_output(part)


def _add_output(part: argparse.ArgumentParser) -> None:
    add = part.add_argument
    add("--metrics", metavar="METRIC,..", help="compute these metrics only: keys, or names as tables show them")
    add("--calibrate", choices=METHODS, help="add each system as it would be after recalibration by cross-validation")
    add("--folds", type=_folds, default=5, metavar="K", help="of --calibrate (default 5)")
    add("--digits", type=int, choices=range(16), default=3, metavar="N", help="digits after the point (default 3)")
    add(
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help="also write .md, .tex, .txt, .csv, .json; repeatable",
    )


def _folds(text: str) -> int:
    if (folds := int(text)) < 2:
        raise argparse.ArgumentTypeError(f"must be at least 2; got {text}")
    return folds


def refuse_without(arguments: argparse.Namespace) -> None:
    """Raise InputError if flags are given that mean something with --out-of-core only."""
    for name in ("by", "state"):
        if getattr(arguments, name):
            raise InputError(f"--{name}", "goes with --out-of-core")
    if arguments.engine != "local":
        raise InputError("--engine", "goes with --out-of-core")


def _add_out_of_core(part: argparse.ArgumentParser) -> None:
    help_ = "read Parquet files of any size in constant memory; FILE may be a folder or a quoted pattern such as 'a/*'"
    part.add_argument("--out-of-core", action="store_true", help=help_)
    part.add_argument("--by", metavar="COLUMN", help="column that names the systems, with --out-of-core")
    help_ = "keep what was summed there, and skip what it has already, with --out-of-core"
    part.add_argument("--state", metavar="FILE", help=help_)
    help_ = "what reads the files out of core: this process, or Spark (pip install 'ecuas-metric[spark]')"
    part.add_argument("--engine", choices=["local", "spark"], default="local", help=help_)


def _add_merge(part: argparse.ArgumentParser) -> None:
    part.add_argument("files", nargs="+", metavar="FILE", help="what `ecuas score --out-of-core --state FILE` wrote")
    part.add_argument("--state", metavar="FILE", help="write the merged states there")
    part.add_argument("--interval", "--level", dest="confidence_level", type=float, metavar="LEVEL", help="intervals")
    _add_option(part, "normalize", action="store_true")
    _add_option(part, "decompose", action="store_true")
    _add_output(part)


def _add_option(part: argparse.ArgumentParser, option: str, **settings: Any) -> None:
    """Add the flag of an option of the metric, with the help of the table of options."""
    default = " (default %(default)s)" if settings.get("default") is not None else ""
    text = OPTIONS[option].help
    part.add_argument(
        FLAGS.get(option, f"--{option}"), dest=option, help=f"{text[0].lower()}{text[1:]}{default}", **settings
    )
