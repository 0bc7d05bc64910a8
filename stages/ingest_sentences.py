"""ingest_sentences: raw files -> the texts of a test of segmentations, and their right labels."""

from metassay.core.options import FROM_DATASET
from metassay.core.params import SEGMENTATION
from metassay.labelled.segmentations import ingest_sentences
from metassay.labelled.types import reader_problem, segment_options
from metassay.tables.documents import TEXTS
from metassay.tables.sentences import SENTENCES
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    reader = io.reader()
    options = segment_options(io.param("options"), where=io.entry.params_file)
    ingested = ingest_sentences(
        reader, io.raw(reader_problem(SEGMENTATION, reader)), options
    )
    io.note(ingested.warnings)
    io.write(TEXTS, ingested.texts, FROM_DATASET)
    io.write(SENTENCES, ingested.sentences)
