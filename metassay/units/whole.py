"""No division: every text is one part."""

from collections.abc import Sequence

from metassay.core.options import Options
from metassay.llm.needs import Resources
from metassay.units.record import Divided, Segmentation, Text


def divide(texts: Sequence[Text], options: Options, resources: Resources) -> Divided:  # noqa: ARG001
    """Find no parts: of a text that was written section by section only the whole remains."""
    return Divided([[] for _ in texts])


KIND = Segmentation(options=Options, divide=divide)
