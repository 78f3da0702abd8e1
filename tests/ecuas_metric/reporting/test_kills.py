"""A command that is killed at any moment leaves each of its files as it was, or as it was to become."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.ecuas_metric.reporting.commanded import answers

COMMANDS = [
    "score a.csv b.csv --by part --output t.csv --output t.json --output t.md --figures plots",
    "compare a.csv b.csv --within part --output t.tex --figures plots",
    "report a.csv b.csv --output paper",
    "plan a.csv b.csv --output t.txt",
    "threshold a.csv --budget 0.2 --output t.json",
    "decide a.csv --reject-cost 0.2 --output t.csv --output t.json",
    "read a.csv --output recipe.json",
    "score a.parquet b.parquet --out-of-core --state s.state --output t.csv --figures plots",
    "merge a.state b.state --state both.state --output t.json",
]
FORMER = {  # what wrote the files that are there, if not the same command
    COMMANDS[6]: "read a.csv --columns stratum=part --output recipe.json",
    # a state that is there is not replaced
    COMMANDS[7]: "score a.parquet --out-of-core --output t.csv --figures plots",
    COMMANDS[8]: "score a.csv --output t.json",
}
KILLER = """
import json, os, random, resource, shlex, signal, sys, time
from pathlib import Path
import duckdb, matplotlib.backends.backend_agg, matplotlib.backends.backend_pdf, matplotlib.backends.backend_svg
import ecuas_metric.comparison.compare, ecuas_metric.plotting.figures, ecuas_metric.reporting.paper
import ecuas_metric.reporting.command.in_memory, ecuas_metric.scale.local
from ecuas_metric.reporting.cli import main

def start(line, largest=None):
    child = os.fork()
    if child:
        return child
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    if largest is not None:  # the process ends within the write that would make a file larger
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    os._exit(main(shlex.split(line)))

def ends(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def contents():
    return {str(path): path.read_bytes() for path in Path().rglob("[!.]*") if path.is_file()}

def restore(files):
    for path in contents().keys() - files.keys():
        os.unlink(path)
    for path, content in files.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_bytes(content)

def try_kills(former, command, rounds):
    restore(inputs["old"])
    assert ends(start(former)) == 0
    before = contents() | inputs["new"]
    restore(before)
    began = time.monotonic()
    assert ends(start(command)) == 0
    lasts = time.monotonic() - began
    after = contents()
    sizes = [len(content) for path, content in after.items() if content != before.get(path)]
    killed = 0
    for number in range(rounds):
        restore(before)
        child = start(command, random.randrange(max(sizes)) if number % 2 else None)
        if number % 2 == 0:
            time.sleep(random.uniform(0, lasts))
            os.kill(child, signal.SIGKILL)
        killed += ends(child) < 0
        found = contents()
        for path, content in found.items():
            assert content in (before.get(path), after.get(path)), path
        assert before.keys() <= found.keys()
    assert killed >= rounds / 2
    if "--state" not in command:
        assert ends(start(command)) == 0
        assert contents() == after

random.seed(0)
commands, former, rounds = map(json.loads, sys.argv[1:])
inputs = {}
for version in ("old", "new"):
    os.chdir(version)
    inputs[version] = contents()
    os.chdir("..")
os.mkdir("work")
os.chdir("work")
for name in "ab":
    restore(inputs["old"])
    assert ends(start(f"score {name}.parquet --out-of-core --state {name}.state")) == 0
    inputs["old"] = contents()
for command in commands:
    try_kills(former.get(command, command), command, rounds)
    print(command, flush=True)
"""


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("commands", "rounds"), [(COMMANDS[3:7], 4), pytest.param(COMMANDS, 50, marks=pytest.mark.slow)]
)
def test_a_killed_command_leaves_each_file_old_or_new_and_goes_on(commands, rounds, tmp_path, rng):
    for version in ("old", "new"):
        folder = tmp_path / version
        folder.mkdir()
        for name in "ab":
            frame = answers(rng, 60, part=np.arange(60) % 2)
            frame.to_csv(folder / f"{name}.csv", index=False)
            if version == "old":
                frame.to_parquet(folder / f"{name}.parquet")
    arguments = map(json.dumps, (commands, FORMER, rounds))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", KILLER, *arguments]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.stdout.splitlines() == commands, run.stderr
    assert run.returncode == 0
