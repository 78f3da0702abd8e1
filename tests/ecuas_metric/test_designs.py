"""Degrees of freedom: as many as there are units, less one for each stratum."""

import numpy as np
import pytest

from ecuas_metric.options import checked_options
from ecuas_metric.sampling import make_design

STRATA = np.repeat([0, 1, 2], 4)
GROUPS = np.repeat(np.arange(6), 2)


@pytest.mark.parametrize(
    "sampled, units, strata",
    [
        ({}, 12, 1),
        ({"strata": STRATA}, 12, 3),
        ({"groups": GROUPS}, 6, 1),
        ({"groups": GROUPS, "strata": STRATA}, 6, 3),
        ({"sample_weight": np.full(12, 7.0)}, 12, 1),
    ],
)
def test_freedom_is_units_less_strata(sampled, units, strata):
    design = make_design(12, checked_options(**sampled))
    assert design.num_strata == strata
    assert design.num_units == pytest.approx(units)
    assert design.freedom == pytest.approx(units - strata)


def test_a_variance_has_at_least_one_degree_of_freedom():
    assert make_design(2, checked_options(strata=[0, 1])).freedom == 1
