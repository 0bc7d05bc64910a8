"""ingest: raw files -> sources, and the texts, ratings and scores that the dataset gives."""

from metassay.datasets.ingest import ingest
from metassay.datasets.registry import Dataset
from metassay.options import GIVEN, parse
from metassay.parquet import empty
from metassay.tables import JUDGMENTS, MEASUREMENTS, PAIRS, RATINGS, SOURCES, TEXTS
from stages.doorway import REGISTRY, Given, enter, warn


def main(given: Given) -> None:
    """Read one benchmark's raw files with its dataset's reader."""
    name = given.own("dataset")
    dataset = parse(Dataset, given.registered(name), where=f"{REGISTRY} > datasets > {name}")
    ingested = ingest(dataset.reader, given.path(given.own("raw")), given.criteria())
    warn(ingested.warnings)
    given.write(SOURCES, ingested.sources)
    given.write(RATINGS, ingested.ratings)
    given.write(TEXTS, ingested.texts, GIVEN)
    given.write(MEASUREMENTS, ingested.measurements, GIVEN)
    # No reader brings questions or answers yet; the folders must be there for who reads them.
    given.write(PAIRS, empty(PAIRS), GIVEN)
    given.write(JUDGMENTS, empty(JUDGMENTS), GIVEN)


if __name__ == "__main__":
    enter(main)
