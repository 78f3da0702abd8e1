import dataclasses
import math
from dataclasses import astuple
from functools import partial

import numpy as np
import pytest

from ecuas_metric import metrics, posterior_system, summary
from ecuas_metric.errors import InputError
from ecuas_metric.options import checked_options
from ecuas_metric.plotting import curves
from ecuas_metric.results import compute_results
from ecuas_metric.scale.rows import state_of
from ecuas_metric.summary import (
    compute_summary_results,
    make_equivalent_system,
    merge,
    summarize_system,
)
from tests.conftest import seeds
from tests.ecuas_metric.registry import every_key, is_by_differences
from tests.ecuas_metric.scale.parts import FORMS, cut, packed

EVERY = pytest.mark.parametrize("form", FORMS)


@pytest.fixture
def few_bins(monkeypatch):
    """Bins of an eighth and less of the uncertainties, and for any number of groups."""
    monkeypatch.setattr(summary, "MOST_GROUPS", 1)
    monkeypatch.setattr(summary, "LINEAR", 8.0)
    monkeypatch.setattr(summary, "ROOT", 4.0)


def more_of(rows):
    decompose = rows.form != "posteriors" or "cost" not in rows.given
    return {"normalize": rows.form != "costs", "decompose": decompose}


@EVERY
def test_numbers_and_notes_are_those_of_memory(form, rng):
    rows = FORMS[form](rng, 150)
    results = compute_summary_results(merge(cut(rows, 5, rng)), **more_of(rows))
    expected = compute_results(rows.system(**more_of(rows)))
    assert list(results.estimates) == list(expected.estimates)
    for key, estimate in results.estimates.items():
        value = expected.estimates[key].value
        assert estimate.value == pytest.approx(value, abs=1e-12, rel=1e-12), key
        assert estimate.lower_bound is None
    assert sorted(map(str, results.notes)) == sorted(map(str, expected.notes))


