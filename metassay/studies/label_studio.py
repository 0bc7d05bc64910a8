"""Write sheets as Label Studio tasks with a labelling config, and read exports back.

Each rater has a project, since the open-source edition assigns no tasks to people:
`<rater>.json` has its tasks, `<rater>.xml` its interface, `<rater>.html` its
instructions. A task is a row of the sheet and names its rater. Texts and questions are
in tasks, where `<`, `&` and `$` mean themselves.
"""

import html
import json
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree as ET

from metassay.core.errors import shown
from metassay.studies.record import (
    Choice,
    Format,
    Item,
    Question,
    ReturnedRow,
    Sheet,
    SheetRow,
)
from metassay.studies.sheets import COMMENT, RATER, ROW, question_lines
from metassay.tabular.decoding import json_list
from metassay.tabular.rows import Findings, Place

# Names that tasks, config and results share; a number follows those that end in _. A
# task's data resolve its numbered names by `headings` and `columns`.
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
    varying = {
        name for name, questions in _questions(sheet).items() if _vary(questions)
    }
    rows = [(item, row) for item in sheet.items for row in item.rows]
    tasks = [{"data": _task(sheet, item, row, varying)} for item, row in rows]
    paragraphs = (*sheet.instructions, *_HOW, *question_lines(sheet))
    guide = "".join(f"<p>{html.escape(text.strip())}</p>\n" for text in paragraphs)
    contents = (
        json.dumps(tasks, ensure_ascii=False, indent=1) + "\n",
        config(sheet),
        guide,
    )
    for name, content in zip(names, contents, strict=True):
        (folder / name).write_bytes(content.encode("utf-8", "replace"))
    return names


def config(sheet: Sheet) -> str:
    """Return the labelling config of a rater's project: texts, then a control for each column.

    A column's answers are in the config if all rows ask the same question. Otherwise
    each task has its own, and none if it does not ask.
    """
    view = ET.Element("View")
    ET.SubElement(view, "Text", name=ROW, value=f"${ROW}")
    for place, heading in enumerate(sheet.headings, start=1):
        ET.SubElement(view, "Header", value=_plain(heading), size="5")
        inner, name = ET.SubElement(view, "View", style=_SCROLLS), f"{TEXT}{place}"
        ET.SubElement(inner, "Text", name=name, value=f"${name}", valueType="text")
    for place, questions in enumerate(_questions(sheet).values(), start=1):
        ET.SubElement(view, "Header", value=f"${ASKS}{place}", size="4")
        _add_control(view, place, questions)
    ET.SubElement(view, "Header", value="comment", size="5")
    ET.SubElement(
        view,
        "TextArea",
        name=COMMENT,
        toName=ROW,
        rows="2",
        maxSubmissions="1",
        editable="true",
    )
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def _add_control(
    view: ET.Element, place: int, questions: Collection[Question | None]
) -> None:
    of_rows = [question for question in questions if question is not None]
    name = {"name": f"{ANSWER}{place}", "toName": ROW}
    if all(question.kind == "number" for question in of_rows):
        low, high = min(q.low for q in of_rows), max(q.high for q in of_rows)
        step = "1" if all(question.whole for question in of_rows) else "any"
        ends = {"min": f"{low:g}", "max": f"{high:g}", "step": step}
        ET.SubElement(view, "Number", name | ends)
    elif not _vary(questions):
        control = ET.SubElement(
            view, "Choices", name, choice="single", showInline="true"
        )
        for choice in of_rows[0].choices:
            ET.SubElement(control, "Choice", _choice(choice))
    else:
        ET.SubElement(
            view, "Choices", name, choice="single", value=f"${CHOICES}{place}"
        )


def _task(
    sheet: Sheet, item: Item, row: SheetRow, varying: Collection[str]
) -> dict[str, Any]:
    """Return the data of a task; texts that only other rows have are empty.

    `varying`: the columns whose answers each task has.
    """
    texts, questions = (
        dict((*item.texts, *row.texts)),
        {q.column: q for q in row.questions},
    )
    headings = list(enumerate(sheet.headings, start=1))
    columns = list(enumerate(sheet.columns, start=1))
    data: dict[str, Any] = {
        RATER: sheet.rater,
        ROW: row.id,
        HEADINGS: {f"{TEXT}{place}": name for place, name in headings if name in texts},
        COLUMNS: {
            f"{ANSWER}{place}": name for place, name in columns if name in questions
        },
        **{f"{TEXT}{place}": texts.get(name, "") for place, name in headings},
    }
    for place, column in columns:
        question = questions.get(column)
        data[f"{ASKS}{place}"] = (
            f"{question.asks} ({question.allowed})" if question else _NOT_ASKED
        )
        if column in varying:
            data[f"{CHOICES}{place}"] = (
                list(map(_choice, question.choices)) if question else []
            )
    return data


def _questions(sheet: Sheet) -> dict[str, set[Question | None]]:
    """The questions of each column, in the sheet's order; None if a row has none there."""
    rows = [{q.column: q for q in row.questions} for row in sheet.rows]
    return {column: {row.get(column) for row in rows} for column in sheet.columns}


