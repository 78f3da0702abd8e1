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
from docs import options
from tests.conftest import ROOT

PUBLIC = [name for name in ecuas_metric.__all__ if name != "__version__"]
FUNCTIONS = [name for name in PUBLIC if inspect.isfunction(getattr(ecuas_metric, name))]
HEAVY = ("datasets", "evaluate", "gradio", "matplotlib", "numpy", "pandas", "pyarrow", "scipy", "sklearn", "torch")


def run(code):
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_type_checkers_see_the_same_names():
    """They read the imports that do not run."""
    tree = ast.parse(inspect.getsource(ecuas_metric))
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert {alias.asname: node.module for node in imports for alias in node.names} == ecuas_metric._MODULES
    assert [ast.unparse(node) for node in block.body if node not in imports] == ["__version__: str"]
    assert (ROOT / "ecuas_metric" / "py.typed").exists()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"^module 'ecuas_metric' has no attribute 'ecuas_scores'$"):
        _ = ecuas_metric.ecuas_scores
    with pytest.raises(ImportError, match="cannot import name 'ecuas_scores'"):
        from ecuas_metric import ecuas_scores  # noqa: F401


def loaded_by(code, *more):
    """Return which large libraries a process has imported after some code."""
    known = {*HEAVY, *more}
    return run(f"import sys\n{code}\nprint()\nprint(*sorted({known} & set(sys.modules)))").splitlines()[-1].split()


@pytest.mark.e2e
@pytest.mark.parametrize("package", ["ecuas_metric", "triviaqa_subset"])
def test_importing_a_package_imports_no_library(package):
    assert loaded_by(f"import {package}; dir({package})", "huggingface_hub", "tqdm", "transformers") == []


@pytest.mark.e2e
def test_scoring_arrays_imports_numpy_only():
    score = "from ecuas_metric import ecuas_score, score_posteriors, fit_affine, ecuas_cost; "
    assert loaded_by(score + "ecuas_score([0, 1], [0.1, 0.8]); score_posteriors([0, 1], [0.1, 0.8])") == ["numpy"]


@pytest.mark.e2e
def test_scoring_and_comparing_files_imports_no_pandas_and_no_scipy(tmp_path):
    table = pa.table({"id": range(9), "confidence": np.arange(9) / 9, "correct": np.arange(9) % 2})
    pq.write_table(table, tmp_path / "a.parquet")
    csv.write_csv(table, tmp_path / "b.csv")
    (tmp_path / "c.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    files = sorted(map(str, tmp_path.iterdir()))
    command = f'assert main(["score", *{files}]) == main(["compare", *{files}, "--resamples", "20"]) == 0'
    assert loaded_by(f"from ecuas_metric.reporting.cli import main\n{command}") == ["numpy", "pyarrow"]


@pytest.mark.e2e
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["score", "a.csv", "--colums", "x"]])
def test_the_command_starts_without_what_is_large(arguments):
    code = f"from ecuas_metric.reporting.cli import main\ntry: main({arguments})\nexcept SystemExit: pass"
    assert loaded_by(code) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_is_documented(name):
    function = getattr(ecuas_metric, name)
    before, *rest = re.split(r"^([A-Z]\w+)\n-{3,}\n", inspect.getdoc(function), flags=re.MULTILINE)
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    for section in ("Parameters", "Returns", "Raises", "Examples"):
        assert section in sections, section
    named = re.findall(r"^(\**\w+(?:, \w+)*)", sections["Parameters"], flags=re.MULTILINE)
    named = [part.lstrip("*") for names in named for part in names.split(", ")]
    assert named == list(inspect.signature(function).parameters)
    summary = before.split("\n")[0]
    assert summary.endswith(".")


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example(name):
    """Which pytest runs as a doctest of its module."""
    assert doctest.DocTestParser().get_examples(inspect.getdoc(getattr(ecuas_metric, name)))


def test_the_reference_page_shows_all_names():
    page = (ROOT / "docs/reference.md").read_text()
    shown = re.findall(r"^\.\. auto(?:function|class):: (\w+)", page, flags=re.MULTILINE)
    assert shown == list(ecuas_metric._MODULES)


def test_the_cards_table_of_options_is_up_to_date():
    """If not: make reference."""
    assert (ROOT / "ecuas_metric/README.md").read_text() == options.card()
