"""align: statements -> the source passages each is read against."""

from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.documents import SOURCES
from metassay.tables.units import UNITS
from metassay.units.alignment import ALIGNMENTS as KINDS
from metassay.units.alignment.align import align_units
from stages.doorway import StageIO, enter


def main(io: StageIO) -> None:
    """Align the statements of one benchmark."""
    name = io.param("alignment")
    chosen = io.chosen(KINDS, "alignments", name)
    aligned, notes = align_units(io.read(SOURCES), io.read(UNITS), name, chosen)
    io.note(notes)
    io.write(ALIGNMENTS, aligned)


if __name__ == "__main__":
    enter(main)
