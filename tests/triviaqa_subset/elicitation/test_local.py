"""Models on this machine by Inspect's `hf` provider: tiny random ones, against teacher forcing in float64, no cache.

Each comes with a generation configuration that sets everything, and none of it may matter.
"""

import json
import math
import re
from importlib.util import find_spec

import pytest

pytest.importorskip("inspect_ai")
from tests.triviaqa_subset.elicitation.servers import question, row
from tests.triviaqa_subset.elicitation.test_servers import asked

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not find_spec("torch"), reason="needs the extra `local`"),
]
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = [
    "<s>",
    "<|end|>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    *(f"<|end {i}|>" for i in range(25)),
]
OWN_SETTINGS = {
    "do_sample": True, "temperature": 0.3, "top_k": 2, "top_p": 0.5, "min_p": 0.2, "typical_p": 0.5,
    "repetition_penalty": 1.3, "no_repeat_ngram_size": 2, "num_beams": 3, "num_return_sequences": 2,
    "length_penalty": 2.0, "min_new_tokens": 9, "min_length": 300, "max_length": 5, "stop_strings": ["e"],
    "forced_bos_token_id": 4, "forced_eos_token_id": 1, "suppress_tokens": list(range(5, 200)),
    "bad_words_ids": [[9]], "sequence_bias": [[[9], 20.0]], "guidance_scale": 3.0,
}  # fmt: skip
SIZES = {"hidden_size": 32, "num_hidden_layers": 2}
HEADS = {"intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
ARCHITECTURES = {
    "llama": SIZES | HEADS,
    "gemma2": SIZES | HEADS,
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 2048},
    "mamba": SIZES | {"state_size": 4},
}


def saved(folder, name):
    """Save a random model of an architecture with a byte-level tokenizer; many of its special tokens end a turn."""
    import tokenizers
    import torch
    import transformers

    torch.set_num_threads(1)  # the model is too small for more
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet
    )
    made.train_from_iterator(
        ["Which name was invented for this thing? True False Probability: 0.5"] * 4, trainer
    )
    special = {"bos_token": "<s>", "eos_token": "<|end|>", "additional_special_tokens": SPECIAL[2:]}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, chat_template=TEMPLATE, **special
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    own = {
        "bos_token_id": 0,
        "eos_token_id": 1,
        "vocab_size": len(tokenizer),
        "initializer_range": 0.3,
    }
    config = transformers.AutoConfig.for_model(name, **ARCHITECTURES[name] | own)
    network = transformers.AutoModelForCausalLM.from_config(config)
    network.save_pretrained(folder)
    file = folder / "generation_config.json"
    ends = [1, *range(5, len(SPECIAL))]
    file.write_text(
        json.dumps(json.loads(file.read_text()) | OWN_SETTINGS | {"eos_token_id": ends})
    )
    return network.double().eval(), transformers.AutoTokenizer.from_pretrained(folder), ends


def teacher_forced(network, tokenizer, ends, prompt, length):
    """Greedy tokens and their log-probabilities, a forward pass of the whole sequence for each; float64, no cache."""
    import torch

    ids, found = tokenizer(prompt, add_special_tokens=False)["input_ids"], []
    while len(found) < length:
        with torch.no_grad():
            logprobs = network(torch.tensor([ids]), use_cache=False).logits[0, -1].log_softmax(-1)
        best = int(logprobs.argmax())
        if best in ends:
            return found, True
        found.append((best, float(logprobs[best])))
        ids = [*ids, best]
    return found, False


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_answers_and_posteriors_are_those_of_teacher_forcing(name, tmp_path):
    from triviaqa_subset.elicitation import methods

    network, tokenizer, ends = saved(tmp_path / "model", name)
    rows = [row(i, question=question(i) + " Why?" * i, answer="Nix") for i in range(5)]
    log = asked(None, rows, tmp_path, f"hf/{tmp_path / 'model'}", ["sequence_posterior"])
    assert log.status == "success", log.error
    assert len(log.samples) == len(rows)
    for sample in log.samples:
        score = sample.scores["sequence_posterior"]
        messages = methods.render(
            methods.load_prompts("triviaqa")["sequence_posterior"], rows[sample.id]
        )
        prompt = "<s>" + "".join(f"<|{each['role']}|>{each['content']}<|end|>" for each in messages)
        tokens, ended = teacher_forced(network, tokenizer, ends, prompt.removesuffix("<|end|>"), 64)
        text = tokenizer.decode([token for token, _ in tokens], skip_special_tokens=True)
        assert sample.output.completion == text
        if score.metadata["decided_by"] == "no reply":
            assert not ended or not text.strip() or re.match(r"\s*[<\[{]", text), score.explanation
        elif score.metadata["confidence"] is not None and "\n" not in text:
            product = math.exp(math.fsum(logprob for _, logprob in tokens))
            assert score.metadata["confidence"] == pytest.approx(product, rel=1e-4)
            assert ended
