"""A function called in a process of its own, which the operating system stops at a limit of memory or time."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import BoundedSemaphore
from typing import TypeVar

MEMORY = 1_000_000_000  # bytes, besides what Python and its libraries take: a small Parquet file may need any number
SECONDS = 8  # of a processor
PATIENCE = 120  # seconds, where processors are busy
MAX_RESULT = 400_000_000  # bytes
EXCEEDED = 3  # exit status
PLACES = BoundedSemaphore(4)  # so many processes at once
ROOT = Path(__file__).resolve().parent.parent
_Result = TypeVar("_Result")


class LimitExceededError(Exception):
    """A call takes more memory or time than this page has."""


def bounded(function: Callable[..., _Result], *arguments: object) -> _Result:
    """Call a function of a module in a process of its own, which raises its ValueErrors, or `LimitExceededError`.

    Memory is limited where /proc says how much a process has, i.e. on Linux.
    """
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    with PLACES:
        try:
            done = subprocess.run(
                [sys.executable, "-m", "space.bounded"],
                input=pickle.dumps((function, arguments, MEMORY, SECONDS)),
                capture_output=True,
                env=os.environ
                | {
                    "PYTHONPATH": paths,
                    "ARROW_DEFAULT_MEMORY_POOL": "system",
                    "OMP_NUM_THREADS": "1",
                },
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            raise LimitExceededError from None
    if done.returncode == 1:  # a traceback; stopped by the system it is another number
        raise RuntimeError(done.stderr.decode(errors="replace"))
    if done.returncode:
        raise LimitExceededError
    result: _Result | ValueError = pickle.loads(done.stdout)
    if isinstance(result, ValueError):
        raise result
    return result


def _limit(memory: int, seconds: int) -> None:
    import resource

    import pyarrow as pa
    import pyarrow.parquet

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if (statm := Path("/proc/self/statm")).exists():
        limit = int(statm.read_text().split()[0]) * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> None:
    """Read a function and its arguments from standard input; write its result, or its ValueError, to the output."""
    # imports what the function needs, before the limit
    function, arguments, *limits = pickle.load(sys.stdin.buffer)
    _limit(*limits)
    try:
        result = pickle.dumps(function(*arguments))
    except (MemoryError, RecursionError):
        sys.exit(EXCEEDED)
    except ValueError as error:
        result = pickle.dumps(error)
    if len(result) > MAX_RESULT:
        sys.exit(EXCEEDED)
    sys.stdout.buffer.write(result)


if __name__ == "__main__":
    main()
