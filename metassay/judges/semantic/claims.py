"""What is known of a hypothesis as a whole: the claim-level features."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from metassay.judges.semantic import clashes
from metassay.judges.semantic.texts import Hypothesis
from metassay.judges.semantic.tokens import Compared

_OF_WORDS = (
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
)
DOUBT = "doubt"  # of the network that compares words
FEATURES = (*_OF_WORDS, *clashes.KINDS, DOUBT)
# More of these never speaks for support; more of all others never against it.
FALLING = ("names_missing", "numbers_missing", *clashes.KINDS, DOUBT)


def words_say(said: Hypothesis, found: Compared, support: Any, absent: float) -> Any:
    """What the words say; no length of a text is among it, nor what depends on one.

    `support`: the probability of each of n words. `absent`: share of numbers that are not there.
    """
    logs = np.log(support)
    weights, total = found.weights, found.weights.sum()
    content = ~said.stop if (~said.stop).any() else np.ones(len(logs), bool)
    return np.array(
        [
            logs.mean(),
            (weights * logs)[content].sum() / weights[content].sum(),
            _lowest(logs[content], 2),
            _lowest(logs[content], 4),
            *(found.best @ weights / total),
            found.exact @ weights / total,
            _lowest(found.best[2][content], 2),
            (said.name & ~found.exact).sum() / max(1, said.name.sum()),
            absent,
            found.closeness,
        ],
        float,
    )


def features(words: Any, clashing: Sequence[float], doubt: float) -> Any:
    """One value per FEATURES."""
    return np.array([*words, *clashing, doubt], float)


def _lowest(values: Any, part: int) -> float:
    """The mean of the lowest values, one in `part` of them."""
    return float(np.sort(values)[: -(-len(values) // part)].mean())
