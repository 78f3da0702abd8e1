import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict

from ecuas_metric import ecuas_score, score_confidences, score_posteriors
from ecuas_metric.reporting.cli import main

FOLDS = StratifiedKFold(5, shuffle=True, random_state=42)
LOGISTIC = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)


@pytest.fixture(scope="module")
def overconfident():
    rng = np.random.default_rng(0)
    truth = rng.normal(0.5, 1.5, 300)
    return expit(3 * truth + 1), (rng.random(300) < expit(truth)).astype(int)


def written(path, **columns):
    frame = pd.DataFrame({name: values.tolist() for name, values in columns.items()})
    frame.to_json(path, orient="records", lines=True, double_precision=15)
    return str(path)


def table(file, *more):
    """Return what a command writes for a file: rows by system, and the signature."""
    out = Path(file).with_name("table.json")
    assert main(["score", file, *more, "--output", str(out)]) == 0
    content = json.loads(out.read_text())
    return {row["system"]: row for row in content["rows"]}, content["signature"]


def out_of_fold(scores, truth):
    return cross_val_predict(LOGISTIC, scores[:, None], truth, cv=FOLDS, method="predict_proba")


def test_confidences_as_a_logistic_regression_out_of_fold_has_them(overconfident, tmp_path, capsys):
    q, correct = overconfident
    rows, line = table(written(tmp_path / "a.jsonl", confidence=q, correct=correct), "--calibrate", "affine")
    assert list(rows) == ["a", "a, affine"]
    expected = score_confidences(correct, out_of_fold(logit(q), correct)[:, 1])
    for key in ("ecuas_0", "ecuas_1", "auroc", "confidence_brier_score"):
        assert rows["a, affine"][key] == pytest.approx(expected[key], abs=1e-6)
    assert rows["a"]["ecuas_1"] == pytest.approx(score_confidences(correct, q)["ecuas_1"])
    assert rows["a, affine"]["ecuas_1"] < rows["a"]["ecuas_1"]
    raw, calibrated = line.split(" ; ")
    assert calibrated == raw.replace("|v:", "|recal:affine/5|v:")
    assert "a, affine" in capsys.readouterr().out


def test_groups_stay_together_and_folds_are_as_many_as_asked_for(overconfident, tmp_path):
    q, correct = overconfident
    groups = np.arange(300) // 3
    file = written(tmp_path / "a.jsonl", confidence=q, correct=correct, document=groups)
    more = ["--calibrate", "isotonic", "--folds", "3", "--groups", "document"]
    rows, line = table(file, *more)
    expected = np.empty(300)
    for train, test in StratifiedGroupKFold(3, shuffle=True, random_state=42).split(q, correct, groups):
        model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(q[train], correct[train])
        expected[test] = model.predict(q[test])
    assert rows["a, isotonic"]["ecuas_1"] == pytest.approx(score_confidences(correct, expected)["ecuas_1"], abs=1e-9)
    assert "|recal:isotonic/3|" in line


@pytest.mark.parametrize(("method", "more", "is_said"), [
    ("isotonic", ["--interval", "0.95", "--reject-costs", "0.1"], True), ("isotonic", ["--reject-costs", "0.1"], False),
    ("isotonic", ["--interval", "0.95"], False), ("affine", ["--interval", "0.95", "--reject-costs", "0.1"], False),
])  # fmt: skip
def test_intervals_at_a_reject_cost_of_isotonic_maps_have_a_note(
    overconfident, tmp_path, capsys, method, more, is_said
):
    q, correct = overconfident
    table(written(tmp_path / "a.jsonl", confidence=q, correct=correct), "--calibrate", method, *more)
    assert ("note: a, isotonic: Intervals take the isotonic maps as given" in capsys.readouterr().err) == is_said


