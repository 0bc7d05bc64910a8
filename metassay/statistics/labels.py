"""How many of a judge's texts people must rate for an interval of a given width."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.arithmetic import Array
from metassay.statistics.judge_card import THRESHOLD, cells, judgments, pass_or_fail
from metassay.statistics.pass_rate import powered_influence
from metassay.statistics.shares import effective_size, jeffreys, own_clusters

WIDTH = 0.1  # from the lower end to the upper
STEPS = 60  # halvings of an interval: to the last bit
MOST = 1e9  # texts; more are as good as out of reach


class LabelsNeeded(NamedTuple):
    """How many texts people must rate in all, those rated already included; NaN if unknown."""

    pass_rate: float  # for the prediction-powered pass rate
    sensitivity: float
    specificity: float


def labels_needed(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    confidence: float,
    width: float = WIDTH,
    threshold: float = THRESHOLD,
    cluster: ArrayLike | None = None,
) -> LabelsNeeded:
    """The number of rated texts at which each interval is `width` wide; arrays as `judge_card`'s.

    It takes what is seen so far for the truth, with 1/2 text added to each cell of judgments by
    ratings, so that a judge without an error yet is not taken for perfect: from few ratings it is
    a rough guess, so ask again with more of them. Texts to rate are drawn at random from those
    with a judgment, and share documents as the rated ones do. Sensitivity rests on the texts that
    people pass, specificity on those that they fail, so the rarer kind needs the most ratings.
    More pass-rate labels than there are texts with a judgment means that more texts are needed, all
    of them rated. NaN with fewer than two texts that have judgment and rating.
    Raises ValueError unless 0 < width < 1.
    """
    if not 0 < width < 1:
        raise ValueError(f"want a width between 0 and 1, got {width}")
    judgment, human = judgments(judge, threshold), pass_or_fail(people)
    judged = np.isfinite(judgment)
    f, y = judgment[judged], human[judged]
    of = own_clusters(cluster, judgment.size)[judged]
    rated = np.isfinite(y)
    if np.count_nonzero(rated) < 2:
        return LabelsNeeded(np.nan, np.nan, np.nan)
    table = (np.bincount(cells(f[rated], y[rated]), minlength=4) + 0.5).astype(np.float64)
    table /= table.sum()
    passes, fails = table[0] + table[2], table[1] + table[3]

    def deff(influence: Array, among: Array) -> float:
        size = int(np.count_nonzero(among))
        kept = among.astype(bool)
        if not size:
            return 1.0
        return size / effective_size(influence[kept], of[kept], confidence=confidence)

    whole = deff(powered_influence(f, y), judged[judged])
    needed = (
        whole * _powered(table, f.size / whole, width, confidence),
        deff(f, y == 1) * _alone(float(table[0] / passes), width, confidence) / passes,
        deff(1.0 - f, y == 0) * _alone(float(table[3] / fails), width, confidence) / fails,
    )
    return LabelsNeeded(*(float(math.ceil(n - 1e-9)) for n in needed))


def _alone(share: float, width: float, confidence: float) -> float:
    """Independent texts at which Jeffreys' interval of this share is so wide."""

    def wide(n: float) -> bool:
        low, high = jeffreys(share * n, n, confidence=confidence)
        return high - low > width

    return _least(wide)


def _powered(table: Array, judged: float, width: float, confidence: float) -> float:
    # The rate's variance is that of people's 0/1 times (1 - r2) / rated + r2 / judged, where r2 is
    # what the judgments explain of them.
    passes, by_judge = table[0] + table[2], table[0] + table[1]
    shared = table[0] - passes * by_judge
    spread = passes * (1.0 - passes) * by_judge * (1.0 - by_judge)
    r2 = float(shared**2 / spread) if shared > 0 else 0.0
    alone = _alone(float(passes), width, confidence)
    if alone >= judged:
        return alone
    return (1.0 - r2) / (1.0 / alone - r2 / judged)


def _least(wide: Callable[[float], bool]) -> float:
    low, high = 0.5, MOST
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if wide(middle) else (low, middle)
    return high
