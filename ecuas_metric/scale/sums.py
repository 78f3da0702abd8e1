"""Sums whose value does not depend on the order of their terms: each is rounded once, to whole multiples of a unit.

Floating-point addition is not associative. A whole number of units is, and Python's whole numbers do not overflow.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..inputs import Floats, Ints, blocks

EXACT = 53  # whole numbers below 2^53 are exact in float64
BLOCK = 16  # 2^16 terms are added at a time, see `inputs.BLOCK_SIZE`
STEP = EXACT - BLOCK
LIMB = 31
FRACTION_LIMBS, LIMBS = 3, 7  # per cell: multiples of 2^-93, and no overflow below 2^155


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
    return sum(_block_total(values[rows], bits) for rows in blocks(len(values)))


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
    digits = np.empty((LIMBS, len(starts)), np.int64)
    rest = values
    for limb in reversed(range(LIMBS)):
        unit = _unit(limb)
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


def _block_total(values: Floats, bits: int) -> int:
    """Take the digits of STEP bits off all values, from the highest: sums of each are exact in float64."""
    largest = float(np.abs(values).max(initial=0.0))
    if not largest:
        return 0
    exponent, result, rest, shift = int(np.frexp(largest)[1]) - STEP, 0, values, 0
    while True:
        exponent = max(exponent, -bits)
        rest = np.ldexp(rest, shift - exponent) if abs(shift - exponent) > 1000 else rest * 2.0 ** (shift - exponent)
        whole = np.rint(rest)
        result += int(whole.sum()) << (exponent + bits)
        if exponent == -bits:
            return result
        rest, shift, exponent = rest - whole, exponent, exponent - STEP
