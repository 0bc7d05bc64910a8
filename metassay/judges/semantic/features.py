"""Features of the semantic judge's models: of texts, of words, and of whole hypotheses."""

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from metassay.judges import reading
from metassay.judges.semantic import clashes
from metassay.models.words import Text, words
from metassay.text.boundaries import boundaries
from metassay.text.tokens import content_tokens

WORD_FEATURES = (
    "best_0",  # highest similarity to a word of the premise: table of pieces,
    "best_1",  # middle layer,
    "best_2",  # last layer
    "exact",  # the premise has the same word
    "rarity",
    "digit",
    "name",
    "stop",
    "left_2",  # best_2 of the word before, and of the word after
    "right_2",
    "number_missing",  # a number that the premise lacks
    "name_missing",  # a name that the premise lacks
    "stop_best_2",  # best_2 of a stop word
    "exact_best_2",  # best_2 of a word that the premise has
    "last_content_2",  # best_2 of the content word before, and after
    "next_content_2",
    "last_content_exact",  # exact of these two
    "next_content_exact",
    "stop_next_2",  # of the content word after, for a stop word
    "stop_next_exact",
    "recall_1",  # weighted mean of best_1 and of best_2 over all words
    "recall_2",
)
DOUBT = "doubt"  # of the network that compares words
CLAIM_FEATURES = (
    "mean_log",  # mean logarithm of the words' probabilities of support
    "content_log",  # the same, weighted, content words only
    "half_log",  # mean of the lower half of content words
    "quarter_log",  # of the lowest quarter
    "recall_0",  # weighted mean of the highest similarities, by layer
    "recall_1",
    "recall_2",
    "exact",  # weighted share of words that the premise has
    # mean of the lower half of the highest similarities of content words, last layer
    "half_best",
    "names_missing",  # share of names that the premise lacks
    "numbers_missing",  # share of numbers that the premise lacks
    "closeness",  # of the closest sentence
    *clashes.KINDS,  # 1 if there is such a clash
    DOUBT,
)
# Support never rises with these features, and never falls with any other.
FALLING = ("names_missing", "numbers_missing", *clashes.KINDS, DOUBT)
NEUTRAL = 0.7  # similarity of a missing neighbour: about the mean of existing ones
COMMON = 8.0  # the logarithm of the vocabulary place whose rarity is 0
TIED = 9  # decimals to which the similarities of tied sentences agree
CLOSEST = 3  # sentences that are read word by word
_CONTRACTED = ("n't", "n\u2019t")

_to_digits = reading.digits(reading.UNITS)


class Hypothesis(NamedTuple):
    """n words: their plain forms, boolean flags (n each), and vectors.

    `stop`: carries no fact by itself. `digit`: has a digit in its plain form. `name`:
    begins with a capital letter, and is neither the first word nor a stop word.
    `negated`: in a negation's scope.
    """

    encoded: Text
    plain: list[str]
    stop: Any
    digit: Any
    name: Any
    negated: Any


class Premise(NamedTuple):
    """m words of s sentences: plain forms, and vectors of words in float64.

    `starts`: the place of each sentence's first word. `sentences` and `texts`: one per
    sentence.
    """

    plain: Any
    starts: Any
    vectors: Any
    sentences: list[Hypothesis]
    texts: list[str]


class Compared(NamedTuple):
    """A hypothesis of n words compared with a premise.

    `features`: n x WORD_FEATURES. `weights`: of words, n. `best`: layers x n. `exact`:
    n. `closest`: places of the CLOSEST sentences, the most similar first. `closeness`:
    the weighted mean of the words' similarities to the first of them, over layers.
    """

    features: Any
    weights: Any
    best: Any
    exact: Any
    closest: tuple[int, ...]
    closeness: float


def sentences(premise: str) -> list[str]:
    """Split a premise into sentences, including headings and any other text."""
    parts = []
    for line in premise.splitlines():
        edges = [0, *boundaries(line), len(line)]
        parts += [line[start:end] for start, end in itertools.pairwise(edges)]
    return [part for part in parts if part.strip()]


def read_hypothesis(text: str, encoded: Text) -> Hypothesis:
    """Read the words of a text of a few sentences."""
    months = clashes.months(text)
    texts = [text[word.start : word.end] for word in encoded.words]
    month = np.array([word.start in months for word in encoded.words], bool)
    flagged = zip(texts, month, strict=True)
    plain = [
        clashes.MONTH if is_month else plain_form(word) for word, is_month in flagged
    ]
    stop = np.array([not content_tokens(word) for word in texts], bool) & ~month
    name = np.array([word[0].isupper() for word in texts], bool) & ~stop
    name[:1] = False
    digit = np.array([any(map(str.isdigit, word)) for word in plain], bool)
    return Hypothesis(
        encoded=encoded,
        plain=plain,
        stop=stop,
        digit=digit,
        name=name,
        negated=negated(text),
    )


def read_premise(parts: Sequence[str], encoded: Mapping[str, Text]) -> Premise | None:
    """Read a premise of these sentences, encoded by text; None if it has no word."""
    texts = [part for part in parts if encoded[part].words]
    if not texts:
        return None
    sentences = [read_hypothesis(part, encoded[part]) for part in texts]
    words = itertools.chain.from_iterable(sentence.plain for sentence in sentences)
    return Premise(
        np.array(list(words), dtype=object),
        np.cumsum([0, *(len(sentence.plain) for sentence in sentences[:-1])]),
        np.concatenate([s.encoded.vectors for s in sentences], 1).astype(np.float64),
        sentences,
        texts,
    )


