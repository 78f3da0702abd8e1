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

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SCRIPT = ROOT / "ecuas_metric" / "ecuas.py"
DATA = ROOT / "triviaqa_subset"
NAMESPACE = "<namespace>"
COMMITTED = "only what is committed is published"
START = 'from space.app import demo, launch\n\nif __name__ == "__main__":\n    launch()\n'
# what a page without a program does not have
STATIC_FIELDS = r"^(sdk_version|python_version|app_file): .*\n"
FROM_A_CLONE = {
    r"  # in a clone; from the Hub: .*": "",
    r'(?<=evaluate\.load\(")ecuas_metric/ecuas\.py(?=")': f"{NAMESPACE}/ecuas",
    r'(?<=load_dataset\(")triviaqa_subset(?=")': f"{NAMESPACE}/triviaqa-curated",
}
PATHS = r"(?<![\w./:-])/(?:home|Users|root)/\w|[A-Z]:\\Users\\"  # of people
TOKENS = r"\bhf_[A-Za-z0-9]{30,}"
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
    dataset: str | None = None  # where it has the dataset


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
    _copy(out, "LICENSE")
    if part.sdk:
        _copy(out, "thumbnail.png", below=HERE.name, source=HERE)
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


def committed(*places: str) -> list[str]:
    """Return the files of the project's last commit below some places; ValueError if a place has none."""
    files = _listed("ls-tree", "-r", "-z", "--name-only", "HEAD", "--", *places)
    for place in places:
        if not any(name == place or name.startswith(f"{place}/") for name in files):
            raise ValueError(
                f"{COMMITTED}: {place} is not. Publish from a clone, with all files committed."
            )
    return files


def _listed(*command: str) -> list[str]:
    """Return what a command of git lists of the project, between zeros."""
    # variables of git would name another index or repository
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    git = ["git", "-C", str(ROOT), *command]
    try:
        done = subprocess.run(git, capture_output=True, check=True, text=True, env=env)
    except FileNotFoundError:
        raise ValueError("git is not installed: what it tracks is what is published.") from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.split("\n")[0].removeprefix("fatal: ")
        raise ValueError(f"{COMMITTED}: {reason}. Publish from a clone.") from None
    return done.stdout.split("\0")[:-1]


def require_committed() -> None:
    """Raise ValueError if a file of the project is not as it was committed."""
    for name in _listed("diff", "--name-only", "-z", "HEAD"):
        raise ValueError(
            f"{COMMITTED}: {name} has changed since. Commit it, or take the change back."
        )


def _copy(
    out: Path,
    *places: str,
    below: str = "",
    source: Path = ROOT,
) -> None:
    """Copy what is committed at some places into a folder, without the folder of the project that it is `below`."""
    for name in committed(*(f"{below}/{place}" if below else place for place in places)):
        inner = Path(name).relative_to(below)
        if (source / inner).resolve() != source.resolve() / inner:
            raise ValueError(f"links must not be sent; got {name}. Put the file in its place.")
        (out / inner).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / inner, out / inner)


def _gather_metric(
    out: Path,
    program: Sequence[str] = ("app.py", "requirements.txt"),
) -> None:
    names = (SCRIPT.name, *imported(SCRIPT), "README.md", *program)
    _copy(out, *names, below=SCRIPT.parent.name, source=SCRIPT.parent)
    if program:
        _lock(out, "metric.txt")


def _lock(out: Path, name: str) -> None:
    """Let a Space install the versions that it was tested with, also when it is built again years later."""
    _copy(out, name, below=HERE.name, source=HERE)
    (out / name).replace(out / "requirements.txt")


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
    _copy(out, "static.html", below=HERE.name, source=HERE)
    (out / "static.html").rename(out / "index.html")


def _gather_dataset(out: Path) -> None:
    """Copy the dataset with text if it was built, else the committed one without: the same files."""
    _copy(out, "data", "README.md", below=DATA.name, source=dataset_folder())


def _gather_space(out: Path) -> None:
    # the card links to the page of the dataset
    _copy(out, "space", SCRIPT.parent.name, DATA.name, "docs/dataset.md")
    for name in ("README.md", "requirements.txt"):  # where the Hub looks for them
        (out / "space" / name).rename(out / name)
    _lock(out, "space.txt")
    (out / "app.py").write_text(START, encoding="utf-8")
    _gather_dataset(out / DATA.name)


PARTS = {  # first what any account can create; each part stands alone
    "dataset": Part("dataset", "dataset", "triviaqa-curated", _gather_dataset, dataset="."),
    "metric": Part("metric", "space", "ecuas", _gather_metric, sdk="gradio"),
    "space": Part("space", "space", "ecuas-demo", _gather_space, sdk="gradio", dataset=DATA.name),
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
    if part.dataset:
        check_tables(stage / part.dataset)
    check_loads(part, stage)


def check_files(stage: Path) -> None:
    """Refuse files with a token, a path of this machine or an unfilled name; what is committed may be read anyway."""
    forbidden = {
        "the path of this project": re.escape(str(ROOT)),
        "an unfilled name": re.escape(NAMESPACE),
        "a token": "|".join([TOKENS, *map(re.escape, filter(None, [get_token()]))]),
        "a path of this machine": PATHS,
    }
    for path in sorted(path for path in stage.rglob("*") if not path.is_dir()):
        content = path.read_bytes()
        for what, pattern in forbidden.items():
            passage = re.search(pattern.encode(), content)
            if passage:
                name = path.relative_to(stage).as_posix()
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
