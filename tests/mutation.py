"""How many seeded mutants of the code `make check` kills: `python tests/mutation.py results.jsonl`, hours.

Each mutant changes one place: an operator, a comparison, a number, a truth value, a sign or `not` that goes, two
arguments that change places. It is tried by the tests that run its line, those of its mirror file first, then by what
else their files hold; at the level of a module, by all. The last commit is tried, in a clone; one process holds the
libraries, and each mutant runs in a fork of it. What the file of results holds already is not run again.
"""

import argparse
import ast
import contextlib
import copy
import functools
import importlib
import io
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import coverage
import pytest

PACKAGE = "ecuas_metric"
FOLDERS = ("", "comparison", "files", "files/runs", "reporting", "scale")
LEFT_OUT = {"app.py", "scale/spark.py", "__main__.py"}  # `make check` starts no browser, no Spark and no program
LIBRARIES = "tests.conftest evaluate matplotlib.pyplot pandas pyarrow.parquet scipy.integrate scipy.stats"
LIBRARIES += " sklearn.isotonic sklearn.model_selection sklearn.datasets tests.ecuas_metric"
TESTS = ["-m", "not e2e and not slow", "-x", "-q", "-p", "no:cacheprovider"]
CONTEXTS, LISTED = ".git/contexts", Path(".git/tests")  # in the clone, where no test sees them
LIMIT = 1200  # seconds of CPU: what takes longer does not end
OTHER = {ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn}
OTHER |= {ast.Add: ast.Sub, ast.Mult: ast.Div, ast.BitAnd: ast.BitOr, ast.And: ast.Or}
OTHER |= {new: old for old, new in OTHER.items()} | {ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult}


def mutated(node: ast.AST) -> ast.AST:
    """Return what may stand in place of a node, or the node."""
    other = copy.copy(node)
    match node:
        case ast.Compare(ops=[op]) if type(op) in OTHER:
            other.ops = [OTHER[type(op)]()]
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in OTHER:
            other.op = OTHER[type(op)]()
        case ast.UnaryOp(operand=operand):
            other = operand
        case ast.Constant(value=bool(value)):
            other.value = not value
        case ast.Constant(value=int(value) | float(value)):
            other.value = value + 1 if isinstance(value, int) else 2 * value
        case ast.Call(args=[first, second, *rest]) if not isinstance(first, ast.Starred):
            other.args = [second, first, *rest]
    return other


def places(node, lines=None):
    """Yield the nodes of code that runs, and the lines of their statement: None outside of functions."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
        return
    if isinstance(node, ast.stmt) and lines is not None:
        body = getattr(node, "body", None)
        lines = range(node.lineno, max(body[0].lineno, node.lineno + 1) if body else node.end_lineno + 1)
    yield node, lines
    for name, value in ast.iter_fields(node):
        inside = range(0) if name == "body" and isinstance(node, ast.FunctionDef) else lines
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in ("annotation", "returns"):
                yield from places(child, inside)


def mutants(folder):
    """Yield a folder's mutants, in order: path, line, the bytes they replace, old and new code, lines to be run."""
    for path in sorted(Path(PACKAGE, folder).glob("*.py")):
        if {path.name, path.relative_to(PACKAGE).as_posix()} & LEFT_OUT:
            continue
        source = path.read_bytes()
        starts = [0, *(at + 1 for at, byte in enumerate(source) if byte == ord("\n"))]
        for node, lines in places(ast.parse(source)):
            old, new = ast.unparse(node), ast.unparse(mutated(node))
            if old != new:
                bounds = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
                yield str(path), node.lineno, bounds, old, f"({new})", lines


class Watch:
    """A plug-in of pytest: runs the tests chosen, in their order, and keeps the first one that fails."""

    def __init__(self, order=None, measured=None):
        self.order, self.measured, self.failed, self.tests = order, measured, "", []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        if self.order is not None:
            items[:] = sorted((item for item in items if item.nodeid in self.order), key=lambda i: self.order[i.nodeid])
        self.tests = [item.nodeid for item in items]

    def pytest_runtest_logstart(self, nodeid):
        if self.measured:
            self.measured.switch_context(nodeid)

    def pytest_runtest_logreport(self, report):
        self.failed = self.failed or (report.nodeid if report.failed else "")

    pytest_collectreport = pytest_runtest_logreport


def forked(job, limit=resource.RLIM_INFINITY):
    """Return the text that a job gives in a fork of this process, "no end" where it ends before."""
    read, write = os.pipe()
    if not (child := os.fork()):
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
            os.write(write, b"=" + job().encode())
        os._exit(0)
    os.close(write)
    with open(read) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text[1:] or ("" if text else "no end")


