"""What the clients of decision models return is read: against a server of the documented shapes."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.ecuas_metric.files.test_decision_models import (
    draw_question,
    ecuas_by_hand,
    ecuas_values,
    jev_answer,
    labels_of,
    openai_answer,
)

from .live import run

ITEMS = 8
QUESTIONS = [
    draw_question("urgent", "yes", 2, ITEMS, seed=1),
    draw_question("team", "choice", 4, ITEMS, seed=2),
    draw_question("severity", "score", 5, ITEMS, seed=3),
]
CLIENTS = {
    "openai": """
from openai import OpenAI

client = OpenAI(base_url=address + "/v1", api_key="none")

def ask(item):
    choices = [{"value": option, "description": "?"} for option in options["team"]]
    levels = [{"label": option, "description": "?"} for option in options["severity"]]
    questions = [
        {"type": "predicate", "name": "urgent", "instructions": "?"},
        {"type": "choice", "name": "team", "instructions": "?", "choices": choices},
        {"type": "score", "name": "severity", "instructions": "?", "levels": levels},
    ]
    asked = client.decisions.create(model="gpt-6-luna", input=str(item), questions=questions)
    return asked.model_dump(mode="json")
""",
    "langchain": """
from langchain_openai.decisions import Choice, OpenAIDecisions, Predicate, Score

client = OpenAIDecisions(model="gpt-6-luna", base_url=address + "/v1", api_key="none")

def ask(item):
    questions = {
        "urgent": Predicate(instructions="?"),
        "team": Choice(instructions="?", choices=dict.fromkeys(options["team"], "?")),
        "severity": Score(instructions="?", levels=options["severity"]),
    }
    response = client.invoke({"input": str(item), "questions": questions})
    return json.loads(response.model_dump_json())
""",
    "typesafe": """
from typesafe_sdk import Choice, Noul, Score, TypeSafeClient

client = TypeSafeClient(base_url=address, api_key="none", model="jev", compression=False)

def ask(item):
    questions = {
        "urgent": Noul(instructions="?"),
        "team": Choice(instructions="?", criteria=dict.fromkeys(options["team"])),
        "severity": Score(instructions="?", criteria=options["severity"]),
    }
    return client.system_one(state=str(item), questions=questions).model_dump(mode="json")
""",
}
HEAD = "import json, sys\naddress, options, labels = json.load(open(sys.argv[1]))\n"
TAIL = """
with open(sys.argv[2], "w") as file:
    for item, truth in enumerate(labels):
        print(json.dumps({"id": item, "labels": truth, "response": ask(item)}), file=file)
"""


def _openai_body(item):
    usage = {
        "input_tokens": 1,
        "output_tokens": 0,
        "total_tokens": 1,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    answers = [openai_answer(question, item) for question in QUESTIONS]
    return {"model": "m", "answers": answers, "usage": usage}


def _jev_body(item):
    answers = {question.name: jev_answer(question, item) for question in QUESTIONS}
    return {"model": "m", "answers": answers, "usage": {"input_tokens": 1, "output_tokens": 0}}


class _Service(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_openai = self.path.endswith("decisions")
        item = int(asked["input" if is_openai else "state"])
        body = json.dumps(_openai_body(item) if is_openai else _jev_body(item)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.e2e
@pytest.mark.integrations
@pytest.mark.parametrize("client", CLIENTS)
def test_what_clients_return_has_the_numbers_of_the_formula(tmp_path, address, client):
    asked = tmp_path / "asked.json"
    options = {question.name: question.options for question in QUESTIONS}
    labels = [labels_of(QUESTIONS, item) for item in range(ITEMS)]
    asked.write_text(json.dumps([address, options, labels]))
    script = tmp_path / "ask.py"
    script.write_text(HEAD + CLIENTS[client] + TAIL)
    answers = tmp_path / "answers.jsonl"
    run("decisions", tmp_path, script, asked, answers, TYPESAFE_LOG_LEVEL="error")
    values = ecuas_values(answers)
    expected = {question.name: ecuas_by_hand(question) for question in QUESTIONS}
    assert values == pytest.approx(expected, rel=1e-9)