def random_rows(rng):
    """Return rows of any form, size, number of errors and design that a state has."""
    form = str(rng.choice(list(FORMS)))
    size = int(rng.choice([5, 12, 40, 100]))
    rows = FORMS[form](rng, size)
    if rows.form == "confidences" and rng.random() < 0.5:  # few errors
        rows.references[:] = rng.random(size) < rng.choice([0.03, 0.97, 1.0])
    if rng.random() < 0.3:  # ties
        rows.predictions[:] = rows.predictions[rng.integers(0, max(2, size // 20), size)]
    if rows.weight is not None and rng.random() < 0.5:
        rows.weight[rng.random(size) < 0.3] = 0.0
        rows.weight[0] = 1.0
    return rows


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(2, 80))
def test_values_and_intervals_are_those_of_memory_or_none_with_a_reason(seed, monkeypatch):
    """Five cases each: equal to 1e-9, by differences to 1e-6; or none from the summary, and a note names the number."""
    monkeypatch.setattr(metrics, "_MAX_RUNS", 16)  # of differences, for speed
    rng = np.random.default_rng(seed)
    for _ in range(5):
        rows = random_rows(rng)
        more = {"normalize": rows.form != "costs", "confidence_level": 0.9}
        system = rows.system(**more)
        keys = every_key(system, 0.4)
        state = rows.state() if rng.random() < 0.5 else summarize_system(system)
        results = compute_summary_results(state, only=keys, **more)
        expected = compute_results(system, only=keys).estimates
        assert list(results.estimates) == list(expected)
        assert results.basis.level == system.basis.level
        named = " ".join(note.fact for note in results.notes)
        for key, estimate in results.estimates.items():
            value, *limits = astuple(expected[key])
            assert estimate.value == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True), key
            if math.isnan(estimate.low) and not math.isnan(limits[0]):
                assert key.variant == "normalized", key
                assert str(key) in named
            else:
                told = 1e-6 if is_by_differences(key.entry) else 1e-9
                same = pytest.approx(limits, rel=told, abs=1e-12, nan_ok=True)
                assert [estimate.low, estimate.high] == same, (key, rows)


@EVERY
@pytest.mark.parametrize("bins", [None, "few_bins"])
def test_summaries_are_the_same_however_rows_are_cut_and_merged(form, bins, rng, request):
    if bins:
        request.getfixturevalue(bins)
    rows = FORMS[form](rng, 120)
    whole = packed(rows.state())
    parts = cut(rows, 10, rng)
    assert packed(merge(parts)) == whole
    while len(parts) > 1:  # a tree
        parts = [merge(parts[i : i + 3][::-1]) for i in range(0, len(parts), 3)]
    assert packed(parts[0]) == whole


@EVERY
def test_bounds_hold_the_numbers_of_memory(form, rng, few_bins):
    """Means are those of the rows to the second order of the width of a bin, and shares of thresholds to the last."""
    rows = FORMS[form](rng, 200)
    state = merge(cut(rows, 5, rng))
    asked = {"decompose": True, "confidence_level": 0.5}
    results = compute_summary_results(state, **asked)
    system = rows.system(decompose=True)
    keys = every_key(system, 0.3)
    expected = compute_results(system, only=keys).estimates
    half = compute_summary_results(state, only=[*results.estimates][::2], **asked)
    for key, estimate in half.estimates.items():
        np.testing.assert_equal(astuple(results.estimates[key]), astuple(estimate))
    named = compute_summary_results(state, only=keys, with_errors=False).estimates
    for key, estimate in (named | results.estimates).items():
        value = expected[key].value
        if key.entry.is_share or key.metric == "ece":
            assert estimate.value == pytest.approx(value, abs=1e-12), key
        if key.entry.has_order_bounds and not key.variant:
            assert estimate.lower_bound - 1e-12 <= value <= estimate.upper_bound + 1e-12, key
            assert estimate.lower_bound <= estimate.value <= estimate.upper_bound
            if estimate.low is not None and math.isfinite(estimate.low):
                assert estimate.low < estimate.lower_bound
                assert estimate.upper_bound < estimate.high
    assert "bounded" in [note.id for note in results.notes]


def test_a_summary_has_a_size_that_does_not_grow(rng):
    state = FORMS["posteriors"](rng, 300_000).state()
    assert len(state.groups.rank) <= summary.MOST_GROUPS
    assert (state.groups.high[:-1] < state.groups.rank[1:]).all()


def test_a_note_on_all_rows_holds_of_parts_that_all_have_it():
    hard, soft = (
        summarize_system(posterior_system([0, 1], probabilities))
        for probabilities in ([0.0, 1.0], [0.4, 0.6])
    )
    for parts, is_noted in (([hard, hard], True), ([hard, soft], False), ([soft, soft], False)):
        notes = compute_summary_results(merge(parts)).notes
        assert ("hard_decisions" in [note.id for note in notes]) == is_noted


@pytest.mark.parametrize("form", ["confidences", "posteriors"])
def test_curves_are_those_of_the_rows(form, rng):
    rows = FORMS[form](rng, 120)
    whole = rows.state()
    system = rows.system()
    of_orders = partial(curves.order_curve, n=[0, 1, np.inf])
    for curve in (curves.risk_coverage, curves.reject_cost_curve, of_orders, curves.reliability):
        mine, theirs = (
            dataclasses.asdict(curve(one)) for one in (make_equivalent_system(whole), system)
        )
        for field in mine.keys() - {"counts"}:
            np.testing.assert_allclose(mine[field], theirs[field], rtol=1e-12, atol=1e-15)


def test_what_is_asked_of_a_state_is_checked_as_in_memory(rng):
    with pytest.raises(InputError, match="^decompose must be True or False; got 3"):
        compute_summary_results(FORMS["confidences"](rng, 9).state(), decompose=3)


@pytest.mark.parametrize(
    "changes, argument, index",
    [
        ({"predictions": [0.5, 2.0]}, "predictions", 1),
        ({"references": [0, 2]}, "references", 1),
        ({"sample_weight": [1, -1]}, "sample_weight", 1),
        ({"sample_weight": [1, 1e100]}, "sample_weight", 1),
        ({"sample_weight": [1]}, "sample_weight", None),
        ({"options": checked_options(groups=[1, 2])}, "groups", None),
        ({"options": checked_options(sample_weight=[1, 2])}, "sample_weight", None),
    ],
)
def test_bad_rows_are_refused_as_in_memory(changes, argument, index):
    given = {"predictions": [0.5, 0.5], "references": [0, 1], "options": checked_options()}
    with pytest.raises(InputError) as raised:
        state_of("confidences", **given | changes)
    assert (argument in raised.value.argument, raised.value.index) == (True, index)
    if "options" in changes:
        advice = {"groups": "Score in memory.", "sample_weight": "Pass weights to state_of."}
        assert str(raised.value).endswith(advice[argument])
