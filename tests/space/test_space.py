"""The page through its real server and client: every function, robustness, and many visitors at once."""

import base64
import hashlib
import html
import inspect
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

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),
]
VISITORS = 8  # more than are scored at once
NAMES = ["detect_columns", "score", "cost", "simulate", "questions", "question", "leaderboard", "grade", "plan"]


def uploaded(paths):
    return [handle_file(str(path)) for path in paths]


SHOWN = ("result", "csv", "markdown", "latex", "plots", "signature", "record")


def shown_of(files, **options):
    """What the first tab shows of files, with the defaults of its controls but for `options`."""
    from space import app

    given = {name: "" if control.default is None else control.default for name, control in scoring.CONTROLS.items()}
    return dict(zip(SHOWN, app.score(list(map(str, files)), *(given | options).values()), strict=True))


def test_every_function_has_a_name_types_and_a_description(client):
    functions = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    assert set(functions) == {f"/{name}" for name in NAMES}
    for name, function in functions.items():
        assert function["description"], name
        for value in function["parameters"]:
            assert value["python_type"]["type"] not in ("", "Any"), name
    parameters = functions["/score"]["parameters"]
    assert [value["parameter_name"] for value in parameters if not value["parameter_has_default"]] == ["files"]


OPTIONS = [
    ({}, ["--interval", "0.95"]),
    ({"intervals": False, "n": "0.5 ∞", "normalize": True}, ["--n", "0.5,inf", "--normalize"]),
    (
        {"intervals": False, "decompose": True, "reject_costs": "0.1; 0.3", "num_classes": "4"},
        ["--decompose", "--reject-costs", "0.1,0.3", "--num-classes", "4"],
    ),
]


@pytest.mark.parametrize(("options", "arguments"), OPTIONS)
def test_downloads_are_the_command_lines_files(options, arguments, files, tmp_path):
    shown = shown_of(files, **options)
    outputs = [tmp_path / f"cli.{suffix}" for suffix in ("csv", "md", "tex")]
    paths = [part for path in outputs for part in ("--output", str(path))]
    assert cli.main(["score", *map(str, files), *arguments, *paths]) == 0
    for name, path in zip(("csv", "markdown", "latex"), outputs, strict=True):
        button = shown[name]
        assert Path(button.value["path"]).read_bytes() == path.read_bytes()
        assert button.interactive
    assert "By ECUAS_" in shown["result"]


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


def test_posteriors_are_scored():
    path = ROOT / "space" / "examples" / "classifier.csv"
    shown = shown_of([path], intervals=False)
    frame = pd.read_csv(path)
    wrong = frame.drop(columns="label").to_numpy().argmax(axis=1) != frame["label"]
    assert f'"error_rate": {wrong.mean()}' in html.unescape(shown["record"])
    assert "|K:3|" in shown["signature"]


def rows_of(path, **options):
    record = re.search("<pre>(.*)</pre>", shown_of([path], **options)["record"], flags=re.DOTALL)[1]
    return json.loads(html.unescape(record))["rows"]


def test_other_scales_grades_and_predicted_classes_are_read(tmp_path):
    (tmp_path / "a.csv").write_text("confidence,correct\n90.5,0.8\n40,0.2\n")
    (tmp_path / "b.csv").write_text("guess,truth,confidence\ncat,cat,0.905\ndog,bird,0.4\n")
    (tmp_path / "c.csv").write_text("confidence,correct\n0.905,1\n0.4,0\n")
    plain = rows_of(tmp_path / "c.csv")
    for path, options in (
        ("a.csv", {"scale": "100", "correct_from": "0.5"}),
        ("b.csv", {"predicted": "guess", "label": "truth"}),
    ):
        assert rows_of(tmp_path / path, **options) == [row | {"system": path[0]} for row in plain]
    error = shown_of([tmp_path / "a.csv"])["result"]
    assert "Enter 100 under Options, “Largest confidence”." in error


@pytest.mark.parametrize("name", ["empty.csv", "formula.csv", "keys.jsonl"])
def test_bad_files_show_a_message_and_nothing_else(name, tmp_path):
    (tmp_path / name).write_bytes(content_of(name))
    shown = shown_of([tmp_path / name])
    message = shown.pop("result")
    assert message.startswith('<div class="message error" role="alert">')
    assert "Traceback" not in message
    assert str(tmp_path) not in message
    assert set(shown.values()) == {None}


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
def test_errors_are_in_the_words_of_the_page(content, options, expected, tmp_path):
    (tmp_path / "a.csv").write_text(content)
    shown = shown_of([tmp_path / "a.csv"], **options)
    message = shown.pop("result")
    assert expected in message
    assert not re.search(r"num_classes|predictions_are|reject_costs|--", message)
    assert set(shown.values()) == {None}


