"""The authors' package, `ecuas`, beside this one in an environment: both give the same numbers, theirs in float32."""

import json

import numpy as np
import pytest
from scipy.special import log_softmax

from ecuas_metric import score_confidences, score_posteriors
from tests.ecuas_metric.integrations.live import run

pytestmark = [pytest.mark.integrations, pytest.mark.e2e]

PROGRAM = """
import json
import numpy as np
import torch
import ecuas
import ecuas_metric  # both can be imported

given = {name: torch.from_numpy(array) for name, array in np.load("given.npz").items()}

def value(metric, *arrays):
    metric.update(*arrays)
    return float(metric.compute())

pair = given["confidence"], given["correct"]
of_confidences = {f"ecuas_{n}": value(ecuas.ConfidenceECUAS(n=n), *pair) for n in (0, 1, 3, 128)}
of_confidences |= {
    "error_rate": value(ecuas.ConfidenceErrorRate(), *pair),
    "auroc": value(ecuas.ConfidenceAUCScore(), *pair),
    "confidence_cross_entropy": value(ecuas.ConfidenceCrossEntropy(), *pair),
    "confidence_brier_score": value(ecuas.ConfidenceBrierScore(), *pair),
}
pair = given["logits"], given["label"]
of_posteriors = {
    f"ecuas_{n}": value(ecuas.ClassificationECUAS(n=n, normalize=False), *pair) for n in (0, 1, 3, 128)
}
of_posteriors["cross_entropy"] = value(ecuas.ClassificationCrossEntropy(normalize=False), *pair)
print(json.dumps([of_confidences, of_posteriors]))
"""


@pytest.mark.parametrize("num_classes", [2, 3, 10])
def test_the_authors_package_gives_the_same_numbers(num_classes, tmp_path):
    rng = np.random.default_rng(num_classes)
    confidence = rng.beta(4, 2, 500)
    correct = (rng.random(500) < confidence).astype(np.int64)
    logits = rng.normal(0, 2, (500, num_classes))
    label = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    given = {"confidence": confidence, "correct": correct, "logits": logits, "label": label}
    np.savez(tmp_path / "given.npz", **given)
    theirs = json.loads(run("ecuas", tmp_path, "-c", PROGRAM).stdout)
    n = (0, 1, 3, 128)
    ours = [
        score_confidences(correct, confidence, n=n),
        score_posteriors(label, np.exp(log_softmax(logits, axis=1)), n=n),
    ]
    for found, expected in zip(ours, theirs, strict=True):
        assert {name: found[name] for name in expected} == pytest.approx(expected, rel=2e-5)
