"""Each facet graded against the reference's, was it found rightly, and the text as a whole."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from metassay.options import Criterion
from metassay.rubrics.ask import expanded
from metassay.rubrics.read import RUBRICS, load_rubric
from metassay.rubrics.record import Rubric
from metassay.studies.forms.rubric import asked_of, loaded, scale_of
from metassay.studies.record import (
    Asked,
    Choice,
    Draft,
    DraftRow,
    Form,
    Made,
    Options,
    Question,
    Reads,
    Shown,
    Target,
)
from metassay.studies.texts import parts_of, written
from metassay.tables.names import FULL, REFERENCE

_WHOLE = "vanilla"  # the rubric of the direct overall rating
_NONE = "(none was found)"
_FOUND = Question(
    "found",
    "found",
    "choice",
    "Was the right part of the text found for this facet?",
    (
        Choice("yes", 1.0, "it is this facet, and all of it; or none was found and there is none"),
        Choice("no", 0.0, "part of it is missing, something else is in it, or it is made up"),
    ),
)
_INSTRUCTIONS = (
    "A text was cut into facets by a program. Each row has one facet: grade it against the same"
    " facet of the reference, and say whether the right part of the text was found for it.",
    "Where a facet was not found although the text has it, grade what the text says.",
    "The row 'whole text' asks for the text as a whole.",
)


def _make(read: Reads, options: Options) -> Made:
    """A text is an item, a facet a row, and the whole text one more.

    A facet that the reference lacks is not graded; one that neither text has no row. Grades are
    those of the rubric's criteria that read the facet (default: bmrc), the rating of the whole text
    those of rubrics/vanilla.yaml; `<facet>_found` is 1 where the facet was found rightly.
    """
    texts, facets = written(read), parts_of(read)
    named = sorted({part for parts in facets.values() for part in parts})
    rubric = expanded(loaded(replace(options, rubric=options.rubric or "bmrc")), named)
    whole = load_rubric(options.root / RUBRICS / f"{_WHOLE}.yaml")
    drafts, lacking = [], 0
    for doc, author in texts.of_systems:
        theirs, mine = facets.get((doc, REFERENCE), {}), facets.get((doc, author), {})
        known = None not in [*theirs.values(), *mine.values()]
        if (doc, REFERENCE) not in texts.whole or not known or not theirs:
            lacking += 1
            continue
        rows = list(_rows(rubric, (doc, author), theirs, mine))
        overall = tuple(asked_of(whole, one, doc, author, {}) for one in whole.criteria)
        rows.append(DraftRow((Shown("facet", "whole text"),), overall))
        shown = (
            Shown("reference", texts.whole[doc, REFERENCE]),
            Shown("text", texts.whole[doc, author]),
        )
        drafts.append(Draft((doc, author), (author,), shown, tuple(rows)))
    notes = [*texts.notes]
    if lacking:
        notes.append(f"{lacking} text(s) are left out: no reference, or facets are not known")
    asked = {one.of.criterion for draft in drafts for row in draft.rows for one in row.asked}
    every = {f"{one.name}_{c.name}": scale_of(c) for one in (rubric, whole) for c in one.criteria}
    right = Criterion(low=0, high=1, better="higher", scale="nominal")
    criteria = {name: every.get(name, right) for name in sorted(asked)}
    return Made(drafts, criteria, _INSTRUCTIONS, tuple(notes), texts.datasets)


def _rows(
    rubric: Rubric,
    text: tuple[str, str],
    theirs: Mapping[str, str | None],
    mine: Mapping[str, str | None],
) -> Iterator[DraftRow]:
    reading = {one.reads: one for one in rubric.criteria}
    for facet in sorted({*theirs, *mine}):
        asked = []
        if facet in theirs and facet in reading:
            graded, target = asked_of(rubric, reading[facet], *text, {})
            asked.append(Asked(replace(graded, column="grade"), target))
        asked.append(Asked(_FOUND, Target(*text, FULL, "text", f"{facet}_found")))
        shown = (
            Shown("facet", facet),
            Shown("facet of the reference", theirs.get(facet) or _NONE),
            Shown("facet of the text", mine.get(facet) or _NONE),
        )
        yield DraftRow(shown, tuple(asked))


KIND = Form("facets", _make)
