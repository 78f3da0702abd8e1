"""From a checkout to the Hub and back, with the real clients over HTTP."""

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from evaluate.loading import get_imports
from huggingface_hub import HfApi

from ecuas_metric import __version__
from publishing import __main__ as command
from publishing import staging
from publishing.pushing import push
from publishing.staging import PARTS
from tests.publishing.conftest import CONFIGURATIONS, SPACE, build_with_text, environment, run
from tests.publishing.server import TOKEN

TAG = f"v{__version__}"
METRIC, DATASET, DEMO = ("spaces", "NAME/ecuas"), ("datasets", "NAME/triviaqa-curated"), ("spaces", "NAME/ecuas-demo")


ALL = ("publish.py", "all", "--namespace", "NAME")


@pytest.fixture(scope="session")
def published(shared_hub, checkout, tmp_path_factory):
    """Publish everything once, as NAME and by the command; the tests below only look."""
    env = environment(tmp_path_factory.mktemp("hf"), shared_hub.url, HF_TOKEN=TOKEN)
    done = run(*ALL, cwd=checkout, env=env)
    assert (done.status, [line for line in done.error.splitlines() if line.startswith("publish:")]) == (0, [])
    return done


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
    assert sent == {"ecuas.py", "app.py", "README.md", "LICENSE", "requirements.txt", "thumbnail.png", *asked}


def test_the_dataset_is_its_card_tables_and_checksums(published, hub, root):
    sent = hub.store.files(*DATASET)
    tables = {f"data/{name}.parquet" for name in CONFIGURATIONS}
    beside = {"data/SHA256SUMS", "data/croissant.json"}
    assert set(sent) == {".gitattributes", "README.md", "LICENSE", *beside, *tables}
    for name in (*tables, *beside):
        assert sent[name] == (root / "triviaqa_subset" / name).read_bytes()


def test_the_demo_has_both_folders_beside_it(published, hub, checkout):
    sent = hub.store.files(*DEMO)
    assert {"README.md", "LICENSE", "requirements.txt", "app.py", "space/app.py", "space/views.py"} <= set(sent)
    assert not {"space/README.md", "space/requirements.txt"} & set(sent)
    for folder in ("ecuas_metric", "triviaqa_subset"):
        ours = {path.relative_to(checkout).as_posix() for path in (checkout / folder).rglob("*") if path.is_file()}
        assert {name for name in sent if name.startswith(folder)} == ours
    assert sent["README.md"].decode() == SPACE["README.md"].replace("<namespace>", "NAME")
    for name, content in sent.items():  # it loads what is beside it, and knows where it is
        if (checkout / name).is_file() and name not in ("README.md", "LICENSE"):
            assert content == (checkout / name).read_bytes().replace(b"<namespace>", b"NAME")


def test_nothing_sent_is_secret_or_of_this_machine_or_a_test(published, hub, checkout, root):
    for repository in (METRIC, DATASET, DEMO):
        for commit in hub.store.commits(*repository):
            for name, content in hub.store.received(commit).items():
                for own in (TOKEN, str(checkout), str(root), "/home/", "/root/", "/tmp/", "<namespace>"):
                    assert own.encode() not in content, (name, own)
                assert not re.search(r"test|conftest|cache|\.pyc|(^|/)\.", name)
                assert len(content) <= 10_000_000


def test_the_pages_speak_of_the_hub(published, hub):
    metric, dataset = (hub.store.files(*repository)["README.md"].decode() for repository in (METRIC, DATASET))
    assert '>>> ecuas = evaluate.load("NAME/ecuas")\n' in metric
    assert "ecuas_metric/ecuas.py" not in metric + dataset
    assert re.findall(r"load_dataset\((.*?)[,)]", dataset) == ['"NAME/triviaqa-curated"'] * len(CONFIGURATIONS)
    assert 'evaluate.load("NAME/ecuas")' in hub.store.files(*METRIC)["ecuas.py"].decode()


@pytest.mark.parametrize("part", PARTS)
def test_the_pages_link_each_other_the_paper_and_the_code(part, tmp_path):
    staging.stage(PARTS[part], tmp_path / "staged", "NAME")
    page = (tmp_path / "staged" / "README.md").read_text()
    others = {"metric": "spaces/NAME/ecuas)", "dataset": "datasets/NAME/triviaqa-curated)", "space": "NAME/ecuas-demo)"}
    for address in [address for name, address in others.items() if name != part]:
        assert address in page
    assert "](https://arxiv.org/abs/2605.20490)" in page
    assert "](https://huggingface.co/spaces/NAME/ecuas-demo/tree/main)" in page
    assert "apache" in (tmp_path / "staged" / "LICENSE").read_text().lower()
    if part == "space":
        usage = (tmp_path / "staged/space/usage.md").read_text()
        assert 'evaluate.load("NAME/ecuas")' in usage
        assert 'load_dataset("NAME/triviaqa-curated", split="validation")' in usage
        assert "in a clone;" not in usage


