"""From the work tree to the Hub and back, and to Evaluate's cache, with the real clients over HTTP."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from evaluate import config

from ecuas_metric import __version__
from publishing import __main__ as command
from publishing import registration, staging
from publishing.staging import PARTS
from tests.publishing.conftest import CONFIGURATIONS, DATASET, TAG, files_of
from tests.publishing.hub import TOKEN
from tests.triviaqa_subset.invented import write_curation
from triviaqa_subset import folders
from triviaqa_subset.pool import HUB
from triviaqa_subset.selection import AUTHORS

REPOSITORIES = {"dataset": ("datasets", f"NAME/{DATASET}")}
REPOSITORIES |= {"metric": ("spaces", "NAME/ecuas"), "space": ("spaces", "NAME/ecuas-demo")}
pytestmark = pytest.mark.e2e


@pytest.fixture
def published(hub, publish):
    """Publish everything as NAME, which sends nothing but once."""
    if REPOSITORIES["space"] not in hub.repositories:
        done = publish("NAME", "all")
        assert (done.status, done.error) == (0, "")


def test_each_part_is_one_commit_and_one_tag_with_the_files_that_are_staged(
    published, publish, hub, staged
):
    for name, place in REPOSITORIES.items():
        repository = hub.repositories[place]
        _, commit = repository.commits
        assert (repository.tags, repository.sdk) == ({TAG: commit.oid}, PARTS[name].sdk)
        assert commit.files == {".gitattributes": b".gitattributes"} | files_of(staged / name)
    before = len(hub.requests)
    assert publish("NAME", "all").status == 0
    assert not [
        request
        for request in hub.requests[before:]
        if request.startswith("PUT") or "/commit/" in request
    ]


LOAD = """
import json
import evaluate
from datasets import Dataset, get_dataset_config_names, load_dataset
from huggingface_hub import snapshot_download

