"""Sums whose value does not depend on the order of their terms: each is rounded once, to whole multiples of a unit.

Floating-point addition is not associative. A whole number of units is, and Python's whole numbers do not overflow.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..inputs import Floats, Ints, blocks

EXACT = 53  # whole numbers up to 2^53 are exact in float64
BLOCK = 16  # 2^16 terms are added at a time, see `inputs.BLOCK_SIZE`
STEP = EXACT - BLOCK
PRODUCTS = 2**13  # as many products are added at a time; of more terms BLAS would start threads
FACTOR = (EXACT - 13) // 2
ROWS = 2**15  # whose digits stay in the cache
LIMB = 31
FRACTION_LIMBS, LIMBS = 3, 7  # per cell: multiples of 2^-93, and no overflow below 2^155
_Digits = list[tuple[Floats, int]]


def total(values: Floats, *, bits: int) -> int:
    """Return the sum of values, each rounded to a whole number of 2^-bits: the same in any order and any grouping.

    Parameters
    ----------
    values : ndarray, shape (N,)
        Finite.
    bits : int

    Returns
    -------
    int
        In units of 2^-bits.

    Examples
    --------
    >>> total(np.array([1e17, 0.5, -1e17]), bits=62) == 2**61
    True
    """
    result = 0
    for rows in blocks(len(values)):
        for whole, shift in _digits(values[rows], bits):
            result += int(whole.sum()) << shift
    return result


class Moments:
    """The sums of some columns of terms, and of the products of some pairs of them: both exact once terms are rounded.

    A variance is the difference of two such sums: that of equal terms is 0, and of terms that hardly differ it keeps
    its digits.

    Parameters
    ----------
    products : sequence of pairs of str
        The names of the columns that are multiplied.
    bits : int
        As for `total`; products are in units of 2^-(2 bits).

    Examples
    --------
    >>> moments = Moments([("x", "x")], bits=4)
    >>> moments.add({"x": np.array([0.5, 0.25])})
    >>> moments.sums
    {'x': 12, 'x*x': 80}
    """

    def __init__(self, products: Sequence[tuple[str, str]], *, bits: int) -> None:
        self.products, self.bits = products, bits
        self.mixed = {name for pair in products if pair[0] != pair[1] for name in pair}
        self.sums: dict[str, int] = {}

    def add(self, columns: Mapping[str, Floats]) -> None:
        """Add some rows of all columns."""
        for start in range(0, len(next(iter(columns.values()))), ROWS):
            rows = slice(start, start + ROWS)
            kept: dict[str, _Digits] = {}
            for name, values in columns.items():
                digits = list(_digits(values[rows], self.bits, step=FACTOR))
                self._count(name, sum(int(whole.sum()) << shift for whole, shift in digits))
                if (name, name) in self.products:
                    self._count(f"{name}*{name}", _square(digits))
                if name in self.mixed:
                    kept[name] = digits
            for one, two in self.products:
                if one != two:
                    self._count(f"{one}*{two}", _product(kept[one], kept[two]))

    def _count(self, name: str, more: int) -> None:
        self.sums[name] = self.sums.get(name, 0) + more


def totals(values: Floats, groups: Ints, *, bits: int) -> list[int]:
    """Return the `total` of each group of values, those of group k at k.

    Parameters
    ----------
    values, groups : ndarray, shape (N,)
        The groups are whole numbers from 0.
    bits : int

    Returns
    -------
    list of int

    Examples
    --------
    >>> totals(np.array([0.5, 0.25, 1.0]), np.array([2, 2, 0]), bits=2)
    [4, 0, 3]
    """
    size = int(groups.max(initial=-1)) + 1
    result = [0] * size
    for rows in blocks(len(values)):
        for whole, shift in _digits(values[rows], bits):
            sums = np.bincount(groups[rows], whole, minlength=size).astype(np.int64)
            for k in np.flatnonzero(sums).tolist():
                result[k] += int(sums[k]) << shift
    return result


def exact(count: int, *, bits: int) -> Fraction:
    """Return what `count` units of 2^-bits are."""
    return Fraction(count, 1 << bits)


def limbs(values: Floats, starts: Ints) -> Ints:
    """Return the sum of each group of non-negative values as digits of 31 bits, from the lowest to the highest.

    Parameters
    ----------
    values : ndarray, shape (N,)
        Below 2^124, N at most 2^22.
    starts : ndarray of int, shape (G,)
        Where each group begins, from 0.

    Returns
    -------
    ndarray of int64, shape (LIMBS, G)
        The lowest in units of 2^-93, each but the highest in [0, 2^31).
    """
    digits = np.zeros((LIMBS, len(starts)), np.int64)
    rest, largest = values, float(values.max())
    for limb in reversed(range(LIMBS)):
        unit = _unit(limb)
        if largest >= unit / 2 and rest.any():
            whole = np.rint(rest / unit)
            rest = rest - whole * unit
            digits[limb] = np.add.reduceat(whole, starts)
    return carried(digits)


def carried(digits: Ints) -> Ints:
    """Return sums of `limbs`, shape (..., LIMBS, G), with each digit but the highest in its range again, in place."""
    for limb in range(LIMBS - 1):
        digits[..., limb + 1, :] += digits[..., limb, :] >> LIMB
        digits[..., limb, :] &= (1 << LIMB) - 1
    return digits


def numbers_of(digits: Ints) -> Floats:
    """Return what digits, shape (..., LIMBS, G), stand for, shape (..., G)."""
    units = np.array([_unit(limb) for limb in range(LIMBS)])
    return np.asarray(np.einsum("...lg,l->...g", digits.astype(np.float64), units))


def _unit(limb: int) -> float:
    return 2.0 ** (LIMB * (limb - FRACTION_LIMBS))


def _square(digits: _Digits) -> int:
    both = (_product([one], digits[place + 1 :]) for place, one in enumerate(digits))
    return sum(_product([one], [one]) for one in digits) + 2 * sum(both)


def _product(one: _Digits, two: _Digits) -> int:
    return sum(_dot(a, b) << (i + j) for (a, i), (b, j) in itertools.product(one, two))


def _dot(one: Floats, two: Floats) -> int:
    """Return the sum of the products of whole numbers up to 2^FACTOR."""
    end = len(one) // PRODUCTS * PRODUCTS
    many = np.vecdot(one[:end].reshape(-1, PRODUCTS), two[:end].reshape(-1, PRODUCTS)).tolist()
    return sum(map(int, many)) + (int(np.dot(one[end:], two[end:])) if end < len(one) else 0)


def _digits(values: Floats, bits: int, *, step: int = STEP) -> Iterator[tuple[Floats, int]]:
    """Yield whole numbers up to 2^step that add up to each value in units of 2^-bits when shifted left."""
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    rest, unit, exponent = values, 0, int(np.frexp(largest)[1]) - step
    while largest and (rest[:64].any() or rest.any()):  # of 0 and 1 nothing is left after the first step
        exponent = max(exponent, -bits)
        rest = _scaled(rest, unit - exponent)
        whole = np.rint(rest)
        yield whole, exponent + bits
        if exponent == -bits:
            return
        rest -= whole
        unit, exponent = exponent, exponent - step - 1  # what is left is at most half a unit


def _scaled(values: Floats, exponent: int) -> Floats:
    return np.asarray(np.ldexp(values, exponent) if abs(exponent) > 1000 else values * 2.0**exponent)
