"""Annotations of any project of Label Studio, exported as JSON.

Rows of `metassay study` come back through `metassay study import` instead.
"""

from collections import Counter
from collections.abc import Iterator

from metassay.core.errors import shown
from metassay.imports.record import Item, Judgment, Kind, Object, Task, rated, several
from metassay.imports.records import records
from metassay.imports.values import first, objects, text, texts
from metassay.tabular.column_synonyms import USUAL, Role

_VALUES = ("rating", "number", "choices")  # of what is asked; other types mark or remark


def _read(task: Task) -> Iterator[Item]:
    unread: Counter[str] = Counter()
    for at, one in records(task.path, task.problems):
        data = one.get("data") or {}
        usual = {role: first(data, *names) for role, names in USUAL.items()}
        submitted = [a for a in objects(one.get("annotations")) if not a.get("was_cancelled")]
        yield Item(
            *(at, task.doc(data, usual[Role.DOC] or one.get("id"))),
            task.system(data, usual[Role.SYSTEM]),
            several(_answers(annotation, unread) for annotation in submitted),
            text(usual[Role.TEXT]),
            texts(text(usual[Role.SOURCE])),
            text(usual[Role.REFERENCE]),
        )
    for kind, count in unread.items():
        what = f"results of type {shown(kind)} are no ratings, and not read"
        task.note(count, what, "rate by choices, a rating or a number")


def _answers(annotation: Object, unread: Counter[str]) -> Iterator[Judgment]:
    by = first(annotation, "completed_by.email", "completed_by.id", "completed_by")
    for result in objects(annotation.get("result")):
        value = result.get("value") or {}
        said = next((value[kind] for kind in _VALUES if value.get(kind) is not None), None)
        if said is None:
            unread[str(result.get("type") or "unknown")] += 1
        chosen = " | ".join(map(str, said)) if isinstance(said, list) else said
        yield from rated(result.get("from_name"), chosen, by)


KIND = Kind("an export of Label Studio", ("*.json",), ("annotations data",), _read)
