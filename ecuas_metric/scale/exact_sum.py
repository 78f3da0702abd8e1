"""Sums whose value does not depend on the order of their terms: each is rounded once, to whole multiples of a unit."""

from collections.abc import Iterator

import numpy as np

from ..inputs import Floats, Ints, blocks

_STEP = 53 - 16  # whole numbers up to 2^53 are exact in float64, and `inputs.BLOCK_SIZE` are added at a time
DIGIT = 31  # bits
FRACTION_DIGITS, DIGITS = 3, 7  # of a bin: multiples of 2^-93, and no overflow below 2^155


def total(values: Floats, *, bits: int) -> int:
    """Return the sum of values (N,), each rounded to a whole number of 2^-bits, in this unit."""
    result = 0
    for rows in blocks(len(values)):
        for whole, shift in _whole_numbers(values[rows], bits):
            result += int(whole.sum()) << shift
    return result


def totals(values: Floats, groups: Ints, *, bits: int) -> list[int]:
    """Return the `total` of each group of values (N,), that of group k at k."""
    size = int(groups.max(initial=-1)) + 1
    result = [0] * size
    for rows in blocks(len(values)):
        for whole, shift in _whole_numbers(values[rows], bits):
            sums = np.bincount(groups[rows], whole, minlength=size).astype(np.int64)
            for k in np.flatnonzero(sums).tolist():
                result[k] += int(sums[k]) << shift
    return result


def digits_of_groups(values: Floats, starts: Ints) -> Ints:
    """Return sums (DIGITS, G) of groups, which begin at `starts`, of at most 2^22 values (N,) in [0, 2^124)."""
    digits = np.zeros((DIGITS, len(starts)), np.int64)
    rest, largest = values, float(values.max())
    for digit in reversed(range(DIGITS)):
        unit = _unit(digit)
        if largest >= unit / 2 and rest.any():
            whole = np.rint(rest / unit)
            rest = rest - whole * unit
            digits[digit] = np.add.reduceat(whole, starts)
    return carry(digits)


def carry(digits: Ints) -> Ints:
    """Bring each digit, shape (..., DIGITS, G), but the highest back into its range, in place."""
    for digit in range(DIGITS - 1):
        digits[..., digit + 1, :] += digits[..., digit, :] >> DIGIT
        digits[..., digit, :] &= (1 << DIGIT) - 1
    return digits


def floats_of_digits(digits: Ints) -> Floats:
    """Return what digits, shape (..., DIGITS, G), stand for, shape (..., G)."""
    units = np.array([_unit(digit) for digit in range(DIGITS)])
    return np.asarray(np.einsum("...dg,d->...g", digits.astype(np.float64), units))


def _unit(digit: int) -> float:
    return 2.0 ** (DIGIT * (digit - FRACTION_DIGITS))


def _whole_numbers(values: Floats, bits: int) -> Iterator[tuple[Floats, int]]:
    """Yield whole numbers up to 2^_STEP that add up to each value in units of 2^-bits when shifted left."""
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    rest, unit, exponent = values, 0, int(np.frexp(largest)[1]) - _STEP
    while largest and (rest[:64].any() or rest.any()):  # of 0 and 1 nothing is left after the first step
        exponent = max(exponent, -bits)
        rest = _scale_to_units(rest, unit - exponent)
        whole = np.rint(rest)
        yield whole, exponent + bits
        if exponent == -bits:
            return
        rest -= whole
        unit, exponent = exponent, exponent - _STEP - 1  # what is left is at most half a unit


def _scale_to_units(values: Floats, exponent: int) -> Floats:
    return np.asarray(np.ldexp(values, exponent) if abs(exponent) > 1000 else values * 2.0**exponent)
