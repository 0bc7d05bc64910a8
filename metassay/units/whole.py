"""No division: every text is one part."""

from metassay.options import Options
from metassay.units.record import Part, Segmentation, Text


class WholeOptions(Options):
    """There is nothing to set."""


def divide(text: Text, options: WholeOptions) -> list[Part]:  # noqa: ARG001
    """Find no parts: of a text that was written section by section only the whole remains."""
    return []


KIND = Segmentation(options=WholeOptions, divide=divide)
