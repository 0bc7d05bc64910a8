"""decompose: parts -> units (statements with their citations, and claims)."""

from metassay.llm.needs import RELEASED_CLAIMS
from metassay.tables.documents import SOURCES
from metassay.tables.parts import PARTS
from metassay.tables.responses import RESPONSES
from metassay.tables.units import UNITS
from metassay.units import DECOMPOSITIONS
from metassay.units.record import take_apart
from metassay.units.statements import lead_in_notes
from stages.connect import check_folder, connect
from stages.doorway import StageIO, program
from stages.workers import executor


@program
def main(io: StageIO) -> None:
    decomposition = io.choose(DECOMPOSITIONS, "decompositions", io.item)
    check_folder(io, decomposition, RELEASED_CLAIMS)
    parts, sources = io.read(PARTS), io.read(SOURCES)
    repeated = [name for names in parts["repeats"] for name in names]
    repeated += sources["dataset"].tolist()
    with (
        connect(io, decomposition, repeated) as session,
        executor(io, repeated) as over,
    ):
        decomposed = take_apart(
            parts, sources, decomposition, session.provide(decomposition), over
        )
        answers = session.finish()
    io.note([*decomposed.warnings, *lead_in_notes(parts), *answers.notes])
    io.write(UNITS, decomposed.units)
    io.write(RESPONSES, answers.responses, "decompose")
