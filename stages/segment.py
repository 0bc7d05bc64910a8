"""segment: texts -> parts (SOAP sections, facets, or the whole)."""

from metassay.core.options import GIVEN
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.parts import PARTS, SEGMENTS
from metassay.tables.responses import RESPONSES
from metassay.units import SEGMENTATIONS
from metassay.units.segment import repeated_datasets, segment
from stages.connect import connect
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Divide every text of one benchmark."""
    chosen = given.chosen(SEGMENTATIONS, "segmentations", given.own("segmentation"))
    texts = given.read(TEXTS, [GIVEN, *given.own("systems"), *given.own("few_shot")])
    sources, segments = given.read(SOURCES), given.read(SEGMENTS)
    with connect(given, chosen, repeated_datasets(texts, sources)) as session:
        made = segment(texts, sources, segments, chosen, session.provide(chosen))
        asked = session.finish()
    given.note([*made.notes, *asked.notes])
    given.write(PARTS, made.parts)
    given.write(RESPONSES, asked.responses, "segment")


if __name__ == "__main__":
    enter(main)
