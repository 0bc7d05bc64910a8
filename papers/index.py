"""All papers, each with the records of its figures and tables in the order of docs/figures.md."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from metassay.core.options import BENCHMARKS
from papers import adams, benabacha, doclens, fm, simsum
from papers.record import Record

PAPERS: Mapping[str, Sequence[Record]] = {
    "doclens": doclens.RECORDS,
    "fm": fm.RECORDS,
    "adams": adams.RECORDS,
    "benabacha": benabacha.RECORDS,
    "simsum": simsum.RECORDS,
}


def find_records(root: Path) -> dict[str, list[Record]]:
    """Return all records by paper; those open for benchmarks that `root` has are open no more."""
    return {
        paper: [_drop_open(record, root) for record in records]
        for paper, records in PAPERS.items()
    }


def _drop_open(record: Record, root: Path) -> Record:
    benchmarks = {numbers.benchmark for numbers in record.all_numbers}
    folders = [root / BENCHMARKS / name for name in benchmarks]
    if record.open and folders and all(folder.is_dir() for folder in folders):
        return replace(record, open=None)
    return record
