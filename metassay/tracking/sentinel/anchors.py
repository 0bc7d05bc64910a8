"""The anchors: which questions a judge is asked again, drawn once with a seed.

Drawn are whole items of metrics that the judge has answered. Strata are the questions of related
measures by the stored verdict, of each author, and equally many items come from each. Several
anchors of a text go into one call, as in the repetitions, which a check is held against.

The stored verdicts are one draw of a judge that changes its mind, and they chose the anchors. So of
the repetitions that were asked when the anchors were fixed, and of today's answers, each might be
today's if nothing changed: how often each of them differs from the stored verdicts says whether
today's stand out (`metassay.statistics.changes`). A text is moved as a whole.
"""

import hashlib
from collections import Counter, deque
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.errors import BadInput
from metassay.judges.criteria import RUBRIC
from metassay.llm.missing import counted
from metassay.scoring.pairing.instruments import INSTRUMENTS, Labels
from metassay.scoring.pairing.measures import MEASURES
from metassay.statistics.changes import Integers, Standing, least_chance, standing

_ITEM = ["family", "doc_id", "author", "own_part", "own_position"]


def items_of(pairs: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Every question that is put to judges, with the item that it belongs to and what was answered.

    Adds to the rows of `pairs`: `item` (a number), `verdict` and `status` (null where the
    judge has no row, as where the question is settled), and `stratum`: the item's, by its first
    verdict; null where any of its pairs failed, or none was answered.
    """
    rows = pairs.merge(verdicts(judgments), on="pair_id", how="left")
    graded = rows["instrument"].isin(RUBRIC)
    rows["family"] = rows["measure"].map(family).mask(graded, "rubric")
    rows["own_part"] = rows["part"].mask(graded, "")
    rows["own_position"] = rows["position"].mask(graded, 0)
    rows = rows.sort_values([*_ITEM, "citation", "measure", "pair_id"], ignore_index=True)
    rows["item"] = rows.groupby(_ITEM).ngroup()
    failed = rows["status"].notna() & (rows["status"] != "ok")
    first = rows.groupby("item")["verdict"].transform("first")
    sound = first.notna() & ~failed.groupby(rows["item"]).transform("any")
    rows["stratum"] = (rows["family"] + ": " + first.astype("object")).where(sound, None)
    return rows.drop(columns=["family", "own_part", "own_position"])


def draw(items: pd.DataFrame, number: int, seed: int) -> pd.DataFrame:
    """Open rows of `items_of`, of at least `number` different answered pairs or of all there are.

    The strata of each author take turns, so that none has more items than another that still has
    some. Adds `weight` and `covered`, as table `anchors` has them. BadInput where nothing was
    answered.
    """
    drawable = items[items["stratum"].notna()]
    if drawable.empty:
        raise BadInput("no question of this judge has an answer, so nothing can be watched")
    known = drawable[drawable["verdict"].notna()].groupby("item")["pair_id"].agg(set)
    first = drawable.groupby("item")[["author", "stratum"]].first()
    strata = first["author"] + ": " + first["stratum"]
    shuffled = np.random.default_rng(seed).permutation(strata.index.to_numpy())
    queues: dict[str, deque[int]] = {}
    for item in shuffled.tolist():
        queues.setdefault(strata[item], deque()).append(item)
    drawn: list[int] = []
    asked: set[str] = set()
    while any(queues.values()) and len(asked) < number:
        for queue in queues.values():
            if queue and len(asked) < number:
                drawn.append(queue.popleft())
                asked |= known[drawn[-1]]
    return _weighted(drawable[drawable["settled"].isna()], drawn)


def _weighted(drawable: pd.DataFrame, drawn: list[int]) -> pd.DataFrame:
    # The rows of the drawn items, and how many others each of them stands for.
    every = drawable.drop_duplicates("item")[["item", "author", "stratum", "measure"]]
    every = every.assign(family=every["measure"].map(family), drawn=every["item"].isin(drawn))
    cell, whole = ["author", "stratum"], ["author", "family"]
    there = every.groupby(cell)["drawn"].transform("sum")
    every["weight"] = every.groupby(cell)["drawn"].transform("size") / there.where(there > 0)
    every["covered"] = (there > 0).groupby([every[name] for name in whole]).transform("mean")
    chosen = every.loc[every["drawn"], ["item", "weight", "covered"]]
    return drawable.merge(chosen, on="item")


def verdicts(judgments: pd.DataFrame) -> pd.DataFrame:
    """pair_id, status and verdict: a label, or a grade as text; null where the status isn't ok."""
    grade = judgments["grade"].map(lambda grade: None if pd.isna(grade) else f"{grade:.12g}")
    said = judgments["label"].astype("object").where(judgments["label"].notna(), grade)
    return judgments[["pair_id", "status"]].assign(
        verdict=said.where(judgments["status"] == "ok", None).astype("str")
    )


class Failed(NamedTuple):
    """Answers of today that have no verdict: how often each status, and whether any is missing."""

    counts: str
    missing: bool  # asking the same again may get it; all others are what the model said


def failed(answers: Iterable[pd.DataFrame]) -> Failed:
    """Of what `verdicts` gave."""
    statuses = [one for said in answers for one in said["status"] if one != "ok"]
    return Failed(counted(statuses), "error" in statuses)


def rank(instrument: str, verdict: str) -> float:
    """The greater the better, within an instrument: its first label is the greatest."""
    answer = INSTRUMENTS[instrument].answer
    return -answer.names.index(verdict) if isinstance(answer, Labels) else float(verdict)


def hashed(pair_ids: Iterable[str], stored: Iterable[str]) -> str:
    """What names a set of anchors: a hash of its questions and their stored verdicts."""
    lines = sorted(f"{one} {verdict}" for one, verdict in zip(pair_ids, stored, strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


@cache
def family(measure: str) -> str:
    """The questions whose answers may go into one number together, by the first of their names.

    `measure` is what `pairs.measure` says.
    """
    names = {measure}
    together = [
        # What is asked of a whole text goes with no single item of it.
        {one.name for one in found.questions if one.whole == found.counted.whole}
        for found in MEASURES.values()
    ]
    while wider := set().union(*(some for some in together if some & names)) - names:
        names |= wider
    return min(names)


TEXT = ["doc_id", "author", "part"]


class Found(NamedTuple):
    """What the answered anchors say: how many changed, and which way the changes went in sum.

    `flips`: how often a stored verdict became another one.
    """

    answered: int
    failed: int
    changed: Standing
    shift: Standing
    flips: Counter[tuple[str, str]]

    @property
    def p_shift(self) -> float:
        """Two-sided."""
        return _two_sided(self.shift)


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
    draws = np.array(
        [[*repeats, one] for repeats, one in zip(rows["repeats"], said.dropna(), strict=True)],
        dtype=object,
    )
    stored = rows["verdict"].to_numpy(dtype=object)[:, None]
    ranks = np.array(
        [
            [rank(instrument, verdict) for verdict in verdicts]
            for instrument, verdicts in zip(
                rows["instrument"], np.hstack([stored, draws]), strict=True
            )
        ]
    )
    clusters = rows.groupby(TEXT).ngroup().to_numpy(dtype=np.int64)
    ups = np.sign(ranks[:, 1:] - ranks[:, :1])
    changed, shift = standings(draws != stored, ups, clusters, false_alarm)
    flips = Counter((a, b) for a, b in zip(stored[:, 0], draws[:, -1], strict=True) if a != b)
    return Found(len(rows), len(counted) - len(rows), changed, shift, flips)


def standings(
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
    return min(changed.more, _two_sided(shift)) <= false_alarm / 2


def _two_sided(shift: Standing) -> float:
    return min(1.0, 2 * min(shift.more, shift.fewer))


def is_blind(anchors: pd.DataFrame, false_alarm: float) -> bool:
    """Whether the anchors are of so few texts that nothing could ever stand out."""
    counted = anchored(anchors)
    if counted.empty:
        return True
    draws = len(counted["repeats"].iloc[0]) + 1
    return least_chance(counted.groupby(TEXT).ngroups, draws) > false_alarm / 4


def _summed(values: NDArray[Any], of: NDArray[np.integer[Any]]) -> Integers:
    sums = np.zeros((int(of.max()) + 1, values.shape[1]), dtype=np.int64)
    np.add.at(sums, of, values.astype(np.int64))
    return sums
