"""The difference of two systems over the same rows, without the rows."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ecuas_metric.errors import FileError, InputError
from ecuas_metric.intervals import design_of, influences, standard_error
from ecuas_metric.options import checked_options
from ecuas_metric.results import all_values, as_given, prepare
from ecuas_metric.scale.joined import pair_of_table
from ecuas_metric.scale.pairs import differences, merge_pairs, pack_pair, pair_of, unpack_pair
from ecuas_metric.scale.state import CHECKS

OPTIONS = checked_options(n=[0, 2], reject_costs=[0.4])


def of_rows(form, predictions, references):
    options = OPTIONS.replace(confidence_level=0.95, max_uncertainty=1.0 if form == "costs" else None)
    system = prepare(form, *CHECKS[form](predictions, references), options)
    found = influences(system.decisions, system.options, values := all_values(system))
    order = np.argsort(system.order)
    return values, {key: influence[order] for key, influence in found}, design_of(as_given(system)[1], len(references))


@pytest.mark.parametrize("form", ["confidences", "posteriors", "costs"])
def test_differences_have_the_standard_errors_of_paired_rows(form, rng):
    size = 150
    if form == "posteriors":
        one, two, truth = rng.dirichlet(np.ones(3), size), rng.dirichlet(np.ones(3), size), rng.integers(0, 3, size)
        truths = (truth, truth)
    else:
        shared = rng.random(size)
        one, two = shared, (shared + rng.random(size)) / 2
        truths = tuple((rng.random((2, size)) > shared).astype(int))
    options = OPTIONS.replace(max_uncertainty=1.0) if form == "costs" else OPTIONS
    whole = pair_of(form, one, two, truths, options)
    parts = np.array_split(rng.permutation(size), 4)
    cut = [pair_of(form, one[rows], two[rows], tuple(truth[rows] for truth in truths), options) for rows in parts]
    merged = merge_pairs(cut)
    assert pack_pair(merged) == pack_pair(whole) == pack_pair(unpack_pair(pack_pair(whole)))
    values, moved, design = of_rows(form, one, truths[0])
    others, moved_too, _ = of_rows(form, two, truths[1])
    for key, (value, error, low, high, is_paired) in differences(merged).items():
        assert value == pytest.approx(values[key] - others[key], abs=1e-12)
        expected = standard_error(moved[key] - moved_too[key], design)
        if is_paired:
            assert error == pytest.approx(expected, rel=1e-10)
            assert low < value < high
        elif key.metric == "ece":
            assert np.isnan(error)
        else:
            assert error >= expected


def test_rows_that_do_not_match_are_refused(rng):
    with pytest.raises(InputError, match="the two systems must have the same rows; got 2 and 1"):
        pair_of("confidences", [0.5, 0.5], [0.5], ([1, 0], [1]), OPTIONS)
    packed = pack_pair(pair_of("confidences", [0.5], [0.5], ([1], [1]), OPTIONS))
    with pytest.raises(InputError, match="is not a pair"):
        unpack_pair(packed[1:])
    with pytest.raises(InputError, match="is damaged"):
        unpack_pair(packed[:-1])


def test_ids_are_joined_in_the_part_where_both_lie(rng):
    confidence, correct = rng.random((2, 40)), rng.integers(0, 2, (2, 40))
    expected = pack_pair(pair_of("confidences", *confidence, tuple(correct), OPTIONS))
    order = rng.permutation(80)
    columns = {
        "id": np.tile(np.arange(40), 2),
        "model": np.repeat(["a", "b"], 40),
        "confidence": confidence.ravel(),
        "correct": correct.ravel(),
    }
    table = pa.table({name: values[order] for name, values in columns.items()})
    assert pack_pair(pair_of_table(table, ("a", "b"), OPTIONS)) == expected
    halves = [table.filter(pc.equal(pc.bit_wise_and(table["id"], 1), part)) for part in (0, 1)]
    assert pack_pair(merge_pairs(pair_of_table(half, ("a", "b"), OPTIONS) for half in halves)) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], "must have the rows of both systems for each id; '1' has one"),
        (lambda rows: [*rows, rows[0]], "must have one row of 'a' for each id; 0 has several"),
        (lambda rows: rows[:2], "part 3: has no rows of 'b'"),
        (lambda rows: [row | {"confidence": 7.0} for row in rows], r"part 3: column 'confidence' must lie in \[0, 1\]"),
        (lambda rows: [{k: v for k, v in row.items() if k != "id"} for row in rows], "there must be a column of ids"),
    ],
)
def test_parts_that_cannot_be_joined_are_refused(change, message):
    rows = [{"id": i, "model": model, "confidence": 0.5, "correct": 1} for model in "ab" for i in (0, 1)]
    with pytest.raises(FileError, match=message):
        pair_of_table(pa.Table.from_pylist(change(rows)), ("a", "b"), OPTIONS, source="part 3")
