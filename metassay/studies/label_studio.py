"""Sheets as Label Studio tasks with the labelling config that fits them, and its export read back.

A project per rater, since the open-source edition deals no tasks out to people: `<rater>.json` has
its tasks, `<rater>.xml` its interface, `<rater>.html` its instructions. A task is a row of the
sheet, and says whose it is. Texts and questions come with the tasks, where no `<`, `&` or `$` means
anything.
"""

import html
import json
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree as ET

from metassay.core.errors import shown
from metassay.studies.record import Choice, Format, Item, Question, Returned, Sheet, SheetRow
from metassay.studies.sheets import COMMENT, RATER, ROW, allowed
from metassay.tabular.decoding import json_list
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
    ET.SubElement(view, "Text", name=ROW, value=f"${ROW}")
    for place, heading in enumerate(sheet.headings, start=1):
        ET.SubElement(view, "Header", value=_plain(heading), size="5")
        inner = ET.SubElement(view, "View", style=_SCROLLS)
        ET.SubElement(
            inner, "Text", name=f"{TEXT}{place}", value=f"${TEXT}{place}", valueType="text"
        )
    for place, asked in enumerate(_asked(sheet).values(), start=1):
        ET.SubElement(view, "Header", value=f"${ASKS}{place}", size="4")
        _add_control(view, place, asked)
    ET.SubElement(view, "Header", value="comment", size="5")
    ET.SubElement(
        view, "TextArea", name=COMMENT, toName=ROW, rows="2", maxSubmissions="1", editable="true"
    )
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def _add_control(view: ET.Element, place: int, asked: Collection[Question | None]) -> None:
    questions = [one for one in asked if one is not None]
    name = {"name": f"{ANSWER}{place}", "toName": ROW}
    if all(one.kind == "number" for one in questions):
        low, high = min(one.low for one in questions), max(one.high for one in questions)
        step = "1" if all(one.whole for one in questions) else "any"
        ends = {"min": f"{low:g}", "max": f"{high:g}", "step": step}
        ET.SubElement(view, "Number", name | ends)
    elif not _own(asked):
        control = ET.SubElement(view, "Choices", name, choice="single", showInline="true")
        for choice in questions[0].choices:
            ET.SubElement(control, "Choice", _choice(choice))
    else:
        ET.SubElement(view, "Choices", name, choice="single", value=f"${CHOICES}{place}")


def _task(sheet: Sheet, item: Item, row: SheetRow, own: Mapping[str, bool]) -> dict[str, Any]:
    """The data of one task; what a row lacks that others have is there, and empty.

    `own`: the columns whose answers each task brings.
    """
    texts, asked = dict((*item.shown, *row.shown)), {one.column: one for one in row.asks}
    headings, columns = (list(enumerate(o, start=1)) for o in (sheet.headings, sheet.columns))
    data: dict[str, Any] = {
        RATER: sheet.rater,
        ROW: row.id,
        HEADINGS: {f"{TEXT}{place}": name for place, name in headings if name in texts},
        COLUMNS: {f"{ANSWER}{place}": column for place, column in columns if column in asked},
        **{f"{TEXT}{place}": texts.get(name, "") for place, name in headings},
    }
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


def _plain(text: str) -> str:
    """In one line, and without characters that XML cannot hold."""
    odd = {c for c in text if unicodedata.category(c) in ("Cc", "Cs") or ord(c) & 0xFFFE == 0xFFFE}
    return " ".join("".join(" " if c in odd else c for c in text).split())


# ---- the export, read back: JSON ---------------------------------------------------------------
# A task's submitted annotation is its row's answers. One that was skipped is a row without answers.
# A task that nobody has submitted has not come back: drafts and predictions are no answers.

_ODD = "is not as Label Studio exports tasks"
_REMEDY = (
    "export the project again, in the format JSON (not JSON-MIN); if its tasks were changed, import"
    " them again as they were sent out"
)
_ONE = "keep the rater's one annotation of the task, delete the others, and export again"
_AGAIN = "answer the task again, and export again"
_T = TypeVar("_T")


