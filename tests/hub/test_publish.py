"""From a checkout to the Hub and back, with the real clients over HTTP."""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess

import pytest
from evaluate.loading import get_imports

from ecuas_metric import __version__
from tests.hub.conftest import CONFIGURATIONS, SPACE, build_with_text, environment, publish, run
from tests.hub.server import TOKEN

TAG = f"v{__version__}"
VERSION = re.compile(rf'^((?:VERSION|__version__) = )"{__version__}"', re.MULTILINE)
METRIC, DATASET, DEMO = ("spaces", "NAME/ecuas"), ("datasets", "NAME/triviaqa-curated"), ("spaces", "NAME/ecuas-demo")


@pytest.fixture(scope="module")
def source(make_checkout):
    return make_checkout()


@pytest.fixture(scope="module")
def published(hub, source, tmp_path_factory):
    """Everything published once, as NAME; the tests below only look."""
    done = publish(source, hub, tmp_path_factory.mktemp("hf"), "all", "--namespace", "NAME")
    assert (done.status, [line for line in done.error.splitlines() if line.startswith("publish:")]) == (0, [])
    return done


def replace(path, old, new):
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


def test_each_part_is_one_commit_and_one_tag(published, hub):
    for repository in (METRIC, DATASET, DEMO):
        commits = hub.store.commits(*repository)
        assert [commit["summary"] for commit in commits] == [f"Publish {TAG}"]
        assert hub.store.tags(*repository) == {TAG: commits[0]["oid"]}
        kind, id = repository
        assert f"{hub.url}/{kind}/{id} committed {commits[0]['oid'][:7]}, tagged {TAG}" in published.out


def test_the_metric_is_what_evaluate_asks_for_and_its_page(published, hub, root):
    asked = [f"{name}.py" for kind, name, *_ in get_imports(root / "ecuas_metric/ecuas.py") if kind == "internal"]
    sent = set(hub.store.files(*METRIC)) - {".gitattributes"}
    assert sent == {"ecuas.py", "app.py", "README.md", "requirements.txt", *asked}


def test_the_dataset_is_its_card_tables_and_checksums(published, hub, root):
    sent = hub.store.files(*DATASET)
    tables = {f"data/{name}.parquet" for name in CONFIGURATIONS}
    assert set(sent) == {".gitattributes", "README.md", "data/SHA256SUMS", *tables}
    for name in (*tables, "data/SHA256SUMS"):
        assert sent[name] == (root / "triviaqa_subset" / name).read_bytes()


def test_the_demo_has_both_folders_beside_it(published, hub, source):
    sent = hub.store.files(*DEMO)
    assert {"README.md", "requirements.txt", "app.py", "space/app.py", "space/views.py"} <= set(sent)
    assert not {"space/README.md", "space/requirements.txt"} & set(sent)
    for folder in ("ecuas_metric", "triviaqa_subset"):
        ours = {path.relative_to(source).as_posix() for path in (source / folder).rglob("*") if path.is_file()}
        assert {name for name in sent if name.startswith(folder)} == ours
    assert sent["README.md"].decode() == SPACE["README.md"].replace("<namespace>", "NAME")
    assert (
        sent["ecuas_metric/ecuas.py"] == (source / "ecuas_metric/ecuas.py").read_bytes()
    )  # it loads what is beside it


def test_nothing_sent_is_secret_or_of_this_machine_or_a_test(published, hub, source, root):
    for repository in (METRIC, DATASET, DEMO):
        for commit in hub.store.commits(*repository):
            for name, content in hub.store.received(commit).items():
                for own in (TOKEN, str(source), str(root), "/home/", "/root/", "/tmp/", "<namespace>"):
                    assert own.encode() not in content, (name, own)
                assert not re.search(r"test|conftest|cache|\.pyc|(^|/)\.", name)
                assert len(content) <= 10_000_000


def test_the_pages_speak_of_the_hub(published, hub):
    metric, dataset = (hub.store.files(*repository)["README.md"].decode() for repository in (METRIC, DATASET))
    assert '>>> ecuas = evaluate.load("NAME/ecuas")\n' in metric
    assert "ecuas_metric/ecuas.py" not in metric + dataset
    assert re.findall(r"load_dataset\((.*?)[,)]", dataset) == ['"NAME/triviaqa-curated"'] * len(CONFIGURATIONS)
    assert 'evaluate.load("NAME/ecuas")' in hub.store.files(*METRIC)["ecuas.py"].decode()


