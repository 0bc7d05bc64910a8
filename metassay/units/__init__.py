"""Parts of texts, and the units in them: statements with their citations, and claims."""

from metassay.params import Options
from metassay.units.decompose import decompose
from metassay.units.parts import SoapOptions, WholeOptions, segment

SEGMENTATIONS: dict[str, type[Options]] = {"whole": WholeOptions, "soap": SoapOptions}

__all__ = ["SEGMENTATIONS", "decompose", "segment"]
