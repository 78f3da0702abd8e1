"""The command reads what lies on the Hub by its address."""

import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest
from huggingface_hub import HfFileSystem
from huggingface_hub.hf_file_system import HfFileSystemFile

from ecuas_metric.reporting import cli
from tests.ecuas_metric.files.test_runs import (
    TIME,
    eval_ever,
    eval_ever_row,
    eval_file,
    inspect_log,
    inspect_sample,
    lighteval_row,
    lm_eval_row,
    of_results,
)

CSV = b"confidence,correct\n0.9,1\n0.8,0\n0.4,1\n"
pytestmark = pytest.mark.e2e


@pytest.fixture
def there(hub, online, monkeypatch):
    """Let hf:// be the Hub on loopback."""
    template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
    HfFileSystem.clear_instance_cache()
    yield hub
    HfFileSystem.clear_instance_cache()


def test_files_on_the_hub_are_read(there, tmp_path, capsys):
    there.put("datasets", "runs/outputs", {"gpt.csv": CSV})
    (row,) = rows_scored("hf://datasets/runs/outputs/gpt.csv", tmp_path)
    assert (row["system"], row["ecuas_1"]) == ("gpt", pytest.approx(0.67))
    capsys.readouterr()
    assert cli.main(["score", "hf://datasets/runs/outputs/none.csv"]) == 2
    assert (
        capsys.readouterr().err
        == "ecuas: hf://datasets/runs/outputs/none.csv: there is no such file.\n"
    )


def test_of_parquet_on_the_hub_only_the_columns_that_are_needed_are_fetched(
    there, rng, monkeypatch, capsys
):
    q = rng.random(2000).round(3)
    texts = [rng.bytes(1000) for _ in q]
    table = pd.DataFrame({"text": texts, "confidence": q, "correct": rng.random(2000) < q})
    file = table.to_parquet(row_group_size=500)
    there.put("datasets", "runs/logs", {"data/0.parquet": file})
    fetched = []
    fetch = HfFileSystemFile._fetch_range

    def counting(self, start, end):
        fetched.append(end - start)
        return fetch(self, start, end)

    monkeypatch.setattr(HfFileSystemFile, "_fetch_range", counting)
    assert cli.main(["score", "hf://datasets/runs/logs/data/*.parquet", "--out-of-core"]) == 0
    assert sum(fetched) < 0.4 * len(file)  # of the text the first row group, for the recipe
    capsys.readouterr()
    assert cli.main(["score", "hf://datasets/runs/none/*.parquet", "--out-of-core"]) == 2
    assert "ecuas: hf://datasets/runs/none/*.parquet: cannot be read: " in capsys.readouterr().err


def write_lm_eval(folder):
    """Write samples of lm-eval, a document twice, and the results beside them, in a folder of the model."""
    rows = lm_eval_rows()
    rows[7]["doc_hash"] = rows[3]["doc_hash"]
    samples = of_results(folder, '{"model_name": "org/model"}', rows)
    return [samples, *folder.glob("results_*.json")]


