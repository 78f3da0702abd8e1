import ast
import re
import tomllib
from collections import defaultdict

import pytest
from importlinter.cli import lint_imports

from publishing.staging import SCRIPT, imported
from tests.conftest import ROOT, parsed

METRIC, DATASET = ROOT / "ecuas_metric", ROOT / "triviaqa_subset"
SHIPPED = {SCRIPT.name, *imported(SCRIPT)}  # what Evaluate's loader copies
BESIDE = {
    "__init__.py",
    "api.py",
    "app.py",
    "rejection.py",
    "summary.py",
}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
ASKED = {
    line
    for lines in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for line in lines
}
PACKAGES = PYPROJECT["tool"]["importlinter"]["root_packages"]


def test_imports_go_in_one_direction():
    """Of the packages, and of the folders in them: the contracts stand in pyproject.toml."""
    assert lint_imports(no_cache=True) == 0


@pytest.mark.parametrize("package", ["ecuas_metric", "triviaqa_subset", "space", "publishing"])
def test_no_public_name_is_defined_twice_in_a_package(package):
    """What stands in two modules under one name is one idea with two homes, or two ideas that a reader confuses."""
    homes = defaultdict(set)
    for file in (ROOT / package).rglob("*.py"):
        for node in parsed(file).body:
            targets = (
                node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            )
            names = (
                [node.name]
                if hasattr(node, "name")
                else [target.id for target in targets if hasattr(target, "id")]
            )
            for name in names:
                homes[name].add(file)
    assert not {
        name: found for name, found in homes.items() if len(found) > 1 and not name.startswith("_")
    }


def test_a_folder_has_at_most_twelve_modules():
    """The top level of the metric is flat because Evaluate's loader copies siblings only."""
    for folder in {
        path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")
    } - {METRIC}:
        assert len([path for path in folder.glob("*.py") if path.stem != "__init__"]) <= 12, folder


def test_the_top_level_of_the_metric_is_what_the_loader_copies_and_what_arrays_and_pages_need():
    assert {path.name for path in METRIC.glob("*.py")} == SHIPPED | BESIDE
    assert not SHIPPED & BESIDE


def test_every_folder_of_modules_is_a_package_that_is_installed():
    for path in (*METRIC.rglob("*.py"), *DATASET.rglob("*.py")):
        assert (path.parent / "__init__.py").is_file(), path


def test_no_pattern_forbids_its_engine_to_back_up():
    """Possessive quantifiers and atomic groups match other text in Python 3.11.2 than in later versions."""
    for folder in (*PACKAGES, "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            assert not re.search(r"[+?*}][+]|[(][?]>", path.read_text("utf-8")), path


@pytest.mark.parametrize("page", ["ecuas_metric", "space"])
def test_a_page_on_the_hub_asks_for_what_the_package_asks_for(page):
    assert set((ROOT / page / "requirements.txt").read_text().split()) <= ASKED


LOCKS = (
    "requirements-dev.txt",
    "requirements-elicitation.txt",
    "publishing/metric.txt",
    "publishing/space.txt",
)


@pytest.mark.parametrize(("page", "lock"), [("ecuas_metric", "metric"), ("space", "space")])
def test_a_page_on_the_hub_installs_the_versions_that_it_is_tested_with(page, lock):
    asked = (ROOT / page / "requirements.txt").read_text().split()
    locked = set((ROOT / "publishing" / f"{lock}.txt").read_text().splitlines()[2:])
    assert {re.match(r"[\w-]+", line)[0] for line in asked} <= {
        line.partition("==")[0] for line in locked
    }
    tested = (ROOT / "requirements-dev.txt").read_text().splitlines()
    assert {line.partition(" ;")[0] for line in locked} <= {
        line.partition(" ;")[0] for line in tested
    }


def test_the_lock_holds_everything_that_is_asked_for_and_no_address():
    """Versions only: `make lock` renews it, and pip reads it as constraints."""
    names = {re.match(r"[\w-]+", line)[0].lower().replace("_", "-") for line in ASKED} - {
        PROJECT["name"]
    }
    lines = [line for lock in LOCKS for line in (ROOT / lock).read_text().splitlines()]
    locked = [line for line in lines if not line.startswith("#")]
    assert all(re.match(r"[a-z0-9-]+==[\w.]+( ;|$)", line) for line in locked)
    assert names <= {line.partition("==")[0] for line in locked}
    assert "://" not in "".join(lines)
