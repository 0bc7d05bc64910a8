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
    statements = read_statements(
        io.read(SOURCES), parts, units, io.read_each(ALIGNMENTS)
    )
    io.watch_tuned()
    chosen = io.choose(FAITHFULNESS, "statement_metrics", io.item)
    with executor(io) as over:
        table, measurements, notes = score_statements(
            statements, parts, units, io.item, chosen, setup_of(io, {}), over
        )
    io.note(notes)
    io.write(STATEMENT_SCORES, table, io.item)
    io.write(MEASUREMENTS, measurements, f"statements-{io.item}")
