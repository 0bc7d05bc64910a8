"""What differs between two sides, row by row, whether the test shows it, and why: docs/weekly.md.

A row is a part, metric, judge and author; its documents are those with a score on both
sides. Source of the test: metassay/statistics/changes.py.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field

from metassay.core.errors import BadInput, hint, shown
from metassay.core.options import PARAMS, Confidence, Draws, Options, Seed, parse
from metassay.core.params import Params
from metassay.format.frames import records
from metassay.format.numbers import counted
from metassay.statistics.changes import (
    SignFlipTest,
    clusters_with,
    fewest,
    mean_interval,
    sign_flip_test,
    sum_by_cluster,
)
from metassay.statistics.document_means import NO_CLUSTERS
from metassay.statistics.exact_sums import Array, Mask, mean_without_gaps
from metassay.statistics.layout import Index, factorize_by
from metassay.tables.names import FULL
from metassay.tables.parquet import round_trip
from metassay.tables.tracking import CHANGED_DOCUMENTS, CHANGES
from metassay.tracking.comparison.causes import Cause, causes
from metassay.tracking.comparison.sides import Side

ROW: Final = ["part", "metric", "judge", "author"]
ROUNDING = 1e-9  # scores whose difference is a smaller share of them are the same
NOTHING = 1e-12  # so is a difference that is a smaller share of the row's largest score


class ComparisonOptions(Options):
    """How two sides are compared: how sure a difference must be, and how it is tested.

    `confidence`: 1 less this is the chance that anything at all is called a difference
    where there is none; each interval has it, too, on its own. `permutations`: how many
    signs of the documents' differences are drawn; if there are fewer, all are tried.
    `documents`: how many of the documents behind a difference are listed.
    """

    confidence: Confidence = 0.95
    permutations: Annotated[Draws, Field(ge=100)] = 10_000
    seed: Seed = 20261121
    documents: Annotated[int, Field(ge=1, le=1000)] = 5


def comparison_options(params: Params) -> ComparisonOptions:
    """Return the block `comparison` of params.yaml, checked."""
    return parse(ComparisonOptions, params.comparison, where=f"{PARAMS} > comparison")


class Scores(NamedTuple):
    """Columns of table SCORES, each (rows, documents); NaN where there is none."""

    value: Array
    low: Array
    high: Array
    n_failed: Array


class Grid(NamedTuple):
    """Both sides in the same rows and documents; `cluster` numbers the documents' clusters."""

    rows: pd.MultiIndex
    documents: pd.Index
    cluster: Index
    before: Scores
    after: Scores

    def change(self) -> Array:
        """Return after less before; NaN where a side has no score."""
        return _change(self.before.value, self.after.value)

    def extremes(self) -> tuple[Array, Array]:
        """Return the smallest and the largest change that missing answers leave possible.

        A document without either score is left out; so is a document whose missing
        answers could be worth anything (`unbounded`). The same score and bounds on both
        sides are no change.
        """
        neither = np.isnan(self.before.value) & np.isnan(self.after.value)
        alike = self._alike()
        least = np.where(alike, 0.0, _change(self.before.high, self.after.low))
        most = np.where(alike, 0.0, _change(self.before.low, self.after.high))
        return np.where(neither, np.nan, least), np.where(neither, np.nan, most)

    def unbounded(self) -> npt.NDArray[np.int64]:
        """Count the documents whose change has no lower, and no upper, bound: (2, rows)."""
        failed = [side.n_failed > 0 for side in (self.before, self.after)]
        scored = [np.isfinite(side.value) for side in (self.before, self.after)]
        counts = (scored[0] & failed[1] | failed[0] & scored[1]) & ~self._alike()
        least = np.isnan(self.before.high) | np.isnan(self.after.low)
        most = np.isnan(self.before.low) | np.isnan(self.after.high)
        return np.stack([(counts & least).sum(axis=1), (counts & most).sum(axis=1)])

    def _alike(self) -> Mask:
        """Return where both sides have the same score, bounds and number of missing answers."""
        alike: Mask = (self.before.n_failed > 0) & (
            self.before.n_failed == self.after.n_failed
        )
        alike &= self.change() == 0
        for before, after in zip(self.before[1:3], self.after[1:3], strict=True):
            alike &= (_change(before, after) == 0) | (
                np.isnan(before) & np.isnan(after)
            )
        return alike


