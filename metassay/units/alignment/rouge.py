"""ROUGE of all statements with all passages, and three alignments by it.

Adams et al. 2023, section 6.1: ROUGE-TopK, Top-Section, and Full, as much as a model
can read.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.units.record import Aligned, Alignment, Passages, Statements

VERSION = 1  # raised by whoever changes results of this module's kinds

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

_TOKEN = re.compile(r"[a-z0-9]+")  # rouge-score's default tokens


class _Texts(NamedTuple):
    """Texts as a sequence of token numbers; tokens in no statement are -1."""

    tokens: Integers
    owners: Integers  # which text each token is of
    sizes: Integers  # tokens per text


def rouge_tokens(text: str) -> list[str]:
    """Return the tokens of rouge-score: sequences of a-z and 0-9 in the lower-cased text.

    >>> rouge_tokens("BP 120/80, no fever")
    ['bp', '120', '80', 'no', 'fever']
    """
    return _TOKEN.findall(text.lower())


def mean_rouge(
    passages: Sequence[str], statements: Sequence[str], *, longest: bool = True
) -> Reals:
    """Return the mean F1 of ROUGE-1, ROUGE-2 and, with `longest`, ROUGE-L: (statements, passages).

    0 to 1, higher is closer, equal to the last bit to rouge-score 0.1.2 without
    stemmer. As there, 0 if either text has no token.

    Passage "no fever" and statement "no cough" share one of two words and no pair of words:
    ROUGE-1 .5, ROUGE-2 0, ROUGE-L .5.

    >>> mean_rouge(["no fever"], ["no cough"]).round(3).tolist()
    [[0.333]]
    """
    if not passages or not statements:
        return np.zeros((len(statements), len(passages)))
    words = [rouge_tokens(text) for text in statements]
    distinct = dict.fromkeys(chain.from_iterable(words))
    numbers = {token: number for number, token in enumerate(distinct)}
    rows = _encode(words, numbers)
    columns = _encode([rouge_tokens(text) for text in passages], numbers)
    rouge_1 = f1(_overlaps(rows, columns, 1, len(numbers)), rows.sizes, columns.sizes)
    bigrams = _overlaps(rows, columns, 2, len(numbers))
    rouge_2 = f1(bigrams, rows.sizes - 1, columns.sizes - 1)
    if not longest:
        return (rouge_1 + rouge_2) / 2
    # Lengths of longest common subsequences, shape (statements, passages).
    lengths = cdist(
        _encode_as_strings(rows),
        _encode_as_strings(columns),
        scorer=LCSseq.similarity,
        dtype=np.int32,
    )
    return (
        rouge_1 + rouge_2 + f1(lengths.astype(np.float64), rows.sizes, columns.sizes)
    ) / 3


def _encode(texts: Sequence[Sequence[str]], numbers: Mapping[str, int]) -> _Texts:
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    every = chain.from_iterable(texts)
    tokens = np.array([numbers.get(token, -1) for token in every], dtype=np.int64)
    return _Texts(
        tokens, np.repeat(np.arange(len(texts), dtype=np.int64), sizes), sizes
    )


def _grams(texts: _Texts, n: int, width: int) -> tuple[Integers, Integers]:
    """Return the text and the number of each token (n is 1) or pair of tokens (2)."""
    left = texts.tokens[: len(texts.tokens) - n + 1]
    right = texts.tokens[n - 1 :]
    owners = texts.owners[n - 1 :]
    known = (left >= 0) & (right >= 0) & (texts.owners[: len(left)] == owners)
    return owners[known], left[known] * width + right[known]


def _overlaps(statements: _Texts, passages: _Texts, n: int, width: int) -> Reals:
    """Return clipped counts of common n-grams, shape (statements, passages)."""
    (rows, codes), (columns, others) = (
        _grams(t, n, width) for t in (statements, passages)
    )
    hits = np.zeros((len(statements.sizes), len(passages.sizes)))
    kinds, row_kinds = np.unique(codes, return_inverse=True)
    common = np.isin(others, kinds)
    places = np.searchsorted(kinds, others[common])
    entries, counts = np.unique(
        columns[common] * len(kinds) + places, return_counts=True
    )
    owners, column_kinds = np.divmod(entries, max(len(kinds), 1))
    for statement in range(len(hits)):
        limits = np.bincount(row_kinds[rows == statement], minlength=len(kinds))
        clipped = np.minimum(counts, limits[column_kinds])
        hits[statement] = np.bincount(owners, weights=clipped, minlength=hits.shape[1])
    return hits


def _encode_as_strings(texts: _Texts) -> list[str]:
    """Return texts with a character per token, which rapidfuzz reads without hashing.

    Tokens in no statement are left out: they are in no common subsequence.
    """
    known = texts.tokens >= 0
    letters = "".join(map(chr, texts.tokens[known].tolist()))
    sizes = np.bincount(texts.owners[known], minlength=len(texts.sizes))
    ends = np.cumsum(sizes).tolist()
    return [
        letters[end - size : end]
        for size, end in zip(sizes.tolist(), ends, strict=True)
    ]


def f1(hits: Reals, row_sizes: Integers, column_sizes: Integers) -> Reals:
    """Return F1 of counts (statements x passages) and lengths, 0 where a text has none.

    The order of operations is rouge-score's, so that the last bit is the same.
    """
    precision = hits / np.maximum(row_sizes, 1)[:, None]
    recall = hits / np.maximum(column_sizes, 1)[None, :]
    total = precision + recall
    scores: Reals = np.zeros_like(total)
    np.divide(2 * precision * recall, total, out=scores, where=total > 0)
    return scores


class RougeTopKOptions(Options):
    """The largest number of passages of a statement (the paper has 5)."""

    k: int = Field(ge=1)


class FullOptions(Options):
    """The largest number of tokens of the passages, as ROUGE counts them."""

    tokens: int = Field(ge=1)


def topk(document: Statements, options: RougeTopKOptions) -> Passages:
    """Return each statement's k best passages, best first: mean F1 of ROUGE-1, -2 and -L.

    0 to 1, higher is closer. Ties go to the lower index. A passage that shares no token
    with the statement has value 0 and is left out: there may be fewer than k, or none.
    """
    rows = mean_rouge(document.passages, document.statements)
    return [best(row, options.k) for row in rows]


def best(values: Reals, k: int) -> list[tuple[int, float]]:
    """Return the k highest values above 0 with indexes, highest first, ties by lower index.

    >>> best(np.array([0.2, 0.0, 0.5, 0.5]), 2)
    [(2, 0.5), (3, 0.5)]
    """
    candidates = np.flatnonzero(values > 0)
    order = np.argsort(-values[candidates], kind="stable")[:k]
    return [(int(i), float(values[i])) for i in candidates[order]]


def full(document: Statements, options: FullOptions) -> Passages:
    """Return the passages that fit for each statement, in source order.

    They are added by mean F1 of ROUGE-1 and ROUGE-2 with the statement, which is their
    value: 0 to 1, higher is closer; ties go to the lower index, also for value 0. The
    first that does not fit ends this: a shorter passage after it is not added.
    """
    sizes = np.array([len(rouge_tokens(text)) for text in document.passages], np.int64)
    chosen: Passages = []
    for values in mean_rouge(document.passages, document.statements, longest=False):
        order = np.argsort(-values, kind="stable")
        count = int((np.cumsum(sizes[order]) <= options.tokens).sum())
        chosen.append([(int(i), float(values[i])) for i in sorted(order[:count])])
    return chosen


def group_sections(groups: Sequence[str]) -> list[list[int]]:
    """Return the places of each section's passages; passages without a section form one.

    >>> group_sections(["exam", "plan", "exam"])
    [[0, 2], [1]]
    """
    sections: dict[str, list[int]] = {}
    for place, name in enumerate(groups):
        sections.setdefault(name, []).append(place)
    return list(sections.values())


def top_section(document: Statements) -> Passages:
    """Return the passages of the best section for each statement, in source order.

    The section, its passages joined by spaces, has the highest mean F1 of ROUGE-1,
    ROUGE-2 and ROUGE-L: 0 to 1, higher is closer, the value of each of its passages.
    Ties go to the first. If no section shares a token with the statement, nothing is
    aligned. Passages without a section form one.
    """
    passages, groups, statements = document
    members = group_sections(groups)
    texts = []
    for places in members:
        texts.append(" ".join(passages[place] for place in places))
    aligned: list[list[tuple[int, float]]] = []
    for row in mean_rouge(texts, statements):
        highest = float(row.max()) if members else 0.0
        if highest > 0:
            aligned.append([(place, highest) for place in members[int(row.argmax())]])
        else:
            aligned.append([])
    return aligned


def _top_sections(documents: Sequence[Statements], _: Options) -> Aligned:
    """BadInput if no passage of any document has a section."""
    if documents and not any(any(document.groups) for document in documents):
        raise BadInput(
            "alignment top_section: no passage of sources has a `group`, which names its section;"
            " give it in the dataset, or choose another alignment"
        )
    return Aligned(list(map(top_section, documents)))


ROUGE_TOPK = Alignment(
    options=RougeTopKOptions,
    align=lambda every, options: Aligned([topk(d, options) for d in every]),
)
FULL = Alignment(
    options=FullOptions,
    align=lambda every, options: Aligned([full(d, options) for d in every]),
)
TOP_SECTION = Alignment(options=Options, align=_top_sections)
