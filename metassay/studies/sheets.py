"""A sheet as a table: the columns that spreadsheets share, out and back; and sheets as CSV.

One row of the table is one row of the study: who rates (`rater`), the row's id (`row`), what is
read, a column per question, and `comment`. Every row says all that it needs, so that a rater may
sort and filter. A long text goes on in a second column, since a cell holds 32,767 characters.
"""

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from metassay.core.csv_injection import inert, restored
from metassay.core.errors import shown
from metassay.studies.record import Format, Item, Question, Returned, Sheet, SheetRow, Shown
from metassay.tabular.decoding import csv_lines, finite_number, read_text
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import find_separator

RATER, ROW, COMMENT = "rater", "row", "comment"
NOT_ASKED = "\N{EM DASH}"  # in a cell whose question is not asked in this row

_HELD = 32_000  # characters of a cell; a few are left for the quote in front
_GOES_ON = re.compile(r"(.+) \((\d+)\)")
_NOT_SEEN = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad"))
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)", re.ASCII)
_INSTRUCTIONS = "instructions.txt"
_REMEDY = "send the sheet that came back, with its rows"
_BOM = "\ufeff"  # without it, Excel takes UTF-8 for something else


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
    return [
        *sheet.instructions,
        f"Fill in the columns {', '.join(sheet.columns)}. Leave a cell empty where you cannot"
        f" say; {NOT_ASKED} means that nothing is asked there. Anything else that you want to"
        f" say goes into {COMMENT}.",
        "A cell may not show a long text whole: the page with the texts (.html) does.",
        f"You may sort and filter rows. Change nothing in {RATER}, {ROW} and the texts, and delete"
        " no row.",
        *allowed(sheet),
    ]


def allowed(sheet: Sheet) -> Iterator[str]:
    """Each question with its answers, a paragraph each."""
    questions = {q.name: q for item in sheet.items for row in item.rows for q in row.asks}
    for question in questions.values():
        yield f"{question.column}: {question.asks} Allowed: {question.allowed}."
        yield from (f"    {one.word}: {one.means}" for one in question.choices if one.means)


def returned(table: Iterable[tuple[Place, list[str]]], problems: Findings) -> list[Returned]:
    """The rows of a table that came back; blank ones are passed over.

    The first one names the columns. A cell that says only that nothing is asked is empty.
    """
    table = [(at, cells) for at, cells in table if any(map(filled, cells))]
    if not table:
        return []
    at, names = table[0][0], list(map(filled, table[0][1]))
    lacking = [name for name in (RATER, ROW) if name not in names]
    twice = sorted(name for name, n in Counter(filter(None, names)).items() if n > 1)
    for name in lacking:
        fix = "restore the first row as it was sent out"
        problems.add(at, f"column {name!r} is missing in the first row", fix)
    for name in twice:
        problems.add(at, f"column {shown(name)} is there twice", "remove one of them")
    if lacking or twice:
        return []
    return [one for line in table[1:] for one in _returned(*line, names, problems)]


def _returned(
    at: Place, cells: list[str], names: Sequence[str], problems: Findings
) -> Iterator[Returned]:
    if any(map(filled, cells[len(names) :])):
        what = "has more cells than the first row names"
        problems.add(at, what, "move what is beyond the last column into 'comment'")
        return
    # Unnamed columns share one name: they are not read, but may hold what a rater has added.
    named = {"": "".join(cell for name, cell in zip(names, cells, strict=False) if not name)}
    named |= {n: c for n, c in zip(names, [*cells, *[""] * len(names)], strict=False) if n}
    rater, row, comment = (named.pop(name, "") for name in (RATER, ROW, COMMENT))
    answers = {name: "" if filled(said) == NOT_ASKED else said for name, said in named.items()}
    said = restored(comment.strip())
    yield Returned(at, filled(rater), filled(row), _joined(named), answers, said)


def filled(written: str) -> str:
    """What was written, without blanks around it and characters that nobody sees."""
    return restored(unicodedata.normalize("NFKC", written).translate(_NOT_SEEN).strip())


def value_of(question: Question, written: str) -> float | None:
    """The value of an answer; None where nothing is written.

    A choice is known by its word in any case, or by its number; `3`, `3.0` and `3,0` are one
    number. ValueError says why anything else is not allowed, without what was written.
    """
    said = filled(written)
    if not said:
        return None
    number = finite_number(_DECIMAL_COMMA.sub(r"\1.\2", said))
    if question.kind == "choice":
        for choice in question.choices:
            word = finite_number(choice.word)
            if said.casefold() == choice.word.casefold() or (number is not None and number == word):
                return choice.value
        raise ValueError("is none of the answers that are allowed")
    if number is None:
        raise ValueError("is not a number")
    if question.whole and number != int(number):
        raise ValueError("is no whole number")
    if number > question.high and question.capped:
        raise ValueError(f"is over the cap of {question.high:g}")
    if not question.low <= number <= question.high:
        raise ValueError("is off the scale")
    return number


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
        heading = heading_of(name) if heading_of(name) in found else name
        found[heading] = found.get(heading, "") + restored(value)
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


def _read(path: Path, problems: Findings) -> list[Returned]:
    text = read_text(path, problems, remedy=_REMEDY)
    if text is None:
        return []
    return returned(csv_lines(text, path.name, problems, find_separator(text)), problems)


KIND = Format(name="csv", endings=(".csv", ".tsv", ".txt"), write=_write, read=_read)
