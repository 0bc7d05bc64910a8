"""ROUGE-TopK against rouge-score: 12 statements, 921 source sentences, invented text.

`python speed/rouge_topk.py` first asserts that both give the same values to the last bit,
then alternates them in one process and prints the paired ratios of their times.
"""

import statistics
import sys
import time

import numpy as np
from rouge_score import rouge_scorer

from metassay.units.alignment.rouge_topk import mean_rouge

STATEMENTS, PASSAGES, WORDS, ROUNDS, SEED = 12, 921, 4000, 9, 20261121
SCORER = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)


def invented(count: int, rng: np.random.Generator) -> list[str]:
    """Sentences of 5 to 25 words, few of them frequent and most of them rare, as in prose."""
    chance = 1 / np.arange(1, WORDS + 1)
    chance /= chance.sum()
    sizes = rng.integers(5, 26, size=count).tolist()
    return [
        " ".join(f"word{n}" for n in rng.choice(WORDS, size=size, p=chance).tolist()) + "."
        for size in sizes
    ]


def baseline(passages: list[str], statements: list[str]) -> list[list[float]]:
    values = []
    for statement in statements:
        row = []
        for passage in passages:
            scores = SCORER.score(statement, passage)
            one, two, longest = (scores[n].fmeasure for n in ("rouge1", "rouge2", "rougeL"))
            row.append((one + two + longest) / 3)
        values.append(row)
    return values


def candidate(passages: list[str], statements: list[str]) -> list[list[float]]:
    values: list[list[float]] = mean_rouge(passages, statements).tolist()
    return values


def main() -> None:
    rng = np.random.default_rng(SEED)
    passages, statements = invented(PASSAGES, rng), invented(STATEMENTS, rng)
    if baseline(passages, statements) != candidate(passages, statements):
        sys.exit("the values differ: no timing")
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        baseline(passages, statements)
        middle = time.perf_counter()
        candidate(passages, statements)
        times.append((middle - start, time.perf_counter() - middle))
    ratios = sorted(before / after for before, after in times)
    print(
        f"ROUGE-TopK, {STATEMENTS} x {PASSAGES} sentences, {ROUNDS} rounds, equal values:"
        f" rouge-score {1e3 * statistics.median(t for t, _ in times):.0f} ms,"
        f" here {1e3 * statistics.median(t for _, t in times):.1f} ms,"
        f" ratio {statistics.median(ratios):.0f}x ({ratios[0]:.0f} to {ratios[-1]:.0f})"
    )


if __name__ == "__main__":
    main()
