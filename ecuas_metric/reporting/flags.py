"""The flags of the command `ecuas`, its help, and its words for arguments and advice of the metric."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import Advice
from ..inputs import POSTERIOR_FORMS
from ..options import DEFAULTS, INTERVAL_METHODS, OPTIONS, VERSION, WEIGHTS
from .columns import NAMES
from .files import FileAdvice

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
WORDS = {  # arguments and advice of the metric -> the command's own words
    **FLAGS,
    "confidence_level": "the level of intervals",
    "columns": "--columns",
    Advice.MISSING_CONFIDENCES: "Missing confidences? --missing-confidence says what they count as.",
    Advice.PREDICTIONS_ARE: "Logits or log-probabilities? Say so with --predictions-are.",
    Advice.LOGITS: "Logits? --predictions-are logits takes rows of any sum.",
    Advice.EXPONENTIALS: "Logits? These are the exponentials: --predictions-are logits takes rows of any sum.",
    Advice.CLASS_LABELS: "Class labels? Then the predictions must be posteriors, one column per class.",
    Advice.HARD_DECISIONS: "Are they class labels? Then they are no confidences: a file of probabilities is needed.",
    Advice.RENORMALIZE: "Rounded probabilities? --renormalize divides each row by its sum.",
    Advice.CONFIDENCES: "Confidences? Name their column with --columns confidence=NAME.",
    Advice.WRONG_COST: "The uncertainties do not fit this cost, or --num-classes is too small.",
    FileAdvice.DROP_UNJUDGED: "Leave such answers out with --drop-unjudged.",
    FileAdvice.NAME_COLUMNS: "Name them with --columns confidence=NAME,correct=NAME, or label=NAME,posteriors=A+B with "
    "all classes, or label=NAME,positive=NAME with the probability of class 1.",
    FileAdvice.SAY_WHICH: "Say which with --columns ROLE=NAME.",
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
class 1; id, if there is one, pairs the samples of different systems. SYSTEM_confidence and SYSTEM_correct, or several
columns for the role confidence, are several systems. 85%, 0,85 and words such as yes/no or right/wrong are understood.
"""
SCORE_EXAMPLES = """\
examples
  ecuas score gpt.csv llama.jsonl
      one row per system, one column per metric, the best of each column marked
  ecuas score runs.parquet --columns confidence=p_true,correct=grade,system=llm+method --interval 0.95
      columns of other names, one system for each LLM and method, intervals
  ecuas score GPT-4=gpt.csv Llama=llama.jsonl --columns "gpt.csv:confidence=confidence" --metrics "ECUAS_0, ER"
      names of your own, a column of one file only, two metrics as tables show them
  ecuas score logits.csv --predictions-are logits --normalize --output table.tex --output table.csv --figures plots
      a classifier's logits, also relative to a system that ignores its input; written for a paper, with figures
"""
COMPARE_EXAMPLES = """\
examples
  ecuas compare gpt.csv llama.jsonl
      every metric's difference with its 95 % interval and p-values
  ecuas compare runs.csv --groups document --metrics ecuas_0,error_rate
      several questions of a document belong together; two metrics only
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
        epilog="`ecuas score --help` and `ecuas compare --help` show examples.",
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
    for part in (score, compare):
        _add_common(part)
    help_ = "intervals at this level, e.g. 0.95"
    score.add_argument("--interval", "--level", dest="confidence_level", type=float, metavar="LEVEL", help=help_)
    _add_option(score, "calibration", action="store_true")
    score.add_argument("--figures", metavar="DIR", help="draw risk-coverage, cost, reliability and ECUAS_n curves")
    score.add_argument("--explain", action="store_true", help="say below the table what it means, in plain words")
    help_ = "level of the intervals of differences (default 0.95)"
    compare.add_argument(
        "--interval", "--level", dest="confidence_level", type=float, metavar="LEVEL", default=0.95, help=help_
    )
    return command


def _add_common(part: argparse.ArgumentParser) -> None:
    add = part.add_argument
    help_ = (
        "CSV, JSON lines, JSON, Parquet, Arrow, .npz or Excel, also compressed; - is standard input; NAME=FILE names it"
    )
    add("files", nargs="+", metavar="FILE", help=help_)
    help_ = (
        f"what is in which column; roles: {', '.join(NAMES)}; several columns are joined by +; a dotted name is what "
        "is nested; FILE:ROLE=COLUMN is for one file; repeatable"
    )
    add("--columns", action="append", default=[], metavar="ROLE=COLUMN,..", help=help_)
    help_ = "names of all classes in the order of the posteriors, where the columns are not named by them"
    add("--labels", metavar="CLASS,..", help=help_)
    _add_option(part, "n", default="0,1,128", metavar="N,..")
    _add_option(part, "num_classes", type=float, metavar="K")
    _add_option(part, "predictions_are", choices=POSTERIOR_FORMS)
    _add_option(part, "renormalize", action="store_true")
    _add_option(part, "reject_costs", metavar="COST,..")
    _add_option(part, "normalize", action="store_true")
    _add_option(part, "decompose", action="store_true")
    _add_option(part, "missing_confidence", type=float, metavar="Q")
    add("--drop-unjudged", action="store_true", help="leave out answers with an empty column `correct`")
    add(
        "--common",
        action="store_true",
        help="keep the samples whose ids all systems have, and say how many are left out",
    )
    add("--by-position", action="store_true", help="pair the samples of different systems by their rows, not by ids")
    add("--weight", metavar="COLUMN", help="column of sample weights")
    _add_option(part, "weights_are", choices=WEIGHTS, default=DEFAULTS.weights_are)
    add("--groups", metavar="COLUMN", help="column of groups whose samples depend on each other")
    _add_option(part, "n_bins", type=int, default=DEFAULTS.n_bins, metavar="BINS")
    _add_option(part, "n_resamples", type=int, default=DEFAULTS.n_resamples, metavar="B")
    _add_option(part, "interval_method", choices=INTERVAL_METHODS, default=DEFAULTS.interval_method)
    _add_option(part, "random_state", type=int, default=DEFAULTS.random_state, metavar="SEED")
    add("--metrics", metavar="METRIC,..", help="compute these metrics only: keys, or names as tables show them")
    add("--digits", type=int, choices=range(16), default=3, metavar="N", help="digits after the point (default 3)")
    add(
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help="also write .md, .tex, .txt, .csv, .json; repeatable",
    )


def _add_option(part: argparse.ArgumentParser, option: str, **settings: Any) -> None:
    """Add the flag of an option of the metric, with the help of the table of options."""
    default = " (default %(default)s)" if settings.get("default") is not None else ""
    text = OPTIONS[option].help
    part.add_argument(
        FLAGS.get(option, f"--{option}"), dest=option, help=f"{text[0].lower()}{text[1:]}{default}", **settings
    )
