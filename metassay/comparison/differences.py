"""What differs between two sides, row by row, and whether it holds. docs/compare.md explains it.

A row is a part, metric, judge and author; its documents are those that both sides have a score of.
Source of the test: metassay/statistics/sign_flips.py.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.comparison.grid import ROW, Array, Grid, changed_documents, grid_of, mean
from metassay.comparison.options import ComparisonOptions
from metassay.comparison.sides import Side
from metassay.comparison.verdicts import REGRESSED, Rule, judge
from metassay.errors import BadInput, shown
from metassay.parquet import as_written
from metassay.statistics.sign_flips import mean_interval
from metassay.tables.comparisons import CHANGES
from metassay.tables.names import FULL


class Differences(NamedTuple):
    """What differs between two sides: tables CHANGES and CHANGED_DOCUMENTS."""

    changes: pd.DataFrame
    documents: pd.DataFrame

    @property
    def regressed(self) -> bool:
        """Whether anything is worse than before."""
        return bool((self.changes["verdict"] == REGRESSED).any())

    @property
    def lacking(self) -> bool:
        """Whether missing answers leave a verdict open, or are more than before, in any row."""
        return bool(self.changes["lacks_answers"].any())


def differences(
    before: Side,
    after: Side,
    options: ComparisonOptions,
    *,
    parts: bool = False,
    looked_at: int = 1,
) -> Differences:
    """Compare two sides on the documents that both have: p adjusted for all rows.

    `parts`: of every part, else of whole texts only. `looked_at`: how many benchmarks are compared
    at once; p is multiplied by it (Bonferroni). Raises BadInput where no document is in both.
    """
    left, right = _scores(before, parts=parts), _scores(after, parts=parts)
    _in_common(left, right, before, after)
    better = pd.concat([_better(before), _better(after)])
    better = better[~better.index.duplicated(keep="last")]
    return _compared(left, right, better, Rule(options, looked_at))


def between_systems(
    side: Side, one: str, other: str, options: ComparisonOptions, *, parts: bool = False
) -> Differences:
    """Compare two systems of a side on the same documents; a row's author is `other`.

    `regressed` then means that `other` is worse than `one`. Raises BadInput for unknown ones.
    """
    scores = _scores(side, parts=parts)
    known = sorted(set(scores["author"]))
    unknown = [name for name in (one, other) if name not in known]
    if unknown or one == other:
        listed = ", ".join(map(shown, known))
        raise BadInput(
            [f"{side.name}: {shown(name)} has no scores; choose from {listed}" for name in unknown]
            or f"{side.name}: both systems are {shown(one)}; name two of {listed}"
        )
    left = scores[scores["author"] == one].assign(author=other)
    right = scores[scores["author"] == other]
    return _compared(left, right, _better(side), Rule(options, 1))


def _scores(side: Side, *, parts: bool) -> pd.DataFrame:
    scores = side.scores
    kept = scores if parts else scores[scores["part"] == FULL]
    if kept.empty:
        found = "no scores" if scores.empty else "no scores of whole texts"
        raise BadInput(
            f"{side.name}: {side.benchmark} has {found}; compare with --parts, or run it"
        )
    return kept


def _in_common(left: pd.DataFrame, right: pd.DataFrame, before: Side, after: Side) -> None:
    ours, theirs = set(left["doc_id"]), set(right["doc_id"])
    if not ours & theirs:
        raise BadInput(
            f"{before.name} and {after.name} have no document of {before.benchmark} in common"
            f" ({len(ours):,} and {len(theirs):,}); compare states of the same documents"
        )
    keys = (set(map(tuple, one[ROW[:3]].drop_duplicates().to_numpy())) for one in (left, right))
    if not set.intersection(*keys):
        raise BadInput(
            f"{before.name} and {after.name} have no metric of {before.benchmark} in common;"
            " compare states that were measured alike"
        )


def _better(side: Side) -> "pd.Series[str]":
    return side.leaderboard.set_index(ROW)["better"]


def _compared(
    left: pd.DataFrame, right: pd.DataFrame, better: "pd.Series[str]", rule: Rule
) -> Differences:
    grid = grid_of(left, right)
    change = grid.change()
    turned = better.reindex(grid.rows).fillna("neither")
    judged = judge(grid, turned.tolist(), rule)
    test = judged.test
    paired = np.isfinite(change)
    low, high = mean_interval(change, confidence=rule.options.confidence)
    ends = zip(grid.extremes(), grid.unbounded(), strict=True)
    least, most = (np.where(open_ > 0, np.nan, mean(end)) for end, open_ in ends)
    table = grid.rows.to_frame(index=False).assign(
        verdict=judged.verdicts,
        why=judged.why,
        lacks_answers=judged.lacks,
        before=mean(np.where(paired, grid.before.value, np.nan)),
        after=mean(np.where(paired, grid.after.value, np.nan)),
        **{"difference": mean(change), "low": low, "high": high, "least": least, "most": most},
        **{"p": test.p, "p_adjusted": test.adjusted, "smallest_p": test.smallest},
        n=paired.sum(axis=1),
        n_changed=(np.nan_to_num(change) != 0).sum(axis=1),
        n_only_before=_count(grid.before.value, paired),
        n_only_after=_count(grid.after.value, paired),
        n_failed_before=np.nansum(grid.before.n_failed, axis=1).astype(int),
        n_failed_after=np.nansum(grid.after.n_failed, axis=1).astype(int),
        better=turned.to_numpy(),
        same_recipe=_same_recipe(left, right, grid),
    )
    return Differences(as_written(CHANGES, table), changed_documents(grid, rule.options.documents))


def _count(values: Array, paired: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> Array:
    alone: Array = (np.isfinite(values) & ~paired).sum(axis=1)
    return alone


def _same_recipe(left: pd.DataFrame, right: pd.DataFrame, grid: Grid) -> list[bool]:
    """Whether both sides' numbers were made alike; true where one side has none."""
    ours, theirs = (
        {key: set(recipes) for key, recipes in one.groupby(ROW)["recipe"]} for one in (left, right)
    )
    return [key not in ours or key not in theirs or ours[key] == theirs[key] for key in grid.rows]
