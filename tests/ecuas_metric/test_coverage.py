"""Two-sided acceptance of intervals: they hold the true value, are not wide, and miss on both sides alike."""

import csv
import math

import pytest

from tests.conftest import ROOT
from tests.ecuas_metric import coverage
from tests.ecuas_metric.coverage import ALL, SIZES, cells

LEAST = 92.5  # % of the intervals that must hold the true value,
ONE_SIDE = 5.0  # % at most whose truth lies beyond one side,
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


def margin(percent, count):
    return CHANCE * math.sqrt(percent * (100 - percent) / count)


def reasons_against(row):
    """Yield what is wrong with a cell of simulations."""
    count = int(row["intervals"])
    below, above, width, noted = (
        float(row[name]) for name in ("truth_below", "truth_above", "width", "noted")
    )
    least = 100 * float(row["level"]) - 2.5
    if 100 - below - above < least - margin(least, count):
        yield f"holds {100 - below - above:.1f} %"
    if max(below, above) > ONE_SIDE + margin(ONE_SIDE, count):
        yield f"misses {below:.1f} % below, {above:.1f} % above"
    is_marked = noted >= MARKED or row["system"] in FEW
    if not is_marked and width > WIDEST.get(int(row["samples"]), 1.5) * 1.1:
        yield f"is {width:.2f} times as wide"


@pytest.mark.parametrize(("name", "size"), [("calibrated", 100), ("mostly_sure", 50)])
def test_intervals_hold_the_true_value(name, size, monkeypatch):
    monkeypatch.setattr(coverage, "TRUTH_SIZE", 200_000)
    for row in cells(name, size, 60):
        if "normalized" not in row["metric"]:
            assert not [*reasons_against(row)], row


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ALL)
def test_intervals_of_every_system_hold_the_true_value(name, size):
    for row in cells(name, size, 400):
        if "normalized" not in row["metric"] and (name, row["metric"]) != (
            "isotonic",
            "coverage_0.1",
        ):
            assert row["intervals"] < 100 or not [*reasons_against(row)], row


def test_the_page_has_the_simulated_cells_of_each_system():
    with (ROOT / "docs" / "coverage.csv").open() as file:
        rows = [*csv.DictReader(file)]
    assert {row["system"] for row in rows} == {*ALL}
    assert {row["level"] for row in rows} >= {"0.95"}
