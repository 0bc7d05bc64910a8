"""A sheet as a table: the columns that all spreadsheet formats share, written and read back.

One row of the table is one row of the study: who rates (`rater`), the row's id (`row`), what is
read, a column per question, and `comment`. Every row says all that it needs, so that a rater may
sort and filter. A long text goes on in a second column, since a cell holds 32,767 characters.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from metassay.core.csv_injection import inert, restored
from metassay.core.errors import shown
from metassay.studies.answers import filled
from metassay.studies.record import Item, Returned, Sheet, SheetRow, Shown
from metassay.tabular.rows import Findings, Place

RATER, ROW, COMMENT = "rater", "row", "comment"
NOT_ASKED = "\N{EM DASH}"  # in a cell whose question is not asked in this row

_HELD = 32_000  # characters of a cell; a few are left for the quote in front
_GOES_ON = re.compile(r"(.+) \((\d+)\)")


class Line(NamedTuple):
    """One row of a table that came back, and where it stands."""

    at: Place
    cells: list[str]


def header(sheet: Sheet) -> list[str]:
    """The names of the columns."""
    return [RATER, ROW, *_read_columns(sheet), *sheet.columns, COMMENT]


def lines(sheet: Sheet) -> Iterator[tuple[SheetRow, list[str]]]:
    """Each row of the study with its cells, in the rater's order; answers are empty."""
    columns = _read_columns(sheet)
    for item in sheet.items:
        for row in item.rows:
            pieces = dict(_pieces((*item.shown, *row.shown)))
            asked = {question.column for question in row.asks}
            answers = ["" if column in asked else NOT_ASKED for column in sheet.columns]
            read = [inert(pieces.get(column, "")) for column in columns]
            yield row, [sheet.rater, row.id, *read, *answers, ""]


def guide(sheet: Sheet) -> list[str]:
    """What the rater is told, a paragraph each: the task, then each question with its answers."""
    told = [
        *sheet.instructions,
        f"Fill in the columns {', '.join(sheet.columns)}. Leave a cell empty where you cannot"
        f" say; {NOT_ASKED} means that nothing is asked there. Anything else that you want to"
        f" say goes into {COMMENT}.",
        "A cell may not show a long text whole: the page with the texts (.html) does.",
        f"You may sort and filter rows. Change nothing in {RATER}, {ROW} and the texts, and delete"
        " no row.",
    ]
    return [*told, *allowed(sheet)]


def allowed(sheet: Sheet) -> Iterator[str]:
    """Each question with its answers, a paragraph each."""
    questions = {q.name: q for item in sheet.items for row in item.rows for q in row.asks}
    for question in questions.values():
        yield f"{question.column}: {question.asks} Allowed: {question.allowed}."
        yield from (f"    {one.word}: {one.means}" for one in question.choices if one.means)


def returned(table: Iterable[Line], problems: Findings) -> list[Returned]:
    """The rows of a table that came back; blank ones are passed over.

    The first one names the columns. A cell that says only that nothing is asked is empty.
    """
    table = [line for line in table if any(map(filled, line.cells))]
    if not table:
        return []
    at, names = table[0].at, [filled(cell) for cell in table[0].cells]
    lacking = [name for name in (RATER, ROW) if name not in names]
    twice = sorted(name for name, n in Counter(filter(None, names)).items() if n > 1)
    for name in lacking:
        fix = "restore the first row as it was sent out"
        problems.add(at, f"column {name!r} is missing in the first row", fix)
    for name in twice:
        problems.add(at, f"column {shown(name)} is there twice", "remove one of them")
    if lacking or twice:
        return []
    return [one for line in table[1:] for one in _returned(line, names, problems)]


def _returned(line: Line, names: Sequence[str], problems: Findings) -> Iterator[Returned]:
    beyond = [cell for cell in line.cells[len(names) :] if filled(cell)]
    if beyond:
        what = "has more cells than the first row names"
        problems.add(line.at, what, "move what is beyond the last column into 'comment'")
        return
    # Unnamed columns share one name: they are not read, but may hold what a rater has added.
    cells = {"": "".join(cell for name, cell in zip(names, line.cells, strict=False) if not name)}
    cells |= {n: c for n, c in zip(names, [*line.cells, *[""] * len(names)], strict=False) if n}
    texts = {name: cells.pop(name, "") for name in (RATER, ROW, COMMENT)}
    answers = {name: "" if filled(said) == NOT_ASKED else said for name, said in cells.items()}
    yield Returned(
        line.at,
        filled(texts[RATER]),
        filled(texts[ROW]),
        _joined(cells),
        answers,
        restored(texts[COMMENT].strip()),
    )


def heading_of(column: str) -> str:
    """The heading of a text that goes on in this column; of any other column its name."""
    goes_on = _GOES_ON.fullmatch(column)
    return goes_on[1] if goes_on else column


def _read_columns(sheet: Sheet) -> list[str]:
    """Columns of what is read, each followed by those that it goes on in."""
    found: dict[str, int] = {}
    for item in sheet.items:
        for row in item.rows:
            for heading, text in (*item.shown, *row.shown):
                found[heading] = max(found.get(heading, 1), -(-len(text) // _HELD))
    return [_column(heading, n) for heading, most in found.items() for n in range(most)]


def _pieces(texts: Iterable[Shown]) -> Iterator[tuple[str, str]]:
    for heading, text in texts:
        for number in range(max(1, -(-len(text) // _HELD))):
            yield _column(heading, number), text[number * _HELD : (number + 1) * _HELD]


def _joined(cells: dict[str, str]) -> dict[str, str]:
    """Texts by heading, put together again; cells of other columns stay as they are."""
    found: dict[str, str] = {}
    for name, value in cells.items():
        heading = heading_of(name)
        if heading in found:
            found[heading] += restored(value)
        else:
            found[name] = restored(value)
    return found


def _column(heading: str, number: int) -> str:
    return heading if number == 0 else f"{heading} ({number + 1})"


# ---- a page to read beside the table -----------------------------------------------------------

_STYLE = (
    "body{font-family:sans-serif;line-height:1.5;max-width:60em;margin:2em auto;padding:0 1em}"
    "section{border-top:2px solid #888;margin-top:2em}"
    "h2{font-family:monospace}h3{margin-bottom:0}p{white-space:pre-wrap;margin-top:.3em}"
)


def page(sheet: Sheet) -> bytes:
    """A page with the texts of a rater's sheet: cells of spreadsheets show no long text whole.

    HTML that asks nothing and loads nothing: instructions, then the items in their order.
    """
    title = escape(f"{sheet.study}: texts for {sheet.rater}")
    lines = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        *(f"<p>{escape(told)}</p>" for told in guide(sheet)),
        *(line for item in sheet.items for line in _page_item(item)),
        "</body></html>",
    ]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _page_item(item: Item) -> Iterator[str]:
    yield f'<section id="{item.id}"><h2>{item.id}</h2>'
    yield from _page_texts(item.shown)
    for row in item.rows:
        if len(item.rows) > 1:
            yield f'<h2 id="{row.id}">{row.id}</h2>'
        yield from _page_texts(row.shown)
    yield "</section>"


def _page_texts(shown: Sequence[Shown]) -> Iterator[str]:
    for heading, text in shown:
        yield f"<h3>{escape(heading)}</h3><p>{escape(text)}</p>"
