"""The best of several judges: half of the documents choose, the other half tells, once.

The number by which the best of many was chosen is too good: the luckiest looks best.
Rows of a document err together, so that documents are split, never rows.
"""

import math
from typing import NamedTuple

import numpy as np

from metassay.statistics.changes import (
    ROUNDING,
    mean_interval,
    sign_flip_test,
    sum_by_cluster,
)
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.layout import Index
from metassay.statistics.shares import share

BETTER, NOT_SHOWN, SAME = "better", "not shown", "the same judge"
AGREEMENT, BALANCED = "agreement", "balanced_accuracy"
CHOOSABLE = (AGREEMENT, BALANCED)

GAIN = 0.05  # for which labels are counted
FLIPS = 10_000  # signs of documents' differences
Z_LEVEL, Z_POWER = 1.96, 0.84  # two-sided 5 %, 80 %


class Half(NamedTuple):
    """The judges' numbers on one half of the documents."""

    rows: Mask  # (rows,) which rows these are
    values: Array  # (judges,)


class JudgeChoice(NamedTuple):
    """Which judge half of the documents chose, and what the other half tells of it.

    `chosen`, `present`: places of judges. `value`: the chosen judge's number on the half
    that tells, with its interval `value_low` to `value_high`. `gain`: by how much it is
    better there than the present judge, with the interval `low` to `high` and a two-sided
    p; NaN if it is the present one. `labels`: labelled rows, in both halves, for which a
    gain of `sought` is shown with a chance of 80 %, where judges differ as often as these
    two do; NaN if they never differ.
    """

    chosen: int
    present: int
    choosing: Half
    telling: Half
    value: float
    value_low: float
    value_high: float
    gain: float
    low: float
    high: float
    p: float
    outcome: str
    sought: float
    labels: float


