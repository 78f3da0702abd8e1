"""The curves of a state are those of its rows."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric.errors import InputError
from ecuas_metric.options import checked_options
from ecuas_metric.plotting import curves
from ecuas_metric.reporting.cli import main
from ecuas_metric.results import prepare
from ecuas_metric.scale import reduction, state
from ecuas_metric.scale.curves import reliability, system_of
from ecuas_metric.scale.state import CHECKS
from tests.ecuas_metric.scale.parts import rows_of


def in_memory(rows):
    return prepare(rows.form, *CHECKS[rows.form](rows.predictions, rows.references), checked_options(**rows.given))


@pytest.mark.parametrize("form", ["confidences", "posteriors"])
def test_curves_are_those_of_the_rows(form, rng):
    rows = rows_of(form, rng, size=120)
    whole, system = rows.state(), in_memory(rows)
    for curve in (curves.risk_coverage, curves.reject_cost_curve, lambda s: curves.order_curve(s, n=[0, 1, np.inf])):
        for mine, theirs in zip(curve(system_of(whole)), curve(system), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-15)
    for mine, theirs in zip(reliability(whole), curves.reliability(system), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_points_of_coarse_cells_lie_on_the_curve_of_the_rows(rng, monkeypatch):
    rows = rows_of("confidences", rng, size=400)
    for module in (reduction, state):
        monkeypatch.setattr(module, "PLAIN_LIMIT", 25)
    coarse, fine = curves.risk_coverage(system_of(rows.state())), curves.risk_coverage(in_memory(rows))
    assert len(coarse.coverage) <= 25 < len(fine.coverage)
    points = dict(zip(fine.coverage.tolist(), fine.risk.tolist(), strict=True))
    assert [points[c] for c in coarse.coverage.tolist()] == pytest.approx(coarse.risk.tolist())


def test_the_command_draws_figures_of_states(rng, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="needs matplotlib: the extra `report`")
    rows = rows_of("confidences", rng, size=50)
    table = pa.table({"confidence": rows.predictions, "correct": rows.references})
    pq.write_table(table, tmp_path / "a.parquet")
    assert main(["score", str(tmp_path / "a.parquet"), "--out-of-core", "--figures", str(tmp_path / "figures")]) == 0
    drawn = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert drawn == {"risk_coverage", "reject_cost", "ecuas_against_n", "reliability"}
    assert "reliability.png" in capsys.readouterr().out


def test_curves_that_a_state_does_not_have(rng):
    with pytest.raises(InputError, match="curves are drawn of states without weights"):
        system_of(rows_of("costs", rng, size=10).state())
    with pytest.raises(InputError, match="needs confidences"):
        reliability(rows_of("costs", rng, size=10).state())
