import math

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.options import checked_options
from ecuas_metric.plotting.curves import risk_coverage
from ecuas_metric.results import prepare
from space import drawings
from tests.ecuas_metric.systems import values


@pytest.fixture
def systems(rng):
    q = rng.random((2, 1000))
    return {name: prepared(q[i], (rng.random(1000) < q[i]).astype(int)) for i, name in enumerate("ab")}


def prepared(predictions, references, **options):
    form = "confidences" if predictions.ndim == 1 else "posteriors"
    return prepare(form, predictions, references, checked_options(**options))


def drawn(systems):
    return {name: drawings.curves_of(system) for name, system in systems.items()}


def test_risk_coverage_ends_at_the_error_rate_with_few_points(systems):
    frame = drawings.risk_coverage_frame(drawn(systems))
    for name, system in systems.items():
        one = frame[frame["system"] == name]
        assert len(one) <= drawings.NUM_POINTS
        assert one["coverage"].is_monotonic_increasing
        assert one.iloc[-1][["coverage", "risk"]].tolist() == pytest.approx(
            [1, system.decisions.candidate_cost.mean()], abs=1e-5
        )


def test_what_is_thinned_is_a_part_of_the_curve(systems):
    curve = risk_coverage(systems["a"])
    points = set(zip(curve.coverage.round(5), curve.risk.round(5), strict=True))
    frame = drawings.risk_coverage_frame(drawn({"a": systems["a"]}))
    assert set(zip(frame["coverage"], frame["risk"], strict=True)) <= points


def test_few_points_are_all_kept():
    few = prepared(np.array([0.9, 0.5, 0.2]), np.array([1, 0, 1]))
    assert len(drawings.risk_coverage_frame(drawn({"a": few}))) == 3


def test_expected_cost_is_that_of_the_metric(systems):
    frame = drawings.reject_cost_frame(drawn(systems)).set_index(["system", "reject_cost"])["expected_cost"]
    for name, system in systems.items():
        expected = values(system.decisions, reject_costs=0.25)["expected_cost_0.25"]
        assert frame[name, 0.25] == pytest.approx(expected, abs=1e-5)
        assert frame[f"{drawings.ACCEPT} {name}", 0.25] == pytest.approx(
            system.decisions.candidate_cost.mean(), abs=1e-5
        )
    assert frame[drawings.REJECT, 0.25] == 0.25


def test_the_plots_limit_shows_every_system_whole(systems):
    frame = drawings.reject_cost_frame(drawn(systems))
    assert drawings.highest_cost(frame) > frame["expected_cost"][frame["system"] != drawings.REJECT].max()


def test_reliability_averages_to_accuracy(systems):
    frame = drawings.reliability_frame(drawn(systems))
    for name, system in systems.items():
        one = frame[frame["system"] == name]
        assert one["samples"].sum() == 1000
        assert np.average(one["accuracy"], weights=one["samples"]) == pytest.approx(
            1 - system.decisions.candidate_cost.mean(), abs=1e-4
        )
    counts = drawings.counts_frame(drawn(systems))
    assert counts.groupby("system")["samples"].sum().tolist() == [1000, 1000]
    assert counts["confidence"].unique().tolist()[:2] == ["0.0-0.1", "0.1-0.2"]


def test_order_curve_holds_the_metric_at_each_n(systems):
    frame = drawings.order_frame(drawn(systems)).set_index(["system", "n"])["ecuas"]
    expected = values(systems["a"].decisions, n=(0, 0.5, 1, 128, math.inf))
    for name, order in (("0", "0"), ("1/2", "0.5"), ("1", "1"), ("128", "128"), ("∞", "inf")):
        assert frame["a", name] == pytest.approx(expected[f"ecuas_{order}"], abs=1e-5)


def test_weights_are_repetitions_in_every_plot(rng):
    q, correct, weight = rng.random(40), rng.integers(0, 2, 40), rng.integers(0, 3, 40)
    weighted = {"a": prepared(q, correct, sample_weight=weight)}
    repeated = {"a": prepared(np.repeat(q, weight), np.repeat(correct, weight))}
    for draw in (drawings.reject_cost_frame, drawings.order_frame, drawings.reliability_frame):
        frames = [draw(drawn(systems)).drop(columns="samples", errors="ignore") for systems in (weighted, repeated)]
        pd.testing.assert_frame_equal(*frames, atol=2e-5)
    assert drawings.counts_frame(drawn(weighted))["samples"].sum() == 40


def test_posteriors_are_drawn_too(rng):
    classifier = prepared(rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50))
    assert drawings.reject_cost_frame(drawn({"a": classifier}))["reject_cost"].max() == pytest.approx(2 / 3, abs=1e-5)
    assert len(drawings.reliability_frame(drawn({"a": classifier}))) > 2


def test_every_line_has_a_style_and_accepting_all_its_systems(systems):
    styles = drawings.styles(systems)
    assert set(drawings.reject_cost_frame(drawn(systems))["system"]) <= set(styles)
    assert set(drawings.reliability_frame(drawn(systems))["system"]) <= set(styles)
    assert (styles["a"], styles["b"]) == ("slot-1", "slot-2")
    assert styles[f"{drawings.ACCEPT} a"] == "slot-1 faint"


def test_frames_hold_plain_numbers(systems):
    for draw in (drawings.reject_cost_frame, drawings.order_frame, drawings.reliability_frame):
        frame = draw(drawn(systems))
        assert not frame.isna().to_numpy().any()
        assert isinstance(frame, pd.DataFrame)
