"""ROUGE-TopK and ROUGE-Gain against rouge-score: 12 statements, 921 sentences, invented text.

`python speed/rouge_alignments.py` first asserts that both give the same values and
choices, to the last bit, then alternates them in one process and prints the paired
ratios of their times.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rouge_score import rouge_scorer

from metassay.units.alignment.rouge import mean_rouge
from metassay.units.alignment.rouge_gain import RougeGainOptions, align
from metassay.units.record import Statements

STATEMENTS, PASSAGES, WORDS, ROUNDS, SEED = 12, 921, 4000, 9, 20261121
QUICK = {"STATEMENTS": 1, "PASSAGES": 12, "ROUNDS": 1}
NAMES = ("rouge1", "rouge2", "rougeL")
SCORER = rouge_scorer.RougeScorer(list(NAMES), use_stemmer=False)


def invented(count: int, rng: np.random.Generator) -> list[str]:
    """Sentences of 5 to 25 words, few of them frequent and most of them rare, as in prose."""
    chance = 1 / np.arange(1, WORDS + 1)
    chance /= chance.sum()
    sizes = rng.integers(5, 26, size=count).tolist()
    return [
        " ".join(f"word{n}" for n in rng.choice(WORDS, size=size, p=chance).tolist())
        + "."
        for size in sizes
    ]


def mean(statement: str, text: str) -> float:
    scores = SCORER.score(statement, text)
    one, two, longest = (scores[name].fmeasure for name in NAMES)
    return float((one + two + longest) / 3)


def every_pair(passages: list[str], statements: list[str]) -> Any:
    return [
        [mean(statement, passage) for passage in passages] for statement in statements
    ]


def every_pair_here(passages: list[str], statements: list[str]) -> Any:
    return mean_rouge(passages, statements).tolist()


def added_up(passages: list[str], statements: list[str]) -> Any:
    return [_added_up(passages, statement) for statement in statements]


def _added_up(passages: list[str], statement: str) -> list[tuple[int, float]]:
    chosen: list[tuple[int, float]] = []
    text, last = "", 0.0
    while True:
        taken = {place for place, _ in chosen}
        values = {
            place: mean(statement, f"{text} {passage}")
            for place, passage in enumerate(passages)
            if place not in taken
        }
        best = max(values, key=lambda place: values[place])
        if values[best] <= last:
            return chosen
        last, text = values[best], f"{text} {passages[best]}"
        chosen.append((best, last))


def added_up_here(passages: list[str], statements: list[str]) -> Any:
    document = Statements(passages, [""] * len(passages), statements)
    return align([document], RougeGainOptions(rule="printed")).documents[0]


def compare(
    name: str, baseline: Callable[..., Any], candidate: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(SEED)
    given = invented(PASSAGES, rng), invented(STATEMENTS, rng)
    if baseline(*given) != candidate(*given):
        sys.exit(f"{name}: the values differ: no timing")
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        baseline(*given)
        middle = time.process_time()
        candidate(*given)
        times.append((middle - start, time.process_time() - middle))
    ratios = sorted(before / after for before, after in times)
    print(
        f"{name}, {STATEMENTS} x {PASSAGES} sentences, {ROUNDS} rounds, equal values, by the"
        f" processor: rouge-score {1e3 * statistics.median(t for t, _ in times):.0f} ms,"
        f" here {1e3 * statistics.median(t for _, t in times):.1f} ms,"
        f" ratio {statistics.median(ratios):.0f}x ({ratios[0]:.0f} to {ratios[-1]:.0f})"
    )


def main() -> None:
    compare("ROUGE-TopK", every_pair, every_pair_here)
    compare("ROUGE-Gain", added_up, added_up_here)


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()
