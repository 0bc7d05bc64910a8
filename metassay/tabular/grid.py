"""Rows of text cells as a table: titles, the header, merged cells, what programs add."""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from metassay.core.naming import MOST
from metassay.tabular.cell_words import SUMMARIES
from metassay.tabular.decoding import csv_lines
from metassay.tabular.numbers import looks_numeric
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import (
    Sheet,
    clean_name,
    name_columns,
    unwrap_label_studio,
)

Lines = Iterable[tuple[Place, list[str]]]

HEAD = 4  # first rows that can be titles, the header and its explanations
_CHUNK = 1 << 15  # rows that are Python texts at a time
_SEPARATORS = ",;\t"
_IMPORT_ID = '{"ImportId"'  # how cells of Qualtrics' third row begin
# Names that Qualtrics gives: Q3, Q3_2, and of loop & merge 12_Q3_2.
_NUMBERED = re.compile(r"(?:\d+_)?Q\d+(?:\.\d+)?(?:[_#.]\d+)*(?:_TEXT)?")


class _Head(NamedTuple):
    """What stands above the body of a table."""

    at: Place  # of the names
    names: list[str]
    counted: bool  # the first column, without a name, numbers the rows
    rest: list[tuple[Place, list[str]]]  # rows of the body that were read already
    notes: list[str]


def rows_sheet(
    name: str,
    lines: Lines,
    problems: Findings,
    remedy: str,
    across: Set[int] = frozenset(),
    *,
    header_alone: bool = False,
) -> Sheet | None:
    """Return rows of cells as a sheet; None, with every fault in `problems`, if unusable.

    `across`: rows with cells merged across columns, whose names stand above names.
    """
    full = ((at, cells) for at, cells in lines if any(cell.strip() for cell in cells))
    first = list(islice(full, HEAD))
    if not first and not problems:
        problems.add(Place(name), "has no rows", remedy)
    if not first:
        return None
    head = _read_head(first, across)
    names = name_columns(head.names, head.at, problems)
    if names is None:
        return None
    sheet = _body(names, chain(head.rest, full), head.counted, name, problems)
    if sheet is not None:
        sheet, summaries = _drop_summaries(sheet)
        head.notes.extend(
            f"{head.at.kind} {row} ({word}) sums up others, and was skipped"
            for row, word in summaries
        )
    if sheet is None and header_alone:
        frame = pd.DataFrame({column: pd.Series(dtype="str") for column in names})
        return Sheet(name, frame, np.array([], dtype=np.int64))
    if sheet is None:
        problems.add(Place(name), "has no row that fits its header", remedy)
        return None
    if head.at.kind == "row":  # of a workbook, whose cells have names
        from openpyxl.utils import get_column_letter  # has been imported by then

        letters = {
            column: get_column_letter(number + head.counted)
            for number, column in enumerate(names, start=1)
        }
        sheet = replace(sheet, letters=letters)
    return unwrap_label_studio(replace(sheet, kind=head.at.kind, notes=head.notes))


def _read_head(first: list[tuple[Place, list[str]]], across: Set[int]) -> _Head:
    """Read titles, the names of columns, and what programs add below them."""
    notes = []
    while len(first) > 1 and _is_title(first[0][1], first[1][1]):
        at, _ = first.pop(0)
        notes.append(f"{at.kind} {at.row} is a title, and was skipped")
    at, header = first.pop(0)
    if first and (at.row in across or _continues(header, first[0][1])):
        below, names = first.pop(0)
        header = _join_names(header, names, merged=at.row in across)
        both = f"{at.kind}s {at.row} and {below.row}"
        notes.append(f"the names of the columns stand in {both}")
    # Excel keeps empty columns at the end if they were ever used.
    widths = [_count_filled(cells) for _, cells in first]
    width = max([_count_filled(header), *(n for n in widths if n <= len(header))])
    # Row numbers from 0, as pandas writes them by default.
    rows = (cells[:1] == [str(n)] for n, (_, cells) in enumerate(first))
    counted = not header[0].strip() and all(rows)
    header = header[counted:width]
    if len(first) > 1 and any(cell.startswith(_IMPORT_ID) for cell in first[1][1]):
        questions = first[0][1][counted:width]
        del first[:2]
        notes.append("2 rows below the first one, which Qualtrics adds, were skipped")
        header, renamed = _name_by_questions(header, questions)
        if renamed:
            what = f"{renamed} columns have the names of their questions"
            notes.append(f"{what}, which stand in Qualtrics' second row")
    return _Head(at, header, counted, first, notes)


def _continues(header: Sequence[str], below: Sequence[str]) -> bool:
    """Whether names go on in the row below: `Ann,,Ben,` above `fluency,errors,fluency,errors`.

    Columns without a name of their own have one below, and other columns nothing.
    """
    upper, lower = ([cell.strip() for cell in row] for row in (header, below))
    if len(upper) != len(lower):
        return False
    counts = Counter(upper)
    unnamed = [n > 0 and not cell for n, cell in enumerate(upper)]
    # A name is of the columns without one behind it, too, or is repeated.
    begins = [after and not here for here, after in pairwise([*unnamed, False])]
    repeated = [bool(cell) and counts[cell] > 1 for cell in upper]
    shared = [a or b for a, b in zip(unnamed, repeated, strict=True)]
    grouped = [a or b for a, b in zip(shared, begins, strict=True)]
    named = all(lower[n] for n, inside in enumerate(grouped) if inside)
    others = [lower[n] for n, inside in enumerate(grouped) if not inside]
    numbers = any(map(looks_numeric, filter(None, lower)))
    return any(shared) and named and bool(others) and not any(others) and not numbers


