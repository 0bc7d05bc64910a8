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

from metassay.studies.label_studio_export import read
from metassay.studies.label_studio_names import (
    ANSWER,
    ASKS,
    CHOICES,
    COLUMNS,
    COMMENT,
    HEADINGS,
    RATER,
    ROW,
    TEXT,
)
from metassay.studies.record import Choice, Format, Item, Question, Sheet, SheetRow
from metassay.studies.sheets import allowed

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


KIND = Format(name="label-studio", endings=(".json",), write=_write, read=read)