LOAD = """
import json
import evaluate
from datasets import Dataset, get_dataset_config_names, load_dataset
from huggingface_hub import snapshot_download

told = {}
for name, revision in {"main": None, "tag": TAG}.items():
    ecuas = evaluate.load("NAME/ecuas", revision=revision)
    told[name] = ecuas.compute(predictions=[0.9, 0.4], references=[1, 0], n=1)["ecuas_1"]
told["configurations"] = get_dataset_config_names("NAME/triviaqa-curated")
told["default"] = load_dataset("NAME/triviaqa-curated", split="validation").column_names
told["differ"] = []
for name in told["configurations"]:
    local = Dataset.from_parquet(f"{ROOT}/triviaqa_subset/data/{name}.parquet")
    for how in ({}, {"streaming": True}, {"revision": TAG}):
        loaded = load_dataset("NAME/triviaqa-curated", name, split="validation", **how)
        same = list(loaded) == local.to_list() if how.get("streaming") else loaded.data.table.equals(local.data.table)
        if not same or loaded.features != local.features:
            told["differ"].append([name, how])
told["snapshots"] = {
    id: snapshot_download(id, repo_type=repo_type)
    for repo_type, id in (("space", "NAME/ecuas"), ("dataset", "NAME/triviaqa-curated"))
}
print(json.dumps(told))
"""


def test_the_clients_load_everything_back(published, hub, root, client):
    done = client.run(f"TAG, ROOT = {TAG!r}, {str(root)!r}\n{LOAD}")
    assert done.status == 0, done.error
    told = json.loads(done.out.splitlines()[-1])
    # (u^2 + 2 c (1 - u)) / 2 with u = 0.1, c = 0 and u = 0.6, c = 1
    assert told["main"] == told["tag"] == pytest.approx((0.01 + 0.36 + 2 * 0.4) / 2)
    assert told["configurations"] == CONFIGURATIONS
    assert told["default"][0] == "question_id"
    assert "weight" in told["default"]
    assert told["differ"] == []
    for kind, id in (METRIC, DATASET):
        for name, content in hub.store.files(kind, id).items():
            assert Path(told["snapshots"][id], name).read_bytes() == content


def test_publishing_again_sends_nothing(published, staged, hub, online):
    before = len(hub.store.requests())
    for part, (kind, id) in {"metric": METRIC, "dataset": DATASET}.items():
        done = push(PARTS[part], staged / part, api=HfApi(endpoint=hub.url), repo_id=id, tag=TAG)
        assert done == f"unchanged {hub.store.commits(kind, id)[0]['oid'][:7]}, tag {TAG}"
    requests = hub.store.requests()[before:]
    assert requests
    assert not [
        request for request in requests if request.startswith("PUT") or "/commit/" in request or "/tag/" in request
    ]


VERSIONS = """
import evaluate
print(type(evaluate.load("ecuas")).__module__.split(".")[2])
for name, revision in (("ecuas", None), ("ecuas", "v9.0.0"), ("ecuas", TAG), ("evaluate-metric/ecuas", "main")):
    print(evaluate.load(name, revision=revision).description.split()[0])
"""


def replace(path, old, new):
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


def test_versions_of_the_bare_name(hub, metric, online, client, monkeypatch):
    """Publish twice as Evaluate's own, and by the client's default way: no file of the metric goes to Xet itself."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False)
    sent = {"api": HfApi(endpoint=hub.url), "repo_id": "evaluate-metric/ecuas"}
    canonical = ("spaces", "evaluate-metric/ecuas")
    (metric / "extra.py").write_text("ONE = 1\n")
    (metric / "thumbnail.png").unlink()
    replace(metric / "ecuas.py", "from .costs import", "from .extra import ONE\nfrom .costs import")
    push(PARTS["metric"], metric, tag=TAG, **sent)

    replace(metric / "ecuas.py", "from .extra import ONE\n", "")
    replace(metric / "ecuas.py", '"""\\\nECUAS_n is', '"""\\\nSecond: ECUAS_n is')
    (metric / "extra.py").unlink()
    kept = push(PARTS["metric"], metric, tag="v8.0.0", **sent)
    assert kept.endswith("; kept, since this version has no such files (--delete): extra.py")
    replace(metric / "ecuas.py", "Second: ECUAS_n", "Third: ECUAS_n")
    assert push(PARTS["metric"], metric, tag="v9.0.0", delete=True, **sent).endswith("; deleted: extra.py")
    first, between, second = hub.store.commits(*canonical)
    assert first["received"].keys() >= {"extra.py", "ecuas.py"}
    assert set(between["received"]) == {"ecuas.py"}
    assert set(second["received"]) == {"extra.py", "ecuas.py"}
    assert second["received"]["extra.py"] is None
    assert hub.store.tags(*canonical) == {TAG: first["oid"], "v8.0.0": between["oid"], "v9.0.0": second["oid"]}

    loaded = client.run(f"TAG = {TAG!r}\n{VERSIONS}")
    assert loaded.out.split() == ["evaluate-metric--ecuas", "Third:", "Third:", "ECUAS_n", "Third:"], loaded.error
    assert "Using the latest cached version" not in loaded.error  # all came from the Hub


def test_a_dataset_that_was_built_goes_with_its_text(hub, staged, online, client, tmp_path, monkeypatch, capsys):
    """That the staged files can be loaded was checked of those without text; here they are loaded from the Hub."""
    build_with_text(tmp_path / "built", staged / "dataset")
    monkeypatch.setattr(staging, "BUILT", tmp_path / "built")
    monkeypatch.setattr("publishing.checks.check_runs", lambda *_: None)
    assert command.main(["dataset", "--namespace", "someone", "--endpoint", hub.url]) == 0
    assert f"from {tmp_path / 'built'}/, checked" in capsys.readouterr().out
    code = (
        "from datasets import load_dataset\n"
        "for row in load_dataset('someone/triviaqa-curated', split='validation').select([0, 454]):\n"
        "    print(row['question'] == f'What is {row[\"question_id\"]}?')\n"
    )
    loaded = client.run(code)
    assert loaded.out.split() == ["True", "True"], loaded.error


def test_the_script_and_the_staging_read_the_same_imports(root):
    """Evaluate finds imports by line, the staging by syntax."""
    script = root / "ecuas_metric/ecuas.py"
    by_syntax = [node.module for node in ast.walk(ast.parse(script.read_text())) if getattr(node, "level", 0) == 1]
    assert by_syntax == [name for kind, name, *_ in get_imports(script) if kind == "internal"]


def blocks(root, language):
    """Return the blocks of the README's section on the Hub."""
    section = re.search(r"\n## On the Hub\n(.*?)\n## ", (root / "README.md").read_text(), flags=re.DOTALL)[1]
    return re.findall(rf"```{language}\n(.*?)```", section, flags=re.DOTALL)


