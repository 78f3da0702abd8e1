"""The command `ecuas`: its subcommands, and its words for arguments and advice of the metric."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from ..errors import InputError
from ..version import VERSION

_OPTIONS = (  # of the metric, whose flags have their names
    *("n", "num_classes", "predictions_are", "renormalize", "reject_costs", "normalize", "decompose"),
    *("missing_confidence", "weights_are", "interval_method"),
)
_OTHERS = (  # arguments of errors, whose flags have their names
    *("columns", "calibrate", "scale", "unlabelled", "correct_from", "folds"),
    *("error_rates", "auroc", "correlation", "samples", "difference", "power", "alpha"),
)
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
SUBCOMMANDS = {
    "score": "score all systems in one table",
    "compare": "test the differences between all pairs of systems",
    "plan": "compute how many samples a comparison needs",
    "merge": "merge state files, see `ecuas score --state`",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return 0, 2 where it or the input cannot be used, or 130 after Ctrl-C."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if not arguments or arguments[0] not in SUBCOMMANDS:
        return _top(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal has no letters for
    try:
        return _run(*arguments)
    except BrokenPipeError:  # who read the output has enough of it, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python flushes at its end
        return 0
    except KeyboardInterrupt:
        print("ecuas: interrupted", file=sys.stderr)
        return 130


def _top(arguments: Sequence[str]) -> int:
    """Answer --version, --help, and what names no subcommand; nothing large is imported for that."""
    parser = argparse.ArgumentParser(
        prog="ecuas",
        description="Evaluate systems that answer and say how sure they are: by ECUAS_n, the expected cost of an "
        "uncertainty-augmented system, and the usual metrics.",
        epilog="`ecuas score --help`, `ecuas compare --help` and `ecuas plan --help` show examples.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"ecuas {VERSION}")
    parts = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in SUBCOMMANDS.items():
        parts.add_parser(name, help=text)
    parser.parse_args(arguments)
    return 0


def _run(name: str, *arguments: str) -> int:
    from .command.flags import parse
    from .command.help import COMMANDS  # which imports all that commands need

    try:
        notes = parse(name, COMMANDS, arguments)()
        sentences = ((f"{system}: " if system else "", note.render(COMMAND_WORDS)) for system, note in notes)
        for system, sentence in dict.fromkeys(sentences):
            print(f"note: {system}{sentence}", file=sys.stderr)
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
