"""Experiments and results of Ragas as CSV, and the annotations of its judges as JSON.

In annotations the judge's value is `metric_output`, and the person's is `target` alone: that
somebody accepted an output is no value of theirs, and would agree with the judge by itself.
"""

import ast
from collections.abc import Iterator

from metassay.imports.record import Item, Judgment, Kind, Object, Task, judged, rated, several
from metassay.imports.records import parts, rows_of
from metassay.imports.values import digest, field, first, text, texts
from metassay.tabular.rows import Place
from metassay.tabular.sheet import Sheet, read_sheet

_QUESTION, _ANSWER = ("user_input", "question"), ("response", "answer")
_CONTEXTS = ("retrieved_contexts", "contexts")
_REFERENCE = ("reference", "ground_truth", "ground_truths")
_PERSON = "target"
_BESIDE = {*_QUESTION, *_ANSWER, *_CONTEXTS, *_REFERENCE, _PERSON, "id", "index", "row_id"}


def _read(task: Task) -> Iterator[Item]:
    if task.path.suffix.lower() == ".json":
        yield from _annotations(task)
        return
    sheet = read_sheet(task.path, task.problems)
    metrics = [name for name in sheet.columns if _is_metric(sheet, name, task)] if sheet else []
    for at, row in rows_of(sheet) if sheet else ():
        scored = (judged(name, row[name]) for name in metrics)
        yield _item(task, at, row, several((*scored, rated(_PERSON, row.get(_PERSON)))))


def _is_metric(sheet: Sheet, name: str, task: Task) -> bool:
    """A column of numbers, or one that is called as the judge's labels are."""
    free = name not in {*_BESIDE, task.doc_field, task.system_field}
    return free and (name.endswith("_label") or sheet.share_of_numbers(name) > 0.5)


def _item(task: Task, at: Place, row: Object, judgments: tuple[Judgment, ...]) -> Item:
    asks = first(row, *_QUESTION)
    return Item(
        *(at, task.doc(row, first(row, "id") or (digest(asks) if asks else at.row))),
        task.system(row, None),
        judgments,
        text(first(row, *_ANSWER)),
        texts(text(asks), _listed(first(row, *_CONTEXTS))),
        text(first(row, *_REFERENCE)),
    )


def _listed(cell: object) -> object:
    """A list that stands in a cell as Python writes it."""
    try:
        return ast.literal_eval(cell) if isinstance(cell, str) and cell.startswith("[") else cell
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return cell


def _annotations(task: Task) -> Iterator[Item]:
    """{metric: [{metric_input, metric_output, target, ...}]}"""
    accepted = 0
    found = parts(task.path, lambda steps: len(steps) == 1, task.problems)
    for number, part in enumerate((one for one in found if one.listed), start=1):
        at, name, one = Place(task.path.name, number, "record"), part.steps[0], part.value
        said, target = field(one, "metric_output"), field(one, "target")
        accepted += bool(field(one, "is_accepted")) and target is None
        judgments = several((judged(name, said), rated(name, target)))
        item = _item(task, at, field(one, "metric_input") or {}, judgments)
        yield item._replace(corrected=target not in (None, said))
    what = "outputs are accepted without a target, which is no rating"
    task.note(accepted, what, "give a target where somebody rated")


KIND = Kind(
    "an experiment or annotations of Ragas",
    ("*.csv", "*.json"),
    ("user_input", "question answer", "metric_input metric_output"),
    _read,
)
