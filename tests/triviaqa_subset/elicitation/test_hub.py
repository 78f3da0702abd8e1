"""A dataset on the Hub with an eval.yaml, asked by Inspect's own loader, in two steps, as the docs print them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from yaml import safe_load

from ecuas_metric import confidence_system
from ecuas_metric.hub.eval_results import eval_result_entries
from ecuas_metric.results import compute_results
from tests.conftest import ROOT
from tests.ecuas_metric.integrations.live import arithmetic, close
from tests.publishing.hub import hub
from tests.triviaqa_subset.elicitation.servers import choice, serving

pytest.importorskip("inspect_ai")
pytestmark = pytest.mark.e2e
CARD = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: test\n    path: test.jsonl\n---\n"
RIGHT = [number % 3 > 0 for number in range(12)]
SURE = [(5 + 3 * number) / 100 for number in range(12)]


def printed():
    """Return the two files and the commands of the section of the docs."""
    text = (ROOT / "docs" / "publishing.md").read_text().split("## A board of your own")[1]
    blocks = re.findall(r"```(yaml|sh)\n(.*?)```", text, flags=re.DOTALL)
    (_, own), (_, inspects), (_, commands) = blocks
    return safe_load(own), inspects, commands


def reply(payload):
    number = int(re.findall(r"thing (\d+)", payload["messages"][-1]["content"])[-1])
    answer = f"Zarquon {number}" if RIGHT[number] else "Nobody"
    return choice(f"{answer} ({round(100 * SURE[number])} %)")


def test_the_tasks_of_our_own_file_are_those_that_results_name():
    own, *_ = printed()
    assert own["evaluation_framework"] == "ecuas"
    names = [task["id"] for task in own["tasks"]]
    results = compute_results(confidence_system([1, 0, 1], [0.9, 0.4, 0.7]))
    entries = eval_result_entries(results, benchmark="a/b")
    assert set(names) <= {entry.task_id for entry in entries}


def test_inspects_loader_and_a_second_scorer(tmp_path):
    _, file, commands = printed()
    rows = [
        {"question": f"Who made thing {n}?", "answer": f"Zarquon {n}", "question_id": f"q{n}"}
        for n in range(12)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    files = {"eval.yaml": file, "README.md": CARD, "test.jsonl": lines}
    hub.start()
    hub.put("datasets", "me/questions", {name: text.encode() for name, text in files.items()})
    commands = commands.replace("NAME/DATASET", "me/questions").replace("MODEL", "openai-api/x/m")
    with serving() as server:
        server.reply = reply
        online = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "0"}
        online |= {"HF_DATASETS_OFFLINE": "0", "X_BASE_URL": server.url, "X_API_KEY": "none"}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        env = os.environ | online | {"PATH": path, "INSPECT_DISPLAY": "none"}
        steps = f"set -e\n{commands.strip()} --output table.json\n"
        done = subprocess.run(
            ["bash", "-c", steps], cwd=tmp_path, env=env, capture_output=True, text=True
        )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    (row,) = json.loads((tmp_path / "table.json").read_text())["rows"]
    assert row["N"] == 12
    assert close(row, arithmetic(list(map(int, RIGHT)), SURE))
    assert "id = question_id" in done.stdout + done.stderr
