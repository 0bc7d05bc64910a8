"""ROUGE as in rouge-score 0.1.2, equal to the last bit and about twenty times faster.

rouge1, rouge2, rougeL and rougeLsum, each as precision, recall and fmeasure (Lin 2004,
sections 2 and 3). Tokens are runs of a-z and 0-9 of the lower-cased text, unless the
option `tokenizer` says otherwise; rougeLsum takes lines as sentences.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from rapidfuzz.distance import LCSseq

from metassay.core.options import Options
from metassay.format.numbers import counted
from metassay.metrics.describe import (
    OVERLAP,
    ROUGE_VARIANTS,
    UNDEFINED,
    Description,
    Measured,
    Metric,
    index_texts,
)
from metassay.text.unicode_tokens import find_tokens

VERSION = 1  # raised by whoever changes results of this module's kinds

ROUGE_SCORE = "0.1.2"  # the version whose values these are

_TOKEN = re.compile(r"[a-z0-9]+")
_LETTER = re.compile(r"[^\W\d_]")
# The share of letters from which on it is said that rouge-score does not read them: a
# Greek letter in an English text is no news.
_UNREAD = 0.005

_N_GRAMS = "Lin 2004, section 2 (ROUGE-N)"
_LCS = "Lin 2004, section 3.1 (ROUGE-L)"
_UNION_LCS = "Lin 2004, section 3.2 (summary-level ROUGE-L)"
_HEADLINES = ("rouge1", "rouge2", "rougeLsum")
_MISSING = {
    "precision": "null if the text has no tokens; 0 if only the reference has none",
    "recall": "null if the reference has no tokens; 0 if only the text has none",
    "fmeasure": "null if neither has tokens; 0 if one has none",
}


class RougeOptions(Options):
    """`stemmer`: Porter's, on tokens of more than three letters. `split`: the end of
    sentences for rougeLsum. `tokenizer`: `rouge-score` reads a-z and 0-9 alone, as that
    package does; `unicode` reads the letters and digits of all scripts, each character
    by itself in scripts without spaces between words, such as Thai and Chinese.
    """

    stemmer: bool
    split: Literal["newline"]
    tokenizer: Literal["rouge-score", "unicode"] = "rouge-score"


def _describe(name: str, counted: str, order: str, source: str) -> list[Description]:
    texts = (
        (
            "precision",
            f"share of the text's {counted} that the reference has too{order}",
        ),
        ("recall", f"share of the reference's {counted} that the text has too{order}"),
        ("fmeasure", f"harmonic mean of {name}_precision and {name}_recall"),
    )
    return [
        Description(
            f"{name}_{variant}",
            meaning,
            "higher",
            (0, 1),
            _MISSING[variant],
            f"{source}; values of rouge-score {ROUGE_SCORE}",
            OVERLAP if variant == "fmeasure" else ROUGE_VARIANTS,
            headline=variant == "fmeasure" and name in _HEADLINES,
        )
        for variant, meaning in texts
    ]


_DESCRIPTIONS = (
    *_describe("rouge1", "words", "", _N_GRAMS),
    *_describe("rouge2", "word pairs", "", _N_GRAMS),
    *_describe(
        "rougeL", "words", ", in the same order (longest common subsequence)", _LCS
    ),
    *_describe("rougeLsum", "words", ", in the same order line by line", _UNION_LCS),
)


def recipe(options: RougeOptions) -> str:
    """Print every setting that can change a value."""
    stemmer = "porter" if options.stemmer else "no"
    settings = f"stemmer:{stemmer}|split:{options.split}|rouge-score:{ROUGE_SCORE}"
    if options.tokenizer != "rouge-score":
        settings += f"|tokenizer:{options.tokenizer}"
    return settings


def find_unread(
    candidates: Sequence[str], evidence: Sequence[str], options: RougeOptions
) -> str:
    """Say how many texts have letters that rouge-score does not read; "" if too few to matter.

    >>> options = RougeOptions(stemmer=False, split="newline")
    >>> find_unread(["kühl", "cool"], ["kühl", "cool"], options).partition(":")[0]
    'letters beyond a-z in 1 of 2 comparisons'
    """
    if options.tokenizer != "rouge-score":
        return ""
    foreign = 0
    without_tokens = 0
    n_letters = 0
    n_unread = 0
    for pair in zip(candidates, evidence, strict=True):
        letters = [_LETTER.findall(text.lower()) for text in pair]
        unread = sum(not letter.isascii() for of_text in letters for letter in of_text)
        n_letters += sum(map(len, letters))
        n_unread += unread
        foreign += unread > 0
        without_tokens += unread > 0 and not any(map(_has_token, pair))
    if not without_tokens and n_unread <= _UNREAD * n_letters:
        return ""
    affected = f"{foreign:,} of {counted(len(candidates), 'comparison')}"
    lost = ""
    if without_tokens:
        verb = "has" if without_tokens == 1 else "have"
        lost = f"; {counted(without_tokens, 'comparison')} {verb} no other letters, so no value"
    return (
        f"letters beyond a-z in {affected}: rouge-score drops them, and splits words"
        f" there{lost}; the option tokenizer: unicode reads them"
    )


def _has_token(text: str) -> bool:
    return _TOKEN.search(text.lower()) is not None


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: RougeOptions
) -> dict[str, list[Measured]]:
    """Return ROUGE of each candidate against the reference at the same index of `evidence`.

    0 to 1, higher is better. A text without tokens makes the variant that divides by
    its length null, and the others 0; if both texts have tokens, values are
    rouge-score's, also for rouge2 of a text of one word (0). Statistics are (matches,
    length), for fmeasure (twice the matches, sum of lengths), so that pooled values are
    ROUGE of the whole corpus.
    """
    numbers = _Numbers(options.stemmer)
    tokens_of = find_tokens if options.tokenizer == "unicode" else _ascii_tokens
    measured: dict[str, list[Measured]] = {
        description.name: [UNDEFINED] * len(candidates) for description in _DESCRIPTIONS
    }
    for reference_text, indices in index_texts(evidence).items():
        reference = _tokenize(reference_text, tokens_of, numbers)
        packed = _pack(reference.lines)
        for index in indices:
            candidate = _tokenize(candidates[index], tokens_of, numbers)
            for name, counts in _matches(candidate, reference, packed).items():
                for variant, value in _variants(counts, candidate, reference).items():
                    measured[f"{name}_{variant}"][index] = value
    return measured


_Counts = tuple[int, int, int]  # matches, and the length of candidate and reference


class _Text(NamedTuple):
    lines: list[list[int]]
    tokens: list[int]
    unigrams: Counter[int]
    bigrams: Counter[int]


class _Packed(NamedTuple):
    """All lines of a reference as blocks of bits of an integer, a zero bit after each block."""

    tokens: list[int]  # the token at each bit; -1 at the zero bits
    positions: dict[int, int]  # token -> its bits
    blocks: int  # the bits that are tokens
    bounds: list[tuple[int, int]]  # first bit of each block and the bit after its last


class _Numbers:
    """Numbers distinct tokens, after stemming."""

    def __init__(self, stemmer: bool) -> None:
        self._stem: Callable[[str], str] | None = None
        if stemmer:
            # Imported here: nltk takes seconds, and only stemming needs it.
            from nltk.stem.porter import PorterStemmer

            self._stem = PorterStemmer().stem
        self._numbers: dict[str, int] = {}
        self._of_stems: dict[str, int] = {}

    def __call__(self, tokens: list[str]) -> list[int]:
        numbers = self._numbers
        for token in tokens:
            if token not in numbers:
                stem = self._stem(token) if self._stem and len(token) > 3 else token
                numbers[token] = self._of_stems.setdefault(stem, len(self._of_stems))
        return [numbers[token] for token in tokens]


def _ascii_tokens(line: str) -> list[str]:
    return _TOKEN.findall(line.lower())


def _tokenize(
    text: str, tokens_of: Callable[[str], list[str]], numbers: _Numbers
) -> _Text:
    words = (numbers(tokens_of(line)) for line in text.split("\n"))
    lines = [line for line in words if line]
    tokens = [token for line in lines for token in line]
    bigrams = Counter((first << 32) | second for first, second in pairwise(tokens))
    return _Text(lines, tokens, Counter(tokens), bigrams)


def _pack(lines: list[list[int]]) -> _Packed:
    tokens: list[int] = []
    positions: dict[int, int] = {}
    blocks = 0
    bounds = []
    for line in lines:
        start = len(tokens)
        for token in line:
            bit = 1 << len(tokens)
            positions[token] = positions.get(token, 0) | bit
            blocks |= bit
            tokens.append(token)
        bounds.append((start, len(tokens)))
        tokens.append(-1)
    return _Packed(tokens, positions, blocks, bounds)


def _matches(candidate: _Text, reference: _Text, packed: _Packed) -> dict[str, _Counts]:
    n, m = len(candidate.tokens), len(reference.tokens)
    pairs = _overlap(candidate.bigrams, reference.bigrams)
    return {
        "rouge1": (_overlap(candidate.unigrams, reference.unigrams), n, m),
        "rouge2": (pairs, max(n - 1, 0), max(m - 1, 0)),
        "rougeL": (LCSseq.similarity(reference.tokens, candidate.tokens), n, m),
        "rougeLsum": (_union_matches(candidate, packed), n, m),
    }


def _overlap(candidate: Counter[int], reference: Counter[int]) -> int:
    return sum(min(count, candidate[token]) for token, count in reference.items())


def _union_matches(candidate: _Text, packed: _Packed) -> int:
    """Count reference tokens in the union LCS over all pairs of lines, once on each side."""
    union = 0
    for line in candidate.lines:
        union |= _line_union(line, packed)
    return sum(
        min((bits & union).bit_count(), candidate.unigrams[token])
        for token, bits in packed.positions.items()
    )


def _line_union(line: list[int], packed: _Packed) -> int:
    """Return the bits of the reference on the LCS of `line` with each of its lines.

    Forward: the bit-parallel LCS of Hyyro (2004), all reference lines at once; a carry
    out of a block goes to its zero bit and is cleared. A bit of `grown` is 1 where the
    table's row is one more than the row before it. Back: rouge-score's walk through its
    table decides which of several equally long subsequences counts. In column j that
    walk goes up to the highest row that matches or has grown, then left to the match,
    so `stops` is all that it needs.
    """
    level = packed.blocks
    stops = []
    for token in line:
        match = packed.positions.get(token, 0)
        step = level & match
        level = ((level + step) | (level - step)) & packed.blocks
        stops.append(match | (packed.blocks ^ level))
    grown = packed.blocks ^ level
    union = 0
    for start, end in packed.bounds:
        if (grown >> start) & ((1 << (end - start)) - 1):
            union |= _walk_back(line, packed.tokens, stops, start, end)
    return union


def _walk_back(
    line: list[int], tokens: list[int], stops: list[int], start: int, end: int
) -> int:
    bits = 0
    column = len(line) - 1
    row = end
    while column >= 0:
        row = (
            start
            + ((stops[column] >> start) & ((1 << (row - start)) - 1)).bit_length()
            - 1
        )
        if row < start:
            break
        bits |= 1 << row
        while line[column] != tokens[row]:
            column -= 1
        column -= 1
    return bits


def _variants(
    counts: _Counts, candidate: _Text, reference: _Text
) -> dict[str, Measured]:
    """Compute in rouge-score's order of operations; null where a text has no tokens."""
    hits, n, m = counts
    precision, recall = hits / max(n, 1), hits / max(m, 1)
    both = precision + recall
    fmeasure = 2 * precision * recall / both if both > 0 else 0.0
    either = candidate.tokens or reference.tokens
    return {
        "precision": Measured(precision, (hits, n)) if candidate.tokens else UNDEFINED,
        "recall": Measured(recall, (hits, m)) if reference.tokens else UNDEFINED,
        "fmeasure": Measured(fmeasure, (2 * hits, n + m)) if either else UNDEFINED,
    }


KIND = Metric(
    options=RougeOptions,
    measure=measure,
    recipe=recipe,
    descriptions=_DESCRIPTIONS,
    find_unread=find_unread,
)
