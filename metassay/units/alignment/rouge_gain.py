"""ROUGE-Gain: passages are added while they cover the statement better.

Adams et al. 2023, section 6.1, after Lebanoff et al. 2019. Two rules: `printed` is the
paper's, `lebanoff` that of the released code, which removes words from the statement
instead of joining passages.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist

from metassay.core.options import Options
from metassay.units.alignment.rouge import Integers, Reals, f1, rouge_tokens
from metassay.units.record import Aligned, Alignment, Statements

VERSION = 1  # raised by whoever changes results of this module's kinds

FEWEST = 2  # distinct remaining words that a second passage must have, by `lebanoff`

Pair = tuple[str, str]
Picks = list[tuple[int, float]]


class RougeGainOptions(Options):
    """The rule by which passages are added, and their largest number (the released code has 5)."""

    rule: Literal["printed", "lebanoff"]
    k: int | None = Field(default=None, ge=1)


class _Passages(NamedTuple):
    """The words of passages, and the passages with each word and each pair of words."""

    words: list[list[str]]
    with_word: Mapping[str, list[int]]
    with_pair: Mapping[Pair, list[int]]


class _Shared(NamedTuple):
    """N-grams that a statement of n tokens shares with c passages, those that share any token.

    `ones` and `twos`: counts of the statement's distinct unigrams (bigrams) in each
    passage, c x number of them; `ones_there` and `twos_there`: counts in the statement.
    """

    passages: Integers
    sizes: Integers
    ones: Reals
    ones_there: Reals
    twos: Reals
    twos_there: Reals


def align(documents: Sequence[Statements], options: RougeGainOptions) -> Aligned:
    """Return each statement's passages, in the order of choice.

    `printed`: add the passage whose concatenation with those chosen so far, a space
    between, has the highest mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L with the statement;
    its value is that mean. Stop if none is strictly above the last value. A passage
    that shares no token with the statement is never chosen, so there may be none.
    `lebanoff`: choose the passage of highest mean F1 of ROUGE-1 and ROUGE-2 with the
    rest of the statement, which is its value, then remove its words from the statement.
    Stop if nothing remains, or if the next passage shares fewer than FEWEST distinct
    words with the rest. The first passage is always chosen. Values are 0 to 1, higher
    is closer. Ties go to the lower index. A statement without a token, or a source
    without passages, is aligned with nothing.

    Passages "fever with cough", "given ceftriaxone", statement "fever, given
    ceftriaxone": passage 1 has F1 4/5, 2/3 and 4/5, so .756 `printed` and .733
    `lebanoff`. Both stop there: with passage 0 the mean falls to .528, and only one
    word, "fever", remains.
    """
    choose = _added if options.rule == "printed" else _struck
    aligned = []
    for passages, _, statements in documents:
        read = _read(passages)
        limit = len(passages) if options.k is None else options.k
        aligned.append([choose(read, rouge_tokens(text), limit) for text in statements])
    return Aligned(aligned)


def _added(read: _Passages, statement: Sequence[str], limit: int) -> Picks:
    """Choose passages by rule `printed`."""
    shared = _share(read, statement)
    chosen = Picks()
    last = 0.0
    letters = {word: chr(n) for n, word in enumerate(dict.fromkeys(statement))}
    spelled = []
    for place in shared.passages:
        spelled.append("".join(letters.get(word, "") for word in read.words[place]))
    starts = [read.words[i][0] for i in shared.passages]
    pairs = {pair: n for n, pair in enumerate(dict.fromkeys(_pairs(statement)))}
    size = 0
    ones = 0.0 * shared.ones_there
    twos = 0.0 * shared.twos_there
    text = ""
    free = np.ones(len(starts), bool)
    while free.any() and len(chosen) < limit:
        both = twos + shared.twos
        if chosen:  # the bigram across the boundary of passages
            end = read.words[chosen[-1][0]][-1]
            for row, start in enumerate(starts):
                if (end, start) in pairs:
                    both[row, pairs[end, start]] += 1
        joined = [text + letters_of_passage for letters_of_passage in spelled]
        longest = cdist(
            ["".join(letters[word] for word in statement)],
            joined,
            scorer=LCSseq.similarity,
        )
        candidates = shared._replace(
            sizes=size + shared.sizes, ones=ones + shared.ones, twos=both
        )
        rouge_1, rouge_2, of_longest = _f1s(
            candidates, len(statement), longest.astype(np.float64)
        )
        values = np.where(free, (rouge_1 + rouge_2 + of_longest) / 3, -1.0)
        at = int(values.argmax())
        if values[at] <= last:
            break
        last = float(values[at])
        free[at] = False
        size = candidates.sizes[at]
        ones = candidates.ones[at]
        twos = candidates.twos[at]
        text = joined[at]
        chosen.append((int(shared.passages[at]), last))
    return chosen


def _struck(read: _Passages, statement: Sequence[str], limit: int) -> Picks:
    """Choose passages by rule `lebanoff`."""
    chosen: Picks = []
    while statement and read.words and len(chosen) < limit:
        shared = _share(read, statement)
        if not len(shared.passages):
            return chosen or [(0, 0.0)]
        rouge_1, rouge_2, _ = _f1s(
            shared, len(statement), np.zeros((1, len(shared.sizes)))
        )
        values = (rouge_1 + rouge_2) / 2
        at = int(values.argmax())
        if chosen and (shared.ones[at] > 0).sum() < FEWEST:
            break
        place = int(shared.passages[at])
        chosen.append((place, float(values[at])))
        struck = set(read.words[place])
        statement = [word for word in statement if word not in struck]
    return chosen


def _read(passages: Sequence[str]) -> _Passages:
    words = [rouge_tokens(text) for text in passages]
    with_word = defaultdict[str, list[int]](list)
    with_pair = defaultdict[Pair, list[int]](list)
    for place, of_passage in enumerate(words):
        for word in of_passage:
            with_word[word].append(place)
        for pair in _pairs(of_passage):
            with_pair[pair].append(place)
    return _Passages(words, with_word, with_pair)


def _share(read: _Passages, statement: Sequence[str]) -> _Shared:
    ones = Counter(statement)
    twos = Counter(_pairs(statement))
    count = len(read.words)
    of_ones = [np.bincount(read.with_word.get(w, []), minlength=count) for w in ones]
    of_twos = [
        np.bincount(read.with_pair.get(pair, []), minlength=count) for pair in twos
    ]
    of_words = np.array(of_ones, np.float64).reshape(len(ones), count).T
    pairs = np.array(of_twos, np.float64).reshape(len(twos), count).T
    passages = np.flatnonzero(of_words.any(1))
    return _Shared(
        passages=passages,
        sizes=np.array([len(read.words[i]) for i in passages], np.int64),
        ones=of_words[passages],
        ones_there=np.array(list(ones.values()), np.float64),
        twos=pairs[passages],
        twos_there=np.array(list(twos.values()), np.float64),
    )


def _f1s(shared: _Shared, size: int, longest: Reals) -> list[Reals]:
    """Return F1 of ROUGE-1, ROUGE-2 and ROUGE-L with each passage; `longest`: lengths of LCS."""
    unigrams = np.minimum(shared.ones, shared.ones_there).sum(1)[None]
    bigrams = np.minimum(shared.twos, shared.twos_there).sum(1)[None]
    n = np.array([size])
    sizes = shared.sizes
    return [
        f1(unigrams, n, sizes)[0],
        f1(bigrams, n - 1, sizes - 1)[0],
        f1(longest, n, sizes)[0],
    ]


def _pairs(words: Sequence[str]) -> list[Pair]:
    return list(pairwise(words))


KIND = Alignment(options=RougeGainOptions, align=align)
