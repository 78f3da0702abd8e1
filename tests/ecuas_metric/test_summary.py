import dataclasses
import math
from dataclasses import astuple
from functools import partial

import numpy as np
import pytest

from ecuas_metric import metrics, posterior_system, summary
from ecuas_metric.calibration import confidence_bins
from ecuas_metric.errors import InputError
from ecuas_metric.metric import Key
from ecuas_metric.options import checked_options
from ecuas_metric.plotting import curves
from ecuas_metric.results import compute_results
from ecuas_metric.scale.rows import state_of
from ecuas_metric.summary import (
    assign_bins,
    compute_summary_results,
    make_equivalent_system,
    merge,
    summarize_system,
)
from tests.conftest import seeds
from tests.ecuas_metric.registry import every_key, is_by_differences
from tests.ecuas_metric.scale.parts import FORMS, Rows, cut, packed

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


@pytest.mark.parametrize("form", ["confidences", "costs"])
def test_bins_that_are_used_tell_means_to_nine_digits(form, rng, monkeypatch):
    monkeypatch.setattr(summary, "MOST_GROUPS", 1)
    rows = FORMS[form](rng, 20_000)
    state = rows.state()
    assert not state.is_exact
    expected = compute_results(rows.system()).estimates
    for key, estimate in compute_summary_results(state, with_errors=False).estimates.items():
        if estimate.lower_bound is None:
            assert estimate.value == pytest.approx(expected[key].value, rel=1e-9), key
        else:
            assert estimate.upper_bound - estimate.lower_bound < 1e-2 * estimate.value


