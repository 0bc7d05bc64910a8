"""align: statements -> the source passages each is read against."""

from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.documents import SOURCES
from metassay.tables.units import UNITS
from metassay.units.alignment import ALIGNMENTS as KINDS
from metassay.units.alignment.align import align_units
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Align the statements of one benchmark."""
    name = given.own("alignment")
    chosen = given.chosen(KINDS, "alignments", name)
    aligned = align_units(given.read(SOURCES), given.read(UNITS), name, chosen)
    given.write(ALIGNMENTS, aligned)


if __name__ == "__main__":
    enter(main)
