"""Passages copied word for word, each sentence with its citation."""

from collections.abc import Iterable, Sequence

from metassay.text.citations import parse
from metassay.text.sentences import sentences


def copied(passages: Sequence[str], chosen: Iterable[int]) -> str:
    """The chosen passages, one line each; every sentence is followed by ` [n]`, its passage.

    Citations that a passage has of its own are left out, since they are not to our passages.
    """
    lines = []
    for at in chosen:
        passage = " ".join(passages[at].split())
        said = [parse(passage[start:end]).text for start, end in sentences(passage)]
        if said:
            lines.append(" ".join(f"{sentence} [{at}]" for sentence in said))
    return "\n".join(lines)
