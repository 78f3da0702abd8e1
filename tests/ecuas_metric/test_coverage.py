"""Do 95 % intervals hold the true value in 95 % of samples? Simulated systems, whose true values are known."""

import math

import pytest

from ecuas_metric import score_confidences
from ecuas_metric.intervals import FEW
from tests.conftest import ROOT
from tests.ecuas_metric.simulated import SYSTEMS, accurate, coverage, in_20_groups, rare

RUNS = 1000
SIZES = (30, 100, 455, 5000)
LEAST = {30: 88, 100: 90, 455: 93, 5000: 93}  # % of the samples whose interval must hold the true value,
CHANCE = 1.7  # but for what 1,000 simulations leave open: 2.5 standard errors, of some 20 metrics each
CAREFUL = (rare, in_20_groups)  # fewer than FEW errors or hardly more groups: may hold it more often than they say
NAMED = ("ecuas_0", "ecuas_1", "error_rate", "aurc", "auroc")
OF_ACCEPTED = ("expected_cost", "coverage", "selective_risk")  # few of which may be wrong


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_intervals_hold_the_true_value_or_are_withheld(system, size):
    """The tables of the card and of docs/statistics.md, but for recalibrated values, whose note says why."""
    shares = coverage(system, size, RUNS)
    for key, (held, without) in shares.items():
        print(f"\n| {system.__name__} | {size} | {key} | {held:.1f} | {without:.1f} |", end="")
    given = {key: held for key, (held, without) in shares.items() if without < 50 and "recalibrated" not in key}
    assert not any(key == "ece" or "calibration_loss" in key for key in given)
    of_all = {key: held for key, held in given.items() if not key.startswith(OF_ACCEPTED)}
    assert all(held >= LEAST[size] - CHANCE for held in given.values()), given
    if system is accurate and size == 100:
        assert all(93 - CHANCE <= given[key] <= 97 + CHANCE for key in NAMED), given
    if size > 100 and system not in CAREFUL:
        assert all(held <= 97 + CHANCE for held in of_all.values()), given


def test_the_card_and_the_page_have_a_line_for_each_system():
    for page in ("ecuas_metric/README.md", "docs/statistics.md"):
        text = (ROOT / page).read_text()
        assert all(f"| {system.__name__} |" in text for system in SYSTEMS), page
        assert f"fewer than {FEW} errors" in text, page


def test_without_any_error_the_limits_hold(rng):
    """Exact by the binomial distribution: 100 answers, none wrong, are seen in 5 % of samples at 3 % errors."""
    values = score_confidences([1] * 100, rng.uniform(0.9, 1, 100), confidence_level=0.95)
    assert 1 - 0.05 ** (1 / 100) <= values["error_rate_high"] <= 1 - 0.01 ** (1 / 100)
    assert all(values[f"{key}_high"] > 0 for key in ("ecuas_0", "ecuas_1", "aurc", "augrc"))
    assert math.isnan(values["auroc_high"])
