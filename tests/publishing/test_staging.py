"""What is staged is what the Hub and Evaluate read, and what must not be sent is found before anything is."""

import re
import shutil
import subprocess
import tomllib

import pyarrow.parquet as pq
import pytest
from evaluate import __version__ as evaluates
from evaluate.loading import get_imports
from huggingface_hub import DatasetCard, SpaceCard

from publishing import staging
from publishing.staging import (
    PARTS,
    STATIC_METRIC,
    check,
    check_files,
    check_loads,
    check_tables,
    imported,
)
from tests.conftest import COMMIT
from tests.publishing.conftest import CONFIGURATIONS, build_with_text, files_of
from triviaqa_subset import folders

ADDRESSES = {
    "metric": "spaces/NAME/ecuas",
    "dataset": "datasets/NAME/triviaqa-curated",
    "space": "spaces/NAME/ecuas-demo",
}


@pytest.mark.long
def test_the_parts_have_their_files_and_come_in_the_order_that_any_account_can_have(
    staged, tmp_path
):
    assert list(PARTS) == ["dataset", "metric", "space"]
    siblings = [
        f"{name}.py" for kind, name, *_ in get_imports(staging.SCRIPT) if kind == "internal"
    ]
    # Evaluate finds imports by line, the staging by syntax
    assert siblings == imported(staging.SCRIPT)
    page = {"app.py", "requirements.txt", "README.md", "LICENSE", "thumbnail.png"}
    assert set(files_of(staged / "metric")) == {"ecuas.py", *siblings, *page}
    tables = {f"data/{name}.parquet" for name in CONFIGURATIONS}
    assert set(files_of(staged / "dataset")) >= {"README.md", "LICENSE", "data/SHA256SUMS", *tables}
    beside = {"space/app.py", "ecuas_metric/api.py", "triviaqa_subset/data/pool.parquet"}
    assert set(files_of(staged / "space")) >= page | beside
    staging.stage(STATIC_METRIC, tmp_path / "metric", "free")  # a page without a program
    check_files(tmp_path / "metric")
    without_program = page - {"app.py", "requirements.txt"} | {"index.html"}
    assert set(files_of(tmp_path / "metric")) == {"ecuas.py", *siblings, *without_program}
    assert 'evaluate.load("free/ecuas")' in (tmp_path / "metric/index.html").read_text()
    card = SpaceCard.load(tmp_path / "metric/README.md").data.to_dict()
    assert card["sdk"] == "static"
    assert not {"sdk_version", "python_version", "app_file"} & set(card)


@pytest.mark.long
@pytest.mark.parametrize("name", PARTS)
def test_what_is_staged_now_is_fit_to_be_sent_and_its_page_can_be_read_and_leads_on(name, staged):
    folder = staged / name
    check_files(folder)
    data = (
        (DatasetCard if name == "dataset" else SpaceCard).load(folder / "README.md").data.to_dict()
    )
    if name == "dataset":
        assert {"pretty_name", "license", "language", "task_categories"} <= set(data)
        assert [config.get("default", False) for config in data["configs"]].count(True) == 1
        files = [part["path"] for config in data["configs"] for part in config["data_files"]]
    else:
        assert {"title", "emoji", "colorFrom", "colorTo", "pinned"} <= set(data)
        assert (data["sdk"], type(data["python_version"])) == ("gradio", str)
        assert re.fullmatch(r"\d+\.\d+\.\d+", data["sdk_version"])
        assert len(data.get("short_description") or "") <= 60  # longer ones are refused
        files = [data["app_file"], data["thumbnail"].rpartition("/resolve/main/")[2]]
    page = (folder / "README.md").read_text()
    files += re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", page)
    assert [file for file in files if not (folder / file).exists()] == []
    assert all(f"{address})" in page for other, address in ADDRESSES.items() if other != name)
    assert "](https://arxiv.org/abs/2605.20490)" in page


def test_examples_load_from_the_hub_but_those_of_the_demo_from_beside_it(staged):
    pages = ("metric/README.md", "dataset/README.md", "space/space/usage.md")
    metric, dataset, usage = ((staged / page).read_text() for page in pages)
    for page in (metric, usage, (staged / "metric/ecuas.py").read_text()):
        assert 'evaluate.load("NAME/ecuas")' in page
    assert "ecuas_metric/ecuas.py" not in metric + dataset
    assert set(re.findall(r"load_dataset\((.*?)[,)]", dataset + usage)) == {
        '"NAME/triviaqa-curated"'
    }
    assert "in a clone;" not in usage
    assert (
        'evaluate.load("ecuas_metric/ecuas.py")'
        in (staged / "space/ecuas_metric/README.md").read_text()
    )


FORBIDDEN = {
    "token = 'hf_" + "aB3" * 12 + "'": "a token",
    "password = 'in use here'": "a token",
    "open('/ho" + "me/ann/data.csv')": "a path of this machine",
    r"open('C:\Use" + r"rs\ann\data.csv')": "a path of this machine",
    "load('<name" + "space>/ecuas')": "an unfilled name",
    f"ours = '{staging.ROOT}/data'": "the path of this project",
}


def test_tokens_paths_and_unfilled_names_are_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "in use here")
    file = tmp_path / "costs.py"
    for content, what in FORBIDDEN.items():
        file.write_text("first = 1\n" + content)
        message = f"^files must not hold {what}; costs.py does, in line 2. Remove it.$"
        with pytest.raises(ValueError, match=message):
            check_files(tmp_path)
    file.write_text("token = get_token()  # https://host/home/page, ~/data, hf_token")
    check_files(tmp_path)


