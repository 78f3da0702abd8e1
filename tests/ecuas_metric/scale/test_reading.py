import dataclasses
import math
from dataclasses import astuple

import numpy as np
import pytest

from ecuas_metric.errors import InputError
from ecuas_metric.inputs import FORM_CHECKS
from ecuas_metric.metric import Key
from ecuas_metric.options import checked_options
from ecuas_metric.plotting import curves
from ecuas_metric.results import compute_results, prepare
from ecuas_metric.scale import state
from ecuas_metric.scale.reading import read, system_of
from ecuas_metric.scale.state import merge, repeated, state_of
from tests.conftest import seeds
from tests.ecuas_metric.scale.parts import FORMS, Rows, cut

ANALYTIC = {"confidence_level": 0.9, "interval_method": "analytic"}


@pytest.fixture
def few_bins(monkeypatch):
    for name in ("PLAIN_LIMIT", "WEIGHTED_LIMIT"):
        monkeypatch.setattr(state, name, 12)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_are_those_of_compute(form, rng):
    rows = FORMS[form](rng, 150)
    decompose = rows.form != "posteriors" or "cost" not in rows.given
    more = {"normalize": rows.form != "costs", "decompose": decompose}
    found = read(merge(cut(rows, 5, rng)), **more).estimates
    expected = compute_results(rows.system(**more)).estimates
    assert list(found) == list(expected)
    for key, estimate in found.items():
        assert estimate.value == pytest.approx(expected[key].value, abs=1e-12, rel=1e-12), key
        assert estimate.lower_bound is None