def _vary(questions: Collection[Question | None]) -> bool:
    """Whether rows have different choices in this column, so that each task has its own."""
    return len(questions) > 1 and any(q is not None and q.choices for q in questions)


def _choice(choice: Choice) -> dict[str, str]:
    attributes = {"value": _plain(choice.word), "hint": _plain(choice.means)}
    return {name: text for name, text in attributes.items() if text}


def _plain(text: str) -> str:
    """Put a text into one line, without characters that XML does not allow."""
    odd = {
        c
        for c in text
        if unicodedata.category(c) in ("Cc", "Cs") or ord(c) & 0xFFFE == 0xFFFE
    }
    return " ".join("".join(" " if c in odd else c for c in text).split())


# ---- exports in JSON ---------------------------------------------------------------------------
# A task's submitted annotation has its row's answers; a skipped task is a row without answers. A
# task that nobody submitted has not come back: drafts and predictions are no answers.

_ODD = "is not as Label Studio exports tasks"
_REMEDY = (
    "export the project again, in the format JSON (not JSON-MIN); if its tasks were changed, import"
    " them again as they were sent out"
)
_SINGLE = (
    "keep the rater's one annotation of the task, delete the others, and export again"
)
_AGAIN = "answer the task again, and export again"
_T = TypeVar("_T")


class _RefusedError(Exception):
    """What is wrong with a task, and what to do: its two arguments."""


def read(path: Path, problems: Findings) -> list[ReturnedRow]:
    """Read the rows of a file: a list of tasks with their annotations."""
    rows: list[ReturnedRow] = []
    users: dict[str, dict[str, Place]] = {}  # who annotated, by rater
    tasks = json_list(path, problems, remedy=_REMEDY, what="tasks") or []
    for number, (_, task) in enumerate(tasks, start=1):
        name = task.get("id") if isinstance(task, dict) else None
        at = Place(
            path.name, name if type(name) is int else f"{number} of the list", "task"
        )
        try:
            account, row = _row(task, at)
        except _RefusedError as error:
            problems.add(at, *error.args)
            continue
        except (AttributeError, LookupError, TypeError, ValueError):
            problems.add(at, _ODD, _REMEDY)
            continue
        if row is not None:
            rows.append(row)
            users.setdefault(row.rater, {}).setdefault(account, at)
    for rater, places in users.items():
        for at in list(places.values())[1:]:
            what = f"the tasks of rater {shown(rater)} were annotated under {len(places)} accounts"
            fix = "keep the rater's own annotations; if all are, make their completed_by the same"
            problems.add(at, what, fix)
    return rows


def _row(task: Any, at: Place) -> tuple[str, ReturnedRow | None]:
    """Return the account that annotated a task, and the row; None if it has no annotation."""
    data, annotations = task["data"], _expect(list, task["annotations"])
    rater, row = (_text(data[name]) for name in (RATER, ROW))
    headings, columns = (_names(data[name]) for name in (HEADINGS, COLUMNS))
    texts = {heading: _text(data[name]) for name, heading in headings.items()}
    submitted = [
        a for a in annotations if not _expect(bool, a.get("was_cancelled", False))
    ]
    if len(submitted) > 1:
        raise _RefusedError(f"has {len(submitted)} submitted annotations", _SINGLE)
    if not annotations:
        return "", None
    answers, comment = dict.fromkeys(columns.values(), ""), ""
    for name, answer in _answers(submitted[0]["result"] if submitted else []):
        if name == COMMENT:
            comment = answer
        else:
            answers[columns.get(name, name)] = answer
    # A number, or all that the export has of the account.
    account = json.dumps(
        (submitted or annotations)[0].get("completed_by"), sort_keys=True
    )
    return account, ReturnedRow(at, rater, row, texts, answers, comment)


def _answers(results: Any) -> Iterator[tuple[str, str]]:
    """Yield each control's name and answer, as text."""
    seen = set()
    for result in _expect(list, results):
        if result.get("type") == "relation":
            continue  # answers no control
        name, kind = _expect(str, result["from_name"]), result["type"]
        if name in seen:
            raise _RefusedError(f"has two results of control {shown(name)}", _AGAIN)
        seen.add(name)
        value = result["value"]["text" if kind == "textarea" else kind]
        if (
            kind == "number"
            and isinstance(value, int | float)
            and not isinstance(value, bool)
        ):
            value = repr(value)
        texts = [
            _text(part)
            for part in ([value] if isinstance(value, str) else _expect(list, value))
        ]
        if kind != "textarea" and len(texts) > 1:
            what = f"has {len(texts)} answers of control {shown(name)}, which takes one"
            raise _RefusedError(what, _AGAIN)
        yield name, "\n".join(texts)


def _names(value: Any) -> dict[str, str]:
    """Check a mapping of numbered names to distinct headings or columns."""
    names = {key: _text(name) for key, name in value.items()}
    if len(set(names.values())) < len(names):
        raise ValueError
    return names


def _text(value: Any) -> str:
    _expect(str, value).encode("utf-8")  # half a surrogate pair is a ValueError
    return str(value)


def _expect(kind: type[_T], value: Any) -> _T:
    if not isinstance(value, kind):
        raise TypeError
    return value


KIND = Format(name="label-studio", endings=(".json",), write=_write, read=read)