CALLS = {  # a call with a fault -> the error of one line, which names the argument
    ("score", 0): ({"files": "x"}, "files must be a list; got 'x'."),
    ("score", 1): ({"files": ["/etc/passwd"]}, "system_1 is no upload of this page; got '/etc/passwd'."),
    ("score", 2): (
        {"files": ["https://example.org/a.csv"]},
        "system_1 must be a file; got 'https://example.org/a.csv'.",
    ),
    ("score", 3): ({"files": ["data:text/csv;base64,!"]}, "system_1 must be base64 after data:"),
    ("score", 4): ({"files": []}, "Files are missing."),
    ("score", 5): ({"files": ["a,b\n1,2\n"], "intervals": "yes"}, "intervals must be true or false; got 'yes'."),
    ("score", 6): (
        {"files": ["confidence,correct\n90,1\n"]},
        "column 'confidence' must lie in [0, 1]; got 90.0 in row 2",
    ),
    ("detect_columns", 0): ({"file": 3}, "file must be a file; got 3."),
    ("cost", 0): ({"n": "many"}, "n must be a number; got 'many'."),
    ("cost", 1): ({"confidence": 2}, "confidence must lie in [0, 1]; got 2."),
    ("simulate", 0): ({"accuracy": 1}, "accuracy must lie between 0 and 1; got 1."),
    ("questions", 0): ({"stratum": "x"}, "stratum must be one of any, exact_match_all, reviewed; got 'x'."),
    ("question", 0): ({"question_id": "q1"}, "Question id must be one of the pool; got 'q1'."),
    ("leaderboard", 0): ({"labels": "x"}, "labels must be one of correct, exact_match; got 'x'."),
    ("plan", 0): ({"auroc": True}, "auroc must be a number; got True."),
    ("plan", 1): ({"auroc": 0.99999}, "auroc of calibrated confidences is at most"),
    ("plan", 2): ({"difference": 1e-300}, "difference is too small"),
    ("score", 7): ({"files": ["a,b\n1,2\n"], "n": True}, "n must be text or a number or a list; got True."),
    ("score", 8): ({"files": ["a,b\n1,2\n"], "n": -1}, "n must be >= 0"),
    ("grade", 2): ({"file": "question_id,answer,confidence\n", "others": "x"}, "others must be one of bounds, wrong"),
    ("grade", 0): ({"file": "question_id,answer\nx,y\n"}, "confidence is missing among question_id, answer"),
    ("grade", 1): ({"file": "question_id,answer,confidence\nq1,x,0.5\n"}, "got 'q1' in row 2 (1 of 1)."),
}


def tool(name):
    from space import api

    return next(one for one in api.TOOLS if one.__name__ == name)


def given_to(name, given):
    parameters = list(inspect.signature(tool(name)).parameters.values())[:-1]
    return [given.get(one.name, one.default) for one in parameters]


@pytest.mark.parametrize(("name", "number"), CALLS)
def test_programs_get_errors_of_one_line(name, number):
    import gradio as gr

    given, expected = CALLS[name, number]
    with pytest.raises(gr.Error) as caught:
        tool(name)(*given_to(name, given))
    assert expected in caught.value.message
    assert not re.search("\n|<|&", caught.value.message)


def test_errors_reach_programs(client):
    with pytest.raises(AppError, match=r"^n must be a number; got 'many'\.$"):
        client.predict(n="many", api_name="/cost")


def test_no_file_is_no_error():
    from space import app

    for message, *_ in (
        app.score(None),
        app.grade(None, "curated"),
        app.score_answers(None, "curated", [], "wrong", True, "", False, "1"),
    ):
        assert "There is no file yet" in message
        assert 'role="status"' in message


def test_what_goes_wrong_is_said_without_a_traceback_or_talk_of_bugs(files, monkeypatch, caplog):
    import gradio as gr

    from space import api

    monkeypatch.setattr(scoring, "score_submissions", lambda *_: 1 / 0)
    assert api.FAILED.split(".")[0] in shown_of(files)["result"]
    assert "ZeroDivisionError" in caplog.text
    assert "bug" not in api.FAILED
    with pytest.raises(gr.Error, match="could not be computed here"):
        tool("score")(*given_to("score", {"files": ["confidence,correct\n1,1\n"]}))


def test_formulas_are_neutralised_and_markup_is_text(tmp_path):
    rows = ["=1+1", "+x", "-x", "@x", "<script>alert(1)</script>"]
    path = tmp_path / "a.csv"
    path.write_text("system,confidence,correct\n" + "".join(f"{name},0.5,1\n{name},0.6,0\n" for name in rows))
    shown = shown_of([path], intervals=False)
    systems = pd.read_csv(shown["csv"].value["path"])["system"].tolist()
    assert systems == ["'=1+1", "'+x", "'-x", "'@x", "<script>alert(1)</script>"]
    assert "<script>" not in shown["result"] + shown["plots"] + shown["record"]


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


