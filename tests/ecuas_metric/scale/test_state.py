"""The state of some rows: the same bytes however the rows are cut, ordered and merged."""

import itertools
from fractions import Fraction
from operator import mul

import numpy as np
import pytest

from ecuas_metric.errors import InputError
from ecuas_metric.options import checked_options
from ecuas_metric.scale import cells, reduction, state
from ecuas_metric.scale.packing import MAGIC, START, merge_packed, pack, unpack
from ecuas_metric.scale.state import merge, repeated, state_of
from ecuas_metric.scale.sums import Moments, limbs, numbers_of, total
from tests.ecuas_metric.scale.parts import FORMS, cut, rows_of


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("limit", [2**18, 40])
def test_bytes_are_the_same_however_rows_are_cut_and_merged(form, limit, rng, monkeypatch):
    for module, name in itertools.product((reduction, state), ("PLAIN_LIMIT", "VALUED_LIMIT")):
        monkeypatch.setattr(module, name, limit)
    rows = rows_of(form, rng, size=120)
    whole = pack(rows.state())
    assert unpack(whole).cells.level == 0 or limit == 40
    for count in (1, 7, 20):
        parts = cut(rows, count, rng)
        assert pack(merge(parts)) == whole
        assert merge_packed(pack(part) for part in reversed(parts)) == whole
        while len(parts) > 1:  # a tree
            parts = [merge(parts[i : i + 3]) for i in range(0, len(parts), 3)]
        assert pack(parts[0]) == whole


def test_cells_are_at_the_lowest_level_that_fits(rng):
    ruler = cells.Ruler(mirrored=True, top=0.5)
    keys = np.unique(cells.keys_of(-rng.beta(3, 1, 1000), mirrored=True))
    ones = np.ones(len(keys), np.int64)
    whole = cells.Cells(0, keys, keys, ones, ones[None, :])
    for limit in (1, 2, 17, 999, 1000):
        joined = cells.join([whole], limit, ruler)
        assert 0.85 * limit <= len(joined.low) <= limit
        assert joined.level == 0 or len(cells.join([whole], 1000, ruler, level=joined.level - 1).low) > limit
        assert joined.rows.sum() == len(keys)
        assert (joined.high[:-1] < joined.low[1:]).all()


@pytest.mark.parametrize("ruler", [cells.Ruler(mirrored=True, top=0.5), cells.Ruler(mirrored=False, top=1.0)])
def test_cells_of_a_level_are_stretches_that_the_next_level_joins(ruler, rng):
    q = np.concatenate([rng.random(300), rng.random(100) ** 50, 1 - rng.random(100) ** 50, [0.0, 1.0, 1e-300]])
    keys = np.unique(cells.keys_of(-q if ruler.mirrored else q, mirrored=ruler.mirrored))
    distances = ruler.distances(keys)
    assert all((ruler.are_apart(keys, level) == (distances > level)).all() for level in range(1025))
    starts = {level: {0, *np.flatnonzero(distances > level).tolist()} for level in range(1025)}
    assert all(starts[level + 1] <= starts[level] for level in range(1024))
    assert len(starts[1024]) == 1
    for a, b, c in rng.integers(0, len(keys), (200, 3)):  # the distance of two keys is the largest between them
        a, b, c = sorted((a, b, c))
        if a < b < c:
            ab, bc, ac = (int(ruler.distances(keys[[i, j]])[0]) for i, j in ((a, b), (b, c), (a, c)))
            assert ac == max(ab, bc)


def test_a_part_of_a_million_rows_is_cut_without_a_trace(rng, monkeypatch):
    rows = rows_of("posteriors, own decisions", rng, size=50)
    whole = pack(rows.state())
    monkeypatch.setattr(state, "PART", 7)
    assert pack(rows.state()) == whole


def test_levels_of_numbers_next_to_powers_of_2():
    numbers = [0, *(2**k + d for k in range(2, 62) for d in (-1, 0, 1)), 2**63 - 1]
    assert cells._bit_lengths(np.array(numbers)).tolist() == [n.bit_length() for n in numbers]


@pytest.mark.parametrize("mirrored", [True, False])
def test_keys_order_like_what_they_stand_for(mirrored, rng):
    values = np.concatenate([[0.0, 5e-324, 1e-300, 0.5, 1 - 2**-53, 1.0], rng.random(200)])
    values = np.unique(values if not mirrored else -values)
    keys = cells.keys_of(values, mirrored=mirrored)
    assert (np.diff(keys) > 0).all()
    assert keys.min() >= 0
    np.testing.assert_array_equal(cells.ranks_of(keys, mirrored=mirrored), values)
    assert cells.keys_of(np.array([-0.0]), mirrored=mirrored) == cells.keys_of(np.array([0.0]), mirrored=mirrored)


