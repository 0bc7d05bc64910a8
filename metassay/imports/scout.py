"""Validations of Inspect Scout, which people made, and the results of its scans."""

from collections.abc import Iterator

from metassay.imports.record import Item, Kind, Task, judged, rated, several
from metassay.imports.records import records
from metassay.imports.values import first

_TARGET, _LABEL = "target", "label_"  # `label_NAME` of each label


def _read(task: Task) -> Iterator[Item]:
    for at, row in records(task.path, task.problems):
        people = [name for name in row if name == _TARGET or name.startswith(_LABEL)]
        said = several(rated(name.removeprefix(_LABEL), row[name]) for name in people)
        if scanner := first(row, "scanner_name", "scanner", "scanner_key"):
            failed = first(row, "scan_error", "error")
            said = tuple(judged(scanner, None if failed else first(row, "value", "label")))
        named = task.doc(row, first(row, "transcript_id", "id"))
        yield Item(at, named, task.system(row, "transcripts"), said)


KIND = Kind(
    "a validation or scan of Inspect Scout",
    ("*.csv", "*.parquet"),
    ("transcript_id scanner_name", "id target"),
    _read,
)
