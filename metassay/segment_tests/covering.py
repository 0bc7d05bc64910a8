"""Which part of a text a sentence belongs to."""

from collections.abc import Sequence

from metassay.segment_tests.documents import NONE
from metassay.text.spans import Span


def label_of(sentence: Span, text: str, parts: Sequence[tuple[str, Sequence[Span]]]) -> str:
    """The part that covers more than half of a sentence's characters; `none` if no part does.

    `parts`: names, and where their pieces stand in the text. White space does not count. Of parts
    that overlap, the one that covers most of the sentence, and of equals the first.
    """
    inside = [at for at in range(sentence.start, sentence.end) if not text[at].isspace()]
    label, most = NONE, len(inside) / 2
    for name, pieces in parts:
        near = [(max(a, sentence.start), min(b, sentence.end)) for a, b in pieces]
        near = [(start, end) for start, end in near if start < end]
        covered = sum(any(start <= at < end for start, end in near) for at in inside) if near else 0
        if covered > most:
            label, most = name, covered
    return label
