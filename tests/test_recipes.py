"""The recipes of docs/python.md run as written, and their numbers are those of other ways to compute them."""

import contextlib
import io
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold

from ecuas_metric import ecuas_score, score_posteriors
from ecuas_metric.costs import ecuas_cost
from tests.conftest import ROOT


def recipe(name):
    """Return the code under a bold name of the recipes, and what its comments say that it prints."""
    section = (ROOT / "docs/python.md").read_text().split("## Recipes")[1].split("\n## ")[0]
    code = re.search(rf"\*\*{name}\*\*.*?```python\n(.*?)```", section, flags=re.DOTALL)[1]
    return code, [line[2:] for line in code.splitlines() if line.startswith("# ")]


def run(code, **given):
    """Run code; return what it prints and its names."""
    names, printed = dict(given), io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue().splitlines(), names


def test_there_are_three_recipes():
    section = (ROOT / "docs/python.md").read_text().split("## Recipes")[1].split("\n## ")[0]
    assert re.findall(r"^\*\*([\w-]+)\*\*", section, flags=re.MULTILINE) == ["NumPy", "scikit-learn", "transformers"]


def test_numpy_in_one_call():
    code, shown = recipe("NumPy")
    printed, names = run(code)
    assert printed == shown
    expected = ecuas_cost(candidate_cost=1.0 - names["correct"], uncertainty=1 - names["confidence"], n=1).mean()
    assert names["values"]["ecuas_1"] == pytest.approx(expected)


def test_scikit_learns_cross_validation_binary_and_multiclass():
    code, shown = recipe("scikit-learn")
    printed, names = run(code)
    for data, ours, written in zip((load_breast_cancer(), load_iris()), printed, shown, strict=True):
        scores, expected = (np.fromstring(text.strip("[]"), sep=" ") for text in (ours, written))
        assert scores == pytest.approx(
            expected, abs=0.02
        )  # another version of scikit-learn may fit a little differently
        for score, (train, test) in zip(scores, StratifiedKFold(3).split(data.data, data.target), strict=True):
            model = names["model"].fit(data.data[train], data.target[train])
            posteriors = model.predict_proba(data.data[test])  # (N, K), where the scorer is given (N,) for two classes
            assert -score == pytest.approx(ecuas_score(data.target[test], posteriors, n=1), abs=0.006)


@pytest.mark.e2e
def test_the_trainer_of_transformers(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason="needs the extra `local`: make test EXTRAS=local")
    transformers = pytest.importorskip("transformers", reason="needs the extra `local`: make test EXTRAS=local")
    pytest.importorskip("accelerate", reason="needs the extra `local`: make test EXTRAS=local")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, num_labels=3
    )
    model = transformers.BertForSequenceClassification(config)
    words = torch.randint(20, (24, 4))
    samples = [{"input_ids": row, "labels": int(row[0]) % 3} for row in words]
    code, _ = recipe("transformers")
    _, names = run(code, model=model, train_set=samples[:12], test_set=samples[12:])
    history = [entry for entry in names["trainer"].state.log_history if "eval_ecuas_1" in entry]
    assert len(history) == 3  # epochs
    assert names["trainer"].state.best_metric == min(entry["eval_ecuas_1"] for entry in history)
    output = names["trainer"].predict(samples[12:])
    posteriors = torch.tensor(output.predictions).softmax(dim=1).double().numpy()
    expected = score_posteriors(output.label_ids, posteriors, labels=range(3))
    assert output.metrics["test_ecuas_1"] == pytest.approx(expected["ecuas_1"], rel=1e-5)
    assert output.metrics["test_auroc"] == pytest.approx(expected["auroc"], nan_ok=True)
