"""Whether a judge's answers of today stand out among its own answers of before.

The stored verdicts are one draw of a judge that changes its mind, and they chose the anchors. So
today's answers are not held against them alone: of the repetitions that were asked when the anchors
were fixed, and of today's answers, each might be today's if nothing changed. How often each of them
differs from the stored verdicts says whether today's stand out (`metassay.statistics.repeats`).
Anchors of one text may share a call, so a text is moved as a whole.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.drift.anchors import rank
from metassay.statistics.repeats import Integers, Standing, least_chance, standing

TEXT = ["doc_id", "author", "part"]


class Found(NamedTuple):
    """What the answered anchors say: how many changed, and which way the changes went in sum.

    `flips`: how often a stored verdict became another one. `stored`: how often each verdict was
    stored.
    """

    answered: int
    failed: int
    changed: Standing
    shift: Standing
    flips: Counter[tuple[str, str]]
    stored: Counter[str]

    @property
    def p_shift(self) -> float:
        """Two-sided."""
        return two_sided(self.shift)

    def stands_out(self, false_alarm: float) -> bool:
        """Whether either test says so; both together do it by chance at most so often."""
        return stands_out(self.changed, self.shift, false_alarm)


def anchored(anchors: pd.DataFrame) -> pd.DataFrame:
    """The rows of table `anchors` that count: with a stored verdict, and every repetition."""
    whole = anchors["repeats"].map(all) & (anchors["repeats"].str.len() > 0)
    return anchors[anchors["verdict"].notna() & whole]


def compare(anchors: pd.DataFrame, now: pd.DataFrame, false_alarm: float) -> Found | None:
    """Hold verdicts of today (columns pair_id, verdict) against the anchors.

    An anchor without a verdict of today is left out of all draws. None where nothing was answered.
    """
    counted = anchored(anchors)
    said = counted["pair_id"].map(now.set_index("pair_id")["verdict"])
    rows = counted[said.notna()]
    if rows.empty:
        return None
    draws = [[*repeats, one] for repeats, one in zip(rows["repeats"], said.dropna(), strict=True)]
    stored = rows["verdict"].tolist()
    own = [
        [rank(instrument, verdict) for verdict in [first, *drawn]]
        for instrument, first, drawn in zip(rows["instrument"], stored, draws, strict=True)
    ]
    ranks = np.array(own)
    differs = np.array(draws, dtype=object) != np.array(stored, dtype=object)[:, None]
    clusters = rows.groupby(TEXT).ngroup().to_numpy(dtype=np.int64)
    ups = np.sign(ranks[:, 1:] - ranks[:, :1])
    pairs = zip(stored, (drawn[-1] for drawn in draws), strict=True)
    changed, shift = held(differs, ups, clusters, false_alarm)
    return Found(
        len(rows),
        len(counted) - len(rows),
        changed,
        shift,
        Counter((before, after) for before, after in pairs if before != after),
        Counter(stored),
    )


def held(
    differs: NDArray[Any], ups: NDArray[Any], clusters: NDArray[Any], false_alarm: float
) -> tuple[Standing, Standing]:
    """Where today's changes and their net shift stand.

    `differs` and `ups` (anchors, draws) say of each draw, today's last, whether it differs from the
    stored verdict, and whether it is higher (1) or lower (-1); `clusters` (anchors,) has the number
    of each anchor's text.
    """
    changed = standing(_summed(differs, clusters), false_alarm / 2)
    return changed, standing(_summed(ups, clusters), false_alarm / 4)


def stands_out(changed: Standing, shift: Standing, false_alarm: float) -> bool:
    """Whether there are too many changes, or too many one way; each by half of the rate."""
    return min(changed.more, two_sided(shift)) <= false_alarm / 2


def two_sided(shift: Standing) -> float:
    """The chance of such a shift, either way."""
    return min(1.0, 2 * min(shift.more, shift.fewer))


def is_blind(anchors: pd.DataFrame, false_alarm: float) -> bool:
    """Whether the anchors are of so few texts that nothing could ever stand out."""
    counted = anchored(anchors)
    if counted.empty:
        return True
    draws = len(counted["repeats"].iloc[0]) + 1
    return least_chance(counted.groupby(TEXT).ngroups, draws) > false_alarm / 4


def _summed(values: NDArray[Any], of: NDArray[np.integer[Any]]) -> Integers:
    """Sums of the rows (anchors, draws) per cluster."""
    sums = np.zeros((int(of.max()) + 1, values.shape[1]), dtype=np.int64)
    np.add.at(sums, of, values.astype(np.int64))
    return sums
