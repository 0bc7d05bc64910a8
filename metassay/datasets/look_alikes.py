"""Keys of own data that look alike: `Reference` is not the reference, `ann` not `Ann`."""

from collections.abc import Iterable, Iterator

from metassay.core.confusables import REMEDY, look_alikes, spelt
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.rows import Place, Rows
from metassay.text.headings import SECTIONS

_DOCUMENT = "doc_id"
_RESERVED = Place("the names that are reserved")


def warn_of_look_alikes(rows: Rows) -> None:
    """Warn of documents, authors, parts, studies, raters and criteria that look alike.

    Each with both spellings and where they first stand; documents, which may be many, in one line.
    """
    for noun, places in _places(rows):
        for first, *others in look_alikes(places):
            for other in others:
                both = f"{spelt(other)} looks like {spelt(first)}"
                at = _named(places[first], places[other].file)
                if noun == _DOCUMENT:
                    what = "a doc_id looks like another one"
                    rows.warnings.add(places[other], what, REMEDY, f"{both} of {at}")
                else:
                    rows.warnings.add(places[other], f"{noun} {both}", REMEDY, f"of {at}")


def _places(rows: Rows) -> Iterator[tuple[str, dict[str, Place]]]:
    """Each kind of key with its names, and where each stands first."""
    written, rated = rows.texts, rows.ratings
    yield _DOCUMENT, _first((r.doc_id, r.at) for each in (rows.sources, written) for r in each)
    authors = [(REFERENCE, _RESERVED), *((row.author, row.at) for row in written)]
    yield "author", _first(authors)
    parts = [(name, _RESERVED) for name in (FULL, *SECTIONS)]
    yield (
        "part",
        _first(
            [
                *parts,
                *((row.part, row.at) for each in (written, rated, rows.segments) for row in each),
            ]
        ),
    )
    yield "study", _first((row.study, row.at) for row in rated)
    yield "rater", _first((row.rater, row.at) for row in rated)


def _first(named: Iterable[tuple[str, Place]]) -> dict[str, Place]:
    places: dict[str, Place] = {}
    for name, at in named:
        places.setdefault(name, at)
    return places


def _named(at: Place, file: str) -> str:
    if at.row is None:
        return at.file
    row = f"{at.kind} {at.row}"
    return row if at.file == file else f"{at.file} {row}"
