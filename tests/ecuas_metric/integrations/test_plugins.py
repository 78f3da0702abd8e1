"""The plug-ins whose tools are installed, against the functions of arrays; `docs/integrations.md` as written."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

from ecuas_metric import ecuas_score, score_posteriors
from ecuas_metric.integrations import inspect_ai, lighteval, lm_eval
from ecuas_metric.integrations.choices import DIRECTIONS, metric_of_choices
from ecuas_metric.integrations.sklearn import ecuas_scorer
from ecuas_metric.integrations.transformers import compute_metrics


def classified(rng, names):
    label = rng.integers(0, len(names), 90)
    return rng.normal(label[:, None], 1.0, size=(90, 2)), np.array(names)[label]


@pytest.mark.parametrize("names", [["no", "yes"], ["bird", "cat", "dog"]])
def test_the_scorer_is_minus_ecuas_of_each_fold(rng, names):
    X, y = classified(rng, names)
    folds = KFold(3)
    found = cross_validate(LogisticRegression(), X, y, scoring={"a": ecuas_scorer(n=0)}, cv=folds)
    for value, (train, test) in zip(found["test_a"], folds.split(X), strict=True):
        model = LogisticRegression().fit(X[train], y[train])
        assert value == pytest.approx(-ecuas_score(y[test], model.predict_proba(X[test]), n=0, labels=names))


def test_the_scorer_takes_a_fold_that_lacks_a_class(rng):
    X, y = classified(rng, ["a", "b", "c"])
    last = np.flatnonzero(y == "c")
    kept = np.r_[np.flatnonzero(y != "c"), last]
    folds = [(kept[:40].tolist() + last.tolist(), np.flatnonzero(y == "a").tolist())]
    assert np.isfinite(cross_validate(LogisticRegression(), X, y, scoring=ecuas_scorer(), cv=folds)["test_score"]).all()
    search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=ecuas_scorer(), cv=3).fit(X, y)
    assert search.best_params_ == {"C": 1.0}


def test_the_trainers_metrics_leave_out_what_is_ignored(rng):
    logits, labels = rng.normal(size=(5, 7, 3)), rng.integers(0, 3, (5, 7))
    ignored = rng.random((5, 7)) < 0.3
    given = SimpleNamespace(predictions=(logits, "hidden"), label_ids=np.where(ignored, -100, labels))
    expected = score_posteriors(labels[~ignored], logits[~ignored], predictions_are="logits", n=2)
    assert compute_metrics(n=2)(given) == expected


def test_aggregations_are_the_metrics_of_the_samples(rng):
    labels, logits = rng.integers(0, 4, 20), rng.normal(size=(20, 4))
    letters = [{"answer": "ABCD"[label]} for label in labels[:10]] + [{"label": int(label)} for label in labels[10:]]
    items = [lm_eval.process_results(doc, [(x, False) for x in row]) for doc, row in zip(letters, logits, strict=True)]
    expected = score_posteriors(labels, logits, predictions_are="logits", n=(0, 1))
    flat = [[label, *row] for label, row in zip(labels, logits, strict=True)]
    for name in DIRECTIONS:
        assert getattr(lm_eval, name)([item[name] for item in items]) == expected[name]
        assert lighteval.Corpus(name).compute_corpus(flat) == expected[name]


def test_a_plug_in_takes_few_samples_and_any_option(rng):
    """With `--limit 2` not every choice is right once."""
    scores = rng.normal(size=(2, 4)).tolist()
    system = {"y_true": [3, 3], "y_prob": scores, "labels": range(4), "predictions_are": "logits"}
    for name, options in (("ecuas_2", {"n": 2}), ("normalized_brier_score", {"normalize": True})):
        found = metric_of_choices(name, [3, 3], scores, **options)
        assert found == pytest.approx(score_posteriors(**system, **options)[name], nan_ok=True)
    with pytest.raises(ValueError, match=r"^choices must be as many in every question.*; got 2 and 4\. `ecuas score`"):
        metric_of_choices("ecuas_1", [0, 1], [[-1.0, -2.0], scores[0]])


@pytest.mark.parametrize(("plug", "tool"), [(lighteval.ecuas_metrics, "lighteval"), (inspect_ai.ecuas, "inspect-ai")])
def test_a_tool_that_is_missing_is_named(plug, tool):
    with pytest.raises(ImportError, match=f"pip install {tool}$"):
        plug()


def recipe(root, tool):
    text = (root / "docs" / "integrations.md").read_text()
    return re.search(rf"\*\*{tool}\*\*:.*?```python\n(.*?)```", text, flags=re.DOTALL)[1]


def test_the_recipe_for_scikit_learn(root, capsys):
    exec(recipe(root, "scikit-learn"), {})
    assert 0 < float(capsys.readouterr().out) < 0.2


def test_the_recipes_for_a_model_of_transformers_agree(root, tmp_path, monkeypatch, capsys):
    """What the Trainer keeps, a torchmetrics loop over the same batches, and the functions of arrays: one number."""
    torch = pytest.importorskip("torch", reason="needs the extra `local`")
    transformers = pytest.importorskip("transformers", reason="needs the extra `local`")
    pytest.importorskip("accelerate", reason="needs the extra `local`")
    pytest.importorskip("torchmetrics", reason="needs the extra `torchmetrics`")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    model = transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=20, num_labels=3, **sizes))
    samples = [{"input_ids": row, "labels": int(row[0]) % 3} for row in torch.randint(20, (36, 4))]
    names = {"model": model, "train": samples[:12], "test": samples[12:]}
    exec(recipe(root, "transformers"), names)
    live = float(capsys.readouterr().out.split()[-1])
    names["batches"] = torch.utils.data.DataLoader(names["test"], batch_size=5)
    with torch.no_grad():
        exec(recipe(root, "torchmetrics"), names)
    streamed = names["metric"].compute()
    logits = names["trainer"].predict(names["test"]).predictions
    expected = score_posteriors([one["labels"] for one in names["test"]], logits, predictions_are="logits")
    assert live == pytest.approx(expected["ecuas_1"], abs=1e-12)
    assert streamed["ecuas_1"].item() == pytest.approx(expected["ecuas_1"], rel=1e-6)  # logits of float32
