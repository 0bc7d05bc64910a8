"""segment: texts -> parts (SOAP sections, or the whole)."""

from metassay.options import GIVEN
from metassay.tables import PARTS, SOURCES, TEXTS
from metassay.units import SEGMENTATIONS
from metassay.units.segment import segment
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Divide every text of one benchmark."""
    chosen = given.chosen(SEGMENTATIONS, "segmentations", given.own("segmentation"))
    texts = given.read(TEXTS, [GIVEN, *given.own("systems"), *given.own("few_shot")])
    given.write(PARTS, segment(texts, given.read(SOURCES), chosen))


if __name__ == "__main__":
    enter(main)
