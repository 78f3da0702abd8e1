from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecuas_metric.costs import ecuas_cost
from ecuas_metric.errors import InputError
from ecuas_metric.metrics import Key
from ecuas_metric.reporting.report import make_report
from space import illustrations
from tests.ecuas_metric import systems
from tests.space import make_examples
from tests.space.test_plots import close, figures_in

SETTINGS = {"accuracy": st.floats(0.5, 0.99), "separation": st.floats(0.3, 3), "factor": st.floats(1.3, 4)}


def values(decisions):
    return {key: float(value) for key, value in systems.values(decisions, n=(0, 1)).items()}


@given(**SETTINGS)
def test_overconfidence_leaves_answers_and_order_and_raises_ecuas(accuracy, separation, factor):
    settings = {"accuracy": accuracy, "separation": separation, "size": 400}
    calibrated, over = (values(illustrations.simulate(**settings, overconfidence=f)) for f in (1, factor))
    for key in ("error_rate", "auroc", "aurc", "augrc"):
        assert over[key] == pytest.approx(calibrated[key], abs=1e-12)
    for key in ("ecuas_0", "ecuas_1", "confidence_cross_entropy", "confidence_brier_score"):
        assert over[key] > calibrated[key]


@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.99])
def test_factor_1_is_calibrated(accuracy):
    decisions = illustrations.simulate(accuracy=accuracy, separation=1.5, overconfidence=1)
    assert values(decisions)["ece"] < 0.006
    assert decisions.confidence.mean() == pytest.approx(accuracy, abs=0.002)


def test_separation_separates_by_the_normal_distributions_formula():
    # AUROC of two unit normals at distance d is Phi(d / sqrt 2)
    auroc = values(illustrations.simulate(accuracy=0.7, separation=1.5, overconfidence=1))["auroc"]
    assert auroc == pytest.approx(NormalDist().cdf(1.5 / 2**0.5), abs=2e-3)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ((0.8, 1.5, 1.0), "These confidences are calibrated."),
        ((0.5, 0.0, 4.0), "Every confidence is 1/2, which the third slider cannot change"),
        ((0.8, 1.5, 3.0), "The answers and their order are the same: AURC stays at "),
    ],
)
def test_what_the_page_says_follows_the_numbers(settings, expected):
    names = ("accuracy", "separation", "overconfidence")
    report = make_report(illustrations.beside_calibrated(**dict(zip(names, settings, strict=True))))
    calibrated, as_set = (
        {key: one.value for key, one in results.estimates.items()} for results in report.results.values()
    )
    sentence = illustrations.interpret(calibrated, as_set)
    assert sentence.startswith(expected)
    assert not report.not_comparable  # the answers are the same
    if settings[2] == 3.0:
        key = Key("ecuas", 0.0)
        assert f"from {calibrated[key]:.3f} to {as_set[key]:.3f}" in sentence


def test_the_drawn_metrics_are_flat_or_lowest_at_factor_1():
    ((_, lines),) = figures_in(illustrations.metrics_figure(accuracy=0.8, separation=1.5)).values()
    assert np.ptp(lines["AURC"][0][:, 1]) == 0
    for name in ("ECUAS_0", "ECUAS_1", "ECE"):
        points = lines[name][0]
        assert points[points[:, 1].argmin(), 0] == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(("n", "num_classes"), [(0, None), (1, 4), (2.5, 100)])
def test_the_two_costs_are_those_of_the_metric_and_are_drawn(n, num_classes):
    u_max = 1 if num_classes is None else 1 - 1 / num_classes
    costs = illustrations.answer_costs(n, num_classes, 0.75)
    assert costs == pytest.approx(
        ecuas_cost(candidate_cost=[0, 1], uncertainty=[0.25, 0.25], n=n, max_uncertainty=u_max).tolist()
    )
    ((_, lines),) = figures_in(illustrations.cost_figure(n, num_classes, 0.75)).values()
    close(lines[illustrations.CHOSEN][0], [[0.75, cost] for cost in costs])


def test_the_costs_of_ecuas_1_by_hand():
    # r^2, and r^2 + 2 (1 - r) for r = 0.2
    assert illustrations.answer_costs(1, None, 0.8) == pytest.approx((0.04, 1.64))
    assert illustrations.answer_costs(1, 4, 0.1) == (1, 1)  # below chance it counts as rejected


@pytest.mark.parametrize(("num_classes", "confidence"), [(1, 0.5), (float("inf"), 0.5), (4, 1.1), (4, -0.1)])
def test_what_is_out_of_range_is_an_error(num_classes, confidence):
    with pytest.raises(InputError, match="must"):
        illustrations.answer_costs(1, num_classes, confidence)


def test_the_committed_examples_are_those_that_are_simulated(tmp_path):
    for path in make_examples.write_examples(tmp_path):
        assert path.read_bytes() == (make_examples.EXAMPLES / path.name).read_bytes(), path.name
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in make_examples.EXAMPLES.iterdir()}
    examples = make_examples.examples()
    assert examples["verbal_model"]["confidence"].nunique() <= 21
    np.testing.assert_allclose(examples["classifier"].drop(columns="label").sum(axis=1), 1, atol=1e-4)
