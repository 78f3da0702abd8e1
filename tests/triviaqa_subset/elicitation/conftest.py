"""A chat server on loopback, questions to ask it, and the command that asks."""

import json

import pytest

from tests.triviaqa_subset.elicitation.chat_server import name, question, serving, write_source


@pytest.fixture
def chat():
    """A chat server on loopback."""
    with serving() as chat:
        yield chat


@pytest.fixture(scope="session")
def source(root, tmp_path_factory):
    """The curated questions with invented texts; not to be written to."""
    return write_source(tmp_path_factory.mktemp("source") / "source.jsonl", root)


@pytest.fixture
def mmlu(tmp_path):
    rows = [{"question": question(i), "choices": ["Nix", name(i)], "answer": 1} for i in range(9)]
    return write(tmp_path / "mmlu.jsonl", rows)


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def command(chat, source, out, method="verbalized", *more):
    fast = ["--timeout", "1.5", "--retries", "3", "--retry-wait", "0.02"]
    where = ["--base-url", chat.url, "--model", "m", "--method", method, "--source", str(source), "--out", str(out)]
    return [*where, *fast, *more]


def graded(out):
    return [json.loads(line) for line in out.with_suffix(".graded.jsonl").read_text().splitlines()]
