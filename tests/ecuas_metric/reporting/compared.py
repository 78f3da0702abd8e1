"""Comparisons made up of given values, for tests of what is shown of them."""

import itertools
import math
from dataclasses import replace

from ecuas_metric.comparison.rows import Comparison, choose_verdict
from ecuas_metric.metric import Key

ALPHA = 0.05
ER = Key("error_rate")
AUROC = Key("auroc")
COVERAGE = Key("coverage", 0.2)


def row(first, second, key, difference, p=0.001, *, comparable=True, untested=None):
    low = difference - 0.1
    high = difference + 0.1
    one = Comparison(
        first, second, key, difference, low, high, p, p, comparable, low, high, untested=untested
    )
    return replace(one, family=not math.isnan(p))


def rows_of(values, key=ER, p=0.001, **options):
    pairs = itertools.combinations(values, 2)
    rows = (
        row(a, b, key, values[a] - values[b], p(a, b) if callable(p) else p, **options)
        for a, b in pairs
    )
    return [
        replace(
            one,
            first_value=values[one.first],
            second_value=values[one.second],
            verdict=choose_verdict(one, ALPHA),
        )
        for one in rows
    ]
