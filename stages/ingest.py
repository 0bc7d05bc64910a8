"""ingest: raw files -> sources, and the texts, ratings and scores that the dataset gives."""

from pathlib import Path

from metassay.datasets.ingest import ingest
from metassay.datasets.registry import find, load_registry
from metassay.params import load
from metassay.tables import MEASUREMENTS, RATINGS, SOURCES, TEXTS, write
from stages.doorway import enter, table, warn


def main(key: str) -> None:
    """Read one benchmark's raw files with its dataset's reader."""
    benchmark = load().benchmarks[key]
    dataset = find(load_registry(), benchmark.dataset)
    ingested = ingest(dataset.reader, Path(benchmark.raw), benchmark.criteria)
    warn(ingested.warnings)
    write(SOURCES, ingested.sources, table(key, "sources"))
    write(TEXTS, ingested.texts, table(key, "texts/given"))
    write(RATINGS, ingested.ratings, table(key, "ratings"))
    write(MEASUREMENTS, ingested.measurements, table(key, "measurements/given"))


if __name__ == "__main__":
    enter(main)
