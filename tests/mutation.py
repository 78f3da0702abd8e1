"""How many seeded mutants of the code `make check` kills: `python tests/mutation.py results.jsonl`, an hour.

Each mutant changes one place: an operator, a comparison, a number, a truth value, a sign or `not` that goes, two
arguments that change places. Its mirror file of tests tries it first, then its folder, then all. The last commit is
tried, in a clone; one process holds the libraries, and each mutant runs in a fork of it. What the file of results
holds already is not run again.
"""

import argparse
import ast
import copy
import importlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PACKAGE = "ecuas_metric"
FOLDERS = ("", "comparison", "files", "files/runs", "reporting", "reporting/command", "scale")
# `make check` starts no browser, no Spark and no program
LEFT_OUT = {"app.py", "scale/spark.py", "__main__.py"}
LIBRARIES = (
    "tests.conftest evaluate matplotlib.pyplot pandas pyarrow.parquet scipy.integrate scipy.stats"
)
LIBRARIES += " sklearn.isotonic sklearn.model_selection sklearn.datasets tests.ecuas_metric"
TESTS = ["-m", "not e2e and not slow and not long", "-x", "-q", "-p", "no:cacheprovider"]
NOT_MUTATED = ("annotation", "returns", "decorator_list")  # what these say, no number depends on
LIMIT = 600  # seconds of CPU: what takes longer does not end
OTHER = {ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn}
OTHER |= {ast.Add: ast.Sub, ast.Mult: ast.Div, ast.BitAnd: ast.BitOr, ast.And: ast.Or}
OTHER |= {new: old for old, new in OTHER.items()} | {
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}


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


def places(node):
    """Yield the nodes of code that runs."""
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    ):
        return
    yield node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in NOT_MUTATED:
                yield from places(child)


def mutants(folder):
    """Yield a folder's mutants, in order: path, line, the bytes they replace, old and new code."""
    for path in sorted(Path(PACKAGE, folder).glob("*.py")):
        if {path.name, path.relative_to(PACKAGE).as_posix()} & LEFT_OUT:
            continue
        source = path.read_bytes()
        starts = [0, *(at + 1 for at, byte in enumerate(source) if byte == ord("\n"))]
        for node in places(ast.parse(source)):
            old, new = ast.unparse(node), ast.unparse(mutated(node))
            if old != new:
                bounds = (
                    starts[node.lineno - 1] + node.col_offset,
                    starts[node.end_lineno - 1] + node.end_col_offset,
                )
                yield str(path), node.lineno, *bounds, old, f"({new})"


def fails(paths, output=os.devnull):
    """Return whether a test in some files and folders fails; in a fork of this process, which writes to a file."""
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        with open(output, "w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            code = pytest.main([*TESTS, *paths])
        os._exit(code not in (0, 5))
    _, status = os.waitpid(child, 0)
    return status != 0


def stages(path):
    """Return the tests to try, one stage after the other: none a second time."""
    at = Path("tests", path).parent
    mirrors = [*at.glob(f"test_{Path(path).stem}*.py"), *at.parent.glob(f"test_{at.name}.py")]
    folder = at if at.exists() else at.parent  # a folder that is not there would count as a failure
    first = [list(map(str, mirrors))] * bool(mirrors)
    others = [f"--ignore={mirror}" for mirror in mirrors]
    return [*first, [str(folder), *others], [f"--ignore={folder}", *others]]


def is_killed(number, path, start, end, new):
    """Return whether a test kills a mutant."""
    file = Path(path)
    source = file.read_bytes()
    try:
        file.write_bytes(source[:start] + new.encode() + source[end:])
        # no two have one time: Python takes no compiled file for another
        os.utime(file, (number + 1, number + 1))
        return any(map(fails, stages(path)))
    finally:
        file.write_bytes(source)


def prepared_clone(folder):
    """Return a folder with a clone of the last commit, this process's folder from now on, and the commit."""
    root = Path(__file__).resolve().parent.parent
    clone = folder or Path(tempfile.mkdtemp(prefix="mutants-"))
    if not (clone / ".git").exists():
        subprocess.run(["git", "clone", "--quiet", root, clone], check=True)
    os.chdir(clone)
    # a clone made before may hold an older commit, or the mutant at which a run was stopped
    subprocess.run(["git", "fetch", "--quiet", root, "HEAD"], check=True)
    subprocess.run(["git", "reset", "--quiet", "--hard", "FETCH_HEAD"], check=True)
    sys.path[0] = str(clone.resolve())
    for name in LIBRARIES.split():
        importlib.import_module(name)
    if fails([], output=sys.stderr.fileno()):
        sys.exit("a test fails without any mutant")
    return subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()


def main():
    """Sample mutants, try them, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--number", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clone", type=Path, help="a folder for the clone, or a clone made before")
    options = parser.parse_args()
    results = options.results.resolve()
    commit = prepared_clone(options.clone)
    lines = results.read_text().splitlines() if results.exists() else []
    done = [row for row in map(json.loads, lines) if row["commit"] == commit]
    known = [row["mutant"] for row in done]
    every = [mutant for folder in FOLDERS for mutant in mutants(folder)]
    for number, mutant in enumerate(random.Random(options.seed).sample(every, options.number)):
        if list(mutant) in known:
            continue
        path, line, start, end, old, new = mutant
        killed = is_killed(number, path, start, end, new)
        row = {"commit": commit, "mutant": list(mutant), "killed": killed}
        done.append(row)
        with results.open("a") as file:
            print(json.dumps(row, ensure_ascii=False), file=file)
        fate = "killed" if killed else "ALIVE"
        print(f"{number} {path}:{line} `{old}` -> `{new}`: {fate}", flush=True)
    print(f"{len(every)} places of {commit}\n| folder | mutants | killed |\n|---|---|---|")
    for folder in FOLDERS:
        rows = [row for row in done if Path(row["mutant"][0]).parent == Path(PACKAGE, folder)]
        print(f"| {folder or PACKAGE} | {len(rows)} | {sum(row['killed'] for row in rows)} |")


if __name__ == "__main__":
    main()
