"""A server on loopback that speaks the chat-completions protocol about invented questions, and misbehaves on demand."""

import json
import re
import socket
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread

import pandas as pd

FAULTS = ("429", "500", "slow", "cut", "malformed", "no choices")
LONGEST = 5.0  # s that a slow reply takes: more than the clients' timeout


def question(number):
    return f"Which name was invented for thing {number}?"


def name(number):
    return f"Zarquon {number}"


def write_source(path, root):
    """Write TriviaQA's ids of the curated questions with invented texts, as a file for --source."""
    ids = pd.read_parquet(root / "triviaqa_subset/data/curated.parquet")["question_id"]
    gold = [{"value": name(i), "aliases": [name(i)], "normalized_aliases": []} for i in range(len(ids))]
    rows = [{"question_id": own, "question": question(i), "answer": gold[i]} for i, own in enumerate(ids)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def right(number):
    """Every third answer is wrong."""
    return number % 3 != 0


def said(payload):
    """What the model says: it is consistent, so that each answer can be told from the question."""
    asked = next(message["content"] for message in payload["messages"] if message["role"] == "user")
    system = payload["messages"][0]["content"]
    if "Accepted answers" in asked:
        return "Yes." if "the very" in asked or "Given answer: Paris" in asked else "No."
    if "Is this answer right?" in asked:
        return "True" if "Zarquon" in asked.partition("Proposed Answer")[2] else "False"
    found = re.search(r"invented for thing (\d+)", asked)
    number = int(found[1]) if found else 1
    answer = (
        ("B" if right(number) else "A") if "multiple choice" in system else name(number) if right(number) else "Nix"
    )
    return f" {answer}\nProbability: 0.{1 + number % 9}" if "how likely" in system else f" {answer}"


def token(text, place, top):
    likely = [
        {"token": text, "logprob": -0.25 * (place + 1)},
        {"token": "False" if text == "True" else "True", "logprob": -3.0},
    ]
    return {"token": text, "logprob": -0.25 * (place + 1), "top_logprobs": likely[:top]}


def completion(payload, text, logprobs=True):
    pieces = [*re.findall(r"\s*\w+|\W", text), "<|im_end|>"]
    content = [token(piece, place, payload.get("top_logprobs", 0)) for place, piece in enumerate(pieces)]
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    if logprobs and payload.get("logprobs"):
        choice["logprobs"] = {"content": content}
    return {"id": "1", "created": 1, "model": payload["model"], "choices": [choice]}


class Chat:
    """The server's address, what it was asked, and how it is to behave.

    `fault(payload, number)` names a fault for a request, or gives a status, a body and headers, or None; `say(payload)`
    gives the text of a reply, and `complete(payload)` the whole of it.
    """

    def __init__(self):
        self.requests, self.headers, self.lock, self.over = [], [], Lock(), Event()
        self.fault = lambda payload, number: None
        self.say, self.logprobs, self.delay, self.retry_after = said, True, 0.0, "0.01"
        self.complete = lambda payload: completion(payload, self.say(payload), self.logprobs)


def handler(chat):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with chat.lock:
                chat.requests.append(payload)
                chat.headers.append({name.lower(): value for name, value in self.headers.items()})
                number = len(chat.requests)
            assert self.path == "/v1/chat/completions"
            fault = chat.fault(payload, number)
            chat.over.wait(chat.delay)
            self.behave(payload, fault)

        def behave(self, payload, fault):
            if isinstance(fault, tuple):
                status, text, headers = fault
                return self.reply(text.encode(), status, headers)
            content = json.dumps(chat.complete(payload)).encode()
            if fault == "429":
                self.reply(b'{"error": "too many"}', 429, {"Retry-After": chat.retry_after})
            elif fault in ("400", "401", "500", "503"):
                self.reply(b'{"error": "so it is"}', int(fault))
            elif fault == "cut":
                self.reply(content, cut=True)
            elif fault == "malformed":
                self.reply(content[: len(content) // 2])
            elif fault == "no choices":
                self.reply(b'{"choices": []}')
            else:
                assert fault in (None, "slow")
                chat.over.wait(LONGEST if fault == "slow" else 0)
                self.reply(content)
            return None

        def reply(self, content, status=200, headers=(), cut=False):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for header in dict(headers).items():
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if cut else content)
            if cut:
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True

        def log_message(self, *_):
            pass

    return Handler


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """Clients that were killed or gave up are part of the tests."""


@contextmanager
def serving():
    chat = Chat()
    server = Server(("127.0.0.1", 0), handler(chat))
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    chat.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield chat
    finally:
        chat.over.set()
        server.shutdown()
        server.server_close()
