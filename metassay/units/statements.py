"""Statements: the sentences of a part with their citations, and the table of units."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.tables.checks import check_sources, drop_further_references, rows_of
from metassay.tables.units import UNITS
from metassay.text.citations import parse, strip_citations
from metassay.text.sentences import lead_ins, sentences

# DocLens's marks in the texts that its Table 24 scores (compat doclens-table24).
EMPTY_SECTION = "#####EMPTY#####"  # in place of an absent section
LINE_BREAK = "__lf1__"  # in place of a newline inside a section

Place = tuple[str, str, str]  # doc_id, author, part


class Statement(NamedTuple):
    """A sentence without its citations, the cited passages, and the span of both in the part."""

    text: str
    citations: tuple[int, ...]
    start: int
    end: int


def statements(text: str) -> list[Statement]:
    """Return the statements of a part's text, in order.

    `start` and `end` are those of the sentence with its citations. Sentences without
    letters or digits outside citations are left out, and so is the mark of an absent
    section; `__lf1__` of compat doclens-table24 counts as a line break.

    >>> [(s.text, s.citations) for s in statements("No fever [2]. Rest.")]
    [('No fever.', (2,)), ('Rest.', ())]
    """
    spans = sentences(plain_lines(text, same_length=True))
    read = [Statement(*parse(text[start:end]), start, end) for start, end in spans]
    return [statement for statement in read if any(map(str.isalnum, statement.text))]


def lead_in_notes(parts: pd.DataFrame) -> list[str]:
    """Return a note on the lines of leaf parts that introduce others and so are not judged."""
    counts: Counter[str] = Counter()
    for _, author, _, text in leaves(parts):
        if lines := len(lead_ins(plain_lines(text, same_length=True))):
            counts[author] += lines
    if not counts:
        return []
    listed = ", ".join(f"{author} {n:,}" for author, n in sorted(counts.items()))
    return [
        f'{counts.total():,} lines only introduce others, as "Blood pressure:" does, and are'
        f" not judged: {listed}"
    ]


def plain_lines(text: str, *, same_length: bool = False) -> str:
    """Replace DocLens's marks by white space, that of an absent section by none."""
    empty, blank = (len(EMPTY_SECTION), len(LINE_BREAK) - 1) if same_length else (0, 0)
    return text.replace(EMPTY_SECTION, " " * empty).replace(
        LINE_BREAK, "\n" + " " * blank
    )


def units_of(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    rule: Callable[[str], Sequence[str]] | None,
) -> pd.DataFrame:
    """Return the statements of the leaf parts, and their claims by `rule`: rows of UNITS.

    Every leaf part with status ok has its statements, with citations and spans, and
    their claims, without either but with the position of their statement. A text of
    task `question` is a single claim; its statement is null if it has several
    sentences. Other parts have no units: the claims of a failed part are unknown, as
    its status in PARTS says. Without a rule there are statements only.

    Raises BadInput if a part's doc_id is not in sources.
    """
    tasks = tasks_of(parts, sources)
    rows: list[tuple[object, ...]] = []
    for doc_id, author, part, text in leaves(parts):
        place = (doc_id, author, part)
        read = statements(text)
        for position, statement in enumerate(read):
            rows.append(_statement_row(place, position, statement))
        claims: list[tuple[int | None, str]] = []
        if rule is not None and tasks[doc_id] == "question":
            whole = (0 if len(read) == 1 else None, strip_citations(text).strip())
            claims = [whole] if read else []
        elif rule is not None:
            for position, statement in enumerate(read):
                claims += [(position, claim) for claim in rule(statement.text)]
        for position, (of_statement, claim) in enumerate(claims):
            rows.append(claim_row(place, position, claim, statement=of_statement))
    return unit_rows(rows)


def _statement_row(
    place: Place, position: int, statement: Statement
) -> tuple[object, ...]:
    citations = list(statement.citations)
    span = (statement.start, statement.end)
    return (*place, "statement", position, statement.text, "ok", citations, None, *span)


def claim_row(
    place: Place, position: int, claim: str, *, statement: int | None = None
) -> tuple[object, ...]:
    """Return a claim's row of table `units`; `statement`: the position of its statement."""
    return (*place, "claim", position, claim, "ok", [], statement, None, None)


def unit_rows(rows: Iterable[tuple[object, ...]]) -> pd.DataFrame:
    """Return table UNITS of rows."""
    frame = pd.DataFrame(rows, columns=list(UNITS.columns))
    return frame.astype({"statement": "Int64", "start": "Int64", "end": "Int64"})


def tasks_of(parts: pd.DataFrame, sources: pd.DataFrame) -> dict[str, str]:
    """Return the task of each document; BadInput if a part's document is not in sources."""
    check_sources("parts", parts["doc_id"], sources)
    return dict(zip(sources["doc_id"], sources["task"], strict=True))


def leaves(parts: pd.DataFrame) -> list[tuple[str, str, str, str]]:
    """Return doc_id, author, part and text of the leaf parts with status ok, in their order."""
    rows = drop_further_references(parts)
    rows = rows[(rows["leaf"] == "yes") & (rows["status"] == "ok")]
    return list(rows_of(rows, "doc_id", "author", "part", "text"))
