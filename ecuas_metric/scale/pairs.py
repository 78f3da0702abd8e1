"""Two systems that answered the same rows: the difference of their numbers, with the errors that they share taken off.

The states of two systems tell the difference of each number, but not how their rows vary together. Where the outputs of
both lie side by side, the sums of the products of their costs are added to the states: they make the standard errors of
all differences of means exactly those of paired samples. Metrics of the order would need the products for every pair of
cells; the standard error of their difference is at most the sum of the two, and that is what is returned.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from ..errors import InputError
from ..inputs import Array, Floats, blocks
from ..intervals import student_quantile
from ..metrics import METRICS, Key, sample_costs
from ..options import Options, checked_options
from ..results import prepare
from .moments import first, name_of, second
from .packing import DIGEST, pack, unpack
from .reading import read
from .settings import Settings, bits_of, mean_keys, ratio_parts, require_same_settings, settings_of
from .state import State, checked_rows, merge, state_of
from .sums import Moments, exact

MAGIC = b"ECUAS pair\x02"
LENGTHS = struct.Struct("<QQ")


class Pair(NamedTuple):
    """The states of two systems over the same rows, and the sums of x y under ``x|y``, x a cost of one, y of two."""

    one: State
    two: State
    products: Mapping[str, int]


class Difference(NamedTuple):
    """The number of the first system minus that of the second.

    Attributes
    ----------
    value, standard_error : float
    low, high : float
        Of the t interval; nan where there is none.
    is_paired : bool
        False if the standard error is only an upper bound, since the state does not tell what the systems share.
    """

    value: float
    standard_error: float
    low: float
    high: float
    is_paired: bool


def pair_of(form: str, one: object, two: object, references: object, options: Options) -> Pair:
    """Return the pair of two systems over some rows.

    Parameters
    ----------
    form : {"confidences", "posteriors", "costs"}
    one, two : array_like
        The predictions of each, row by row for the same questions.
    references : array_like, or two of them
        As for `state_of`: of posteriors the classes, which both share; else a tuple with the correctness or the cost of
        each system's own answers.
    options : Options
        See `state_of`.

    Returns
    -------
    Pair

    Raises
    ------
    InputError
        See `state_of`; or if there are not as many rows of both.

    Examples
    --------
    >>> from ecuas_metric.options import checked_options
    >>> pair = pair_of("confidences", [0.9, 0.4], [0.5, 0.6], ([1, 0], [1, 1]), checked_options(n=1))
    >>> differences(pair)[Key("error_rate")].value
    0.5
    """
    truths = references if isinstance(references, tuple) else (references, references)
    states = [state_of(form, output, truth, options) for output, truth in zip((one, two), truths, strict=True)]
    if states[0].rows != states[1].rows:
        sizes = states[0].rows, states[1].rows
        raise InputError("the two systems", "must have the same rows", value=sizes, got=f"{sizes[0]} and {sizes[1]}")
    checked = [checked_rows(form, output, truth, options) for output, truth in zip((one, two), truths, strict=True)]
    settings = settings_of(states[0].settings)
    pairs = [(f"{left}|", f"|{right}") for left, right in _products(states[0])]
    moments = Moments(pairs, bits=bits_of(settings))
    for rows in blocks(states[0].rows):
        a, b = (_costs(form, x[rows], y[rows], options, settings) for x, y in checked)
        moments.add({f"{name}|": cost for name, cost in a.items()} | {f"|{name}": cost for name, cost in b.items()})
    products = {f"{left}{right}".replace("||", "|"): moments.sums[f"{left}*{right}"] for left, right in pairs}
    return Pair(states[0], states[1], products)


def merge_pairs(pairs: Iterable[Pair]) -> Pair:
    """Return the pair of all rows, see `state.merge`.

    Parameters
    ----------
    pairs : iterable of Pair
        At least one.

    Returns
    -------
    Pair
    """
    pairs = list(pairs)
    one, two = (merge([pair[k] for pair in pairs]) for k in (0, 1))  # type: ignore[misc]
    products = {name: sum(pair.products.get(name, 0) for pair in pairs) for name in pairs[0].products}
    return Pair(one, two, products)


def differences(pair: Pair, *, confidence_level: float = 0.95) -> dict[Key, Difference]:
    """Return the difference of every number of two systems.

    Parameters
    ----------
    pair : Pair
    confidence_level : float

    Returns
    -------
    dict of Key to Difference
    """
    found = unpaired_differences(pair.one, pair.two, confidence_level=confidence_level)
    ratios, quantile = ratio_parts(settings_of(pair.one.settings)), _quantile(confidence_level, pair.one.rows)
    values = [{key: reading.value for key, reading in read(state).numbers.items()} for state in (pair.one, pair.two)]
    for key, difference in found.items():
        if key in ratios or METRICS[key.metric].sample_cost is not None:
            top, bottom = map(name_of, ratios[key]) if key in ratios else (name_of(key), "1")
            error = _error(pair, top, bottom, (values[0][key], values[1][key]))
            found[key] = _difference(difference.value, error, quantile, is_paired=True)
    return found


def unpaired_differences(one: State, two: State, *, confidence_level: float = 0.95) -> dict[Key, Difference]:
    """Return the difference of every number of two systems of which nothing is known row by row.

    Its standard error is at most the sum of theirs, whatever they have in common.

    Parameters
    ----------
    one, two : State
        With the same settings.
    confidence_level : float

    Returns
    -------
    dict of Key to Difference

    Raises
    ------
    InputError
        If the settings differ.
    """
    require_same_settings(one.settings, two.settings)
    quantile = _quantile(confidence_level, min(one.rows, two.rows))
    first_, second_ = (read(state).numbers for state in (one, two))
    return {
        key: _difference(
            first_[key].value - second_[key].value,
            first_[key].standard_error + second_[key].standard_error,
            quantile,
            is_paired=False,
        )
        for key in first_
    }


def _quantile(confidence_level: float, rows: int) -> float:
    level = checked_options(confidence_level=confidence_level).confidence_level or 0.0
    return student_quantile((1 + level) / 2, rows - 1) if rows > 1 else math.nan


def _difference(value: float, error: float, quantile: float, *, is_paired: bool) -> Difference:
    return Difference(value, error, value - quantile * error, value + quantile * error, is_paired)


def pack_pair(pair: Pair) -> bytes:
    """Return a pair as bytes, see `packing.pack`."""
    states = pack(pair.one), pack(pair.two)
    text = json.dumps(dict(pair.products), sort_keys=True).encode()
    body = MAGIC + LENGTHS.pack(*map(len, states)) + b"".join(states) + text
    return body + hashlib.sha256(body).digest()


def unpack_pair(packed: bytes) -> Pair:
    """Return the pair that was packed.

    Raises
    ------
    InputError
        If it is none, or damaged.
    """
    if not packed.startswith(MAGIC):
        raise InputError("a pair", "is not a pair of states of ecuas")
    if hashlib.sha256(packed[:-DIGEST]).digest() != packed[-DIGEST:]:
        raise InputError("a pair", "is damaged: its checksum is another", advice="Score its rows again.")
    start = len(MAGIC) + LENGTHS.size
    middle, end = LENGTHS.unpack_from(packed, len(MAGIC))
    middle, end = start + middle, start + middle + end
    products = json.loads(packed[end:-DIGEST])
    return Pair(unpack(packed[start:middle]), unpack(packed[middle:end]), products)


def _costs(form: str, predictions: Array, references: Array, options: Options, settings: Settings) -> dict[str, Floats]:
    decisions = prepare(form, predictions, references, options).decisions
    return {str(key): cost for key, cost in sample_costs(decisions, settings.options)}


def _products(state: State) -> list[tuple[str, str]]:
    """Return the costs whose products are summed: each with itself, and those that a ratio divides with each other."""
    settings = settings_of(state.settings)
    both = [tuple(map(name_of, parts)) for parts in ratio_parts(settings).values()]
    names = [str(key) for key in mean_keys(settings)]
    return [(name, name) for name in names] + [pair for a, b in both for pair in ((a, b), (b, a))]


def _error(pair: Pair, top: str, bottom: str, values: tuple[float, float]) -> float:
    """Return the standard error of a difference of ratios of sums, the sum over rows being exact."""
    below = [first(state, bottom) for state in (pair.one, pair.two)]
    rows = pair.one.rows
    if rows < 2 or not all(below) or not all(map(math.isfinite, values)):
        return math.nan
    ratios = [Fraction(value) for value in values]
    squares, moved = Fraction(0), Fraction(0)
    for sign, state, ratio, total_ in zip((1, -1), (pair.one, pair.two), ratios, below, strict=True):
        tops = ("1", top) if bottom == "1" else (top, bottom)
        square = second(state, top, top) - 2 * ratio * second(state, *tops) + ratio**2 * second(state, bottom, bottom)
        squares += square / total_**2
        moved += sign * (first(state, top) - ratio * total_) / total_
    shared = _product(pair, top, top) - ratios[1] * _product(pair, top, bottom)
    shared += ratios[0] * (ratios[1] * _product(pair, bottom, bottom) - _product(pair, bottom, top))
    variance = squares - 2 * shared / (below[0] * below[1]) - moved**2 / rows
    return math.sqrt(max(float(variance), 0.0) * (rows / (rows - 1)))


def _product(pair: Pair, left: str, right: str) -> Fraction:
    if left == "1":
        return second(pair.two, "1", right)
    if right == "1":
        return second(pair.one, "1", left)
    bits = 2 * bits_of(settings_of(pair.one.settings))
    return exact(pair.products.get(f"{left}|{right}", 0), bits=bits)
