"""Which of several systems may be the best: a p-value for each, from the swaps that compare all pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..inputs import Floats
from .significance import ROUNDING, spread_of

Pair = tuple[str, str]


def p_values_of_best(
    pairs: Sequence[Pair], differences: Floats, swapped: Floats, *, higher_is_better: bool
) -> dict[str, float]:
    """Return the p-value of "no other system is better than this one" of each system, by one metric.

    A system is as far from the best as the largest of its differences to the others, each divided by its standard
    deviation over the swaps; how large chance makes that is seen in the same swaps. So the best system has a p-value of
    at most alpha with a chance of at most alpha: those above alpha are a confidence set for it.

    Parameters
    ----------
    pairs : sequence of P pairs of names
        All pairs.
    differences : ndarray, shape (P,)
        The metric of the first minus that of the second; pairs where it is nan are left out.
    swapped : ndarray, shape (P, B)
        The same after swaps, see `swapping.swap_differences`. nan counts as larger.
    higher_is_better : bool

    Returns
    -------
    dict of name to float
        nan for a system without a difference.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for ranks with applications to mobility across neighbourhoods
    and academic achievement across countries" (confidence sets for a rank from pairwise differences; here rank 1 of one
    system); Gupta 1965, "On some multiple decision (selection and ranking) rules".

    Examples
    --------
    >>> pairs, differences = [("a", "b"), ("a", "c"), ("b", "c")], np.array([1.5, 0.1, -1.4])
    >>> p_values_of_best(pairs, differences, np.tile(np.linspace(-1, 1, 99), (3, 1)), higher_is_better=True)
    {'a': 0.56, 'b': 0.01, 'c': 0.46}
    """
    spread = spread_of(swapped, differences) * (-1 if higher_is_better else 1)
    seen, after = differences / spread, swapped / spread[:, None]
    found = {}
    for name in dict.fromkeys(name for pair in pairs for name in pair):
        signs = np.array([(name == first) - (name == second) for first, second in pairs])
        rows = np.flatnonzero((signs != 0) & ~np.isnan(seen))
        found[name] = _p_value(signs[rows] * seen[rows], signs[rows, None] * after[rows]) if len(rows) else math.nan
    return found


def _p_value(differences: Floats, swapped: Floats) -> float:
    """Return the share of swaps whose largest difference is as large."""
    smaller = int(np.count_nonzero(swapped.max(axis=0) < differences.max() - ROUNDING))
    count = 1 + len(swapped[0])
    return (count - smaller) / count
