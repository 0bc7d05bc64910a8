"""Read what forms show of a benchmark's tables: texts without citations, inputs, claims in order.

Citations are removed because only some systems cite: they would tell who wrote a text.
"""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import rows
from metassay.studies.record import ReadTable
from metassay.tables.checks import without_further_references
from metassay.tables.documents import SOURCES
from metassay.tables.names import FULL, REFERENCE
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS
from metassay.text.citations import strip_citations

_Text = tuple[str, str]  # doc_id and author
_TEXT = ["doc_id", "author"]


class Texts(NamedTuple):
    """Whole texts by doc_id and author, references among them."""

    whole: Mapping[_Text, str]
    notes: tuple[str, ...]  # what was left out
    datasets: frozenset[str]  # whose text they may repeat

    @property
    def of_systems(self) -> list[_Text]:
        """The sorted keys of texts that systems wrote."""
        return sorted(key for key in self.whole if key[1] != REFERENCE)


class Claim(NamedTuple):
    """A claim or sentence of a text; `number` counts from 0 in the order of the whole text."""

    number: int
    text: str
    statement: int  # the number of its sentence; -1 if it is of several


def read_texts(read: ReadTable) -> Texts:
    """Read every author's whole texts."""
    parts = without_further_references(read(PARTS))
    full = parts[parts["part"] == FULL]
    ok = full["status"] == "ok"
    n_failed = (~ok & (full["author"] != REFERENCE)).sum()
    notes = (f"{n_failed} text(s) are left out: the system failed",) * bool(n_failed)
    whole = rows(full[ok], *_TEXT, "text")
    texts = {(doc, author): strip_citations(text).strip() for doc, author, text in whole}
    datasets = frozenset(name for names in full["repeats"] for name in names)
    return Texts(texts, notes, datasets)


def read_inputs(read: ReadTable) -> dict[str, str]:
    """Read each document's source, a line per passage, with its speaker."""
    return {
        doc: "\n".join(
            f"{speaker}: {passage}" if speaker else passage
            for speaker, passage in zip(speakers, passages, strict=True)
        )
        for doc, speakers, passages in rows(read(SOURCES), "doc_id", "speaker", "passages")
    }


def read_attributes(read: ReadTable) -> dict[str, str | None]:
    """Read the attributes of each document's source, as JSON."""
    return dict(rows(read(SOURCES), "doc_id", "attributes"))


def read_parts(read: ReadTable) -> dict[_Text, dict[str, str | None]]:
    """Read the leaf parts of each text except the whole; None where a part's text is unknown."""
    parts = read(PARTS)
    leaves = parts[(parts["leaf"] == "yes") & (parts["part"] != FULL)]
    by_text: dict[_Text, dict[str, str | None]] = {}
    for doc, author, part, text, status in rows(leaves, *_TEXT, "part", "text", "status"):
        content = strip_citations(text).strip() if status == "ok" else None
        by_text.setdefault((doc, author), {})[part] = content
    return by_text


def read_units(read: ReadTable, kind: str) -> dict[_Text, list[Claim] | None]:
    """Read claims or statements of each text, in its order; None if any of its units is unknown."""
    parts, units = read(PARTS), read(UNITS)
    first = {
        (doc, author, part): min(starts, default=0)
        for doc, author, part, starts in rows(parts, *_TEXT, "part", "starts")
    }
    order = [first.get(key, 0) for key in rows(units, *_TEXT, "part")]
    units = units.assign(order=order).sort_values(["order", "part", "position"])
    return {
        (str(doc), str(author)): _number_claims(of_text, kind)
        for (doc, author), of_text in units.groupby(_TEXT, sort=True)
    }


def _number_claims(units: pd.DataFrame, kind: str) -> list[Claim] | None:
    if (units["status"] != "ok").any():
        return None
    places = rows(units[units["kind"] == "statement"], "part", "position")
    statements = {place: number for number, place in enumerate(places)}
    of_kind = units[units["kind"] == kind]
    if of_kind["text"].isna().any():
        return None
    columns = ("part", "text", "position" if kind == "statement" else "statement")
    return [
        Claim(number, text, statements.get((part, position), -1))
        for number, (part, text, position) in enumerate(rows(of_kind, *columns))
    ]
