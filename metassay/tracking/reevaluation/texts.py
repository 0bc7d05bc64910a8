"""The texts of a change report, of the documents behind rows that changed, as accepted and now.

They are for the page alone: no Markdown, event, artifact or history has them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.errors import BadInput
from metassay.format.frames import records
from metassay.reporting.contract import AuthorInfo, Document, Mark, Text, TextsInfo
from metassay.reporting.shell import PageFolder
from metassay.reporting.text_index import put_texts, utf16
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL
from metassay.tables.parquet import read, read_file
from metassay.tracking.comparison.differences import DIFFER, ROW
from metassay.tracking.comparison.locks import lock_text, outs_of, parse_lock
from metassay.tracking.comparison.sides import TABLES, found_tables
from metassay.tracking.comparison.words import document, label
from metassay.tracking.reevaluation.outcome import Outcome, accepted_file, row_name

MOST = 12  # texts of a report
ACCEPTED, NOW = "accepted", "now"
CHANGED = "changed"  # the part of words that the other text lacks
_ABSENT = {
    ACCEPTED: "There was no such text, or neither DVC’s cache nor a remote has it any more.",
    NOW: "There is no such text now.",
}
_WORDS = re.compile(r"\S+\s*|\s+")


class ChangedText(NamedTuple):
    """A system's text of a document, accepted and now; None where there is none, or none to be had.

    `rows` are the rows of table CHANGES that it is behind, by name; `same` says that both texts are
    there and are one.
    """

    doc_id: str
    author: str
    before: str | None
    after: str | None
    rows: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether the text did not change, only its scores did."""
        return self.before is not None and self.before == self.after


def changed_texts(root: Path, outcome: Outcome, most: int = MOST) -> list[ChangedText]:
    """The texts behind rows that differ, those behind most rows first."""
    behind: dict[tuple[str, str], list[str]] = {}
    changes = outcome.changes
    differ = changes[changes["verdict"].isin(DIFFER)]
    rows = outcome.documents.merge(differ[ROW], on=ROW)
    for row in records(rows):
        behind.setdefault((row["doc_id"], row["author"]), []).append(row_name(row))
    if not behind:
        return []
    before, after = _accepted(root, outcome.benchmark), _here(root, outcome.benchmark)
    ordered = sorted(behind.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        ChangedText(document(key[0]), key[1], before.get(key), after.get(key), tuple(names))
        for key, names in ordered[:most]
    ]


def _here(root: Path, benchmark: str) -> dict[tuple[str, str], str]:
    folder = root / TABLES / benchmark / TEXTS.name
    return _whole(read(TEXTS, folder)) if folder.is_dir() else {}


def _accepted(root: Path, benchmark: str) -> dict[tuple[str, str], str]:
    file = accepted_file(benchmark)
    place = (TABLES / benchmark / TEXTS.name).as_posix()
    try:
        made: Mapping[str, Any] = outs_of(parse_lock(lock_text(root / file), str(file)))
        wanted = {path: md5 for path, md5 in made.items() if path.startswith(f"{place}/")}
        files = found_tables(root, wanted, name="accepted", benchmark=benchmark)
        return _whole(pd.concat([read_file(TEXTS, file) for file in files.values()]))
    except (BadInput, ValueError):  # there is no such table any more
        return {}


def _whole(texts: pd.DataFrame) -> dict[tuple[str, str], str]:
    whole = texts[(texts["part"] == FULL) & texts["text"].notna()]
    return {(row["doc_id"], row["author"]): row["text"] for row in records(whole)}


def put_changed_texts(
    page: PageFolder, outcome: Outcome, texts: Sequence[ChangedText]
) -> TextsInfo | None:
    """Write a document per text with scores and marked words; None if there is none."""
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
