"""Labelled sentences of CSAbstruct, and how well roles agree with them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from metassay.labelled.readers.sentences import read_csabstruct
from metassay.text.spans import Span
from metassay.units.record import OK, Part, Text
from metassay.units.roles import Read, read

LABELS = ("background", "objective", "method", "result", "other")


def text_of(full: str, sentences: list[Span] | None = None, status: str = OK) -> Text:
    whole = Part("full", full if status == OK else None, [Span(0, len(full))], status)
    return Text("abstract", whole, [], sentences=sentences)


def development_split(mirror: Path, folder: Path) -> tuple[list[Read], list[list[str]]]:
    """Each abstract as classifiers read it, and the right roles of its sentences."""
    (folder / "dev.jsonl").symlink_to(mirror / "csabstruct/dev.jsonl")
    every = read_csabstruct(folder).documents
    texts = [text_of(one.text, [said.span for said in one.sentences]) for one in every]
    return [read(text) for text in texts], [[s.label for s in one.sentences] for one in every]


def agreement(
    right: Iterable[Sequence[str]], found: Iterable[Sequence[str]]
) -> tuple[int, float, float]:
    """Sentences, the share that is right, and the mean F1 of LABELS; a conclusion is a result."""
    pairs = [
        (one, "result" if other == "conclusion" else other)
        for row, roles in zip(right, found, strict=True)
        for one, other in zip(row, roles, strict=True)
    ]
    each = []
    for label in LABELS:
        both = pairs.count((label, label))
        each.append(2 * both / sum((one == label) + (other == label) for one, other in pairs))
    same = sum(one == other for one, other in pairs)
    return len(pairs), round(same / len(pairs), 3), round(sum(each) / len(each), 3)
