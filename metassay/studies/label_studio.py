"""Sheets as Label Studio tasks with the labelling config that fits them, and its export read back.

A project per rater: import `<rater>.json` as its tasks, paste `<rater>.xml` as its labelling
interface and `<rater>.html` as its instructions. The open-source edition deals no tasks out to
people, so what a rater is to see has to be a project of the rater's own; and since a task says
whose it is, it does not matter under which account, or on which machine, it is annotated. A task is
a row of the sheet, in the rater's order.

Of what raters read only headings and the words of answers are in the config; texts and questions
come with the tasks, where no `<`, `&` or `$` means anything.
"""

import html
import json
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from metassay.core.errors import shown
from metassay.studies.record import Choice, Format, Item, Question, Returned, Sheet, SheetRow
from metassay.studies.sheets import COMMENT, RATER, ROW, allowed
from metassay.tabular.decoding import UNREAD, decode, parse_json, read_bytes
from metassay.tabular.rows import Findings, Place

# Names that tasks, config and results share; a number follows those that end in _. `headings` and
# `columns` of a task's data say what the numbered names of that task stand for.
HEADINGS, COLUMNS = "headings", "columns"
TEXT, ASKS, CHOICES, ANSWER = "text_", "asks_", "choices_", "answer_"

_NOT_ASKED = "(nothing is asked here)"
_HOW = (
    "Answer each task and submit it. Leave a field alone where you cannot say, or skip the task"
    " where you can say nothing. Anything else that you want to say goes into the comment.",
)
_SCROLLS = "max-height: 24em; overflow-y: auto; margin-bottom: 1em"


def _write(sheet: Sheet, folder: Path) -> list[str]:
    names = [f"{sheet.rater}.json", f"{sheet.rater}.xml", f"{sheet.rater}.html"]
    own = {column: _own(questions) for column, questions in _asked(sheet).items()}
    tasks = [{"data": _task(sheet, item, row, own)} for item in sheet.items for row in item.rows]
    paragraphs = (*sheet.instructions, *_HOW, *allowed(sheet))
    told = "".join(f"<p>{html.escape(one.strip())}</p>\n" for one in paragraphs)
    contents = (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", config(sheet), told)
    for name, content in zip(names, contents, strict=True):
        (folder / name).write_bytes(content.encode("utf-8", "replace"))
    return names


def config(sheet: Sheet) -> str:
    """The labelling config of a rater's project: what is read, then a control for each column.

    Where all rows ask the same of a column, its answers are in the config; else each task brings
    its own, and a task that doesn't ask it brings none.
    """
    view = ET.Element("View")
    _add(view, "Text", name=ROW, value=f"${ROW}")
    for place, heading in enumerate(sheet.headings, start=1):
        _add(view, "Header", value=_plain(heading), size="5")
        inner = _add(view, "View", style=_SCROLLS)
        _add(inner, "Text", name=f"{TEXT}{place}", value=f"${TEXT}{place}", valueType="text")
    for place, asked in enumerate(_asked(sheet).values(), start=1):
        _add(view, "Header", value=f"${ASKS}{place}", size="4")
        _add_control(view, place, asked)
    _add(view, "Header", value="comment", size="5")
    _add(view, "TextArea", name=COMMENT, toName=ROW, rows="2", maxSubmissions="1", editable="true")
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def _add_control(view: ET.Element, place: int, asked: Collection[Question | None]) -> None:
    questions = [one for one in asked if one is not None]
    name = {"name": f"{ANSWER}{place}", "toName": ROW}
    if all(one.kind == "number" for one in questions):
        low, high = min(one.low for one in questions), max(one.high for one in questions)
        step = "1" if all(one.whole for one in questions) else "any"
        _add(view, "Number", **name, min=f"{low:g}", max=f"{high:g}", step=step)
    elif not _own(asked):
        control = _add(view, "Choices", **name, choice="single", showInline="true")
        for choice in questions[0].choices:
            _add(control, "Choice", **_choice(choice))
    else:
        _add(view, "Choices", **name, choice="single", value=f"${CHOICES}{place}")


def _task(sheet: Sheet, item: Item, row: SheetRow, own: Mapping[str, bool]) -> dict[str, Any]:
    """The data of one task; what a row lacks that others have is there, and empty.

    `own`: the columns whose answers each task brings.
    """
    texts, asked = dict((*item.shown, *row.shown)), {one.column: one for one in row.asks}
    columns = list(enumerate(sheet.columns, start=1))
    data: dict[str, Any] = {
        RATER: sheet.rater,
        ROW: row.id,
        HEADINGS: {
            f"{TEXT}{place}": heading
            for place, heading in enumerate(sheet.headings, start=1)
            if heading in texts
        },
        COLUMNS: {f"{ANSWER}{place}": column for place, column in columns if column in asked},
    }
    for place, heading in enumerate(sheet.headings, start=1):
        data[f"{TEXT}{place}"] = texts.get(heading, "")
    for place, column in columns:
        one = asked.get(column)
        data[f"{ASKS}{place}"] = _NOT_ASKED if one is None else f"{one.asks} ({one.allowed})"
        if own[column]:
            data[f"{CHOICES}{place}"] = list(map(_choice, one.choices)) if one else []
    return data


def _asked(sheet: Sheet) -> dict[str, set[Question | None]]:
    """The questions of each column, in the sheet's order; None if a row asks none of it."""
    rows = [{one.column: one for one in row.asks} for item in sheet.items for row in item.rows]
    return {column: {row.get(column) for row in rows} for column in sheet.columns}


def _own(asked: Collection[Question | None]) -> bool:
    """Whether each task brings the answers of this column: not all rows have the same ones."""
    return len(asked) > 1 and any(one is not None and one.choices for one in asked)


def _choice(choice: Choice) -> dict[str, str]:
    said = {"value": _plain(choice.word), "hint": _plain(choice.means)}
    return {name: text for name, text in said.items() if text}


def _add(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    return ET.SubElement(parent, tag, attributes)


def _plain(text: str) -> str:
    """In one line, and without characters that XML cannot hold."""
    return " ".join("".join(_characters(text)).split())


def _characters(text: str) -> Iterator[str]:
    for character in text:
        odd = unicodedata.category(character) in ("Cc", "Cs") or ord(character) & 0xFFFE == 0xFFFE
        yield " " if odd else character


# ---- the export, read back: JSON ---------------------------------------------------------------
# A task's submitted annotation is its row's answers. One that was skipped is a row without answers.
# A task that nobody has submitted has not come back: drafts and predictions are no answers.

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


KIND = Format(name="label-studio", endings=(".json",), write=_write, read=read)
