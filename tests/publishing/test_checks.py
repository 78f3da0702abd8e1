"""What must not be sent is found before anything is sent."""

import re
import shutil

import pytest
from evaluate import __version__ as evaluates

from publishing.checks import check_files, check_front_matter, check_pages, check_runs, check_tables, check_version
from publishing.staging import PARTS
from tests.publishing.conftest import SPACE, build_with_text


def test_what_is_staged_now_is_fit_to_be_sent(metric, dataset):
    for name, folder in (("metric", metric), ("dataset", dataset)):
        check_files(folder)
        check_pages(folder)
        check_front_matter(PARTS[name], folder)
    check_tables(dataset)


@pytest.mark.parametrize(
    "name",
    [
        "__pycache__/ecuas.pyc",
        "ecuas.pyc",
        ".env",
        ".cache/x",
        "test_costs.py",
        "tests/data.csv",
        "conftest.py",
        "a.lock",
    ],
)
def test_caches_tests_and_hidden_files_are_found(metric, name):
    (metric / name).parent.mkdir(exist_ok=True)
    (metric / name).touch()
    with pytest.raises(ValueError, match=rf"^caches, tests and hidden files must not be sent; got {re.escape(name)}\."):
        check_files(metric)


def test_large_files_are_found(metric):
    (metric / "large.bin").write_bytes(bytes(10_000_001))
    message = "files must not exceed 10,000,000 bytes; large.bin has 10,000,001."
    with pytest.raises(ValueError, match=f"^{message}$"):
        check_files(metric)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("token = 'hf_" + "aB3" * 12 + "'", "a secret"),
        ("-----BEGIN RSA PRIVATE " + "KEY-----", "a secret"),
        ("open('/ho" + "me/ann/data.csv')", "a path of this machine"),
        (r"open('C:\Use" + r"rs\ann\data.csv')", "a path of this machine"),
        ("load('<name" + "space>/ecuas')", "an unfilled name"),
        ("ours = '{root}/data'", "the path of this project"),
        ("password = 'of this session'", "the token in use"),
    ],
)
def test_secrets_and_paths_are_found_with_their_line(metric, content, what, root, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "of this session")
    (metric / "costs.py").write_text("first = 1\n" + content.replace("{root}", str(root)))
    message = f"files must not hold {what}; costs.py does, in line 2. Remove it."
    with pytest.raises(ValueError, match=f"^{message}$"):
        check_files(metric)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("metric", "title: ECUAS\n", "", "needs title."),
        ("metric", "emoji: ⚖️\ncolorFrom: blue\n", "emoji:\n", "needs emoji, colorFrom."),
        ("metric", "  - evaluate\n", "", "must have the tags evaluate and metric."),
        ("metric", "sdk: gradio", "sdk: docker", "must say sdk: gradio."),
        ("metric", "sdk_version: 6.31.0", "sdk_version: 6.31", "must give sdk_version in full, as in 6.1.0."),
        ("metric", 'python_version: "3.11"', "python_version: 3.11", 'must quote python_version, as in "3.11".'),
        ("metric", "app_file: app.py", "app_file: main.py", "names main.py, which does not exist."),
        ("metric", "main/thumbnail.png", "main/picture.png", "names picture.png, which does not exist."),
        ("dataset", "license: apache-2.0\n", "", "needs license."),
        ("dataset", "  default: true\n", "", "must have one default configuration."),
        (
            "dataset",
            "path: data/pool.parquet",
            "path: data/lake.parquet",
            "names data/lake.parquet, which does not exist.",
        ),
    ],
)
def test_what_is_wrong_with_the_front_matter_is_said(metric, dataset, name, old, new, message):
    card = {"metric": metric, "dataset": dataset}[name] / "README.md"
    text = card.read_text()
    assert text.count(old) == 1
    card.write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=f"^the front matter of .*/README.md {re.escape(message)}$"):
        check_front_matter(PARTS[name], card.parent)


def test_a_link_out_of_what_is_sent_is_found(metric):
    card = metric / "README.md"
    card.write_text(card.read_text() + "\n[the dataset](../triviaqa_subset/README.md)\n")
    with pytest.raises(ValueError, match=r"got \.\./triviaqa_subset/README\.md\.$"):
        check_pages(metric)


def test_tables_that_are_not_ours_are_found(dataset):
    sums = dataset / "data/SHA256SUMS"
    shutil.copy(dataset / "data/answers.parquet", dataset / "data/pool.parquet")
    with pytest.raises(ValueError, match="^data/SHA256SUMS must hold the checksums"):
        check_tables(dataset)
    digests = dict(reversed(line.split("  ")) for line in sums.read_text().splitlines())
    lines = [f"{digests['answers.parquet' if name == 'pool.parquet' else name]}  {name}" for name in digests]
    sums.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"^build/triviaqa_subset must hold .* pool\.parquet differs\."):
        check_tables(dataset)


def test_a_copy_with_text_under_the_licence_of_the_curation_is_found(tmp_path, root):
    build_with_text(tmp_path / "built", root / "triviaqa_subset")
    check_tables(tmp_path / "built")
    card = tmp_path / "built" / "README.md"
    card.write_text(card.read_text().replace("license: unknown\n", "license: apache-2.0\n", 1))
    with pytest.raises(
        ValueError, match=r"^a dataset with the text of its questions must not say license: apache-2\.0"
    ):
        check_tables(tmp_path / "built")


@pytest.mark.e2e
def test_a_file_that_evaluate_would_not_find_is_found(metric):
    (metric / "costs.py").unlink()
    with pytest.raises(ValueError, match=r"^the staged metric does not run: .*costs\.py"):
        check_runs(PARTS["metric"], metric)


@pytest.mark.e2e
def test_a_page_that_does_not_start_is_found(tmp_path):
    (tmp_path / "README.md").write_text(SPACE["README.md"])
    (tmp_path / "app.py").write_text("import tests\n")
    with pytest.raises(
        ValueError, match="^the staged space does not run: ModuleNotFoundError: No module named 'tests'"
    ):
        check_runs(PARTS["space"], tmp_path)


def test_the_version_must_not_be_evaluates():
    check_version("0.1.0")
    with pytest.raises(ValueError, match="^the version must not be Evaluate's own"):
        check_version(evaluates)