class _RefusedError(Exception):
    """What is wrong with a task, and what to do: its two arguments."""


def read(path: Path, problems: Findings) -> list[Returned]:
    """The rows of one file: a list of tasks with their annotations."""
    rows: list[Returned] = []
    users: dict[str, dict[str, Place]] = {}  # who annotated, by rater
    tasks = json_list(path, problems, remedy=_REMEDY, what="tasks") or []
    for number, (_, task) in enumerate(tasks, start=1):
        name = task.get("id") if isinstance(task, dict) else None
        at = Place(path.name, name if type(name) is int else f"{number} of the list", "task")
        try:
            annotation, row = _row(task, at)
        except _RefusedError as error:
            problems.add(at, *error.args)
            continue
        except (AttributeError, LookupError, TypeError, ValueError):
            problems.add(at, _ODD, _REMEDY)
            continue
        if row is not None:
            rows.append(row)
            # A number, or all that the export says of the account.
            user = json.dumps(annotation.get("completed_by"), sort_keys=True)
            users.setdefault(row.rater, {}).setdefault(user, at)
    for rater, places in users.items():
        for at in list(places.values())[1:]:
            what = f"the tasks of rater {shown(rater)} were annotated under {len(places)} accounts"
            fix = "keep the rater's own annotations; if all are, make their completed_by the same"
            problems.add(at, what, fix)
    return rows


def _row(task: Any, at: Place) -> tuple[Mapping[str, Any], Returned | None]:
    data, annotations = task["data"], _of(list, task["annotations"])
    rater, row = (_text(data[name]) for name in (RATER, ROW))
    headings, columns = (_names(data[name]) for name in (HEADINGS, COLUMNS))
    texts = {heading: _text(data[name]) for name, heading in headings.items()}
    submitted = [one for one in annotations if not _of(bool, one.get("was_cancelled", False))]
    if len(submitted) > 1:
        raise _RefusedError(f"has {len(submitted)} submitted annotations", _ONE)
    if not annotations:
        return {}, None
    answers, comment = dict.fromkeys(columns.values(), ""), ""
    for name, said in _said(submitted[0]["result"] if submitted else []):
        if name == COMMENT:
            comment = said
        else:
            answers[columns.get(name, name)] = said
    found = Returned(at, rater, row, texts, answers, comment)
    return (submitted or annotations)[0], found


def _said(results: Any) -> Iterator[tuple[str, str]]:
    """What is answered by each control, as text."""
    seen = set()
    for one in _of(list, results):
        if one.get("type") == "relation":
            continue  # says nothing of a control
        name, kind = _of(str, one["from_name"]), one["type"]
        if name in seen:
            raise _RefusedError(f"has two results of control {shown(name)}", _AGAIN)
        seen.add(name)
        said = one["value"]["text" if kind == "textarea" else kind]
        if kind == "number" and isinstance(said, int | float) and not isinstance(said, bool):
            said = repr(said)
        texts = [_text(part) for part in ([said] if isinstance(said, str) else _of(list, said))]
        if kind != "textarea" and len(texts) > 1:
            what = f"has {len(texts)} answers of control {shown(name)}, which takes one"
            raise _RefusedError(what, _AGAIN)
        yield name, "\n".join(texts)


def _names(value: Any) -> dict[str, str]:
    """A mapping of names to what they stand for, no two for the same."""
    named = {key: _text(one) for key, one in value.items()}
    if len(set(named.values())) < len(named):
        raise ValueError
    return named


def _text(value: Any) -> str:
    _of(str, value).encode("utf-8")  # half a character is a ValueError
    return str(value)


def _of(kind: type[_T], value: Any) -> _T:
    if not isinstance(value, kind):
        raise TypeError
    return value


KIND = Format(name="label-studio", endings=(".json",), write=_write, read=read)
