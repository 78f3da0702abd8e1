"""The page through its real server: every function, robustness, and many visitors at once."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import httpx
import numpy as np
import pandas as pd
import pytest

from publishing.staging import PARTS, stage
from space.uploads import LIMITS
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),
]
WEB = httpx.Client(timeout=None)  # however busy the machine is
VISITORS = 8  # more than are scored at once
SHARED = "* To create a public link, set `share=True` in `launch()`.\n"
EXAMPLE = ROOT / "space" / "examples" / "verbal_model.csv"


def sent(page, name, content):
    """Upload a file, and return the server's answer."""
    return WEB.post(f"{page}gradio_api/upload", files={"files": (name, content)})


def called(page, name, **given):
    """Call a function as programs do, and return the address of its result."""
    call = f"{page}gradio_api/call"
    return f"{call}/{name}/{WEB.post(f'{call}/v2/{name}', json=given).json()['event_id']}"


def result_of(address):
    """Wait for a result, and return it or the error."""
    found = json.loads(
        re.search(r"event: (?:complete|error)\ndata: (.*)", WEB.get(address).text)[1]
    )
    return found[0] if isinstance(found, list) else found


def test_functions_have_names_types_and_descriptions_and_the_page_previews(page):
    functions = WEB.get(f"{page}gradio_api/info").json()["named_endpoints"]
    assert all(function["description"] for function in functions.values())
    types = {
        value["python_type"]["type"]
        for function in functions.values()
        for value in function["parameters"]
    }
    assert not types & {"", "Any"}
    html = WEB.get(page).text
    for name in ("og:title", "og:description", "og:type", "twitter:card", "twitter:title"):
        assert html.count(f'"{name}"') == 1, name
    assert "gradio.app" not in "".join(re.findall("<meta[^>]*>", html))
    # a slow connection brings the verdict before what Gradio needs, and does not wait for its style
    assert html.index('class="verdict"') < html.index("window.gradio_config = {")
    (style,) = re.findall('<link rel="stylesheet"[^>]*>', html.partition("<body")[0])
    assert 'media="print"' in style


def test_no_event_of_the_page_is_queued(app):
    # Gradio's page closes the stream of the queue when its last event ends, and may miss one that is joined then
    events = [event for event in app.demo.fns.values() if event.api_visibility == "private"]
    assert len(events) > 3
    assert not any(event.queue for event in events)


def test_uploads_above_the_limit_are_refused_and_others_cannot_be_found(page):
    for size, status in ((LIMITS.file_bytes, 200), (LIMITS.file_bytes + 1, 413)):
        assert sent(page, "a.csv", b"x" * size).status_code == status
    content = b"confidence,correct\n0.123,1\n"
    folder = Path(sent(page, "a.csv", content).json()[0]).parent
    assert re.fullmatch("[0-9a-f]{64}", folder.name)
    # else whoever guesses the content could confirm it
    assert folder.name != hashlib.sha256(content).hexdigest()
    for guess in (
        folder,
        folder.parent,
        folder.parent / hashlib.sha256(content).hexdigest() / "a.csv",
    ):
        assert WEB.get(f"{page}gradio_api/file={guess}").status_code == 403


def test_no_file_of_the_server_is_served_or_scored(page, app, tmp_path):
    (tmp_path / "secret.csv").write_text("confidence,correct\n0.5,1\n")
    paths = [
        *map(str, (ROOT / "pyproject.toml", app.__file__, EXAMPLE, tmp_path / "secret.csv")),
        "/etc/passwd",
    ]
    for path in (*paths, "/proc/self/environ", "../../etc/passwd", "file:///etc/passwd"):
        assert WEB.get(f"{page}gradio_api/file={path}").status_code in (403, 404), path
    for path in paths:
        for file in (path, {"path": path, "meta": {"_type": "gradio.FileData"}}):
            for call in (called(page, "grade", file=file), called(page, "score", files=[file])):
                assert re.search(
                    "is no upload of this page|not uploaded by a user", result_of(call)["error"]
                )


def test_what_there_is_not_is_not_found_and_every_body_has_a_limit(page):
    for path in ("queue/join", "run/predict", "api/nothing", "call/nothing"):
        answer = WEB.post(
            f"{page}gradio_api/{path}", json={"fn_index": 9999, "data": [], "session_hash": "x"}
        )
        assert answer.status_code in (404, 422), path
        assert "detail" in answer.json()
    body = b'{"data": ["' + b"x" * LIMITS.all_bytes + b'"]}'
    for path in ("call/score", "queue/join", "mcp/"):
        # the latter says no length
        for content in (body, (body[i : i + 2**20] for i in range(0, len(body), 2**20))):
            answer = WEB.post(
                f"{page}gradio_api/{path}",
                content=content,
                headers={"content-type": "application/json"},
            )
            assert answer.status_code == 413 or (content is not body and answer.status_code >= 400)


