"""What must hold of a staged part before anything is sent: its files, its front matter, and that it runs."""

import errno
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from huggingface_hub import DatasetCard, SpaceCard, get_token

from .staging import DATA, NAMESPACE, ROOT, Part

MAX_BYTES = 10_000_000
STRAY = re.compile(
    r"(^|/)(__pycache__|\.[^/]*|tests?|test_[^/]*|[^/]*_test\.py|conftest\.py)(/|$)|\.(pyc|lock|tmp|log)$"
)
SECRET = re.compile(
    rb"hf_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9_-]{32,}|gh[pousr]_[A-Za-z0-9]{36}|AKIA[0-9A-Z]{16}|PRIVATE KEY-----"
)
PATH = re.compile(rb"(?<![\w./:-])/(?:home|Users|root)/\w|[A-Z]:\\Users\\")
SPACE_FIELDS = ("title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "python_version", "app_file", "pinned")
METRIC_FIELDS = (*SPACE_FIELDS, "tags", "description")
DATASET_FIELDS = ("pretty_name", "license", "language", "task_categories", "configs")
LOAD_METRIC = """\
import sys
needless = dict.fromkeys(("transformers", "scipy"))  # Evaluate would import them, seconds long; the metric does without
sys.modules |= needless
import evaluate
for name in needless:
    del sys.modules[name]
value = evaluate.load("./ecuas.py").compute(predictions=[0.5], references=[1], n=1)["ecuas_1"]
if value != 0.25:
    raise ValueError(f"ecuas_1 of one right answer with confidence 0.5 is 0.25; the staged metric says {value}")
"""
LOAD_DATASET = """\
import datasets, os
for name in datasets.get_dataset_config_names(os.getcwd()):
    datasets.load_dataset(os.getcwd(), name)
"""


def check(part: Part, stage: Path, version: str) -> None:
    """Check a staged part; say nothing if it is fit to be sent.

    Parameters
    ----------
    part : Part
        What was staged.
    stage : Path
        Where.
    version : str
        Its version, without `v`.

    Raises
    ------
    ValueError
        The first rule that does not hold, with the file or field and what to do.
    """
    check_version(version)
    check_files(stage)
    check_front_matter(part, stage)
    check_pages(stage)
    if part.name == "dataset":
        check_tables(stage)
    check_runs(part, stage)


def check_version(version: str) -> None:
    """Refuse a tag that Evaluate would take for its own, for which it asks before it asks for `main`."""
    if version == installed("evaluate"):
        raise ValueError(f"the version must not be Evaluate's own, {version}: its users would never see a later one.")


def check_files(stage: Path) -> None:
    """Refuse what is stray or too large, or holds a secret, a path of this machine or an unfilled name."""
    own = {
        "the token in use": get_token(),
        "the path of this project": str(ROOT),
        "an unfilled name": NAMESPACE,
    }
    forbidden = {what: re.compile(re.escape(text.encode())) for what, text in own.items() if text}
    forbidden |= {"a secret": SECRET, "a path of this machine": PATH}
    for path in _files(stage):
        name = path.relative_to(stage).as_posix()
        if STRAY.search(name):
            raise ValueError(f"caches, tests and hidden files must not be sent; got {name}. Remove it.")
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"files must not exceed {MAX_BYTES:,} bytes; {name} has {path.stat().st_size:,}.")
        content = path.read_bytes()
        for what, pattern in forbidden.items():
            if found := pattern.search(content):
                line = content[: found.start()].count(b"\n") + 1
                raise ValueError(f"files must not hold {what}; {name} does, in line {line}. Remove it.")


def check_front_matter(part: Part, stage: Path) -> None:
    """Find what the Hub and Evaluate read in the card, and the files that it names."""
    card = (DatasetCard if part.repo_type == "dataset" else SpaceCard).load(stage / "README.md")
    data = card.data.to_dict()
    fields = {"metric": METRIC_FIELDS, "dataset": DATASET_FIELDS, "space": SPACE_FIELDS}[part.name]
    if part.sdk == "static":
        fields = tuple(field for field in fields if field not in ("sdk_version", "python_version", "app_file"))
    missing = [field for field in fields if data.get(field) in (None, "", [])]
    if missing:
        raise ValueError(f"the front matter of {part.folder.name}/README.md needs {', '.join(missing)}.")
    for rule, holds in _rules(part, data).items():
        if not holds:
            raise ValueError(f"the front matter of {part.folder.name}/README.md must {rule}.")
    for name in _named_files(data):
        if not (stage / name).is_file():
            raise ValueError(f"the front matter of {part.folder.name}/README.md names {name}, which does not exist.")


