import csv

import numpy as np
import pytest
from scipy.special import log_softmax

from ecuas_metric import apply_affine, cross_validated, fit_affine, score_confidences
from examples import paper
from examples.temperature import ORDERS, temperature_curve
from tests.conftest import ROOT

# The paper's code works in float32, where confidences that round to 1 become ties.
FLOAT32_TIES = {
    ("Pneum", "ResNet-50", "raw"): {"auroc", "norm_confidence_ce", "aurc", "norm_ecuas_0"},
    ("Path", "ResNet-50", "raw"): {"auroc", "norm_confidence_ce", "aurc", "norm_ecuas_0"},
}


@pytest.fixture(scope="session")
def score_folder(shared):
    folder = shared / "paper" / "scores"
    if not any(folder.glob("*.npz")):
        pytest.skip(f"no score files in {folder}")
    return folder


@pytest.fixture(scope="session")
def systems(score_folder):
    return paper.read_scores(score_folder)


@pytest.mark.e2e
def test_every_cell_is_the_printed_one(systems):
    ours, printed = paper.rows_of(systems), paper.printed_rows()
    assert len(ours) == 2 * len(systems)
    others = []
    for key, row in ours.items():
        for column, value in row.items():
            off = abs(value - printed[key][column])
            is_other = off > 1.0001e-4
            others += [key] if is_other else []
            assert not is_other or column in FLOAT32_TIES.get(key, ()), (
                f"{key} {column}: {value}, off by {off}"
            )
    page = (ROOT / "docs" / "paper.md").read_text()
    assert f"all {sum(map(len, ours.values()))} cells agree" in page
    assert (len(others), len(set(others))) == (4, 1)


@pytest.mark.e2e
def test_the_curves_of_the_temperature_experiment_rise(systems):
    for name, system in systems.items():
        low, median, high = temperature_curve(system.calibrated, system.labels, num_seeds=10)
        spread = (high - low).max(axis=1, keepdims=True)
        assert (np.diff(median) > -spread - 1e-3).all(), name
        assert (median[:, -1] > median[:, 0] + 0.05).all(), name


def test_at_a_low_temperature_the_candidate_is_the_most_probable_class(rng):
    log_q = log_softmax(rng.normal(size=(300, 5)), axis=1)
    labels = rng.integers(0, 5, 300)
    curve = temperature_curve(log_q, labels, temperatures=np.array([1e-4]), num_seeds=3)
    expected = score_confidences(
        log_q.argmax(axis=1) == labels, np.exp(log_q.max(axis=1)), n=ORDERS
    )
    values = [expected[f"ecuas_{n:g}"] for n in ORDERS]
    np.testing.assert_allclose(curve[1, :, 0], values)
    np.testing.assert_array_equal(curve[0], curve[2])


def test_both_layouts_of_score_files_give_the_same(tmp_path, rng):
    digits, targets = rng.normal(size=(60, 4)).round(5), np.arange(60) % 4
    scores = digits.astype(np.float32)
    np.savez(tmp_path / "agnews_gpt2.npz", scores=scores, targets=targets)
    (tmp_path / "npy" / "agnews_gpt2").mkdir(parents=True)
    np.save(tmp_path / "npy" / "agnews_gpt2" / "scores.npy", scores)
    np.save(tmp_path / "npy" / "agnews_gpt2" / "targets.npy", targets)
    one, other = (
        paper.read_scores(folder)["agnews_gpt2"] for folder in (tmp_path, tmp_path / "npy")
    )
    for name in ("raw", "calibrated", "labels"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    raw = log_softmax(digits, axis=1)
    np.testing.assert_array_equal(
        one.calibrated, cross_validated(fit_affine, apply_affine, raw, targets)
    )


@pytest.mark.e2e
def test_the_script_writes_tables_and_figures(tmp_path, rng, capsys):
    np.savez(
        tmp_path / "cifar10_vgg19_bn.npz",
        scores=rng.normal(size=(60, 4)),
        targets=np.arange(60) % 4,
    )
    assert paper.main([str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"figure1_cost_against_confidence.svg", "figure2_temperature.png"} <= names
    with (tmp_path / "out" / "classification.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["values"] for row in rows] == ["ours", "printed", "ours", "printed", ""]
    assert "largest deviation" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["{empty}"]])
def test_without_score_files_it_says_where_they_are(arguments, tmp_path, capsys):
    assert paper.main([argument.format(empty=tmp_path) for argument in arguments]) == 2
    assert "https://github.com/luferrer/expected_cost" in capsys.readouterr().err


def test_scores_of_the_wrong_shape_are_named(tmp_path, capsys):
    np.savez(tmp_path / "agnews_gpt2.npz", scores=np.zeros(5), targets=np.zeros(5))
    assert paper.main([str(tmp_path)]) == 2
    assert "agnews_gpt2: predictions must have shape" in capsys.readouterr().err
