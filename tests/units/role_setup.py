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
    reads = [
        read(text_of(its.text, [each.span for each in its.sentences])) for its in every
    ]
    return reads, [[each.label for each in its.sentences] for its in every]


def agreement(
    right: Iterable[Sequence[str]], roles: Iterable[Sequence[str]]
) -> tuple[int, float, float]:
    """Sentences, the share that is right, and the mean F1 of LABELS; a conclusion is a result."""
    pairs = [
        (label, "result" if role == "conclusion" else role)
        for labels, of_text in zip(right, roles, strict=True)
        for label, role in zip(labels, of_text, strict=True)
    ]
    each = []
    for name in LABELS:
        both = pairs.count((name, name))
        each.append(
            2 * both / sum((label == name) + (role == name) for label, role in pairs)
        )
    same = sum(label == role for label, role in pairs)
    return len(pairs), round(same / len(pairs), 3), round(sum(each) / len(each), 3)