@pytest.fixture(scope="session")
def dry_run(shared_hub, root, tmp_path_factory):
    """Do the README's dry run in the real tree, with no token; return what came out and the requests it made.

    That the parts run was checked when they were published; what is the demo's own, by the tests of the page.
    """
    folder = tmp_path_factory.mktemp("dry-run")
    before, files = len(shared_hub.store.requests()), tracked(root)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as out:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        patch.setattr("publishing.checks.check_runs", lambda *_: None)
        patch.setattr("publishing.__main__.CHANGELOG", folder / "none")
        patch.setattr("tempfile.tempdir", str(folder))
        assert command.main([*ALL[1:], "--dry-run", "--endpoint", shared_hub.url]) == 0
    assert tracked(root) == files
    assert not list(folder.iterdir())
    return out.getvalue(), shared_hub.store.requests()[before:]


def tracked(root):
    """Return what a command might leave in the tree, but for caches of tools."""
    return sorted(path for path in root.iterdir() if not path.name.startswith("."))


def test_a_dry_run_lists_everything_and_asks_nobody(published, dry_run, hub, root):
    out, requests = dry_run
    assert requests == []
    listed = re.search(r"^dataset: .*\n((?: .*\n)+)", out, re.MULTILINE)[1]
    sent = {name: f"{len(content):,}" for name, content in hub.store.files(*DATASET).items()}
    del sent[".gitattributes"]  # the Hub's own
    if not (root / "build/triviaqa_subset/data").is_dir():
        assert {name: size for size, name in re.findall(r"^ +([\d,]+)  (.*)$", listed, re.MULTILINE)} == sent
    for part, (kind, id) in {"metric": METRIC, "dataset": DATASET, "space": DEMO}.items():
        assert f"{part}: would go to {hub.url}/{kind}/{id}, tag {TAG}\n" in out


def test_the_readme_shows_what_was_run(published, dry_run, client, root):
    (commands,), (python,) = blocks(root, "sh"), blocks(root, "python")
    install, dry, send = commands.splitlines()
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    call = ["make", "-n", *shlex.split(install)[1:]]
    printed = subprocess.run(call, cwd=root, env=outside, capture_output=True, text=True)
    assert printed.stdout.splitlines()[-1] == ".venv/bin/python publish.py register"
    assert shlex.split(send) == [".venv/bin/python", *ALL]  # as in `published`
    assert shlex.split(dry) == [*shlex.split(send), "--dry-run"]  # as in `dry_run`

    loaded = client.run(python + "print(ecuas.name, len(curated))")
    assert loaded.out == "ecuas 455\n", loaded.error


def test_the_snippets_of_the_demos_page_run_for_its_visitors(published, client, tmp_path):
    """They have no clone: the metric and the dataset come from the Hub. The third asks the Space itself."""
    staging.stage(PARTS["space"], tmp_path / "space", "NAME")
    metric, dataset, _ = re.findall(r"```python\n(.*?)```", (tmp_path / "space/space/usage.md").read_text(), re.DOTALL)
    shown = client.run(metric)
    assert shown.out.startswith("0.7024 ecuas|n:0,1,128|"), shown.error
    assert client.run(dataset).out == "455\n"
