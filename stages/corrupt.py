"""corrupt: statements of the reference -> the same with fake words, once for all alignments."""

from metassay.tables.corruptions import CORRUPTIONS
from metassay.tables.units import UNITS
from metassay.tuning.corruption import corrupt, make_filler
from stages.doorway import StageIO, program
from stages.learning import block


@program
def main(io: StageIO) -> None:
    options = block(io, "corruption")
    table, notes = corrupt(
        io.benchmark_io(io.param("from")).read(UNITS), options, make_filler(options)
    )
    io.note(notes)
    io.write(CORRUPTIONS, table)
