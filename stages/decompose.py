"""decompose: parts -> units (statements with their citations, and claims)."""

from metassay.llm.needs import RELEASED_CLAIMS
from metassay.tables.documents import SOURCES
from metassay.tables.parts import PARTS
from metassay.tables.responses import RESPONSES
from metassay.tables.units import UNITS
from metassay.units import DECOMPOSITIONS
from stages.connect import check_folder, connect
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    decomposition = io.chosen(DECOMPOSITIONS, "decompositions", io.item)
    check_folder(io, decomposition, RELEASED_CLAIMS)
    parts, sources = io.read(PARTS), io.read(SOURCES)
    repeated = [name for names in parts["repeats"] for name in names]
    with connect(io, decomposition, [*sources["dataset"], *repeated]) as session:
        apart = decomposition.record.take_apart(
            parts, sources, decomposition.options, session.provide(decomposition)
        )
        asked = session.finish()
    io.note([*apart.warnings, *asked.notes])
    io.write(UNITS, apart.units)
    io.write(RESPONSES, asked.responses, "decompose")
