import ast
import functools
import re
import tomllib
from collections import defaultdict
from graphlib import TopologicalSorter

import pytest

from publishing.staging import SCRIPT, imported
from tests.conftest import ROOT

METRIC, DATASET = ROOT / "ecuas_metric", ROOT / "triviaqa_subset"
SHIPPED = {SCRIPT.name, *imported(SCRIPT)}  # what Evaluate's loader copies
BESIDE = {"__init__.py", "api.py", "app.py"}
PACKAGES = ("ecuas_metric", "triviaqa_subset", "space", "publishing", "examples", "benchmarks")
MAY_IMPORT = {  # besides itself
    "ecuas_metric": set(),
    "triviaqa_subset": set(),
    "space": {"ecuas_metric", "triviaqa_subset"},
    "publishing": {"ecuas_metric", "triviaqa_subset"},
    "examples": {"ecuas_metric", "triviaqa_subset"},
    "benchmarks": {"ecuas_metric", "triviaqa_subset"},
}
FOLDERS = {  # of the metric: what each may import besides itself and the top level
    "recalibration": set(),
    "plotting": set(),
    "files": set(),
    "comparison": {"files"},
    "scale": {"files", "comparison", "plotting"},
    "reporting": {"files", "comparison", "plotting", "recalibration", "scale"},
    "integrations": {"files", "scale"},
}


@functools.cache
def parsed(file):
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def modules(package):
    """Return the modules of a package by their dotted names."""
    paths = {path.relative_to(ROOT).with_suffix(""): path for path in (ROOT / package).rglob("*.py")}
    return {".".join(part for part in path.parts if part != "__init__"): file for path, file in paths.items()}


def imports(name, file, known):
    """Return what a module imports of the `known` ones, wherever in the file it does."""
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            source = ".".join([*parents, *(node.module or "").split(".")]).strip(".")
            found |= {f"{source}.{alias.name}" for alias in node.names} | {source}
    return {name for name in found if name in known}


@pytest.fixture(scope="module")
def graph():
    """Return the modules that each module imports."""
    known = {name: file for package in PACKAGES for name, file in modules(package).items()}
    return {name: imports(name, file, known) - {name} for name, file in known.items()}


def test_no_import_comes_back_to_where_it_began(graph):
    """The front of a package may name what lies behind it: those imports are lazy, or of a constant."""
    fronts = {name for package in PACKAGES for name, file in modules(package).items() if file.stem == "__init__"}
    inner = {name: targets - fronts for name, targets in graph.items() if name not in fronts}
    TopologicalSorter(inner).prepare()  # raises CycleError, which names the circle


def test_packages_import_only_what_lies_below_them(graph):
    for name, targets in graph.items():
        package = name.split(".")[0]
        others = {target.split(".")[0] for target in targets} - {package}
        assert others <= MAY_IMPORT[package], name


def test_folders_of_the_metric_import_in_one_direction(graph):
    for name, targets in graph.items():
        _, *parts = name.split(".")
        if not name.startswith("ecuas_metric."):
            continue
        folder = parts[0] if parts[0] in FOLDERS else ""
        found = {target.split(".")[1] for target in targets if target.count(".") > 1} & set(FOLDERS)
        assert found <= FOLDERS.get(folder, set()) | {folder}, name


def test_what_the_loader_copies_imports_nothing_that_it_does_not_copy(graph):
    core = {f"ecuas_metric.{name.removesuffix('.py')}" for name in SHIPPED}
    assert len(core) > 10
    for name in core:
        assert graph[name] <= core | {"ecuas_metric"}, name


@pytest.mark.parametrize("package", ["ecuas_metric", "triviaqa_subset", "space", "publishing"])
def test_no_public_name_is_defined_twice_in_a_package(package):
    """What stands in two modules under one name is one idea with two homes, or two ideas that a reader confuses."""
    homes = defaultdict(set)
    for module, file in modules(package).items():
        for node in parsed(file).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = [node.name] if hasattr(node, "name") else [target.id for target in targets if hasattr(target, "id")]
            for name in names:
                homes[name].add(module)
    assert not {name: found for name, found in homes.items() if len(found) > 1 and not name.startswith("_")}


def test_a_folder_has_at_most_twelve_modules():
    """The top level of the metric is flat because Evaluate's loader copies siblings only."""
    for folder in {path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")} - {METRIC}:
        assert len([path for path in folder.glob("*.py") if path.stem != "__init__"]) <= 12, folder


def test_the_dataset_does_not_know_the_runner_of_language_models(graph):
    for name, targets in graph.items():
        if name.startswith("triviaqa_subset.") and not name.startswith("triviaqa_subset.elicitation"):
            assert not [target for target in targets if target.startswith("triviaqa_subset.elicitation")], name


def test_the_top_level_of_the_metric_is_what_the_loader_copies_and_three_other_files():
    assert {path.name for path in METRIC.glob("*.py")} == SHIPPED | BESIDE
    assert not SHIPPED & BESIDE


def test_every_folder_of_modules_is_a_package_that_is_installed():
    for path in (*METRIC.rglob("*.py"), *DATASET.rglob("*.py")):
        assert (path.parent / "__init__.py").is_file(), path


def imported_at_once(text):
    """Return what the top of a file imports, with the packages that lie around it."""
    names = set()
    for node in ast.parse(text).body:
        source = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            parts = f"{source}{alias.name}".split(".")
            names |= {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return names


def test_what_takes_seconds_to_import_is_imported_by_the_tests_that_use_it():
    """At the top of a file it would be imported by every process that runs tests, whichever they are."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    without = {ROOT / path for path in re.findall(r"--ignore=(\S+)", options["addopts"])}
    assert all(">>>" not in file.read_text(encoding="utf-8") for file in without)
    slow = {".".join(file.relative_to(ROOT).with_suffix("").parts) for file in without}
    slow |= {"gradio", "torch", "transformers", "playwright", "mcp"}
    at_start = re.compile(rf"^(from|import) [^\n]*\b({'|'.join(name.split('.')[-1] for name in slow)})\b", re.MULTILINE)
    for file in {file for folder in options["testpaths"] for file in (ROOT / folder).rglob("*.py")} - without:
        if at_start.search(text := file.read_text(encoding="utf-8")):
            assert not imported_at_once(text) & slow, file


@pytest.mark.parametrize("page", ["ecuas_metric", "space"])
def test_a_page_on_the_hub_asks_for_what_the_package_asks_for(page):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    known = {line for lines in (project["dependencies"], *project["optional-dependencies"].values()) for line in lines}
    assert set((ROOT / page / "requirements.txt").read_text().split()) <= known


def test_the_lock_holds_everything_that_is_asked_for_and_no_address():
    """Versions only: `make lock` renews it, and pip reads it as constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {line for lines in (project["dependencies"], *project["optional-dependencies"].values()) for line in lines}
    names = {re.match(r"[\w-]+", line)[0].lower().replace("_", "-") for line in asked} - {project["name"]}
    locks = ("requirements-dev.txt", "requirements-elicitation.txt")
    lines = [line for lock in locks for line in (ROOT / lock).read_text().splitlines()]
    locked = [line for line in lines if not line.startswith("#")]
    assert all(re.match(r"[a-z0-9-]+==[\w.]+( ;|$)", line) for line in locked)
    assert names <= {line.partition("==")[0] for line in locked}
    assert "://" not in "".join(lines)
