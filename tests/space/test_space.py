"""The page through its real server and client: every function, robustness, and many visitors at once."""

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
from space import scoring, uploads
from space.subset import tables
from tests.conftest import ROOT
from tests.space.test_uploads import content_of
from triviaqa_subset import power

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),
]
VISITORS = 8  # with the bootstrap, more than are served at once
NAMES = ["detect_columns", "score", "cost", "simulate", "questions", "question", "error_rates"]
NAMES += ["grade_answers", "score_answers", "plan"]
MESSAGE, TABLE, EXPLANATION, CSV, MARKDOWN, LATEX, *PLOTS, SIGNATURE, RESULT = range(13)


def uploaded(paths):
    return [handle_file(str(path)) for path in paths]


def test_every_function_has_a_name_types_and_a_description(client):
    functions = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    assert set(functions) == {f"/{name}" for name in NAMES}
    for name, function in functions.items():
        assert function["description"], name
        for value in function["parameters"]:
            assert value["label"], name
            assert value["python_type"]["type"], name
        assert not any(re.fullmatch("value_.*", value["label"]) for value in function["returns"]), name
    assert [
        value["parameter_name"] for value in functions["/score"]["parameters"] if not value["parameter_has_default"]
    ] == ["files"]


OPTIONS = [
    ({}, ["--interval", "0.95"]),
    ({"intervals": False, "n": "0.5 ∞", "normalize": True}, ["--n", "0.5,inf", "--normalize"]),
    (
        {"intervals": False, "decompose": True, "reject_costs": "0.1; 0.3", "num_classes": "4"},
        ["--decompose", "--reject-costs", "0.1,0.3", "--num-classes", "4"],
    ),
]


@pytest.mark.parametrize(("options", "arguments"), OPTIONS)
def test_downloads_are_the_command_lines_files(options, arguments, client, files, tmp_path):
    shown = client.predict(files=uploaded(files), **options, api_name="/score")
    outputs = [tmp_path / f"cli.{suffix}" for suffix in ("csv", "md", "tex", "json")]
    paths = [part for path in outputs for part in ("--output", str(path))]
    assert cli.main(["score", *map(str, files), *arguments, *paths]) == 0
    for downloaded, path in zip((shown[CSV], shown[MARKDOWN], shown[LATEX]), outputs, strict=False):
        assert Path(downloaded).read_bytes() == path.read_bytes()
    assert shown[RESULT] == json.loads(outputs[-1].read_text())
    assert shown[SIGNATURE] == shown[RESULT]["signature"]
    assert f"{shown[RESULT]['rows'][0]['aurc']:.3f}" in shown[TABLE]
    assert "is best" in shown[EXPLANATION]


