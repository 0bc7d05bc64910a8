"""A judge that is watched for a hundred weeks: how often is the alarm false, how often right?

The judge changes its mind: asked again, it gives another verdict than it mostly gives
on 3 % of questions. It does so on all questions alike; or on a tenth of them, on 30 %
of repetitions; or on whole calls of five questions at a time. Four fifths of what it is
asked is entailed. Its stored verdicts are one draw, by which half of the anchors are
chosen of either verdict. The anchors and their repetitions are drawn anew for each of
the many watches.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from metassay.tracking.sentinel.anchors import standings, stands_out
from metassay.tracking.sentinel.checking import SentinelOptions

RATE = SentinelOptions().false_alarm
QUESTIONS = 1000
ENTAILED = 0.8
FLIPS = 0.03
CALL = 5
WEEKS = 100


class Watch(NamedTuple):
    """How it is watched, and how its flips are spread: `alike`, `few questions` or `calls`."""

    spread: str
    anchors: int = 100
    repeats: int = 3


class Silent(NamedTuple):
    """Of a judge that did not change: alarms per week, watches without any, most in one watch."""

    watches: int
    rate: float
    without: float
    most: int


class Judge:
    """What the judge mostly says of its anchors, and how it is drawn."""

    def __init__(self, watch: Watch, rng: np.random.Generator) -> None:
        self.rng = rng
        self.spread = watch.spread
        mostly = rng.random(QUESTIONS) < ENTAILED
        flips = np.full(QUESTIONS, FLIPS)
        if watch.spread == "few questions":
            flips = np.where(rng.permutation(QUESTIONS) < QUESTIONS // 10, 0.3, 0.0)
        calls = np.arange(QUESTIONS) // CALL
        stored = self._drawn(mostly, flips, calls)
        half = watch.anchors // 2
        chosen = [
            rng.permutation(np.flatnonzero(stored == label))[:half] for label in (0, 1)
        ]
        at = np.sort(np.concatenate(chosen))
        self.mostly, self.flips, self.stored = mostly[at], flips[at], stored[at]
        self.calls = np.unique(calls[at], return_inverse=True)[1]
        self.before = [self.draw() for _ in range(watch.repeats)]

    def draw(self) -> np.ndarray:
        return self._drawn(self.mostly, self.flips, self.calls)

    def alarms(self) -> bool:
        """One week."""
        draws = np.stack([*self.before, self.draw()], axis=1).astype(int)
        ups = draws - self.stored[:, None].astype(int)
        changed, net = standings(ups != 0, ups, self.calls, RATE)
        return stands_out(changed, net, RATE)

    def change(self, share: float, *, one_sided: bool) -> None:
        """The model behind it becomes another one: so many of its usual verdicts turn over."""
        may = np.flatnonzero(~self.mostly) if one_sided else np.arange(len(self.mostly))
        turned = self.rng.permutation(may)[: round(share * len(self.mostly))]
        self.mostly[turned] = ~self.mostly[turned]

    def _drawn(
        self, mostly: np.ndarray, flips: np.ndarray, calls: np.ndarray
    ) -> np.ndarray:
        if self.spread != "calls":
            return mostly ^ (self.rng.random(len(mostly)) < flips)
        # of an odd call half is turned over
        odd = self.rng.random(calls.max() + 1) < 2 * FLIPS
        return mostly ^ (odd[calls] & (self.rng.random(len(mostly)) < 0.5))


def silent(watch: Watch, *, watches: int, seed: int) -> Silent:
    """Watch a judge that does not change."""
    rng = np.random.default_rng(seed)
    counts = []
    for _ in range(watches):
        judge = Judge(watch, rng)
        counts.append(sum(judge.alarms() for _ in range(WEEKS)))
    alarms = np.array(counts)
    return Silent(
        watches,
        float(alarms.mean() / WEEKS),
        float((alarms == 0).mean()),
        int(alarms.max()),
    )


def power(
    watch: Watch, share: float, *, one_sided: bool, watches: int, seed: int
) -> tuple[float, float]:
    """How often a changed model is noticed in the first week, and within four."""
    rng = np.random.default_rng(seed)
    first, any_ = 0, 0
    for _ in range(watches):
        judge = Judge(watch, rng)
        judge.change(share, one_sided=one_sided)
        raised = [judge.alarms() for _ in range(4)]
        first += raised[0]
        any_ += any(raised)
    return first / watches, any_ / watches


def confirmed(
    watch: Watch, share: float, *, watches: int, seed: int
) -> tuple[int, float]:
    """How many checks raised the alarm, and how often one right after it did so again."""
    rng = np.random.default_rng(seed)
    again = []
    for _ in range(watches):
        judge = Judge(watch, rng)
        judge.change(share, one_sided=False)
        for _ in range(2 if share else WEEKS // 2):
            first, second = judge.alarms(), judge.alarms()
            again += [second] if first else []
    return len(again), float(np.mean(again))


SPREADS = ("alike", "few questions", "calls")
CHANGES = ((0.06, False), (0.10, False), (0.15, False), (0.06, True), (0.10, True))
CONFIRMED = (0.0, 0.06, 0.10, 0.15)
WATCHES = (Watch("alike"), Watch("few questions"), Watch("calls"))
SILENT, POWERED = 200, 400  # runs of each kind
LARGER = (Watch("alike", 100, 5), Watch("alike", 200, 3))


def rates() -> dict:
    """All that the page tabulates."""
    results: dict = {"silent": {}, "power": {}, "confirmed": {}}
    for watch, share in product(WATCHES, CONFIRMED):
        results["confirmed"][watch, share] = confirmed(
            watch, share, watches=SILENT, seed=34
        )
    for watch in (*WATCHES, *LARGER):
        results["silent"][watch] = silent(watch, watches=SILENT, seed=31)
        for share, one_sided in CHANGES:
            results["power"][watch, share, one_sided] = power(
                watch, share, one_sided=one_sided, watches=POWERED, seed=32
            )
    return results


def section(results: dict) -> list[str]:
    """The part of the page on drift."""
    lines = [
        "## Judges that are watched",
        "",
        f"`metassay sentinel` at its stated rate of {100 * RATE:g} % false alarms per check. The"
        f" judge changes its mind on {100 * FLIPS:g} % of repeats: on all questions alike; or on a"
        " tenth of them, 30 % of the time; or on whole calls of five questions. Stored verdicts are"
        " one draw, and choose the anchors, half of each verdict. The first table is of a judge"
        f" that does not change, over {WEEKS} weeks; the last two columns show that false alarms"
        " come in clusters, as all weeks are held against the same few repetitions.",
        "",
        "| flips | anchors | repetitions | watches | alarms per check | watches without | most |",
        "|---|---|---|---|---|---|---|",
    ]
    for watch, row in results["silent"].items():
        lines.append(
            f"| {watch.spread} | {watch.anchors} | {watch.repeats} | {row.watches}"
            f" | {100 * row.rate:.2f} % | {100 * row.without:.0f} % | {row.most} of {WEEKS} |"
        )
    heads = [
        f"{100 * s:.0f} % {'to entailed' if one_sided else 'any way'}"
        for s, one_sided in CHANGES
    ]
    lines += [
        "",
        "And of a judge whose model changes so many of the verdicts that it mostly gives on the"
        f" anchors: how often it is noticed in the first week / within four ({POWERED} watches).",
        "",
        f"| flips | anchors | repetitions | {' | '.join(heads)} |",
        "|---" * (3 + len(heads)) + "|",
    ]
    for watch in results["silent"]:
        cells = [results["power"][(watch, *change)] for change in CHANGES]
        shown = " | ".join(
            f"{100 * first:.0f} / {100 * four:.0f} %" for first, four in cells
        )
        lines.append(
            f"| {watch.spread} | {watch.anchors} | {watch.repeats} | {shown} |"
        )
    lines += [
        "",
        "And how often a second check, right after one that raised the alarm, raises it again (in"
        " brackets, of how many alarms): of a judge that did not change, and of one whose model"
        " changes so many of the verdicts.",
        "",
        f"| flips | none | {' | '.join(f'{100 * share:.0f} %' for share in CONFIRMED[1:])} |",
        "|---" * (1 + len(CONFIRMED)) + "|",
    ]
    for watch in WATCHES:
        twice = [results["confirmed"][watch, share] for share in CONFIRMED]
        lines.append(
            f"| {watch.spread} | {' | '.join(f'{100 * r:.0f} % ({n})' for n, r in twice)} |"
        )
    return [*lines, ""]
