"""The command reads what lies on the Hub by its address."""

import json

import pandas as pd
import pytest
from huggingface_hub import HfFileSystem
from huggingface_hub.hf_file_system import HfFileSystemFile

from ecuas_metric.reporting import cli

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