def test_aborted_uploads_and_empty_folders_are_deleted(tmp_path):
    from space import app

    (tmp_path / "full").mkdir()
    for name in ("tmpabc", "full/a.csv", "other.txt"):
        (tmp_path / name).touch()
    (tmp_path / "empty").mkdir()
    app.sweep(tmp_path)
    assert len(list(tmp_path.iterdir())) == 4
    app.sweep(tmp_path, age=-1)  # as if that time had passed
    assert {path.name for path in tmp_path.iterdir()} == {"full", "other.txt"}


def test_the_queue_has_limits(app):
    assert app.demo._queue.max_size == 200
    assert app.demo._queue.default_concurrency_limit == 8


def test_the_page_shows_what_programs_get():
    from space import api, app

    numbers, plot = app.cost(1, 4, True, 0.8)
    assert re.findall(r">([\d.]+)</b>", numbers) == ["0.040", "1.640"]
    assert 'data-name="your confidence"' in plot
    assert "Below 1/K = 0.250" in app.cost(1, 4, False, 0.1)[0]
    assert api.cost(1.0, None, 0.8) == pytest.approx({"correct": 0.04, "incorrect": 1.64, "counts_as_rejected": False})
    shown, plots = app.simulate(0.8, 1.5, 3)
    result = api.simulate(0.8, 1.5, 3.0)
    assert result["in_words"][0] in shown
    assert plots.count("<figure") == 2
    assert [row["error_rate"] for row in result["rows"]] == pytest.approx([0.2, 0.2])
    found = api.questions(True, "reviewed")
    message, frame = app.questions(True, "reviewed", *["any"] * 3, "gemini-2.5-pro", "verbalized")
    assert message == f"{found['count']} questions"
    assert frame["question_id"].tolist()[:50] == [one["question_id"] for one in found["questions"]]
    first = found["questions"][0]["question_id"]
    html, verdicts = app.question(first)
    assert first in html
    assert verdicts.count("<tr>") == 1 + len(api.question(first)["systems"]) == 8
    assert "must be one of the pool; got &#x27;q1&#x27;" in app.question("q1")[0]
    assert len(api.leaderboard()["rows"]) == 21
    (table,) = app.plan(0.3, 0.36, 0.8, 0.5, 0.05)
    rows = api.plan()["rows"]
    assert re.findall("<t[hd](?: scope[^>]*)?>([^<]*)<", table) == [
        *rows[0],
        *(text for row in rows for text in row.values()),
    ]


def test_a_models_answers_are_graded_decided_and_scored(tmp_path):
    from space import api, app

    curated, path = tables()["curated"], tmp_path / "my model.csv"
    size, weights = len(curated), curated.set_index("question_id")["weight"]
    confidence = np.linspace(0, 1, size).round(3)
    frame = pd.DataFrame({"question_id": curated["question_id"], "answer": "London.", "confidence": confidence})
    frame.to_csv(path, index=False)
    text = path.read_text()
    message, unknown = app.grade(str(path), "curated")
    keys = [key for _, key in unknown.choices]
    assert f"{len(keys)} are unknown" in message
    accepted = keys[:100]
    right = [key.split("\t")[0] for key in accepted]
    for weighted, expected in ((False, 1 - 100 / size), (True, 1 - weights[right].sum() / weights.sum())):
        result = api.grade(text, "curated", accepted, "wrong", weighted, "0", False)
        assert result["rows"][0]["error_rate"] == pytest.approx(expected)
        assert f"{len(keys)} by you" in result["graded"]
    assert result["leaderboard"]["weighted"]["value"] == pytest.approx(expected)
    result = api.grade(text)
    assert result["open"] == keys
    (row,) = result["rows"]
    assert (row["error_rate"], row["error_rate_max"]) == (None, 1)  # what the bank knows of this answer is all wrong
    assert row["error_rate_min"] == pytest.approx(1 - row["unlabelled"])
    board = result["leaderboard"]
    assert board["weighted"] == pytest.approx({"value": None, "low": row["error_rate_min"], "high": 1})
    assert board["published"]["ecuas_0"]["low"] == pytest.approx(row["ecuas_0_min"])
    assert api.grade(text, "curated", [], "drop")["rows"][0]["error_rate"] == 1
    outputs = app.score_answers(str(path), "curated", accepted, "wrong", True, "0, 1", True, "1")
    token = re.search(r"result=([\w-]+)", outputs[5])[1]
    again = app.restore(token, "1")
    assert "self-reported, not checked" in again[0]  # at the top
    assert "my model (self-reported)" in again[2]  # and in its row
    assert again[-1] == outputs[-1].replace("my model", "my model (self-reported)")  # every number
    broken = app.restore("x", "1")
    assert "is not one of this page" in broken[0]
    assert broken[1] is None  # no older result, and the board stays
    assert broken[2] == {"__type__": "update"}


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
    "simulate": ({"overconfidence": 3}, "AURC stays at"),
    "questions": ({"limit": 1}, '"count": 455'),
    "question": ({"question_id": "sfq_178"}, '"right": "6 of 21 systems"'),
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
