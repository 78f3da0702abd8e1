"""What a visitor asks for is computed in a process of its own, with limits of memory and time.

A worker imports everything once, and forks for each task: a copy is there at once, nothing of a task is left when it
ends, and the operating system holds the limits. The server itself never reads what was uploaded.
"""

import gc
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import TypeVar

from ecuas_metric.errors import InputError

from .. import uploads
from ..markup import TOO_MUCH, RefusedError, attempt, in_words

ROOT = Path(__file__).resolve().parent.parent.parent
QUIET = {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"}
STARTING = 60  # seconds that a worker may need to be there
_EXCEEDED = pickle.dumps((None, TOO_MUCH))
_TURNS = BoundedSemaphore(uploads.LIMITS.tasks)
_PLACES = BoundedSemaphore(uploads.LIMITS.tasks + uploads.LIMITS.waiting)
_IS_STARTING = Lock()
_workers: list[tuple[subprocess.Popen[bytes], socket.socket]] = []  # the last one
_Result = TypeVar("_Result")


def bounded(function: Callable[..., _Result], *arguments: object) -> _Result:
    """Return the result of a function of a module, computed by a copy of the worker; RefusedError in words if not."""
    request = pickle.dumps((uploads.LIMITS, function, arguments))
    with _turn(), _task() as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as stream:
                answer = stream.read()
        except OSError:  # the task was ended, or its time is over
            answer = b""
    result: tuple[_Result, str] = pickle.loads(answer or _EXCEEDED)
    returned, reason = result
    if reason:
        raise RefusedError(reason)
    return returned


@contextmanager
def _turn() -> Iterator[None]:
    """Wait until fewer tasks are computed than may be at once; RefusedError if too many wait, or for too long."""
    with _acquired(_PLACES, 0), _acquired(_TURNS, uploads.LIMITS.patience):
        yield


@contextmanager
def _acquired(places: BoundedSemaphore, seconds: float) -> Iterator[None]:
    if not places.acquire(timeout=seconds):
        raise RefusedError(in_words(InputError("This page", "busy", advice="try_later")))
    try:
        yield
    finally:
        places.release()


# ---- the server's side


def _task() -> socket.socket:
    """Return a connection to a new copy of the worker."""
    ours, theirs = socket.socketpair()
    ours.settimeout(uploads.LIMITS.seconds + STARTING)
    with theirs:
        socket.send_fds(start(), [b"+"], [theirs.fileno()])
    return ours


def start() -> socket.socket:
    """Start the worker unless there is one; return the connection by which it takes tasks."""
    with _IS_STARTING:
        if not _workers or _workers[-1][0].poll() is not None:
            paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
            ours, theirs = socket.socketpair()
            with theirs:
                process = subprocess.Popen(
                    [sys.executable, "-m", "space.serving.bounded", str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env=os.environ | QUIET | {"PYTHONPATH": paths},
                )
            _workers[:] = [(process, ours)]
        return _workers[-1][1]


# ---- the worker's side


def main() -> None:
    """Fork for each connection that comes, until the server is gone."""
    from .. import tasks

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the server
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a copy
    tasks.warm_up()
    gc.collect()
    gc.freeze()  # so that copies share the memory of what is there
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    control = socket.socket(fileno=int(sys.argv[1]))
    while True:
        _, descriptors, *_ = socket.recv_fds(control, 1, 1)
        if not descriptors:
            return
        with socket.socket(fileno=descriptors[0]) as connection:
            if not os.fork():
                control.close()
                _answer(connection)
                os._exit(0)


def _answer(connection: socket.socket) -> None:
    """Do the task that a connection brings, within its limits."""
    with connection.makefile("rb") as stream:
        allowed, function, arguments = pickle.load(stream)
    _limit(allowed)
    answer = pickle.dumps(attempt(function, *arguments))
    connection.sendall(answer if len(answer) <= allowed.result_bytes else _EXCEEDED)


def _limit(allowed: uploads.Limits) -> None:
    """Set the limits of this process; of memory where /proc says how much it has, i.e. on Linux."""
    uploads.LIMITS = allowed
    signal.alarm(allowed.seconds)
    for kind, most in (
        (resource.RLIMIT_CPU, allowed.cpu_seconds),
        (resource.RLIMIT_FSIZE, allowed.all_bytes),
    ):
        resource.setrlimit(kind, (most, most))
    if (statm := Path("/proc/self/statm")).exists():
        most = int(statm.read_text().split()[0]) * resource.getpagesize() + allowed.memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    main()
