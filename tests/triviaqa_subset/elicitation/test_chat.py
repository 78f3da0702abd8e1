"""The chat backend: the real client over loopback HTTP, with a server that misbehaves in every way it can."""

import math
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Event

import pytest

from tests.triviaqa_subset.elicitation.chat_server import FAULTS, serving
from triviaqa_subset.elicitation.chat import NO_KEY, Endpoint, Pace, Stopped, chat_backend, retry_after
from triviaqa_subset.elicitation.replies import Failure, Request, Token

MESSAGES = [{"role": "user", "content": "Which name was invented for thing 7?"}]
REQUEST = Request(MESSAGES, max_tokens=5)


class Waits(Event):
    """Keeps what it was asked to wait and does not wait."""

    def __init__(self):
        super().__init__()
        self.waits = []

    def wait(self, timeout=None):
        self.waits.append(timeout)
        return self.is_set()


@pytest.fixture
def stop():
    return Waits()


def ask(chat, stop, request=REQUEST, **options):
    endpoint = Endpoint("m", chat.url, **{"timeout": 0.5, "retries": 4, "retry_wait": 3.0} | options)
    (reply,) = chat_backend(endpoint, stop)([request])
    return reply


def test_what_is_asked_and_what_comes_back(chat, stop):
    reply = ask(chat, stop, REQUEST._replace(top_logprobs=2, seed=3, temperature=0.5))
    assert chat.requests == [
        {"model": "m", "messages": MESSAGES, "logprobs": True, "top_logprobs": 2, "max_tokens": 5, "seed": 3}
        | {"stream": False, "temperature": 0.5}
    ]
    assert reply.text == " Zarquon 7"
    assert reply.tokens[0] == Token(" Zarquon", -0.25, [(" Zarquon", -0.25), ("True", -3.0)])
    assert [token.text for token in reply.tokens] == [" Zarquon", " 7", "<|im_end|>"]
    assert reply.finish_reason == "stop"
    assert stop.waits == []


def test_log_probabilities_are_asked_for_as_needed(chat, stop):
    assert ask(chat, stop).tokens is None
    assert ask(chat, stop, REQUEST._replace(top_logprobs=0)).tokens[0].top == []
    assert [("logprobs" in sent, "top_logprobs" in sent) for sent in chat.requests] == [(False, False), (True, False)]


@pytest.mark.parametrize(
    ("prefill", "body", "mark"),
    [
        ("message", {}, {}),
        ("continue", {"continue_final_message": True, "add_generation_prompt": False}, {}),
        ("prefix", {}, {"prefix": True}),
    ],
)
def test_how_servers_are_asked_to_continue_a_reply(chat, stop, prefill, body, mark):
    last = {"role": "assistant", "content": "Guess:"}
    for messages in ([*MESSAGES, last], MESSAGES):
        ask(chat, stop, REQUEST._replace(messages=messages), prefill=prefill, extra_body={"top_k": 1})
    plain = {"model": "m", "max_tokens": 5, "temperature": 0.0, "stream": False, "top_k": 1}
    assert chat.requests == [plain | {"messages": [*MESSAGES, last | mark]} | body, plain | {"messages": MESSAGES}]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_passing_fault_is_waited_out(chat, stop, fault):
    chat.fault = lambda payload, number: fault if number <= 2 else None
    assert ask(chat, stop).text == " Zarquon 7"
    assert len(chat.requests) == 3
    assert stop.waits == pytest.approx([0.01, 0.01] if fault == "429" else [3.0, 6.0], abs=0.005)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("500", "500 Internal Server Error"),
        ("slow", "timed out"),
        ("cut", "Connection broken: IncompleteRead("),
        ("malformed", "Unterminated string"),
        ("no choices", "the reply must be a chat completion; got"),
    ],
)
def test_a_lasting_fault_ends_as_a_failure_in_a_line(chat, stop, fault, message):
    chat.fault = lambda payload, number: fault
    failure = ask(chat, stop, retries=2)
    assert isinstance(failure, Failure)
    assert message in str(failure)
    assert str(failure).endswith(" (3 attempts)")
    assert "\n" not in str(failure)
    assert len(chat.requests) == 3


@pytest.mark.parametrize("fault", ["400", "401"])
def test_what_will_not_pass_is_not_tried_again(chat, stop, fault):
    chat.fault = lambda payload, number: fault
    assert str(ask(chat, stop)).endswith("(1 attempt)")
    assert len(chat.requests) == 1
    assert stop.waits == []


BODIES = {
    "OpenAI": (404, '{"error": {"message": "no model m", "type": "x"}}', "no model m"),
    "Mistral and old vLLM": (422, '{"object": "error", "message": "no prefix", "type": "x"}', "no prefix"),
    "FastAPI": (
        422, '{"detail": [{"loc": ["body", "logprobs"], "msg": "Extra inputs are not permitted"}]}',
        "logprobs: Extra inputs are not permitted"),
    "a detail": (400, '{"detail": "no such model"}', "no such model"),
    "Gemini's list": (400, '[{"error": {"code": 400, "message": "no logprobs"}}]', "no logprobs"),
    "text": (404, "<html>Not  Found</html>", "<html>Not Found</html>"),
    "nothing": (404, "", ""),
}  # fmt: skip


@pytest.mark.parametrize("server", BODIES)
def test_the_servers_own_words_are_shown(chat, stop, server):
    status, text, words = BODIES[server]
    chat.fault = lambda payload, number: (status, text, {})
    failure = ask(chat, stop)
    assert str(failure).endswith(f"{': ' * bool(words)}{words} (1 attempt)")
    assert (str(failure)[:4], failure.kind) == (f"{status} ", "request")


