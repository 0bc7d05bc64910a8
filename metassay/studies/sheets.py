"""Write sheets as tables and read them back: columns of all spreadsheets, and the CSV format.

A row of the table is a row of the study: the rater (`rater`), the row's id (`row`),
texts, a column per question, and `comment`. Rows do not depend on each other, so raters
can sort and filter. A long text continues in a second column, since a cell holds 32,767
characters.
"""

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from metassay.core.csv_injection import escape_formula, unescape_formula
from metassay.core.errors import shown
from metassay.studies.record import (
    Format,
    Item,
    Question,
    ReturnedRow,
    Sheet,
    SheetRow,
    SheetText,
)
from metassay.tabular.decoding import csv_lines, finite_number, read_text
from metassay.tabular.grid import find_separator
from metassay.tabular.rows import Findings, Place

RATER, ROW, COMMENT = "rater", "row", "comment"
NOT_ASKED = "\N{EM DASH}"  # in a cell whose question is not asked in this row

_CELL = 32_000  # characters of a cell; a few are left for the quote in front
_CONTINUED = re.compile(r"(.+) \((\d+)\)")
_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad"))
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)", re.ASCII)
_INSTRUCTIONS = "instructions.txt"
_REMEDY = "send the sheet that came back, with its rows"
_BOM = "\ufeff"  # without it, Excel takes UTF-8 for something else


def header(sheet: Sheet) -> list[str]:
    """Return the names of the columns."""
    return [RATER, ROW, *_text_columns(sheet), *sheet.columns, COMMENT]


def lines(sheet: Sheet) -> Iterator[tuple[SheetRow, list[str]]]:
    """Yield each row of the study and its cells, in the rater's order; answers are empty."""
    columns = _text_columns(sheet)
    for item in sheet.items:
        for row in item.rows:
            pieces = dict(_pieces((*item.texts, *row.texts)))
            of_row = {question.column for question in row.questions}
            answers = [
                "" if column in of_row else NOT_ASKED for column in sheet.columns
            ]
            texts = [escape_formula(pieces.get(column, "")) for column in columns]
            yield row, [sheet.rater, row.id, *texts, *answers, ""]


def guide(sheet: Sheet) -> list[str]:
    """Return the rater's instructions, by paragraph: the task, then each question."""
    return [
        *sheet.instructions,
        f"Fill in the columns {', '.join(sheet.columns)}. Leave a cell empty where you cannot"
        f" say; {NOT_ASKED} means that nothing is asked there. Anything else that you want to"
        f" say goes into {COMMENT}.",
        "A cell may not show a long text whole: the page with the texts (.html) does.",
        f"You may sort and filter rows. Change nothing in {RATER}, {ROW} and the texts, and delete"
        " no row.",
        *question_lines(sheet),
    ]


def question_lines(sheet: Sheet) -> Iterator[str]:
    """Yield a paragraph for each question and each answer that needs an explanation."""
    questions = {q.name: q for row in sheet.rows for q in row.questions}
    for question in questions.values():
        yield f"{question.column}: {question.asks} Allowed: {question.allowed}."
        yield from (
            f"    {word}: {means}" for word, _, means in question.choices if means
        )


def read_rows(
    table: Iterable[tuple[Place, list[str]]], problems: Findings
) -> list[ReturnedRow]:
    """Read the rows of a table that came back, without blank ones.

    The first row names the columns. A cell with the mark for "not asked" counts as
    empty.
    """
    table = [(at, cells) for at, cells in table if any(map(clean_cell, cells))]
    if not table:
        return []
    at, names = table[0][0], list(map(clean_cell, table[0][1]))
    missing = [name for name in (RATER, ROW) if name not in names]
    twice = sorted(name for name, n in Counter(filter(None, names)).items() if n > 1)
    for name in missing:
        fix = "restore the first row as it was sent out"
        problems.add(at, f"column {name!r} is missing in the first row", fix)
    for name in twice:
        problems.add(at, f"column {shown(name)} occurs twice", "remove one of them")
    if missing or twice:
        return []
    return [row for line in table[1:] for row in _read_row(*line, names, problems)]


def _read_row(
    at: Place, cells: list[str], names: Sequence[str], problems: Findings
) -> Iterator[ReturnedRow]:
    if any(map(clean_cell, cells[len(names) :])):
        what = "has more cells than the first row names"
        problems.add(at, what, "move what is beyond the last column into 'comment'")
        return
    # Unnamed columns share a name: they are not read, but may hold a rater's additions.
    by_name = {
        "": "".join(cell for name, cell in zip(names, cells, strict=False) if not name)
    }
    by_name |= {
        n: c for n, c in zip(names, [*cells, *[""] * len(names)], strict=False) if n
    }
    rater, row, comment = (by_name.pop(name, "") for name in (RATER, ROW, COMMENT))
    answers = {
        n: "" if clean_cell(cell) == NOT_ASKED else cell for n, cell in by_name.items()
    }
    comment, texts = unescape_formula(comment.strip()), _join_texts(by_name)
    yield ReturnedRow(at, clean_cell(rater), clean_cell(row), texts, answers, comment)


