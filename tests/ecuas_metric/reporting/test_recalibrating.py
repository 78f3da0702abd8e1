import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from ecuas_metric import score_confidences
from tests.ecuas_metric.reporting.commanded import answers, by_name, saved

FOLDS = StratifiedKFold(5, shuffle=True, random_state=42)
LOGISTIC = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
MODELS = {
    "affine": LOGISTIC,
    "isotonic": IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip"),
}
TOLERANCES = {"affine": 1e-6, "isotonic": 1e-9}
ANSWERS = {"confidence": np.linspace(0.1, 0.9, 30)}
CLASSES = {"posteriors": [[0.2, 0.3, 0.5]] * 30, "label": [0, 1, 2] * 10}


@pytest.fixture(scope="module")
def overconfident():
    rng = np.random.default_rng(0)
    truth = rng.normal(0.5, 1.5, 300)
    return expit(3 * truth + 1), (rng.random(300) < expit(truth)).astype(int)


def written(**columns):
    # folds go by their order
    columns.setdefault("id", [f"q{k:03}" for k in range(len(next(iter(columns.values()))))])
    frame = pd.DataFrame({name: np.asarray(values).tolist() for name, values in columns.items()})
    frame.to_json("a.jsonl", orient="records", lines=True, double_precision=15)
    return "a.jsonl"


def recalibrated(method, flags="", **columns):
    """Return what the command writes for a system: rows by name, and the signature."""
    document = saved(f"score {written(**columns)} --calibrate {method} {flags}")
    return by_name(document), document["signature"]


@pytest.mark.parametrize("flags", ["", "--groups document --folds 3", "--weight w"])
@pytest.mark.parametrize("method", MODELS)
def test_confidences_are_recalibrated_as_scikit_learn_does_out_of_fold(
    method, flags, overconfident, capsys
):
    q, correct = overconfident
    groups = np.arange(300) // 3
    weight = np.random.default_rng(1).integers(0, 5, 300)
    columns = {"confidence": q, "correct": correct, "document": groups, "w": weight}
    rows, line = recalibrated(method, flags, **columns)
    splitter = StratifiedGroupKFold(3, shuffle=True, random_state=42) if "3" in flags else FOLDS
    if "w" not in flags:
        weight = None
    each = np.ones(300) if weight is None else weight
    scores = (logit(q) if method == "affine" else q)[:, None]
    expected = np.empty(300)
    for train, test in splitter.split(q, correct, groups if "3" in flags else None):
        fitted = clone(MODELS[method]).fit(scores[train], correct[train], each[train])
        predict = getattr(fitted, "predict_proba", fitted.predict)
        expected[test] = predict(scores[test]).reshape(len(test), -1)[:, -1]
    name = f"a, {method}"
    assert list(rows) == ["a", name]
    for of, confidence in (("a", q), (name, expected)):
        scored = score_confidences(correct, confidence, sample_weight=weight)
        for key in ("ecuas_0", "ecuas_1", "auroc", "confidence_brier_score"):
            assert rows[of][key] == pytest.approx(scored[key], abs=TOLERANCES[method])
    assert rows[name]["ecuas_1"] < rows["a"]["ecuas_1"]
    raw, calibrated = line.split(" ; ")
    by = "ids" if weight is None else "ids/weights"
    added = f"|recal:{method}/{splitter.n_splits}/42/{by}"
    assert added in calibrated
    assert calibrated.replace(added, "") == raw
    assert name in capsys.readouterr().out