LOAD = """
import json, sys
import evaluate
from datasets import Dataset, get_dataset_config_names, load_dataset
from huggingface_hub import snapshot_download

told, root = {}, sys.argv[1]
for name, revision in {"main": None, "tag": sys.argv[2]}.items():
    ecuas = evaluate.load("NAME/ecuas", revision=revision)
    told[name] = ecuas.compute(predictions=[0.9, 0.4], references=[1, 0], n=1)["ecuas_1"]
told["configurations"] = get_dataset_config_names("NAME/triviaqa-curated")
told["default"] = load_dataset("NAME/triviaqa-curated", split="validation").column_names
told["differ"] = []
for name in told["configurations"]:
    local = Dataset.from_parquet(f"{root}/triviaqa_subset/data/{name}.parquet")
    for how in ({}, {"streaming": True}, {"revision": sys.argv[2]}):
        loaded = load_dataset("NAME/triviaqa-curated", name, split="validation", **how)
        if list(loaded) != list(local) or loaded.features != local.features:
            told["differ"].append([name, how])
told["snapshots"] = {
    id: snapshot_download(id, repo_type=repo_type)
    for repo_type, id in (("space", "NAME/ecuas"), ("dataset", "NAME/triviaqa-curated"), ("space", "NAME/ecuas-demo"))
}
print(json.dumps(told))
"""


def test_the_clients_load_everything_back(published, hub, root, home, tmp_path):
    done = run("-c", LOAD, str(root), TAG, cwd=tmp_path, env=environment(home, hub.url))
    assert done.status == 0, done.error
    told = json.loads(done.out.splitlines()[-1])
    # (u^2 + 2 c (1 - u)) / 2 with u = 0.1, c = 0 and u = 0.6, c = 1
    assert told["main"] == told["tag"] == pytest.approx((0.01 + 0.36 + 2 * 0.4) / 2)
    assert told["configurations"] == CONFIGURATIONS
    assert told["default"][0] == "question_id"
    assert "weight" in told["default"]
    assert told["differ"] == []
    for kind, id in (METRIC, DATASET, DEMO):
        snapshot = tmp_path / told["snapshots"][id]
        for name, content in hub.store.files(kind, id).items():
            assert (snapshot / name).read_bytes() == content


def test_publishing_again_sends_nothing(published, hub, source, home):
    before = len(hub.store.requests())
    done = publish(source, hub, home, "space", "--namespace", "NAME")
    assert done.status == 0, done.error
    assert f"unchanged {hub.store.commits(*DEMO)[0]['oid'][:7]}, tag {TAG}\n" in done.out
    requests = hub.store.requests()[before:]
    assert not [
        request for request in requests if request.startswith("PUT") or "/commit/" in request or "/tag/" in request
    ]


def test_a_dry_run_lists_everything_and_asks_nobody(published, hub, source, home):
    before, files = len(hub.store.requests()), sorted(source.rglob("*"))
    done = publish(source, hub, home, "dataset", "--namespace", "NAME", "--dry-run", token=None)
    assert done.status == 0, done.error
    assert hub.store.requests()[before:] == []
    assert sorted(source.rglob("*")) == files
    assert not home.exists()
    sent = {name: f"{len(content):,}" for name, content in hub.store.files(*DATASET).items()}
    del sent[".gitattributes"]  # the Hub's own
    assert {name: size for size, name in re.findall(r"^ +([\d,]+)  (.*)$", done.out, re.MULTILINE)} == sent
    assert f"dataset: would go to {hub.url}/datasets/NAME/triviaqa-curated, tag {TAG}" in done.out


VERSIONS = """
import sys, evaluate
print(type(evaluate.load("ecuas")).__module__.split(".")[2])
for name, revision in (("ecuas", None), ("ecuas", "v9.0.0"), ("ecuas", sys.argv[1]), ("evaluate-metric/ecuas", "main")):
    print(evaluate.load(name, revision=revision).description.split()[0])
"""


def test_versions_of_the_bare_name(hub, checkout, home, tmp_path):
    """Publish twice as Evaluate's own, and by the client's default way: no file of the metric goes to Xet itself."""
    env = environment(home, hub.url, HF_TOKEN=TOKEN, HF_HUB_DISABLE_XET="0")
    command = ("publish.py", "metric", "--namespace", "evaluate-metric")
    canonical = ("spaces", "evaluate-metric/ecuas")
    (checkout / "ecuas_metric/extra.py").write_text("ONE = 1\n")
    replace(checkout / "ecuas_metric/ecuas.py", "from .costs import", "from .extra import ONE\nfrom .costs import")
    assert run(*command, cwd=checkout, env=env).status == 0

    versioned = next(path for path in (checkout / "ecuas_metric").glob("*.py") if VERSION.search(path.read_text()))
    versioned.write_text(VERSION.sub(r'\1"9.0.0"', versioned.read_text()))
    replace(checkout / "ecuas_metric/ecuas.py", "from .extra import ONE\n", "")
    replace(checkout / "ecuas_metric/ecuas.py", '"""\\\nECUAS_n is', '"""\\\nSecond: ECUAS_n is')
    done = run(*command, cwd=checkout, env=env)
    assert done.status == 0, done.error
    first, second = hub.store.commits(*canonical)
    assert first["received"].keys() >= {"extra.py", "ecuas.py"}
    assert set(second["received"]) == {"extra.py", "ecuas.py", versioned.name}
    assert second["received"]["extra.py"] is None
    assert hub.store.tags(*canonical) == {TAG: first["oid"], "v9.0.0": second["oid"]}

    loaded = run("-c", VERSIONS, TAG, cwd=tmp_path, env=environment(tmp_path / "fresh", hub.url))
    assert loaded.out.split() == ["evaluate-metric--ecuas", "Second:", "Second:", "ECUAS_n", "Second:"], loaded.error
    assert "Using the latest cached version" not in loaded.error  # all came from the Hub