@pytest.mark.parametrize("form", ["probabilities", "log_probabilities", "logits", "positive"])
def test_posteriors_in_every_form_are_recalibrated_alike(overconfident, tmp_path, form):
    q, label = overconfident
    shares = np.stack([1 - q, q], axis=1)
    scores = np.log(shares) if form.startswith("log") else shares
    scores = scores + np.arange(300)[:, None] / 7 if form == "logits" else scores
    columns = {"prob": q} if form == "positive" else {f"prob_{k}": scores[:, k] for k in range(2)}
    file = written(tmp_path / "a.jsonl", label=label, **columns)
    more = ["--predictions-are", form] if form.startswith("log") else []
    rows, _ = table(file, "--calibrate", "affine", *more)
    expected = score_posteriors(label, out_of_fold(logit(q), label))
    assert rows["a, affine"]["ecuas_0"] == pytest.approx(expected["ecuas_0"], abs=1e-5)
    assert rows["a, affine"]["cross_entropy"] == pytest.approx(expected["cross_entropy"], abs=1e-7)


def test_a_temperature_of_many_classes(tmp_path):
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(400, 3)) * 1.5
    label = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    columns = {f"logit_{k}": 4 * logits[:, k] for k in range(3)}
    file = written(tmp_path / "a.jsonl", label=label, **columns)
    rows, _ = table(file, "--calibrate", "temperature", "--predictions-are", "logits")
    perfect = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert rows["a, temperature"]["error_rate"] == rows["a"]["error_rate"]
    assert rows["a, temperature"]["ecuas_1"] == pytest.approx(ecuas_score(label, perfect), abs=0.01)
    assert rows["a"]["ecuas_1"] > rows["a, temperature"]["ecuas_1"] + 0.05


def test_a_confidence_of_exactly_1_is_read_as_less_and_said(overconfident, tmp_path, capsys):
    q, correct = overconfident
    q = np.where(q > 0.99, 1.0, q)
    file = written(tmp_path / "a.jsonl", confidence=q, correct=correct)
    rows, _ = table(file, "--calibrate", "affine")
    fact = f"replaces probabilities of exactly 0 by 1e-07, in {np.sum(q == 1)} of 300 samples."
    assert f"note: a, affine: Recalibration {fact}" in capsys.readouterr().err
    nearly = np.where(q == 1, 1 - 1e-7, q)
    expected = score_confidences(correct, out_of_fold(logit(nearly), correct)[:, 1])
    assert rows["a, affine"]["ecuas_1"] == pytest.approx(expected["ecuas_1"], abs=1e-4)


@pytest.mark.parametrize(
    ("columns", "method", "message"),
    [
        ({"correct": [1] * 30}, "affine", "a.jsonl: column 'correct' must contain more than one class to recalibrate"),
        ({"correct": [0] * 3 + [1] * 27}, "affine", "samples of each class as there are folds, 5; got 3 of 0"),
        (
            {"posteriors": [[0.2, 0.3, 0.5]] * 30, "label": [0, 1, 2] * 10},
            *("isotonic", "--calibrate must not be isotonic for posteriors of more than two classes"),
        ),
    ],
)
def test_what_cannot_be_recalibrated(tmp_path, capsys, columns, method, message):
    columns = {name: np.array(values) for name, values in columns.items()}
    if "correct" in columns:
        columns["confidence"] = np.linspace(0.1, 0.9, 30)
    file = written(tmp_path / "a.jsonl", **columns)
    assert main(["score", file, "--calibrate", method]) == 2
    assert message in capsys.readouterr().err


def test_a_system_is_compared_with_what_it_would_be(overconfident, tmp_path, capsys):
    q, correct = overconfident
    file = written(tmp_path / "a.jsonl", confidence=q, correct=correct)
    assert main(["compare", file, "--calibrate", "affine", "--metrics", "ecuas_1", "--resamples", "200"]) == 0
    assert "a, affine" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["score", file, "--calibrate", "affine", "--folds", "1"])
    assert "must be at least 2; got 1" in capsys.readouterr().err
