"""ROUGE of every statement with every passage at once, and three alignments by it.

Adams et al. 2023, section 6.1: ROUGE-TopK, Top-Section, and Full, as much as a model reads at once.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.units.record import Aligned, Alignment, Passages, Statements

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

_TOKEN = re.compile(r"[a-z0-9]+")  # rouge-score's default tokens


class _Texts(NamedTuple):
    """Many texts as one run of token numbers; a token that no statement has is -1."""

    tokens: Integers
    owners: Integers  # which text each token is of
    sizes: Integers  # tokens per text


class _Grams(NamedTuple):
    """n-grams, one entry per place."""

    owners: Integers
    codes: Integers


def rouge_tokens(text: str) -> list[str]:
    """The tokens of rouge-score: runs of letters and digits of the lower-cased text."""
    return _TOKEN.findall(text.lower())


def mean_rouge(
    passages: Sequence[str], statements: Sequence[str], *, longest: bool = True
) -> Reals:
    """Mean F1 of ROUGE-1, ROUGE-2 and, with `longest`, ROUGE-L, shape (statements, passages).

    0 to 1, higher is closer, equal to the last bit to what rouge-score 0.1.2 gives without stemmer.
    0 where either text has no token, as there.
    """
    if not passages or not statements:
        return np.zeros((len(statements), len(passages)))
    said_words = [rouge_tokens(text) for text in statements]
    numbers = {t: n for n, t in enumerate(dict.fromkeys(t for text in said_words for t in text))}
    said = _numbered(said_words, numbers)
    read = _numbered([rouge_tokens(text) for text in passages], numbers)
    width = len(numbers)
    unigrams = _overlaps(_unigrams(said), _unigrams(read), said, read)
    bigrams = _overlaps(_bigrams(said, width), _bigrams(read, width), said, read)
    one = f1(unigrams, said.sizes, read.sizes)
    two = f1(bigrams, said.sizes - 1, read.sizes - 1)
    if not longest:
        return (one + two) / 2
    # Lengths of longest common subsequences, shape (statements, passages).
    lengths = cdist(_as_strings(said), _as_strings(read), scorer=LCSseq.similarity, dtype=np.int32)
    return (one + two + f1(lengths.astype(np.float64), said.sizes, read.sizes)) / 3


def _numbered(texts: Sequence[Sequence[str]], numbers: Mapping[str, int]) -> _Texts:
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    tokens = np.array([numbers.get(t, -1) for text in texts for t in text], dtype=np.int64)
    return _Texts(tokens, np.repeat(np.arange(len(texts), dtype=np.int64), sizes), sizes)


def _unigrams(texts: _Texts) -> _Grams:
    known = texts.tokens >= 0
    return _Grams(texts.owners[known], texts.tokens[known])


def _bigrams(texts: _Texts, width: int) -> _Grams:
    left, right = texts.tokens[:-1], texts.tokens[1:]
    known = (left >= 0) & (right >= 0) & (texts.owners[:-1] == texts.owners[1:])
    return _Grams(texts.owners[:-1][known], left[known] * width + right[known])


def _overlaps(said: _Grams, read: _Grams, statements: _Texts, passages: _Texts) -> Reals:
    """Clipped counts of common n-grams, shape (statements, passages)."""
    hits = np.zeros((len(statements.sizes), len(passages.sizes)))
    kinds, said_kinds = np.unique(said.codes, return_inverse=True)
    if not len(kinds):
        return hits
    places = np.minimum(np.searchsorted(kinds, read.codes), len(kinds) - 1)
    common = kinds[places] == read.codes
    entries, counts = np.unique(
        read.owners[common] * len(kinds) + places[common], return_counts=True
    )
    owners, read_kinds = np.divmod(entries, len(kinds))
    for statement in range(len(hits)):
        wanted = np.bincount(said_kinds[said.owners == statement], minlength=len(kinds))
        clipped = np.minimum(counts, wanted[read_kinds])
        hits[statement] = np.bincount(owners, weights=clipped, minlength=hits.shape[1])
    return hits


def _as_strings(texts: _Texts) -> list[str]:
    """Each text with one character per token, which rapidfuzz reads without hashing.

    Tokens that no statement has are left out: they are in no common subsequence.
    """
    known = texts.tokens >= 0
    letters = "".join(map(chr, texts.tokens[known].tolist()))
    sizes = np.bincount(texts.owners[known], minlength=len(texts.sizes))
    ends = np.cumsum(sizes).tolist()
    return [letters[end - size : end] for size, end in zip(sizes.tolist(), ends, strict=True)]


def f1(hits: Reals, said: Integers, read: Integers) -> Reals:
    """F1 of counts (statements x passages) and lengths, 0 where a text has none.

    In rouge-score's order of operations, so that its last bit is the same.
    """
    precision = hits / np.maximum(said, 1)[:, None]
    recall = hits / np.maximum(read, 1)[None, :]
    total = precision + recall
    found: Reals = np.zeros_like(total)
    np.divide(2 * precision * recall, total, out=found, where=total > 0)
    return found


class RougeTopKOptions(Options):
    """How many passages a statement gets at most (the paper takes 5)."""

    k: int = Field(ge=1)


class FullOptions(Options):
    """How many tokens the passages have at most: runs of letters and digits, as ROUGE has them."""

    tokens: int = Field(ge=1)


class TopSectionOptions(Options):
    """There is nothing to choose."""


def topk(document: Statements, options: RougeTopKOptions) -> Passages:
    """For each statement its k best passages, best first: mean F1 of ROUGE-1, -2 and -L.

    0 to 1, higher is closer. Equal values go by lower index. A passage that shares no token with
    the statement has the value 0 and is left out: there may be fewer than k, or none.
    """
    rows = mean_rouge(document.passages, document.statements)
    return [best(row, options.k) for row in rows]


def best(values: Reals, k: int) -> list[tuple[int, float]]:
    """The k highest values above 0 with their indexes, highest first, ties by lower index."""
    candidates = np.flatnonzero(values > 0)
    order = np.argsort(-values[candidates], kind="stable")[:k]
    return [(int(i), float(values[i])) for i in candidates[order]]


def full(document: Statements, options: FullOptions) -> Passages:
    """For each statement the passages that fit, in source order.

    They are taken by mean F1 of ROUGE-1 and ROUGE-2 with the statement, which is their value: 0 to
    1, higher is closer; equal ones go by lower index, those of value 0 too. The first that does not
    fit is the end: a shorter one behind it is not taken.
    """
    sizes = np.array([len(rouge_tokens(text)) for text in document.passages], np.int64)
    chosen: Passages = []
    for values in mean_rouge(document.passages, document.statements, longest=False):
        order = np.argsort(-values, kind="stable")
        count = int((np.cumsum(sizes[order]) <= options.tokens).sum())
        chosen.append([(int(i), float(values[i])) for i in sorted(order[:count])])
    return chosen


def top_section(document: Statements, _: TopSectionOptions) -> Passages:
    """For each statement the passages of one section, in source order.

    It is the section, its passages joined by blanks, with the highest mean F1 of ROUGE-1, ROUGE-2
    and ROUGE-L: 0 to 1, higher is closer, the value of each of its passages. Equal ones go by
    order. Where no section shares a token with the statement, nothing is aligned. Passages without
    a section are one together.
    """
    passages, groups, statements = document
    sections: dict[str, list[int]] = {}
    for place, name in enumerate(groups):
        sections.setdefault(name, []).append(place)
    every = list(sections.values())
    values = mean_rouge([" ".join(passages[i] for i in places) for places in every], statements)
    return [
        [(place, float(row.max())) for place in every[int(row.argmax())] if row.max() > 0]
        if every
        else []
        for row in values
    ]


def _top_sections(documents: Sequence[Statements], options: TopSectionOptions) -> Aligned:
    """BadInput if no passage of any document has a section."""
    if documents and not any(any(document.groups) for document in documents):
        raise BadInput(
            "alignment top_section: no passage of sources has a `group`, which names its section;"
            " give it in the dataset, or choose another alignment"
        )
    return Aligned([top_section(document, options) for document in documents])


ROUGE_TOPK = Alignment(
    options=RougeTopKOptions,
    align=lambda every, options: Aligned([topk(d, options) for d in every]),
)
FULL = Alignment(
    options=FullOptions, align=lambda every, options: Aligned([full(d, options) for d in every])
)
TOP_SECTION = Alignment(options=TopSectionOptions, align=_top_sections)
