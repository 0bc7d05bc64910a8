"""ROUGE-1, -2, -L and -Lsum against rouge-score: pairs of 400-word notes, invented text.

`python speed/metrics_rouge.py` first asserts that both give the same values to the last
bit, then alternates them in one process and prints the paired ratios of their times.
"""

import statistics
import sys
import time
from itertools import chain, product

import numpy as np
from rouge_score import rouge_scorer

from metassay.metrics import rouge

DOCUMENTS, SYSTEMS, WORDS, LINES, VOCABULARY, ROUNDS, SEED = (
    3,
    4,
    400,
    30,
    4000,
    7,
    20261121,
)
QUICK = {"DOCUMENTS": 1, "SYSTEMS": 1, "ROUNDS": 1}
TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
Values = list[tuple[float, ...]]


def invented(rng: np.random.Generator) -> str:
    """A note of short lines, few of its words frequent and most of them rare, as in prose."""
    chance = 1 / np.arange(1, VOCABULARY + 1)
    words = [
        f"word{n}ing"
        for n in rng.choice(VOCABULARY, WORDS, p=chance / chance.sum()).tolist()
    ]
    breaks = sorted(rng.choice(WORDS, LINES - 1, replace=False).tolist())
    starts, ends = [0, *breaks], [*breaks, WORDS]
    return "\n".join(" ".join(words[s:e]) for s, e in zip(starts, ends, strict=True))


def baseline(candidates: list[str], references: list[str], stemmer: bool) -> Values:
    scorer = rouge_scorer.RougeScorer(TYPES, use_stemmer=stemmer)
    scores = [scorer.score(r, c) for c, r in zip(candidates, references, strict=True)]
    return [
        tuple(chain.from_iterable(score[name] for name in TYPES)) for score in scores
    ]


def candidate(candidates: list[str], references: list[str], stemmer: bool) -> Values:
    options = rouge.RougeOptions(stemmer=stemmer, split="newline")
    measured = rouge.measure(candidates, references, options)
    names = product(TYPES, ("precision", "recall", "fmeasure"))
    columns = [
        [float(score.value or 0) for score in measured[f"{name}_{variant}"]]
        for name, variant in names
    ]
    return list(zip(*columns, strict=True))


def main() -> None:
    rng = np.random.default_rng(SEED)
    texts = [invented(rng) for _ in range(DOCUMENTS)]
    references = [text for text in texts for _ in range(SYSTEMS)]
    candidates = [invented(rng) for _ in references]
    for stemmer in (False, True):
        if baseline(candidates, references, stemmer) != candidate(
            candidates, references, stemmer
        ):
            sys.exit("the values differ: no timing")
        times = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            baseline(candidates, references, stemmer)
            middle = time.perf_counter()
            candidate(candidates, references, stemmer)
            times.append((middle - start, time.perf_counter() - middle))
        ratios = sorted(before / after for before, after in times)
        before, after = (
            statistics.median(column) for column in zip(*times, strict=True)
        )
        print(
            f"ROUGE, {len(candidates)} pairs of {WORDS} words, stemmer {'on' if stemmer else 'off'}"
            f", {ROUNDS} rounds, equal values: rouge-score {len(candidates) / before:.1f} pairs/s,"
            f" here {len(candidates) / after:.0f} pairs/s,"
            f" ratio {statistics.median(ratios):.0f}x ({ratios[0]:.0f} to {ratios[-1]:.0f})"
        )


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
