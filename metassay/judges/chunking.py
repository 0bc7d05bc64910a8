"""Windows of whole sentences, for judges that cannot read a long premise at once."""

from collections.abc import Iterator, Sequence

from metassay.text.sentences import sentences
from metassay.text.spans import Span


def pieces(text: str) -> list[Span]:
    """The text cut behind each sentence, so that a heading stays with what follows it.

    Every character lies in exactly one piece; a text without sentences is one piece.
    """
    ends = [span.end for span in sentences(text)][:-1]
    return [Span(start, end) for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def windows(lengths: Sequence[int], most: int, stride: int) -> Iterator[range]:
    """Runs of pieces of these lengths: each as long as `most` allows, or one piece.

    The next one begins where at least `stride` (at most `most`) has been passed, but leaves no
    piece out, and is left out itself if it says nothing new; the last one ends with the last piece.
    With `stride` = `most` no two overlap.
    """
    start = told = 0
    while told < len(lengths):
        end, held = start + 1, lengths[start]
        while end < len(lengths) and held + lengths[end] <= most:
            held += lengths[end]
            end += 1
        if end > told:
            yield range(start, end)
            told = end
        passed = 0
        while start < end and passed < stride:
            passed += lengths[start]
            start += 1
