"""The local backend, with a tiny random model made here, against log-probabilities computed another way."""

import json
import math
import shutil
from importlib.util import find_spec

import pytest

from tests.triviaqa_subset.elicitation.chat_server import write_source
from triviaqa_subset.elicitation.__main__ import main
from triviaqa_subset.elicitation.local import LocalModel, local_backend
from triviaqa_subset.elicitation.replies import Failure, Request
from triviaqa_subset.elicitation.runs import read_run

MISSING = not (find_spec("torch") and find_spec("transformers"))
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(MISSING, reason="needs the extra `local`: make test EXTRAS=local"),
]
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ["<s>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]


@pytest.fixture(scope="module", autouse=True)
def libraries():
    """Import what takes seconds here, not in every process that only collects these tests."""
    global tokenizers, torch, transformers
    import tokenizers
    import torch
    import transformers

    torch.set_num_threads(1)  # the model is too small for more


@pytest.fixture(scope="module")
def folder(libraries, tmp_path_factory):
    """A byte-level tokenizer and a Llama of two layers, saved like any model."""
    folder = tmp_path_factory.mktemp("tiny")
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet)
    made.train_from_iterator(["Which name was invented for this thing? True False Probability: 0.5"] * 4, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="<|end|>", chat_template=TEMPLATE
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=2048, bos_token_id=0, eos_token_id=1, initializer_range=0.3,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def request(question, start="Guess:", **options):
    messages = [{"role": "system", "content": "Answer."}, {"role": "user", "content": question}]
    return Request(
        [*messages, *([{"role": "assistant", "content": start}] if start else [])], **{"max_tokens": 12} | options
    )


QUESTIONS = [f"{'Which ' * length}thing?" for length in (1, 9, 3, 14)]
REQUESTS = [request(question, top_logprobs=5) for question in QUESTIONS] + [
    request(question, "", top_logprobs=5) for question in QUESTIONS
]


def backend(folder):
    return local_backend(LocalModel(str(folder), device="cpu"))


@pytest.fixture(scope="module")
def ask(folder):
    return backend(folder)[0]


@pytest.fixture(scope="module")
def model(folder):
    return transformers.AutoModelForCausalLM.from_pretrained(folder).double().eval()


@pytest.fixture(scope="module")
def tokenizer(folder):
    return transformers.AutoTokenizer.from_pretrained(folder)


def written_out(request):
    """The template, by hand: the last message of the assistant is left open."""
    said = "".join(f"<|{message['role']}|>{message['content']}<|end|>" for message in request.messages)
    return "<s>" + (
        said.removesuffix("<|end|>") if request.messages[-1]["role"] == "assistant" else said + "<|assistant|>"
    )


def teacher_forced(model, tokenizer, request, length):
    """Greedy tokens and their log-probabilities, a forward pass of the whole sequence for each; float64, no cache."""
    ids = tokenizer(written_out(request), add_special_tokens=False)["input_ids"]
    taken = []
    for _ in range(length):
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, -1]
        logprobs = logits - torch.logsumexp(logits, 0)
        best = int(logprobs.argmax())
        taken.append((best, float(logprobs[best])))
        ids = [*ids, best]
    return taken


@pytest.mark.parametrize("asked", REQUESTS)
def test_logprobs_are_those_of_teacher_forcing(ask, model, tokenizer, asked):
    (reply,) = ask([asked])
    expected = teacher_forced(model, tokenizer, asked, len(reply.tokens))
    assert [token.logprob for token in reply.tokens] == pytest.approx([logprob for _, logprob in expected], abs=1e-4)
    assert reply.text == tokenizer.decode([token for token, _ in expected], skip_special_tokens=True)
    product = math.prod(math.exp(logprob) for _, logprob in expected)
    assert math.exp(sum(token.logprob for token in reply.tokens)) == pytest.approx(product, rel=1e-3)


