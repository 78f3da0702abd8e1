"""The command `ecuas`: score files of confidences or posteriors, and compare the systems in them."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from ..errors import InputError
from .flags import WORDS, parse


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0; or 2, after one line on stderr, where the input cannot be used; or 130 after Ctrl-C.

    Raises
    ------
    SystemExit
        Where the arguments themselves cannot be parsed, and after `--help` and `--version`.
    """
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

        for note in dict.fromkeys(run(arguments)):
            print(f"note: {note}", file=sys.stderr)
        sys.stdout.flush()
    except InputError as error:
        return _fail(error.render(WORDS))
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


if __name__ == "__main__":
    sys.exit(main())