def grid_of(
    before: pd.DataFrame, after: pd.DataFrame, clusters: Mapping[str, str] = NO_CLUSTERS
) -> Grid:
    """Align two tables SCORES on the rows and documents of either; `clusters` by document."""
    both = pd.concat([before[ROW], after[ROW]]).drop_duplicates().sort_values(ROW)
    rows = pd.MultiIndex.from_frame(both)
    documents = pd.Index(
        sorted(set(before["doc_id"]) | set(after["doc_id"])), name="doc_id"
    )
    sides = (_filled(side, rows, documents) for side in (before, after))
    return Grid(rows, documents, factorize_by(documents, clusters), *sides)


def changed_documents(grid: Grid, most: int) -> pd.DataFrame:
    """Return table CHANGED_DOCUMENTS: per row, the documents whose score moved furthest."""
    change = np.nan_to_num(grid.change())
    n_failed = np.nan_to_num(grid.before.n_failed) + np.nan_to_num(grid.after.n_failed)
    furthest = np.argsort(-np.abs(change), axis=1, kind="stable")[:, :most]
    row, rank = np.nonzero(np.take_along_axis(change, furthest, axis=1))
    place = row, furthest[row, rank]
    table = (
        grid.rows[row]
        .to_frame(index=False)
        .assign(
            position=rank + 1,
            doc_id=grid.documents[place[1]],
            before=grid.before.value[place],
            after=grid.after.value[place],
            difference=change[place],
            n_failed=n_failed[place].astype(int),
        )
    )
    return round_trip(CHANGED_DOCUMENTS, table)


def _filled(scores: pd.DataFrame, rows: pd.MultiIndex, documents: pd.Index) -> Scores:
    row = rows.get_indexer(pd.MultiIndex.from_frame(scores[ROW]))
    to = documents.get_indexer(pd.Index(scores["doc_id"]))

    def column(name: str) -> Array:
        values = np.full((len(rows), len(documents)), np.nan)
        values[row, to] = scores[name].to_numpy(dtype=float)
        return values

    return Scores(column("value"), column("low"), column("high"), column("n_failed"))


def _change(before: Array, after: Array) -> Array:
    change: Array = after - before
    size = np.maximum(np.abs(before), np.abs(after))
    largest = np.max(np.nan_to_num(size), axis=1, keepdims=True, initial=0.0)
    # a score may be 0 but for rounding
    alike = np.maximum(ROUNDING * size, NOTHING * largest)
    change[np.abs(change) <= alike] = 0.0
    return change


REGRESSED, IMPROVED, CHANGED = "regressed", "improved", "changed"
NOT_SHOWN, SAME, UNKNOWN = "no difference shown", "same numbers", "cannot tell"
DIFFER: Final = frozenset((REGRESSED, IMPROVED, CHANGED))
VERDICTS: Final = (REGRESSED, IMPROVED, CHANGED, NOT_SHOWN, SAME, UNKNOWN)


