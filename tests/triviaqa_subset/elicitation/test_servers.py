"""Twelve ways to serve a model, asked by Inspect: answers are right, confidences right or missing with a reason."""

import pytest

from tests.triviaqa_subset.elicitation.servers import (
    answer,
    posterior,
    row,
    serving,
    stated,
    truth,
    write,
)

pytest.importorskip("inspect_ai")
from inspect_ai import eval as evaluate
from inspect_ai.model import get_model

METHODS = ("sequence_posterior", "is_true", "verbalized", "semantic")
AZURE = {"content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}
OPENROUTER = {"refusal": None, "reasoning": None}
SERVERS = {  # the provider of Inspect, how the server writes, and what is missing
    "vLLM": (
        "vllm/m",
        {"end": "<|im_end|>", "message": {"refusal": None, "reasoning_content": None}},
        (),
    ),
    "llama.cpp": ("openai-api/x/m", {"stripped": True}, ()),
    "Ollama": ("ollama/m", {"logprobs": False}, ("sequence_posterior", "is_true")),
    "TGI": (
        "openai-api/x/m",
        {"tokens": "plain", "most": 5, "finish": "eos_token", "end": "</s>"},
        (),
    ),
    "SGLang": ("sglang/m", {"reasoning": "field", "tokens": "null bytes", "end": "<|im_end|>"}, ()),
    "LM Studio": ("openai-api/x/m", {"tokens": "vocabulary", "stripped": True, "usage": False}, ()),
    "OpenAI": ("openai/gpt-4o", {"message": {"refusal": None, "annotations": []}}, ()),
    "Azure": ("openai-api/x/m", {"choice": AZURE, "message": {"refusal": None}}, ()),
    "OpenRouter": ("openrouter/m", {"message": OPENROUTER, "tokens": "sentencepiece"}, ()),
    "Together": ("together/m", {"logprobs": "lists", "tokens": "plain"}, ("is_true",)),
    "Groq": ("openai-api/x/m", {"refuses": "logprobs"}, ("sequence_posterior", "is_true")),
    "older completions": (
        "openai-api-completions/x/m",
        {"logprobs": "lists", "tokens": "plain"},
        (),
    ),
}


def asked(server, rows, folder, provider="openai-api/x/m", methods=METHODS, limit=None, **options):
    from triviaqa_subset.elicitation.tasks import questions

    file = write(folder / "questions.jsonl", rows)
    where = {"base_url": server.url, "api_key": "k"} if server else {}
    model = get_model(provider, memoize=False, **where)
    task = questions(file=file, methods=methods, samples=2, **options)
    (log,) = evaluate(task, model=model, log_dir=str(folder), display="none", seed=1, limit=limit)
    return log


@pytest.mark.e2e
@pytest.mark.parametrize("name", SERVERS)
def test_answers_are_right_and_confidences_right_or_missing_with_a_reason(name, tmp_path):
    """Of questions of which every third has another answer."""
    provider, style, missing = SERVERS[name]
    rows = [row(i) if i % 3 else row(i, answer="Nix") for i in range(25)]
    options = {"prefill": "text"} if "completions" in provider else {}
    with serving(**style) as server:
        methods = [method for method in METHODS if "refuses" not in style or method not in missing]
        log = asked(
            server, rows, tmp_path, provider, methods, top_logprobs=style.get("most", 20), **options
        )
        if len(methods) < len(METHODS):
            refused = asked(server, rows, tmp_path, provider, limit=1)
            assert "`logprobs` is not supported with this" in refused.error.message
    assert log.status == "success", log.error
    assert len(log.samples) == len(rows)
    for sample in log.samples:
        number, (true, false) = sample.id, truth(sample.id)
        expected = dict(
            zip(
                METHODS,
                (posterior(number), true / (true + false), stated(number), 1.0),
                strict=True,
            )
        )
        for method in methods:
            score = sample.scores[method]
            assert score.answer == answer(number)
            assert score.value == "C" if number % 3 else score.value != score.value
            # of a flat distribution
            few = method == "is_true" and style.get("most") == 5 and number % 2 == 0
            if method in missing or few:
                assert score.metadata["confidence"] is None
                assert score.explanation
            else:
                assert score.metadata["confidence"] == pytest.approx(expected[method], rel=1e-9), (
                    score
                )