def choose_judge(  # noqa: PLR0913 - two tables of verdicts, documents, and how sure
    right: Array,
    passed: Array,
    cluster: Index,
    *,
    by: str = AGREEMENT,
    present: int = 0,
    sought: float = GAIN,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> JudgeChoice:
    """Choose a judge on a random half of the documents, and tell how good it is on the other.

    Parameters
    ----------
    right : (judges, rows)
        1 where a judge's verdict is people's label, else 0; no missing values.
    passed : (rows,)
        People's labels, 1 or 0.
    cluster : (rows,)
        Documents, as whole numbers from 0.
    by : str
        `agreement`, the share of rows that are right, or `balanced_accuracy`, the mean of
        that share among passes and among fails. Higher is better.
    present : int
        The judge that is in use; a tie is decided for it, then for the first.
    sought : float
        The gain for which labels are counted.

    Raises
    ------
    ValueError
        If a half has no row, or, by `balanced_accuracy`, no pass or no fail.

    Notes
    -----
    The gain is tested by signs of documents' differences, which is exact for two judges
    that are exchangeable. The half that tells has not chosen anything, so that neither
    the number nor the test needs an adjustment for how many judges there were. Simulated
    beside the number of the choosing half: `python -m tests.calibration.judge_choice`.
    """
    first = random_half(cluster, rng)
    for half in (first, ~first):
        if not half.any():
            raise ValueError("one document cannot be split into two halves")
        if by == BALANCED and np.all(passed[half] == passed[half][0]):
            raise ValueError("a half has rows of one label only")
    chosen = pick_judge(right[:, first], passed[first], by=by, present=present)
    return tell_judge(
        right,
        passed,
        cluster,
        first,
        chosen,
        by=by,
        present=present,
        sought=sought,
        confidence=confidence,
        rng=rng,
    )


def pick_judge(
    right: Array, passed: Array, *, by: str = AGREEMENT, present: int = 0
) -> int:
    """Return the place of the best judge on the rows that choose; arguments of `choose_judge`."""
    values = _numbers(right, passed, by)
    # Other counts of passes and fails can have the same mean, but for its last digits.
    best = np.flatnonzero(values >= np.max(values) - ROUNDING)
    return present if present in best else int(best[0])


def tell_judge(  # noqa: PLR0913 - two tables of verdicts, two halves, and how sure
    right: Array,
    passed: Array,
    cluster: Index,
    first: Mask,
    chosen: int,
    *,
    by: str = AGREEMENT,
    present: int = 0,
    sought: float = GAIN,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> JudgeChoice:
    """Tell how good a judge is on the rows that are not of the half `first`, which chose it.

    As `choose_judge`, with the half and the choice already made. There, judges other than
    the chosen and the present one may lack verdicts (NaN), so that nobody needs to ask them.
    """
    choosing = Half(first, _numbers(right[:, first], passed[first], by))
    telling = Half(~first, _numbers(right[:, ~first], passed[~first], by))
    weight = _weights(passed[~first], by)
    difference = (right[chosen] - right[present])[~first] * weight
    documents = np.unique(cluster[~first], return_inverse=True)[1]
    value_low, value_high = _ends(
        right[chosen, ~first], passed[~first], documents, by, confidence
    )
    whole = JudgeChoice(
        chosen=chosen,
        present=present,
        choosing=choosing,
        telling=telling,
        value=float(telling.values[chosen]),
        value_low=value_low,
        value_high=value_high,
        gain=math.nan,
        low=math.nan,
        high=math.nan,
        p=math.nan,
        outcome=SAME,
        sought=sought,
        labels=math.nan,
    )
    if chosen == present:
        return whole
    low, high = mean_interval(difference[None], documents, confidence=confidence)
    test = sign_flip_test(sum_by_cluster(difference[None], documents), n=FLIPS, rng=rng)
    gain, p = float(np.mean(difference)), float(test.p[0])
    is_better = gain > 0 and p < 1 - confidence
    return whole._replace(
        gain=gain,
        low=float(low[0]),
        high=float(high[0]),
        p=p,
        outcome=BETTER if is_better else NOT_SHOWN,
        labels=labels_for(sought, difference, documents),
    )


def labels_for(sought: float, difference: Array, cluster: Index) -> float:
    """Count the labelled rows, in both halves, that show a gain of `sought` in 80 %.

    From the variance of the differences (rows,) between documents, as if the rest of
    what judges do stayed as it is. NaN where there is no difference.
    """
    n = difference.size
    sums = np.bincount(cluster, weights=difference - np.mean(difference))
    variance = float(np.sum(sums**2)) / n  # of a row, with what its document adds
    if variance <= 0:
        return math.nan
    return 2.0 * math.ceil((Z_LEVEL + Z_POWER) ** 2 * variance / sought**2)


def labels_if(differ: float, sought: float = GAIN) -> float:
    """Count the labels of `labels_for` where judges differ on the share `differ` of rows.

    Of independent rows: multiply by the design effect where documents have several.

    >>> labels_if(0.2)
    1256.0
    """
    return 2.0 * math.ceil((Z_LEVEL + Z_POWER) ** 2 * differ / sought**2)


def random_half(cluster: Index, rng: np.random.Generator) -> Mask:
    """Return which rows are of a random half of the documents; one more is of the other."""
    n = int(cluster.max(initial=-1)) + 1
    is_first = np.zeros(n, dtype=np.bool_)
    is_first[rng.permutation(n)[: n // 2]] = True
    return np.asarray(is_first[cluster], dtype=np.bool_)


class Parts(NamedTuple):
    """Which rows (rows,) a prompt may show, which choose, and which tell."""

    shown: Mask
    choosing: Mask
    telling: Mask


def split_documents(cluster: Index, rng: np.random.Generator, *, shows: bool) -> Parts:
    """Split documents at random: half tell; of the others, a third is shown if `shows`.

    A prompt that shows a row's label, or was written by a model that saw it, may be right
    on that row and nowhere else. So what is shown does not choose.
    """
    first = random_half(cluster, rng)
    shown: Mask = np.zeros(cluster.size, dtype=np.bool_)
    if shows:
        documents = np.unique(cluster[first])
        n_shown = documents.size // 3
        shown = np.isin(cluster, rng.permutation(documents)[:n_shown])
    return Parts(shown=shown, choosing=first & ~shown, telling=~first)


def _weights(passed: Array, by: str) -> Array:
    """Return what each row counts, 1 on average: each class as much as the other, if balanced."""
    if by == AGREEMENT:
        return np.ones(passed.size)
    share_of_passes = float(np.mean(passed))
    of_class = np.where(passed == 1.0, share_of_passes, 1.0 - share_of_passes)
    return np.asarray(0.5 / of_class)


def _numbers(right: Array, passed: Array, by: str) -> Array:
    """Return each judge's number; judges with the same counts have the same, to the last bit."""
    numbers: Array
    if by == AGREEMENT:
        numbers = np.mean(right, axis=1)
    else:
        of_passes = np.mean(right[:, passed == 1.0], axis=1)
        of_fails = np.mean(right[:, passed == 0.0], axis=1)
        numbers = (of_passes + of_fails) / 2
    return numbers


def _ends(
    right: Array, passed: Array, cluster: Index, by: str, confidence: float
) -> tuple[float, float]:
    """Return the interval of one judge's number; of two shares, by squaring and adding."""
    if by == AGREEMENT:
        whole = share(right, cluster, confidence=confidence)
        return whole.low, whole.high
    classes = []
    for label in (1.0, 0.0):
        rows = passed == label
        classes.append(share(right[rows], cluster[rows], confidence=confidence))
    passes, fails = classes
    value = (passes.value + fails.value) / 2
    below = math.hypot(passes.value - passes.low, fails.value - fails.low) / 2
    above = math.hypot(passes.high - passes.value, fails.high - fails.value) / 2
    return value - below, value + above
