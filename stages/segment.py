"""segment: texts -> parts (SOAP sections, facets, or the whole)."""

from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.parts import PARTS, SEGMENTS
from metassay.tables.responses import RESPONSES
from metassay.units import SEGMENTATIONS
from metassay.units.segment import repeated_datasets, segment
from stages.connect import connect
from stages.doorway import StageIO, program
from stages.workers import executor


@program
def main(io: StageIO) -> None:
    chosen = io.choose(SEGMENTATIONS, "segmentations", io.param("segmentation"))
    texts = io.read(TEXTS)
    sources, segments = io.read(SOURCES), io.read(SEGMENTS)
    repeated = repeated_datasets(texts, sources)
    with connect(io, chosen, repeated) as session, executor(io, repeated) as over:
        parts, notes = segment(
            texts, sources, segments, chosen, session.provide(chosen), over
        )
        answers = session.finish()
    io.note([*notes, *answers.notes])
    io.write(PARTS, parts)
    io.write(RESPONSES, answers.responses, "segment")
