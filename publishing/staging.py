"""What goes to the Hub: the files of each part, gathered in a folder, named for their namespace, and checked."""

import ast
import errno
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version as installed
from pathlib import Path

import pyarrow.parquet as pq
from huggingface_hub import get_token

from triviaqa_subset.folders import dataset_folder

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "ecuas_metric" / "ecuas.py"
DATA = ROOT / "triviaqa_subset"
NAMESPACE = "<namespace>"
START = 'from space.app import demo, launch\n\nif __name__ == "__main__":\n    launch()\n'
# what a page without a program does not have
STATIC_FIELDS = r"^(sdk_version|python_version|app_file): .*\n"
FROM_A_CLONE = {
    r"  # in a clone; from the Hub: .*": "",
    r'(?<=evaluate\.load\(")ecuas_metric/ecuas\.py(?=")': f"{NAMESPACE}/ecuas",
    r'(?<=load_dataset\(")triviaqa_subset(?=")': f"{NAMESPACE}/triviaqa-curated",
}
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
STRAY = r"(^|/)(__pycache__|\.[^/]*|tests?|test_[^/]*|[^/]*_test\.py|conftest\.py)(/|$)|\.(pyc|lock|tmp|log)$"
FORBIDDEN = {
    "a secret": r"hf_[A-Za-z0-9]{30,}|sk-[\w-]{32,}|gh[pousr]_[A-Za-z0-9]{36}|AKIA[0-9A-Z]{16}|PRIVATE KEY-----",
    "a path of this machine": r"(?<![\w./:-])/(?:home|Users|root)/\w|[A-Z]:\\Users\\",
}
LOAD = {
    "dataset": """
import datasets, os
for name in datasets.get_dataset_config_names(os.getcwd()):
    datasets.load_dataset(os.getcwd(), name)
""",
    "metric": """
import sys
sys.modules["transformers"] = None  # Evaluate would import it, seconds long
import evaluate
assert evaluate.load("./ecuas.py").compute(predictions=[0.5], references=[1], n=1)["ecuas_1"] == 0.25
del sys.modules["transformers"]
""",
    "space": """
import app
from space.answers import require_whole
require_whole()
""",
}
OFFLINE = (
    "HF_HUB_OFFLINE",
    "HF_DATASETS_OFFLINE",
    "HF_EVALUATE_OFFLINE",
    "PYTHONDONTWRITEBYTECODE",
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the project, its repository, and the function that copies its files into a folder."""

    name: str
    repo_type: str
    repo_name: str
    gather: Callable[[Path], None]
    sdk: str | None = None


def imported(script: Path) -> list[str]:
    """Return the names of the files that a script imports from beside it, as Evaluate will look for them."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    return [
        f"{node.module}.py"
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level == 1
    ]


def stage(part: Part, out: Path, namespace: str) -> None:
    """Copy a part's files into the new folder `out`, with the names they have on the Hub."""
    out.mkdir(parents=True)
    part.gather(out)
    shutil.copy(ROOT / "LICENSE", out)
    if part.sdk:
        shutil.copy(Path(__file__).with_name("thumbnail.png"), out)
    for path in sorted(out.rglob("*")):
        if path.suffix in (".md", ".py", ".html"):
            # The demo has the folders of the clone beside it, but not the visitors whom its usage.md tells how.
            is_elsewhere = part.name != "space" or path.name == "usage.md"
            text = path.read_text(encoding="utf-8")
            for pattern, there in FROM_A_CLONE.items() if is_elsewhere else ():
                text = re.sub(pattern, there, text)
            # Evaluate's own have bare names.
            text = text.replace(NAMESPACE, namespace).replace('load("evaluate-metric/', 'load("')
            path.write_text(text, encoding="utf-8")


def _gather_metric(
    out: Path,
    program: Sequence[str] = ("app.py", "requirements.txt"),
) -> None:
    for name in (SCRIPT.name, *imported(SCRIPT), "README.md", *program):
        shutil.copy(SCRIPT.parent / name, out)