def test_a_batch_padded_on_the_left_gives_what_single_requests_give(ask):
    single = [ask([asked])[0] for asked in REQUESTS]
    batch = ask(REQUESTS)
    for alone, together in zip(single, batch, strict=True):
        assert (together.text, together.finish_reason) == (alone.text, alone.finish_reason)
        assert [token.text for token in together.tokens] == [token.text for token in alone.tokens]
        for one, other in zip(alone.tokens, together.tokens, strict=True):
            assert other.logprob == pytest.approx(one.logprob, abs=1e-4)
            assert [logprob for _, logprob in other.top] == pytest.approx([logprob for _, logprob in one.top], abs=1e-4)


def test_the_end_of_turn_is_no_token_of_the_reply(ask, folder, tokenizer):
    (reply,) = ask([request("Which?", max_tokens=1)])
    assert reply.finish_reason == "length"
    said = tokenizer(reply.text, add_special_tokens=False)["input_ids"]
    network = transformers.AutoModelForCausalLM.from_pretrained(folder)
    network.generation_config.eos_token_id = [1, said[0]]  # what it says first now ends its turn
    network.save_pretrained(folder / "mute")
    tokenizer.save_pretrained(folder / "mute")
    (mute,) = backend(folder / "mute")[0]([request("Which?", top_logprobs=0)])
    assert (mute.text, mute.tokens, mute.finish_reason) == ("", [], "stop")


MODELS_OWN_SETTINGS = {
    "do_sample": True, "temperature": 0.3, "top_k": 2, "top_p": 0.5, "min_p": 0.2, "typical_p": 0.5,
    "epsilon_cutoff": 0.01, "eta_cutoff": 0.01, "repetition_penalty": 1.3, "no_repeat_ngram_size": 2,
    "num_beams": 3, "num_return_sequences": 2, "length_penalty": 2.0, "early_stopping": True,
    "min_new_tokens": 9, "min_length": 300, "max_length": 5, "max_time": 1e-6, "stop_strings": ["e"],
    "forced_bos_token_id": 4, "forced_eos_token_id": 1, "exponential_decay_length_penalty": [1, 9.0],
    "suppress_tokens": list(range(5, 200)), "begin_suppress_tokens": list(range(200, 400)),
    "bad_words_ids": [[9]], "sequence_bias": [[[9], 20.0]], "guidance_scale": 3.0, "renormalize_logits": True,
    "remove_invalid_values": True, "use_cache": False, "cache_implementation": "static",
    "return_dict_in_generate": True, "output_scores": True, "output_logits": True,
}  # fmt: skip


@pytest.mark.parametrize("settings", [MODELS_OWN_SETTINGS, {"repetition_penalty": 1.1}, {"num_beams": 3}], ids=len)
def test_the_models_own_generation_settings_change_nothing(ask, folder, tmp_path, settings):
    shutil.copytree(folder, tmp_path / "set")
    file = tmp_path / "set/generation_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))
    requests = [*REQUESTS[::3], request("Which?", temperature=3.0, top_logprobs=0, seed=1)]
    assert backend(tmp_path / "set")[0](requests) == ask(requests)


def test_the_likely_tokens_are_the_most_likely(ask, tokenizer):
    vocabulary = len(tokenizer)
    for reply in ask([asked._replace(top_logprobs=vocabulary + 10) for asked in REQUESTS[:2]]):
        for token in reply.tokens:
            logprobs = [logprob for _, logprob in token.top]
            assert len(logprobs) == vocabulary
            assert logprobs == sorted(logprobs, reverse=True)
            assert math.fsum(math.exp(logprob) for logprob in logprobs) == pytest.approx(1.0, abs=1e-9)
            assert token.logprob == logprobs[0]


def test_samples_have_the_models_own_logprobs(ask, model, tokenizer):
    hot = [request("Which?", temperature=5.0, top_logprobs=0, seed=seed) for seed in range(4)]
    replies = [ask([asked])[0] for asked in hot]
    assert len({reply.text for reply in replies}) > 1
    assert ask([hot[0]])[0] == replies[0]
    (greedy,) = ask([request("Which?", top_logprobs=400)])
    first = {tuple(pair) for pair in greedy.tokens[0].top}
    for reply in replies:
        assert any(abs(logprob - reply.tokens[0].logprob) < 1e-4 for _, logprob in first)