def test_as_it_is_published_it_runs_by_itself(tmp_path):
    stage(PARTS["space"], tmp_path / "stage", "somebody")
    env = os.environ | {
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }
    call, folder = [sys.executable, "app.py"], tmp_path / "stage"
    with subprocess.Popen(call, cwd=folder, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            printed = "".join(iter(process.stdout.readline, SHARED))  # at the end of a launch
            page = re.search(r"URL: +(http\S+)", printed)[1] + "/"
            assert (
                result_of(called(page, "score", files=[EXAMPLE.read_text()]))["rows"][0][
                    "error_rate"
                ]
                == 0.25
            )
            assert "somebody/ecuas-demo" in WEB.get(page).text
        finally:
            process.terminate()


def test_a_call_by_place_needs_no_argument_that_has_a_default(page):
    (path,) = sent(page, "a.csv", b"confidence,correct\n0.5,1\n0.7,0\n").json()
    file = {"path": path, "meta": {"_type": "gradio.FileData"}}
    call = f"{page}gradio_api/call/score"
    for given in ([[file]], [[file], "", "0, 1, 128"]):
        identifier = WEB.post(call, json={"data": given}).json()["event_id"]
        expected = result_of(called(page, "score", files=[file]))
        assert result_of(f"{call}/{identifier}") == expected
    identifier = WEB.post(call, json={"data": []}).json()["event_id"]
    assert "event: error" in WEB.get(f"{call}/{identifier}").text


@pytest.mark.parametrize("name", ["a%2Fb%20c", "50% & 1+1=2 #", "it's (1) [2]"])
def test_an_upload_of_any_name_is_scored_by_its_path_and_by_its_address(name, page):
    (path,) = sent(page, f"{name}.csv", b"confidence,correct\n0.5,1\n0.7,0\n").json()
    address = f"{page}gradio_api/file={quote(path)}"
    for file in ({"path": path, "meta": {"_type": "gradio.FileData"}}, path, address):
        (row,) = result_of(called(page, "score", files=[file]))["rows"]
        assert row["system"] == name


def test_visitors_at_once_get_their_own_answers_and_notes(page):
    calls = {}
    for number in range(1, VISITORS + 1):
        confidence = np.where((np.arange(60) < number) | (number % 2 == 0), 0.5, np.nan)
        frame = pd.DataFrame({"confidence": confidence, "correct": np.arange(60) < number})
        sheets = sent(page, f"visitor{number}.csv", frame.to_csv(index=False).encode()).json()
        calls[number] = called(page, "score", files=sheets, missing_confidence=0.5)
    for number, call in calls.items():
        result = result_of(call)
        (row,), notes = result["rows"], " ".join(result["notes"])
        assert row["system"] == f"visitor{number}"
        assert row["error_rate"] == pytest.approx((60 - number) / 60)
        assert notes.count(f"{60 - number} of 60 confidences are missing") == number % 2


AGENT = {  # what an agent calls -> what the answer has
    "score": ({"files": ['[{"confidence": 0.5, "correct": 1}]'], "n": 5}, '"ecuas_5": '),
    "threshold": (
        {"files": ["confidence,correct\n0.5,1\n0.7,0\n"], "budget": 0.5},
        '"reject_cost": 0.',
    ),
    "leaderboard": ({}, "gemini-2.5-pro"),
    "grade": ({"file": "question_id,answer,confidence\nodql_14427,London.,0.2\n"}, '"answered": 1'),
}


def test_an_agent_calls_every_function_with_files(page):
    pytest.importorskip("mcp", reason="gradio[mcp] is not installed")
    import asyncio

    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    (path,) = sent(page, "b.csv", b"confidence,correct\n0.5,1\n").json()
    files = ["confidence,correct\n0.5,1\n0.6,0\n", f"{page}gradio_api/file={path}"]

    async def ask():
        address = f"{page}gradio_api/mcp/"
        async with (
            streamablehttp_client(address) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            tools = {
                tool.name.removeprefix("ECUAS_"): tool
                for tool in (await session.list_tools()).tools
            }
            assert set(tools) == set(AGENT)
            assert "$defs" not in str([tool.inputSchema for tool in tools.values()])
            calls = [
                *((name, given) for name, (given, _) in AGENT.items()),
                ("score", {"files": files}),
            ]
            calls.append(("score", {"files": files, "n": -1}))
            return [await session.call_tool(tools[name].name, given) for name, given in calls]

    *answers, two, error = asyncio.run(ask())
    for answer, (name, (_, expected)) in zip(answers, AGENT.items(), strict=True):
        assert expected in json.dumps(json.loads(answer.content[0].text)), name
    assert [row["system"] for row in json.loads(two.content[0].text)["rows"]] == ["system_1", "b"]
    assert error.isError
    assert error.content[0].text == "n must be >= 0 (inf allowed); got -1.0 at index 0 (1 of 1)."
