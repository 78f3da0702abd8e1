"""The command reads what lies on the Hub by its address."""

import json

import numpy as np
import pandas as pd
import pytest
from huggingface_hub import HfFileSystem
from huggingface_hub.hf_file_system import HfFileSystemFile

from ecuas_metric.reporting import cli
from tests.ecuas_metric.files.test_runs import (
    eval_file,
    inspect_log,
    inspect_sample,
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
    output = tmp_path / "out.json"
    assert cli.main(["score", "hf://datasets/runs/outputs/gpt.csv", "--output", str(output)]) == 0
    (row,) = json.loads(output.read_text())["rows"]
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
    """Write samples of lm-eval and the results beside them, in a folder of the model."""
    rng = np.random.default_rng(0)
    rows = [
        lm_eval_row(number, int(label), scores.tolist())
        for number, (label, scores) in enumerate(
            zip(rng.integers(0, 4, 30), rng.normal(-3, 1, (30, 4)), strict=True)
        )
    ]
    samples = of_results(folder, '{"model_name": "org/model"}', rows)
    return [samples, *folder.glob("results_*.json")]


def write_inspect(folder):
    samples = [inspect_sample(number, "CI"[number % 2], number / 20) for number in range(20)]
    return [eval_file(folder, inspect_log(samples))]


RUNS = {"lm-eval": write_lm_eval, "inspect": write_inspect}


def rows_scored(path, tmp_path):
    output = tmp_path / "out.json"
    assert cli.main(["score", str(path), "--output", str(output)]) == 0
    return json.loads(output.read_text())["rows"]


@pytest.mark.parametrize("tool", RUNS)
@pytest.mark.parametrize("is_folder", [True, False])
def test_runs_on_the_hub_have_the_numbers_that_they_have_on_disk(there, tmp_path, tool, is_folder):
    local = tmp_path / "org__model"
    files = RUNS[tool](local)
    there.put(
        "datasets",
        "runs/logs",
        {f"{tool}/org__model/{one.name}": one.read_bytes() for one in files},
    )
    address = f"hf://datasets/runs/logs/{tool}/org__model"
    expected = rows_scored(local if is_folder else files[0], tmp_path)
    assert rows_scored(address if is_folder else f"{address}/{files[0].name}", tmp_path) == expected


def test_an_error_in_a_run_on_the_hub_names_its_address(there, tmp_path, capsys):
    samples, _ = write_lm_eval(tmp_path / "m")
    rows = samples.read_text().replace('"acc": 1.0', '"acc": 0.5')
    there.put("datasets", "runs/broken", {f"m/{samples.name}": rows.encode()})
    assert cli.main(["score", "hf://datasets/runs/broken/m"]) == 2
    error = capsys.readouterr().err
    assert f"hf://datasets/runs/broken/m/{samples.name}:" in error


def test_lines_that_are_no_run_are_a_table_at_an_address(there, tmp_path):
    table = [json.dumps({"confidence": q, "correct": q > 0.5}) for q in (0.2, 0.6, 0.9)]
    there.put("datasets", "runs/tables", {"a.jsonl": "\n".join(table).encode()})
    (row,) = rows_scored("hf://datasets/runs/tables/a.jsonl", tmp_path)
    assert row["N"] == 3
