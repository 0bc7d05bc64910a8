"""ingest: raw files -> sources, and the texts, ratings and scores that the dataset gives."""

from metassay.core.errors import BadInput
from metassay.core.options import GIVEN, parse
from metassay.datasets.ingest import ingest
from metassay.datasets.registry import Dataset, misplaced
from metassay.tables.criteria import CRITERIA
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty
from metassay.tables.parts import SEGMENTS
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import MEASUREMENTS
from stages.doorway import REGISTRY, Given, enter


def main(given: Given) -> None:
    """Read one benchmark's raw files with its dataset's reader."""
    name = given.own("dataset")
    dataset = parse(Dataset, given.registered(name), where=f"{REGISTRY} > datasets > {name}")
    raw = given.path(given.own("raw"))
    problems = misplaced(name, dataset, raw)
    if problems:
        raise BadInput(f"{given.entry.own} > raw: {problem}" for problem in problems)
    ingested = ingest(dataset.reader, raw, given.criteria(), dataset=name)
    given.note(ingested.warnings)
    given.write(SOURCES, ingested.sources)
    given.write(SEGMENTS, ingested.segments)
    given.write(RATINGS, ingested.ratings, GIVEN)
    given.write(TEXTS, ingested.texts, GIVEN)
    given.write(MEASUREMENTS, ingested.measurements, GIVEN)
    given.write(CRITERIA, ingested.criteria, GIVEN)
    # No reader brings questions or answers; the folders must be there for who reads them.
    given.write(PAIRS, empty(PAIRS), GIVEN)
    given.write(JUDGMENTS, empty(JUDGMENTS), GIVEN)


if __name__ == "__main__":
    enter(main)