@pytest.mark.parametrize("n_bins", [7, 10, 33])
@pytest.mark.parametrize("groups", ["each", "few_bins"])
def test_a_posterior_at_the_edge_of_a_bin_is_above_it_whatever_its_rounding(
    n_bins, groups, rng, request
):
    """In memory, in a state, and in one with bins: largest probabilities of k / n up to noise, and clearly below it."""
    if groups == "few_bins":
        request.getfixturevalue(groups)
    place = rng.integers(n_bins // 2 + 1, n_bins, 200)
    below = rng.choice([0.0, 1e-15, 5e-14, 1e-3], 200)
    q = place / n_bins - below
    expected = place - (below > 1e-14)
    rows = Rows("posteriors", np.stack([1 - q, q], axis=1), rng.integers(0, 2, 200), {})
    rows.given["n_bins"] = n_bins
    system = rows.system()
    assert (confidence_bins(system.decisions.confidence, n_bins=n_bins) == expected).all()
    keys = [Key("ece"), Key("mce")]
    keys += [Key("ece_equal_mass")] if groups == "each" else []
    numbers = compute_summary_results(rows.state(), only=keys).estimates
    for key, estimate in compute_results(system, only=keys).estimates.items():
        assert numbers[key].value == pytest.approx(estimate.value, abs=1e-12), key


def test_a_summary_has_a_size_that_does_not_grow(rng):
    state = FORMS["posteriors"](rng, 300_000).state()
    assert len(state.groups.rank) <= summary.MOST_GROUPS
    assert (state.groups.high[:-1] < state.groups.rank[1:]).all()


@pytest.mark.parametrize("form", ["confidences", "costs", "posteriors"])
def test_bins_order_like_what_is_in_them(form, rng):
    state = FORMS[form](rng, 9).state()
    q = np.concatenate(
        [rng.random(300), rng.random(100) ** 50, 1 - rng.random(100) ** 50, [0.0, 1.0, 1e-300]]
    )
    rank = np.unique(-q if form == "confidences" else q * state.basis.max_uncertainty)
    bins = assign_bins(rank, state.template, state.options)
    assert (np.diff(bins, axis=0) >= 0).all()


def test_notes_count_what_was_repaired_in_all_parts_once(rng):
    repaired = merge(cut(FORMS["repaired confidences"](rng, 50), 4, rng))
    notes = [note.fact for note in compute_summary_results(repaired).notes]
    assert "1 of 50 confidences are missing (NaN) and count as 0.5." in notes
    assert len(notes) == len(set(notes))
    hard = merge([state_of("confidences", [q], [1], checked_options()) for q in (0.0, 1.0, 1.0)])
    assert "hard_decisions" in [note.id for note in compute_summary_results(hard).notes]
    correct = np.repeat([0, 1], 200)
    confidence = np.where(correct, 0.2, 0.8) + rng.random(400) / 10
    wrong_way = state_of("confidences", confidence, correct, checked_options())
    assert "inverted" in [
        note.id for note in compute_summary_results(merge([wrong_way, wrong_way])).notes
    ]


def test_a_note_on_all_rows_holds_of_parts_that_all_have_it():
    hard, soft = (
        summarize_system(posterior_system([0, 1], probabilities))
        for probabilities in ([0.0, 1.0], [0.4, 0.6])
    )
    for parts, is_noted in (([hard, hard], True), ([hard, soft], False), ([soft, soft], False)):
        notes = compute_summary_results(merge(parts)).notes
        assert ("hard_decisions" in [note.id for note in notes]) == is_noted


@pytest.mark.parametrize("form", ["confidences", "costs"])
def test_ten_billion_rows_have_finite_numbers(form, rng):
    """Each merge with itself doubles the rows; 1,024 rows and 24 doublings are more than 10 billion."""
    one = many = FORMS[form](rng, 1024).state()
    for _ in range(24):
        many = merge([many, many])
    few = compute_summary_results(one)
    results = compute_summary_results(many)
    assert results.basis.num_samples == 1024 * 2**24
    for key, estimate in results.estimates.items():
        if key.metric != "aurc":  # of which repeated rows have another
            assert estimate.value == pytest.approx(few.estimates[key].value, rel=1e-12), key


def test_one_row_and_one_class_are_undefined_as_in_memory():
    row = partial(state_of, "confidences", [0.9], [1], checked_options())
    results = compute_summary_results(row(), confidence_level=0.95)
    assert math.isnan(results.flat()["auroc"])
    assert [note.id for note in results.notes].count("auroc_undefined") == 1
    with pytest.raises(InputError, match="must have rows that are judged .*; got 1 rows"):
        compute_summary_results(row(sample_weight=[0.0]))


@pytest.mark.parametrize("form", ["weighted confidences", "posteriors, weighted", "weighted costs"])
def test_rows_of_weight_0_are_counted_and_no_more(form, rng):
    rows = FORMS[form](rng, 60)
    rows.weight[::2] = 0.0
    whole = rows.state()
    weighted = rows.state(np.flatnonzero(rows.weight))
    assert (whole.rows, whole.samples, weighted.rows) == (60, weighted.samples, weighted.samples)
    none = rows.state(np.flatnonzero(rows.weight == 0))
    assert none.samples == 0
    assert packed(merge([none, weighted])) == packed(whole)


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


OTHERS = {  # of what a part may differ, and what the refusal names
    "numbers of classes K": {"num_classes": 3},
    "n of ECUAS_n": {"n": 7},
    "values of missing confidences": {"missing_confidence": 0.5},
}


@pytest.mark.parametrize("reason, change", OTHERS.items())
def test_parts_that_depend_on_other_things_are_not_merged(reason, change):
    parts = [
        state_of("confidences", [0.5, 0.9], [0, 1], checked_options(**given))
        for given in ({}, change)
    ]
    with pytest.raises(InputError, match=f"they differ in their .*{reason}"):
        merge(parts)
    weighted = state_of("confidences", [0.5], [1], checked_options(), sample_weight=[2.0])
    with pytest.raises(InputError, match="they differ in their weights"):
        merge([parts[0], weighted])


@pytest.mark.parametrize("of", [[1.0, 1e4], [1.0, 2.0], [1e4, 1e4]])
@pytest.mark.parametrize("size", [3, 30])
def test_weights_that_leave_few_units_are_noted_as_in_memory(of, size, rng):
    rows = FORMS["confidences"](rng, size)
    rows = rows._replace(weight=np.where(np.arange(size) < 3, of[1], of[0]))
    state = compute_summary_results(rows.state(), confidence_level=0.9)
    memory = compute_results(rows.system(confidence_level=0.9))
    told, expected = (
        [str(note) for note in results.notes if note.id == "few_groups"]
        for results in (state, memory)
    )
    assert told == expected
    assert bool(told) == (of[1] == 1e4 != of[0] and size == 30)


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
