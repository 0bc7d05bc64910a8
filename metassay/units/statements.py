"""Statements: the sentences of a part, what each cites, and the claims that a rule finds."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.tables.checks import check_sources, rows_of, without_further_references
from metassay.tables.units import UNITS
from metassay.text.citations import parse, strip_citations
from metassay.text.sentences import sentences

# DocLens's marks in the texts that its Table 24 scores (compat doclens-table24).
EMPTY_SECTION = "#####EMPTY#####"  # in the place of an absent section
LINE_BREAK = "__lf1__"  # in the place of a newline inside a section

Place = tuple[str, str, str]  # doc_id, author, part


class Statement(NamedTuple):
    """A sentence without its citations, the passages cited, and where both stand in the part."""

    text: str
    citations: tuple[int, ...]
    start: int
    end: int


def statements(text: str) -> list[Statement]:
    """The statements of a part's text, in order.

    `start` and `end` are those of the sentence with its citations. What has no letter and no digit
    but in citations states nothing, nor does the mark of an absent section; a `__lf1__` of compat
    doclens-table24 is the line break it stands for.
    """
    found = []
    for start, end in sentences(plain_lines(text, same_length=True)):
        said, citations = parse(text[start:end])
        if any(map(str.isalnum, said)):
            found.append(Statement(said, citations, start, end))
    return found


def plain_lines(text: str, *, same_length: bool = False) -> str:
    """The text with white space for DocLens's marks, or none for an absent section."""
    empty, blank = (len(EMPTY_SECTION), len(LINE_BREAK) - 1) if same_length else (0, 0)
    return text.replace(EMPTY_SECTION, " " * empty).replace(LINE_BREAK, "\n" + " " * blank)


def units_of(
    parts: pd.DataFrame, sources: pd.DataFrame, rule: Callable[[str], Sequence[str]] | None
) -> pd.DataFrame:
    """Statements of the leaf parts, with the claims that `rule` makes of each: rows of UNITS.

    Every leaf part with status ok gives its statements, with citations and spans, and their claims,
    without either but with the position of their statement. Of a text of task `question`, the whole
    text is the one claim; its statement is null if it has several sentences. Other parts give no
    units: a failed part has unknown claims, not none, which its status in PARTS says.
    Without a rule there are statements only.

    Raises BadInput if a part's doc_id is not in sources.
    """
    tasks = tasks_of(parts, sources)
    rows: list[tuple[object, ...]] = []
    for *place, text in leaves(parts):
        said = statements(text)
        rows += [
            (*place, "statement", at, one.text, "ok", list(one.citations), None, one.start, one.end)
            for at, one in enumerate(said)
        ]
        claims: list[tuple[int | None, str]] = []
        if rule is not None and tasks[place[0]] == "question":
            whole = (0 if len(said) == 1 else None, strip_citations(text).strip())
            claims = [whole] if said else []
        elif rule is not None:
            claims = [(at, claim) for at, one in enumerate(said) for claim in rule(one.text)]
        rows += [
            (*place, "claim", position, claim, "ok", [], statement, None, None)
            for position, (statement, claim) in enumerate(claims)
        ]
    return unit_rows(rows)


def unit_rows(rows: Iterable[tuple[object, ...]]) -> pd.DataFrame:
    """Table UNITS of rows."""
    frame = pd.DataFrame(rows, columns=list(UNITS.columns))
    return frame.astype({"statement": "Int64", "start": "Int64", "end": "Int64"})


def tasks_of(parts: pd.DataFrame, sources: pd.DataFrame) -> dict[str, str]:
    """The task of each document; BadInput if a part's is not in sources."""
    check_sources("parts", parts["doc_id"], sources)
    return dict(zip(sources["doc_id"], sources["task"], strict=True))


def leaves(parts: pd.DataFrame) -> list[tuple[str, str, str, str]]:
    """The leaf parts with status ok: doc_id, author, part and text, in the order of `parts`."""
    found = without_further_references(parts)
    found = found[(found["leaf"] == "yes") & (found["status"] == "ok")]
    return list(rows_of(found, "doc_id", "author", "part", "text"))
