"""Which facets or sections each text has, how much of it they are, and texts with them marked."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.format.frames import rows
from metassay.reporting.contract import Mark
from metassay.reporting.names import sorted_authors, sorted_parts
from metassay.statistics.document_means import Reals, Resampling, means
from metassay.tables.names import FULL
from metassay.tables.summaries import framed
from metassay.text.spans import Span

NO_FACET = "(in none)"  # the row of the words that no facet holds; brackets are in no facet's name

UNDIVIDED = "undivided"  # status of a text in which no section was found


class Facet(NamedTuple):
    """One facet of one text; `pieces` is empty where there is nothing of it, or nobody knows."""

    status: str
    text: str | None
    pieces: Sequence[Span]
    made_up: Sequence[str]

    @property
    def present(self) -> bool:
        """Whether the text has words of it."""
        return bool(self.pieces) or bool(self.text)


_NOTHING = Facet("ok", "", (), ())


class Divided(NamedTuple):
    """One text: as a whole (None: it failed, with that status), and its facets by name.

    A text without any of the facets that are looked for lacks them all. Sections are looked for by
    nobody: a text without any is UNDIVIDED, and lacks none.
    """

    text: str | None
    status: str
    facets: Mapping[str, Facet]

    def unknown(self, facet: str) -> str:
        """Why nobody knows whether the text has a facet; empty where it is known."""
        found = self.facets.get(facet)
        if found is not None:
            return "" if found.status == "ok" else found.status
        return "" if self.status == "ok" else self.status


Texts = Mapping[tuple[str, str], Divided]  # by doc_id and author


def facet_names(parts: pd.DataFrame, declared: Sequence[str]) -> list[str]:
    """The facets that texts may have, in the order in which they are declared.

    Sections, which nobody declares, are those that any text has, in the order of pages.
    """
    found = parts[(parts["leaf"] == "yes") & (parts["part"] != FULL)]
    return [*declared, *(name for name in sorted_parts(found["part"]) if name not in declared)]


def divided(parts: pd.DataFrame, declared: Sequence[str]) -> dict[tuple[str, str], Divided]:
    """Table parts text by text; parts that contain others are left out.

    `declared` are the facets that are looked for; none where texts have sections.
    """
    whole = parts[parts["part"] == FULL]
    leaves = parts[(parts["leaf"] == "yes") & (parts["part"] != FULL)]
    facets: dict[tuple[str, str], dict[str, Facet]] = {}
    columns = ("doc_id", "author", "part", "status", "text", "starts", "ends", "made_up")
    for doc_id, author, part, status, text, starts, ends, made_up in rows(leaves, *columns):
        pieces = [Span(*ends_of) for ends_of in zip(starts, ends, strict=True)]
        facet = Facet(status, text, pieces, list(made_up))
        facets.setdefault((doc_id, author), {})[part] = facet
    found = {}
    for doc_id, author, text, status in rows(whole, "doc_id", "author", "text", "status"):
        own = facets.get((doc_id, author), {})
        whole_only = status == "ok" and not own and not declared
        found[doc_id, author] = Divided(text, UNDIVIDED if whole_only else status, own)
    return found


def facets_table(parts: pd.DataFrame, declared: Sequence[str], how: Resampling) -> pd.DataFrame:
    """One row per author and facet, and one (NO_FACET) for words in none; empty without facets.

    share: mean over texts of the facet's share of the text's words (split on white space; a word in
    two facets counts half in each), from `n_shares` texts: those with words, and of which every
    facet is known and has its place. An absent facet has share 0. The shares of an author add up to
    1. low, high: bootstrap over documents, or clusters of them. Columns: `tables.summaries`.
    """
    names, texts = facet_names(parts, declared), divided(parts, declared)
    made: list[tuple[object, ...]] = []
    documents = sorted({doc_id for doc_id, _ in texts})
    for author in sorted_authors(author for _, author in texts) if names else ():
        mine = [texts.get((doc_id, author)) for doc_id in documents]
        shares = np.array([_shares(one, names) for one in mine])
        mean = means(shares, documents, how)
        known = int(np.isfinite(shares[:, 0]).sum())
        for place, name in enumerate([*names, NO_FACET]):
            ends = (mean.mean[place], mean.low[place], mean.high[place])
            made.append((author, name, *_counts(mine, name), known, *ends))
    return framed("facets", made)


def _counts(texts: Sequence[Divided | None], name: str) -> tuple[int, ...]:
    """n_texts to n_made_up; of the words in no facet only how many texts there are."""
    there = [one for one in texts if one is not None]
    if name == NO_FACET:
        return (len(there), 0, 0, 0, 0, 0, 0, 0)
    known = [one.facets.get(name, _NOTHING) for one in there if not one.unknown(name)]
    undivided = sum(one.status == UNDIVIDED for one in there)
    present = sum(facet.present for facet in known)
    made_up = sum(len(facet.made_up) for facet in known)
    stretches = sum(len(facet.pieces) or bool(facet.text) for facet in known)
    return (
        len(there),
        present,
        len(known) - present,
        sum(bool(facet.made_up) and not facet.present for facet in known),
        len(there) - len(known) - undivided,
        undivided,
        stretches + made_up,
        made_up,
    )


def _shares(one: Divided | None, names: Sequence[str]) -> list[float]:
    """Each facet's share of the words, then that of words in none; NaN where not known."""
    unknown = [float("nan")] * (len(names) + 1)
    if one is None or one.text is None or any(one.unknown(name) for name in names):
        return unknown
    if any(facet.present and not facet.pieces for facet in one.facets.values()):
        return unknown
    words: Reals = np.array([float(match.start()) for match in re.finditer(r"\S+", one.text)])
    if not len(words):
        return unknown
    held: Reals = np.zeros((len(names), len(words)))
    for place, name in enumerate(names):
        for start, end in one.facets[name].pieces if name in one.facets else ():
            held[place] += (start <= words) & (words < end)
    once = np.minimum(held, 1)  # pieces of one facet don't overlap, and count once if they do
    holders = once.sum(axis=0)
    each = (once / np.maximum(holders, 1)).mean(axis=1)
    return [*map(float, each), float(np.mean(holders == 0))]


