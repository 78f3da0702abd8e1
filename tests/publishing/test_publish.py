"""From the work tree to the Hub and back, with the real clients over HTTP."""

import json
import re
from pathlib import Path

import pytest

from publishing import __main__ as command
from publishing import staging
from publishing.staging import PARTS
from tests.publishing.conftest import CONFIGURATIONS, TAG, build_with_text, dataset_of

REPOSITORIES = {
    "dataset": dataset_of("NAME"),
    "metric": ("spaces", "NAME/ecuas"),
    "space": ("spaces", "NAME/ecuas-demo"),
}


@pytest.fixture
def published(hub, publish):
    """Publish everything as NAME, which sends nothing but once."""
    before = len(hub.commits(*REPOSITORIES["space"]))
    done = publish("NAME", "all")
    assert (done.status, done.error) == (0, "")
    assert ("committed" in done.out) == (before == 0)
    return done


def test_each_part_is_one_commit_and_one_tag_with_the_files_that_are_staged(published, publish, hub, staged):
    for name, repository in REPOSITORIES.items():
        (commit,) = hub.commits(*repository)
        assert hub.repositories[repository].tags == {TAG: commit["oid"]}
        assert hub.repositories[repository].sdk == PARTS[name].sdk
        sent = hub.files(*repository)
        del sent[".gitattributes"]  # the Hub's own
        files = [path for path in (staged / name).rglob("*") if path.is_file()]
        assert sent == {path.relative_to(staged / name).as_posix(): path.read_bytes() for path in files}
    before = len(hub.requests)
    again = publish("NAME", "all")
    assert again.out.count(" unchanged ") == 3
    assert not [request for request in hub.requests[before:] if request.startswith("PUT") or "/commit/" in request]


LOAD = """
import json
import evaluate
from datasets import Dataset, get_dataset_config_names, load_dataset
from huggingface_hub import snapshot_download

found = {}
for name, revision in {"main": None, "tag": TAG}.items():
    ecuas = evaluate.load("NAME/ecuas", revision=revision)
    found[name] = ecuas.compute(predictions=[0.9, 0.4], references=[1, 0], n=1)["ecuas_1"]
found["configurations"] = get_dataset_config_names("NAME/triviaqa-curated")
found["default"] = load_dataset("NAME/triviaqa-curated", split="validation").column_names
found["differ"] = []
for name in found["configurations"]:
    local = Dataset.from_parquet(f"{ROOT}/triviaqa_subset/data/{name}.parquet")
    for how in ({}, {"streaming": True}, {"revision": TAG}):
        loaded = load_dataset("NAME/triviaqa-curated", name, split="validation", **how)
        same = list(loaded) == local.to_list() if how.get("streaming") else loaded.data.table.equals(local.data.table)
        if not same or loaded.features != local.features:
            found["differ"].append([name, how])
found["snapshot"] = snapshot_download("NAME/ecuas", repo_type="space")
print(json.dumps(found))
"""


def test_the_clients_load_everything_back(published, hub, root, client):
    done = client.run(f"TAG, ROOT = {TAG!r}, {str(root)!r}\n{LOAD}")
    assert done.status == 0, done.error
    found = json.loads(done.out.splitlines()[-1])
    # (u^2 + 2 c (1 - u)) / 2 with u = 0.1, c = 0 and u = 0.6, c = 1
    assert found["main"] == found["tag"] == pytest.approx((0.01 + 0.36 + 2 * 0.4) / 2)
    assert found["configurations"] == CONFIGURATIONS
    assert {"question_id", "weight"} <= set(found["default"])
    assert found["differ"] == []
    for name, content in hub.files(*REPOSITORIES["metric"]).items():
        assert Path(found["snapshot"], name).read_bytes() == content


def test_the_printed_snippets_load_from_the_hub(published, client, root, staged):
    """Of the pages of a clone, and of the demo's page, whose visitors have none."""
    (code,) = re.findall(r"```python\n(.*?)```", (root / "docs/publishing.md").read_text(), flags=re.DOTALL)
    assert client.run(code + "print(ecuas.name, len(curated))").out == "ecuas 455\n"
    metric, dataset, _ = re.findall(r"```python\n(.*?)```", (staged / "space/space/usage.md").read_text(), re.DOTALL)
    assert client.run(metric).out.startswith("0.7024 ecuas|n:0,1,128|")
    assert client.run(dataset).out == "455\n"


def test_a_dataset_that_was_built_goes_with_its_text(hub, staged, online, client, tmp_path, monkeypatch):
    build_with_text(tmp_path / "built", staged / "dataset")
    monkeypatch.setattr(staging, "BUILT", tmp_path / "built")
    monkeypatch.setattr(staging, "check_loads", lambda *_: None)
    assert command.main(["dataset", "--namespace", "someone", "--endpoint", hub.url]) == 0
    code = (
        "from datasets import load_dataset\n"
        "for row in load_dataset('someone/triviaqa-curated', split='validation').select([0, 454]):\n"
        "    print(row['question'] == f'What is {row[\"question_id\"]}?')\n"
    )
    assert client.run(code).out.split() == ["True", "True"]


def test_a_dry_run_lists_everything_asks_nobody_and_leaves_nothing(hub, staged, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(staging, "check_loads", lambda *_: None)
    monkeypatch.setattr(staging, "BUILT", tmp_path / "nothing")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = len(hub.requests)
    assert command.main(["all", "--namespace", "NAME", "--dry-run", "--endpoint", hub.url]) == 0
    assert len(hub.requests) == before
    assert not list(tmp_path.iterdir())
    out = capsys.readouterr().out
    listed = {name: size for size, name in re.findall(r"^ +([\d,]+)  (.*)$", out, re.MULTILINE)}
    for name, (kind, id) in REPOSITORIES.items():
        files = [path for path in (staged / name).rglob("*") if path.is_file()]
        assert {path.relative_to(staged / name).as_posix() for path in files} <= set(listed)
        assert f"{name}: would go to {hub.url}/{kind}/{id}\n" in out
    assert listed["data/pool.parquet"] == f"{(staged / 'dataset/data/pool.parquet').stat().st_size:,}"


def test_what_must_not_be_sent_stops_everything(hub, online, monkeypatch, capsys):
    """Every part is checked before the first is sent."""
    monkeypatch.setattr(staging, "check_loads", lambda *_: None)
    monkeypatch.setenv("HF_TOKEN", "import")  # the demo, the last one, has a token in it
    before = len(hub.requests)
    assert command.main(["space", "--namespace", "NAME", "--endpoint", hub.url]) == 2
    assert re.fullmatch(r"publish: files must not hold the token in use; .* Remove it\.\n", capsys.readouterr().err)
    assert len(hub.requests) == before