def random_rows(rng):
    """Return rows of any form, size, number of errors and design that a state has."""
    form, size = str(rng.choice(list(FORMS))), int(rng.choice([5, 12, 40, 150, 400]))
    rows = FORMS[form](rng, size)
    if rows.form == "confidences" and rng.random() < 0.5:  # few errors
        rows.references[:] = rng.random(size) < rng.choice([0.03, 0.97, 1.0])
    if rng.random() < 0.3:  # ties
        rows.predictions[:] = rows.predictions[rng.integers(0, max(2, size // 20), size)]
    if rows.weight is not None and rng.random() < 0.5:
        rows.weight[rng.random(size) < 0.3] = 0.0
        rows.weight[0] = 1.0
    return rows


@pytest.mark.parametrize("seed", seeds(8, 40))
def test_intervals_are_those_of_compute_or_none_with_a_reason(seed):
    """Ten cases each: equal to 1e-9, or none from the state, and then a note names the number."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        rows = random_rows(rng)
        more = {"normalize": rows.form != "costs"}
        results = read(rows.state(), confidence_level=0.9, **more)
        expected = compute_results(rows.system(**more, **ANALYTIC)).estimates
        named = " ".join(note.fact for note in results.notes)
        for key, estimate in results.estimates.items():
            if math.isnan(estimate.low) and not math.isnan(expected[key].low):
                assert key.variant == "normalized", key
                assert str(key) in named
            else:
                limits = pytest.approx(astuple(expected[key])[1:], rel=1e-9, abs=1e-12, nan_ok=True)
                assert (estimate.low, estimate.high) == limits, (key, rows)


def test_costs_that_hardly_differ_have_their_standard_errors_and_equal_ones_have_none(rng):
    """A variance is the difference of two sums, whose digits must not run out before it does."""
    confidence = 1 - 1e-4 * (1 + rng.random(500))
    rows = Rows("confidences", confidence, np.ones(500, int), {"n": [1], "reject_costs": [1e-7]})  # all are rejected
    found = read(merge(cut(rows, 3, rng))).estimates
    cost = (1 - confidence) ** 2
    error = np.std(cost, ddof=1) / np.sqrt(500)
    assert found[Key("ecuas", 1.0)].standard_error == pytest.approx(error, rel=1e-6)
    assert found[Key("expected_cost", 1e-7)].standard_error == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("form", FORMS)
def test_bounds_hold_the_numbers_of_compute(form, rng, few_bins):
    rows = FORMS[form](rng, 200)
    results = read(merge(cut(rows, 5, rng)), decompose=True, confidence_level=0.5)
    expected = compute_results(rows.system(decompose=True)).estimates
    for key, estimate in results.estimates.items():
        value = expected[key].value
        if not key.entry.is_of_groups and not key.variant:
            assert estimate.lower_bound is None
            assert estimate.value == pytest.approx(value, abs=1e-12, rel=1e-12)
        else:
            slack = 1e-6 * abs(value) * (key.variant != "") + 1e-12
            assert estimate.lower_bound - slack <= value <= estimate.upper_bound + slack, key
            assert estimate.lower_bound <= estimate.value <= estimate.upper_bound
            if not math.isnan(estimate.low):
                assert estimate.low < estimate.lower_bound, key
                assert estimate.upper_bound < estimate.high, key
    assert "bounded" in [note.id for note in results.notes]


def test_bounds_are_as_close_as_two_orders_of_the_same_bins(rng, few_bins):
    """The lower bound is reached where costs come last in each bin, and the upper one where they come first."""
    merged = FORMS["confidences"](rng, 200).state()
    found, (_, low, high, sizes, (errors,)) = read(merged).estimates, merged.sketch
    confidence = np.repeat(np.arange(len(sizes), 0, -1.0), sizes) / 20
    place = np.concatenate([np.arange(n) for n in sizes])
    wrong, size = (np.repeat(column, sizes) for column in (errors, sizes))
    for last, fields in ((True, ("lower_bound", "upper_bound")), (False, ("upper_bound", "lower_bound"))):
        is_wrong = place >= size - wrong if last else place < wrong
        mixed = np.repeat(low != high, sizes)
        q = np.where(mixed, confidence - place * 1e-6, confidence)
        correct = np.where(mixed, ~is_wrong, place >= wrong).astype(int)
        rows = prepare("confidences", *FORM_CHECKS["confidences"](q, correct), checked_options())
        values = compute_results(rows).flat()
        assert getattr(found[Key("aurc")], fields[0]) == pytest.approx(values["aurc"], rel=1e-12)
        assert getattr(found[Key("auroc")], fields[1]) == pytest.approx(values["auroc"], rel=1e-12)


def test_tied_rows_widen_no_bounds(rng, few_bins):
    """A bin of one uncertainty hides nothing: with half of the rows at confidence 1, bounds are half as wide."""
    q = np.concatenate([np.ones(500), rng.random(100)])
    merged = state_of("confidences", q, (rng.random(600) < q).astype(int), checked_options())
    assert merged.sketch.level > 0
    assert merged.sketch.high[0] == merged.sketch.low[0] == 0
    assert merged.sketch.rows[0] == 500


def test_standard_errors_of_coarse_bins_are_about_those_of_the_rows(rng, monkeypatch):
    rows = FORMS["confidences"](rng, 2000)
    exact = read(rows.state()).estimates
    monkeypatch.setattr(state, "PLAIN_LIMIT", 100)
    for key, estimate in read(rows.state()).estimates.items():
        if key.metric in ("ecuas", "aurc", "augrc"):
            assert estimate.standard_error == pytest.approx(exact[key].standard_error, rel=0.005), key


def test_notes_count_what_was_repaired_in_all_parts(rng):
    rows = FORMS["repaired confidences"](rng, 50)
    notes = {note.id: note.fact for note in read(merge(cut(rows, 4, rng))).notes}
    assert notes["missing"].startswith("1 of 50 confidences are missing")
    assert notes["clipped_rows"].startswith("2 of 50 rows")
    assert "rows_above_max_uncertainty" in notes
    rounded = FORMS["posteriors, rounded"](rng, 200)
    off = np.count_nonzero(np.abs(rounded.predictions.sum(axis=1) - 1) > 1e-9)
    assert f"{off} of 200 rows do not sum to 1" in " ".join(note.fact for note in read(rounded.state()).notes)
    hard = state_of("confidences", [0.0, 1.0, 1.0], [0, 0, 1], checked_options())
    assert [note.id for note in read(hard).notes] == ["hard_decisions"]


def test_ten_billion_rows_have_finite_numbers(rng):
    one = FORMS["confidences"](rng, 1024).state()
    few, results = read(one), read(repeated(one, 24), confidence_level=0.95)
    assert results.rows == 1024 * 2**24
    for key, estimate in results.estimates.items():
        if key.metric != "aurc":  # of which repeated rows have another
            assert estimate.value == pytest.approx(few.estimates[key].value, rel=1e-12), key
        if not math.isnan(estimate.standard_error):
            assert estimate.standard_error == pytest.approx(few.estimates[key].standard_error / 2**12, rel=1e-3), key
    assert abs(results.estimates[Key("aurc")].value - few.estimates[Key("aurc")].value) < 0.01


def test_one_row_and_one_class_are_undefined_as_in_memory():
    results = read(state_of("confidences", [0.9], [1], checked_options()), confidence_level=0.95)
    assert math.isnan(results.flat()["auroc"])
    assert [note.id for note in results.notes].count("auroc_undefined") == 1
    assert all(math.isnan(estimate.standard_error) for estimate in results.estimates.values())
    with pytest.raises(InputError, match="must have rows that are judged and have a weight; got 1 rows"):
        read(state_of("confidences", [0.9], [1], checked_options(), sample_weight=[0.0]))


@pytest.mark.parametrize("form", ["confidences", "posteriors"])
def test_curves_are_those_of_the_rows(form, rng):
    rows = FORMS[form](rng, 120)
    whole, system = rows.state(), rows.system()
    drawn = (curves.risk_coverage, curves.reject_cost_curve, lambda s: curves.order_curve(s, n=[0, 1, np.inf]))
    for curve in drawn:
        theirs = dataclasses.asdict(curve(system))
        for field, mine in dataclasses.asdict(curve(system_of(whole))).items():
            np.testing.assert_allclose(mine, theirs[field], rtol=1e-12, atol=1e-15)
    mine, theirs = curves.reliability(system_of(whole)), curves.reliability(system)
    for field in ("confidence", "accuracy", "shares"):
        np.testing.assert_allclose(getattr(mine, field), getattr(theirs, field), rtol=1e-12)
    with pytest.raises(InputError, match="curves are drawn of states without weights"):
        system_of(FORMS["costs"](rng, 10).state())


def test_points_of_coarse_bins_lie_on_the_curve_of_the_rows(rng, monkeypatch):
    rows = FORMS["confidences"](rng, 400)
    monkeypatch.setattr(state, "PLAIN_LIMIT", 25)
    coarse, fine = curves.risk_coverage(system_of(rows.state())), curves.risk_coverage(rows.system())
    assert len(coarse.coverage) <= 25 < len(fine.coverage)
    points = dict(zip(fine.coverage.tolist(), fine.risk.tolist(), strict=True))
    assert [points[c] for c in coarse.coverage.tolist()] == pytest.approx(coarse.risk.tolist())
