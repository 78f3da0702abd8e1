"""The page's table of servers, row by row, and its commands, as printed, against imitations of those servers."""

import json
import re
import shlex

import pytest

from ecuas_metric.reporting.cli import main as score
from tests.triviaqa_subset.elicitation.chat_server import completion, said
from tests.triviaqa_subset.elicitation.conftest import graded
from triviaqa_subset.elicitation.__main__ import main
from triviaqa_subset.elicitation.methods import DIALOGUES

PLAIN = {"model", "messages", "stream", "max_tokens", "temperature", "seed"}
LIKELY = {"logprobs", "top_logprobs"}


def server(takes, *, wants="", shape='{{"error": {{"message": "{}"}}}}', most=20):
    """Return what a server says to a request: None, or its refusal."""

    def fault(payload, number):
        unknown = sorted(set(payload) - takes)
        message = next(iter(payload["messages"][-1:]), {})
        if unknown:
            return 422, shape.format(f"{unknown[0]} is not supported"), {}
        if payload.get("top_logprobs", 0) > most:
            return 422, shape.format(f"top_logprobs must be at most {most}"), {}
        if wants == "prefix" and message["role"] == "assistant" and not message.get("prefix"):
            return 422, shape.format("the last message must be of the user, or have prefix"), {}
        if wants == "continue" and message["role"] == "assistant" and not payload.get("continue_final_message"):
            return 422, shape.format("the last message must be continued"), {}
        thinks = payload.get("chat_template_kwargs", {}).get("enable_thinking", True)
        if wants == "no thinking" and message["role"] == "assistant" and thinks:
            return 400, shape.format("Assistant response prefill is incompatible with enable_thinking."), {}
        return None

    return fault


FLAT = '{{"object": "error", "message": "{}"}}'
LIST = '[{{"error": {{"code": 400, "message": "{}"}}}}]'
CONTINUED = PLAIN | LIKELY | {"continue_final_message", "add_generation_prompt", "chat_template_kwargs"}
SERVERS = {
    "OpenAI, chat models": server(PLAIN | LIKELY),
    "OpenAI, reasoning models": server({"model", "messages", "stream", "max_completion_tokens", "seed"}),
    "vLLM": server(CONTINUED, wants="continue", shape=FLAT),
    "SGLang": server(CONTINUED, wants="continue", shape=FLAT),
    "llama.cpp": server(PLAIN | LIKELY | {"chat_template_kwargs"}, wants="no thinking"),
    "Ollama": server(PLAIN | LIKELY),
    "TGI": server(PLAIN | LIKELY, shape='{{"error": "{}"}}', most=5),
    "Mistral": server(PLAIN, wants="prefix", shape=FLAT),
    "DeepSeek": server(PLAIN | LIKELY, wants="prefix"),
    "Gemini, compatible layer": server(PLAIN, shape=LIST),
    "the Hub's router": server(PLAIN | LIKELY),
}


@pytest.fixture(scope="session")
def page(root):
    return (root / "triviaqa_subset/README.md").read_text()


def rows(page):
    """The rows of the table of servers: name -> options, and what each method's cell says."""
    lines = page[page.index("| server | options |") :].partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: (options.strip("`"), *works) for name, options, *works in cells}


def test_every_row_has_its_server(page):
    assert set(rows(page)) == set(SERVERS)


@pytest.mark.parametrize("name", SERVERS)
def test_a_row_of_the_table_is_true(chat, source, tmp_path, page, capsys, monkeypatch, name):
    options, posterior, is_true, others = rows(page)[name]
    chat.fault = SERVERS[name]
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    where = ["--base-url", chat.url, *shlex.split(options)]
    if name == "the Hub's router":
        monkeypatch.setattr("triviaqa_subset.elicitation.chat.HUB", chat.url)
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        where = shlex.split(options)
    for method, cell in zip(DIALOGUES, (posterior, is_true, others, others), strict=True):
        out = tmp_path / f"{method}.jsonl"
        asked = ["--model", "m", "--method", method, "--source", str(source), "--out", str(out), "--limit", "4"]
        status = main([*where, *asked, "--samples", "2"])
        printed = capsys.readouterr()
        if cell == "no":
            assert (status, out.exists()) == (2, False)
            assert re.search("logprobs is not supported", printed.err), printed.err
        else:
            assert status == 0, printed.err
            assert None not in [row["confidence"] for row in graded(out)]


def test_the_commands_of_the_page_give_the_table(chat, source, tmp_path, page, monkeypatch, capsys):
    """A server like vLLM, whose model reasons unless it is told not to: three commands, a row per method."""
    block = next(block for block in re.findall(r"```bash\n(.*?)```", page, re.DOTALL) if "--methods" in block)
    _, ask, table = [shlex.split(line) for line in block.replace("\\\n", " ").splitlines()]

    def reasons(payload):
        thinks = payload.get("chat_template_kwargs", {}).get("enable_thinking", True)
        return completion(payload, f"Okay, the user{said(payload)}" if thinks else said(payload))

    chat.fault, chat.complete = SERVERS["vLLM"], reasons
    monkeypatch.chdir(tmp_path)
    arguments = [chat.url if word.startswith("http://") else word for word in ask[3:]]
    assert main([*arguments, "--source", str(source), "--limit", "30"]) == 0
    files = sorted(str(path) for path in tmp_path.glob("runs/*.graded.jsonl"))
    assert table[:3] == ["ecuas", "score", "runs/*.graded.jsonl"]
    assert score(["score", *files, *table[3:]]) == 0
    printed = capsys.readouterr().out
    for method in ("sequence_posterior", "is_true", "verbalized"):
        assert f"Qwen/Qwen3-8B {method}" in printed
    assert json.loads((tmp_path / "runs/verbalized.jsonl").open().readline())["parameters"]["prefill"] == "continue"
