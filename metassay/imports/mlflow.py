"""Traces of MLflow with their assessments: `search_traces()` saved as JSON or Parquet.

Who corrects an assessment adds another one that names it in `overrides`; the first one stays, with
`valid` false. That one is the judge's, and is read; of people only what holds.
"""

from collections.abc import Iterator, Mapping, Sequence

from metassay.imports.record import Item, Judgment, Kind, Object, Task, judged, several
from metassay.imports.records import Record, records
from metassay.imports.values import field, first, objects, text, texts, unpacked
from metassay.tabular.rows import Place

_EXPECTED = ("expected_response", "expected_answer", "expected_output")


def _read(task: Task) -> Iterator[Item]:
    for at, trace in _traces(task):
        info = {**trace, **(trace.get("info") or {})}
        each = objects(unpacked(info.get("assessments")))
        metadata = unpacked(first(info, "trace_metadata", "request_metadata"))
        run = first(info, "run_id") or dict(metadata or {}).get("mlflow.sourceRun")
        over = _overriding(each)
        yield Item(
            *(at, task.doc(info, first(info, "trace_id", "request_id"))),
            task.system(info, run),
            several(map(_assessment, _kept(each, over))),
            text(first(info, "response", "response_preview")),
            texts(text(first(info, "request", "request_preview"))),
            text(next(filter(None, map(_expected, each)), None)),
            failed=str(first(info, "state", "status") or "").upper().endswith("ERROR"),
            corrected=any(_is_person(one) and not _is_person(former) for one, former in over),
        )


def _traces(task: Task) -> Iterator[Record]:
    """Each trace; pandas writes a frame as an object per column unless it is told otherwise."""
    found = False
    for record in records(task.path, task.problems):
        found = True
        yield record
    if found or task.path.suffix.lower() != ".json" or task.problems:
        return
    columns = unpacked(task.path.read_text("utf-8-sig"))
    rows = field(columns, "assessments")
    for row, name in enumerate(rows if isinstance(rows, Mapping) else (), start=1):
        cells = {column: field(cells, name) for column, cells in columns.items()}
        yield Place(task.path.name, row, "record"), cells


def _is_person(one: Object) -> bool:
    return str(first(one, "source.source_type", "source_type") or "").upper().endswith("HUMAN")


def _overriding(each: Sequence[Object]) -> list[tuple[Object, Object]]:
    """Each assessment that replaces another one, and that one; {} where it is not there."""
    by_id = {first(one, "assessment_id", "id"): one for one in each}
    return [(one, by_id.get(one["overrides"], {})) for one in each if one.get("overrides")]


def _kept(each: Sequence[Object], over: Sequence[tuple[Object, Object]]) -> Iterator[Object]:
    """The judges' own, and what holds of people's; a judge that judged again replaces itself."""
    again = {id(former) for one, former in over if not _is_person(one)}
    gone = {id(former) for one, former in over if _is_person(former)}
    for one in each:
        holds = one.get("valid") is not False or not _is_person(one)
        if holds and id(one) not in (gone if _is_person(one) else again):
            yield one


def _assessment(one: Object) -> Iterator[Judgment]:
    failed = bool(one.get("error") or field(one, "feedback.error"))
    if failed or one.get("feedback") is not None:
        value = None if failed else field(one, "feedback.value")
        by = first(one, "source.source_id", "source_id")
        name = first(one, "name", "assessment_name")
        yield from judged(name, value, by, person=_is_person(one))


def _expected(one: Object) -> object:
    named = first(one, "name", "assessment_name") in _EXPECTED
    return field(one, "expectation.value") if named else None


KIND = Kind(
    "traces of MLflow",
    ("*.parquet", "*.json", "*.jsonl"),
    ("trace_id assessments", "trace_id assessment_id", "request_id assessments"),
    _read,
)
