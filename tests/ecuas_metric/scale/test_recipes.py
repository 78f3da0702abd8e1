import os
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric.scale import checked_options, read_collection, score_files
from tests.conftest import ROOT
from tests.ecuas_metric.scale.parts import of_each

PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"```python\n(?!>>>)(.*?)```", PAGE, flags=re.DOTALL)
TAKES_LONG = ("import datasets", "from datasets")
STARTS_PROCESSES = ("ProcessPoolExecutor", "import ray")
WRITES = """
from pathlib import Path
from ecuas_metric.scale import Collection, write_collection
if __name__ == "__main__":
    write_collection("states", Collection(states))
"""


def modules(recipe):
    return re.findall(r"^(?:import|from) (\w+)", recipe, flags=re.MULTILINE)


def recipes():
    for recipe in RECIPES:
        marks = (
            [pytest.mark.e2e]
            if any(word in recipe for word in (*STARTS_PROCESSES, *TAKES_LONG))
            else []
        )
        yield pytest.param(recipe, marks=marks, id="+".join(modules(recipe)))


@pytest.fixture
def expected(tmp_path, monkeypatch, rng):
    """Make files to score, and return the states of their systems."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    for i in range(3):
        q = rng.random(80).round(1)
        model = rng.permutation(np.repeat(["a", "b"], 40))
        table = pa.table(
            {"model": model, "confidence": q, "correct": (rng.random(80) < q).astype(np.int8)}
        )
        pq.write_table(table, f"logs/{i}.parquet")
    return of_each(score_files(["logs"], checked_options(n=1)).states)


@pytest.mark.long
@pytest.mark.parametrize("recipe", list(recipes()))
def test_recipes_give_the_same_states(recipe, expected, tmp_path):
    for name in modules(recipe):
        pytest.importorskip(name, reason=f"needs {name}")
    if any(word in recipe for word in STARTS_PROCESSES):
        (tmp_path / "recipe.py").write_text(recipe + WRITES)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        subprocess.run(
            [sys.executable, "recipe.py"], cwd=tmp_path, env=environment, check=True, timeout=120
        )
        states = read_collection("states").states
    else:
        names = {"__name__": "__main__"}
        exec(compile(recipe, "docs/scale.md", "exec"), names)
        if "results" in names:  # the numbers of states
            assert names["results"].keys() == expected.keys()
            return
        states = names["states"]
    assert of_each(states) == expected