class Rule(NamedTuple):
    """How verdicts are made: the options, and how many benchmarks are compared at once."""

    options: ComparisonOptions
    n_benchmarks: int

    @property
    def level(self) -> float:
        """The chance that anything in this benchmark is called a difference and is none."""
        return (1 - self.options.confidence) / self.n_benchmarks

    @property
    def needed(self) -> int:
        """How many documents must have changed in a row for any p below the level."""
        return fewest(self.level)

    def test(self, change: Array, cluster: Index) -> SignFlipTest:
        """Test each row; the adjusted p is for all rows of all benchmarks."""
        rng = np.random.default_rng(self.options.seed)
        test = sign_flip_test(
            sum_by_cluster(change, cluster), n=self.options.permutations, rng=rng
        )
        adjusted = np.minimum(
            1.0, self.n_benchmarks * np.stack([test.adjusted, test.reach])
        )
        return test._replace(adjusted=adjusted[0], reach=adjusted[1])

    def verdicts(
        self, change: Array, test: SignFlipTest, better: Sequence[str]
    ) -> list[str]:
        """Return each row's verdict by the test only, as if no answer were missing."""
        changed = (np.nan_to_num(change) != 0).any(axis=1)
        average = mean_without_gaps(change, 1)
        rows = zip(average, changed, test.adjusted, test.reach, better, strict=True)
        return [self._verdict(*row) for row in rows]

    def _verdict(
        self, average: float, changed: bool, adjusted: float, reach: float, better: str
    ) -> str:
        if np.isnan(adjusted):
            # a cluster's documents may cancel out
            verdict = NOT_SHOWN if changed else SAME
            return verdict if np.isfinite(average) else UNKNOWN
        if adjusted > 1 - self.options.confidence:
            return UNKNOWN if reach > 1 - self.options.confidence else NOT_SHOWN
        if better == "neither":
            return CHANGED
        return IMPROVED if (average > 0) == (better == "higher") else REGRESSED


def judge(
    grid: Grid, better: Sequence[str], rule: Rule
) -> tuple[SignFlipTest, list[str], list[str], list[bool]]:
    """Return per row of the grid: test, verdict, why it is no other, and whether answers lack.

    `better`: each row's better direction. Where answers are missing, a difference
    stands only if both ends of what they could be agree on it, and `no difference` if
    neither end shows any. Answers lack where they leave the verdict open, or are more
    than before.
    """
    change = grid.change()
    test = rule.test(change, grid.cluster)
    verdicts = rule.verdicts(change, test, better)
    why = [
        _reason(grid, change, row, test, rule) if verdict == UNKNOWN else ""
        for row, verdict in enumerate(verdicts)
    ]
    missing = [np.nansum(side.n_failed, axis=1) for side in (grid.before, grid.after)]
    failed, lacks = sum(missing), missing[1] > missing[0]
    if failed.any():
        ends = [
            rule.verdicts(end, rule.test(end, grid.cluster), better)
            for end in grid.extremes()
        ]
        n_unbounded = grid.unbounded().max(axis=0)
        n_changed = clusters_with(np.nan_to_num(change) != 0, grid.cluster)
        unbounded = (n_unbounded > 0) & (n_unbounded + n_changed >= rule.needed)
        for row in np.flatnonzero(failed):
            reason = f"{counted(int(failed[row]), 'answer')} missing"
            if not np.isfinite(change[row]).any():
                lacks[row] = bool(missing[1][row])  # not for a row that is gone
            elif others := _other_verdicts(
                verdicts[row], {end[row] for end in ends}, unbounded[row]
            ):
                verdicts[row], reason = (
                    UNKNOWN,
                    f"{reason}; it could still be: {others}",
                )
                lacks[row] = True
            why[row] = "; ".join(filter(None, (why[row], reason)))
    return test, verdicts, why, lacks.tolist()


def _other_verdicts(verdict: str, ends: set[str], unbounded: bool) -> str:
    """Return what else a row could be with the missing answers; empty if its verdict stays."""
    if unbounded:
        return "anything, since nothing bounds this metric"
    if ends == {verdict} or not DIFFER & {verdict, *ends}:
        return ""
    return " or ".join(verdict for verdict in VERDICTS if verdict in ends)


def _reason(grid: Grid, change: Array, row: int, test: SignFlipTest, rule: Rule) -> str:
    n = int(np.isfinite(change[row]).sum())
    if n:
        masks = np.nan_to_num(change[[row]]) != 0, np.isfinite(change[[row]])
        (changed,), (total,) = (clusters_with(mask, grid.cluster) for mask in masks)
        counts = f"{changed} of {total} {'clusters of ' if total < n else ''}documents changed"
        if changed < rule.needed:
            return f"{counts}; at least {rule.needed} are needed to show a difference"
        if test.smallest[row] > rule.level:
            return (
                "too few permutations for a p below the level; set params.yaml > comparison >"
                f" permutations to {int(np.ceil(1 / rule.level)):,} or more"
            )
        rows = int(np.isfinite(test.p).sum())
        return (
            f"{counts}: too few for {rows:,} rows, even if all changed in one direction"
        )
    sides = {"before": grid.before.value[row], "after": grid.after.value[row]}
    scored = [name for name, values in sides.items() if np.isfinite(values).any()]
    if len(scored) == len(sides):
        return "no document has a score on both sides"
    return f"scored only {scored[0]}" if scored else "never scored"