def test_the_pieces_make_the_text_even_of_broken_characters(ask):
    for reply in ask(
        [request("Which?", temperature=8.0, top_logprobs=0, seed=seed, max_tokens=40) for seed in range(8)]
    ):
        pieces = "".join(token.text for token in reply.tokens)
        assert reply.text.startswith(pieces)
        assert set(reply.text[len(pieces) :]) <= {"\ufffd"} or "\ufffd" in reply.text


def test_a_template_that_refuses_is_a_failure(folder, tokenizer, ask, tmp_path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = "{{ raise_exception('no system message') }}"
    tokenizer.save_pretrained(tmp_path)
    transformers.AutoModelForCausalLM.from_pretrained(folder).save_pretrained(tmp_path)
    (reply,) = backend(tmp_path)[0]([request("Which?", "")])
    assert isinstance(reply, Failure)
    assert str(reply) == "no system message"
    tokenizer.chat_template = None
    tokenizer.save_pretrained(tmp_path / "base")
    transformers.AutoModelForCausalLM.from_pretrained(folder).save_pretrained(tmp_path / "base")
    with pytest.raises(ValueError, match="base must have a chat template; got none. Use a model tuned for dialogue.$"):
        backend(tmp_path / "base")


def test_a_model_that_also_reads_images_is_asked_in_text(folder, tokenizer, tmp_path):
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4}
    text = small | {"model_type": "mistral", "vocab_size": len(tokenizer), "num_key_value_heads": 2, "head_dim": 8}
    vision = small | {"model_type": "pixtral", "head_dim": 8, "image_size": 28, "patch_size": 14}
    torch.manual_seed(0)
    config = transformers.Mistral3Config(text_config=text, vision_config=vision, image_token_index=4)
    network = transformers.Mistral3ForConditionalGeneration(config).eval()
    network.generation_config.eos_token_id = 1
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (reply,) = backend(tmp_path)[0]([REQUESTS[0]])
    ids = tokenizer(written_out(REQUESTS[0]), add_special_tokens=False, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        first = network(input_ids=ids).logits[0, -1].double().log_softmax(-1)
    assert reply.tokens[0].logprob == pytest.approx(float(first.max()), abs=1e-4)


@pytest.mark.parametrize("method", ["sequence_posterior", "is_true", "verbalized", "semantic_confidence"])
def test_the_command_line_with_a_local_model(folder, tmp_path, method, capsys, root):
    source, out = write_source(tmp_path / "source.jsonl", root), tmp_path / "run.jsonl"
    shutil.copytree(folder, tmp_path / "ends")
    file = tmp_path / "ends/generation_config.json"  # a random model does not end its turn: many tokens do it here
    file.write_text(json.dumps(json.loads(file.read_text()) | {"eos_token_id": list(range(1, 400, 9))}))
    where = ["--source", str(source), "--local", "--model", str(tmp_path / "ends"), "--device", "cpu", "--limit", "5"]
    small = ["--max-tokens", "60", "--batch-size", "2", "--samples", "3", "--top-logprobs", "400", "--seed", "1"]
    for _ in range(2):
        assert main([*where, *small, "--method", method, "--out", str(out)]) in (0, 1)  # empty replies are errors
    run = read_run(out)
    assert len(run.rows) == 5
    assert run.facts[1:] == [
        {"torch": torch.__version__, "transformers": transformers.__version__, "device": "cpu", "dtype": "float32"}
    ]
    answered = [row for row in run.rows.values() if row["error"] is None]
    assert answered
    if method in ("sequence_posterior", "is_true"):
        assert all((row["confidence"] is None) == bool(row["remark"]) for row in answered)
        assert all(0 < row["confidence"] < 1 for row in answered if row["confidence"] is not None)
    assert f"5 questions: {len(answered)} answers, {5 - len(answered)} errors, 0 not asked" in capsys.readouterr().out
