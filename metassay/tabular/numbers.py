"""Read the numbers of a column as people and programs write them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from metassay.tabular.cell_words import GRADES, LABELS, VERDICTS
from metassay.tabular.decoding import finite_number
from metassay.tabular.rows import Findings, Place

MISSING = frozenset(("", "na", "n/a", "nan"))  # as a cell, in any case
# Further signs of a missing number: of pandas, Excel, SAS, and of people.
_NO_NUMBER = MISSING | {"null", "<na>", "#n/a", "none", "missing", "-", "–", "—", "."}
_NO_NUMBER |= {"--", "---"}
_INSPECT = {"i": 0.0, "n": 0.0, "p": 0.5, "c": 1.0}
# Labels in words, each with its number. Verdicts say which is better.
_VERDICTS: tuple[dict[str, float], ...] = (
    *({worse: 0.0, better: 1.0} for worse, better in VERDICTS),
    _INSPECT,
)
_LABELS: tuple[dict[str, float], ...] = (
    *({no: 0.0, yes: 1.0} for no, yes in LABELS),
    *_VERDICTS,
)
_MOST = 0.5  # the smallest share of labels in a column of labels
_STARS = re.compile(
    r"([★⭐]+)[☆✩]*\ufe0f?|(\d+(?:\.\d+)?)\s*(?:stars?|sterne?|★|⭐)", re.IGNORECASE
)
_OUT_OF = re.compile(r"(\d+(?:[.,]\d+)?)\s*(?:/|out of|von)\s*(\d+)", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_DIGITS = re.compile(r"[+-]?\d[\d.,'’ ]*%?", re.ASCII)
_POINT = re.compile(r"[+-]?\d+\.\d+%?", re.ASCII)
_GROUPED = re.compile(
    r"[+-]?\d{1,3}(?:(?:\.\d{3})+,\d+|(?:,\d{3})+\.\d+|(?:['’ ]\d{3})+(?:[.,]\d+)?"
    r"|(?:\.\d{3}){2,}|(?:,\d{3}){2,})"
)
# `1 - very poor`, `5 (excellent)`, `3: fair`; not `1-2`, and no date.
_LABELLED = re.compile(
    r"([+-]?\d+)(?:\s+[-–—]\s+|\s*[=:)]\s*|\s+\()(?=[^\d\s]).*", re.DOTALL
)


class NumberFormat(NamedTuple):
    """How the numbers of a column are written; `fault` says why they are ambiguous."""

    words: Mapping[str, float] = {}  # folded
    commas: bool = False  # 3,5 is 3.5
    fault: str = ""
    missing: frozenset[str] = frozenset()  # words of the user for no answer, folded

    @property
    def has_verdicts(self) -> bool:
        """Whether the words say by themselves which is better: pass and fail, not yes and no."""
        return self.words in _VERDICTS

    def number(self, cell: str) -> float | None:
        """Return the number of a cell, 45 % as 0.45; None if it is no number."""
        if self.words:
            return self.words.get(cell.casefold())
        if (plain := finite_number(cell)) is not None:
            return plain
        if cell.endswith("%"):
            percent = self.number(cell[:-1].rstrip())
            return None if percent is None else percent / 100
        if self.commas and _COMMA.fullmatch(cell):
            cell = cell.replace(",", ".")
        if stars := _STARS.fullmatch(cell):
            return float(len(stars[1]) if stars[1] else stars[2])
        if share := _OUT_OF.fullmatch(cell):
            return self.number(share[1])
        labelled = _LABELLED.fullmatch(cell)
        return finite_number(labelled[1] if labelled else cell)

    def read(
        self, cell: str, at: Place, what: str, remedy: str, problems: Findings
    ) -> float | None:
        """Return the number; None if it is missing or, with the problem `what`, no number."""
        if self.is_missing(cell) or self.fault:
            return None
        if (number := self.number(cell)) is None:
            # not quoted: the cell may be a remark on the text
            problems.add(at, what, remedy)
        return number

    def is_missing(self, cell: str) -> bool:
        """Whether the cell is empty or a sign of a missing number."""
        folded = cell.strip().casefold()
        if is_among(folded, self.missing):
            return True
        return folded not in self.words and folded in _NO_NUMBER


def find_format(
    cells: Iterable[str],
    *,
    semicolons: bool,
    words: Sequence[str] = (),
    missing: frozenset[str] = frozenset(),
) -> NumberFormat:
    """Find how the numbers of a column are written.

    `cells` are its different cells, or how often each of them occurs. `words` are its
    grades in order, which count from 1. A column of yes and no, pass and fail, correct
    and incorrect is 1 and 0, though a few cells may be other words, which have no
    number; 4/5, "4 stars" and "★★★★☆" are 4. Whether 3,5 is 3.5 depends on the whole
    column, unless semicolons separate the file's columns. `missing` are words that mean
    that there is no answer.
    """
    if words:
        grades = {word.casefold(): float(n) for n, word in enumerate(words, start=1)}
        return NumberFormat(grades, missing=missing)
    counts = Counter[str]()
    for cell, n in Counter(cells).items():
        counts[cell.casefold()] += n
    nothing = _NO_NUMBER | missing
    values = {cell: n for cell, n in counts.items() if cell not in nothing}
    if labels := _find_labels(values):
        return NumberFormat(labels, missing=missing)
    shares = [match[2] for cell in values if (match := _OUT_OF.fullmatch(cell))]
    if len(set(shares)) > 1:
        fault = "has numbers out of several maxima, such as 4/5 and 7/10"
        return NumberFormat(fault=fault)
    if shares and any(finite_number(cell) is not None for cell in values):
        fault = "has numbers such as 4/5, and others without a maximum"
        return NumberFormat(fault=fault)
    without_percent = {cell.removesuffix("%").rstrip() for cell in values}
    with_comma = [cell for cell in without_percent if _COMMA.fullmatch(cell)]
    percent = [cell for cell in values if cell.endswith("%")]
    fault = ""
    if percent and len(percent) < len(values.keys() - {"0"}):
        fault = "has numbers with a percent sign and others without"
    elif any(_GROUPED.fullmatch(cell) for cell in without_percent):
        fault = "has numbers with a mark between thousands"
    elif with_comma and any(_POINT.fullmatch(cell) for cell in without_percent):
        fault = "has numbers with a comma and others with a point"
    elif with_comma and not semicolons and all(map(_THOUSANDS.fullmatch, with_comma)):
        fault = "has numbers such as 1,234, which may mean a thousand or a fraction"
    return NumberFormat(commas=bool(with_comma), fault=fault, missing=missing)


def _find_labels(values: Mapping[str, int]) -> Mapping[str, float]:
    """Return the labels that a column has, alone or nearly; {} if it has none.

    `values` are its cells and how often each occurs.
    """
    if not values:
        return {}
    for labels in _LABELS:
        if values.keys() <= labels.keys() and (
            labels is not _INSPECT or {"c", "i"} <= values.keys()
        ):
            return labels
    if order_grades(values):  # yes, partly, no
        return {}
    pairs = [labels for labels in _LABELS if labels is not _INSPECT]
    shares = [sum(values.get(word, 0) for word in labels) for labels in pairs]
    most = max(range(len(pairs)), key=shares.__getitem__)
    return pairs[most] if shares[most] > _MOST * sum(values.values()) else {}


def is_among(cell: str, words: Collection[str]) -> bool:
    """Whether a cell is one of the user's words, folded, or the same number as one.

    >>> is_among("-9.0", {"-9", "skip"})
    True
    """
    folded = cell.strip().casefold()
    if folded in words:
        return True
    number = finite_number(folded) if words else None
    return number is not None and number in map(finite_number, words)


def is_blank(cell: str) -> bool:
    """Whether a cell is empty or `na`, `n/a`, `nan`."""
    return cell.strip().casefold() in MISSING


def looks_numeric(cell: str) -> bool:
    """Whether a cell has digits and marks alone; the number can be ambiguous."""
    return bool(_DIGITS.fullmatch(cell))


def order_grades(cells: Iterable[str]) -> list[str]:
    """Return the cells in the order of usual grades in words; [] if they are no such grades."""
    folded = {cell.casefold() for cell in cells}
    for grades in GRADES:
        values = folded - (_NO_NUMBER - {*grades})  # such as none, mild, severe
        if len(values) > 1 and values <= set(grades):
            return [grade for grade in grades if grade in values]
    return []