class Differences(NamedTuple):
    """What differs between two sides: tables CHANGES and CHANGED_DOCUMENTS."""

    changes: pd.DataFrame
    documents: pd.DataFrame

    @property
    def regressed(self) -> bool:
        """Return whether anything is worse than before."""
        return bool((self.changes["verdict"] == REGRESSED).any())

    @property
    def lacking(self) -> bool:
        """Return whether missing answers leave a verdict open, or are more than before."""
        return bool(self.changes["lacks_answers"].any())


def differences(
    before: Side,
    after: Side,
    options: ComparisonOptions,
    *,
    parts: bool = False,
    n_benchmarks: int = 1,
) -> Differences:
    """Compare two sides on the documents that both have; p is adjusted for all rows.

    `parts`: compare every part, not whole texts alone. `n_benchmarks`: how many are
    compared at once; p is multiplied by it (Bonferroni). Raises BadInput if no document
    or metric is in both.
    """
    old, new = _scores(before, parts=parts), _scores(after, parts=parts)
    documents = [set(scores["doc_id"]) for scores in (old, new)]
    if not set.intersection(*documents):
        raise BadInput(
            f"{before.name} and {after.name} have no document of {before.benchmark} in common"
            f" ({len(documents[0]):,} and {len(documents[1]):,}); compare states of the same"
            " documents"
        )
    if not set.intersection(
        *(set(scores.set_index(ROW[:3]).index) for scores in (old, new))
    ):
        raise BadInput(
            f"{before.name} and {after.name} have no metric of {before.benchmark} in common;"
            " compare states that were measured alike"
        )
    better = pd.concat(
        [side.leaderboard.set_index(ROW)["better"] for side in (before, after)]
    )
    better = better[~better.index.duplicated(keep="last")]
    grid = grid_of(old, new, {**before.clusters, **after.clusters})
    return _differences(grid, (old, new), better, Rule(options, n_benchmarks))


def compare_systems(
    side: Side,
    first: str,
    second: str,
    options: ComparisonOptions,
    *,
    parts: bool = False,
) -> "Comparison":
    """Compare two systems of one state on the same documents; a row's author is `second`.

    `regressed` then means that `second` is worse than `first`. Raises BadInput for
    unknown systems.
    """
    scores = _scores(side, parts=parts)
    systems = sorted(set(scores["author"]))
    unknown = [name for name in (first, second) if name not in systems]
    if unknown or first == second:
        lead, listed = f"{side.name}:", ", ".join(map(shown, systems))
        without = f"has no scores; choose from {listed}"
        raise BadInput(
            [f"{lead} {shown(name)} {without}{hint(name, systems)}" for name in unknown]
            or f"{lead} both systems are {shown(first)}; name two of {listed}"
        )
    old = scores[scores["author"] == first].assign(author=second)
    new = scores[scores["author"] == second]
    grid, better = (
        grid_of(old, new, side.clusters),
        side.leaderboard.set_index(ROW)["better"],
    )
    differing = _differences(grid, (old, new), better, Rule(options, 1))
    none = changed_certificates(side, side)
    return Comparison(
        side.benchmark, first, second, True, differing, None, none, ((), side.changed)
    )


def _scores(side: Side, *, parts: bool) -> pd.DataFrame:
    scores = side.scores if parts else side.scores[side.scores["part"] == FULL]
    if scores.empty:
        problem = "no scores" if side.scores.empty else "no scores of whole texts"
        raise BadInput(
            f"{side.name}: {side.benchmark} has {problem}; compare with --parts, or run it"
        )
    return scores