load = lambda *name, **how: load_dataset("NAME/triviaqa-curated", *name, split="validation", **how)
metrics = [evaluate.load("NAME/ecuas", revision=revision) for revision in (None, TAG)]
values = [ecuas.compute(predictions=[0.9, 0.4], references=[1, 0], n=1)["ecuas_1"] for ecuas in metrics]
names = get_dataset_config_names("NAME/triviaqa-curated")
tables = {name: Dataset.from_parquet(f"{ROOT}/triviaqa_subset/data/{name}.parquet") for name in names}
loaded = {name: load(name, revision=TAG) for name in names}
differ = [name for name, table in tables.items() if not table.data.table.equals(loaded[name].data.table)]
differ += [name for name, table in tables.items() if table.features != loaded[name].features]
differ += [] if list(load(streaming=True)) == load().to_list() == tables["curated"].to_list() else ["streamed"]
print(json.dumps([values, names, differ, snapshot_download("NAME/ecuas", repo_type="space")]))
"""


def test_the_clients_load_everything_back_and_run_the_printed_snippet(published, hub, root, client):
    done = client.run(f"TAG, ROOT = {TAG!r}, {str(root)!r}\n{LOAD}")
    assert done.status == 0, done.error
    values, names, differ, snapshot = json.loads(done.out.splitlines()[-1])
    # (u^2 + 2 c (1 - u)) / 2 with u = 0.1, c = 0 and u = 0.6, c = 1
    assert values == pytest.approx([(0.01 + 0.36 + 2 * 0.4) / 2] * 2)
    assert (names, differ) == (CONFIGURATIONS, [])
    assert files_of(Path(snapshot)) == hub.repositories[REPOSITORIES["metric"]].commits[-1].files
    (code,) = re.findall(r"(?s)```python\n(.*?)```", (root / "docs/publishing.md").read_text())
    assert client.run(code + "print(ecuas.name, len(curated))").out == "ecuas 455\n"


def test_every_part_is_checked_before_any_is_sent(
    hub, staged, online, tmp_path, monkeypatch, capsys
):
    before = len(hub.requests)
    monkeypatch.setattr(staging, "check_loads", lambda *_: None)
    monkeypatch.setattr(folders, "BUILT", tmp_path / "nothing")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(command.constants, "ENDPOINT", hub.url)
    arguments = ["all", "--namespace", "NAME"]
    assert command.main([*arguments, "--dry-run"]) == 0
    out = capsys.readouterr().out
    for name, (kind, id) in REPOSITORIES.items():
        assert f"{name}: would go to {hub.url}/{kind}/{id}\n" in out
        for file, content in files_of(staged / name).items():
            assert f"  {len(content):>9,}  {file}\n" in out
    # in the last one alone
    monkeypatch.setattr(staging, "get_token", lambda: "import demo, launch")
    assert command.main(arguments) == 2
    assert re.fullmatch(
        r"publish: files must not hold a token; .* Remove it\.\n", capsys.readouterr().err
    )
    assert (len(hub.requests), [*tmp_path.iterdir()]) == (before, [])


SEND = """
from huggingface_hub.cli.hf import main
import sys
sys.argv = COMMAND
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
"""


def test_a_result_is_sent_to_be_kept_by_the_printed_command(published, hub, root, client, tmp_path):
    (tmp_path / "graded.csv").write_text("question_id,correct\nq1,1\n")
    (command_line,) = re.findall(r"(?m)^hf upload .*$", (root / "docs/publishing.md").read_text())
    words = command_line.replace("graded.csv", str(tmp_path / "graded.csv")).split()
    done = client.run(f"import os\nos.environ['HF_TOKEN'] = {TOKEN!r}\nCOMMAND = {words}\n{SEND}")
    assert not done.status, done.error
    repository = hub.repositories[REPOSITORIES["dataset"]]
    assert repository.pulls == [{"submissions/MODEL.csv": b"question_id,correct\nq1,1\n"}]
    assert len(repository.commits) == 2


ONLINE, OFFLINE = (
    f"import os, evaluate\nevaluate.config.HF_EVALUATE_OFFLINE = {off}\n" for off in (False, True)
)
OUT_OF_REACH = f"""{ONLINE}
evaluate.config.HUB_EVALUATE_URL, there = "http://127.0.0.1:9/", evaluate.config.HUB_EVALUATE_URL  # nobody listens
evaluate.load("ecuas")
evaluate.config.HUB_EVALUATE_URL = there
"""
BARE = """
ecuas = evaluate.load("ecuas")
print(ecuas.description.split()[0], ecuas.compute(predictions=[0.5], references=[1], n=1)["ecuas_1"])
"""


@pytest.fixture
def cache(client, staged, tmp_path, monkeypatch):
    """The client's cache of Evaluate's own metric, in which this process registers a metric of its own folder."""
    shutil.copytree(staged / "metric", tmp_path / "metric")
    cache = client.home / "modules" / registration.CACHE.relative_to(config.HF_MODULES_CACHE)
    monkeypatch.setattr(registration, "SCRIPT", tmp_path / "metric" / "ecuas.py")
    monkeypatch.setattr(registration, "CACHE", cache)
    yield cache
    shutil.rmtree(cache)
    client.run(ONLINE)


def test_the_registered_metric_loads_wherever_the_hub_is_and_leaves_what_evaluate_fetched(
    hub, staged, client, cache, capsys
):
    assert command.main(["register"]) == 0
    (script,), files = cache.rglob("ecuas.py"), files_of(cache)
    assert (
        capsys.readouterr().out
        == f'evaluate.load("ecuas") is version {__version__}: {script.parent}\n'
    )
    assert command.main(["register"]) == 0
    assert files_of(cache) == files
    for surroundings in (
        OFFLINE,
        OUT_OF_REACH,
        ONLINE,
        ONLINE + f"os.environ['HF_TOKEN'] = {TOKEN!r}\n",
    ):
        done = client.run(surroundings + BARE)
        assert done.out == "ECUAS_n 0.25\n", done.error
    original = registration.SCRIPT.read_bytes()
    registration.SCRIPT.write_bytes(
        original.replace(b"ECUAS_n is the expected", b"Second: ECUAS_n is the expected")
    )
    registration.register("1.0.0")
    registration.SCRIPT.unlink()  # the cache does not need it
    assert client.run(OFFLINE + BARE).out == "Second: 0.25\n"
    assert command.main(["unregister"]) == 0
    assert capsys.readouterr().out.endswith("removed 1 registered version\n")
    assert (
        client.run(OFFLINE + BARE).error.rstrip().splitlines()[-1].startswith("FileNotFoundError")
    )

    hub.put(
        "spaces",
        "evaluate-metric/ecuas",
        {path.name: path.read_bytes() for path in (staged / "metric").glob("*.py")},
    )
    client.run(ONLINE + BARE)
    fetched = files_of(cache)
    registration.SCRIPT.write_bytes(original)
    registration.register("1.0.0")
    assert len([*cache.rglob("ecuas.py")]) == 2
    registration.unregister()
    assert files_of(cache) == fetched
    assert client.run(OFFLINE + BARE).out == "ECUAS_n 0.25\n"


CARD = b"""---
configs:
- config_name: rc.nocontext
  data_files: [{split: train, path: rc.nocontext/train.parquet}, {split: validation, path: rc.nocontext/all.parquet}]
- {config_name: rc, data_files: rc/*.parquet}
---
"""


def test_trivia_qa_and_the_authors_release_come_from_the_hub(hub, root, tmp_path, client):
    rows = [row | {"question_source": "x"} for row in write_curation(tmp_path / "curation")]
    authors = [
        {"question": row["question"], "llm": llm} for row in rows[200:500] for llm in ("one", "two")
    ]
    files = dict.fromkeys(
        ("rc.nocontext/train.parquet", "rc/all.parquet"), pd.DataFrame(rows[:3]).to_parquet()
    )
    files |= {"README.md": CARD, "rc.nocontext/all.parquet": pd.DataFrame(rows).to_parquet()}
    hub.put("datasets", HUB["path"], files)
    hub.put("datasets", AUTHORS, {"test.parquet": pd.DataFrame(authors).to_parquet()})
    code = f"""
import sys
from pathlib import Path
sys.path.append({str(root)!r})
from triviaqa_subset.build import build
print(*build({str(tmp_path / "built")!r}, selection="authors", curation=Path({str(tmp_path / "curation")!r})))
"""
    remark = "300 questions of authors instead of ours, reweighted; 0 of its 300 questions are not in the pool"
    assert remark in (done := client.run(code)).out, done.error
    curated = pd.read_parquet(tmp_path / "built" / "data" / "curated.parquet")
    assert curated["question"].tolist() == [row["question"] for row in rows[200:500]]
    assert list(curated["answer"][0]["aliases"]) == rows[200]["answer"]["aliases"]