@pytest.mark.parametrize("columns", [(), ("id",), ("id", "document")])
@pytest.mark.parametrize("method", ["isotonic", "affine"])
def test_the_order_of_the_rows_changes_nothing(method, columns, overconfident):
    q, correct = overconfident
    table = pd.DataFrame({"confidence": q.round(2), "correct": correct, "id": np.arange(300) // 2})
    table["document"] = table["id"] // 2
    table["w"] = 1 + np.arange(300) % 3  # also of rows that are alike otherwise
    flags = f"--weight w --calibrate {method}"
    if columns:
        flags += f" --groups {columns[-1]} --columns id=id --interval 0.95"
    by = "ids" if columns else "values"
    values = []
    for seed in range(2):
        rows = table.sample(frac=1, random_state=seed)[["confidence", "correct", "w", *columns]]
        rows.to_csv("a.csv", index=False)
        document = saved(f"score a.csv {flags}")
        values.append(document["rows"][1]["ecuas_1"])
        assert f"recal:{method}/5/42/{by}/weights|" in document["signature"]
    assert values[0] == pytest.approx(values[1], rel=1e-6)


@pytest.mark.parametrize("method", ["isotonic", "affine"])
def test_folds_keep_the_rows_of_an_id_together_as_groups_of_ids_do(method, overconfident):
    q, correct = (np.repeat(values[:60], 5) for values in overconfident)
    q = q - 1e-9 * (np.arange(300) % 5)  # or rows would be copies
    ids = [f"q{k // 5:02}" for k in range(300)]
    rows, line = recalibrated(method, confidence=q, correct=correct, id=ids)
    grouped, line_of_groups = recalibrated(
        method, "--groups id --columns id=id", confidence=q, correct=correct, id=ids
    )
    split, _ = recalibrated(method, confidence=q, correct=correct)
    name = f"a, {method}"
    assert rows[name]["auroc"] == grouped[name]["auroc"] != split[name]["auroc"]
    assert f"|recal:{method}/5/42/ids/together|" in line
    assert f"|recal:{method}/5/42/ids|" in line_of_groups


AT_A_COST = {"coverage_0.1", "selective_risk_0.1"}
DECIDED = {"affine": AT_A_COST, "isotonic": AT_A_COST | {"expected_cost_0.1"}}


@pytest.mark.parametrize(
    ("method", "interval"),
    [*((method, "analytic") for method in DECIDED), ("isotonic", "percentile --resamples 50")],
)
def test_what_a_fit_decides_has_neither_an_interval_nor_a_test(
    method, interval, overconfident, capsys
):
    """By simulation most such intervals miss: see docs/statistics.md."""
    q, correct = overconfident
    asked = "--reject-costs 0.1 --interval 0.95"
    rows, _ = recalibrated(
        method, f"{asked} --interval-method {interval}", confidence=q, correct=correct
    )
    untested = {
        row["key"]: row["untested"]
        for row in saved(f"compare a.jsonl --calibrate {method} {asked} --full")["rows"]
        if row["untested"] not in (None, "outside_family")
    }
    assert untested == dict.fromkeys(DECIDED[method], "decided_by_fit") | {"ece": "biased"}
    own, fitted = rows.values()
    for key in (*AT_A_COST, "expected_cost_0.1", "ecuas_1", "auroc"):
        assert own[f"{key}_low"] is not None
        assert (fitted[f"{key}_low"] is None) == (key in DECIDED[method])
    said = capsys.readouterr()
    assert said.err.count(f"note: a, {method}: These depend on what users accept") == 2


@pytest.mark.parametrize("method", ["affine", "temperature"])
def test_a_posterior_of_exactly_0_is_what_replaces_it_whatever_the_others_are(method, rng, capsys):
    posteriors = rng.dirichlet(np.ones(3), 300)
    label = [rng.choice(3, p=row) for row in posteriors]
    zero = np.flatnonzero(posteriors[:, 0] < 0.1)
    rows = []
    for least in (0.0, 1e-7):
        posteriors[zero] = least, 0.5, 0.5
        columns = {f"prob_{k}": values for k, values in enumerate(posteriors.T)}
        rows.append(recalibrated(method, label=label, **columns)[0][f"a, {method}"])
    fact = f"replaces probabilities of exactly 0 by 1e-07, in {len(zero)} of 300 samples."
    assert capsys.readouterr().err.count(fact) == 1
    for key in ("cross_entropy", "brier_score", "ecuas_0"):
        assert rows[0][key] == pytest.approx(rows[1][key], rel=1e-6), key


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
def test_what_cannot_be_recalibrated(ran, columns, method, message):
    assert message in ran(f"score {written(**columns)} --calibrate {method}", 2).err


@pytest.mark.long
def test_a_recalibrated_system_takes_no_others_name_and_stands_in_the_signature(rng, ran):
    for name in ("m", "m, affine", "n"):
        answers(rng, 200).to_csv(f"{name}.csv", index=False)
    refused = ran("score m.csv 'm, affine.csv' --calibrate affine", 2).err
    assert "is the name of another system" in refused
    out = ran(
        "compare m.csv n.csv --calibrate affine --folds 3 --missing-confidence 0.5 --full"
    ).out
    assert "|recal:affine/3" in out
    assert "m, affine" in out


@pytest.mark.parametrize("flags", ["--calibrate affine", "--explain"])
def test_what_needs_every_label_says_so(flags, overconfident, ran):
    q, correct = overconfident
    file = written(confidence=q, correct=np.where(np.arange(len(q)) % 9 > 0, correct, np.nan))
    flag, *_ = flags.split()
    said = ran(f"score {file} {flags}", 2).err
    assert f"{flag} needs a label for every answer, and some have none." in said