def test_a_dataset_that_was_built_goes_with_its_text(hub, checkout, home, tmp_path):
    built = checkout / "build/triviaqa_subset"
    build_with_text(built, checkout / "triviaqa_subset")
    done = publish(checkout, hub, home, "dataset", "--namespace", "someone")
    assert done.status == 0, done.error
    assert "from build/triviaqa_subset/" in done.out
    code = (
        "from datasets import load_dataset\n"
        "for row in load_dataset('someone/triviaqa-curated', split='validation').select([0, 454]):\n"
        "    print(row['question'] == f'What is {row[\"question_id\"]}?')\n"
    )
    loaded = run("-c", code, cwd=tmp_path, env=environment(tmp_path / "fresh", hub.url))
    assert loaded.out.split() == ["True", "True"], loaded.error


def test_what_is_public_is_not_taken_for_private(hub, source, published, home):
    commits = hub.store.commits(*DATASET)
    done = publish(source, hub, home, "dataset", "--namespace", "NAME", "--private")
    rest = "exists and is public: make it private there, or leave out --private."
    assert (done.status, done.error) == (2, f"publish: NAME/triviaqa-curated {rest}\n")
    assert hub.store.commits(*DATASET) == commits


def test_all_does_without_a_demo_that_does_not_exist(hub, checkout, home):
    shutil.rmtree(checkout / "space")
    done = publish(checkout, hub, home, "all", "--namespace", "no name")
    assert done.out == "space: left out, there is no folder space/\n"
    assert done.status == 2
    done = publish(checkout, hub, home, "space", "--namespace", "NAME")
    assert (done.status, done.error) == (2, "publish: there is no folder space/ to publish.\n")


def test_the_script_and_the_staging_read_the_same_imports(root):
    """Evaluate finds imports by line, the staging by syntax."""
    script = root / "ecuas_metric/ecuas.py"
    by_syntax = [node.module for node in ast.walk(ast.parse(script.read_text())) if getattr(node, "level", 0) == 1]
    assert by_syntax == [name for kind, name, *_ in get_imports(script) if kind == "internal"]


def blocks(root, language):
    """Return the blocks of the README's section on the Hub."""
    section = re.search(r"\n## On the Hub\n(.*?)\n## ", (root / "README.md").read_text(), flags=re.DOTALL)[1]
    return re.findall(rf"```{language}\n(.*?)```", section, flags=re.DOTALL)


def test_the_readme_shows_what_was_run(published, hub, root, home, tmp_path):
    (commands,), (python,) = blocks(root, "sh"), blocks(root, "python")
    install, dry_run, send = commands.splitlines()
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    call = ["make", "-n", *shlex.split(install)[1:]]
    printed = subprocess.run(call, cwd=root, env=outside, capture_output=True, text=True)
    assert printed.stdout.splitlines()[-1] == ".venv/bin/python publish.py register"

    assert shlex.split(send) == [".venv/bin/python", "publish.py", "all", "--namespace", "NAME"]  # as in `published`
    assert shlex.split(dry_run) == [*shlex.split(send), "--dry-run"]
    done = run(*shlex.split(dry_run)[1:], cwd=root, env=environment(home, hub.url))
    assert done.status == 0, done.error
    folders = {"metric": "ecuas_metric", "dataset": "triviaqa_subset", "space": "space"}
    for part in [part for part, folder in folders.items() if (root / folder).is_dir()]:
        assert re.search(rf"^{part}: would go to {hub.url}/\w+/NAME/[\w-]+, tag {TAG}$", done.out, flags=re.MULTILINE)

    loaded = run("-c", python + "print(ecuas.name, len(curated))", cwd=tmp_path, env=environment(home, hub.url))
    assert loaded.out == "ecuas 455\n", loaded.error
