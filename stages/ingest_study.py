"""ingest_study: sheets that raters filled in -> ratings of a study."""

from metassay.datasets.study import ingest_study
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.ratings import RATINGS
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    texts = io.read(TEXTS)
    file = io.path(io.param(f"studies.{io.item}"))
    sources, criteria = io.read(SOURCES), io.criteria()
    ratings, warnings = ingest_study(file, io.item, criteria, sources, texts)
    io.note(warnings)
    io.write(RATINGS, ratings, io.item)
