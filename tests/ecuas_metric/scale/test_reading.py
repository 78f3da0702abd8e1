"""What is read from a state: the numbers of `compute`, exactly or between bounds, and their standard errors."""

import itertools
import math

import numpy as np
import pytest
from ecuas_metric.scale.packing import pack, unpack

from ecuas_metric.intervals import design_of, influences, standard_error
from ecuas_metric.metrics import METRICS, Key
from ecuas_metric.options import checked_options
from ecuas_metric.results import all_values, compute_results, prepare
from ecuas_metric.scale import reduction, state
from ecuas_metric.scale.reading import read
from ecuas_metric.scale.state import CHECKS, merge, state_of
from tests.ecuas_metric.scale.parts import FORMS, Rows, cut, rows_of


def in_memory(rows, **more):
    form = "confidences" if rows.given.get("predictions_are") == "positive_probabilities" else rows.form
    columns = CHECKS[form](rows.predictions, rows.references)
    return prepare(rows.form, *columns, checked_options(**rows.given, sample_weight=rows.weight, **more))


def errors_in_memory(rows, **more):
    system = in_memory(rows, confidence_level=0.95, interval_method="analytic", **more)
    design = design_of(system.options, len(system.decisions.uncertainty))
    found = influences(system.decisions, system.ties, system.options, all_values(system))
    return {key: standard_error(influence, design) for key, influence in found}


@pytest.fixture
def few_cells(monkeypatch):
    for module, name in itertools.product((reduction, state), ("PLAIN_LIMIT", "VALUED_LIMIT")):
        monkeypatch.setattr(module, name, 12)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_and_standard_errors_are_those_of_compute(form, rng):
    rows = rows_of(form, rng, size=150)
    decompose = rows.form != "posteriors" or "cost" not in rows.given
    more = {"normalize": rows.form != "costs", "decompose": decompose}
    readings = read(merge(cut(rows, 5, rng)), **more).numbers
    expected = compute_results(in_memory(rows, **more)).estimates
    assert list(readings) == list(expected)
    assert [r.value for r in readings.values()] == pytest.approx(
        [e.value for e in expected.values()], abs=1e-12, rel=1e-12
    )
    errors = errors_in_memory(rows, **more)
    for key, reading in readings.items():
        assert reading.lower_bound is None
        if not math.isnan(reading.standard_error):
            assert reading.standard_error == pytest.approx(errors[key], rel=1e-12, abs=1e-14), key
    bare = {key for key, reading in readings.items() if math.isnan(reading.standard_error)}
    assert all(key.metric == "ece" or key.variant in ("normalized", "calibration_loss") for key in bare)


def test_costs_that_hardly_differ_have_their_standard_errors_and_equal_ones_have_none(rng):
    """A variance is the difference of two sums, whose digits must not run out before it does."""
    confidence = 1 - 1e-4 * (1 + rng.random(500))
    given = {"n": [1, 128], "reject_costs": [1e-7]}  # all are rejected
    rows = Rows("confidences", confidence, np.ones(500, int), given)
    readings, errors = read(merge(cut(rows, 3, rng))).numbers, errors_in_memory(rows)
    for key in (Key("ecuas", 1.0), Key("confidence_brier_score"), Key("confidence_cross_entropy")):
        assert 0 < readings[key].standard_error == pytest.approx(errors[key], rel=1e-12), key
    assert readings[Key("expected_cost", 1e-7)].standard_error == 0


@pytest.mark.parametrize("form", FORMS)
def test_bounds_hold_the_numbers_of_compute(form, rng, few_cells):
    rows = rows_of(form, rng, size=200)
    more = {"decompose": True}
    readings = read(merge(cut(rows, 5, rng)), **more)
    expected = compute_results(in_memory(rows, **more)).estimates
    for key, reading in readings.numbers.items():
        value = expected[key].value
        if METRICS[key.metric].of_ties is None and not key.variant:
            assert reading.lower_bound is None
            assert reading.value == pytest.approx(value, abs=1e-12, rel=1e-12)
        else:
            assert reading.lower_bound - 1e-6 * abs(value) * (key.variant != "") <= value + 1e-12, key
            assert value <= reading.upper_bound * (1 + 1e-6 * (key.variant != "")) + 1e-12, key
            assert reading.lower_bound <= reading.value <= reading.upper_bound
    assert "bounded" in [note.kind for note in readings.notes]