def _differences(
    grid: Grid,
    sides: tuple[pd.DataFrame, pd.DataFrame],
    better: "pd.Series[str]",
    rule: Rule,
) -> Differences:
    change = grid.change()
    directions, paired = (
        better.reindex(grid.rows).fillna("neither"),
        np.isfinite(change),
    )
    test, verdicts, why, lacks = judge(grid, directions.tolist(), rule)
    low, high = mean_interval(change, grid.cluster, confidence=rule.options.confidence)
    ends = zip(grid.extremes(), grid.unbounded(), strict=True)
    least, most = (
        np.where(free > 0, np.nan, mean_without_gaps(end, 1)) for end, free in ends
    )
    # The numbers of both sides were made by the same recipe, or one side has none.
    old, new = (
        {key: {*recipes} for key, recipes in scores.groupby(ROW)["recipe"]}
        for scores in sides
    )
    table = grid.rows.to_frame(index=False).assign(
        verdict=verdicts,
        why=why,
        lacks_answers=lacks,
        before=mean_without_gaps(np.where(paired, grid.before.value, np.nan), 1),
        after=mean_without_gaps(np.where(paired, grid.after.value, np.nan), 1),
        difference=mean_without_gaps(change, 1),
        low=low,
        high=high,
        least=least,
        most=most,
        p=test.p,
        p_adjusted=test.adjusted,
        smallest_p=test.smallest,
        n=paired.sum(axis=1),
        n_changed=(np.nan_to_num(change) != 0).sum(axis=1),
        n_only_before=(np.isfinite(grid.before.value) & ~paired).sum(axis=1),
        n_only_after=(np.isfinite(grid.after.value) & ~paired).sum(axis=1),
        n_failed_before=np.nansum(grid.before.n_failed, axis=1).astype(int),
        n_failed_after=np.nansum(grid.after.n_failed, axis=1).astype(int),
        better=directions.to_numpy(),
        same_recipe=[
            old.get(key, new.get(key)) == new.get(key, old.get(key))
            for key in grid.rows
        ],
    )
    return Differences(
        round_trip(CHANGES, table), changed_documents(grid, rule.options.documents)
    )


DECISION: Final = ["study", "criterion", "part", "metric", "judge", "level"]


class Comparison(NamedTuple):
    """A benchmark: what differs, why, and which certificates have another verdict.

    `of_systems`: whether `before` and `after` are two systems of one state. `causes`:
    None where they are unknown, since a side has no lock, and for systems. `outdated`:
    settings, code and data of `before`, and of `after`, that changed since its run.
    `certificates`: the columns DECISION, and verdicts `before` and `after`, empty if
    there is none. `by_headline`: whether tables were not there, so that headline
    numbers and locks are compared instead. `untested`: whether scores differ then.
    """

    benchmark: str
    before: str
    after: str
    of_systems: bool
    differences: Differences
    causes: list[Cause] | None
    certificates: pd.DataFrame
    outdated: tuple[tuple[str, ...], tuple[str, ...]]
    by_headline: bool = False
    untested: bool = False


def compare(
    before: Side,
    after: Side,
    options: ComparisonOptions,
    *,
    parts: bool = False,
    n_benchmarks: int = 1,
) -> Comparison:
    """Compare two states of a benchmark; arguments and errors as in `differences`."""
    differing = differences(
        before, after, options, parts=parts, n_benchmarks=n_benchmarks
    )
    why = causes(before.lock, after.lock) if before.lock and after.lock else None
    changed, names = (
        (before.changed, after.changed),
        (after.benchmark, before.name, after.name),
    )
    return Comparison(
        *names, False, differing, why, changed_certificates(before, after), changed
    )


def changed_certificates(before: Side, after: Side) -> pd.DataFrame:
    """Return the decisions whose certificate has another verdict than before."""
    old, new = _verdicts(before), _verdicts(after)
    changed = [
        (*key, old.get(key, ""), new.get(key, ""))
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]
    return pd.DataFrame(changed, columns=[*DECISION, "before", "after"])


def _verdicts(side: Side) -> dict[tuple[object, ...], str]:
    """Return the verdict of each decision."""
    return {
        tuple(row[name] for name in DECISION): row["verdict"]
        for row in records(side.certificates)
    }
