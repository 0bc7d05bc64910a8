"""What the judge's models are told: of texts, of a hypothesis's words, and of it as a whole."""

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
    "left_2",  # best_2 of the word before, and of the word behind
    "right_2",
    "number_missing",  # a number that the premise lacks
    "name_missing",  # a name that it lacks
    "stop_best_2",  # best_2 of a stop word
    "exact_best_2",  # best_2 of a word that is there
    "last_content_2",  # best_2 of the content word before, and behind
    "next_content_2",
    "last_content_exact",  # exact of these
    "next_content_exact",
    "stop_next_2",  # of the content word behind, for a stop word
    "stop_next_exact",
    "recall_1",  # weighed mean of best_1 and of best_2 over all words
    "recall_2",
)
DOUBT = "doubt"  # of the network that compares words
CLAIM_FEATURES = (
    "mean_log",  # mean logarithm of the words' probabilities of support
    "content_log",  # the same, weighed, content words only
    "half_log",  # mean of the lower half of content words
    "quarter_log",  # of the lowest quarter
    "recall_0",  # weighed mean of the highest similarities, by layer
    "recall_1",
    "recall_2",
    "exact",  # weighed share of words that are there
    "half_best",  # mean of the lower half of the highest similarities of content words, last layer
    "names_missing",  # share of names that are not there
    "numbers_missing",  # share of numbers that are not there
    "closeness",  # of the closest sentence
    *clashes.KINDS,  # 1 where there is such a clash
    DOUBT,
)
# More of these never speaks for support; more of all others never against it.
FALLING = ("names_missing", "numbers_missing", *clashes.KINDS, DOUBT)
NEUTRAL = 0.7  # similarity of a neighbour that is not there: about the mean of those that are
COMMON = 8.0  # the logarithm of the place in the vocabulary that counts as 0
TIED = 9  # decimals to which sentences that are equally similar agree
CLOSEST = 3  # sentences that are read word by word
_CONTRACTED = ("n't", "n\u2019t")

_to_digits = reading.digits(reading.UNITS)


class Hypothesis(NamedTuple):
    """n words: their plain forms, what they are (n x true or false), and vectors.

    `stop`: carries no fact by itself. `digit`: has a digit in its plain form. `name`: begins with a
    capital letter, and is neither the first word nor a stop word. `negated`: a negation reaches it.
    """

    encoded: Text
    plain: list[str]
    stop: Any
    digit: Any
    name: Any
    negated: Any


class Premise(NamedTuple):
    """m words of s sentences: plain forms, and vectors of words in float64.

    `starts`: the place of each sentence's first word. `sentences`: what is known of each, and
    `texts` their texts.
    """

    plain: Any
    starts: Any
    vectors: Any
    sentences: list[Hypothesis]
    texts: list[str]


class Compared(NamedTuple):
    """A hypothesis of n words against a premise.

    `features`: n x WORD_FEATURES. `weights`: of words, n. `best`: layers x n. `exact`: n.
    `closest`: places of the CLOSEST sentences, the most similar first. `closeness`: the weighed
    mean of the similarities of the words to the first of them, over layers.
    """

    features: Any
    weights: Any
    best: Any
    exact: Any
    closest: tuple[int, ...]
    closeness: float


def sentences(premise: str) -> list[str]:
    """The sentences of a premise; headings and all else that has a word are kept."""
    return [
        part
        for line in premise.splitlines()
        for start, end in itertools.pairwise([0, *boundaries(line), len(line)])
        if (part := line[start:end]).strip()
    ]


def hypothesis(text: str, encoded: Text) -> Hypothesis:
    """What is known of a text of a few sentences by itself."""
    months = clashes.months(text)
    said = [text[word.start : word.end] for word in encoded.words]
    month = np.array([word.start in months for word in encoded.words], bool)
    both = zip(said, month, strict=True)
    plain = [clashes.MONTH if its else plain_form(word) for word, its in both]
    stop = np.array([not content_tokens(word) for word in said], bool) & ~month
    name = np.array([word[0].isupper() for word in said], bool) & ~stop
    name[:1] = False
    digit = np.array([any(map(str.isdigit, word)) for word in plain], bool)
    return Hypothesis(encoded, plain, stop, digit, name, negated(text))


def premise(parts: Sequence[str], encoded: Mapping[str, Text]) -> Premise | None:
    """A premise of these sentences, each with its vectors; None if it has no word."""
    texts = [part for part in parts if encoded[part].words]
    if not texts:
        return None
    held = [hypothesis(part, encoded[part]) for part in texts]
    return Premise(
        np.array([word for one in held for word in one.plain], dtype=object),
        np.cumsum([0, *(len(one.plain) for one in held[:-1])]),
        np.concatenate([one.encoded.vectors for one in held], 1).astype(np.float64),
        held,
        texts,
    )