# A text with its facets marked: what stands where, what is absent, made up or unknown.


def marks_of(one: Divided, names: Sequence[str]) -> list[Mark]:
    """Where the facets of `names` stand in the text, cut where any starts or ends, in order.

    Where several hold a stretch, the first of `names` is marked; ends count in characters.
    """
    if one.text is None:
        return []
    pieces = [
        (place, name) for name in names if name in one.facets for place in one.facets[name].pieces
    ]
    edges = sorted({min(max(end, 0), len(one.text)) for place, _ in pieces for end in place})
    made = []
    for start, end in pairwise(edges):
        over = [name for place, name in pieces if place.start <= start and end <= place.end]
        if over:
            made.append(Mark(start, end, over[0]))
    return made


def lacks(one: Divided, names: Sequence[str]) -> str:
    """Which facets the text has no word of, which nobody knows, and what a model made up.

    Empty where there is nothing to say, and of a text that failed as a whole or is undivided.
    """
    if one.text is None or one.status == UNDIVIDED:
        return ""
    known = {name: one.facets.get(name, _NOTHING) for name in names if not one.unknown(name)}
    absent = [name for name, facet in known.items() if not facet.present]
    unknown = [f"{name} ({one.unknown(name)})" for name in names if name not in known]
    made_up = [
        f"{name}: {'; '.join(f'“{piece}”' for piece in facet.made_up)}"
        for name, facet in one.facets.items()
        if facet.made_up and name in names
    ]
    said = {"Absent": ", ".join(absent), "Unknown": ", ".join(unknown)}
    said["Returned, but not in the text"] = "; ".join(made_up)
    return " ".join(f"{what}: {which}." for what, which in said.items() if which)
