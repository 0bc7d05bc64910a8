"""ingest_items: raw files -> the items of a test of judges: questions, right answers, verdicts."""

from metassay.core.options import FROM_DATASET
from metassay.labelled.ingest import ingest_items
from metassay.labelled.types import chosen_test, reader_problem
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty
from metassay.tables.ratings import RATINGS
from metassay.tables.responses import RESPONSES
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    reader = io.reader()
    test = chosen_test(
        io.param("test"), io.param("options"), where=io.entry.params_file
    )
    raw = io.raw(reader_problem(io.param("test"), reader))
    name, judges = io.param("dataset"), io.param("judges")
    ingested = ingest_items(test, reader, raw, dataset=name, judges=judges)
    io.note(ingested.warnings)
    io.write(GOLD, ingested.gold)
    io.write(RATINGS, ingested.ratings)
    io.write(PAIRS, ingested.pairs, FROM_DATASET)
    io.write(GIVEN_VERDICTS, ingested.verdicts)
    # Later stages read these folders, though no reader has judgments of single
    # premises.
    io.write(JUDGMENTS, empty(JUDGMENTS), FROM_DATASET)
    io.write(RESPONSES, empty(RESPONSES), FROM_DATASET)
