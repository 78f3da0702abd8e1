"""Which of several systems may be the best: a p-value for each, from the swaps that compare all pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..inputs import Floats
from .significance import ROUNDING, spread_of

Pair = tuple[str, str]


def p_values_of_best(
    differences: Mapping[Pair, float], swapped: Mapping[Pair, Floats], *, higher_is_better: bool
) -> dict[str, float]:
    """Return the p-value of "no other system is better than this one" of each system, by one metric.

    A system is as far from the best as the largest of its differences to the others, each divided by its standard
    deviation over the swaps; how large chance makes that is seen in the same swaps. So the best system has a p-value of
    at most alpha with a chance of at most alpha: those above alpha are a confidence set for it.

    Parameters
    ----------
    differences : mapping of pair of names to float
        The metric of the first minus that of the second, of all pairs; those that are nan are left out.
    swapped : mapping of pair of names to ndarray, shape (B,)
        The same after swaps, see `swapping.swap_differences`.
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
    >>> after = np.linspace(-1, 1, 99)
    >>> pairs = {("a", "b"): 1.5, ("a", "c"): 0.1, ("b", "c"): -1.4}
    >>> p_values_of_best(pairs, dict.fromkeys(pairs, after), higher_is_better=True)
    {'a': 0.55, 'b': 0.01, 'c': 0.46}
    """
    sign = -1 if higher_is_better else 1
    worse: dict[str, list[tuple[float, Floats]]] = {}
    for (first, second), difference in differences.items():
        after = swapped[first, second]
        scale = sign / float(spread_of(after))
        worse.setdefault(first, []).append((float(difference * scale), after * scale))
        worse.setdefault(second, []).append((-difference * scale, -after * scale))
    return {name: _p_value(of_system) for name, of_system in worse.items()}


def _p_value(differences: Sequence[tuple[float, Floats]]) -> float:
    """Return the share of swaps whose largest difference is as large; one that is nan counts as larger."""
    defined = [(seen, after) for seen, after in differences if not math.isnan(seen)]
    if not defined:
        return math.nan
    largest = max(seen for seen, _ in defined)
    smaller = np.maximum.reduce([after for _, after in defined]) < largest - ROUNDING
    return float((1 + np.count_nonzero(~smaller)) / (1 + len(smaller)))
