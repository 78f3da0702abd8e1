from fractions import Fraction

import numpy as np
import pytest

from ecuas_metric.errors import InputError
from ecuas_metric.options import checked_options
from ecuas_metric.scale import sketch, state
from ecuas_metric.scale.exact_sum import digits_of_groups, floats_of_digits, total, totals
from ecuas_metric.scale.settings import parse_settings, resolution_of
from ecuas_metric.scale.state import merge, repeated, state_of, state_of_counts
from tests.ecuas_metric.scale.parts import FORMS, cut, packed

RESOLUTIONS = [sketch.Resolution(mirrored=True, top=0.5), sketch.Resolution(mirrored=False, top=1.0)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("limit", [2**18, 40])
def test_states_are_the_same_however_rows_are_cut_and_merged(form, limit, rng, monkeypatch):
    for name in ("PLAIN_LIMIT", "WEIGHTED_LIMIT"):
        monkeypatch.setattr(state, name, limit)
    rows = FORMS[form](rng, 120)
    whole = rows.state()
    assert whole.sketch.level == 0 or limit == 40
    for count in (1, 7, 20):
        parts = cut(rows, count, rng)
        assert packed(merge(parts)) == packed(whole)
        while len(parts) > 1:  # a tree
            parts = [merge(parts[i : i + 3][::-1]) for i in range(0, len(parts), 3)]
        assert packed(parts[0]) == packed(whole)


def test_sketches_are_at_the_lowest_level_that_fits(rng):
    resolution = RESOLUTIONS[0]
    keys = np.unique(sketch.sort_keys(-rng.beta(3, 1, 1000), mirrored=True))
    ones = np.ones(len(keys), np.int64)
    whole = sketch.Sketch(0, keys, keys, ones, ones[None, :])
    for limit in (1, 2, 17, 999, 1000):
        joined = sketch.join([whole], limit, resolution)
        assert 0.85 * limit <= len(joined.low) <= limit
        assert joined.level == 0 or len(sketch.join([whole], 1000, resolution, level=joined.level - 1).low) > limit
        assert joined.rows.sum() == len(keys)
        assert (joined.high[:-1] < joined.low[1:]).all()


def test_bins_are_fine_at_both_ends_of_the_confidences(rng):
    assert resolution_of(parse_settings(FORMS["confidences"](rng, 9).state().settings)) == RESOLUTIONS[0]


@pytest.mark.parametrize(("form", "size", "limit"), [("posteriors", 300_000, 2**18), ("costs", 50_000, 2**15)])
def test_a_state_has_a_size_that_does_not_grow(form, size, limit, rng):
    state_of_many = FORMS[form](rng, size).state()
    assert 0.85 * limit <= len(state_of_many.sketch.low) <= limit
    assert len(packed(state_of_many)) < 4 * 2**20


@pytest.mark.parametrize("resolution", RESOLUTIONS)
def test_bins_of_a_level_are_stretches_that_the_next_level_joins(resolution, rng):
    q = np.concatenate([rng.random(300), rng.random(100) ** 50, 1 - rng.random(100) ** 50, [0.0, 1.0, 1e-300]])
    keys = np.unique(sketch.sort_keys(-q if resolution.mirrored else q, mirrored=resolution.mirrored))
    assert (np.diff(resolution._positions(keys)) >= 0).all()
    joining = resolution.joining_levels(keys)
    assert all((resolution.are_apart(keys, level) == (joining > level)).all() for level in range(1025))
    assert joining.max() <= 1024
    for a, b, c in rng.integers(0, len(keys), (200, 3)):  # two keys are joined when all between them are
        a, b, c = sorted((a, b, c))
        if a < b < c:
            ab, bc, ac = (int(resolution.joining_levels(keys[[i, j]])[0]) for i, j in ((a, b), (b, c), (a, c)))
            assert ac == max(ab, bc)


@pytest.mark.parametrize("mirrored", [True, False])
def test_sort_keys_order_like_what_they_stand_for(mirrored, rng):
    values = np.concatenate([[0.0, 5e-324, 1e-300, 0.5, 1 - 2**-53, 1.0], rng.random(200)])
    values = np.unique(-values if mirrored else values)
    keys = sketch.sort_keys(values, mirrored=mirrored)
    assert (np.diff(keys) > 0).all()
    assert keys.min() >= 0
    np.testing.assert_array_equal(sketch.ranks_of(keys, mirrored=mirrored), values)
    assert sketch.sort_keys(np.array([-0.0]), mirrored=mirrored) == sketch.sort_keys(np.array([0.0]), mirrored=mirrored)


def test_bit_lengths_next_to_powers_of_2():
    numbers = [0, *(2**k + d for k in range(2, 62) for d in (-1, 0, 1)), 2**63 - 1]
    assert sketch._bit_lengths(np.array(numbers)).tolist() == [n.bit_length() for n in numbers]


def test_a_part_of_a_million_rows_is_cut_without_a_trace(rng, monkeypatch):
    rows = FORMS["posteriors, own decisions"](rng, 50)
    whole = packed(rows.state())
    monkeypatch.setattr(state, "PART", 7)
    assert packed(rows.state()) == whole
    rows.predictions[30] = -1
    with pytest.raises(InputError) as raised:
        rows.state()
    assert raised.value.index == (30, 0)


def test_sums_are_exact_in_any_order(rng):
    values = rng.choice([1e-19, 1.0, 3e10, 1e300, 2**-62], 500)
    assert total(values, bits=62) == sum(round(Fraction(v) * 2**62) for v in values)
    assert total(values, bits=62) == total(values[::-1][:7], bits=62) + total(values[::-1][7:], bits=62)
    assert total(-values, bits=62) == -total(values, bits=62)
    assert total(np.zeros(3), bits=62) == 0
    groups = rng.integers(0, 3, 500)
    assert totals(values, groups, bits=62) == [total(values[groups == k], bits=62) for k in range(3)]


def test_digits_of_groups_hold_small_and_large_terms():
    values = np.array([2.0**-93, 2.0**93, 1.0, 0.3, 0.7])
    digits = digits_of_groups(values, np.array([0, 3]))
    assert sum(int(digit) << 31 * i for i, digit in enumerate(digits[:, 0])) == (1 << 186) + 1 + (1 << 93)
    np.testing.assert_allclose(floats_of_digits(digits), [2.0**93, 1.0], rtol=1e-15)


@pytest.mark.parametrize("form", ["confidences", "costs"])
def test_ten_billion_rows_overflow_nothing(form, rng):
    """Each merge with itself doubles the rows; 1,024 rows and 24 doublings are more than 10 billion."""
    one = FORMS[form](rng, 1024).state()
    many = one
    for _ in range(24):
        many = merge([many, many])
    assert packed(repeated(one, 24)) == packed(many)
    assert many.rows == 1024 * 2**24
    assert {name: value >> 24 for name, value in many.sums.items()} == dict(one.sums)
    assert packed(repeated(repeated(one, 20), 15)) == packed(repeated(one, 35))


@pytest.mark.parametrize("form", ["weighted confidences", "posteriors, weighted", "weighted costs"])
def test_rows_of_weight_0_are_counted_and_no_more(form, rng):
    rows = FORMS[form](rng, 60)
    rows.weight[::2] = 0.0
    whole, held = rows.state(), rows.state(np.flatnonzero(rows.weight))
    assert (whole.rows, whole.samples, held.rows) == (60, held.samples, held.samples)
    assert all(np.array_equal(*pair) for pair in zip(whole.sketch, held.sketch, strict=True))
    none = rows.state(np.flatnonzero(rows.weight == 0))
    assert none.samples == 0
    assert packed(merge([none, held])) == packed(whole)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (([0.5], [1.5], [1]), "count must be whole numbers >= 0; got 1.5 at index 0"),
        (([0.5], [1], [2]), "wrong must be at most the count; got 2 at index 0"),
        (([0.5], [1, 1], [1]), "must have the same length"),
        (([2.0], [1], [1]), r"predictions must lie in \[0, 1\]"),
        (([0.5], [0], [0]), "states must not be empty"),
    ],
)
def test_counts_that_are_none_are_refused(counts, message):
    with pytest.raises(InputError, match=message):
        state_of_counts(*counts, checked_options())


@pytest.mark.parametrize(
    ("changes", "argument", "index"),
    [
        ({"predictions": [0.5, 2.0]}, "predictions", 1),
        ({"predictions": [0.5, np.nan]}, "predictions", 1),
        ({"references": [0, 2]}, "references", 1),
        ({"sample_weight": [1, 1e9]}, "sample_weight", 1),
        ({"sample_weight": [1]}, "sample_weight", None),
        ({"options": checked_options(n_bins=5000)}, "n_bins", None),
        ({"options": checked_options(groups=[1, 2])}, "groups", None),
        ({"options": checked_options(sample_weight=[1, 2])}, "sample_weight", None),
    ],
)
def test_bad_rows_are_refused_as_in_memory(changes, argument, index):
    given = {"predictions": [0.5, 0.5], "references": [0, 1], "options": checked_options(), **changes}
    with pytest.raises(InputError) as raised:
        state_of("confidences", **given)
    assert (argument in raised.value.argument, raised.value.index) == (True, index)
    if "options" in changes and argument != "n_bins":
        assert raised.value.advice == ("score_all_in_memory" if argument == "groups" else "pass_weights_to_state")