def test_an_error_with_status_200_is_an_error(chat, stop):
    chat.fault = lambda payload, number: (200, '{"error": {"message": "provider down", "code": 502}}', {})
    failure = ask(chat, stop, retries=0)
    assert str(failure) == "the reply must be a chat completion; got provider down. (1 attempt)"
    assert failure.kind == "transport"


def test_a_busy_server_costs_time_and_no_question(chat, monkeypatch):
    """Every fifth request passes, and no Retry-After: more refusals in a row than there are attempts."""
    chat.fault = lambda payload, number: (429, '{"error": "too many"}', {}) if number % 5 else None
    monkeypatch.setattr("triviaqa_subset.elicitation.chat.LONGEST_WAIT", 0.004)
    endpoint = Endpoint("m", chat.url, retries=1, retry_wait=0.001)
    backend = chat_backend(endpoint)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(backend, [[REQUEST]] * 40))
    assert {reply.text for (reply,) in replies} == {" Zarquon 7"}


def test_a_pause_is_shared_grows_and_shrinks(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("triviaqa_subset.elicitation.chat.monotonic", lambda: now[0])
    pace = Pace(1.0)
    pauses = []
    for _ in range(8):
        for _ in range(3):  # three workers that were refused at once
            pace.busy(None, now[0])
        pauses.append(pace.left())
        now[0] += pace.left()
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    for _ in range(100):
        pace.answered()
    pace.busy(None, now[0])
    assert pace.left() == 1.0
    pace.busy(34.0, now[0])
    assert pace.left() == 34.0


def test_gemini_says_in_the_body_how_long_to_wait(chat, stop):
    body = '[{"error": {"code": 429, "message": "Quota", "details": [{"retryDelay": "34s"}]}}]'
    chat.fault = lambda payload, number: (429, body, {}) if number == 1 else None
    assert ask(chat, stop).text == " Zarquon 7"
    assert stop.waits == pytest.approx([34.0], abs=0.01)


def test_a_parameter_can_be_taken_away(chat, stop):
    ask(chat, stop, extra_body={"max_tokens": None, "max_completion_tokens": 500, "temperature": None})
    assert chat.requests == [{"model": "m", "messages": MESSAGES, "stream": False, "max_completion_tokens": 500}]


def test_a_provider_of_the_hub_is_a_suffix_and_needs_a_token(chat, stop, monkeypatch):
    monkeypatch.setattr("triviaqa_subset.elicitation.chat.HUB", chat.url)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    chat_backend(Endpoint("org/m", provider="p"), stop)([REQUEST])
    chat_backend(Endpoint("org/m"), stop)([REQUEST])
    assert [payload["model"] for payload in chat.requests] == ["org/m:p", "org/m"]
    assert {headers["authorization"] for headers in chat.headers} == {"Bearer hf_secret"}
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(ValueError, match="must be given a token; got none. Log in: hf auth login.$"):
        chat_backend(Endpoint("org/m"), stop)


@pytest.mark.parametrize("offline", [True, False])
def test_offline_mode_of_the_hub_does_not_keep_from_a_server_of_ones_own(chat, stop, monkeypatch, offline):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", offline)
    assert ask(chat, stop).text == " Zarquon 7"


def test_nobody_there(stop):
    with serving() as gone:
        pass
    failure = ask(gone, stop, retries=1)
    assert str(failure).endswith("refused (2 attempts)")


@pytest.mark.parametrize(("said", "waited"), [("7", 7.0), ("0", 0.0), ("soon", 3.0), ("601", None)])
def test_the_servers_retry_after_comes_first(chat, stop, said, waited):
    chat.retry_after = said
    chat.fault = lambda payload, number: "429" if number == 1 else None
    assert isinstance(ask(chat, stop), Failure) == (waited is None)
    assert stop.waits == pytest.approx([waited] if waited else [], abs=0.01)


def test_waits_double_up_to_a_minute(chat, stop):
    chat.fault = lambda payload, number: "503"
    ask(chat, stop, retries=6)
    assert stop.waits == [3.0, 6.0, 12.0, 24.0, 48.0, 60.0]


def test_once_stopped_nothing_is_tried_again(chat, stop):
    chat.fault = lambda payload, number: "500"
    stop.set()
    with pytest.raises(Stopped):
        ask(chat, stop)
    assert len(chat.requests) == 1


def test_the_hubs_token_stays_with_the_hub(chat, stop, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    ask(chat, stop)
    ask(chat, stop, api_key="sesame")
    assert [headers["authorization"] for headers in chat.headers] == [f"Bearer {NO_KEY}", "Bearer sesame"]


@pytest.mark.parametrize("logprob", [0.5, math.nan, -math.inf])
def test_impossible_log_probabilities_are_a_fault(chat, stop, logprob, monkeypatch):
    monkeypatch.setattr(
        "tests.triviaqa_subset.elicitation.chat_server.token",
        lambda text, *_: {"token": text, "logprob": logprob, "top_logprobs": []},
    )
    failure = ask(chat, stop, REQUEST._replace(top_logprobs=1))
    assert isinstance(failure, Failure)
    assert len(chat.requests) == 5


def test_retry_after_as_a_date():
    now = datetime(2030, 1, 1, 12, tzinfo=UTC)
    assert retry_after("Tue, 01 Jan 2030 12:00:30 GMT", now) == 30.0
    assert retry_after("Tue, 01 Jan 2030 11:00:00 GMT", now) == 0.0
    assert retry_after("nan") is None
    assert retry_after("-5") == 0.0
