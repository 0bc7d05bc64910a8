"""Which facets or sections each text has, how much of it they are, and texts with them marked."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.format.frames import records, rows
from metassay.format.numbers import counted, per_cent
from metassay.reporting.names import sorted_authors, sorted_parts
from metassay.reporting.resampled import Reals, Resampling, means
from metassay.reporting.section import Cell, Grid, Row, Section, count, estimate, grouped, matrix
from metassay.reporting.specs import section
from metassay.tables.names import FULL
from metassay.text.spans import Span

NO_FACET = "(in none)"  # the row of the words that no facet holds; brackets are in no facet's name

_COUNTS = (
    *("n_texts", "n_present", "n_absent", "n_wholly_made_up", "n_unknown", "n_undivided"),
    *("n_segments", "n_made_up", "n_shares"),
)
_COLUMNS = {
    **{"author": "object", "facet": "object"},
    **dict.fromkeys(_COUNTS, "int64"),
    **dict.fromkeys(("share", "low", "high"), "float64"),
}


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

    n_texts: texts of the author. n_present, n_absent, n_unknown: how many of them have the facet,
    lack it, and have a failed answer or failed themselves; n_undivided: in how many no section was
    found at all. n_wholly_made_up: of the absent, those
    for which a model returned only what is not in the text. n_segments: stretches returned as this
    facet, of which n_made_up are not in the text.

    share: mean over texts of the facet's share of the text's words (split on white space; a word in
    two facets counts half in each), from `n_shares` texts: those with words, and of which every
    facet is known and has its place. An absent facet has share 0. The shares of an author add up to
    1. low, high: bootstrap over documents.
    """
    names, texts = facet_names(parts, declared), divided(parts, declared)
    made: list[tuple[object, ...]] = []
    documents = sorted({doc_id for doc_id, _ in texts})
    for author in sorted_authors(author for _, author in texts) if names else ():
        mine = [texts.get((doc_id, author)) for doc_id in documents]
        shares = np.array([_shares(one, names) for one in mine])
        mean = means(shares, how)
        known = int(np.isfinite(shares[:, 0]).sum())
        for place, name in enumerate([*names, NO_FACET]):
            ends = (mean.mean[place], mean.low[place], mean.high[place])
            made.append((author, name, *_counts(mine, name), known, *ends))
    return pd.DataFrame(made, columns=list(_COLUMNS)).astype(_COLUMNS)


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

STYLES = 8  # of marks in page.css; a ninth facet looks like the first and is told by its label


class Mark(NamedTuple):
    """How one facet is shown: its name, and the number of its style."""

    name: str
    style: int


class Run(NamedTuple):
    """A stretch of a text and the facets that hold all of it; none where it is in no facet."""

    text: str
    marks: list[Mark]


class Marked(NamedTuple):
    """One text for reading: runs in order, and what cannot be marked in it.

    `made_up` has what a model returned for each facet and is not in the text, `unknown` why nobody
    knows of a facet.
    """

    runs: list[Run]
    absent: list[str]
    made_up: list[tuple[Mark, list[str]]]
    unknown: list[tuple[str, str]]


def marks_of(names: Iterable[str]) -> dict[str, Mark]:
    """Each facet's mark, by name; styles in the order of the names."""
    return {name: Mark(name, place % STYLES) for place, name in enumerate(names)}


def plain(text: str | None) -> Marked:
    """A text without facets."""
    return Marked([Run(text, [])] if text else [], [], [], [])


def marked(one: Divided, marks: Mapping[str, Mark]) -> Marked:
    """The text of one author with each facet of the benchmark marked, absent, made up or unknown.

    A facet is absent where the text is known and has no word of it, also where all that a model
    returned is made up. Nothing is said of the facets of a text that failed as a whole, or in which
    no section was found.
    """
    if one.text is None or one.status == UNDIVIDED:
        return plain(one.text)
    facets = {name: one.facets.get(name, _NOTHING) for name in marks}
    unknown = [(name, one.unknown(name)) for name in marks if one.unknown(name)]
    return Marked(
        runs(one.text, {marks[n]: f.pieces for n, f in one.facets.items() if n in marks}),
        [n for n, facet in facets.items() if not facet.present and not one.unknown(n)],
        [(marks[n], list(facet.made_up)) for n, facet in facets.items() if facet.made_up],
        unknown,
    )


def runs(text: str, pieces: Mapping[Mark, Sequence[Span]]) -> list[Run]:
    """Cut a text where any piece starts or ends; each run has the marks of the pieces over it."""
    cuts = {0, len(text), *(end for found in pieces.values() for piece in found for end in piece)}
    edges = sorted(cut for cut in cuts if 0 <= cut <= len(text))
    made = []
    for start, end in pairwise(edges):
        over = [
            mark
            for mark, found in pieces.items()
            if any(piece.start <= start and end <= piece.end for piece in found)
        ]
        made.append(Run(text[start:end], sorted(over, key=lambda mark: mark.style)))
    return made


# Facets or sections: how many texts lack each, how long they are, and some documents to read.

DOCUMENTS, TEXTS = 10, 60  # at most, on the page; documents further down have them all


class Reading(NamedTuple):
    """One document to read: the texts of every author with their facets marked."""

    number: int
    doc_id: str
    texts: list[tuple[str, Marked, str]]  # author, text, why there is none


class Facets(NamedTuple):
    """The section with its table and figure, the legend of marks, and documents to read."""

    section: Section
    legend: list[Mark]
    reading: list[Reading]
    rule: str


