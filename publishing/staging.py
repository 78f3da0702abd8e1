"""What goes to the Hub: the files of each part, gathered in a folder and named for their namespace."""

import ast
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from triviaqa_subset.folders import BUILT

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "ecuas_metric" / "ecuas.py"
DATA = ROOT / "triviaqa_subset"
NAMESPACE = "<namespace>"
START = """\
from space.app import LAUNCH, demo

if __name__ == "__main__":
    demo.launch(**LAUNCH)
"""
STATIC_FIELDS = r"^(sdk_version|python_version|app_file): .*\n"  # what a page without a program does not have
STATIC_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>ECUAS</title>
<body style="font: 18px/1.5 system-ui; max-width: 40em; margin: 2em auto; padding: 0 1em">
<h1>ECUAS_n</h1>
<p>The expected cost of a system that answers and says how sure it is.</p>
<pre>import evaluate
ecuas = evaluate.load("<namespace>/ecuas")
ecuas.compute(predictions=[0.9, 0.8, 0.4], references=[1, 0, 1], n=1)</pre>
<p><a href="https://huggingface.co/spaces/<namespace>/ecuas/blob/main/README.md">The card</a>,
<a href="https://huggingface.co/datasets/<namespace>/triviaqa-curated">the dataset</a>,
<a href="https://huggingface.co/spaces/<namespace>/ecuas-demo">the demo</a>,
<a href="https://arxiv.org/abs/2605.20490">the paper</a>.</p>
</body>
</html>
"""
THUMBNAIL = Path(__file__).with_name("thumbnail.png")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")


class Part(NamedTuple):
    """A part of the project and its repository on the Hub.

    Parameters
    ----------
    name : str
        What the command line calls it.
    repo_type, repo_name : str
        The Hub's type of the repository, and its name within the namespace.
    folder : Path
        Where it comes from.
    mark : str
        A file that our repository has and that another one of its name would not have.
    gather : callable
        Copies its files into a folder.
    sdk : str
        Of a Space: what it runs on.
    """

    name: str
    repo_type: str
    repo_name: str
    folder: Path
    mark: str
    gather: Callable[[Path], None]
    sdk: str = "gradio"


def imported(script: Path) -> list[str]:
    """Return the names of the files that a script imports from beside it, as Evaluate will look for them.

    >>> imported(SCRIPT)[0]
    'errors.py'
    """
    tree = ast.parse(script.read_text(encoding="utf-8"))
    return [f"{node.module}.py" for node in tree.body if isinstance(node, ast.ImportFrom) and node.level == 1]


def dataset_folder() -> Path:
    """Return the dataset with text if it was built, else the committed one without."""
    return BUILT if (BUILT / "data").is_dir() else DATA


def stage(part: Part, out: Path, namespace: str) -> None:
    """Copy a part's files into the folder `out`, with the names they have on the Hub.

    Parameters
    ----------
    part : Part
        What to copy.
    out : Path
        A folder to make.
    namespace : str
        Replaces `<namespace>` in text. On the metric's and the dataset's pages examples that load from a clone load
        from the Hub instead; the demo has the folders of the clone beside it, but not the visitors whom it tells how.

    Raises
    ------
    FileNotFoundError
        A file that belongs to the part does not exist.
    """
    out.mkdir(parents=True)
    part.gather(out)
    shutil.copyfile(ROOT / "LICENSE", out / "LICENSE")
    if part.repo_type == "space":
        shutil.copyfile(THUMBNAIL, out / THUMBNAIL.name)
    for path in sorted(out.rglob("*")):
        if path.suffix in (".md", ".py", ".html"):
            beside = part.name == "space" and path.name != "usage.md"
            names = {} if beside else _names_on_the_hub(namespace)
            path.write_text(_renamed(path.read_text(encoding="utf-8"), namespace, names), encoding="utf-8")


def _names_on_the_hub(namespace: str) -> dict[str, str]:
    name = "ecuas" if namespace == "evaluate-metric" else f"{namespace}/ecuas"  # Evaluate's own have bare names
    return {
        'evaluate.load("ecuas_metric/ecuas.py"': f'evaluate.load("{name}"',
        'load_dataset("triviaqa_subset"': f'load_dataset("{namespace}/triviaqa-curated"',
    }


def _renamed(text: str, namespace: str, names: dict[str, str]) -> str:
    if names:
        text = re.sub(r"  # in a clone; from the Hub: .*", "", text)
    for here, there in names.items():
        text = text.replace(here, there)
    return text.replace(NAMESPACE, namespace)


def _gather_metric(out: Path) -> None:
    for name in (SCRIPT.name, *imported(SCRIPT), "app.py", "README.md", "requirements.txt"):
        shutil.copyfile(SCRIPT.parent / name, out / name)


def _gather_static_metric(out: Path) -> None:
    for name in (SCRIPT.name, *imported(SCRIPT)):
        shutil.copyfile(SCRIPT.parent / name, out / name)
    card = re.sub(STATIC_FIELDS, "", (SCRIPT.parent / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    (out / "README.md").write_text(card.replace("\nsdk: gradio\n", "\nsdk: static\n", 1), encoding="utf-8")
    (out / "index.html").write_text(STATIC_PAGE, encoding="utf-8")


def _gather_dataset(out: Path) -> None:
    shutil.copytree(dataset_folder() / "data", out / "data", ignore=LEFT_OUT, dirs_exist_ok=True)
    shutil.copyfile(dataset_folder() / "README.md", out / "README.md")


def _gather_space(out: Path) -> None:
    shutil.copytree(ROOT / "space", out / "space", ignore=LEFT_OUT)
    for name in ("README.md", "requirements.txt"):  # where the Hub looks for them
        (out / "space" / name).rename(out / name)
    (out / "app.py").write_text(START, encoding="utf-8")
    for folder in (SCRIPT.parent, DATA):
        shutil.copytree(folder, out / folder.name, ignore=LEFT_OUT)
    (out / "docs").mkdir()
    shutil.copyfile(ROOT / "docs" / "dataset.md", out / "docs" / "dataset.md")  # the card links to it there
    _gather_dataset(out / DATA.name)


PARTS = {
    part.name: part
    for part in (
        # First what any account can create; each part stands alone.
        Part("dataset", "dataset", "triviaqa-curated", DATA, "data/curated.parquet", _gather_dataset),
        Part("metric", "space", "ecuas", SCRIPT.parent, SCRIPT.name, _gather_metric),
        Part("space", "space", "ecuas-demo", ROOT / "space", "ecuas_metric/ecuas.py", _gather_space),
    )
}
STATIC_METRIC = PARTS["metric"]._replace(gather=_gather_static_metric, sdk="static")
