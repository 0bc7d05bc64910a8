"""ingest: raw files -> sources, and the texts, ratings and scores that the dataset has."""

from metassay.core.options import FROM_DATASET
from metassay.datasets.ingest import ingest
from metassay.tables.criteria import CRITERIA
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty
from metassay.tables.parts import SEGMENTS
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import MEASUREMENTS
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    ingested = ingest(io.reader(), io.raw(), io.criteria(), dataset=io.param("dataset"))
    io.note(ingested.warnings)
    io.write(SOURCES, ingested.sources)
    io.write(SEGMENTS, ingested.segments)
    io.write(RATINGS, ingested.ratings, FROM_DATASET)
    io.write(TEXTS, ingested.texts, FROM_DATASET)
    io.write(MEASUREMENTS, ingested.measurements, FROM_DATASET)
    io.write(CRITERIA, ingested.criteria, FROM_DATASET)
    # Later stages read these folders, though no reader has questions or answers.
    io.write(PAIRS, empty(PAIRS), FROM_DATASET)
    io.write(JUDGMENTS, empty(JUDGMENTS), FROM_DATASET)
