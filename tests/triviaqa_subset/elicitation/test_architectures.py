"""Local models of many architectures, each tiny and random, against greedy teacher forcing in float64 without a cache.

Every one comes with a generation configuration that sets everything, and none of it may matter.
"""

import json
import math
import shutil

import pytest

from tests.triviaqa_subset.elicitation import test_local
from tests.triviaqa_subset.elicitation.test_local import MODELS_OWN_SETTINGS, REQUESTS, backend, teacher_forced

pytestmark = test_local.pytestmark
folder, loaded = test_local.folder, test_local.libraries  # fixtures

VOCABULARY = 512  # tokens of some families of tokenizers are added to those of the folder
SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
GROUPED = SIZES | {"num_key_value_heads": 2, "head_dim": 8}
OLD = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 2048}
VISION = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_heads": 4,
    "depth": 1,
    "patch_size": 14,
    "out_hidden_size": 32,
}
ROPE = {"rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10_000.0}}
CONFIGURATIONS = {
    "llama": GROUPED,
    "mistral": GROUPED,
    "qwen2": GROUPED,
    "qwen3": GROUPED,
    "gpt2": OLD,
    "gpt_neox": SIZES,
    "phi3": GROUPED | {"pad_token_id": 1},
    "opt": SIZES | {"ffn_dim": 64, "word_embed_proj_dim": 32},
    "bloom": {"hidden_size": 32, "n_layer": 2, "n_head": 4},
    "mamba": {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
    "gemma2": GROUPED,
    "gemma3_text": GROUPED,
}  # fmt: skip
THAT_READ_IMAGES = {
    "glm4v": {"text_config": GROUPED | ROPE | {"pad_token_id": 1}, "vision_config": VISION},
    "qwen3_vl": {"text_config": GROUPED | ROPE, "vision_config": VISION | {"deepstack_visual_indexes": [0]}},
}


@pytest.fixture(scope="module", autouse=True)
def libraries(loaded):
    global torch, transformers
    import torch
    import transformers


def saved(tokenizer_folder, made, model_type, vocabulary):
    """Save a random model of an architecture, with the tokenizer and everything in its generation configuration."""
    shutil.copytree(tokenizer_folder, made)
    for file in made.glob("*.safetensors"):
        file.unlink()
    own = {"bos_token_id": 0, "eos_token_id": 1}
    if model_type in CONFIGURATIONS:
        settings = CONFIGURATIONS[model_type] | own | {"vocab_size": vocabulary, "initializer_range": 0.3}
        config = transformers.AutoConfig.for_model(model_type, **settings)
        network = transformers.AutoModelForCausalLM.from_config(config)
    else:
        parts = {part: dict(settings) for part, settings in THAT_READ_IMAGES[model_type].items()}
        parts["text_config"] |= own | {"vocab_size": vocabulary, "initializer_range": 0.3}
        config = transformers.AutoConfig.for_model(model_type, **parts)
        network = transformers.AutoModelForImageTextToText.from_config(config)
    network.save_pretrained(made)
    file = made / "generation_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | MODELS_OWN_SETTINGS | {"eos_token_id": 1}))
    return network.double().eval()


@pytest.mark.parametrize("model_type", [*CONFIGURATIONS, *THAT_READ_IMAGES])
def test_replies_and_posteriors_are_those_of_teacher_forcing(model_type, folder, tmp_path):
    torch.manual_seed(1)
    network = saved(folder, tmp_path / model_type, model_type, VOCABULARY)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / model_type)
    requests = REQUESTS[:3]
    for asked, reply in zip(requests, backend(tmp_path / model_type)[0](requests), strict=True):
        expected = teacher_forced(network, tokenizer, asked, len(reply.tokens))
        assert reply.text == tokenizer.decode([token for token, _ in expected], skip_special_tokens=True)
        assert len(reply.tokens) == 12
        assert math.exp(sum(token.logprob for token in reply.tokens)) == pytest.approx(
            math.exp(sum(logprob for _, logprob in expected)), rel=1e-5
        )
