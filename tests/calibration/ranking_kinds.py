"""Rankings and leaderboards with a known truth: do the intervals of `judge-check` hold it?

Texts of a document have a quality, which people and a judge each see with errors; in some
documents errors are larger than in others. Systems have a quality, and a score each. The
truth is the value on 20,000 documents, or of 4,000 systems.

`python -m tests.calibration.ranking_kinds` prints the section of the page.
"""

import sys
from typing import NamedTuple

import numpy as np
import scipy.stats

from metassay.statistics.rankings import (
    kendall_among,
    kendall_by_list,
    mean_kendall,
    prefer_by_rank,
)
from metassay.statistics.shares import Estimate
from metassay.statistics.system_scores import (
    NAMES,
    correlate_systems,
    permutation_p,
)
from tests.calibration.label_kinds import count_hits

STUDIES = 1000
WHOLE = 20_000
SYSTEMS = 4_000
CONFIDENCE = 0.95
UNLIKE = 0.5  # standard deviation of the logarithm of a document's errors


class Lists(NamedTuple):
    """Documents whose texts are ranked."""

    what: str
    documents: int
    texts: int
    noise: float  # standard deviation of errors, that of quality being 1
    raters: int = 1
    ties: float = 0.0  # the share of texts that get the rank of the one before
    missing: float = 0.0  # the share of texts without a rank


class Board(NamedTuple):
    """Systems with a score and a human score each."""

    what: str
    systems: int
    correlation: float
    far: float = 0.0  # the share of systems that are far better


LISTS = (
    Lists("4 texts", 40, 4, 1.0),
    Lists("3 texts, nearly always the same order", 20, 3, 0.15),
    Lists("pairs", 30, 2, 0.5),
    Lists("10 texts, 10 documents", 10, 10, 0.5),
    Lists("5 texts, 3 raters, ties", 30, 5, 0.7, raters=3, ties=0.3),
    Lists("5 texts, 2 raters, a fifth without a rank", 40, 5, 0.7, 2, missing=0.2),
    Lists("6 texts, unrelated", 60, 6, 8.0),
)
BOARDS = (
    Board("4 systems", 4, 0.8),
    Board("6 systems", 6, 0.95),
    Board("8 systems", 8, 0.6),
    Board("12 systems", 12, 0.9),
    Board("12 systems, a quarter far better", 12, 0.9, 0.25),
    Board("30 systems", 30, 0.5),
)
CHANCE = ((5, 3), (8, 10), (15, 20))  # systems and scores that know nothing


def _ranks(rng, world, quality, size):
    ranks = scipy.stats.rankdata(
        -(quality + size * rng.normal(size=quality.shape)), axis=1
    )
    tied = rng.random(ranks.shape) < world.ties
    ranks = np.where(tied & (ranks > 1), ranks - 1, ranks)
    return np.where(rng.random(ranks.shape) < world.missing, np.nan, ranks)


def rank_numbers(rng, world, documents):
    """Return the numbers with intervals of one study, by name."""
    quality = rng.normal(size=(documents, world.texts))
    size = world.noise * np.exp(UNLIKE * rng.normal(size=(documents, 1)))
    left, right = np.triu_indices(world.texts, 1)

    def codes():
        ranks = _ranks(rng, world, quality, size)
        return prefer_by_rank(ranks[:, left], ranks[:, right]).reshape(-1)

    judge = codes()
    people = np.array([codes() for _ in range(world.raters)])
    lists = np.repeat(np.arange(documents), left.size)
    numbers = {"kendall": kendall_by_list(judge, people, lists, documents)}
    if world.raters > 1:
        numbers["among raters"] = kendall_among(people, lists, documents)
    return {
        name: mean_kendall(tau, confidence=CONFIDENCE) for name, tau in numbers.items()
    }


def _draw_systems(rng, world, systems):
    """Return scores and people's scores (systems,)."""
    people, variance = rng.normal(size=systems), 1.0
    if world.far:
        people = 0.3 * people + 3.0 * (rng.random(systems) < world.far)
        variance = 0.09 + 9.0 * world.far * (1.0 - world.far)
    errors = np.sqrt(variance * (1.0 / world.correlation**2 - 1.0))
    return people + errors * rng.normal(size=systems), people


