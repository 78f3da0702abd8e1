import numpy as np
import pytest

from ecuas_metric import confidence_system
from ecuas_metric.metric import Key
from ecuas_metric.plotting.curves import (
    accuracy_band,
    reject_cost_band,
    reject_cost_curve,
    reliability,
    risk_band,
    risk_coverage,
)
from ecuas_metric.results import compute_results

OPTIONS = {
    "confidence_level": 0.9,
    "interval_method": "analytic",
    "n": (0, 1),
    "reject_costs": (0.3, 1.0),
}


@pytest.fixture(params=["plain", "sample_weight", "groups", "strata", "tied"])
def system(request, rng):
    p = rng.integers(1, 10, 200) / 10 if request.param == "tied" else rng.random(200)
    given = {
        "sample_weight": rng.random(200),
        "groups": np.arange(200) // 4,
        "strata": np.arange(200) % 2,
    }
    options = OPTIONS | {name: values for name, values in given.items() if name == request.param}
    return confidence_system((rng.random(200) < p).astype(int), p, **options)


def test_the_band_of_the_risk_of_all_is_that_of_the_error_rate(system):
    found = compute_results(system).estimates[Key("error_rate")]
    band = risk_band(system, np.array([1.0]))
    assert (band.low[0], band.high[0]) == pytest.approx((found.low, found.high), rel=1e-4)


def test_the_band_of_the_risk_is_that_of_a_reject_cost(system):
    """It is the interval of the selective risk of the same accepted answers."""
    found = compute_results(system).estimates
    band = risk_band(system, np.array([found[Key("coverage", 0.3)].value]))
    risk = found[Key("selective_risk", 0.3)]
    assert (band.low[0], band.high[0]) == pytest.approx((risk.low, risk.high), rel=1e-9)


def test_curves_lie_in_their_bands(system):
    risks = risk_coverage(system)
    costs = reject_cost_curve(system, num_points=21)
    bins = reliability(system)
    for band, values in (
        (risk_band(system, risks.coverage[::9]), risks.risk[::9]),
        (reject_cost_band(system, costs.reject_cost), costs.expected_cost),
        (accuracy_band(system), bins.accuracy),
    ):
        there = np.isfinite(band.low) & np.isfinite(values)
        assert there.mean() > 0.8
        assert (band.low[there] <= values[there] + 1e-12).all()
        assert (values[there] <= band.high[there] + 1e-12).all()
