"""The page through its real server and client: every function, robustness, and many visitors at once."""

import base64
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from ecuas_metric.reporting import cli
from publishing.staging import PARTS, stage
from space import uploads
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),
]
VISITORS = 8  # more than are scored at once
NAMES = ["detect_columns", "score", "cost", "leaderboard", "grade", "plan"]


def uploaded(paths):
    return [handle_file(str(path)) for path in paths]


def test_every_function_has_a_name_types_and_a_description(client):
    functions = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    assert set(functions) == {f"/{name}" for name in NAMES}
    for name, function in functions.items():
        assert function["description"], name
        for value in function["parameters"]:
            assert value["python_type"]["type"] not in ("", "Any"), name
    parameters = functions["/score"]["parameters"]
    assert [value["parameter_name"] for value in parameters if not value["parameter_has_default"]] == ["files"]


def test_the_api_returns_the_command_lines_json(client, files, tmp_path):
    result = client.predict(
        files=uploaded(files), n=[0, 1e9], reject_costs=0.25, num_classes=4, explain=True, api_name="/score"
    )
    flags = ["--n", "0,1e9", "--reject-costs", "0.25", "--num-classes", "4", "--interval", "0.95"]
    assert cli.main(["score", *map(str, files), *flags, "--output", str(tmp_path / "cli.json")]) == 0
    expected = json.loads((tmp_path / "cli.json").read_text())
    assert (result["rows"], result["signature"]) == (expected["rows"], expected["signature"])
    assert any("By ECUAS_1e+09, " in sentence for sentence in result["in_words"])


