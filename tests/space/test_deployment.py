import re

import numpy as np
import pytest

from ecuas_metric import confidence_system, fixed_reject_cost
from ecuas_metric.files.submissions import read_submissions
from ecuas_metric.reporting.report import prepare_submissions
from space.deployment import REJECT_COSTS, costs_of, deployment, winners
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def examples():
    paths = [ROOT / "space" / "examples" / f"{name}_model.csv" for name in ("calibrated", "overconfident", "verbal")]
    return prepare_submissions([one for path in paths for one in read_submissions(path)])


@pytest.mark.parametrize("num_classes", [None, 3])
def test_costs_are_the_metrics_at_every_reject_cost(num_classes, rng):
    correct, confidence = rng.integers(0, 2, 40), rng.random(40).round(1)
    system = confidence_system(correct, confidence, num_classes=num_classes)
    u_max = system.decisions.max_uncertainty
    (curve,) = costs_of({"a": system}).values()
    for i in np.flatnonzero(u_max >= REJECT_COSTS):
        expected = fixed_reject_cost(1 - confidence, 1 - correct, reject_cost=REJECT_COSTS[i], max_uncertainty=u_max)
        assert curve["cost"][i] == pytest.approx(expected.mean())


@pytest.mark.parametrize(("at", "winner"), [(0.3, "calibrated_model"), (0.4, "overconfident_model"), (0, "none")])
def test_the_reject_cost_decides_which_example_to_deploy(at, winner, examples):
    html = deployment(costs_of(examples), at)
    assert f"At reject cost {at:.2f}, deploy <b>{winner}</b>." in html
    best = re.findall(r'<li class="[^"]* best"><span class="who" title="([^"]*)"', html)
    assert best == ["no system" if winner == "none" else winner]


def test_equal_costs_share_the_verdict_and_names_are_text():
    system = confidence_system([1, 0, 1], [0.9, 0.2, 0.8])
    html = deployment(costs_of({"<i>": system, "b": system}), 0.5)
    assert "deploy <b>&lt;i&gt;</b> or <b>b</b>." in html


def test_nothing_is_said_without_systems_or_of_systems_that_must_not_be_ranked():
    assert deployment(None, 0.3) == ""
    assert "is not said" in deployment({}, 0.3)


def test_the_strip_names_the_cheapest_system_at_every_reject_cost(examples):
    costs = costs_of(examples)
    found = winners(costs)
    assert [name for name, *_ in found] == ["calibrated_model", "overconfident_model"]
    for name, low, high in found:
        for row in range(round(100 * low) + 1, round(100 * high)):
            assert costs[name]["cost"][row] == min(curve["cost"][row] for curve in costs.values())
    html = deployment(costs, 0.3)
    assert f"calibrated_model up to {found[0][2]:.2f}, then overconfident_model" in html
