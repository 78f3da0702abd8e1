"""What the last tab shows visitors to run is run, with a page on loopback instead of the Hub's."""

import json
import re
import shlex
from pathlib import Path

import pytest

from ecuas_metric.reporting import cli
from space.scoring import score_files
from tests.conftest import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
TEXT = (ROOT / "space" / "usage.md").read_text()
METRIC, DATASET, API = re.findall(r"(?s)```python\n(.*?)```", TEXT)


def test_the_metric_and_the_dataset_are_loaded_and_the_plug_ins_are_there(capsys):
    exec(METRIC + DATASET, {})
    assert re.fullmatch(r"0\.7024 ecuas\|n:0,1,128\|K:inf.*\n455\n", capsys.readouterr().out)
    plug_ins = re.findall(r"`from (ecuas_metric\.integrations\.\w+) import (\w+)`", TEXT)
    assert len(plug_ins) == 5
    for module, name in plug_ins:  # whose modules import the tools, seconds long
        path = ROOT / f"{module.replace('.', '/')}.py"
        assert re.search(rf"(?m)^(def|class) {name}\b", path.read_text())


def test_the_commands_print_the_numbers_and_the_sentences_of_the_page(
    files, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    scored = score_files(list(map(str, files)), {})
    commands = re.search(r"(?s)```sh\n(.*?)```", TEXT)[1].splitlines()
    arguments = [shlex.split(command)[1:] for command in commands]
    assert [cli.main(call) for call in arguments] == [0, 0]
    printed = " ".join(capsys.readouterr().out.split())
    assert all(" ".join(one.split()) in printed for one in scored.sentences_alone())
    (compare,) = (call for call in arguments if call[0] == "compare")
    assert cli.main([*compare, "--output", "compared.json"]) == 0
    verdict = json.loads((tmp_path / "compared.json").read_text())["verdict"]
    of_page = scored.decision.verdict.to_json()["by_metric"]
    for key, ranking in verdict["by_metric"].items():
        assert ranking["state"] == of_page[key]["state"]
        assert ranking["best"] == of_page[key]["best"]
        assert ranking["values"] == pytest.approx(of_page[key]["values"])
    (tmp_path / "page").mkdir()
    page = scored.write(tmp_path / "page")["CSV"]
    assert (tmp_path / "table.csv").read_text() == Path(page).read_text()


@pytest.mark.e2e
def test_the_api_answers(page, files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(API.replace("PAGE", page), {})
    assert re.search(r"ecuas\|n:0,1,128\|.* 0\.\d+\n$", capsys.readouterr().out)
