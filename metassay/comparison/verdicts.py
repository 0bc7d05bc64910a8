"""What may be said of each row: the test of the differences, and what missing answers could do."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from metassay.comparison.grid import Array, Grid, mean
from metassay.comparison.options import ComparisonOptions
from metassay.reporting.numbers import counted
from metassay.statistics.sign_flips import Flipped, fewest, sign_flip_test

REGRESSED, IMPROVED, CHANGED = "regressed", "improved", "changed"
NOT_SHOWN, SAME, UNKNOWN = "no difference shown", "same numbers", "cannot tell"
DIFFER: Final = frozenset((REGRESSED, IMPROVED, CHANGED))
VERDICTS: Final = (REGRESSED, IMPROVED, CHANGED, NOT_SHOWN, SAME, UNKNOWN)


class Judged(NamedTuple):
    """Per row: the test, the verdict, and why it is not another one where that needs saying.

    `lacks`: missing answers leave the verdict open, or there are more of them than before.
    """

    test: Flipped
    verdicts: list[str]
    why: list[str]
    lacks: list[bool]


class Rule(NamedTuple):
    """How verdicts are made: the options, and how many benchmarks are compared at once."""

    options: ComparisonOptions
    looked_at: int

    @property
    def level(self) -> float:
        """The chance, in this benchmark, that anything is called a difference and is none."""
        return (1 - self.options.confidence) / self.looked_at

    @property
    def needed(self) -> int:
        """So many documents must have changed in a row for any p below the level."""
        return fewest(self.level)

    def test(self, change: Array) -> Flipped:
        """The test of each row, its adjusted p for all rows of all benchmarks."""
        rng = np.random.default_rng(self.options.seed)
        found = sign_flip_test(change, n=self.options.permutations, rng=rng)
        each = (np.minimum(1.0, self.looked_at * one) for one in (found.adjusted, found.reach))
        adjusted, reach = each
        return found._replace(adjusted=adjusted, reach=reach)

    def verdicts(self, change: Array, found: Flipped, better: Sequence[str]) -> list[str]:
        """What the test alone says of each row."""
        rows = zip(mean(change), found.adjusted, found.reach, better, strict=True)
        return [self._verdict(*one) for one in rows]

    def _verdict(self, average: float, adjusted: float, reach: float, better: str) -> str:
        if np.isnan(adjusted):
            return SAME if np.isfinite(average) else UNKNOWN
        if adjusted > 1 - self.options.confidence:
            return UNKNOWN if reach > 1 - self.options.confidence else NOT_SHOWN
        if better == "neither":
            return CHANGED
        return IMPROVED if (average > 0) == (better == "higher") else REGRESSED


def judge(grid: Grid, better: Sequence[str], rule: Rule) -> Judged:
    """A verdict for each row of the grid. `better`: each row's better direction.

    A row of which answers are missing keeps a verdict that something differs only if it had the
    same one with all of them at one end, and at the other; the numbers of all rows move to that end
    together. One that says that nothing is shown it keeps if neither end shows anything. Where
    nothing bounds what is missing, it could be any verdict.
    """
    change = grid.change()
    found = rule.test(change)
    verdicts = rule.verdicts(change, found, better)
    why = [_reason(grid, change, at, found, rule) for at in range(len(verdicts))]
    why = [one if said == UNKNOWN else "" for one, said in zip(why, verdicts, strict=True)]
    missing = [np.nansum(side.n_failed, axis=1) for side in (grid.before, grid.after)]
    failed, lacks = sum(missing), missing[1] > missing[0]
    if failed.any():
        ends = [rule.verdicts(one, rule.test(one), better) for one in grid.extremes()]
        open_ = grid.unbounded().max(axis=0)
        any_ = (open_ > 0) & (open_ + np.count_nonzero(np.nan_to_num(change), 1) >= rule.needed)
        for at in np.flatnonzero(failed):
            said = f"{counted(int(failed[at]), 'answer')} missing"
            if not np.isfinite(change[at]).any():
                lacks[at] = bool(missing[1][at])  # not of what is gone
            elif could := _could(verdicts[at], {end[at] for end in ends}, any_=any_[at]):
                verdicts[at], said = UNKNOWN, f"{said}, with which it could be: {could}"
                lacks[at] = True
            why[at] = "; ".join(filter(None, (why[at], said)))
    return Judged(found, verdicts, why, lacks.tolist())


def _could(verdict: str, ends: set[str], *, any_: bool) -> str:
    """What else a row could be with the answers that are missing; empty if its verdict stays."""
    if any_:
        return "anything, since nothing bounds this metric"
    if ends == {verdict} or not DIFFER & {verdict, *ends}:
        return ""
    return " or ".join(one for one in VERDICTS if one in ends)


def _reason(grid: Grid, change: Array, at: int, found: Flipped, rule: Rule) -> str:
    n = int(np.isfinite(change[at]).sum())
    if n:
        changed = int(np.count_nonzero(np.nan_to_num(change[at])))
        said = f"{changed} of {n} documents changed"
        if changed < rule.needed:
            return f"{said}, and fewer than {rule.needed} can show nothing"
        if found.smallest[at] > rule.level:
            return (
                "no p of so few signs is below the level; set params.yaml > comparison >"
                f" permutations to {int(np.ceil(1 / rule.level)):,} or more"
            )
        rows = int(np.isfinite(found.p).sum())
        return f"{said}, and all of them in one direction would show nothing among {rows:,} rows"
    sides = {"before": grid.before.value[at], "after": grid.after.value[at]}
    scored = [name for name, values in sides.items() if np.isfinite(values).any()]
    if len(scored) == len(sides):
        return "no document has a score on both sides"
    return f"scored only {scored[0]}" if scored else "never scored"
