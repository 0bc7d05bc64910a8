"""align: statements -> the source passages each is read against, by one alignment."""

from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.documents import SOURCES
from metassay.tables.units import UNITS
from metassay.units.alignment import ALIGNMENTS as KINDS
from metassay.units.alignment.align import align_units
from stages.doorway import StageIO, program
from stages.workers import executor


@program
def main(io: StageIO) -> None:
    chosen = io.choose(KINDS, "alignments", io.item)
    with executor(io) as over:
        aligned, notes = align_units(
            io.read(SOURCES), io.read(UNITS), io.item, chosen, over
        )
    io.note(notes)
    io.write(ALIGNMENTS, aligned, io.item)
