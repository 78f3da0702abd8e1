import json

import numpy as np
import pytest

from ecuas_metric.files.runs import read_parts
from tests.ecuas_metric.integrations.live import arithmetic, close, run, score

pytestmark = [pytest.mark.integrations, pytest.mark.e2e]
TINY_MODEL = """
import sys
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

torch.manual_seed(0)
vocabulary = {letter: place for place, letter in enumerate([*sorted(pre_tokenizers.ByteLevel.alphabet()), "<end>"])}
letters = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
letters.pre_tokenizer, letters.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
ends = dict.fromkeys(("eos_token", "bos_token", "pad_token"), "<end>")
PreTrainedTokenizerFast(tokenizer_object=letters, model_max_length=1024, **ends).save_pretrained(sys.argv[1])
sizes = {"n_positions": 1024, "n_embd": 16, "n_layer": 1, "n_head": 2, "initializer_range": 0.5}
ends = {"bos_token_id": 256, "eos_token_id": 256}
GPT2LMHeadModel(GPT2Config(vocab_size=257, **sizes, **ends)).save_pretrained(sys.argv[1])
"""


def test_helm(tmp_path):
    """HELM's calibration error of one bin is the gap between the confidences and the verdicts that are read."""
    run("helm", tmp_path, "-c", TINY_MODEL, "tiny")
    which = ["--suite", "v1", "--max-eval-instances", "30", "--disable-cache", "--enable-local-huggingface-models"]
    entry = "simple_mcqa:model=huggingface/tiny,temperature=1,num_train_trials=2"
    run("helm", tmp_path, "-m", "helm.benchmark.run", "--run-entries", entry, *which, str(tmp_path / "tiny"))
    (part,) = read_parts(tmp_path / "benchmark_output")
    (stats,) = (tmp_path / "benchmark_output").rglob("stats.json")
    live = {stat["name"]["name"]: stat["mean"] for stat in json.loads(stats.read_text()) if stat["count"]}
    gap = np.asarray(part.columns["confidence"]) - np.asarray(part.columns["correct"])
    trials = np.array([name.split()[1] for name in part.columns["id"]])
    gaps = [abs(gap[trials == trial].mean()) for trial in np.unique(trials)]
    assert live["ece_1_bin"] == pytest.approx(np.mean(gaps), abs=1e-12)
    assert (part.model, len(gap), len(set(part.columns["group"]))) == ("huggingface/tiny", 60, 30)
    ((row,), _) = (score(tmp_path / "benchmark_output")[0].values(), None)
    assert close(row, arithmetic(part.columns["correct"], part.columns["confidence"]))
