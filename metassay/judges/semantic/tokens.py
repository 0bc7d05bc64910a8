"""What is known of each word of a hypothesis against a premise: the token-level features."""

from typing import Any, NamedTuple

import numpy as np

from metassay.judges.semantic.texts import Hypothesis, Premise

FEATURES = (
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
NEUTRAL = 0.7  # similarity of a neighbour that is not there: about the mean of those that are
COMMON = 8.0  # the logarithm of the place in the vocabulary that counts as 0
TIED = 9  # decimals to which sentences that are equally similar agree
CLOSEST = 3  # sentences that are read word by word


class Compared(NamedTuple):
    """A hypothesis of n words against a premise.

    `features`: n x FEATURES. `weights`: of words, n. `best`: layers x n. `exact`: n. `closest`:
    places of the CLOSEST sentences, the most similar first. `closeness`: the weighed mean of the
    similarities of the words to the first of them, over layers.
    """

    features: Any
    weights: Any
    best: Any
    exact: Any
    closest: tuple[int, ...]
    closeness: float


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
    features = _features(said, best, exact, weights)
    places = tuple(closest.tolist())
    return Compared(features, weights, best, exact, places, float(nearness[closest[0]]))


def _features(said: Hypothesis, best: Any, exact: Any, weights: Any) -> Any:
    last, there = best[2], exact.astype(float)
    size, total = len(last), weights.sum()
    before, behind = _content(said.stop, last, NEUTRAL)
    exact_before, exact_behind = _content(said.stop, there, 0.5)
    columns = (
        *best,
        there,
        said.encoded.rarity - COMMON,
        said.digit,
        said.name,
        said.stop,
        np.concatenate([[NEUTRAL], last[:-1]]),
        np.concatenate([last[1:], [NEUTRAL]]),
        said.digit & ~exact,
        said.name & ~exact,
        said.stop * last,
        there * last,
        before,
        behind,
        exact_before,
        exact_behind,
        said.stop * behind,
        said.stop * exact_behind,
        np.full(size, weights @ best[1] / total),
        np.full(size, weights @ last / total),
    )
    return np.stack([np.asarray(column, float) for column in columns], 1)


def _content(stop: Any, values: Any, neutral: float) -> tuple[Any, Any]:
    """Of each word, the value of the content word before it and of the one behind it."""
    return _before(stop, values, neutral), _before(stop[::-1], values[::-1], neutral)[::-1]


def _before(stop: Any, values: Any, neutral: float) -> Any:
    found, last = np.empty(len(values)), neutral
    for place, value in enumerate(values):
        found[place] = last
        last = last if stop[place] else value
    return found