@lru_cache(maxsize=65536)
def plain_form(word: str) -> str:
    """Return a word without plural or possessive, the token of a name, or a number in digits."""
    name = clashes.name(word)
    if name is not None:
        return name
    tokens = content_tokens(word)
    return _to_digits(tokens[0]) if tokens else word.lower()


def _find_fact(word: str) -> str | None:
    if word.endswith(_CONTRACTED):
        return "not"
    return next(iter(content_tokens(word)), None)


@lru_cache(maxsize=16384)
def negated(text: str) -> Any:
    """Return for each word whether it is in the scope of a negation: n booleans."""
    spans = words(text)
    low = text.lower()
    ends = np.array([match.start() for match in reading.CLAUSE_END.finditer(low)], int)
    clauses = [int((ends <= span.start).sum()) for span in spans]
    # The content token of each word; None for a word that carries no fact.
    tokens = [_find_fact(low[span.start : span.end]) for span in spans]
    in_scope = np.zeros(len(spans), bool)
    for place, token in enumerate(tokens):
        if token not in reading.NEGATIONS:
            continue
        back = token in reading.BACKWARD
        step, reach = (
            (-1, reading.BACKWARD_REACH) if back else (1, reading.NEGATION_REACH)
        )
        i = place + step
        while 0 <= i < len(spans) and clauses[i] == clauses[place] and reach:
            if tokens[i] in reading.RESTARTS and not back:
                break
            in_scope[i] = tokens[i] is not None
            reach -= int(in_scope[i])
            i += step
    in_scope.setflags(write=False)
    return in_scope


def compare(hypothesis: Hypothesis, premise: Premise) -> Compared:
    """Return the features of each word; similarities are cosines, higher is better supported.

    Tied sentences stay in their order.
    """
    vectors = hypothesis.encoded.vectors.astype(np.float64)
    similarity = vectors @ premise.vectors.transpose(0, 2, 1)
    per_sentence = np.maximum.reduceat(similarity, premise.starts, axis=2)
    best = per_sentence.max(2)
    stop = hypothesis.stop
    digit = hypothesis.digit
    name = hypothesis.name
    weights = np.where(stop, 0.15, 1.0) * np.clip(
        hypothesis.encoded.rarity - 6.5, 0.3, None
    )
    nearness = np.round(weights @ per_sentence.mean(0) / weights.sum(), TIED)
    closest = np.argsort(-nearness, kind="stable")[:CLOSEST]
    exact = np.array([(premise.plain == word).any() for word in hypothesis.plain])
    last = best[2]
    exact_values = exact.astype(float)
    size = len(last)
    total = weights.sum()
    after = _previous_values(stop[::-1], last[::-1], NEUTRAL)[::-1]
    exact_after = _previous_values(stop[::-1], exact_values[::-1], 0.5)[::-1]
    columns = (
        *best,
        exact_values,
        hypothesis.encoded.rarity - COMMON,
        digit,
        name,
        stop,
        np.concatenate([[NEUTRAL], last[:-1]]),
        np.concatenate([last[1:], [NEUTRAL]]),
        digit & ~exact,
        name & ~exact,
        stop * last,
        exact_values * last,
        _previous_values(stop, last, NEUTRAL),
        after,
        _previous_values(stop, exact_values, 0.5),
        exact_after,
        stop * after,
        stop * exact_after,
        *(np.full(size, weights @ values / total) for values in (best[1], last)),
    )
    features = np.stack([np.asarray(column, float) for column in columns], 1)
    places = tuple(closest.tolist())
    return Compared(
        features=features,
        weights=weights,
        best=best,
        exact=exact,
        closest=places,
        closeness=float(nearness[closest[0]]),
    )


def _previous_values(stop: Any, values: Any, neutral: float) -> Any:
    """Return for each word the value of the content word before it, or `neutral`."""
    result = np.empty(len(values))
    last = neutral
    for place, value in enumerate(values):
        result[place] = last
        last = last if stop[place] else value
    return result


def claim_features(
    hypothesis: Hypothesis, compared: Compared, support: Any, *last: float
) -> Any:
    """Return the CLAIM_FEATURES, of which `last` are given; none depends on a text's length.

    `support`: the probability of each of n words.
    """
    logs = np.log(support)
    weights = compared.weights
    total = compared.weights.sum()
    content = ~hypothesis.stop if (~hypothesis.stop).any() else np.ones(len(logs), bool)
    values = (
        logs.mean(),
        (weights * logs)[content].sum() / weights[content].sum(),
        _lowest(logs[content], 2),
        _lowest(logs[content], 4),
        *(compared.best @ weights / total),
        compared.exact @ weights / total,
        _lowest(compared.best[2][content], 2),
        (hypothesis.name & ~compared.exact).sum() / max(1, hypothesis.name.sum()),
    )
    return np.array([*values, *last], float)


def _lowest(values: Any, part: int) -> float:
    """Return the mean of the lowest 1/`part` of the values."""
    return float(np.sort(values)[: -(-len(values) // part)].mean())
