"""The digits of a number that hold on every processor.

Processors and numbers of threads add up in different orders, so a network's numbers differ in their
last digits from one machine to the next, and a choice between near ties makes a large difference of
a small one. docs/judges.md says how large the differences are by dtype. In float64 they are so
small that numbers which are rounded to a far coarser grid are the same everywhere.

A grid's step is a power of two. So products of rounded numbers, and sums of them, are exact in
float64 (as long as they have at most 53 bits), in whatever order they are added up.
"""

from typing import Any, NamedTuple

VECTORS = 18  # bits: an encoder's vectors are multiples of 2**-18, about 0.000004
UNITS = 20  # bits: so are vectors of length 1 of 2**-20; float32 holds them exactly


def on_grid(values: Any, bits: int) -> Any:
    """The closest multiples of 2**-bits: of arrays of numpy or torch, which are copied."""
    scale = 2.0**bits
    return (values * scale).round() / scale + 0.0  # no -0.0, whose bytes are others


class Digits(NamedTuple):
    """What holds of a probability that a network gave.

    `kept`: so many significant digits of the smaller of it and its complement. `off`: another
    processor's may be that far off.
    """

    kept: int
    off: float


# By dtype. In float64, too, some models compute their norms in float32 (docs/judges.md).
PROBABILITY = {
    "float64": Digits(6, 5e-6),
    "float32": Digits(5, 5e-5),
    "float16": Digits(3, 5e-3),
    "bfloat16": Digits(2, 5e-2),
}


def kept(probability: float, digits: int) -> float:
    """A probability with as many significant digits at either end, so that sure ones differ."""
    if probability > 0.5:
        return 1 - kept(1 - probability, digits)
    return float(f"{probability:.{digits}g}")
