"""Cells of columns of numbers that are no numbers: what they are, and what to do."""

import re
from collections import Counter

from metassay.core.errors import quoted
from metassay.format.numbers import counted
from metassay.tabular.option_words import Caller
from metassay.tabular.rows import Findings, Place

# What Excel makes of entries such as 3-4 and 1/2, as a date and in CSV; and its errors.
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?= 00:00:00$|$)"
    r"|\d{1,2}[-. ]{1,2}(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mai|okt|dez|mär)\w*$"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*[- ]\d{1,2}$",
    re.IGNORECASE,
)
_EXCEL_ERROR = re.compile(r"#(?:DIV/0!|REF!|VALUE!|NAME\?|NUM!|NULL!|SPILL!|CALC!)")
_FEW_WORDS, _FEW_LETTERS = 4, 40  # of a cell that is quoted
_SHOWN = 6  # different words of a column in a message


class OddCells:
    """Odd cells by column, so that all words of a column are a single problem.

    >>> cells = OddCells()
    >>> cells.keep("fluency", Place("r.csv", 2), "skip")
    >>> cells.keep("fluency", Place("r.csv", 7), "timeout")
    >>> problems = Findings()
    >>> cells.report(problems)
    >>> print(problems.lines()[0].split(";")[0])
    r.csv: line 2: 'fluency' has 2 cells that are not finite numbers: 1 'skip', 1 'timeout'
    """

    def __init__(self, caller: Caller = Caller.TERMINAL) -> None:
        self._caller = caller
        self._cells: dict[str, list[tuple[Place, str]]] = {}

    def keep(self, column: str, at: Place, cell: str) -> None:
        """Keep a cell of a column, with its place."""
        self._cells.setdefault(column, []).append((at, cell))

    def report(self, problems: Findings) -> None:
        """Add a problem for all words of a column, and for each other kind of cell."""
        for column, cells in self._cells.items():
            words = [(at, cell) for at, cell in cells if is_word(cell)]
            if len({cell for _, cell in words}) > 1:
                at, _ = words[0]
                counts = Counter(cell for _, cell in words)
                what, fix = _describe_words(counts, column, self._caller)
                problems.add(at, what, fix)
                rest = [(at, cell) for at, cell in cells if not is_word(cell)]
            else:
                rest = cells
            for at, cell in rest:
                what, fix = _describe(cell, column, self._caller)
                problems.add(at, what, fix)


def is_word(cell: str) -> bool:
    """Whether a cell may be quoted: a longer one may be a text."""
    if _DATE.match(cell) or _EXCEL_ERROR.fullmatch(cell):
        return False
    return len(cell.split()) <= _FEW_WORDS and len(cell) <= _FEW_LETTERS


def _describe(
    cell: str, column: str, caller: Caller = Caller.TERMINAL
) -> tuple[str, str]:
    """Say what is wrong with a cell, and what to do.

    >>> _describe("2026-03-04 00:00:00", "fluency")[0]
    "'fluency' is a date, 2026-03-04, which Excel makes of entries such as 3-4"
    """
    name = quoted(column)
    fix = "write a number, or leave the cell empty"
    if date := _DATE.match(cell):
        what = f"{name} is a date, {date[0]}, which Excel makes of entries such as 3-4"
        return what, "make the cell text in Excel, and enter it again"
    if _EXCEL_ERROR.fullmatch(cell):
        what = f"{name} is {cell}, an error of Excel"
        return what, "correct the formula, or empty the cell"
    if not is_word(cell):
        what = f"{name} is not a finite number"
        return what, f"{fix}; remove a column of other things"
    what = f"{name} is {quoted(cell)}, which is not a finite number"
    option = caller.option("missing", cell)
    return what, f"{fix}; or, if nobody answered there, say {option}"


def _describe_words(
    counts: Counter[str], column: str, caller: Caller
) -> tuple[str, str]:
    """Say which words a column has, and what to do."""
    n_cells = counted(counts.total(), "cell")
    what = f"{quoted(column)} has {n_cells} that are not finite numbers: {list_words(counts)}"
    option = caller.option("missing", *counts)
    fix = f"write numbers, or leave the cells empty; or, if nobody answered there, say {option}"
    return what, fix


def list_words(counts: Counter[str]) -> str:
    """List the most frequent words, and how often each occurs.

    >>> list_words(Counter({"skip": 2, "timeout": 1}))
    "2 'skip', 1 'timeout'"
    """
    shown = [f"{n:,} {quoted(word)}" for word, n in counts.most_common(_SHOWN)]
    more = f" and {len(counts) - _SHOWN} more" if len(counts) > _SHOWN else ""
    return ", ".join(shown) + more
