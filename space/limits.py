"""What the page takes of a visitor, and of all of them together: one table."""

from dataclasses import dataclass

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest of each; a process that computes takes these with its task, see `bounded`."""

    # of what is sent
    file_bytes: int = 20 * 1024 * 1024  # what Gradio calls 20 MB
    all_bytes: int = 60 * 1024 * 1024
    call_bytes: int = 1 * MB  # of a call with its texts: in memory JSON takes many times its size
    files: int = 50
    # of what it becomes
    unpacked_bytes: int = 400 * MB
    rows: int = 1_000_000
    columns: int = 5_000
    systems: int = 50
    # of a task
    memory: int = 1000 * MB  # besides what Python and its libraries take
    cpu_seconds: int = 15
    seconds: int = 120  # where processors are busy
    result_bytes: int = 8 * MB
    # of all together
    tasks: int = 4  # at once
    waiting: int = 200
    sessions: int = 2_000
    patience: int = 120  # seconds
    disk_bytes: int = 1000 * MB


LIMITS = Limits()
