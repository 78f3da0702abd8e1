import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecuas_metric.reporting.report import make_report
from space import simulation
from tests.ecuas_metric import systems
from tests.space import make_examples

SETTINGS = {"accuracy": st.floats(0.5, 0.99), "separation": st.floats(0.3, 3), "factor": st.floats(1.3, 4)}


def values(decisions):
    return {key: float(value) for key, value in systems.values(decisions, n=(0, 1)).items()}


@given(**SETTINGS)
def test_overconfidence_leaves_answers_and_order_and_raises_ecuas(accuracy, separation, factor):
    settings = {"accuracy": accuracy, "separation": separation, "size": 400}
    calibrated, over = (values(simulation.simulate(**settings, overconfidence=f)) for f in (1, factor))
    for key in ("error_rate", "auroc", "aurc", "augrc"):
        assert over[key] == pytest.approx(calibrated[key], abs=1e-12)
    for key in ("ecuas_0", "ecuas_1", "confidence_cross_entropy", "confidence_brier_score"):
        assert over[key] > calibrated[key]


@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.99])
def test_factor_1_is_calibrated(accuracy):
    decisions = simulation.simulate(accuracy=accuracy, separation=1.5, overconfidence=1)
    assert values(decisions)["ece"] < 0.006
    assert decisions.confidence.mean() == pytest.approx(accuracy, abs=0.002)


def test_separation_separates_by_the_normal_distributions_formula():
    # AUROC of two unit normals at distance d is Phi(d / sqrt 2)
    from statistics import NormalDist

    auroc = values(simulation.simulate(accuracy=0.7, separation=1.5, overconfidence=1))["auroc"]
    assert auroc == pytest.approx(NormalDist().cdf(1.5 / 2**0.5), abs=2e-3)


def test_what_the_page_says_follows_the_numbers():
    same = make_report(simulation.beside_calibrated(accuracy=0.8, separation=1.5, overconfidence=1.0))
    assert simulation.interpret(same.results).startswith("These confidences are calibrated.")
    nothing = make_report(simulation.beside_calibrated(accuracy=0.5, separation=0.0, overconfidence=4.0))
    assert simulation.interpret(nothing.results).startswith(
        "Every confidence is 1/2, which the third slider cannot change"
    )
    over = make_report(simulation.beside_calibrated(accuracy=0.8, separation=1.5, overconfidence=3.0))
    sentence = simulation.interpret(over.results)
    calibrated, as_set = (results.flat() for results in over.results.values())
    assert f"AURC stays at {as_set['aurc']:.3f}" in sentence
    assert f"from {calibrated['ecuas_0']:.3f} to {as_set['ecuas_0']:.3f}" in sentence
    assert not over.unfair  # the answers are the same


def test_the_curves_are_flat_or_lowest_at_factor_1():
    frame = simulation.metrics_frame(accuracy=0.8, separation=1.5).set_index("factor")
    by_metric = {name: part["value"] for name, part in frame.groupby("metric")}
    assert by_metric["AURC"].nunique() == 1
    for name in ("ECUAS_0", "ECUAS_1", "ECE"):
        assert by_metric[name].idxmin() == pytest.approx(1, abs=0.1)


def test_the_committed_examples_are_those_that_are_simulated(tmp_path):
    for path in make_examples.write_examples(tmp_path):
        assert path.read_bytes() == (make_examples.EXAMPLES / path.name).read_bytes(), path.name
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in make_examples.EXAMPLES.iterdir()}


def test_the_verbal_example_has_ties_and_the_classifier_distributions():
    examples = make_examples.examples()
    assert examples["verbal_model"]["confidence"].nunique() <= 21
    posteriors = examples["classifier"].drop(columns="label")
    np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-4)
    assert isinstance(examples["classifier"], pd.DataFrame)