def test_bounds_are_as_close_as_two_orders_of_the_same_cells(rng, few_cells):
    """The lower bound is reached where costs come last in each cell, and the upper one where they come first."""
    rows = rows_of("confidences", rng, size=200)
    merged = rows.state()
    numbers = read(merged).numbers
    confidence = np.repeat(np.arange(len(merged.cells.rows), 0, -1.0), merged.cells.rows) / 20
    place = np.concatenate([np.arange(n) for n in merged.cells.rows])
    wrong, size = (np.repeat(column, merged.cells.rows) for column in (merged.cells.sums[0], merged.cells.rows))
    for last, fields in ((True, ("lower_bound", "upper_bound")), (False, ("upper_bound", "lower_bound"))):
        is_wrong = place >= size - wrong if last else place < wrong
        mixed = np.repeat(merged.cells.low != merged.cells.high, merged.cells.rows)
        q = np.where(mixed, confidence - place * 1e-6, confidence)
        correct = np.where(mixed, ~is_wrong, place >= wrong).astype(int)
        values = compute_results(prepare("confidences", *CHECKS["confidences"](q, correct), checked_options())).flat()
        assert getattr(numbers[Key("aurc")], fields[0]) == pytest.approx(values["aurc"], rel=1e-12)
        assert getattr(numbers[Key("auroc")], fields[1]) == pytest.approx(values["auroc"], rel=1e-12)


def test_tied_rows_widen_no_bounds(rng, few_cells):
    """A cell of one uncertainty hides nothing: with half of the rows at confidence 1, bounds are half as wide."""
    q = np.concatenate([np.ones(500), rng.random(100)])
    correct = (rng.random(600) < q).astype(int)
    merged = state_of("confidences", q, correct, checked_options())
    assert merged.cells.level > 0
    assert merged.cells.high[0] == merged.cells.low[0] == 0
    assert merged.cells.rows[0] == 500


def test_a_state_of_few_rows_has_the_intervals_of_compute(rng):
    rows = rows_of("confidences", rng, size=60)
    more = {"normalize": True, "decompose": True}
    readings = read(unpack(pack(rows.state())), confidence_level=0.9, **more).numbers
    expected = compute_results(in_memory(rows, confidence_level=0.9, interval_method="analytic", **more)).estimates
    for key, reading in readings.items():
        assert (reading.low, reading.high) == pytest.approx(expected[key][1:], rel=1e-9, nan_ok=True), key


@pytest.mark.parametrize("form", ["confidences", "weighted confidences", "costs", "posteriors"])
def test_intervals_without_rows_are_those_of_compute_where_errors_are_not_few(form, rng, monkeypatch):
    from ecuas_metric.scale import limits

    monkeypatch.setattr(limits, "FEW_ROWS", 0)
    rows = rows_of(form, rng, size=400)
    if rows.form != "costs":
        rows.given["reject_costs"] = [0.5, 0.7]  # few errors are accepted where rejecting is cheap: no interval
    readings = read(rows.state(), confidence_level=0.95)
    expected = compute_results(in_memory(rows, confidence_level=0.95, interval_method="analytic")).estimates
    for key, reading in readings.numbers.items():
        assert (reading.low, reading.high) == pytest.approx(expected[key][1:], rel=1e-9, nan_ok=True), key


def test_notes_count_what_was_repaired_in_all_parts(rng):
    rows = rows_of("repaired confidences", rng, size=50)
    notes = {note.kind: note.fact for note in read(merge(cut(rows, 4, rng))).notes}
    assert notes["missing"].startswith("1 of 50 confidences are missing")
    assert notes["clipped"].startswith("2 of 50 rows")
    assert "above_max_uncertainty" in notes
    hard = state_of("confidences", [0.0, 1.0, 1.0], [0, 0, 1], checked_options())
    assert [note.kind for note in read(hard).notes] == ["hard_decisions"]


def test_ten_billion_rows_have_finite_numbers(rng):
    many = rows_of("confidences", rng, size=1024).state()
    few = read(many)
    for _ in range(24):
        many = merge([many, many])
    readings = read(many, confidence_level=0.95)
    assert readings.rows == 1024 * 2**24
    for key, reading in readings.numbers.items():
        if key.metric != "aurc":  # of which repeated rows have another
            assert reading.value == pytest.approx(few.numbers[key].value, rel=1e-12), key
        if not math.isnan(reading.standard_error):
            assert reading.standard_error == pytest.approx(few.numbers[key].standard_error / 2**12, rel=1e-3), key
    assert abs(readings.numbers[Key("aurc")].value - few.numbers[Key("aurc")].value) < 0.01


def test_one_row_and_one_class_are_undefined_as_in_memory():
    readings = read(state_of("confidences", [0.9], [1], checked_options()), confidence_level=0.95)
    assert math.isnan(readings.flat()["auroc"])
    assert [note.kind for note in readings.notes].count("undefined") == 1
    assert all(math.isnan(reading.standard_error) for reading in readings.numbers.values())


def test_every_metric_of_samples_is_one_of_bins():
    """A state has no rows but those that stand for bins, see `bins.one_row_per_bin`; the last two it leaves out."""
    assert [name for name, metric in METRICS.items() if metric.of_samples is not None] == [
        "ece", "ece_debiased", "calibration_p"
    ]  # fmt: skip
