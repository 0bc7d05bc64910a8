"""corrupt: statements of the reference -> the same with fake words, once for all alignments."""

from metassay.tables.corruptions import CORRUPTIONS
from metassay.tables.units import UNITS
from metassay.tuning.corruption import corrupt, filler
from stages.doorway import StageIO, enter
from stages.learning import block


def main(io: StageIO) -> None:
    """Corrupt statements of the benchmark that a tuning learns from."""
    options = block(io, "corruption")
    table, notes = corrupt(io.of(io.param("from")).read(UNITS), options, filler(options))
    io.note(notes)
    io.write(CORRUPTIONS, table)


if __name__ == "__main__":
    enter(main)
