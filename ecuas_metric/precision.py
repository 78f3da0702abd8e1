"""Floats of fewer than 64 bits -> float64: the decimal that was written, not the nearest number of their format.

0.9 in float32 is 0.899999976: widened digit by digit, it is below a threshold of 0.9 and in another bin. The shortest
decimal that rounds to it is 0.9 again, as `print` shows it (Steele and White 1990, "How to print floating-point numbers
accurately").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

# numbers processed at a time, so that temporary arrays stay in the processor's cache
_BLOCK = 2**14


@dataclass(frozen=True, slots=True)
class _Format:
    """A floating-point format."""

    bits: int  # of the significand
    least: int  # the smallest positive number is 2 to this power
    # float64 (N,) -> the nearest numbers of the format
    rounded: Callable[[NDArray[Any]], NDArray[Any]]


def _to_bfloat16(values: NDArray[Any]) -> NDArray[Any]:
    """Return the nearest numbers of bfloat16, the upper half of the bits of float32, as float32."""
    bits = values.astype(np.float32).view(np.uint32)
    halfway = 0x7FFF + ((bits >> 16) & 1)  # ties go to the even number
    return ((bits + halfway) & 0xFFFF0000).view(np.float32)


_SINGLE = 24  # bits of the significand of float32
_LARGEST = 0.51  # distance of probabilities from 1/2, with rounding
FORMATS = {
    "float32": _Format(_SINGLE, -149, lambda values: values.astype(np.float32)),
    "float16": _Format(11, -24, lambda values: values.astype(np.float16)),
    "bfloat16": _Format(8, -133, _to_bfloat16),
}


def widen(values: NDArray[Any], dtype: str = "") -> NDArray[Any]:
    """Return floats of fewer than 64 bits as the shortest decimals that round to them; other arrays unchanged.

    Parameters
    ----------
    values : ndarray
        Of any shape and type.
    dtype : str, default that of `values`
        The format that the numbers were rounded to: "bfloat16" comes as float32, since NumPy has none.

    Returns
    -------
    ndarray
        float64 of the same shape: for each number the decimal of fewest digits that rounds to it, the nearest of
        several. Whole numbers, infinities and nan do not change. Nor do matrices of 16 bits with numbers outside
        [0, 1]: those are computed logits, and a decimal may be 0.4 % away. A number without a short decimal, such as
        5/6, stays rounded: it may miss a threshold that is equal to it in float64.

    Examples
    --------
    >>> import numpy as np
    >>> widen(np.array([0.9, 1 / 3], np.float32)).tolist()
    [0.9, 0.33333334]
    """
    form = FORMATS.get(dtype or values.dtype.name)
    if form is None:
        return values
    if form.bits < _SINGLE and values.ndim > 1 and not (np.abs(values - 0.5) < _LARGEST).all():
        return values.astype(np.float64)
    flat = values.reshape(-1)
    widened = np.empty(flat.shape)
    scales = _scales(form.least)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for start in range(0, flat.size, _BLOCK):
            rows = slice(start, start + _BLOCK)
            _widen_block(flat[rows], widened[rows], form, scales)
    return widened.reshape(values.shape)


@cache
def _scales(least: int) -> NDArray[np.float64]:
    """Return for each distance of floats, 2^least, .., 1, the least power of 10 whose inverse is no larger."""
    exponents = range(least, 1)
    return np.array([float(f"1e{max(math.ceil(-k * math.log10(2)), 1)}") for k in exponents])


def _widen_block(
    values: NDArray[Any],
    widened: NDArray[np.float64],
    form: _Format,
    scales: NDArray[np.float64],
) -> None:
    """Write the shortest decimals of numbers (N,) to `widened`.

    A decimal has as many digits as the distance of neighbouring floats needs, or one less if that still rounds to the
    number. Shorter ones need no search: they are among those with one digit less, of which at most one rounds to the
    number, since these are farther apart than neighbouring floats.
    """
    distance = np.frexp(values)[1] - (form.bits + form.least)
    scale = scales.take(distance, mode="clip")
    digits = values.astype(np.float64) * scale
    tens = np.rint(digits * 0.1) * 10
    is_enough = form.rounded(tens / scale) == values
    np.rint(digits, out=digits)
    digits += is_enough * (tens - digits)
    np.divide(digits, scale, out=widened)
    is_found = form.rounded(widened) == values
    if not is_found.all():
        others = ~is_found
        widened[others] = _widen_powers_of_2(values[others], scale[others], form)


def _widen_powers_of_2(
    values: NDArray[Any], scale: NDArray[np.float64], form: _Format
) -> NDArray[np.float64]:
    """Return the shortest decimals of powers of 2 (N,), whose lower neighbours are half as far away; nan unchanged."""
    exact = values.astype(np.float64)
    above = np.copysign(np.ceil(np.abs(exact) * scale) / scale, exact)
    finer = np.rint(exact * scale * 10) / (scale * 10)
    shortest = np.where(form.rounded(above) == values, above, finer)
    return np.where(np.isfinite(exact), shortest, exact)