def _gather_static_metric(out: Path) -> None:
    _gather_metric(out, program=())
    card = re.sub(
        STATIC_FIELDS,
        "",
        (out / "README.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    (out / "README.md").write_text(
        card.replace("\nsdk: gradio\n", "\nsdk: static\n", 1), encoding="utf-8"
    )
    shutil.copyfile(Path(__file__).with_name("static.html"), out / "index.html")


def _gather_dataset(out: Path) -> None:
    """Copy the dataset with text if it was built, else the committed one without."""
    folder = dataset_folder()
    shutil.copytree(folder / "data", out / "data", ignore=LEFT_OUT, dirs_exist_ok=True)
    shutil.copy(folder / "README.md", out)


def _gather_space(out: Path) -> None:
    for folder in (ROOT / "space", SCRIPT.parent, DATA):
        shutil.copytree(folder, out / folder.name, ignore=LEFT_OUT)
    for name in ("README.md", "requirements.txt"):  # where the Hub looks for them
        (out / "space" / name).rename(out / name)
    (out / "app.py").write_text(START, encoding="utf-8")
    (out / "docs").mkdir(exist_ok=True)
    # the card links to it there
    shutil.copyfile(ROOT / "docs" / "dataset.md", out / "docs" / "dataset.md")
    _gather_dataset(out / DATA.name)


PARTS = {  # first what any account can create; each part stands alone
    "dataset": Part("dataset", "dataset", "triviaqa-curated", _gather_dataset),
    "metric": Part("metric", "space", "ecuas", _gather_metric, sdk="gradio"),
    "space": Part("space", "space", "ecuas-demo", _gather_space, sdk="gradio"),
}
STATIC_METRIC = replace(PARTS["metric"], gather=_gather_static_metric, sdk="static")


def check(part: Part, stage: Path, version: str) -> None:
    """Raise a ValueError of the first rule that does not hold of a staged part, with the file and what to do."""
    # Evaluate asks for the tag of its own version before it asks for `main`
    if version == installed("evaluate"):
        raise ValueError(
            f"the version must not be Evaluate's own, {version}: its users would never see a later one."
        )
    check_files(stage)
    if part.name == "dataset":
        check_tables(stage)
    check_loads(part, stage)


def check_files(stage: Path) -> None:
    """Refuse stray files, and those with a secret, a path of this machine or an unfilled name."""
    of_this_machine = {"the path of this project": str(ROOT), "an unfilled name": NAMESPACE}
    if token := get_token():
        of_this_machine["the token in use"] = token
    forbidden = {what: re.escape(text) for what, text in of_this_machine.items()} | FORBIDDEN
    for path in sorted(path for path in stage.rglob("*") if not path.is_dir()):
        name = path.relative_to(stage).as_posix()
        if re.search(STRAY, name):
            raise ValueError(
                f"caches, tests and hidden files must not be sent; got {name}. Remove it."
            )
        content = path.read_bytes()
        for what, pattern in forbidden.items():
            passage = re.search(pattern.encode(), content)
            if passage:
                line = content.count(b"\n", 0, passage.start()) + 1
                raise ValueError(
                    f"files must not hold {what}; {name} does, in line {line}. Remove it."
                )


def check_tables(stage: Path) -> None:
    """Refuse tables that differ from the committed ones, such as those of an older build."""
    for path in sorted((DATA / "data").glob("*.parquet")):
        file = stage / "data" / path.name
        ours = pq.read_table(path)
        staged = pq.read_table(file) if file.exists() else ours.slice(0, 0)
        columns = [name for name in ours.column_names if name in staged.column_names]
        if not staged.select(columns).equals(ours):
            raise ValueError(
                f"{path.name} is not that of triviaqa_subset/data: run `python -m triviaqa_subset.build`."
            )


def check_loads(part: Part, stage: Path) -> None:
    """Load the part from its staged files alone, in a process of its own without network or cache."""
    code = LOAD.get(part.name, "")
    if part.sdk == "gradio":
        code += "import app"
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PYTHON"))
    }
    env |= dict.fromkeys(OFFLINE, "1") | {"GRADIO_ANALYTICS_ENABLED": "False"}
    with tempfile.TemporaryDirectory() as cache:
        env["HF_HOME"] = cache
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=stage,
            env=env,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        reason = lines[-1] if lines else f"exit code {done.returncode}"
        if os.strerror(errno.ENOSPC) in reason:  # not the part's fault
            raise OSError(
                f"no space left in {tempfile.gettempdir()} to check the staged {part.name}: set TMPDIR."
            )
        raise ValueError(
            f"the staged {part.name} does not run, with what `make publish` installs: {reason}"
        )
