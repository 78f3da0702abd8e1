"""The command `ecuas`: its subcommands, and what it prints where one fails."""

from __future__ import annotations

import argparse
import codecs
import difflib
import gc
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError, join_lines, quote_for_shell
from ..version import VERSION

IN_ASCII = "in_ascii"  # the handler of letters that an encoding has not
_SIGNS = {"↑": "^", "↓": "v", "†": "#", "∞": "inf", "…": "...", "●": "+", "≤": "<="}  # of tables
SUBCOMMANDS = {
    "score": "score all systems in one table",
    "compare": "test the differences between all pairs of systems",
    "report": "write table, figures and methods for a paper",
    "decide": "decide for new rows, and reject the uncertain ones",
    "threshold": "choose the reject cost by a budget or a guaranteed risk",
    "check": "check a new version against a locked reject cost",
    "audit": "draw answers for people to label, to correct a judge",
    "read": "say how files are read, and what their columns hold",
    "plan": "compute how many samples a comparison needs",
    "publish-results": "write results as the boards of the Hugging Face Hub take them",
    "merge": "merge state files, see `ecuas score --state`",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its status.

    That is 0, 1 where a gate fails, 2 where the line or the input cannot be used, or 130 after Ctrl-C.
    """
    if argv is None:
        # else a twelfth of the time goes on looking for garbage among what is imported,
        gc.set_threshold(100_000)
        # and a third on threads of BLAS that wait for work, which is never large here
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = sys.argv[1:] if argv is None else list(argv)
    if not arguments or arguments[0] not in SUBCOMMANDS:
        return _top(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=IN_ASCII)
    try:
        return _run(*arguments)
    except BrokenPipeError:  # who read the output has enough of it, as `head` does
        # for what Python flushes at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("ecuas: interrupted", file=sys.stderr)
        return 130


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Return ASCII in the place of what cannot be encoded, and where that ends."""
    assert isinstance(error, UnicodeEncodeError)
    letters = error.object[error.start : error.end]
    texts = [_SIGNS.get(one) or one.encode("ascii", "backslashreplace").decode() for one in letters]
    return "".join(texts), error.end


codecs.register_error(IN_ASCII, _in_ascii)


def _top(arguments: Sequence[str]) -> int:
    """Answer --version, --help, and what names no subcommand; nothing large is imported for that."""
    parser = argparse.ArgumentParser(
        prog="ecuas",
        description="Give it how sure each answer was, and whether it was right. It tells you which system costs its "
        "users least, at which reject cost, and whether that is more than chance. ECUAS_n is the expected cost of a "
        "system whose answers may be rejected: 0 is perfect, rejecting all of them scores 1, more is worse. Is 0.4 "
        "good? On average, it beats rejecting everything. Its confidences help if it is also below its number to "
        "beat, the score of the same answers, all with the accuracy as confidence; `ecuas score` prints it.",
        epilog="Begin with `ecuas score FILE.csv` (columns confidence, correct, and id to compare; or label, prob_0, "
        "prob_1, ..). `ecuas score --help`, `ecuas compare --help` and `ecuas plan --help` show examples.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"ecuas {VERSION}")
    parts = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in SUBCOMMANDS.items():
        parts.add_parser(name, help=text)
    if arguments and not arguments[0].startswith("-"):
        print(f"ecuas: {_instead_of(*arguments)}", file=sys.stderr)
        return 2
    parser.parse_args(arguments or ["--help"])
    return 0


def _instead_of(name: str, *arguments: str) -> str:
    """Say which command may be meant by what is none: the nearest, or `score` of a file."""
    near = difflib.get_close_matches(name, SUBCOMMANDS, 1)
    if not near and Path(name).exists():
        near = ["score", name]
    if not near:
        return f"there is no command {name!r}. See ecuas --help."
    meant = " ".join(map(quote_for_shell, [*near, *arguments]))
    return f"there is no command {name!r}. Did you mean this? ecuas {meant}"


def _run(name: str, *arguments: str) -> int:
    from .command.flags import COMMANDS, call, list_parameters, parse
    from .command.kept import refuse_overwriting
    from .command.parameters import Outcome
    from .report import few_of
    from .words import COMMAND_WORDS

    parameters = COMMANDS[name].parameters()
    flags = {one.name: one.text for one in parameters.values()}
    words = COMMAND_WORDS | flags
    try:
        function, values = parse(name, arguments)
        refuse_overwriting(list(list_parameters(function)), values)
        outcome = call(function, values)
        notes = outcome.notes if isinstance(outcome, Outcome) else outcome
        systems: dict[str, dict[str, None]] = {}
        for system, note in notes:
            systems.setdefault(note.render(words), {})[system] = None
        for text, of in systems.items():
            whose = few_of(sorted(filter(None, of)))
            print("note:", f"{whose}: {text}" if whose else text, file=sys.stderr)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError, TypeError, ImportError) as error:
        if isinstance(error, InputError):
            line = " ".join(map(quote_for_shell, arguments)).replace("{", "{{").replace("}", "}}")
            text = error.render(words | {"write_way": f"ecuas {name} {line} {{flags}}"})
        else:
            text = join_lines(_text_of(error))
        print(f"ecuas: {text}", file=sys.stderr)
        return 2
    return outcome.status if isinstance(outcome, Outcome) else 0


def _text_of(error: Exception) -> str:
    """Return what an error says, of a file with its name first."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}."
    return str(error)