def rank_rates(world, *, studies=STUDIES, seed=0):
    """Return how often the interval of each number holds it, by name."""
    rng = np.random.default_rng([seed, 47])
    truth = rank_numbers(rng, world, WHOLE)
    counts = count_hits(
        lambda: rank_numbers(rng, world, world.documents), truth, studies
    )
    return {name: hits / n for name, (hits, n) in counts.items()}


def system_rates(world, *, studies=STUDIES, seed=0):
    """Return how often the interval of each correlation holds it, by name."""
    rng = np.random.default_rng([seed, 48])
    score, people = _draw_systems(rng, world, SYSTEMS)
    of = (scipy.stats.pearsonr, scipy.stats.spearmanr, scipy.stats.kendalltau)
    truth = {
        name: Estimate(float(coefficient(score, people)[0]), 0.0, 0.0, 0, 0.0)
        for name, coefficient in zip(NAMES, of, strict=True)
    }

    def study():
        drawn = _draw_systems(rng, world, world.systems)
        return correlate_systems(*drawn, confidence=CONFIDENCE)

    counts = count_hits(study, truth, studies)
    return {name: hits / n for name, (hits, n) in counts.items()}


def false_rate(systems, scores, *, studies=STUDIES, seed=0):
    """Return how often the best of scores that know nothing has p below .05."""
    rng = np.random.default_rng([seed, 49])
    shown = 0
    for _ in range(studies):
        values, people = rng.normal(size=(scores, systems)), rng.normal(size=systems)
        # Of 120 orders 6 are .05 exactly, which is not below it.
        shown += np.min(permutation_p(values, people, rng)[1]) < 0.05 - 1e-9
    return shown / studies


def rates(studies=STUDIES):
    """Return the coverage in each world, and the false claims of leaderboards."""
    lists = [
        (world, rank_rates(world, studies=studies, seed=seed))
        for seed, world in enumerate(LISTS)
    ]
    boards = [
        (world, system_rates(world, studies=studies, seed=seed))
        for seed, world in enumerate(BOARDS)
    ]
    chance = [
        (*sizes, false_rate(*sizes, studies=studies, seed=seed))
        for seed, sizes in enumerate(CHANCE)
    ]
    return lists, boards, chance


def section(results):
    """The section of the page, as lines."""
    lists, boards, chance = results
    lines = [
        "## Rankings and leaderboards checked in one command",
        "",
        "How often the 95 % intervals of `judge-check` hold the truth: the mean of Kendall's tau"
        f" within documents. {STUDIES:,} studies per row, so that one standard error at 95 % is"
        " .7 points.",
        "",
        "| rankings | documents | kendall | among raters |",
        "|---|---:|---:|---:|",
    ]
    for world, shares in lists:
        among = shares.get("among raters")
        cell = "–" if among is None else f"{among:.1%}"
        lines.append(
            f"| {world.what} | {world.documents} | {shares['kendall']:.1%} | {cell} |"
        )
    lines += [
        "",
        "Correlations over systems that have one score each, where systems are drawn:",
        "",
        f"| systems | correlation | {' | '.join(NAMES)} |",
        f"|---|---:|{'---:|' * len(NAMES)}",
    ]
    for world, shares in boards:
        cells = " | ".join(f"{shares[name]:.1%}" for name in NAMES)
        lines.append(f"| {world.what} | {world.correlation} | {cells} |")
    lines += [
        "",
        "How often one of several scores that know nothing is called `related` or `reversed`; at"
        " most 5 % is promised:",
        "",
        "| systems | scores | falsely |",
        "|---:|---:|---:|",
        *(f"| {n} | {scores} | {share:.1%} |" for n, scores, share in chance),
        "",
    ]
    return lines


if __name__ == "__main__":
    print("\n".join(section(rates(int(sys.argv[1]) if sys.argv[1:] else STUDIES))))
