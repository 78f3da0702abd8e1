"""The command reads what lies on the Hub by its address."""

import json

import pytest
from huggingface_hub import HfApi, HfFileSystem

from ecuas_metric.reporting import cli
from tests.publishing.server import TOKEN

CSV = b"confidence,correct\n0.9,1\n0.8,0\n0.4,1\n"


@pytest.mark.e2e
def test_files_on_the_hub_are_read(hub, online, tmp_path, monkeypatch, capsys):
    for name, end in (("ENDPOINT", ""), ("HUGGINGFACE_CO_URL_TEMPLATE", "/{repo_id}/resolve/{revision}/{filename}")):
        monkeypatch.setattr(f"huggingface_hub.constants.{name}", hub.url + end)
    HfFileSystem.clear_instance_cache()
    api = HfApi(endpoint=hub.url, token=TOKEN)
    api.create_repo("runs/outputs", repo_type="dataset")
    api.upload_file(path_or_fileobj=CSV, path_in_repo="gpt.csv", repo_id="runs/outputs", repo_type="dataset")
    output = tmp_path / "out.json"
    assert cli.main(["score", "hf://datasets/runs/outputs/gpt.csv", "--output", str(output)]) == 0
    (row,) = json.loads(output.read_text())["rows"]
    assert (row["system"], row["ecuas_1"]) == ("gpt", pytest.approx(0.67))
    capsys.readouterr()
    assert cli.main(["score", "hf://datasets/runs/outputs/none.csv"]) == 2
    assert capsys.readouterr().err == "ecuas: hf://datasets/runs/outputs/none.csv: there is no such file.\n"
    HfFileSystem.clear_instance_cache()
