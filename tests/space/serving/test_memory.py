"""What the server keeps of visitors."""

import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def test_the_name_of_a_session_is_short(page):
    for length, status in ((100, 200), (101, 400)):
        given = {"data": ["kept"], "session_hash": "x" * length}
        answer = httpx.post(f"{page}gradio_api/call/leaderboard", json=given, timeout=60)
        assert answer.status_code == status


def test_results_that_nobody_fetches_are_forgotten_the_oldest_first(page, app, monkeypatch):
    sessions = app.demo._queue.pending_messages_per_session
    monkeypatch.setattr(app.uploads, "LIMITS", replace(app.uploads.LIMITS, unread=4))
    with httpx.Client(base_url=f"{page}gradio_api/", timeout=60) as web:

        def ask(session):
            answer = web.post("call/leaderboard", json={"data": ["kept"], "session_hash": session})
            while not any(map(is_result, sessions[session]._queue)):
                time.sleep(0.01)
            return answer

        def result(answer):
            return web.get(f"call/leaderboard/{answer.json()['event_id']}").text

        asked = [ask(f"unread{number}") for number in range(10)]
        assert "event: error" in result(asked[0])
        assert all("event: complete" in result(one) for one in asked[-4:])
        answers = [ask("one").status_code for _ in range(9)]
        assert (answers[0], answers[-1]) == (200, 503)


def is_result(message):
    return type(message).__name__ == "ProcessCompletedMessage"


def test_nothing_is_kept_of_a_session(page, app):
    assert not any(one.stateful for one in app.demo.blocks.values())
    with httpx.Client(base_url=f"{page}gradio_api/", timeout=60) as web:
        for number in range(5):
            given = {"data": ["kept"], "session_hash": f"one{number}"}
            web.post("run/leaderboard", json=given).raise_for_status()
    assert len(app.demo.state_holder.session_data) <= 1


def test_a_form_holds_files_alone(page):
    answer = httpx.post(f"{page}gradio_api/upload", files={"files": (None, b"x" * 10**6)})
    assert (answer.status_code, answer.text) == (400, "An upload must hold files alone.")


def test_an_upload_holds_as_many_files_as_a_call(page, app):
    most = app.LIMITS.files
    for number, status in ((most, 200), (most + 1, 400)):
        files = [("files", (f"{i}.csv", b"x")) for i in range(number)]
        answer = httpx.post(f"{page}gradio_api/upload", files=files, timeout=60)
        assert answer.status_code == status


@pytest.fixture
def elsewhere():
    """An address, and what was asked of it."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/a.csv", asked
        server.shutdown()


@pytest.mark.parametrize("host", ["127.0.0.1", "somewhere.example"])
def test_no_address_is_fetched(host, page, elsewhere):
    address, asked = elsewhere
    address = address.replace("127.0.0.1", host)
    for more in ({}, {"url": address}):
        file = {"path": address, "meta": {"_type": "gradio.FileData"}} | more
        for given in ({"data": [[file]]}, {"data": [file], "session_hash": "one"}):
            answer = httpx.post(f"{page}gradio_api/run/score", json=given, timeout=60)
            assert (
                "is no upload of this page" in answer.text or "must be a valid list" in answer.text
            )
    assert asked == []