def test_columns_are_detected_and_changed(client, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("confidence,p_true,correct\n0.5,0.25,1\n0.5,0.75,0\n")
    message, confidence, *_ = client.predict(files=uploaded([path]), api_name="/detect_columns")
    assert (message, confidence["value"]) == ("", "confidence")
    assert [name for name, _ in confidence["choices"]] == ["confidence", "p_true", "correct"]
    scores = [
        client.predict(files=uploaded([path]), confidence=column, n="1", api_name="/score")[RESULT]["rows"][0][
            "ecuas_1"
        ]
        for column in ("", "p_true")
    ]
    # r^2 + 2 c (1 - r): of u = 1/2 right and wrong; of 3/4 right, 1/4 wrong
    assert scores == pytest.approx([(1 / 4 + 1 / 4 + 1) / 2, (9 / 16 + 1 / 16 + 3 / 2) / 2])


def test_posteriors_are_scored(client):
    path = ROOT / "space" / "examples" / "classifier.csv"
    shown = client.predict(files=uploaded([path]), intervals=False, api_name="/score")
    frame = pd.read_csv(path)
    wrong = frame.drop(columns="label").to_numpy().argmax(axis=1) != frame["label"]
    assert shown[RESULT]["rows"][0]["error_rate"] == pytest.approx(wrong.mean())
    assert "|K:3|" in shown[SIGNATURE]


@pytest.mark.parametrize("name", ["empty.csv", "formula.csv", "keys.jsonl"])
def test_bad_files_show_a_message_and_nothing_else(name, client, tmp_path):
    (tmp_path / name).write_bytes(content_of(name))
    message, *rest = client.predict(files=uploaded([tmp_path / name]), api_name="/score")
    assert message.startswith('<div class="message error" role="alert">')
    assert "Traceback" not in message
    assert str(tmp_path) not in message
    assert rest == [None] * len(rest)
    message, *_ = client.predict(files=uploaded([tmp_path / name]), api_name="/detect_columns")
    assert "Traceback" not in message


def test_files_of_another_kind_are_refused(client, tmp_path):
    (tmp_path / "book.xlsx").write_bytes(content_of("book.xlsx"))
    with pytest.raises(AppError, match=r"Please upload a file that is one of these formats: \['\.csv'"):
        client.predict(files=uploaded([tmp_path / "book.xlsx"]), api_name="/score")


LOGITS = "label,prob_0,prob_1\n0,2.5,-1\n"
SUMS = "label,prob_0,prob_1\n0,0.5,0.7\n"
GOOD = "label,prob_0,prob_1\n0,0.5,0.5\n"
WORDING = [
    ("confidence,correct\n,1\n", {}, "Enter a value for them under Options of the first tab."),
    (LOGITS, {}, "Logits or log-probabilities? Choose them under Options."),
    (SUMS, {}, "Logits? Choose logits under Options; their rows may have any sum."),
    (GOOD, {"num_classes": "3"}, "Number of possible answers K requires confidences; the input is posteriors."),
    (GOOD, {"missing_confidence": "0.5"}, "Missing confidence requires confidences"),
    ("confidence,correct\n1,1\n", {"predictions_are": "logits"}, "Form of the posteriors requires posteriors"),
    ("confidence,correct\n1,1\n", {"n": "-1"}, "n must be &gt;= 0"),
    ("confidence,correct\n1,1\n", {"n": "many"}, "n must be numbers, separated by commas"),
    ("confidence,correct\n1,1\n", {"reject_costs": "2"}, "Reject costs must lie in [0, 1]"),
    ("confidence,correct\n1,1\n", {"num_classes": "1"}, "Number of possible answers K must be a whole number"),
    ("confidence,correct\n90,1\n", {}, "a.csv: column &#x27;confidence&#x27; must lie in [0, 1]; got 90.0 in row 2"),
    ("confidence,correct\n,1\n", {"missing_confidence": "2"}, "Missing confidence must be a number in [0, 1]"),
    ("confidence,correct\n1,1\n", {"group": "nowhere"}, "No file has a column &#x27;nowhere&#x27;."),
]


@pytest.mark.parametrize(("content", "options", "expected"), WORDING)
def test_errors_are_in_the_words_of_the_page(content, options, expected, client, tmp_path):
    (tmp_path / "a.csv").write_text(content)
    message, *rest = client.predict(files=uploaded([tmp_path / "a.csv"]), **options, api_name="/score")
    assert expected in message
    assert not re.search(r"num_classes|predictions_are|reject_costs|--", message)
    assert rest == [None] * len(rest)


def test_no_file_is_no_error(client):
    for name, key in (("/score", "files"), ("/grade_answers", "file"), ("/score_answers", "file")):
        message, *_ = client.predict(**{key: None}, api_name=name)
        assert "There is no file yet" in message
        assert 'role="status"' in message


def test_a_bug_is_reported_without_a_traceback(client, files, monkeypatch, caplog):
    monkeypatch.setattr(scoring, "score", lambda *_, **__: 1 / 0)
    message, *_ = client.predict(files=uploaded(files), api_name="/score")
    assert "this is a bug" in message
    assert "ZeroDivisionError" in caplog.text


def test_formulas_are_neutralised_and_markup_is_text(client, tmp_path):
    rows = ["=1+1", "+x", "-x", "@x", "<script>alert(1)</script>"]
    path = tmp_path / "a.csv"
    path.write_text("system,confidence,correct\n" + "".join(f"{name},0.5,1\n{name},0.6,0\n" for name in rows))
    shown = client.predict(files=uploaded([path]), intervals=False, api_name="/score")
    systems = pd.read_csv(shown[CSV])["system"].tolist()
    assert systems == ["'=1+1", "'+x", "'-x", "'@x", "<script>alert(1)</script>"]
    assert "<script>" not in shown[TABLE] + shown[EXPLANATION] + shown[MESSAGE]


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
        data = [[{"path": str(path), "meta": {"_type": "gradio.FileData"}}]]
        call = f"{page}gradio_api/call/detect_columns"
        event = httpx.post(call, json={"data": data}).json()["event_id"]
        answer = httpx.get(f"{call}/{event}", timeout=30).text
        assert answer.startswith("event: error"), path
        assert "label" not in answer


def test_what_is_old_is_deleted(client, app, tmp_path):
    from gradio.route_utils import delete_files_created_by_app
    from gradio.utils import get_upload_folder

    often, old = app.demo.delete_cache
    assert often + old <= 3600
    cache = Path(get_upload_folder())
    before = set(cache.rglob("*.*"))
    (tmp_path / "old.csv").write_text("confidence,correct\n0.25,1\n0.125,0\n")  # no other test uploads this
    client.predict(files=uploaded([tmp_path / "old.csv"]), intervals=False, api_name="/score")
    made = set(cache.rglob("*.*")) - before
    assert {"old.csv", "ecuas.csv", "ecuas.md", "ecuas.tex"} <= {path.name for path in made}
    delete_files_created_by_app(app.demo, old)
    assert all(path.exists() for path in made)
    delete_files_created_by_app(app.demo, -1)  # as if all this time had passed
    assert not any(path.exists() for path in made)


def test_as_it_is_published_it_runs_by_itself(tmp_path):
    stage(PARTS["space"], tmp_path / "stage", "somebody")
    with running(["app.py"], tmp_path / "stage", tmp_path) as page:
        client = Client(page, verbose=False, download_files=tmp_path / "downloads")
        shown = client.predict(files=uploaded([ROOT / "space/examples/verbal_model.csv"]), api_name="/score")
        assert shown[RESULT]["rows"][0]["error_rate"] == 0.25
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
        options = {"missing_confidence": "0.5", "intervals": False}
        return clients[number].predict(files=uploaded([path]), **options, api_name="/score")

    clients = [patient(number) for number in range(VISITORS + 1)]
    q = rng.random(4_000)
    pd.DataFrame({"confidence": np.r_[np.nan, q[1:]], "correct": rng.random(4_000) < q}).to_csv(tmp_path / "long.csv")
    long = clients[0].submit(files=uploaded([tmp_path / "long.csv"]), missing_confidence="0.5", api_name="/score")
    with ThreadPoolExecutor(VISITORS) as pool:
        answers = list(pool.map(visit, range(1, VISITORS + 1)))
    for number, shown in enumerate(answers, start=1):
        (row,) = shown[RESULT]["rows"]
        assert row["system"] == f"visitor{number}"
        assert row["error_rate"] == pytest.approx((60 - number) / 60)
        assert (f"{60 - number} of 60 confidences are missing" in shown[MESSAGE]) == bool(number % 2)
        assert shown[MESSAGE].count("are missing") == number % 2
    shown = long.result()
    assert "1 of 4000 confidences are missing" in shown[MESSAGE]
    assert shown[MESSAGE].count("are missing") == 1
    assert "ecuas_0_low" in shown[RESULT]["rows"][0]


def test_the_queue_has_limits(app):
    assert app.demo._queue.max_size == 200
    assert app.demo._queue.default_concurrency_limit == 8


def test_cost_and_simulation(client):
    numbers, plot = client.predict(n=1, infinitely_many=True, confidence=0.8, api_name="/cost")
    assert ">0.040<" in numbers
    assert ">1.640<" in numbers
    assert "your confidence 1.64" in plot
    message, table, *_ = client.predict(accuracy=0.8, separation=1.5, overconfidence=3, api_name="/simulate")
    assert "AURC stays at" in message
    assert table.count("<tr>") == 3


def test_browsing(client):
    message, found = client.predict(selected=True, stratum="reviewed", api_name="/questions")
    assert message == "199 questions"
    assert len(found["data"]) == 199
    html, verdicts = client.predict(question_id=found["data"][0][0], api_name="/question")
    assert found["data"][0][0] in html
    assert len(verdicts["data"]) == 7
    assert "must be one of the pool; got &#x27;q1&#x27;" in client.predict(question_id="q1", api_name="/question")[0]
    _, plot, rates = client.predict(method="verbalized", labels="correct", api_name="/error_rates")
    assert ["Qwen3.5-4B", 0.303, 0.497, 0.490] in rates["data"]
    assert plot.partition("</ul>")[2].count("<circle") == 21


def test_a_models_answers_are_graded_decided_and_scored(client, tmp_path):
    curated, path = tables()["curated"], tmp_path / "my model.csv"
    confidence = np.linspace(0, 1, 455).round(3)
    frame = pd.DataFrame({"question_id": curated["question_id"], "answer": "London.", "confidence": confidence})
    frame.to_csv(path, index=False)
    message, unknown = client.predict(file=handle_file(str(path)), api_name="/grade_answers")
    keys = [key for _, key in unknown["choices"]]
    assert f"{len(keys)} are unknown" in message
    accepted, weights = keys[:100], curated.set_index("question_id")["weight"]
    right = [key.split("\t")[0] for key in accepted]
    for weighted, expected in ((False, 1 - 100 / 455), (True, 1 - weights[right].sum() / weights.sum())):
        options = {"accepted": accepted, "rest": "wrong", "weighted": weighted, "intervals": False}
        shown = client.predict(file=handle_file(str(path)), **options, api_name="/score_answers")
        (row,) = shown[RESULT]["rows"]
        assert row["system"] == "my model"
        assert row["error_rate"] == pytest.approx(expected)
        assert f"{len(keys)} by you" in shown[MESSAGE]
    shown = client.predict(file=handle_file(str(path)), intervals=False, api_name="/score_answers")
    assert f"{len(keys)} are unknown." in shown[MESSAGE]
    (row,) = shown[RESULT]["rows"]
    assert row["error_rate"] is None
    assert row["error_rate_max"] == 1  # what the bank knows of this answer is all wrong
    assert row["error_rate_min"] == pytest.approx(1 - row["unjudged"])
    options = {"rest": "left out (makes systems look better)", "intervals": False}
    shown = client.predict(file=handle_file(str(path)), **options, api_name="/score_answers")
    assert shown[RESULT]["rows"][0]["error_rate"] == 1
    other = next(own for own in tables()["kept"]["question_id"] if own not in set(curated["question_id"]))
    path.write_text(f"question_id,answer,confidence\n{other},I do not know,0.5\n")
    message, _ = client.predict(file=handle_file(str(path)), asked="kept", api_name="/grade_answers")
    assert "Of 1 answers were decided: 1 by their refusal to answer." in message
    path.write_text("question_id,answer,confidence\nq1,x,0.5\n")
    message, _ = client.predict(file=handle_file(str(path)), api_name="/grade_answers")
    assert "question_id must be one of the 455 that are asked; got &#x27;q1&#x27; in row 2 (1 of 1)." in message


def test_a_comparison_is_planned(client):
    from space import api

    given = {"first": 0.3, "second": 0.36, "auroc": 0.8, "correlation": 0.5, "difference": 0.05}
    message, table = client.predict(**given, api_name="/plan")
    assert message == ""
    header, *rows = power.plan([0.3, 0.36], difference=0.05)
    assert (table["headers"], table["data"]) == (header, rows)
    message, _ = api.plan(*(given | {"auroc": 0.99999}).values())
    assert "A plan is not possible: AUROC must be below " in message


def test_an_agent_finds_the_functions(page):
    pytest.importorskip("mcp", reason="gradio[mcp] is not installed")
    import asyncio

    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def ask():
        address = f"{page}gradio_api/mcp/"
        async with streamablehttp_client(address) as (read, write, _), ClientSession(read, write) as session:
            await session.initialize()
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            arguments = {"n": 1, "num_classes": 4, "infinitely_many": True, "confidence": 0.8}
            name = next(name for name in tools if name.endswith("cost"))
            return tools, await session.call_tool(name, arguments)

    tools, answer = asyncio.run(asyncio.wait_for(ask(), 60))
    assert len(tools) >= len(NAMES)
    assert "1.640" in str(answer.content)