def questions():
    """Return the numbers of questions, their true choices and the log-likelihoods of all."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 30).tolist()
    return zip(range(30), labels, rng.normal(-3, 1, (30, 4)).tolist(), strict=True)


def lm_eval_rows():
    return [lm_eval_row(*question) for question in questions()]


def write_open_llm_leaderboard(folder):
    """Write samples of 2024, named as their task, with its name and the time, and .json."""
    folder.mkdir()
    file = folder / "samples_leaderboard_arc_challenge_2024-06-13T19-22-24.000000.json"
    file.write_text(json.dumps(lm_eval_rows()))
    return [file]


def write_lighteval(folder):
    folder.mkdir()
    rows = [lighteval_row(*question) for question in questions()]
    file = folder / f"details_colors|0_{TIME}.parquet"
    pd.DataFrame(rows).to_parquet(file)
    return [file]


def write_inspect(folder):
    samples = [inspect_sample(number, "CI"[number % 2], number / 20) for number in range(20)]
    return [eval_file(folder, inspect_log(samples))]


def write_every_eval_ever(folder):
    rows = [eval_ever_row(f"q{place}", confidence=place / 20) for place in range(20)]
    return [eval_ever(folder, rows)]


RUNS = {
    "lm-eval": write_lm_eval,
    "open-llm-leaderboard": write_open_llm_leaderboard,
    "lighteval": write_lighteval,
    "inspect": write_inspect,
    "every-eval-ever": write_every_eval_ever,
}


def rows_scored(path, tmp_path):
    output = tmp_path / "out.json"
    assert cli.main(["score", str(path), "--output", str(output), "--interval", "0.95"]) == 0
    return json.loads(output.read_text())["rows"]


@pytest.fixture
def served(tmp_path):
    """Serve the folder of a test, with listings."""
    handler = partial(SilentHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def send_head(self):
        if self.path.startswith("/refused"):
            return self.send_error(403)
        return super().send_head()


@pytest.mark.parametrize("tool", RUNS)
@pytest.mark.parametrize("is_folder", [True, False])
def test_runs_at_addresses_have_the_numbers_that_they_have_on_disk(
    there, served, tmp_path, tool, is_folder
):
    local = tmp_path / "org__model"
    files = RUNS[tool](local)
    contents = {f"org__model/{one.name}": one.read_bytes() for one in files}
    neighbours = {f"org__model2/{one.name}": b"{}" for one in files}
    for kind in ("datasets", "buckets"):
        there.put(kind, "runs/logs", contents | neighbours)
    name = "org__model" if is_folder else f"org__model/{files[0].name}"
    expected = rows_scored(tmp_path / name, tmp_path)
    for place in ("hf://datasets/runs/logs", "hf://buckets/runs/logs", served):
        assert rows_scored(f"{place}/{name}", tmp_path) == expected
    if not is_folder:  # the query is no part of the name of a file
        address = f"{served}/{name}?download=true&key=a/b.csv"
        assert rows_scored(address, tmp_path) == expected


def test_a_table_is_named_by_its_address_without_the_query(served, tmp_path):
    (tmp_path / "gpt.csv").write_bytes(CSV)
    (row,) = rows_scored(f"{served}/gpt.csv?download=true", tmp_path)
    assert row["system"] == "gpt"


@pytest.mark.parametrize("name", ["samples.jsonl", "table.csv", "run"])
@pytest.mark.parametrize("fault", [500, "cut"])
def test_a_hub_that_does_not_answer_is_one_line(there, capsys, name, fault):
    there.misbehave("/api/datasets", fault)
    address = f"hf://datasets/runs/silent/{name}"
    assert cli.main(["score", address]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"ecuas: {address}: cannot be read")


@pytest.mark.parametrize("flags", [[], ["--out-of-core"]])
def test_an_address_that_nobody_may_read_or_where_nobody_is_is_one_line(served, capsys, flags):
    for place in (f"{served}/refused", "http://127.0.0.1:1"):
        address = f"{place}/samples_a.parquet"
        assert cli.main(["score", address, *flags]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"ecuas: {address}: cannot be read")


def test_what_was_fetched_from_the_hub_is_kept(there, tmp_path):
    files = write_lm_eval(tmp_path / "m")
    kept = there.put("datasets", "runs/kept", {f"m/{one.name}": one.read_bytes() for one in files})
    there.requests.clear()
    first = rows_scored("hf://datasets/runs/kept/m", tmp_path)
    assert sum(request.startswith("GET /datasets") for request in there.requests) == len(files)
    assert rows_scored("hf://datasets/runs/kept/m", tmp_path) == first
    revision = kept.commits[-1].oid
    assert rows_scored(f"hf://datasets/runs/kept@{revision}/m", tmp_path) == first
    assert sum(request.startswith("GET /datasets") for request in there.requests) == len(files)


def test_an_error_in_a_run_at_an_address_names_it(there, served, tmp_path, capsys):
    samples, _ = write_lm_eval(tmp_path / "m")
    samples.write_text(samples.read_text().replace('"acc": 1.0', '"acc": 0.5'))
    there.put("datasets", "runs/broken", {f"m/{samples.name}": samples.read_bytes()})
    for address in ("hf://datasets/runs/broken/m", f"{served}/m"):
        assert cli.main(["score", address]) == 2
        assert f"ecuas: {address}/{samples.name}:" in capsys.readouterr().err
