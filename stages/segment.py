"""segment: texts -> parts (SOAP sections, or the whole)."""

from metassay.params import load, options_of
from metassay.tables import PARTS, SOURCES, TEXTS, read, write
from metassay.units import SEGMENTATIONS, segment
from stages.doorway import enter, table


def main(key: str) -> None:
    """Divide every text of one benchmark."""
    params = load()
    name = params.benchmarks[key].segmentation
    block = params.segmentations[name]
    options = options_of(block, SEGMENTATIONS, where=f"params.yaml > segmentations > {name}")
    parts = segment(read(TEXTS, table(key, "texts")), read(SOURCES, table(key, "sources")), options)
    write(PARTS, parts, table(key, "parts"))


if __name__ == "__main__":
    enter(main)
