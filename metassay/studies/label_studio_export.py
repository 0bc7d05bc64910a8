"""Label Studio's export (JSON) as rows that came back.

A task's submitted annotation is its row's answers. One that was skipped is a row without answers. A
task that nobody has submitted has not come back: drafts and predictions are no answers.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from metassay.datasets.decoding import UNREAD, decode, parse_json, read_bytes
from metassay.datasets.rows import Findings, Place
from metassay.errors import shown
from metassay.studies.label_studio_names import COLUMNS, COMMENT, HEADINGS, RATER, ROW
from metassay.studies.record import Returned

_REMEDY = "export the project again, in the format JSON"
_DATA = "import the tasks again as they were sent out, or take the task out"
_ONE = "keep the rater's one annotation of the task, delete the others, and export again"
_AGAIN = "answer the task again, and export again"


class _NotSoundError(Exception):
    """What is wrong with a task, and what to do."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.remedy = remedy


def read(path: Path, problems: Findings) -> list[Returned]:
    """The rows of one file: a list of tasks with their annotations."""
    data = read_bytes(path, problems, remedy=_REMEDY)
    text = decode(data, path, problems) if data is not None else None
    tasks = parse_json(text, Place(path.name), problems) if text is not None else UNREAD
    if tasks is UNREAD:
        return []
    if not isinstance(tasks, list):
        problems.add(Place(path.name), "is no list of tasks", _REMEDY)
        return []
    rows: list[Returned] = []
    users: dict[str, dict[str, Place]] = {}  # who annotated, by rater
    for number, task in enumerate(tasks, start=1):
        at = Place(path.name, _label(task, number), "task")
        try:
            annotation, row = _row(task, at)
        except _NotSoundError as error:
            problems.add(at, str(error), error.remedy)
            continue
        if row is not None:
            rows.append(row)
            users.setdefault(row.rater, {}).setdefault(_user(annotation), at)
    for rater, places in users.items():
        for at in list(places.values())[1:]:
            what = f"the tasks of rater {shown(rater)} were annotated under {len(places)} accounts"
            fix = "keep the rater's own annotations; if all are, make their completed_by the same"
            problems.add(at, what, fix)
    return rows


def _label(task: Any, number: int) -> int | str:
    """A task's id; its place in the list where it has none."""
    known = task.get("id") if isinstance(task, dict) else None
    return known if type(known) is int else f"{number} of the list"


def _row(task: Any, at: Place) -> tuple[Mapping[str, Any], Returned | None]:
    if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
        raise _NotSoundError("has no data", _REMEDY)
    annotations = task.get("annotations")
    if not isinstance(annotations, list) or not all(isinstance(a, dict) for a in annotations):
        raise _NotSoundError("has no list of annotations", f"{_REMEDY} (not JSON-MIN)")
    data = task["data"]
    rater, row = (_text(data.get(name), f"data > {name}") for name in (RATER, ROW))
    headings, columns = (_names(data.get(name), name) for name in (HEADINGS, COLUMNS))
    texts = {heading: _text(data.get(n), f"data > {n}") for n, heading in headings.items()}
    submitted = [one for one in annotations if not _is_skipped(one)]
    if len(submitted) > 1:
        raise _NotSoundError(f"has {len(submitted)} submitted annotations", _ONE)
    if not annotations:
        return {}, None
    annotation = (submitted or annotations)[0]
    answers, comment = dict.fromkeys(columns.values(), ""), ""
    for name, said in _said(annotation if submitted else {"result": []}):
        if name == COMMENT:
            comment = said
        else:
            answers[columns.get(name, name)] = said
    return annotation, Returned(at, rater, row, texts, answers, comment)


def _is_skipped(annotation: Mapping[str, Any]) -> bool:
    skipped = annotation.get("was_cancelled", False)
    if not isinstance(skipped, bool):
        raise _NotSoundError("has an annotation whose was_cancelled is not true or false", _REMEDY)
    return skipped


def _said(annotation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is answered by each control, as text."""
    results = annotation.get("result")
    if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
        raise _NotSoundError("has an annotation without a list of results", _REMEDY)
    seen = set()
    for one in results:
        if one.get("type") == "relation":
            continue  # says nothing of a control
        name = one.get("from_name")
        if not isinstance(name, str):
            raise _NotSoundError("has a result without from_name", _AGAIN)
        if name in seen:
            raise _NotSoundError(f"has two results of control {shown(name)}", _AGAIN)
        seen.add(name)
        yield name, _value(one, name)


def _value(result: Mapping[str, Any], name: str) -> str:
    kind, value = result.get("type"), result.get("value")
    key = "text" if kind == "textarea" else kind
    said = value.get(key, UNREAD) if isinstance(value, dict) and isinstance(key, str) else UNREAD
    if kind == "number" and isinstance(said, int | float) and not isinstance(said, bool):
        return repr(said)
    texts = [said] if isinstance(said, str) else said
    if isinstance(texts, list) and all(isinstance(one, str) for one in texts):
        if key == "text":
            return _text("\n".join(texts), f"control {name}")
        if len(texts) < 2:
            return _text("".join(texts), f"control {name}")
        what = f"has {len(texts)} answers of control {shown(name)}, which takes one"
        raise _NotSoundError(what, _AGAIN)
    raise _NotSoundError(f"has a result of control {shown(name)} that cannot be read", _AGAIN)


def _names(value: Any, name: str) -> dict[str, str]:
    """A mapping of names to what they stand for, no two for the same."""
    if isinstance(value, dict):
        named = {key: _text(one, f"data > {name}") for key, one in value.items()}
        if len(set(named.values())) == len(named):
            return named
    raise _NotSoundError(f"its data have no {name}, or were changed", _DATA)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise _NotSoundError(f"{name} is no text", _DATA)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise _NotSoundError(f"{name} holds half a character", _AGAIN) from None
    return value


def _user(annotation: Mapping[str, Any]) -> str:
    """Who annotated: a number, or all that the export says of the account."""
    return json.dumps(annotation.get("completed_by"), sort_keys=True)
