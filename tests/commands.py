"""Run every command that the pages and the Makefile print: each in a fresh copy of the work tree, with an empty HOME
and an environment that holds what the text asked for, by default `pip install .`.

The line above a block of shell may be `<!-- run after: COMMAND -->`, what the text says to do before, or
`<!-- not run: REASON -->`. Files that the commands speak of as the reader's own are made here.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from tests.conftest import COMMIT

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).with_name("uv")
PAGES = ["README.md", "CONTRIBUTING.md", "*/README.md", "space/usage.md", "docs/*.md"]
BLOCK = re.compile(
    r"(?s)(?:<!-- (not run|run after): (.*?) -->\n)?```(?:sh|bash|console)\n(.*?)```"
)
TARGETS = {  # what a target needs, or why it is not run
    "space": ("timeout 30 make space || [ $? = 124 ]", ""),  # serves until it is stopped
    "reproduce": ("make reproduce SCORES=scores", ""),
    "publish": ("make publish NAMESPACE=NAME FLAGS=--dry-run", ""),
    "test-integrations": ("", "a step of `make nightly`"),
    "nightly": ("", "takes hours"),
    "check-croissant": ("", "a step of `make nightly`"),
    "test-slow": ("", "a step of `make nightly`"),
    "reference": ("", "the tests of the pages compare each with what it writes"),
    "bench": ("", "takes an hour"),
    "lock": ("", "asks the index for the newest versions of everything"),
    "lock-elicitation": ("", "asks the index for the newest versions of everything"),
}
# what .ci/run makes itself
STEPS = re.findall(r"(?m)^step make (?:PYTHON=\S+ )?([a-z-]+)", (ROOT / ".ci" / "run").read_text())


class Command(NamedTuple):
    """Lines of shell, where they stand, and why they are not run."""

    where: str
    script: str
    not_run: str = ""


def of_pages():
    """Return the blocks of shell of all pages."""
    found = []
    for page in sorted({path for pattern in PAGES for path in ROOT.glob(pattern)}):
        text = page.read_text("utf-8")
        for block in BLOCK.finditer(text):
            kind, remark, body = block.groups()
            shown = re.findall(r"(?m)^\$ (.*)", body)  # the rest is what they print
            where = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, block.start(3)) + 1}"
            before = f"{remark}\n" if kind == "run after" else ""
            script = re.sub(
                rf"(?m)^make ({'|'.join(STEPS)})( +#.*)?\n", "", "\n".join(shown) or body
            )
            not_run = remark if kind == "not run" else "" if script else "steps of .ci/run"
            found.append(Command(where, before + script, not_run))
    return found


def of_makefile():
    """Return the targets that `make help` lists, but for those that a block of a page or .ci/run makes."""
    made = {*STEPS}
    for command in of_pages():
        made |= {*re.findall(r"^make ([a-z-]+)", command.script, re.MULTILINE)}
    names = re.findall(r"(?m)^([a-z-]+):.*##", (ROOT / "Makefile").read_text())
    return [
        Command(f"make {name}", *TARGETS.get(name, (f"make {name}", "")))
        for name in names
        if name not in made
    ]


def write_files(folder):
    """Write what the commands speak of: CSV files, logs of two models, and scores of a system of the paper."""
    rng = np.random.default_rng(0)
    q = rng.random(400)
    table = pd.DataFrame(
        {"id": np.arange(400) // 2, "confidence": q, "correct": (rng.random(400) < q).astype(int)}
    )
    for i, name in enumerate(("mine", "second", "first")):
        table[i % 2 :: 2].to_csv(folder / f"{name}.csv", index=False)
    (folder / "logs").mkdir()
    for year in (2025, 2026):
        table.assign(model=np.tile(["one", "two"], 200)).to_parquet(
            folder / "logs" / f"{year}-01.parquet"
        )
    (folder / "scores").mkdir()
    np.savez(
        folder / "scores" / "cifar10_vgg19_bn.npz",
        scores=rng.normal(size=(60, 4)),
        targets=np.arange(60) % 4,
    )


def run(command):
    """Run one command; return what it printed if it failed, else nothing."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="commands-") as scratch:
        copy, home, env = (Path(scratch, name) for name in ("ecuas", "home", "env"))
        home.mkdir()
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.check_output(listed, cwd=ROOT, text=True).split("\0"):
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
        write_files(copy)
        subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, env], check=True)
        (env / "bin" / "pip").write_text(f'#!/bin/sh\nexec {UV} pip "$@" --quiet\n')
        (env / "bin" / "pip").chmod(0o755)
        script = command.script
        if not re.search(r"(?m)^(make|pip)\b", script):
            script = f"pip install .\n{script}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"git init -q\ngit add --all\ngit {COMMIT}\n{script}"],
            cwd=copy, env=environment(home, env, ROOT), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
    print(
        f"{'failed' if done.returncode else 'ok':6}  {time.monotonic() - start:4.0f} s  {command.where}",
        flush=True,
    )
    return f"--- {command.where}\n{done.stdout}" if done.returncode else ""


def environment(home, env, root):
    """Return the variables of a newcomer's shell, with the caches of this machine; pytest only collects tests."""
    kept = {
        name: os.environ[name]
        for name in os.environ
        if name.startswith(("LANG", "LC_", "PIP_", "UV_", "SSL_"))
    }
    uv_cache = subprocess.check_output([UV, "cache", "dir"], text=True).strip()
    kept |= {"UV_CACHE_DIR": uv_cache, "UV_CONSTRAINT": str(root / "requirements-dev.txt")}
    kept.setdefault("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip"))
    kept |= {
        "PATH": f"{env / 'bin'}:{os.environ['PATH']}",
        "VIRTUAL_ENV": str(env),
        "HOME": str(home),
    }
    return kept | {"PYTEST_ADDOPTS": "--collect-only -q", "HF_HUB_OFFLINE": "1"}


def main():
    """Run the commands whose place holds the argument; 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.commands", description=__doc__)
    parser.add_argument(
        "where", nargs="?", default="", help="part of a page's name, or a target (default: all)"
    )
    where = parser.parse_args().where
    commands = [command for command in (*of_pages(), *of_makefile()) if where in command.where]
    for command in commands:
        if command.not_run:
            print(f"not run         {command.where}: {command.not_run}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [said for said in pool.map(run, [c for c in commands if not c.not_run]) if said]
    print(*failures, sep="\n")
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main())
