"""What forms of studies read of a benchmark's tables, and how they put items together."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from metassay.core.options import Criterion
from metassay.format.frames import rows as rows_of
from metassay.studies.record import (
    Draft,
    DraftRow,
    Question,
    ReadTable,
    SheetText,
    StudyDraft,
    Target,
    TargetQuestion,
)
from metassay.tables.checks import drop_further_references
from metassay.tables.documents import SOURCES
from metassay.tables.names import FULL, REFERENCE
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS
from metassay.text.citations import strip_citations

Drafts = Iterator[Draft | str]  # items of a text, or why it is left out
TextKey = tuple[str, str]  # doc_id and author
TEXT_KEY = ["doc_id", "author"]


class Texts(NamedTuple):
    """Whole texts by doc_id and author, references among them."""

    whole: Mapping[TextKey, str]
    notes: tuple[str, ...]  # what was left out
    datasets: frozenset[str]  # whose text they may repeat

    @property
    def system_keys(self) -> list[TextKey]:
        """The sorted keys of texts that systems wrote."""
        return sorted(key for key in self.whole if key[1] != REFERENCE)


class Claim(NamedTuple):
    """A claim or sentence of a text; `number` counts from 0 in the order of the whole text."""

    number: int
    text: str
    statement: int  # the number of its sentence; -1 if it is of several


def read_texts(read: ReadTable) -> Texts:
    """Read every author's whole texts."""
    parts = drop_further_references(read(PARTS))
    full = parts[parts["part"] == FULL]
    ok = full["status"] == "ok"
    n_failed = (~ok & (full["author"] != REFERENCE)).sum()
    notes = (f"{n_failed} text(s) are left out: the system failed",) * bool(n_failed)
    whole = rows_of(full[ok], *TEXT_KEY, "text")
    texts = {
        (doc, author): strip_citations(text).strip() for doc, author, text in whole
    }
    datasets = frozenset(name for names in full["repeats"] for name in names)
    return Texts(texts, notes, datasets)


def read_inputs(read: ReadTable) -> dict[str, str]:
    """Read each document's source, a line per passage, with its speaker."""
    return {
        doc: "\n".join(
            f"{speaker}: {passage}" if speaker else passage
            for speaker, passage in zip(speakers, passages, strict=True)
        )
        for doc, speakers, passages in rows_of(
            read(SOURCES), "doc_id", "speaker", "passages"
        )
    }


def read_parts(read: ReadTable) -> dict[TextKey, dict[str, str | None]]:
    """Read the leaf parts of each text except the whole; None where a part's text is unknown."""
    parts = read(PARTS)
    leaves = parts[(parts["leaf"] == "yes") & (parts["part"] != FULL)]
    by_text: dict[TextKey, dict[str, str | None]] = {}
    for doc, author, part, text, status in rows_of(
        leaves, *TEXT_KEY, "part", "text", "status"
    ):
        content = strip_citations(text).strip() if status == "ok" else None
        by_text.setdefault((doc, author), {})[part] = content
    return by_text


def read_units(read: ReadTable, kind: str) -> dict[TextKey, list[Claim] | None]:
    """Read claims or statements of each text, in its order; None if any of its units is unknown."""
    parts, units = read(PARTS), read(UNITS)
    first = find_starts(parts)
    order = [first.get(key, 0) for key in rows_of(units, *TEXT_KEY, "part")]
    units = units.assign(order=order).sort_values(["order", "part", "position"])
    return {
        (str(doc), str(author)): _number_claims(of_text, kind)
        for (doc, author), of_text in units.groupby(TEXT_KEY, sort=True)
    }


def find_starts(parts: pd.DataFrame) -> dict[tuple[str, ...], int]:
    """Return where each part of a text starts, by doc_id, author and part."""
    return {
        (doc, author, part): min(starts, default=0)
        for doc, author, part, starts in rows_of(parts, *TEXT_KEY, "part", "starts")
    }


def _number_claims(units: pd.DataFrame, kind: str) -> list[Claim] | None:
    if (units["status"] != "ok").any():
        return None
    places = rows_of(units[units["kind"] == "statement"], "part", "position")
    statements = {place: number for number, place in enumerate(places)}
    of_kind = units[units["kind"] == kind]
    if of_kind["text"].isna().any():
        return None
    columns = ("part", "text", "position" if kind == "statement" else "statement")
    return [
        Claim(number, text, statements.get((part, position), -1))
        for number, (part, text, position) in enumerate(rows_of(of_kind, *columns))
    ]


def draft_items(
    texts: Texts,
    draft: Callable[[str, str], Drafts],
    criteria: Mapping[str, Criterion],
    instructions: tuple[str, ...],
) -> StudyDraft:
    """Draft items of each text of a system; count those left out by reason."""
    items, reasons = list[Draft](), Counter[str]()
    for item in (item for key in texts.system_keys for item in draft(*key)):
        if isinstance(item, str):
            reasons[item] += 1
        else:
            items.append(item)
    notes = [f"{n} text(s) are left out: {reason}" for reason, n in reasons.items()]
    return StudyDraft(
        items, criteria, instructions, (*texts.notes, *notes), texts.datasets
    )


def make_question(
    question: Question, doc: str, author: str, unit: str, criterion: str
) -> TargetQuestion:
    """Ask a question about a unit of a text; its rating is of the criterion."""
    return TargetQuestion(question, Target(doc, author, FULL, unit, criterion))


def make_row(heading: str, text: str, *questions: TargetQuestion) -> DraftRow:
    """Make a row that shows one text below a heading."""
    return DraftRow((SheetText(heading, text),), questions)
