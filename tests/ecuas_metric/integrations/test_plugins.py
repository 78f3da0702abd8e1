import pickle
import re
from types import SimpleNamespace
from unittest import TestCase

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, TunedThresholdClassifierCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ecuas_metric import InputError, ecuas_score, score_posteriors
from ecuas_metric.files.runs.lm_eval import record_of_sample
from ecuas_metric.integrations.choices import HIGHER_IS_BETTER, make_aggregation, warn_once
from ecuas_metric.integrations.lighteval import score_samples
from ecuas_metric.integrations.sklearn import ecuas_scorer
from ecuas_metric.integrations.transformers import compute_metrics
from tests.conftest import ROOT


def classified(rng, names):
    label = rng.integers(0, len(names), 90)
    return rng.normal(label[:, None], 1.0, size=(90, 2)), np.array(names)[label]


def of_folds(X, y, folds, missing=(None, None, None), **options):
    """Return what the scorer is to give: a class that is missing in training has the probability 0."""
    values = []
    for (train, test), place in zip(folds, missing, strict=True):
        posteriors = LogisticRegression().fit(X[train], y[train]).predict_proba(X[test])
        posteriors = posteriors if place is None else np.insert(posteriors, place, 0.0, axis=1)
        more = {name: of[test] if name == "sample_weight" else of for name, of in options.items()}
        values.append(-ecuas_score(y[test], posteriors, labels=np.unique(y), **more))
    return pytest.approx(values)


def test_the_scorer_is_minus_ecuas_of_each_fold_which_may_lack_classes_on_either_side(rng):
    for names in (["no", "yes"], ["bird", "cat", "dog"]):
        X, y = classified(rng, names)
        found = cross_validate(
            LogisticRegression(), X, y, scoring={"a": ecuas_scorer(n=0)}, cv=KFold(3)
        )
        assert found["test_a"] == of_folds(X, y, KFold(3).split(X), n=0)
    bird, cat, dog = (np.flatnonzero(y == name).tolist() for name in names)
    folds = [(range(90), bird), (bird + cat, range(90)), (bird + dog, cat)]
    folds = [tuple(map(np.asarray, fold)) for fold in folds]
    found = cross_validate(
        LogisticRegression(), X, y, scoring=ecuas_scorer(), cv=folds, error_score="raise"
    )
    assert found["test_score"] == of_folds(X, y, folds, missing=(None, 2, 1))


def test_the_scorer_is_one_of_scikit_learns(rng):
    """Weights are routed to it, thresholds are tuned with it, and it is copied and pickled."""
    X, y = classified(rng, ["no", "yes"])
    weight, folds, model = rng.random(90), KFold(3), LogisticRegression().fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        scoring = {"a": ecuas_scorer().set_score_request(sample_weight=True)}
        routed = LogisticRegression().set_fit_request(sample_weight=False)
        found = cross_validate(
            routed, X, y, scoring=scoring, params={"sample_weight": weight}, cv=folds
        )
    assert found["test_a"] == of_folds(X, y, folds.split(X), sample_weight=weight)
    tuned = TunedThresholdClassifierCV(model, scoring=ecuas_scorer(n=3), cv="prefit", refit=False)
    certain = np.where(tuned.fit(X, y).predict(X) == y, 0, 2.0)  # at an uncertainty of 0, 1 / u_M
    assert tuned.best_score_ == pytest.approx(-certain.mean() * 4 / 3)
    scoring = {"a": ecuas_scorer(), "b": "accuracy"}
    search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=scoring, refit="a")
    assert search.fit(X, y).best_params_ == {"C": 1.0}
    fitted = CalibratedClassifierCV(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y)
    scorer = ecuas_scorer(n=2)
    for copied in (scorer, pickle.loads(pickle.dumps(scorer)), clone(scorer, safe=False)):
        assert copied(fitted, X, y) == -ecuas_score(y, fitted.predict_proba(X), n=2)
    with pytest.raises(AttributeError, match="predict_proba"):
        ecuas_scorer()(LinearSVC().fit(X, y), X, y)


def test_the_trainers_metrics_take_what_trainers_pass(rng):
    """Tokens, classes that do not occur, bfloat16, hidden states; several labels are refused."""
    logits, labels = rng.normal(size=(5, 7, 3)), rng.integers(-1, 3, (5, 7))
    kept = labels >= 0
    tokens = SimpleNamespace(predictions=logits, label_ids=np.where(kept, labels, -100))
    expected = score_posteriors(labels[kept], logits[kept], predictions_are="logits", n=2)
    assert compute_metrics(n=2, shift=False)(tokens) == expected
    with pytest.raises(ValueError, match="shift must be set for logits of tokens"):
        compute_metrics()(tokens)
    rows = SimpleNamespace(predictions=logits[0], label_ids=np.abs(labels[0]))
    with pytest.raises(ValueError, match=r"shift must be False or None.*; got shape \(7, 3\)"):
        compute_metrics(shift=True)(rows)
    torch = pytest.importorskip("torch", reason="needs the extra `local`")
    logits, labels = rng.normal(size=(40, 4)), rng.integers(0, 2, 40)
    logits = torch.tensor(logits).to(torch.bfloat16).double().numpy()
    expected = score_posteriors(labels, logits, predictions_are="logits", labels=range(4))
    tensors = torch.tensor(logits).to(torch.bfloat16), torch.tensor(labels)
    compute = compute_metrics()
    for predictions, label_ids in ((logits, labels), tensors, ((tensors[0], "hidden"), tensors[1])):
        assert compute(SimpleNamespace(predictions=predictions, label_ids=label_ids)) == expected
    for rows in np.array_split(np.arange(40), 3):  # batch_eval_metrics, twice
        batch = SimpleNamespace(predictions=tensors[0][rows], label_ids=tensors[1][rows])
        last = rows[-1] == 39
        assert compute(batch, compute_result=bool(last)) == (expected if last else {})
    diverged = compute(SimpleNamespace(predictions=logits * np.nan, label_ids=labels))
    assert diverged.keys() == expected.keys()
    assert np.isnan(list(diverged.values())).all()
    for label_ids, what in (
        ((labels, labels), "one column of labels"),
        (np.ones((40, 4)), "one class for each row"),
    ):
        with pytest.raises(ValueError, match=what):
            compute(SimpleNamespace(predictions=logits, label_ids=label_ids))


