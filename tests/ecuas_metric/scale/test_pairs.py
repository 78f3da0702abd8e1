"""The difference of two systems over the same rows, without the rows."""

import numpy as np
import pytest

from ecuas_metric.analytic import design_of, standard_error
from ecuas_metric.errors import InputError
from ecuas_metric.influence import influences
from ecuas_metric.options import checked_options
from ecuas_metric.results import all_values, as_given, prepare
from ecuas_metric.scale.pairs import differences, merge_pairs, pack_pair, pair_of, unpack_pair
from ecuas_metric.scale.state import CHECKS

OPTIONS = checked_options(n=[0, 2], reject_costs=[0.4])


def of_rows(form, predictions, references):
    options = OPTIONS.replace(confidence_level=0.95, max_uncertainty=1.0 if form == "costs" else None)
    system = prepare(form, *CHECKS[form](predictions, references), options)
    found = influences(system.decisions, system.ties, system.options, values := all_values(system))
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
