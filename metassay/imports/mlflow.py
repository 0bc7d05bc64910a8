"""MLflow: traces with their assessments.

A correction is another assessment that names the corrected one in `overrides`; that one stays, with
`valid` false. A judge's is read nevertheless, a person's only if it is valid.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from metassay.imports.items import (
    Item,
    Judgment,
    Object,
    Task,
    Tool,
    field_of,
    first,
    objects,
    parse_value,
    text,
    unpack,
)
from metassay.imports.records import Record, records
from metassay.tabular.rows import Place

_EXPECTED = ("expected_response", "expected_answer", "expected_output")
_Pair = tuple[
    Object, Object
]  # an assessment and the one that it replaces, {} if that is missing


def read(task: Task) -> Iterator[Item]:
    """Yield the traces."""
    for place, trace in _traces(task):
        info = {**trace, **(trace.get("info") or {})}
        assessments = objects(unpack(info.get("assessments")))
        metadata = unpack(first(info, "trace_metadata", "request_metadata"))
        by_id = {first(value, "assessment_id", "id"): value for value in assessments}
        pairs = [
            (value, by_id.get(value["overrides"], {}))
            for value in assessments
            if value.get("overrides")
        ]
        expected = (
            field_of(value, "expectation.value")
            for value in assessments
            if first(value, "name", "assessment_name") in _EXPECTED
        )
        yield Item(
            place=place,
            record=info,
            judgments=chain.from_iterable(map(_judgments, _select(assessments, pairs))),
            doc=first(info, "trace_id", "request_id"),
            system=first(info, "run_id")
            or dict(metadata or {}).get("mlflow.sourceRun"),
            text=first(info, "response", "response_preview"),
            source=[text(first(info, "request", "request_preview"))],
            reference=next((value for value in expected if value), None),
            failed=str(first(info, "state", "status") or "").upper().endswith("ERROR"),
            corrected=any(
                _is_person(new) and not _is_person(old) for new, old in pairs
            ),
        )


def _traces(task: Task) -> Iterator[Record]:
    """Yield each trace of a list, or of a frame that pandas wrote with an object per column."""
    place = None
    for place, record in records(task.path, task.problems):
        yield place, record
    if not place and task.path.suffix.lower() == ".json" and not task.problems:
        columns = unpack(task.path.read_text("utf-8-sig"))
        rows = field_of(columns, "assessments")
        for row, name in enumerate(rows if isinstance(rows, Mapping) else (), start=1):
            cells = {column: field_of(cells, name) for column, cells in columns.items()}
            yield Place(task.path.name, row, "record"), cells


def _is_person(value: Object) -> bool:
    return (
        str(first(value, "source.source_type", "source_type") or "")
        .upper()
        .endswith("HUMAN")
    )


def _select(values: Sequence[Object], pairs: Sequence[_Pair]) -> Iterator[Object]:
    """Yield the assessments of judges, and the valid ones of people, that were not replaced; a
    person's correction of a judge's assessment does not replace it."""
    replaced = {id(old) for new, old in pairs if _is_person(old) or not _is_person(new)}
    for value in values:
        if id(value) not in replaced and (
            value.get("valid") is not False or not _is_person(value)
        ):
            yield value


def _judgments(value: Object) -> Iterator[Judgment]:
    failed = bool(value.get("error") or field_of(value, "feedback.error"))
    if not failed and value.get("feedback") is None:
        return
    yield from parse_value(
        first(value, "name", "assessment_name"),
        None if failed else field_of(value, "feedback.value"),
        first(value, "source.source_id", "source_id"),
        person=_is_person(value),
    )


TOOL = Tool(
    name="mlflow",
    what="traces of MLflow",
    read=read,
    patterns=("*.parquet", "*.json", "*.jsonl"),
    marks=(
        ("trace_id", "assessments"),
        ("trace_id", "assessment_id"),
        ("request_id", "assessments"),
    ),
)
