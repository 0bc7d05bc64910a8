"""The view Texts of a change report: the texts behind what changed, as accepted and now."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from metassay.format.frames import records
from metassay.reporting.contract import AuthorInfo, Document, Mark, Text, TextsInfo
from metassay.reporting.shell import PageFolder
from metassay.reporting.text_index import put_texts, utf16
from metassay.tracking.comparison.differences import ROW
from metassay.tracking.comparison.words import document, label
from metassay.tracking.reevaluation.outcome import Outcome
from metassay.tracking.reevaluation.texts import ChangedText

ACCEPTED, NOW = "accepted", "now"
CHANGED = "changed"  # the part of words that the other text lacks
_ABSENT = {
    ACCEPTED: "There was no such text, or neither DVC’s cache nor a remote has it any more.",
    NOW: "There is no such text now.",
}
_WORDS = re.compile(r"\S+\s*|\s+")


def put_changed_texts(
    page: PageFolder, outcome: Outcome, texts: Sequence[ChangedText]
) -> TextsInfo | None:
    """Write a document per system and document, with both texts; None where nothing changed.

    Scores are those of the documents behind rows that changed; words that the other text lacks are
    marked.
    """
    if not texts:
        return None
    better = {tuple(row[n] for n in ROW): row["better"] for row in records(outcome.changes)}
    scores: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    metrics: dict[str, str] = {}
    for row in records(outcome.documents):
        name = label(row)
        metrics[name] = better[tuple(row[n] for n in ROW)]
        of_text = scores.setdefault((document(row["doc_id"]), row["author"]), {})
        of_text[name] = (row["before"], row["after"])
    listed = {name for text in texts for name in scores.get((text.doc_id, text.author), {})}
    info = put_texts(
        page,
        ((_document(text, scores.get((text.doc_id, text.author), {})), (0, 0)) for text in texts),
        noun="document",
        metrics={name: of for name, of in metrics.items() if name in listed},
        parts=[CHANGED],
    )
    return replace(info, authors=[AuthorInfo(ACCEPTED, "reference"), AuthorInfo(NOW, "system")])


def _document(text: ChangedText, scores: Mapping[str, tuple[float, float]]) -> Document:
    attributes = [*(["the same text: only its scores changed"] if text.same else []), *text.rows]
    both = (text.before, text.after)
    marks = _marks(*both) if all(both) else ((), ())
    bodies = [
        Text(
            author=author,
            problems=[] if body is not None else [_ABSENT[author]],
            text=body or "",
            marks=marks[place],
            scores=[(name, values[place]) for name, values in scores.items()],
        )
        for place, (author, body) in enumerate(zip((ACCEPTED, NOW), both, strict=True))
    ]
    return Document(f"{text.doc_id}, {text.author}", text.author, attributes, [], bodies)


def _marks(before: str | None, after: str | None) -> tuple[list[Mark], list[Mark]]:
    """Stretches of whole words that the other text lacks."""
    texts = (before or "", after or "")
    words: list[list[str]] = [_WORDS.findall(text) for text in texts]
    blocks = SequenceMatcher(a=words[0], b=words[1], autojunk=False).get_opcodes()
    pieces = [(op, (a, b), (c, d)) for op, a, b, c, d in blocks if op != "equal"]
    before_marks = _stretches(texts[0], words[0], (piece[1] for piece in pieces))
    return [*before_marks], [*_stretches(texts[1], words[1], (piece[2] for piece in pieces))]


def _stretches(
    text: str, words: Sequence[str], places: Iterator[tuple[int, int]]
) -> Iterator[Mark]:
    for first, end in places:
        if first < end:
            start = sum(map(len, words[:first]))
            stretch = "".join(words[first:end]).rstrip()
            if stretch:
                stop = start + len(stretch)
                yield Mark(utf16(text, start), utf16(text, stop), CHANGED)
