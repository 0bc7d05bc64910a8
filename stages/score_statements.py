"""score_statements: statements and their passages -> scores by one block of models."""

from metassay.metrics.faithfulness import FAITHFULNESS
from metassay.scoring.aggregation.statements import read_statements, score_statements
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.documents import SOURCES
from metassay.tables.parts import PARTS
from metassay.tables.scores import MEASUREMENTS
from metassay.tables.statement_scores import STATEMENT_SCORES
from metassay.tables.units import UNITS
from stages.doorway import StageIO, program
from stages.setup import setup_of
from stages.workers import executor


@program
def main(io: StageIO) -> None:
    parts, units = io.read(PARTS), io.read(UNITS)
    read = read_statements(io.read(SOURCES), parts, units, io.read_each(ALIGNMENTS))
    io.watch_tuned()
    chosen = io.chosen(FAITHFULNESS, "statement_metrics", io.item)
    with executor(io) as over:
        made = score_statements(read, parts, units, io.item, chosen, setup_of(io, {}), over)
    table, measurements, notes = made
    io.note(notes)
    io.write(STATEMENT_SCORES, table, io.item)
    io.write(MEASUREMENTS, measurements, f"statements-{io.item}")