def _rules(part: Part, data: dict[str, Any]) -> dict[str, bool]:
    if part.repo_type == "dataset":
        return {"have one default configuration": sum(c.get("default", False) for c in data["configs"]) == 1}
    runs = {
        "give sdk_version in full, as in 6.1.0": bool(re.fullmatch(r"\d+\.\d+\.\d+", str(data.get("sdk_version")))),
        'quote python_version, as in "3.11"': isinstance(data.get("python_version"), str),
    }
    return (runs if part.sdk == "gradio" else {}) | {
        f"say sdk: {part.sdk}": data["sdk"] == part.sdk,
        "keep short_description within 60 characters": len(data.get("short_description") or "") <= 60,
        "have the tags evaluate and metric": part.name != "metric" or {"evaluate", "metric"} <= set(data["tags"]),
    }


def _named_files(data: dict[str, Any]) -> list[str]:
    tables = [files["path"] for config in data.get("configs", []) for files in config["data_files"]]
    picture = data.get("thumbnail", "").rpartition("/resolve/main/")[2]
    return [*([data["app_file"]] if "app_file" in data else []), *([picture] if picture else []), *tables]


def check_pages(stage: Path) -> None:
    """Follow the relative links of the front page: each must lead to a file that is sent with it."""
    for target in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", (stage / "README.md").read_text(encoding="utf-8")):
        if not (stage / target).exists():
            raise ValueError(f"links of README.md must lead to a file beside it or to a URL; got {target}.")


def check_tables(stage: Path) -> None:
    """Compare the staged tables with the committed ones, with their checksums and with the licence of the card."""
    data = stage / "data"
    sums = {f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in data.glob("*.parquet")}
    if sums != set((data / "SHA256SUMS").read_text().splitlines()):
        raise ValueError("data/SHA256SUMS must hold the checksums of the tables beside it: build the dataset again.")
    has_text = any("question" in pq.read_schema(path).names for path in data.glob("*.parquet"))
    if has_text and DatasetCard.load(stage / "README.md").data.license == "apache-2.0":
        raise ValueError(
            "a dataset with the text of its questions must not say license: apache-2.0, which is that of the curation "
            "alone. Build it again with `python -m triviaqa_subset.build`."
        )
    for path in sorted((DATA / "data").glob("*.parquet")):
        ours = pq.read_table(path)
        staged = pq.read_table(data / path.name)
        if not set(ours.column_names) <= set(staged.column_names) or not staged.select(ours.column_names).equals(ours):
            raise ValueError(
                f"build/triviaqa_subset must hold what triviaqa_subset/data holds; {path.name} differs. "
                "Build again with `python -m triviaqa_subset.build`, or delete it to publish without text."
            )


def check_runs(part: Part, stage: Path) -> None:
    """Load the part from its staged files alone, in a process of its own without network or cache."""
    if part.name == "dataset":
        return _run(part, stage, LOAD_DATASET)
    if part.sdk == "static":
        return _run(part, stage, LOAD_METRIC)
    page = SpaceCard.load(stage / "README.md").data.to_dict()["app_file"]
    _run(part, stage, (LOAD_METRIC if part.name == "metric" else "") + f"import {Path(page).stem}\n")


def _run(part: Part, stage: Path, code: str) -> None:
    with tempfile.TemporaryDirectory() as cache:
        offline = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE", "PYTHONDONTWRITEBYTECODE")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PYTHON"))}
        env = clean | dict.fromkeys(offline, "1") | {"HF_HOME": cache, "GRADIO_ANALYTICS_ENABLED": "False"}
        done = subprocess.run([sys.executable, "-c", code], cwd=stage, env=env, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        if os.strerror(errno.ENOSPC) in reason:  # not the part's fault
            raise OSError(f"no space left in {tempfile.gettempdir()} to check the staged {part.name}: set TMPDIR.")
        raise ValueError(f"the staged {part.name} does not run: {reason}")


def _files(stage: Path) -> Iterator[Path]:
    return (path for path in sorted(stage.rglob("*")) if not path.is_dir())
