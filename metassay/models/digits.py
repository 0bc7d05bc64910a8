"""Digits of numbers that are stable on every processor.

Processors and numbers of threads sum in different orders, so a network's outputs differ
in their last digits between machines, and near ties can turn small differences into
large ones. docs/measured.md has the size of the differences by dtype. In float64 they are
so small that numbers rounded to a much coarser grid are equal everywhere.

A grid's step is a power of two. So products of rounded numbers, and their sums, are
exact in float64 in any order (up to 53 bits).
"""

from typing import Any, NamedTuple

VECTORS = 18  # bits: an encoder's vectors are multiples of 2**-18, about 0.000004
UNITS = 20  # bits: vectors of length 1 are multiples of 2**-20, exact in float32


def round_to_grid(values: Any, bits: int) -> Any:
    """Round arrays of numpy or torch to multiples of 2**-bits; returns a copy."""
    scale = 2.0**bits
    return (values * scale).round() / scale + 0.0  # no -0.0, which has other bytes


class Digits(NamedTuple):
    """Stable digits of a network's probabilities.

    `significant`: number of significant digits of the smaller of the probability and
    its complement. `off`: largest difference to another processor's value.
    """

    significant: int
    off: float


# By dtype. In float64, too, some models compute their norms in float32
# (docs/judges.md).
PROBABILITY = {
    "float64": Digits(6, 5e-6),
    "float32": Digits(5, 5e-5),
    "float16": Digits(3, 5e-3),
    "bfloat16": Digits(2, 5e-2),
}


def keep_digits(probability: float, digits: int) -> float:
    """Round a probability to significant digits at both ends, so that values near 1 differ."""
    if probability > 0.5:
        return 1 - keep_digits(1 - probability, digits)
    return float(f"{probability:.{digits}g}")
