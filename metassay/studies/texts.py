"""What forms show of a benchmark's tables: texts without citations, inputs, claims in order.

Citations go, because some systems cite and others do not: they would tell who wrote a text.
"""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import rows
from metassay.studies.record import Reads
from metassay.tables.checks import without_further_references
from metassay.tables.documents import SOURCES
from metassay.tables.names import FULL, REFERENCE
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS
from metassay.text.citations import strip_citations

_Text = tuple[str, str]  # doc_id and author
_TEXT = ["doc_id", "author"]


class Written(NamedTuple):
    """Texts that there are, by doc_id and author, the reference's among them."""

    whole: Mapping[_Text, str]
    notes: tuple[str, ...]  # what was left out
    datasets: frozenset[str]  # whose text they may repeat

    @property
    def of_systems(self) -> list[_Text]:
        """Who wrote what, the reference left out, sorted."""
        return sorted(one for one in self.whole if one[1] != REFERENCE)


class Claim(NamedTuple):
    """A claim or sentence of a text; `number` counts from 0 over the whole text, in its order."""

    number: int
    text: str
    statement: int  # the number of its sentence; -1 if it is of several


def written(read: Reads) -> Written:
    """Every author's whole texts."""
    parts = without_further_references(read(PARTS))
    full = parts[parts["part"] == FULL]
    there = full[full["status"] == "ok"]
    failed = ((full["status"] != "ok") & (full["author"] != REFERENCE)).sum()
    notes = (f"{failed} text(s) are left out: the system failed",) * bool(failed)
    texts = {(doc, author): shown(text) for doc, author, text in rows(there, *_TEXT, "text")}
    datasets = frozenset(name for names in full["repeats"] for name in names)
    return Written(texts, notes, datasets)


def shown(text: str) -> str:
    """A text as raters read it."""
    return strip_citations(text).strip()


def inputs(read: Reads) -> dict[str, str]:
    """What each document's texts were written from, a passage a line, with who said it."""
    return {
        doc: "\n".join(
            f"{who}: {passage}" if who else passage
            for who, passage in zip(speaker, passages, strict=True)
        )
        for doc, speaker, passages in rows(read(SOURCES), "doc_id", "speaker", "passages")
    }


def attributes(read: Reads) -> dict[str, str | None]:
    """What else the input of each document carries, as JSON."""
    return dict(rows(read(SOURCES), "doc_id", "attributes"))


def parts_of(read: Reads) -> dict[_Text, dict[str, str | None]]:
    """The leaf parts of each text but the whole; None where a part's text is not known."""
    parts = read(PARTS)
    leaves = parts[(parts["leaf"] == "yes") & (parts["part"] != FULL)]
    found: dict[_Text, dict[str, str | None]] = {}
    for doc, author, part, text, status in rows(leaves, *_TEXT, "part", "text", "status"):
        known = shown(text) if status == "ok" else None
        found.setdefault((doc, author), {})[part] = known
    return found


def units_of(read: Reads, kind: str) -> dict[_Text, list[Claim] | None]:
    """Claims or statements of each text in its own order; None where any of its are unknown."""
    parts, units = read(PARTS), read(UNITS)
    begins = {
        (doc, author, part): min(starts, default=0)
        for doc, author, part, starts in rows(parts, *_TEXT, "part", "starts")
    }
    order = [begins.get(key, 0) for key in rows(units, *_TEXT, "part")]
    placed = units.assign(order=order).sort_values(["order", "part", "position"])
    return {
        (str(doc), str(author)): _numbered(of_text, kind)
        for (doc, author), of_text in placed.groupby(_TEXT, sort=True)
    }


def _numbered(units: pd.DataFrame, kind: str) -> list[Claim] | None:
    if (units["status"] != "ok").any():
        return None
    places = rows(units[units["kind"] == "statement"], "part", "position")
    statements = {place: number for number, place in enumerate(places)}
    of_kind = units[units["kind"] == kind]
    if of_kind["text"].isna().any():
        return None
    columns = ("part", "text", "position" if kind == "statement" else "statement")
    return [
        Claim(number, text, statements.get((part, cut_from), -1))
        for number, (part, text, cut_from) in enumerate(rows(of_kind, *columns))
    ]
