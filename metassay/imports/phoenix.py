"""Phoenix: a row per annotation of a span."""

from collections.abc import Iterator

from metassay.imports.items import Item, Task, Tool, first, parse_value
from metassay.imports.records import records


def read(task: Task) -> Iterator[Item]:
    """Yield the annotations; several HUMAN ones of a name are raters."""
    for place, row in records(task.path, task.problems):
        person = str(row.get("annotator_kind") or "").upper() == "HUMAN"
        by = first(row, "identifier", "user_id", "username") if person else ""
        score, label = (
            first(row, "result.score", "score"),
            first(row, "result.label", "label"),
        )
        yield Item(
            place=place,
            record=row,
            judgments=parse_value(
                first(row, "annotation_name", "name"),
                label if score is None else score,
                by,
                person=person,
                label=label,
            ),
            doc=first(row, "span_id", "context.span_id", "__index_level_0__", "index"),
            system=None,
        )


TOOL = Tool(
    name="phoenix",
    what="annotations of Phoenix",
    read=read,
    patterns=("*.parquet", "*.csv", "*.json"),
    marks=(("annotator_kind",),),
)
