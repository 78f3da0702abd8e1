"""Systems as tables, how files hold these, and what scikit-learn and arithmetic say of them."""

import io
import json

import numpy as np
import pandas as pd
from sklearn.metrics import brier_score_loss, log_loss

N = 200
RNG = np.random.default_rng(3)
CLASSES = np.array(["cat", "dog", "horse", "ship"])
SPAM = np.array(["ham", "spam"])
Q = RNG.random(N).round(4)
P = RNG.random(N).round(4)
FOUR = RNG.dirichlet(np.full(4, 0.7), N)
C = (RNG.random(N) < Q).astype(int)
Y = (RNG.random(N) < P).astype(int)
LABEL = np.array([RNG.choice(4, p=row) for row in FOUR])
WRONG = FOUR.argmax(axis=1) != LABEL
BASE = pd.DataFrame({"id": [f"q{i:03}" for i in range(N)], "confidence": Q, "correct": C})
BINARY = pd.DataFrame({"y_true": Y, "y_prob": P})
POSTERIORS = pd.DataFrame(FOUR, columns=[f"prob_{k}" for k in range(4)]).assign(label=LABEL)
BY_NAME = pd.DataFrame(FOUR, columns=CLASSES).assign(y_true=CLASSES[LABEL])
CHOSEN = pd.DataFrame({"label": CLASSES[LABEL], "predicted": CLASSES[FOUR.argmax(axis=1)]})
CHOSEN["confidence"] = FOUR.max(axis=1)


def of_decisions(confidence, wrong, max_uncertainty):
    """Return the error rate, and ECUAS_1 written out."""
    u = (1 - confidence) / max_uncertainty
    return {
        "error_rate": np.mean(wrong),
        "ecuas_1": np.mean(u**2 + wrong * 2 / max_uncertainty * (1 - u)),
    }


def of_answers(confidence, wrong, max_uncertainty=1):
    brier = brier_score_loss(1 - wrong, confidence)
    return of_decisions(confidence, wrong, max_uncertainty) | {"confidence_brier_score": brier}


def of_posteriors(posteriors, label):
    found = of_decisions(
        posteriors.max(axis=1), posteriors.argmax(axis=1) != label, 1 - 1 / posteriors.shape[1]
    )
    return found | {"cross_entropy": log_loss(label, posteriors)}


ROUNDED = FOUR.round(2)
TRUTH = {
    "confidences": of_answers(Q, 1 - C),
    "one of four classes": of_answers(FOUR.max(axis=1), WRONG, 0.75),
    "free text": of_answers(FOUR.max(axis=1), WRONG),
    "posteriors": of_posteriors(FOUR, LABEL),
    "rounded posteriors": of_posteriors(ROUNDED / ROUNDED.sum(axis=1, keepdims=True), LABEL),
    "binary": of_posteriors(np.column_stack([1 - P, P]), Y),
    "confidence of two": of_answers(np.maximum(P, 1 - P), (P > 0.5) != Y, 0.5),
    "rated": of_answers(np.digitize(Q, [0.2, 0.4, 0.6, 0.8]) / 4, 1 - C),
}


def judged(right, wrong):
    """Return the base table with words for correctness."""
    return BASE.assign(correct=np.where(C, right, wrong))


def by_class(order=(0, 1, 2, 3)):
    """Return posteriors as mappings of classes, in some order."""
    return [
        dict(zip(CLASSES[[*order]].tolist(), row, strict=True)) for row in FOUR[:, order].tolist()
    ]


def read_content(table, suffix):
    """Return text, a table in a format, or the arrays of .npz as the bytes of a file."""
    if isinstance(table, bytes):
        return table
    if isinstance(table, str):
        return table.encode()
    if suffix == ".npz":
        buffer = io.BytesIO()
        arrays = {
            str(name) or "arr_0": np.array(one.tolist())
            for name, one in table.items()
            if one.dtype != object
        }
        np.savez(buffer, **arrays)
        return buffer.getvalue()
    if suffix == ".parquet":
        return table.to_parquet()
    if suffix not in (".json", ".jsonl"):
        return table.to_csv(index=False).encode(errors="replace")
    rows = [
        dict(zip(table.columns, row, strict=True)) for row in table.to_numpy(dtype=object).tolist()
    ]
    return (json.dumps(rows) if suffix == ".json" else "\n".join(map(json.dumps, rows))).encode()
