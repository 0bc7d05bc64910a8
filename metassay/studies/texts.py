"""What forms show of a benchmark's tables: texts without citations, inputs, claims in order.

Citations go, because some systems cite and others do not: they would tell who wrote a text.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from metassay.checks import without_further_references
from metassay.studies.record import Reads
from metassay.tables.documents import SOURCES
from metassay.tables.names import FULL, REFERENCE
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS
from metassay.text.citations import strip_citations

_Text = tuple[str, str]  # doc_id and author


class Written(NamedTuple):
    """Texts that there are, by doc_id and author, the reference's among them."""

    whole: Mapping[_Text, str]
    failed: int  # texts of systems that are not there
    datasets: frozenset[str]  # whose text they may repeat

    @property
    def of_systems(self) -> list[_Text]:
        """Who wrote what, the reference left out, sorted."""
        return sorted(one for one in self.whole if one[1] != REFERENCE)

    @property
    def notes(self) -> list[str]:
        """What was left out."""
        return [f"{self.failed} text(s) are left out: the system failed"] if self.failed else []


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
    failed = full[(full["status"] != "ok") & (full["author"] != REFERENCE)]
    columns: Any = (there[name] for name in ("doc_id", "author", "text"))
    texts = {(doc, author): shown(text) for doc, author, text in zip(*columns, strict=True)}
    datasets = frozenset(name for names in full["repeats"] for name in names)
    return Written(texts, len(failed), datasets)


def shown(text: str) -> str:
    """A text as raters read it."""
    return strip_citations(text).strip()


def inputs(read: Reads) -> dict[str, str]:
    """What each document's texts were written from, a passage a line, with who said it."""
    sources = read(SOURCES)
    return {
        doc: "\n".join(
            f"{who}: {said}" if who else said for who, said in zip(speaker, passages, strict=True)
        )
        for doc, speaker, passages in zip(
            sources["doc_id"], sources["speaker"], sources["passages"], strict=True
        )
    }


def attributes(read: Reads) -> dict[str, str | None]:
    """What else the input of each document carries, as JSON."""
    sources = read(SOURCES)
    plain = sources["attributes"].astype(object).where(sources["attributes"].notna(), None)
    return dict(zip(sources["doc_id"], plain, strict=True))


def parts_of(read: Reads) -> dict[_Text, dict[str, str | None]]:
    """The leaf parts of each text but the whole; None where a part's text is not known."""
    parts = read(PARTS)
    leaves = parts[(parts["leaf"] == "yes") & (parts["part"] != FULL)]
    found: dict[_Text, dict[str, str | None]] = {}
    columns: Any = (leaves[name] for name in ("doc_id", "author", "part", "text", "status"))
    for doc, author, part, text, status in zip(*columns, strict=True):
        known = shown(text) if status == "ok" else None
        found.setdefault((doc, author), {})[part] = known
    return found


def units_of(read: Reads, kind: str) -> dict[_Text, list[Claim] | None]:
    """Claims or statements of each text in its own order; None where any of its are unknown."""
    parts, units = read(PARTS), read(UNITS)
    where = {
        (doc, author, part): min(starts, default=0)
        for doc, author, part, starts in zip(
            *(parts[name] for name in ("doc_id", "author", "part", "starts")), strict=True
        )
    }
    found: dict[_Text, list[Claim] | None] = {}
    for (doc, author), rows in units.groupby(["doc_id", "author"], sort=True):
        order = pd.Series(
            [where.get((doc, author, part), 0) for part in rows["part"]], index=rows.index
        )
        placed = rows.assign(order=order).sort_values(["order", "part", "position"])
        found[str(doc), str(author)] = _numbered(placed, kind)
    return found


def _numbered(rows: pd.DataFrame, kind: str) -> list[Claim] | None:
    if (rows["status"] != "ok").any():
        return None
    said = rows[rows["kind"] == "statement"]
    places = zip(said["part"], said["position"], strict=True)
    statements = {place: number for number, place in enumerate(places)}
    mine = rows[rows["kind"] == kind]
    if mine["text"].isna().any():
        return None
    found = []
    columns: Any = (mine[name] for name in ("part", "position", "text", "statement"))
    for number, (part, position, text, statement) in enumerate(zip(*columns, strict=True)):
        cut_from = position if kind == "statement" else statement
        known = None if pd.isna(cut_from) else statements.get((part, int(cut_from)))
        found.append(Claim(number, str(text), -1 if known is None else known))
    return found