@lru_cache(maxsize=65536)
def plain_form(word: str) -> str:
    """A word without plural ending or possessive, a known name as such, a number in digits."""
    name = clashes.name(word)
    if name is not None:
        return name
    tokens = content_tokens(word)
    return _to_digits(tokens[0]) if tokens else word.lower()


@lru_cache(maxsize=16384)
def negated(text: str) -> Any:
    """For each word whether a negation of its clause reaches it: n times true or false."""
    spans, low = words(text), text.lower()
    ends = np.array([match.start() for match in reading.CLAUSE_END.finditer(low)], int)
    clauses = [int((ends <= span.start).sum()) for span in spans]
    said = [low[span.start : span.end] for span in spans]
    # The content token of each word; None of a word that carries no fact.
    tokens = [
        "not" if word.endswith(_CONTRACTED) else next(iter(content_tokens(word)), None)
        for word in said
    ]
    found = np.zeros(len(spans), bool)
    for place, token in enumerate(tokens):
        if token not in reading.NEGATIONS:
            continue
        back = token in reading.BACKWARD
        step, reach = (-1, reading.BACKWARD_REACH) if back else (1, reading.NEGATION_REACH)
        at = place + step
        while 0 <= at < len(spans) and clauses[at] == clauses[place] and reach:
            if tokens[at] in reading.RESTARTS and not back:
                break
            found[at] = tokens[at] is not None
            reach -= int(found[at])
            at += step
    found.setflags(write=False)
    return found


def compare(said: Hypothesis, premise: Premise) -> Compared:
    """The features of each word; all similarities are cosines, higher is better supported.

    Of sentences that are equally similar the first comes first.
    """
    vectors = said.encoded.vectors.astype(np.float64)
    similarity = vectors @ premise.vectors.transpose(0, 2, 1)
    per_sentence = np.maximum.reduceat(similarity, premise.starts, axis=2)
    best = per_sentence.max(2)
    weights = np.where(said.stop, 0.15, 1.0) * np.clip(said.encoded.rarity - 6.5, 0.3, None)
    nearness = np.round(weights @ per_sentence.mean(0) / weights.sum(), TIED)
    closest = np.argsort(-nearness, kind="stable")[:CLOSEST]
    exact = np.array([(premise.plain == word).any() for word in said.plain])
    last, there, stop = best[2], exact.astype(float), said.stop
    size, total = len(last), weights.sum()
    behind = _before(stop[::-1], last[::-1], NEUTRAL)[::-1]
    exact_behind = _before(stop[::-1], there[::-1], 0.5)[::-1]
    columns = (
        *(*best, there, said.encoded.rarity - COMMON, said.digit, said.name, stop),
        *(np.concatenate([[NEUTRAL], last[:-1]]), np.concatenate([last[1:], [NEUTRAL]])),
        *(said.digit & ~exact, said.name & ~exact, stop * last, there * last),
        *(_before(stop, last, NEUTRAL), behind, _before(stop, there, 0.5), exact_behind),
        *(stop * behind, stop * exact_behind),
        *(np.full(size, weights @ values / total) for values in (best[1], last)),
    )
    features = np.stack([np.asarray(column, float) for column in columns], 1)
    places = tuple(closest.tolist())
    return Compared(features, weights, best, exact, places, float(nearness[closest[0]]))


def _before(stop: Any, values: Any, neutral: float) -> Any:
    """Of each word, the value of the content word before it."""
    found, last = np.empty(len(values)), neutral
    for place, value in enumerate(values):
        found[place] = last
        last = last if stop[place] else value
    return found


def of_claim(said: Hypothesis, found: Compared, support: Any, *last: float) -> Any:
    """One value per CLAIM_FEATURES but the `last` ones, which follow; no length of a text is among
    it, nor what depends on one. `support`: the probability of each of n words.
    """
    logs, weights, total = np.log(support), found.weights, found.weights.sum()
    content = ~said.stop if (~said.stop).any() else np.ones(len(logs), bool)
    values = (
        *(logs.mean(), (weights * logs)[content].sum() / weights[content].sum()),
        *(_lowest(logs[content], 2), _lowest(logs[content], 4)),
        *(*(found.best @ weights / total), found.exact @ weights / total),
        _lowest(found.best[2][content], 2),
        (said.name & ~found.exact).sum() / max(1, said.name.sum()),
    )
    return np.array([*values, *last], float)


def _lowest(values: Any, part: int) -> float:
    """The mean of the lowest values, one in `part` of them."""
    return float(np.sort(values)[: -(-len(values) // part)].mean())
