"""What was simulated -> the tables of docs/statistics.md and docs/deciding.md, from the CSV files beside them."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from ecuas_metric.options import LEVEL
from tests.ecuas_metric.certificates import RUNS
from tests.ecuas_metric.held_out import HELD_OUT
from tests.ecuas_metric.simulated import SYSTEMS

FOLDER = Path(__file__).parent
FEWEST_INTERVALS = 100  # of a cell that is counted
NUM_LOWEST = 8
COVERAGE_TITLES = [
    "cells",
    "least coverage",
    "5 % of cells below",
    "median",
    "median width",
    "90 % of widths below",
]
Rows = list[list[str]]  # of a table, the first with its titles


def coverage_rows() -> Rows:
    """Return a row for each kind of system, number of samples and level."""
    cells = _cells()
    is_normalised = cells["metric"].str.contains("normalized")
    kinds = {
        "chosen": ~is_normalised & cells["system"].isin([*SYSTEMS]),
        "held out": ~is_normalised & cells["system"].isin([*HELD_OUT]),
        "*normalised*, all": is_normalised,
    }
    rows = [["systems", "N", "level", *COVERAGE_TITLES]]
    for kind, is_of_kind in kinds.items():
        for (size, level), of_row in cells[is_of_kind].groupby(["samples", "level"]):
            rows.append([kind, f"{size:,}", f"{level:g}", *_coverage(of_row)])
    return rows


def coverage_lines() -> list[str]:
    """Return, in a sentence, how often intervals of systems that the method was not made with hold the truth."""
    cells = _plain_cells()
    cells = cells[cells["system"].isin([*HELD_OUT])]
    coverage = cells["coverage"]
    worst = cells.loc[coverage.idxmin()]
    nominal = f"{100 * LEVEL:.0f} %"
    return [
        f"**Does a {nominal} interval hold the truth in {nominal}?** On systems that were held out, in {len(cells)} "
        "cells, each a metric of a system with N samples: in "
        f"{coverage.median():.1f} % in the median, in less than {coverage.quantile(0.05):.1f} % in one cell "
        f"of twenty, and in {worst['coverage']:.1f} % in the worst (`{worst['metric']}`, N = {worst['samples']}). Of "
        "several systems that are equal a difference is called significant in at most "
        f"{_most_denied(3):.1f} % with up to three, and in {_most_denied(6):.1f} % with six, where "
        f"{100 * (1 - LEVEL):.0f} % are allowed; more than six were not simulated.",
    ]


def _most_denied(systems: int) -> float:
    """Return in how many percent of samples any of so many equal systems, or fewer, seem to differ, at most."""
    checks = pd.read_csv(FOLDER / "checks.csv")
    several = checks.query("check == 'any difference by any metric'")
    counts = several["subject"].str.split().str[0].astype(int)
    strip = checks.query("check == 'winner on a strip of 100 reject costs'")
    pairs = pd.read_csv(FOLDER / "differences.csv")["false_in_family"]
    shares = [several["percent"][counts <= systems], strip["percent"], pairs]
    return float(pd.concat(shares).max())


def lowest_rows() -> Rows:
    """Return a row for each of the cells that hold the truth least often, and how often these have the note."""
    lowest = _plain_cells().nsmallest(NUM_LOWEST, "coverage")
    rows = [["system", "N", "number", "coverage", "with the note"]]
    for cell in lowest.itertuples():
        shares = [f"{cell.coverage:.1f} %", f"{cell.noted:.0f} %"]
        rows.append([f"*{cell.system}*", f"{cell.samples:,}", f"`{cell.metric}`", *shares])
    return rows


def difference_rows() -> Rows:
    """Return a row for each number of samples: how often intervals of differences hold."""
    cells = _with_coverage(pd.read_csv(FOLDER / "differences.csv"))
    rows = [["N", *COVERAGE_TITLES, "any equality denied, largest share"]]
    for size, of_row in cells.groupby("samples"):
        denied = f"{of_row['false_in_family'].max():.1f} %"
        rows.append([f"{size:,}", *_coverage(of_row), denied])
    return rows


def check_rows() -> Rows:
    """Return a row for each check of tests and number of samples, with the share in percent of each subject."""
    checks = pd.read_csv(FOLDER / "checks.csv")
    checks = checks[~checks["check"].str.startswith("mean of")]
    is_plan = checks["check"].str.startswith("planned")
    checks.loc[is_plan, "samples"] = 0  # each has a number of its own, the one that was planned
    rows = [["what", "N", "runs", "in percent"]]
    for (check, size, runs), of_row in checks.groupby(["check", "samples", "runs"], sort=False):
        shares = zip(of_row["subject"], of_row["percent"], strict=True)
        listed = "; ".join(f"{subject}: {percent:.1f}" for subject, percent in shares)
        rows.append([check, f"{size:,}" if size else "as planned", f"{runs:,}", listed])
    return rows


def certificate_rows() -> Rows:
    """Return a row for each kind of data and number of samples: what a certificate broke and accepted."""
    cells = pd.read_csv(FOLDER / "certificates.csv")
    rows = [["data", "N", "broken", "accepted", "by MAPIE", "by its fixed sequence"]]
    for cell in cells.itertuples():
        shares = (cell.accepted, cell.mapie, cell.mapie_fixed_sequence)
        broken = f"{100 * cell.broken / RUNS:.1f} %"
        listed = [f"{100 * share:.0f} %" for share in shares]
        rows.append([cell.kind, f"{cell.samples:,}", broken, *listed])
    return rows


def _plain_cells() -> pd.DataFrame:
    """Return the cells at the default level, but for normalised values, which have a table of their own."""
    cells = _cells().query("level == @LEVEL")
    return cells[~cells["metric"].str.contains("normalized")]


def _cells() -> pd.DataFrame:
    """Return the cells of intervals of one number, but for shares after an isotonic map, which have none."""
    cells = pd.read_csv(FOLDER / "coverage.csv").query("intervals >= @FEWEST_INTERVALS")
    is_share = (cells["system"] == "isotonic") & cells["metric"].str.startswith("coverage")
    return _with_coverage(cells[~is_share])


def _with_coverage(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.assign(coverage=100 - cells["truth_below"] - cells["truth_above"])


def _coverage(cells: pd.DataFrame) -> Iterator[str]:
    """Yield how often the intervals of some cells hold the true value, and how wide they are."""
    coverage = cells["coverage"]
    width = cells["width"]
    yield str(len(cells))
    yield f"{coverage.min():.1f}"
    yield f"{coverage.quantile(0.05):.1f}"
    yield f"{coverage.median():.1f}"
    yield f"{width.median():.2f}"
    yield f"{width.quantile(0.9):.2f}"
