import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict

from ecuas_metric import ecuas_score, score_confidences, score_posteriors
from ecuas_metric.reporting.cli import main

FOLDS = StratifiedKFold(5, shuffle=True, random_state=42)
LOGISTIC = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
ANSWERS = {"confidence": np.linspace(0.1, 0.9, 30)}
CLASSES = {"posteriors": [[0.2, 0.3, 0.5]] * 30, "label": [0, 1, 2] * 10}


@pytest.fixture(scope="module")
def overconfident():
    rng = np.random.default_rng(0)
    truth = rng.normal(0.5, 1.5, 300)
    return expit(3 * truth + 1), (rng.random(300) < expit(truth)).astype(int)


def written(folder, **columns):
    # folds go by their order
    columns.setdefault("id", [f"q{k:03}" for k in range(len(next(iter(columns.values()))))])
    frame = pd.DataFrame({name: np.asarray(values).tolist() for name, values in columns.items()})
    frame.to_json(folder / "a.jsonl", orient="records", lines=True, double_precision=15)
    return str(folder / "a.jsonl")


def recalibrated(folder, method, *more, **columns):
    """Return what the command writes for a system: rows by name, and the signature."""
    out = folder / "table.json"
    assert (
        main(
            [
                "score",
                written(folder, **columns),
                "--calibrate",
                method,
                *more,
                "--output",
                str(out),
            ]
        )
        == 0
    )
    content = json.loads(out.read_text())
    return {row["system"]: row for row in content["rows"]}, content["signature"]


def out_of_fold(scores, truth):
    return cross_val_predict(LOGISTIC, scores[:, None], truth, cv=FOLDS, method="predict_proba")


def test_confidences_as_a_logistic_regression_out_of_fold_has_them(overconfident, tmp_path, capsys):
    q, correct = overconfident
    rows, line = recalibrated(tmp_path, "affine", confidence=q, correct=correct)
    assert list(rows) == ["a", "a, affine"]
    expected = score_confidences(correct, out_of_fold(logit(q), correct)[:, 1])
    for key in ("ecuas_0", "ecuas_1", "auroc", "confidence_brier_score"):
        assert rows["a, affine"][key] == pytest.approx(expected[key], abs=1e-6)
    assert rows["a"]["ecuas_1"] == pytest.approx(score_confidences(correct, q)["ecuas_1"])
    assert rows["a, affine"]["ecuas_1"] < rows["a"]["ecuas_1"]
    raw, calibrated = line.split(" ; ")
    assert calibrated == raw.replace("|recipe:", "|recal:affine/5/42/ids|recipe:")
    assert "a, affine" in capsys.readouterr().out


def test_groups_stay_together_and_folds_are_as_many_as_asked_for(overconfident, tmp_path):
    q, correct = overconfident
    groups = np.arange(300) // 3
    more = ("--folds", "3", "--groups", "document")
    columns = {"confidence": q, "correct": correct, "document": groups}
    rows, line = recalibrated(tmp_path, "isotonic", *more, **columns)
    expected = np.empty(300)
    for train, test in StratifiedGroupKFold(3, shuffle=True, random_state=42).split(
        q, correct, groups
    ):
        model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(
            q[train], correct[train]
        )
        expected[test] = model.predict(q[test])
    assert rows["a, isotonic"]["ecuas_1"] == pytest.approx(
        score_confidences(correct, expected)["ecuas_1"], abs=1e-9
    )
    assert "|recal:isotonic/3/42/ids|" in line


