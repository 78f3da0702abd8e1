"""The command reads what lies on the Hub by its address."""

import json

import pandas as pd
import pytest
from huggingface_hub import HfFileSystem
from huggingface_hub.hf_file_system import HfFileSystemFile

from ecuas_metric.reporting import cli
from ecuas_metric.scale import checked_options, read_collection, score_files
from tests.ecuas_metric.scale.parts import packed

CSV = b"confidence,correct\n0.9,1\n0.8,0\n0.4,1\n"
pytestmark = pytest.mark.e2e


@pytest.fixture
def there(hub, online, monkeypatch):
    """Let hf:// be the Hub on loopback."""
    for name, end in (
        ("ENDPOINT", ""),
        ("HUGGINGFACE_CO_URL_TEMPLATE", "/{repo_id}/resolve/{revision}/{filename}"),
    ):
        monkeypatch.setattr(f"huggingface_hub.constants.{name}", hub.url + end)
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
    there, tmp_path, rng, monkeypatch, capsys
):
    (tmp_path / "data").mkdir()
    for i in range(2):
        q = rng.random(2000).round(3)
        columns = {
            "text": [rng.bytes(1000) for _ in q],
            "confidence": q,
            "correct": rng.random(2000) < q,
        }
        pd.DataFrame(columns).to_parquet(tmp_path / "data" / f"{i}.parquet", row_group_size=500)
    files = {f"data/{path.name}": path.read_bytes() for path in (tmp_path / "data").iterdir()}
    there.put("datasets", "runs/logs", files)
    fetched, fetch = [], HfFileSystemFile._fetch_range
    counting = lambda self, *ends: fetched.append(ends[1] - ends[0]) or fetch(self, *ends)  # noqa: E731
    monkeypatch.setattr(HfFileSystemFile, "_fetch_range", counting)
    name, state = "hf://datasets/runs/logs/data/*.parquet", tmp_path / "all.state"
    assert cli.main(["score", name, "--out-of-core", "--state", str(state)]) == 0
    expected = score_files([(name, str(tmp_path / "data"))], checked_options(n=[0, 1, 128])).states
    found = read_collection(state)
    assert packed(found.states[name]) == packed(expected[name])
    assert list(found.files) == [f"hf://datasets/runs/logs/data/{i}.parquet" for i in (0, 1)]
    assert sum(map(len, files.values())) > 4_000_000
    assert sum(fetched) < 1_500_000  # of the text the first row group of each file, for the recipe
    capsys.readouterr()
    assert cli.main(["score", "hf://datasets/runs/none/*.parquet", "--out-of-core"]) == 2
    assert "ecuas: hf://datasets/runs/none/*.parquet: cannot be read: " in capsys.readouterr().err
