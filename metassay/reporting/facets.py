"""Which facets or sections each text has, how much of it they are, and where they stand in it."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.format.frames import rows
from metassay.reporting.contract import Mark
from metassay.reporting.names import sorted_parts
from metassay.statistics.document_means import Reals, Resampling, means
from metassay.tables.names import FULL, sorted_authors
from metassay.tables.summaries import make_frame
from metassay.text.spans import Span

# the row of words that are in no facet; no facet has brackets in its name
NO_FACET = "(in none)"
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

    A text without any of the declared facets lacks them all. Sections are not declared:
    a text without any is UNDIVIDED, and lacks none.
    """

    text: str | None
    status: str
    facets: Mapping[str, Facet]

    def unknown(self, facet: str) -> str:
        """Why nobody knows whether the text has a facet; empty where it is known."""
        status = self.facets[facet].status if facet in self.facets else self.status
        return "" if status == "ok" else status


def facet_names(parts: pd.DataFrame, declared: Sequence[str]) -> list[str]:
    """Return the facets that texts may have, in the order in which they are declared.

    Sections, which nobody declares, are those that any text has, in the order of pages.
    """
    leaves = parts[(parts["leaf"] == "yes") & (parts["part"] != FULL)]
    return [
        *declared,
        *(name for name in sorted_parts(leaves["part"]) if name not in declared),
    ]


def divide_texts(
    parts: pd.DataFrame, declared: Sequence[str]
) -> dict[tuple[str, str], Divided]:
    """Index table parts by doc_id and author; parts that contain others are left out.

    `declared` are the facets that are looked for; none where texts have sections.
    """
    leaves = parts[(parts["leaf"] == "yes") & (parts["part"] != FULL)]
    facets: dict[tuple[str, str], dict[str, Facet]] = {}
    columns = (
        "doc_id",
        "author",
        "part",
        "status",
        "text",
        "starts",
        "ends",
        "made_up",
    )
    for doc_id, author, part, status, text, starts, ends, made_up in rows(
        leaves, *columns
    ):
        pieces = [Span(*span) for span in zip(starts, ends, strict=True)]
        facet = Facet(status, text, pieces, list(made_up))
        facets.setdefault((doc_id, author), {})[part] = facet
    texts = {}
    whole = parts[parts["part"] == FULL]
    for doc_id, author, text, status in rows(
        whole, "doc_id", "author", "text", "status"
    ):
        of_text = facets.get((doc_id, author), {})
        undivided = status == "ok" and not of_text and not declared
        texts[doc_id, author] = Divided(
            text, UNDIVIDED if undivided else status, of_text
        )
    return texts


def facets_table(
    parts: pd.DataFrame, declared: Sequence[str], how: Resampling
) -> pd.DataFrame:
    """Return a row per author and facet, and one (NO_FACET) for words in none; or none at all.

    share: mean over texts of the facet's share of the text's words (split on white
    space; a word in two facets counts half in each), from `n_shares` texts: those with
    words, and of which every facet is known and has its place. An absent facet has
    share 0. The shares of an author add up to
    1. low, high: bootstrap over documents, or clusters of them. Columns:
      `tables.summaries`.
    """
    names, texts = facet_names(parts, declared), divide_texts(parts, declared)
    lines: list[tuple[object, ...]] = []
    documents = sorted({doc_id for doc_id, _ in texts})
    for author in sorted_authors(author for _, author in texts) if names else ():
        of_author = [texts.get((doc_id, author)) for doc_id in documents]
        shares = np.array([_shares(text, names) for text in of_author])
        mean = means(shares, documents, how)
        n_shares = int(np.isfinite(shares[:, 0]).sum())
        for place, name in enumerate([*names, NO_FACET]):
            ends = (mean.mean[place], mean.low[place], mean.high[place])
            lines.append((author, name, *_counts(of_author, name), n_shares, *ends))
    return make_frame("facets", lines)


def _counts(texts: Sequence[Divided | None], name: str) -> tuple[int, ...]:
    """Return n_texts to n_made_up; of the words in no facet only how many texts there are."""
    written = [text for text in texts if text is not None]
    if name == NO_FACET:
        return (len(written), 0, 0, 0, 0, 0, 0, 0)
    known = [
        text.facets.get(name, _NOTHING) for text in written if not text.unknown(name)
    ]
    undivided = sum(text.status == UNDIVIDED for text in written)
    present = sum(facet.present for facet in known)
    made_up = sum(len(facet.made_up) for facet in known)
    stretches = sum(len(facet.pieces) or bool(facet.text) for facet in known)
    return (
        len(written),
        present,
        len(known) - present,
        sum(bool(facet.made_up) and not facet.present for facet in known),
        len(written) - len(known) - undivided,
        undivided,
        stretches + made_up,
        made_up,
    )


def _shares(divided: Divided | None, names: Sequence[str]) -> list[float]:
    """Return each facet's share of the words, then that of words in none; NaN where unknown."""
    unknown = [float("nan")] * (len(names) + 1)
    if divided is None or divided.text is None or any(map(divided.unknown, names)):
        return unknown
    if any(facet.present and not facet.pieces for facet in divided.facets.values()):
        return unknown
    words: Reals = np.array(
        [float(match.start()) for match in re.finditer(r"\S+", divided.text)]
    )
    if not len(words):
        return unknown
    inside: Reals = np.zeros((len(names), len(words)))
    for place, name in enumerate(names):
        for start, end in divided.facets[name].pieces if name in divided.facets else ():
            inside[place] += (start <= words) & (words < end)
    # pieces of one facet don't overlap, and count once if they do
    once = np.minimum(inside, 1)
    facets = once.sum(axis=0)
    shares = (once / np.maximum(facets, 1)).mean(axis=1)
    return [*map(float, shares), float(np.mean(facets == 0))]


# Facets of one text: what stands where, what is absent, made up or unknown.


def marks_of(divided: Divided, names: Sequence[str]) -> list[Mark]:
    """Return where the facets of `names` stand in the text, cut where any starts or ends.

    Where several have a stretch, the first of `names` is marked; ends count in
    characters.
    """
    if divided.text is None:
        return []
    facets = divided.facets
    pieces = [
        (span, name) for name in names if name in facets for span in facets[name].pieces
    ]
    edges = sorted(
        {min(max(end, 0), len(divided.text)) for span, _ in pieces for end in span}
    )
    marks = []
    for start, end in pairwise(edges):
        over = [
            name for span, name in pieces if span.start <= start and end <= span.end
        ]
        if over:
            marks.append(Mark(start, end, over[0]))
    return marks


def what_lacks(divided: Divided, names: Sequence[str]) -> str:
    """Say which facets the text lacks, which nobody knows, and what a model made up.

    Empty where there is nothing to say, and of a text that failed as a whole or is
    undivided.
    """
    if divided.text is None or divided.status == UNDIVIDED:
        return ""
    facets = divided.facets
    why = {name: divided.unknown(name) for name in names}
    absent = [n for n in names if not why[n] and not facets.get(n, _NOTHING).present]
    unknown = [f"{name} ({reason})" for name, reason in why.items() if reason]
    made_up = [
        f"{name}: {'; '.join(f'“{piece}”' for piece in facet.made_up)}"
        for name, facet in facets.items()
        if facet.made_up and name in names
    ]
    notes = {"Absent": ", ".join(absent), "Unknown": ", ".join(unknown)}
    notes["Returned, but not in the text"] = "; ".join(made_up)
    return " ".join(f"{what}: {which}." for what, which in notes.items() if which)
