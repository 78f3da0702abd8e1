"""What the last tab shows visitors to run is run, with a page on loopback instead of the Hub's."""

import re
import shlex

import pytest

from ecuas_metric.reporting import cli
from tests.conftest import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
TEXT = (ROOT / "space" / "usage.md").read_text()
METRIC, DATASET, API = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def test_the_metric_and_the_dataset_are_loaded_and_the_plug_ins_are_there(capsys):
    exec(METRIC + DATASET, {})
    assert re.fullmatch(r"0\.7024 ecuas\|n:0,1,128\|K:inf.*\n455\n", capsys.readouterr().out)
    plug_ins = re.findall(r"`from (ecuas_metric\.integrations\.\w+) import (\w+)`", TEXT)
    assert len(plug_ins) == 5
    for module, name in plug_ins:  # whose modules import the tools, seconds long
        path = ROOT / f"{module.replace('.', '/')}.py"
        assert re.search(rf"^(def|class) {name}\b", path.read_text(), flags=re.MULTILINE)


def test_the_commands_run(files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    commands = re.search(r"```sh\n(.*?)```", TEXT, flags=re.DOTALL)[1].splitlines()
    assert [cli.main(shlex.split(command)[1:]) for command in commands] == [0, 0]
    assert (tmp_path / "table.csv").exists()


@pytest.mark.e2e
def test_the_api_answers(page, files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(API.replace("PAGE", page), {})
    assert re.search(r"ecuas\|n:0,1,128\|.* 0\.\d+\n$", capsys.readouterr().out)