def measure():
    """Run all tests once under `coverage`, which keeps for each line the tests that ran it."""
    measured = coverage.Coverage(CONTEXTS, include=[f"{PACKAGE}/*", "*/evaluate_modules/*"], config_file=False)
    watch = Watch(measured=measured)
    measured.start()
    pytest.main(TESTS, plugins=[watch])
    measured.stop()
    measured.save()
    LISTED.write_text(json.dumps(watch.tests))
    return watch.failed


@functools.cache
def contexts(path):
    """Return the tests that ran each line of a file, or of the copies that Evaluate makes of it."""
    data, found = coverage.CoverageData(CONTEXTS), {}
    data.read()
    for file in data.measured_files():
        if file == str(Path(path).resolve()) or ("evaluate_modules" in file and Path(file).name == Path(path).name):
            for line, tests in data.contexts_by_lineno(file).items():
                found.setdefault(line, set()).update(tests)
    return found


def stages(path, lines):
    """Return the tests to try: of the mirror file, of its folder, of all others; first those that run the lines."""
    at, listed = Path(path), json.loads(LISTED.read_text())
    mirrors = (path, f"tests/{at.parent}/test_{at.stem}", f"tests/{at.parent.parent}/test_{at.parent.name}.")
    running = set(listed) if lines is None else {test for line in lines for test in contexts(path).get(line, ())}
    files, found = {test.split("::")[0] for test in running}, ([], [], [])
    for test in sorted(listed, key=lambda test: test not in running):
        file = test.split("::")[0]
        if file in files:
            found[0 if file.startswith(mirrors) else 1 if Path(file).parent == "tests" / at.parent else 2].append(test)
    return found


def run(tests):
    """Return the first of the tests that fails, or nothing."""
    watch = Watch({test: at for at, test in enumerate(tests)})
    code = pytest.main([*TESTS, *sorted({test.split("::")[0] for test in tests})], plugins=[watch])
    return watch.failed or ("" if code in (0, 5) else f"exit code {code}")


def tried(number, path, bounds, new, lines):
    """Return the test that kills a mutant, or nothing."""
    file = Path(path)
    source = file.read_bytes()
    try:
        file.write_bytes(source[: bounds[0]] + new.encode() + source[bounds[1] :])
        os.utime(file, (number + 1, number + 1))  # no two have one time: Python takes no compiled file for another
        killers = (forked(functools.partial(run, tests), LIMIT) for tests in stages(path, lines) if tests)
        return next(filter(None, killers), "")
    finally:
        file.write_bytes(source)


def main():
    """Sample mutants, try them, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--number", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clone", type=Path, help="a clone made before, with its measured lines")
    options = parser.parse_args()
    root, results = Path(__file__).resolve().parent.parent, options.results.resolve()
    clone = options.clone or Path(tempfile.mkdtemp(prefix="mutants-"))
    if not (clone / ".git").exists():
        subprocess.run(["git", "clone", "--quiet", root, clone], check=True)
    os.chdir(clone)
    sys.path[0] = str(clone.resolve())
    for name in LIBRARIES.split():
        importlib.import_module(name)
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["--help"])
    if not LISTED.exists() and (failed := forked(measure)):
        sys.exit(f"fails without any mutant: {failed}")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    lines = results.read_text().splitlines() if results.exists() else []
    done = [row for row in map(json.loads, lines) if row["commit"] == commit]
    every = [mutant for folder in FOLDERS for mutant in mutants(folder)]
    for number, mutant in enumerate(random.Random(options.seed).sample(every, options.number)):
        path, line, bounds, old, new, lines = mutant
        name = [path, line, *bounds, old, new]
        if name not in [row["mutant"] for row in done]:
            done.append({"commit": commit, "mutant": name, "killed by": tried(number, path, bounds, new, lines)})
            with results.open("a") as file:
                print(json.dumps(done[-1], ensure_ascii=False), file=file)
            print(f"{number} {path}:{line} `{old}` -> `{new}`: {done[-1]['killed by'] or 'ALIVE'}", flush=True)
    print(f"{len(every)} places of {commit}\n| folder | mutants | killed |\n|---|---|---|")
    for folder in FOLDERS:
        rows = [row for row in done if str(Path(row["mutant"][0]).parent) == str(Path(PACKAGE, folder))]
        print(f"| {folder or PACKAGE} | {len(rows)} | {sum(bool(row['killed by']) for row in rows)} |")


if __name__ == "__main__":
    main()
