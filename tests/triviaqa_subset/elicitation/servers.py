"""Servers on loopback that imitate the wire formats of twelve ways to serve a model, and misbehave on demand.

The model behind all of them is the same: its replies follow from the question, and so do the probabilities of their
tokens, so that each confidence can be computed from the question alone.
"""

import json
import math
import re
import socket
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread

from triviaqa_subset.elicitation.replies import ALPHABET

ANSWERS = [
    ["Zar", "quon", " 7"],
    ["New", " York"],
    ["Nî", "mes"],
    ["O", "'Neill"],
    ["U2"],
    ["東", "京", " 3"],
]
ANSWERS += [["AC", "/", "DC"]]
BYTES = {byte: character for character, byte in ALPHABET.items()}


def question(number):
    return f"Which name was invented for thing {number}?"


def pieces(number):
    """The tokens of the answer to a question, without a space before it, and their probabilities."""
    texts = ANSWERS[number % len(ANSWERS)]
    return [(text, 0.99 - (7 * number + 13 * place) % 50 / 100) for place, text in enumerate(texts)]


def answer(number):
    return "".join(ANSWERS[number % len(ANSWERS)])


def posterior(number):
    return math.prod(p for _, p in pieces(number))


def truth(number):
    """The probability of True among all words, and that of False: together nearly all, or flat."""
    true = (number % 19 + 1) / 20
    total = 0.999 if number % 2 else 0.95
    return total * true, total * (1 - true)


def stated(number):
    return (number % 20) / 20


def row(number, **others):
    """A question with its answer, or with other cells."""
    return {"question_id": number, "question": question(number), "answer": answer(number)} | others


def write(file, rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


def spoken(messages):
    """What the model says, as tokens with their probabilities and the likeliest others."""
    said = " ".join(message["content"] for message in messages)
    number = int(re.findall(r"thing (\d+)", said)[-1])
    if "Is this answer right?" in said:
        true, false = truth(number)
        word = "True" if true > false else "False"
        return [
            (
                word,
                max(true, false),
                {"True": true, "False": false}
                | {f"w{i}": (1 - true - false) / 5 for i in range(5)},
            )
        ]
    (first, p), *others = pieces(number)
    tokens = [(text, p, {text: p, "x": 1 - p}) for text, p in ((f" {first}", p), *others)]
    if "how likely" in said:
        tokens += [
            ("\n", 0.9, {}),
            ("Probability", 0.9, {}),
            (":", 0.9, {}),
            (f" {stated(number)}", 0.3, {}),
        ]
    return tokens


def listed(text, p, top, style):
    """A token as a server lists it."""
    write = {
        "vocabulary": lambda text: "".join(
            BYTES[byte] for byte in text.encode()
        ),  # as a byte-level one
        "sentencepiece": lambda text: text.replace(" ", "▁"),
    }.get(style, str)
    likely = [{"token": write(other), "logprob": math.log(q)} for other, q in top.items() if q > 0]
    known = {"bytes": {"bytes": list(text.encode())}, "null bytes": {"bytes": None}}.get(style, {})
    return {"token": write(text), "logprob": math.log(p), "top_logprobs": likely} | known


def choice(text, entries=None, finish_reason="stop", **message):
    """Return a reply of one choice, with its tokens as they are listed."""
    made = {
        "index": 0,
        "finish_reason": finish_reason,
        "message": {"role": "assistant", "content": text} | message,
    }
    return {"choices": [made | ({"logprobs": {"content": entries}} if entries is not None else {})]}


def spelled(pieces, text=None, *, top=(), style="bytes", **message):
    """Return a reply of these tokens with their probabilities, and of the text that they spell or of another one."""
    entries = [listed(piece, probability, dict(top), style) for piece, probability in pieces]
    return choice(
        "".join(piece for piece, _ in pieces) if text is None else text, entries, **message
    )


class Server:
    """The imitated model and server: `reply(payload)` is its reply, `fault(number)` a fault for a request or None."""

    def __init__(self, **style):
        self.style = {"tokens": "bytes", "end": "", "logprobs": True, "usage": True} | style
        self.requests, self.lock, self.over = [], Lock(), Event()
        self.fault = lambda number: None
        self.reply = self.completion

    def completion(self, payload):
        style, messages = self.style, payload.get("messages") or [{"content": payload["prompt"]}]
        tokens = spoken(messages)
        top = payload.get("logprobs", 0) if "prompt" in payload else payload.get("top_logprobs", 0)
        text = "".join(text for text, *_ in tokens)
        text = text.strip() if style.get("stripped") else text
        thoughts = (
            [("Hm", 0.5, {}), (".", 0.5, {}), ("</think>", 0.5, {})]
            if style.get("reasoning")
            else []
        )
        ended = [(style["end"], 0.9, {})] if style["end"] else []
        content = []
        for token, p, others in (*thoughts, *tokens, *ended):
            likeliest = sorted(others.items(), key=lambda pair: -pair[1])[
                : min(top, style.get("most", 20))
            ]
            content.append(listed(token, p, dict(likeliest), style["tokens"]))
        message = {"role": "assistant", "content": text} | style.get("message", {})
        if style.get("reasoning"):
            message["reasoning_content"] = "Hm."
        logprobs = {"content": content} if style["logprobs"] and payload.get("logprobs") else None
        if logprobs and style["logprobs"] == "lists":
            tops = [
                {other["token"]: other["logprob"] for other in one["top_logprobs"]}
                for one in content
            ]
            logprobs = {"tokens": [one["token"] for one in content], "top_logprobs": tops}
            logprobs["token_logprobs"] = [one["logprob"] for one in content]
        said = {"text": text} if "prompt" in payload else {"message": message}
        finish = {"index": 0, "finish_reason": style.get("finish", "stop")}
        choice = finish | {"logprobs": logprobs} | said | style.get("choice", {})
        usage = {
            "prompt_tokens": 9,
            "completion_tokens": len(content),
            "total_tokens": 9 + len(content),
        }
        return {"choices": [choice]} | ({"usage": usage} if style["usage"] else {})


def handler(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with server.lock:
                server.requests.append(payload)
                number = len(server.requests)
            fault = server.fault(number)
            if server.style.get("refuses") in payload:
                return self.send(
                    400, b'{"error": {"message": "`logprobs` is not supported with this model"}}'
                )
            if fault in ("429", "500", "503"):
                return self.send(int(fault), b'{"error": {"message": "so it is"}}')
            made = {"id": "1", "object": "chat.completion", "created": 1, "model": payload["model"]}
            content = json.dumps(made | server.reply(payload)).encode()
            half = len(content) // 2
            return self.send(
                200,
                content[:half] if fault == "malformed" else content,
                half if fault == "cut" else None,
            )

        def send(self, status, content, sent=None):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("retry-after-ms", "1")
            self.end_headers()
            self.wfile.write(content[:sent])
            if sent is not None:
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True

        def log_message(self, *_):
            pass

    return Handler


class Loopback(ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 64

    def handle_error(self, request, client_address):
        """Clients that were killed are part of the tests."""


@contextmanager
def serving(**style):
    server = Server(**style)
    loopback = Loopback(("127.0.0.1", 0), handler(server))
    Thread(target=loopback.serve_forever, args=(0.02,), daemon=True).start()
    server.url = f"http://127.0.0.1:{loopback.server_port}/v1"
    try:
        yield server
    finally:
        server.over.set()
        loopback.shutdown()
        loopback.server_close()
