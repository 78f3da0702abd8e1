"""Two-sided acceptance of intervals: they hold the true value, are not wide, and miss on both sides alike."""

import csv
import math

import pytest

from tests.conftest import ROOT
from tests.ecuas_metric import coverage
from tests.ecuas_metric.coverage import ALL, SIZES, cells

BELOW = 2.5  # % of the intervals at most less than the level that hold the true value,
ONE_SIDE = 2.5  # % at most more than half of all others whose truth lies beyond one side,
CHANCE = 2.5  # but for so many standard errors of what the simulations leave open
WIDEST = {50: 2.0, 100: 2.0}  # times the width of the sampling distribution; 1.5 for more samples,
# unless a note marks at least so many % of the intervals: they rest on what was not seen
MARKED = 50.0
FEW = (
    "one_percent_wrong",
    "two_percent_wrong",
    "four_percent_wrong",
    "rare",
    "two_percent_right",
    "few_right",
)

# cells that miss, as docs/coverage.csv has them: too wide where a matrix has a next entry that is hardly ever seen, or
# where one group has half of the answers, or few groups of unequal size have those that are accepted; too low where few
# answers are accepted, or few are right
KNOWN = """
documents 50 expected_cost_0.1 | ordinal_costs 50 expected_cost_0.1 | squared_distance 50 expected_cost_0.1
zipf_classes 100 expected_cost_0.1 | zipf_classes 200 expected_cost_0.1 | zipf_classes 100 coverage_0.1
zipf_classes 200 coverage_0.1 | zipf_classes 455 expected_cost_0.1 | zipf_classes 455 coverage_0.1
zipf_groups 200 selective_risk_0.1 | small_stratum 2000 coverage_0.1
giant_group 2000 error_rate | giant_group 2000 augrc | giant_group 2000 ecuas_0 | giant_group 2000 ecuas_1
giant_group 2000 ecuas_128 | giant_group 2000 coverage_0.1
rare_tenfold 100 selective_risk_0.1 | rare_tenfold 200 selective_risk_0.1 | rare_tenfold 200 expected_cost_0.1
squared_distance 50 selective_risk_0.1 | squared_distance 200 selective_risk_0.1
two_percent_right 50 ecuas_0
two_point_weighted 50 confidence_cross_entropy | two_point_weighted 50 selective_risk_0.1
rare 200 auroc 0.8 | giant_group 200 selective_risk_0.1 | zipf_groups 200 expected_cost_0.1 0.99
weighted_groups 200 selective_risk_0.1 | weighted_groups 200 expected_cost_0.1
unequal_groups 100 selective_risk_0.1 | unequal_groups 200 selective_risk_0.1
heavy_and_wrong 200 expected_cost_0.1 0.8
"""
CELLS = {tuple(cell.split()) for cell in KNOWN.replace("|", "\n").strip().split("\n")}


def is_left_out(row):
    """Return whether a cell is known to miss, or has too few intervals to tell, or a number of another test."""
    cell = (row["system"], str(row["samples"]), row["metric"])
    at_level = (*cell, str(row["level"]))
    is_of_other = "normalized" in row["metric"] or cell[::2] == ("isotonic", "coverage_0.1")
    return is_of_other or not CELLS.isdisjoint([cell, at_level]) or int(row["intervals"]) < 100


def margin(percent, count):
    return CHANCE * math.sqrt(percent * (100 - percent) / count)


def reasons_against(row):
    """Yield what is wrong with a cell of simulations."""
    count = int(row["intervals"])
    below, above, width, noted = (
        float(row[name]) for name in ("truth_below", "truth_above", "width", "noted")
    )
    level = 100 * float(row["level"])
    least = level - BELOW
    if 100 - below - above < least - margin(least, count):
        yield f"holds {100 - below - above:.1f} %"
    one_side = (100 - level) / 2 + ONE_SIDE
    if max(below, above) > one_side + margin(one_side, count):
        yield f"misses {below:.1f} % below, {above:.1f} % above"
    is_marked = noted >= MARKED or row["system"] in FEW
    if not is_marked and width > WIDEST.get(int(row["samples"]), 1.5) * 1.1:
        yield f"is {width:.2f} times as wide"


@pytest.mark.long
@pytest.mark.parametrize("name, size", [("mostly_sure", 50), ("costly_misses_bold", 50)])
def test_intervals_hold_the_true_value(name, size, monkeypatch):
    monkeypatch.setattr(coverage, "TRUTH_SIZE", 200_000)
    for row in cells(name, size, 40):
        if "normalized" not in row["metric"]:
            assert not [*reasons_against(row)], row


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ALL)
def test_intervals_of_every_system_hold_the_true_value(name, size):
    for row in cells(name, size, 400):
        assert is_left_out(row) or not [*reasons_against(row)], row


def recorded():
    with (ROOT / "docs" / "coverage.csv").open() as file:
        return list(csv.DictReader(file))


def test_the_recorded_cells_hold_the_true_value_but_for_those_that_are_known_to_miss():
    rows = recorded()
    missing = {
        (row["system"], row["samples"], row["metric"], row["level"])
        for row in rows
        if any(reasons_against(row)) and not is_left_out(row)
    }
    assert not missing
    assert len(CELLS) < 0.01 * len(rows)


def test_the_page_has_the_simulated_cells_of_each_system():
    assert {row["system"] for row in recorded() if row["level"] == "0.95"} == {*ALL}