@pytest.mark.parametrize(
    "model", [LOGISTIC, IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")]
)
def test_fits_use_the_weights(model, overconfident, tmp_path, capsys):
    q, correct = overconfident
    method = "affine" if model is LOGISTIC else "isotonic"
    weight = np.random.default_rng(1).integers(0, 5, 300)
    columns = {"confidence": q, "correct": correct, "w": weight}
    rows, line = recalibrated(tmp_path, method, "--weight", "w", **columns)
    expected = np.empty(300)
    scores = (logit(q) if model is LOGISTIC else q)[:, None]
    for train, test in FOLDS.split(q, correct):
        fitted = clone(model).fit(scores[train], correct[train], sample_weight=weight[train])
        predict = getattr(fitted, "predict_proba", fitted.predict)
        expected[test] = predict(scores[test]).reshape(len(test), -1)[:, -1]
    scored = score_confidences(correct, expected, sample_weight=weight)
    assert rows[f"a, {method}"]["ecuas_1"] == pytest.approx(scored["ecuas_1"], abs=1e-6)
    assert f"|recal:{method}/5/42/ids/weights|" in line


@pytest.mark.parametrize("columns", [(), ("id",), ("id", "document")])
@pytest.mark.parametrize("method", ["isotonic", "affine"])
def test_the_order_of_the_rows_changes_nothing(method, columns, overconfident, tmp_path):
    q, correct = overconfident
    table = pd.DataFrame({"confidence": q.round(2), "correct": correct, "id": np.arange(300) // 2})
    table["document"] = table["id"] // 2
    table["w"] = 1 + np.arange(300) % 3  # also of rows that are alike otherwise
    values = []
    for seed in range(4):
        rows = table.sample(frac=1, random_state=seed)[["confidence", "correct", "w", *columns]]
        rows.to_csv(tmp_path / "a.csv", index=False)
        more = ["--groups", columns[-1]] if columns else []
        more += ["--columns", "id=id", "--interval", "0.95"] if columns else []
        arguments = ["score", str(tmp_path / "a.csv"), "--weight=w", "--calibrate", method, *more]
        assert main([*arguments, "--output", str(tmp_path / "t.json")]) == 0
        content = json.loads((tmp_path / "t.json").read_text())
        values.append(content["rows"][1]["ecuas_1"])
        by = "ids" if columns else "values"
        assert f"recal:{method}/5/42/{by}/weights|" in content["signature"]
    assert values == pytest.approx([values[0]] * 4, rel=1e-6)


@pytest.mark.parametrize("method", ["isotonic", "affine"])
@pytest.mark.parametrize(
    "more", ["--interval 0.95 --reject-costs 0.1", "--interval 0.95", "--reject-costs 0.1"]
)
def test_intervals_at_a_reject_cost_of_isotonic_maps_have_a_note(
    method, more, overconfident, tmp_path, capsys
):
    q, correct = overconfident
    recalibrated(tmp_path, method, *more.split(), confidence=q, correct=correct)
    is_said = method == "isotonic" and more.count("--") == 2
    assert (
        "note: a, isotonic: Intervals take the isotonic maps as given" in capsys.readouterr().err
    ) == is_said


@pytest.mark.parametrize("form", ["probabilities", "log_probabilities", "logits", "positive"])
def test_posteriors_in_every_form_are_recalibrated_alike(overconfident, tmp_path, form):
    q, label = overconfident
    shares = np.stack([1 - q, q], axis=1)
    scores = np.log(shares) if form.startswith("log") else shares
    scores = scores + np.arange(300)[:, None] / 7 if form == "logits" else scores
    columns = {"prob": q} if form == "positive" else {f"prob_{k}": scores[:, k] for k in range(2)}
    more = ["--predictions-are", form] if form.startswith("log") else []
    rows, _ = recalibrated(tmp_path, "affine", *more, label=label, **columns)
    expected = score_posteriors(label, out_of_fold(logit(q), label))
    assert rows["a, affine"]["ecuas_0"] == pytest.approx(expected["ecuas_0"], abs=1e-5)
    assert rows["a, affine"]["cross_entropy"] == pytest.approx(expected["cross_entropy"], abs=1e-7)


def test_a_temperature_of_many_classes(tmp_path):
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(400, 3)) * 1.5
    label = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    columns = {f"logit_{k}": 4 * logits[:, k] for k in range(3)}
    rows, _ = recalibrated(
        tmp_path, "temperature", "--predictions-are", "logits", label=label, **columns
    )
    perfect = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert rows["a, temperature"]["error_rate"] == rows["a"]["error_rate"]
    assert rows["a, temperature"]["ecuas_1"] == pytest.approx(ecuas_score(label, perfect), abs=0.01)
    assert rows["a"]["ecuas_1"] > rows["a, temperature"]["ecuas_1"] + 0.05


def test_a_confidence_of_exactly_1_is_read_as_less_and_said(overconfident, tmp_path, capsys):
    q, correct = overconfident
    q = np.where(q > 0.99, 1.0, q)
    rows, _ = recalibrated(tmp_path, "affine", confidence=q, correct=correct)
    fact = f"replaces probabilities of exactly 0 by 1e-07, in {np.sum(q == 1)} of 300 samples."
    assert f"note: a, affine: Recalibration {fact}" in capsys.readouterr().err
    nearly = np.where(q == 1, 1 - 1e-7, q)
    expected = score_confidences(correct, out_of_fold(logit(nearly), correct)[:, 1])
    assert rows["a, affine"]["ecuas_1"] == pytest.approx(expected["ecuas_1"], abs=1e-4)


@pytest.mark.parametrize(
    ("columns", "method", "message"),
    [
        (
            ANSWERS | {"correct": [1] * 30},
            "affine",
            "a.jsonl: column 'correct' must contain more than one class to",
        ),
        (
            ANSWERS | {"correct": [0] * 3 + [1] * 27},
            "affine",
            "must have at least 5 samples of each class, to be recalibrated in folds; got 3 of 0",
        ),
        (ANSWERS | {"correct": [0, 1] * 15}, "affine --folds 1", "must be at least 2; got 1"),
        (
            CLASSES,
            "isotonic",
            "--calibrate must not be isotonic for posteriors of more than two classes",
        ),
    ],
)
def test_what_cannot_be_recalibrated(tmp_path, capsys, columns, method, message):
    assert main(["score", written(tmp_path, **columns), "--calibrate", *method.split()]) == 2
    assert message in capsys.readouterr().err


def test_a_recalibrated_system_takes_no_others_name_and_stands_in_the_signature(
    tmp_path, rng, capsys
):
    q = rng.random(200)
    for name in ("m", "m, affine", "n"):
        rows = np.column_stack([np.arange(200), q, rng.random(200) < q])
        np.savetxt(
            tmp_path / f"{name}.csv",
            rows,
            delimiter=",",
            header="id,confidence,correct",
            comments="",
            fmt="%g",
        )
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("m", "m, affine", "n")}
    assert main(["score", paths["m"], paths["m, affine"], "--calibrate", "affine"]) == 2
    assert "is the name of another system" in capsys.readouterr().err
    flags = ["--calibrate", "affine", "--folds", "3", "--missing-confidence", "0.5"]
    assert main(["compare", paths["m"], paths["n"], *flags]) == 0
    out = capsys.readouterr().out
    assert "|recal:affine/3" in out
    assert "m, affine" in out


@pytest.mark.parametrize("rule", ["wrong", "drop"])
def test_what_became_of_unlabelled_answers_is_in_every_signature(rule, tmp_path, overconfident):
    q, correct = overconfident
    judged = np.where(np.arange(len(q)) % 9 > 0, correct, np.nan)
    flags = ("--unlabelled", rule)
    _, line = recalibrated(tmp_path, "affine", *flags, confidence=q, correct=judged)
    assert line.count(f"|unlabelled:{rule}|") == len(line.split(" ; ")) == 2
    compared = tmp_path / "differences.json"
    arguments = ["--calibrate", "affine", *flags, "--output", str(compared)]
    assert main(["compare", str(tmp_path / "a.jsonl"), *arguments]) == 0
    line = json.loads(compared.read_text())["signature"]
    assert line.count(f"|unlabelled:{rule}|") == len(line.split(" ; ")) == 2
