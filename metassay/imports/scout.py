"""Inspect Scout: validations, which people wrote, and the results of scans."""

from collections.abc import Iterable, Iterator
from itertools import chain

from metassay.imports.items import (
    Item,
    Judgment,
    Task,
    Tool,
    first,
    parse_rating,
    parse_value,
)
from metassay.imports.records import records


def read(task: Task) -> Iterator[Item]:
    """Yield the rows of a validation or a scan."""
    for place, row in records(task.path, task.problems):
        scanner = first(row, "scanner_name", "scanner", "scanner_key")
        judgments: Iterable[Judgment]
        if scanner:
            failed = first(row, "scan_error", "error")
            judgments = parse_value(
                scanner, None if failed else first(row, "value", "label")
            )
        else:
            people = [
                name for name in row if name == "target" or name.startswith("label_")
            ]
            ratings = [
                parse_rating(name.removeprefix("label_"), row[name]) for name in people
            ]
            judgments = chain.from_iterable(ratings)
        yield Item(
            place=place,
            record=row,
            judgments=judgments,
            doc=first(row, "transcript_id", "id"),
            system="transcripts",
        )


TOOL = Tool(
    name="scout",
    what="a validation or scan of Inspect Scout",
    read=read,
    patterns=("*.csv", "*.parquet"),
    marks=(("transcript_id", "scanner_name"),),
    weak_marks=(("id", "target", ".csv"), ("id", "target", ".parquet")),
)