def facets_view(
    table: pd.DataFrame | None, parts: pd.DataFrame, declared: Sequence[str], sources: pd.DataFrame
) -> Facets | None:
    """What the page says of facets; `table` is `facets.facets_table` of parts, None without any.

    Documents to read are spread evenly over those of which any text is divided, in the order of
    their names: as many as make up TEXTS texts, at most DOCUMENTS, at least one.
    """
    if table is None:
        return None
    marks = marks_of(facet_names(parts, declared))
    texts = divided(parts, declared)
    numbers = {doc_id: number for number, doc_id in enumerate(sorted(sources["doc_id"]))}
    shown = {doc_id for (doc_id, _), one in texts.items() if declared or one.facets}
    doc_ids = sorted(shown & set(numbers))
    most = min(DOCUMENTS, max(1, TEXTS // table["author"].nunique()))
    chosen = [doc_ids[place] for place in _spread(len(doc_ids), most)]
    reading = []
    for doc_id in chosen:
        authors = sorted_authors(author for of, author in texts if of == doc_id)
        own = [(author, texts[doc_id, author]) for author in authors]
        shown_texts = [
            (author, marked(one, marks), "" if one.text is not None else one.status)
            for author, one in own
        ]
        reading.append(Reading(numbers[doc_id], doc_id, shown_texts))
    word = "facet" if declared else "section"
    made = _section(table, list(marks), word)
    return Facets(made, list(marks.values()), reading, _rule(len(chosen), len(doc_ids), word))


def marked_texts(parts: pd.DataFrame, declared: Sequence[str]) -> dict[tuple[str, str], Marked]:
    """Every text with its facets marked, by doc_id and author, where the benchmark has facets."""
    marks = marks_of(facet_names(parts, declared))
    if not marks:
        return {}
    return {key: marked(one, marks) for key, one in divided(parts, declared).items()}


def _spread(n: int, at_most: int) -> list[int]:
    """At most so many places of n, the first and the last among them."""
    if n <= at_most or at_most == 1:
        return list(range(min(n, at_most)))
    return [place * (n - 1) // (at_most - 1) for place in range(at_most)]


def _rule(n_chosen: int, n_documents: int, word: str) -> str:
    documents = counted(n_documents, "document") + (" with sections" if word == "section" else "")
    if n_chosen == n_documents:
        return f"All {documents}."
    return (
        f"{n_chosen} of {documents}, spread evenly over all in the order of their names. Under"
        " Documents every text is marked in the same way."
    )


def _section(table: pd.DataFrame, names: Sequence[str], word: str) -> Section:
    lines = records(table)
    made = section("facets", word=word, grids=_grids(lines, names, word))
    absent, shares = made.says
    undivided = "" if word == "facet" else " A text in which no section was found lacks none."
    of_facets = [row for row in lines if row["facet"] != NO_FACET]
    says = [*_says(of_facets, names, word), absent + undivided, shares]
    return made._replace(says=says, heading=made.heading.capitalize())


def _says(lines: Sequence[Row], names: Sequence[str], word: str) -> list[str]:
    """Who lacks what most, and how much is made up."""
    made_up, segments = _made_up(lines)
    unknown = sum(row["n_unknown"] for row in lines)
    first = [row for row in lines if row["facet"] == names[0]]
    undivided = sum(row["n_undivided"] for row in first)
    n_texts = sum(row["n_texts"] for row in first) - undivided
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    found = [f"{counted(n_texts, 'text')} {_are(n_texts)} divided into {listed}."]
    most = max(lines, key=lambda row: row["n_absent"])
    if most["n_absent"]:
        found[0] += (
            f" Most often absent is {most['facet']} from texts of {most['author']}:"
            f" from {most['n_absent']:,} of {_known(most):,}."
        )
    if undivided:
        found.append(f"{counted(undivided, 'text')} {_are(undivided)} undivided.")
    if made_up:
        found.append(
            f"{made_up:,} of {counted(segments, 'segment')} ({per_cent(made_up / segments)})"
            f" returned as a {word} {_are(made_up)} made up: not in the text."
        )
    if unknown:
        found.append(f"{counted(unknown, word)} of single texts {_are(unknown)} unknown.")
    return found


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _known(row: Row) -> int:
    """Texts of which it is known whether they have the facet."""
    return int(row["n_texts"] - row["n_unknown"] - row["n_undivided"])


def _made_up(mine: Sequence[Row]) -> tuple[int, int]:
    """How many segments are made up, and how many there are."""
    return sum(row["n_made_up"] for row in mine), sum(row["n_segments"] for row in mine)


def _grids(lines: Sequence[Row], names: Sequence[str], word: str) -> list[Grid]:
    last = "segments made up"
    lacking: dict[str, dict[str, Cell]] = {}
    shares: dict[str, dict[str, Cell]] = {}
    for author, mine in grouped(lines, lambda row: row["author"]).items():
        facets = [row for row in mine if row["facet"] != NO_FACET]
        made_up, segments = _made_up(facets)
        share = Cell("undefined", ("no segment",), "")
        if segments:
            part = made_up / segments
            share = Cell(per_cent(part), (f"{made_up:,} of {segments:,}",), str(part))
        lacking[author] = {row["facet"]: _absent(row) for row in facets} | {last: share}
        shares[author] = {
            row["facet"]: estimate(row, f"n = {row['n_shares']:,}", of="share") for row in mine
        }
    return [
        matrix(f"Texts without a {word}", "author", lacking, [*names, last]),
        matrix("Share of a text’s words", "author", shares, [*names, NO_FACET]),
    ]


def _absent(row: Row) -> Cell:
    words = {
        "n_wholly_made_up": "wholly made up",
        "n_unknown": "unknown",
        "n_undivided": "undivided",
    }
    notes = [f"{row[name]:,} {what}" for name, what in words.items() if row[name]]
    return count(row["n_absent"])._replace(notes=(f"of {_known(row):,}", *notes))