def git(folder, *commands):
    for command in commands:
        subprocess.run(["git", *command.split()], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A clone with a file that is committed, and one beside it that is not."""
    (tmp_path / "space").mkdir()
    (tmp_path / "space/app.py").touch()
    git(tmp_path, "init", "add --all", COMMIT)
    (tmp_path / "space/notes.txt").touch()
    monkeypatch.setattr(staging, "ROOT", tmp_path)
    return tmp_path


def test_only_what_is_committed_is_staged(project, tmp_path_factory, monkeypatch):
    out = tmp_path_factory.mktemp("out")
    staging._copy(out, "space", source=project)
    assert set(files_of(out)) == {"space/app.py"}
    for command in ("add --intent-to-add space/notes.txt", "add --all"):
        git(project, command)
        with pytest.raises(
            ValueError, match=r"only what is committed is published: space/notes\.txt"
        ):
            staging._copy(out, "app.py", "notes.txt", below="space", source=project / "space")
    monkeypatch.setenv("GIT_DIR", str(out))
    monkeypatch.setenv("GIT_INDEX_FILE", str(out / "index"))
    assert staging.committed("space") == ["space/app.py"]
    monkeypatch.setattr(staging, "ROOT", out)
    with pytest.raises(ValueError, match="only what is committed is published: not a git repo"):
        staging.committed("space")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ValueError, match="git is not installed"):
        staging.committed("space")


def test_what_has_changed_since_it_was_committed_is_not_sent(project):
    staging.require_committed()
    (project / "space/app.py").write_text("another = 1")
    with pytest.raises(
        ValueError, match=r"committed is published: space/app\.py has changed since"
    ):
        staging.require_committed()


@pytest.mark.parametrize("is_committed", [True, False])
@pytest.mark.parametrize("name", ["space/app.py", "space"])
def test_links_are_not_sent_whatever_they_lead_to(name, is_committed, project, tmp_path_factory):
    out, elsewhere = (tmp_path_factory.mktemp(one) for one in ("out", "elsewhere"))
    (project / name).rename(elsewhere / "moved")
    (project / name).symlink_to(elsewhere / "moved")
    if is_committed:
        git(project, "add --all", COMMIT)
    with pytest.raises(ValueError, match=r"links must not be sent; got space"):
        staging._copy(out, "space", source=project)
    assert files_of(out) == {}


@pytest.mark.long
def test_a_dataset_that_was_built_goes_with_its_text_unless_the_build_is_an_older_one(
    tmp_path, root, monkeypatch
):
    build_with_text(tmp_path / "built", root / "triviaqa_subset")
    monkeypatch.setattr(folders, "BUILT", tmp_path / "built")
    dataset = tmp_path / "dataset"
    staging.stage(PARTS["dataset"], dataset, "NAME")
    check_tables(dataset)
    questions = pq.read_table(dataset / "data/curated.parquet").to_pylist()
    assert {row["question"] for row in questions} == {
        f"What is {row['question_id']}?" for row in questions
    }
    shutil.copy(dataset / "data/answers.parquet", dataset / "data/pool.parquet")
    with pytest.raises(
        ValueError, match=r"^pool\.parquet is not that of triviaqa_subset/data: run"
    ):
        check_tables(dataset)
    (space := tmp_path / "space").mkdir()
    dataset.rename(space / "triviaqa_subset")
    for part in ("space", "dataset"):  # each as it would be sent
        with pytest.raises(ValueError, match=r"^\w+\.parquet is not that of triviaqa_subset/data"):
            check(PARTS[part], space, "1.0")


@pytest.mark.e2e
def test_what_does_not_load_or_has_evaluates_own_version_is_found(staged, tmp_path):
    metric = shutil.copytree(staged / "metric", tmp_path / "metric")
    with pytest.raises(ValueError, match="^the version must not be Evaluate's own"):
        check(PARTS["metric"], metric, evaluates)
    (metric / "costs.py").unlink()
    with pytest.raises(ValueError, match=r"^the staged metric does not run, .*costs\.py"):
        check_loads(STATIC_METRIC, metric)
    (tmp_path / "app.py").write_text("open('/dev/full', 'wb', 0).write(b'x')")
    with pytest.raises(
        OSError, match=r"^no space left in .* to check the staged space: set TMPDIR\.$"
    ):
        check_loads(PARTS["space"], tmp_path)


@pytest.mark.e2e
def test_a_page_is_not_sent_with_a_result_that_it_would_leave_out(staged, tmp_path):
    space = shutil.copytree(staged / "space", tmp_path / "space")
    folder = space / "triviaqa_subset" / "submissions"
    folder.mkdir()
    (folder / "m.csv").write_text("question_id,answer,confidence,correct\nqb_5701,x,0.5,0.5\n")
    message = r"^the staged space does not run, .*submissions/m\.csv: column 'correct' must be 0"
    with pytest.raises(ValueError, match=message):
        check_loads(PARTS["space"], space)


def test_every_file_of_a_package_is_in_its_wheel(root):
    """What is not a module is listed in pyproject.toml."""
    for package, listed in tomllib.loads((root / "pyproject.toml").read_text())["tool"][
        "setuptools"
    ]["package-data"].items():
        taken = {path for pattern in listed for path in (root / package).glob(pattern)}
        files = {
            path
            for path in (root / package).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert {path for path in files if path.suffix != ".py"} == taken
