"""pair: units and their evidence -> the questions put to judges."""

from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.documents import SOURCES
from metassay.tables.pairs import PAIRS
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    options = io.options(Questions, f"questions.{io.item}")
    tables = (
        io.read(SOURCES),
        io.read(PARTS),
        io.read(UNITS),
        io.read_each(ALIGNMENTS),
    )
    io.write(PAIRS, build_pairs(*tables, options), io.item)