def _join_names(
    above: Sequence[str], below: Sequence[str], *, merged: bool
) -> list[str]:
    """Join names above names, `Ann` and `fluency`; without merged cells a name goes on."""
    names, last = [], ""
    for upper, lower in zip(map(str.strip, above), map(str.strip, below), strict=True):
        last = upper if upper or merged else last
        pair = dict.fromkeys(filter(None, (last, lower)))
        names.append(" - ".join(pair))
    return names


def _name_by_questions(
    header: Sequence[str], questions: Sequence[str]
) -> tuple[list[str], int]:
    """Call columns with numbers for names, `1_Q2_1`, by their questions, if these differ.

    Returns the names, and how many of them are questions. A question that quotes a whole
    text is no name.
    """
    cleaned = [clean_name(question) for question in questions]
    columns = [n for n, name in enumerate(header) if _NUMBERED.fullmatch(name)]
    texts = [cleaned[n] for n in columns if n < len(cleaned)]
    short = all(0 < len(text) <= MOST and text.isprintable() for text in texts)
    others = {name for n, name in enumerate(header) if n not in columns}
    if not short or len({*texts, *others}) < len(texts) + len(others):
        return list(header), 0
    names = list(header)
    for n, text in zip(columns, texts, strict=False):
        names[n] = text
    return names, len(texts)


def _is_title(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the first row has a single cell and the second is a header."""
    names = [cell.strip() for cell in second if cell.strip()]
    alone = sum(bool(cell.strip()) for cell in first) == 1
    return alone and len(set(names)) > 1 and not any(map(looks_numeric, names))


def _body(
    header: list[str], lines: Lines, counted: bool, name: str, problems: Findings
) -> Sheet | None:
    rows = array("q")
    chunks: list[pa.Table] = []
    complete = _complete_rows(lines, len(header), counted, problems)
    while chunk := list(islice(complete, _CHUNK)):
        rows.extend(line for line, _ in chunk)
        columns = list(zip(*(cells for _, cells in chunk), strict=True))
        chunks.append(
            pa.table([pa.array(column, pa.string()) for column in columns], header)
        )
    if not chunks:
        return None
    table = pa.concat_tables(chunks)
    frame = pd.DataFrame(
        {c: table[c].to_pandas().astype("str").str.strip() for c in header}
    )
    return Sheet(name, frame, np.array(rows, dtype=np.int64))


def _drop_summaries(sheet: Sheet) -> tuple[Sheet, list[tuple[int, str]]]:
    """Leave out the last rows that sum up those above; return their numbers and words.

    Such a row begins with a word such as `Mean`, and has no other keys: a cell is empty
    that the row above the summaries fills with words.
    """
    first = sheet.frame.iloc[:, 0].str.strip(" :.").str.casefold()
    words = first.isin(SUMMARIES).to_numpy()
    n = len(words)
    while n > 1 and words[n - 1]:
        n -= 1
    above = sheet.frame.iloc[n - 1]
    keys = [c for c in sheet.columns[1:] if above[c] and not looks_numeric(above[c])]
    without = (sheet.frame.iloc[n:][keys] == "").any(axis=None)
    if n == len(words) or not without:
        return sheet, []
    rows = zip(sheet.lines[n:], sheet.frame.iloc[n:, 0], strict=True)
    summaries = [(int(row), str(word)) for row, word in rows]
    return replace(sheet, frame=sheet.frame.iloc[:n], lines=sheet.lines[:n]), summaries


def _complete_rows(
    lines: Lines, width: int, counted: bool, problems: Findings
) -> Iterator[tuple[int, list[str]]]:
    fix = 'add or remove separators; put a cell that contains one in "quotes"'
    for at, row in lines:
        cells = row[counted:]
        if len(cells) != width and (len(cells) < width or _count_filled(cells) > width):
            what = f"does not have the {width} cells of the header"
            problems.add(at, what, fix, f"{len(cells)} cells")
        elif isinstance(at.row, int):
            yield at.row, cells[:width]


def _count_filled(cells: Sequence[str]) -> int:
    """Count the cells up to the last one that is not blank."""
    return next((n for n in range(len(cells), 0, -1) if cells[n - 1].strip()), 0)


def find_separator(text: str) -> str:
    """Return the separator that gives most cells in the first row with several cells."""
    lines = (line for line in text.splitlines() if line.strip(_SEPARATORS + " "))
    for line in islice(lines, HEAD):
        best = max(_SEPARATORS, key=lambda separator: len(_cells(line, separator)))
        if sum(map(bool, map(str.strip, _cells(line, best)))) > 1:
            return best
    return ","


def _cells(line: str, separator: str) -> list[str]:
    row = next(iter(csv_lines(line, "", Findings(), separator)), None)
    return row[1] if row else []
