"""Pairs read by the encoder, block by block: each text once, whatever it stands in."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from metassay.judges.semantic import clashes, features, head
from metassay.judges.semantic.coefficients import Models, claim_probability, support
from metassay.judges.semantic.features import Hypothesis
from metassay.models.batches import by_texts
from metassay.models.encoders import Encoder
from metassay.models.words import Text, encode, words

BLOCK = 16_384  # words that are read at once
UNLIKELY = 0.5  # a word with less than this probability of support is named
KEPT = 49_152  # words whose vectors stay in memory for pairs to come

Question = tuple[str, str]  # premise and hypothesis


class Read(NamedTuple):
    """What is known of a pair: of the hypothesis, of each of its n words, and of clashes.

    `absent`: share of its numbers that the premise lacks. `words`: what the network compares.
    `cut`: words that the encoder could not read. `compared` and `words`: None where the premise has
    no words. `stated`: the premise says it word for word, in whole sentences; there is no clash
    then.
    """

    said: Hypothesis
    compared: features.Compared | None
    absent: float
    clashing: list[float]
    words: head.Words | None
    cut: int
    stated: bool

    def of_claim(self, words: Any, doubt: float) -> Any:
        """The claim's features, by a model of words and a network's doubt."""
        assert self.compared is not None
        likely = support(words, self.compared.features)
        return features.of_claim(
            self.said, self.compared, likely, self.absent, self.clashing, doubt
        )


def judged(models: Models, reads: Sequence[Read]) -> list[tuple[float, list[list[int]]]]:
    """Of pairs that have a premise: the claim's probability, and places of words without support.

    A word lacks it where the model of words says so, or the network doubts it.
    """
    doubts = head.read_doubts(models.head, [one.words for one in reads if one.words is not None])
    rows, lacking = [], []
    for one, (doubt, of_words) in zip(reads, doubts, strict=True):
        assert one.compared is not None
        rows.append(one.of_claim(models.words, doubt))
        likely = support(models.words, one.compared.features)
        unlikely = (likely < UNLIKELY) | (np.array(of_words) > 0)
        spans = zip(one.said.encoded.words, unlikely, strict=True)
        lacking.append([list(span) for span, its in spans if its])
    values = claim_probability(models, np.array(rows)).tolist()
    return list(zip(values, lacking, strict=True))


def read_pairs(
    encoder: Encoder, questions: Sequence[Question], batch_tokens: int, held: dict[str, Text]
) -> Iterator[dict[int, Read]]:
    """Read every pair; by its place, block by block.

    Pairs of one premise come together. `held` are texts with their vectors, from call to call, of
    BLOCK + KEPT words at most (more if one premise has more): none of them is encoded again.
    """
    order = sorted(range(len(questions)), key=questions.__getitem__)
    for block in by_texts(questions, order, lambda text: len(words(text)), BLOCK):
        parts = {text: features.sentences(text) for text in {questions[i][0] for i in block}}
        wanted = {part: None for i in block for part in (*parts[questions[i][0]], questions[i][1])}
        missing = [text for text in wanted if text not in held]
        held |= zip(missing, encode(encoder, missing, batch_tokens), strict=True)
        found: dict[int, Read] = {}
        last, premise, numbers = None, None, frozenset[str]()
        for place in block:
            text, said = questions[place]
            if text != last:
                premise = features.premise(parts[text], held)
                numbers = frozenset().union(*map(clashes.numbers, parts[text]))
                last = text
            found[place] = _read(said, parts[text], premise, numbers, held)
        yield found
        _forget(held, wanted)


def _read(
    said: str,
    parts: Sequence[str],
    premise: features.Premise | None,
    numbers: frozenset[str],
    held: dict[str, Text],
) -> Read:
    cut = sum(held[part].cut for part in (*parts, said))
    own = clashes.numbers(said)
    absent = len(own - numbers) / max(1, len(own))
    hypothesis = features.hypothesis(said, held[said])
    if premise is None:
        return Read(hypothesis, None, absent, clashes.NO_CLASH, None, cut, False)
    compared = features.compare(hypothesis, premise)
    stated = clashes.stated(said, parts)
    nearest = premise.texts[compared.closest[0]]
    clashing = clashes.NO_CLASH if stated else clashes.clashes(said, nearest)
    near = [premise.sentences[i] for i in compared.closest]
    words = head.read(hypothesis, near, compared.exact)
    return Read(hypothesis, compared, absent, clashing, words, cut, stated)


def _forget(held: dict[str, Text], used: dict[str, None]) -> None:
    """Let go of the texts that were used longest ago, until KEPT words are left."""
    for text in used:
        held[text] = held.pop(text)
    size = sum(len(text.words) for text in held.values())
    for text in list(held):
        if size <= KEPT:
            break
        size -= len(held.pop(text).words)
