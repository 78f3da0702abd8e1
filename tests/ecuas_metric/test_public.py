import ast
import doctest
import inspect
import json
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import ecuas_metric
from tests.conftest import ROOT

PUBLIC = [name for name in ecuas_metric.__all__ if name != "__version__"]
HEAVY = (
    "datasets",
    "evaluate",
    "gradio",
    "matplotlib",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "sklearn",
    "torch",
)


def test_type_checkers_see_the_same_names():
    """They read the imports that do not run."""
    tree = ast.parse(inspect.getsource(ecuas_metric))
    block = next(
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert {
        alias.asname: node.module for node in imports for alias in node.names
    } == ecuas_metric._MODULES
    assert [ast.unparse(node) for node in block.body if node not in imports] == ["__version__: str"]
    assert (ROOT / "ecuas_metric" / "py.typed").exists()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(
        AttributeError, match=r"^module 'ecuas_metric' has no attribute 'ecuas_scores'$"
    ):
        _ = ecuas_metric.ecuas_scores


SCORE = "from ecuas_metric import ecuas_score, score_posteriors, fit_affine, ecuas_cost"
COMMANDS = """from ecuas_metric.reporting.cli import main
for arguments in (["--help"], ["--version"]):
    try: main(arguments)
    except SystemExit: pass"""
COMPARE = """from ecuas_metric.reporting.cli import main
files = ["a.parquet", "b.csv", "c.jsonl"]
assert main(["score", *files]) == main(["compare", *files]) == 0"""


@pytest.mark.e2e
@pytest.mark.parametrize(
    "code, loaded",
    [
        ("import ecuas_metric, triviaqa_subset; dir(ecuas_metric); dir(triviaqa_subset)", []),
        (COMMANDS, []),
        (
            f"{SCORE}; ecuas_score([0, 1], [0.1, 0.8]); score_posteriors([0, 1], [0.1, 0.8])",
            ["numpy"],
        ),
        (COMPARE, ["numpy", "pyarrow", "scipy"]),
    ],
    ids=["packages", "command", "arrays", "files"],
)
def test_no_library_is_imported_before_it_is_needed(code, loaded, tmp_path, offline):
    ids = [f"question {number}" for number in range(9)]
    numbers = np.arange(9)
    table = pa.table({"id": ids, "confidence": numbers / 9, "correct": numbers % 2, "answer": ids})
    pq.write_table(table, tmp_path / "a.parquet")
    csv.write_csv(table, tmp_path / "b.csv")
    (tmp_path / "c.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    known = {*HEAVY, "huggingface_hub", "tqdm", "transformers"}
    call = [
        sys.executable,
        "-c",
        f"{code}\nimport sys\nprint()\nprint(*sorted({known} & set(sys.modules)))",
    ]
    ran = subprocess.run(
        call, cwd=tmp_path, env=offline, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1].split() == loaded


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_documented_with_an_example(name):
    """Which pytest runs as a doctest of its module."""
    thing = getattr(ecuas_metric, name)
    assert doctest.DocTestParser().get_examples(inspect.getdoc(thing))
    before, *rest = re.split(r"(?m)^([A-Z]\w+)\n-{3,}\n", inspect.getdoc(thing))
    assert before.split("\n")[0].endswith(".")
    if inspect.isfunction(thing):
        sections = dict(zip(rest[::2], rest[1::2], strict=True))
        assert {"Parameters", "Returns", "Raises", "Examples"} <= set(sections)
        named = re.findall(r"(?m)^(\**\w+(?:, \w+)*)", sections["Parameters"])
        named = [part.lstrip("*") for names in named for part in names.split(", ")]
        assert named == list(inspect.signature(thing).parameters)


def test_the_reference_page_shows_all_names():
    page = (ROOT / "docs/reference.md").read_text()
    shown = re.findall(r"(?m)^   (\w+)$", page)
    assert shown == list(ecuas_metric._MODULES)