def clean_cell(cell: str) -> str:
    """Remove blanks at the ends, invisible characters, and the quote before a formula."""
    return unescape_formula(
        unicodedata.normalize("NFKC", cell).translate(_INVISIBLE).strip()
    )


def parse_answer(question: Question, cell: str) -> float | None:
    """Return the value of an answer; None for an empty cell.

    A choice is a word in any case, or its number; `3`, `3.0` and `3,0` are equal.
    Raises ValueError with the reason, and without the cell's content, for anything
    else.
    """
    answer = clean_cell(cell)
    if not answer:
        return None
    number = finite_number(_DECIMAL_COMMA.sub(r"\1.\2", answer))
    if question.kind == "choice":
        for choice in question.choices:
            same_number = number is not None and number == finite_number(choice.word)
            if same_number or answer.casefold() == choice.word.casefold():
                return choice.value
        raise ValueError("is not allowed")
    if number is None:
        raise ValueError("is not a number")
    if question.whole and number != int(number):
        raise ValueError("is not a whole number")
    if number > question.high and question.capped:
        raise ValueError(f"is over the cap of {question.high:g}")
    if not question.low <= number <= question.high:
        raise ValueError("is off the scale")
    return number


def heading_of(column: str) -> str:
    """Return the heading of a text that continues in this column, or else the column's name."""
    continued = _CONTINUED.fullmatch(column)
    return continued[1] if continued else column


def _text_columns(sheet: Sheet) -> list[str]:
    """Columns of texts, each followed by those in which it continues."""
    n_columns: dict[str, int] = {}
    for item in sheet.items:
        for row in item.rows:
            for heading, text in (*item.texts, *row.texts):
                n_columns[heading] = max(
                    n_columns.get(heading, 1), -(-len(text) // _CELL)
                )
    return [
        _column(heading, number)
        for heading, n in n_columns.items()
        for number in range(n)
    ]


def _pieces(texts: Iterable[SheetText]) -> Iterator[tuple[str, str]]:
    for heading, text in texts:
        for number in range(max(1, -(-len(text) // _CELL))):
            yield _column(heading, number), text[number * _CELL : (number + 1) * _CELL]


def _join_texts(cells: dict[str, str]) -> dict[str, str]:
    """Join the pieces of texts by heading; cells of other columns do not change."""
    texts: dict[str, str] = {}
    for name, cell in cells.items():
        heading = heading_of(name) if heading_of(name) in texts else name
        texts[heading] = texts.get(heading, "") + unescape_formula(cell)
    return texts


def _column(heading: str, number: int) -> str:
    return heading if number == 0 else f"{heading} ({number + 1})"


# ---- a page to read beside the table -----------------------------------------------------------

_STYLE = (
    "body{font-family:sans-serif;line-height:1.5;max-width:60em;margin:2em auto;padding:0 1em}"
    "section{border-top:2px solid #888;margin-top:2em}"
    "h2{font-family:monospace}h3{margin-bottom:0}p{white-space:pre-wrap;margin-top:.3em}"
)


def page(sheet: Sheet) -> bytes:
    """Return an HTML page with instructions and all texts, since cells cut long texts off.

    The items are in their order. The page has no form and loads nothing.
    """
    title = escape(f"{sheet.study}: texts for {sheet.rater}")
    lines = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        *(f"<p>{escape(paragraph)}</p>" for paragraph in guide(sheet)),
        *(line for item in sheet.items for line in _page_item(item)),
        "</body></html>",
    ]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _page_item(item: Item) -> Iterator[str]:
    yield f'<section id="{item.id}"><h2>{item.id}</h2>'
    yield from _page_texts(item.texts)
    for row in item.rows:
        if len(item.rows) > 1:
            yield f'<h2 id="{row.id}">{row.id}</h2>'
        yield from _page_texts(row.texts)
    yield "</section>"


def _page_texts(texts: Sequence[SheetText]) -> Iterator[str]:
    for heading, text in texts:
        yield f"<h3>{escape(heading)}</h3><p>{escape(text)}</p>"


# ---- sheets as CSV, one file per rater, with instructions and the page --------------------------


def _write(sheet: Sheet, folder: Path) -> list[str]:
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\r\n")
    writer.writerow(header(sheet))
    writer.writerows(cells for _, cells in lines(sheet))
    contents = {
        f"{sheet.rater}.csv": (_BOM + table.getvalue()).encode("utf-8"),
        f"{sheet.rater}.html": page(sheet),
        _INSTRUCTIONS: ("\n\n".join(guide(sheet)) + "\n").encode("utf-8"),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return list(contents)


def _read(path: Path, problems: Findings) -> list[ReturnedRow]:
    text = read_text(path, problems, remedy=_REMEDY) or ""
    return read_rows(
        csv_lines(text, path.name, problems, find_separator(text)), problems
    )


KIND = Format(name="csv", endings=(".csv", ".tsv", ".txt"), write=_write, read=_read)