def test_columns_are_detected_and_changed(client, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("confidence,p_true,correct\n0.5,0.25,1\n0.5,0.75,0\n")
    found = client.predict(file=handle_file(str(path)), api_name="/detect_columns")
    assert found["columns"] == ["confidence", "p_true", "correct"]
    assert {role: column for role, column in found["roles"].items() if column} == {
        "confidence": "confidence",
        "correct": "correct",
    }
    scores = [
        client.predict(files=uploaded([path]), confidence=column, n="1", api_name="/score")["rows"][0]["ecuas_1"]
        for column in ("", "p_true")
    ]
    # r^2 + 2 c (1 - r): of u = 1/2 right and wrong; of 3/4 right, 1/4 wrong
    assert scores == pytest.approx([(1 / 4 + 1 / 4 + 1) / 2, (9 / 16 + 1 / 16 + 3 / 2) / 2])


def test_errors_reach_programs(client):
    with pytest.raises(AppError, match=r"^n must be a number; got 'many'\.$"):
        client.predict(n="many", api_name="/cost")


def test_uploads_above_the_limit_are_refused(page):
    for size, status in ((uploads.MAX_BYTES, 200), (uploads.MAX_BYTES + 1, 413)):
        answer = httpx.post(f"{page}gradio_api/upload", files={"files": ("a.csv", b"x" * size)}, timeout=60)
        assert answer.status_code == status


def test_no_path_outside_is_served(page, app):
    inside = [ROOT / "pyproject.toml", Path(app.__file__), ROOT / "space" / "examples" / "classifier.csv"]
    for path in ("/etc/passwd", "/proc/self/environ", *map(str, inside), "../../etc/passwd", "file:///etc/passwd"):
        assert httpx.get(f"{page}gradio_api/file={path}").status_code in (403, 404), path


def test_an_upload_is_not_to_be_found_by_others(page):
    content = b"confidence,correct\n0.123,1\n"
    (path,) = httpx.post(f"{page}gradio_api/upload", files={"files": ("a.csv", content)}).json()
    folder = Path(path).parent
    assert re.fullmatch("[0-9a-f]{64}", folder.name)
    assert folder.name != hashlib.sha256(content).hexdigest()  # else whoever guesses the content could confirm it
    for guess in (folder, folder.parent, folder.parent / hashlib.sha256(content).hexdigest() / "a.csv"):
        assert httpx.get(f"{page}gradio_api/file={guess}").status_code == 403


def test_files_of_the_server_cannot_be_scored_by_path(page, tmp_path):
    (tmp_path / "secret.csv").write_text("confidence,correct\n0.5,1\n")
    for path in (tmp_path / "secret.csv", ROOT / "space" / "examples" / "classifier.csv"):
        data = [{"path": str(path), "meta": {"_type": "gradio.FileData"}}]
        call = f"{page}gradio_api/call/detect_columns"
        event = httpx.post(call, json={"data": data}).json()["event_id"]
        answer = httpx.get(f"{call}/{event}", timeout=30).text
        assert answer.startswith("event: error"), path
        assert "label" not in answer


def test_as_it_is_published_it_runs_by_itself(tmp_path):
    stage(PARTS["space"], tmp_path / "stage", "somebody")
    with running(["app.py"], tmp_path / "stage", tmp_path) as page:
        client = Client(page, verbose=False, download_files=tmp_path / "downloads")
        result = client.predict(files=uploaded([ROOT / "space/examples/verbal_model.csv"]), api_name="/score")
        assert result["rows"][0]["error_rate"] == 0.25
        assert "somebody/ecuas-demo" in httpx.get(page).text + str(client.config["components"])


class running:
    """A process of Python that serves the page at an address."""

    def __init__(self, arguments, folder, tmp_path):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.address = listener.getsockname()
        port = self.address[1]
        env = os.environ | {"GRADIO_SERVER_PORT": str(port), "GRADIO_SERVER_NAME": "127.0.0.1"}
        env |= {"GRADIO_TEMP_DIR": str(tmp_path / "gradio"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.page = f"http://127.0.0.1:{port}/"
        self.process = subprocess.Popen([sys.executable, *arguments], cwd=folder, env=env, stdout=subprocess.DEVNULL)

    def __enter__(self):
        until(self.answers)
        return self.page

    def answers(self):
        assert self.process.poll() is None, "the process ended"
        try:
            socket.create_connection(self.address).close()  # before httpx, which makes much of each request
            return httpx.get(self.page).status_code == 200
        except (ConnectionError, httpx.TransportError):
            return False

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.1)


def test_visitors_beside_a_bootstrap_get_their_own_answers_and_notes(page, tmp_path, rng):
    def patient(number):
        folder = tmp_path / f"downloads{number}"
        return Client(
            page, verbose=False, download_files=folder, analytics_enabled=False, httpx_kwargs={"timeout": None}
        )

    def visit(number):
        path = tmp_path / f"visitor{number}.csv"
        correct = np.arange(60) < number
        frame = pd.DataFrame({"confidence": 0.5, "correct": correct.astype(int)})
        frame.loc[number:, "confidence"] = None if number % 2 else 0.5
        frame.to_csv(path, index=False)
        options = {"missing_confidence": 0.5, "intervals": False}
        return clients[number].predict(files=uploaded([path]), **options, api_name="/score")

    clients = [patient(number) for number in range(VISITORS + 1)]
    q = rng.random(4_000)
    pd.DataFrame({"confidence": np.r_[np.nan, q[1:]], "correct": rng.random(4_000) < q}).to_csv(tmp_path / "long.csv")
    long = clients[0].submit(files=uploaded([tmp_path / "long.csv"]), missing_confidence=0.5, api_name="/score")
    with ThreadPoolExecutor(VISITORS) as pool:
        answers = list(pool.map(visit, range(1, VISITORS + 1)))
    for number, result in enumerate(answers, start=1):
        (row,), notes = result["rows"], " ".join(result["notes"])
        assert row["system"] == f"visitor{number}"
        assert row["error_rate"] == pytest.approx((60 - number) / 60)
        assert (f"{60 - number} of 60 confidences are missing" in notes) == bool(number % 2)
        assert notes.count("are missing") == number % 2
    result = long.result()
    assert "1 of 4000 confidences are missing" in " ".join(result["notes"])
    assert "ecuas_0_low" in result["rows"][0]


def test_the_queue_has_limits(app):
    assert app.demo._queue.max_size == 200
    assert app.demo._queue.default_concurrency_limit == 8


BODIES = [("call/score", 413), ("queue/join", 413), ("run/score", 413), ("mcp/", 413)]


@pytest.mark.parametrize(("path", "status"), BODIES)
@pytest.mark.parametrize("is_said", [True, False])
def test_every_body_has_a_limit(path, status, is_said, page, app):
    body = b'{"data": ["' + b"x" * (app.MAX_BODY + 1) + b'"]}'
    content = body if is_said else (body[i : i + 2**20] for i in range(0, len(body), 2**20))
    answer = httpx.post(f"{page}gradio_api/{path}", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == status or (not is_said and answer.status_code >= 400)


def test_a_refused_file_is_an_error_with_a_reason(page):
    data = [[{"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}]]
    call = f"{page}gradio_api/call/score"
    event = httpx.post(call, json={"data": data}).json()["event_id"]
    answer = httpx.get(f"{call}/{event}", timeout=30).text
    assert answer.startswith("event: error")
    assert not re.search(r"data: (null|\{\"error\": null)", answer)


def test_previews_are_ours_once(page):
    html = httpx.get(page).text
    for name in ("og:title", "og:description", "og:type", "twitter:card", "twitter:title"):
        assert html.count(f'"{name}"') == 1, name
    assert "gradio.app" not in "".join(re.findall("<meta[^>]*>", html))
    assert "which system should you deploy" in re.search('og:title" content="([^"]*)', html)[1]


AGENT = {  # what an agent calls -> what the answer has
    "score": ({"files": ["confidence,correct\n0.5,1\n0.7,0\n"], "n": 5}, '"ecuas_5": '),
    "detect_columns": ({"file": "p,y_true\n0.5,1\n0.7,0\n"}, '"columns": ["p", "y_true"]'),
    "cost": ({"n": 1, "confidence": 0.8}, '"incorrect": 1.64'),
    "leaderboard": ({}, "gemini-2.5-pro"),
    "plan": ({}, '"needed for 0.05"'),
    "grade": ({"file": "question_id,answer,confidence\nodql_14427,London.,0.2\n"}, '"answered": 1'),
}


def test_an_agent_calls_every_function_with_files(page, tmp_path):
    pytest.importorskip("mcp", reason="gradio[mcp] is not installed")
    import asyncio

    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    (path,) = httpx.post(f"{page}gradio_api/upload", files={"files": ("b.csv", b"confidence,correct\n0.5,1\n")}).json()
    files = ["data:text/csv;base64," + base64.b64encode(b"confidence,correct\n0.5,1\n0.6,0\n").decode()]
    files.append(f"{page}gradio_api/file={path}")

    async def ask():
        address = f"{page}gradio_api/mcp/"
        async with streamablehttp_client(address) as (read, write, _), ClientSession(read, write) as session:
            await session.initialize()
            tools = {tool.name.removeprefix("ECUAS_"): tool for tool in (await session.list_tools()).tools}
            assert set(tools) == set(NAMES)
            assert "$defs" not in str([tool.inputSchema for tool in tools.values()])
            calls = [*((name, given) for name, (given, _) in AGENT.items()), ("score", {"files": files})]
            calls += [("cost", {"n": -1}), ("cost", {"n": "many"})]
            return [await session.call_tool(tools[name].name, given) for name, given in calls]

    *answers, two, error, wrong = asyncio.run(asyncio.wait_for(ask(), 60))
    for answer, (name, (_, expected)) in zip(answers, AGENT.items(), strict=True):
        assert not answer.isError, name
        json.loads(answer.content[0].text)
        assert expected in answer.content[0].text, name
    assert [row["system"] for row in json.loads(two.content[0].text)["rows"]] == ["system_1", "b"]
    assert error.isError
    assert error.content[0].text == "n must be >= 0 (inf allowed); got -1."
    assert wrong.isError
    assert "'many' is not of type 'number'" in wrong.content[0].text  # the protocol's library looks first