def test_an_evaluation_that_failed_leaves_no_rows_to_the_next_one(rng):
    rows = SimpleNamespace(predictions=rng.normal(size=(9, 3)), label_ids=np.arange(9) % 3)
    expected = compute_metrics()(rows)
    compute = compute_metrics()
    for wrong in (np.arange(8), (np.arange(9), np.arange(9))):
        compute(rows, compute_result=False)
        with pytest.raises(InputError):
            compute(SimpleNamespace(predictions=rows.predictions, label_ids=wrong), False)
        assert compute(rows) == expected


@pytest.mark.parametrize("count", [20, 2])  # with `--limit 2` not every choice is right once
def test_plug_ins_give_the_metrics_of_the_samples(count, rng):
    labels, logits = rng.integers(0, 4, count).tolist(), rng.normal(size=(count, 4)).tolist()
    choices = ["red", "green", "blue", "grey"]
    records = []
    for number, (label, scores) in enumerate(zip(labels, logits, strict=True)):
        target = (label, choices[label], [label])[number % 3]
        records.append(record_of_sample(target, choices, [(score, False) for score in scores]))
    system = {"y_prob": logits, "labels": range(4), "predictions_are": "logits"}
    expected = score_posteriors(labels, **system, n=(0, 1))
    expected = pytest.approx({name: expected[name] for name in HIGHER_IS_BETTER}, nan_ok=True)
    assert {name: make_aggregation(name)(records) for name in HIGHER_IS_BETTER} == expected
    flat = [[label, *scores] for label, scores in zip(labels, logits, strict=True)]
    assert score_samples(flat) == expected


ONE_RIGHT = "must have one right choice in each sample"
PAIR = (-1.0, True)


@pytest.mark.parametrize(
    ("target", "results", "why"),
    [
        ([0, 1], [PAIR] * 3, ONE_RIGHT),
        (3, [PAIR] * 3, ONE_RIGHT),
        ("b", [PAIR] * 3, ONE_RIGHT),  # which occurs twice
        (1, [[PAIR, PAIR]] * 3, "must have one log-likelihood of each choice"),
        (1, [(-np.inf, True)] * 3, "must have log-likelihoods that are finite"),
        (1, [PAIR] * 2, "choices must be as many in every question"),
    ],
)
def test_samples_without_a_number_are_nan_with_a_reason(target, results, why):
    warn_once.cache_clear()
    choices = ["a", "b", "b"]
    records = [record_of_sample(1, choices, [PAIR] * 3), record_of_sample(target, choices, results)]
    with TestCase().assertLogs() as logs:
        assert np.isnan(make_aggregation("ecuas_1")(records))
    assert why in logs.output[0]


def recipe(tool, **names):
    """Run a recipe of the page on names, and return all names then."""
    text = (ROOT / "docs" / "integrations.md").read_text()
    exec(re.search(rf"\*\*{tool}\*\*:.*?```python\n(.*?)```", text, flags=re.DOTALL)[1], names)
    return names


def test_the_recipe_for_scikit_learn(capsys):
    recipe("scikit-learn")
    assert 0 < float(capsys.readouterr().out) < 0.2


@pytest.mark.e2e
def test_the_recipes_for_a_model_of_transformers_agree(tmp_path, monkeypatch, capsys):
    """What the Trainer keeps, a torchmetrics loop over the same batches, and the functions of arrays: one number."""
    torch = pytest.importorskip("torch", reason="needs the extra `local`")
    transformers = pytest.importorskip("transformers", reason="needs the extra `local`")
    pytest.importorskip("accelerate", reason="needs the extra `local`")
    pytest.importorskip("torchmetrics", reason="needs the extra `torchmetrics`")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    sizes = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "intermediate_size": 8,
    }
    model = transformers.BertForSequenceClassification(
        transformers.BertConfig(vocab_size=20, num_labels=3, **sizes)
    )
    samples = [{"input_ids": row, "labels": int(row[0]) % 3} for row in torch.randint(20, (36, 4))]
    trainer = recipe("transformers", model=model, train=samples[:12], test=samples[12:])["trainer"]
    live = float(capsys.readouterr().out.split()[-1])
    with torch.no_grad():
        loader = torch.utils.data.DataLoader(samples[12:], batch_size=5)
        streamed = (
            recipe("torchmetrics", model=model, batches=loader)["metric"]
            .compute()["ecuas_1"]
            .item()
        )
    vars(trainer.args).update(
        batch_eval_metrics=True, per_device_eval_batch_size=5, eval_accumulation_steps=1
    )
    lacking = [sample for sample in samples[12:] if sample["labels"] != 2]
    batched = trainer.evaluate(lacking)["eval_ecuas_1"]
    trainer.compute_metrics = None
    for tested, found in ((samples[12:], live), (samples[12:], streamed), (lacking, batched)):
        logits, labels = (
            trainer.predict(tested).predictions,
            [sample["labels"] for sample in tested],
        )
        expected = score_posteriors(labels, logits, predictions_are="logits", labels=range(3))[
            "ecuas_1"
        ]
        assert found == pytest.approx(expected, rel=1e-6)  # logits of float32
