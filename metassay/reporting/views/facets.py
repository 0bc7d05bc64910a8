"""Facets or sections: how many texts lack each, how long they are, and some documents to read."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from metassay.reporting.facets import NO_FACET, divided, facet_names
from metassay.reporting.names import sorted_authors
from metassay.reporting.numbers import counted, per_cent
from metassay.reporting.tables import records
from metassay.reporting.views.marked import Mark, Marked, marked, marks_of
from metassay.reporting.views.section import Cell, Grid, Row, Section, number

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
    table: pd.DataFrame | None,
    parts: pd.DataFrame,
    declared: Sequence[str],
    sources: pd.DataFrame,
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
    by_document: dict[str, list[str]] = {doc_id: [] for doc_id in chosen}
    for doc_id, author in texts:
        if doc_id in by_document:
            by_document[doc_id].append(author)
    reading = [
        Reading(
            numbers[doc_id],
            doc_id,
            [
                (author, marked(one, marks), "" if one.text is not None else one.status)
                for author in sorted_authors(authors)
                for one in [texts[doc_id, author]]
            ],
        )
        for doc_id, authors in by_document.items()
    ]
    word = "facet" if declared else "section"
    section = _section(table, list(marks), word)
    return Facets(section, list(marks.values()), reading, _rule(len(chosen), len(doc_ids), word))


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
    lines = records(table[table["facet"] != NO_FACET])
    return Section(
        "facets",
        f"{word.capitalize()}s of the texts",
        [*_says(lines, names, word), *_how(word)],
        ["facets"],
        grids=[_lacking(lines, names, word), _lengths(records(table), [*names, NO_FACET])],
        figure="facet_lengths",
    )


def _how(word: str) -> list[str]:
    undivided = "" if word == "facet" else " A text in which no section was found lacks none."
    return [
        f"A {word} is absent from a text if no word of the text belongs to it, also where all that"
        f" a model returned as this {word} is made up, that is, not in the text. It is unknown"
        " if the answer about it failed, and then not counted as absent. A segment is a stretch of"
        f" the text in one {word}, or a passage made up.{undivided}",
        "Shares are means over texts of the share of a text’s words, with their bootstrap interval"
        f" over documents. What is absent has the share 0. A word in two {word}s counts half in"
        " each.",
    ]


def _says(lines: Sequence[Row], names: Sequence[str], word: str) -> list[str]:
    """Who lacks what most, and how much is made up."""
    made_up, segments = (sum(row[name] for row in lines) for name in ("n_made_up", "n_segments"))
    unknown = sum(row["n_unknown"] for row in lines)
    first = [row for row in lines if row["facet"] == names[0]]
    n_texts = sum(row["n_texts"] - row["n_undivided"] for row in first)
    said = f"{counted(n_texts, 'text')} {_are(n_texts)} divided into {_listed(names)}."
    most = max(lines, key=lambda row: row["n_absent"])
    if most["n_absent"]:
        said += (
            f" Most often absent is {most['facet']} from texts of {most['author']}:"
            f" from {most['n_absent']:,} of {_known(most):,}."
        )
    found = [said]
    undivided = sum(row["n_undivided"] for row in first)
    if undivided:
        found.append(f"{counted(undivided, 'text')} {_are(undivided)} undivided.")
    if made_up:
        share = per_cent(made_up / segments)
        found.append(
            f"{made_up:,} of {counted(segments, 'segment')} ({share}) returned as a {word}"
            f" {_are(made_up)} made up: not in the text."
        )
    if unknown:
        found.append(f"{counted(unknown, word)} of single texts {_are(unknown)} unknown.")
    return found


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _known(row: Row) -> int:
    """Texts of which it is known whether they have the facet."""
    return int(row["n_texts"] - row["n_unknown"] - row["n_undivided"])


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _lacking(lines: Sequence[Row], names: Sequence[str], word: str) -> Grid:
    found = {(row["author"], row["facet"]): row for row in lines}
    authors = list(dict.fromkeys(row["author"] for row in lines))
    made = [
        (
            author,
            [
                *(_absent(found[author, name]) for name in names),
                _made_up([found[author, name] for name in names]),
            ],
        )
        for author in authors
    ]
    return Grid(f"Texts without a {word}", ["author", *names, "segments made up"], made)


def _absent(row: Row) -> Cell:
    notes = [f"of {_known(row):,}"]
    if row["n_wholly_made_up"]:
        notes.append(f"{row['n_wholly_made_up']:,} wholly made up")
    if row["n_unknown"]:
        notes.append(f"{row['n_unknown']:,} unknown")
    if row["n_undivided"]:
        notes.append(f"{row['n_undivided']:,} undivided")
    return Cell(f"{row['n_absent']:,}", tuple(notes), str(row["n_absent"]))


def _made_up(mine: Sequence[Row]) -> Cell:
    made_up, segments = (sum(row[name] for row in mine) for name in ("n_made_up", "n_segments"))
    if not segments:
        return Cell("undefined", ("no segment",), "")
    return Cell(
        per_cent(made_up / segments), (f"{made_up:,} of {segments:,}",), str(made_up / segments)
    )


def _lengths(lines: Sequence[Row], names: Sequence[str]) -> Grid:
    found = {(row["author"], row["facet"]): row for row in lines}
    authors = list(dict.fromkeys(row["author"] for row in lines))
    made = [(author, [_share(found[author, name]) for name in names]) for author in authors]
    return Grid("Share of a text’s words", ["author", *names], made)


def _share(row: Row) -> Cell:
    return number(row["share"], f"n = {row['n_shares']:,}", low=row["low"], high=row["high"])