def test_sums_are_exact_in_any_order(rng):
    values = rng.choice([1e-19, 1.0, 3e10, 1e300, 2**-62], 500)
    assert total(values, bits=62) == sum(round(np.ldexp(v, 62)) if v < 1e3 else int(v) << 62 for v in values)
    assert total(values, bits=62) == total(values[::-1][:7], bits=62) + total(values[::-1][7:], bits=62)
    assert total(-values, bits=62) == -total(values, bits=62)
    assert total(np.zeros(3), bits=62) == 0


def test_sums_of_products_are_exact_in_any_order(rng):
    x, y = rng.choice([2.0**-62, 1e-9, -0.1, 1.0, 16.0], (2, 20_000))
    whole = [[round(Fraction(v) * 2**62) for v in column] for column in (x, y)]
    forwards, backwards = (Moments([("x", "y"), ("x", "x")], bits=62) for _ in range(2))
    forwards.add({"x": x, "y": y})
    for rows in np.array_split(np.arange(20_000)[::-1], 3):
        backwards.add({"x": x[rows], "y": y[rows]})
    products = {"x*y": sum(map(mul, *whole)), "x*x": sum(v * v for v in whole[0])}
    assert forwards.sums == backwards.sums == {"x": sum(whole[0]), "y": sum(whole[1])} | products


def test_digits_of_groups_hold_small_and_large_terms():
    values = np.array([2.0**-93, 2.0**93, 1.0, 0.3, 0.7])
    digits = limbs(values, np.array([0, 3]))
    assert sum(int(digit) << 31 * i for i, digit in enumerate(digits[:, 0])) == (1 << 186) + 1 + (1 << 93)
    np.testing.assert_allclose(numbers_of(digits), [2.0**93, 1.0], rtol=1e-15)


def test_ten_billion_rows_overflow_nothing():
    """Each merge with itself doubles the rows; 1,024 rows and 24 doublings are more than 10 billion."""
    rng = np.random.default_rng(0)
    for form in ("confidences", "costs"):
        one = rows_of(form, rng, size=1024).state()
        many = one
        for _ in range(24):
            many = merge([many, many])
        assert pack(repeated(one, 24)) == pack(many)
        assert many.rows == 1024 * 2**24
        assert {name: value >> 24 for name, value in many.sums.items()} == dict(one.sums)
        assert (many.cells.rows == one.cells.rows << 24).all()
        assert pack(unpack(pack(many))) == pack(many)


@pytest.mark.parametrize(
    ("packed", "rule"),
    [
        (lambda packed: b"something else", "is not a state of ecuas"),
        (lambda packed: packed[:20], "is not a state of ecuas"),
        (lambda packed: packed[:-1], "is damaged: its checksum is another"),
        (lambda packed: packed[:200] + b"!" + packed[201:], "is damaged: its checksum is another"),
        (lambda packed: START.pack(MAGIC, 9, 1) + packed[START.size :], "must have version 2"),
    ],
)
def test_bytes_that_are_no_state_are_refused(packed, rule, rng):
    whole = pack(rows_of("confidences", rng, size=5).state())
    with pytest.raises(InputError) as raised:
        unpack(packed(whole), source="month.state")
    assert (raised.value.argument, raised.value.rule) == ("month.state", rule)


def test_a_state_of_options_that_are_no_more_says_so(rng):
    one = rows_of("confidences", rng, size=5).state()
    old = one._replace(settings=one.settings.replace('"n"', '"m"'))
    with pytest.raises(InputError, match=r"a state was made with options that there are not any more: .*'m'"):
        unpack(pack(old))


def test_states_of_other_options_do_not_merge():
    one, two = (state_of("confidences", [0.5], [1], checked_options(n=n)) for n in (1, 2))
    for refused in (lambda: merge([one, two]), lambda: unpack(pack(one), settings=two.settings)):
        with pytest.raises(InputError, match=r"must have the same options; n is"):
            refused()
    with pytest.raises(InputError, match="states must not be empty"):
        merge([])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"predictions": [0.5, 2.0]}, r"predictions must lie in \[0, 1\]; got 2.0 at index 1 \(1 of 2\)"),
        ({"predictions": [0.5, np.nan]}, r"predictions must not be NaN.*index 1"),
        ({"references": [0, 2]}, r"references must be 0 .*; got 2 at index 1"),
        ({"sample_weight": [1, 1e9]}, r"sample_weight must be 0 or lie in .*; got 1000000000.0 at index 1"),
        ({"sample_weight": [1]}, "must have the same length"),
        ({"options": {"n_bins": 5000}}, "n_bins of a state must be at most 4096; got 5000"),
        ({"options": {"groups": [1, 2]}}, "groups cannot be used with a state"),
        ({"options": {"sample_weight": [1, 2]}}, "Pass weights to state_of"),
    ],
)
def test_bad_rows_are_refused_as_in_memory(changes, message):
    given = {"predictions": [0.5, 0.5], "references": [0, 1], "options": {}, **changes}
    options = checked_options(**given.pop("options"))
    with pytest.raises(InputError, match=message):
        state_of("confidences", given.pop("predictions"), given.pop("references"), options, **given)
