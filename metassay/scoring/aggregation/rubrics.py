"""Judgments of rubrics to scores, as table `criteria` says.

A criterion's score is the grade, its share of the highest level, or the number of
penalties; over several references the best, or the mean. `penalties` is the sum of all,
`overall` the weighted mean of the scales (weights renormalised over those with a
score), or the sum as printed in the paper.

A value is null while an answer that could change it is missing, because criteria
differ. n_expected is the number of criteria that should be answered, n_failed that of
missing answers. `low` and `high` are the exact least and greatest values that the
missing answers allow, also where it is unknown whether the reference has a part; `high`
is null if a criterion without cap failed.
"""

import json
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, collect_problems, raise_problems
from metassay.scoring.aggregation.judged import (
    Flags,
    Integers,
    concat_scores,
    places_in,
    signature,
)
from metassay.scoring.pairing.instruments import Reals
from metassay.statistics.subsets import (
    least_maximum,
    least_mean,
    least_minimum,
    least_sum,
)
from metassay.tables.checks import rows_of
from metassay.tables.names import FULL

_READ = ["judge", "pair_id", "status", "grade", "recipe"]  # no explanations are copied
_GRADED = ("scale", "penalties")


class _Rows(NamedTuple):
    """Columns of the rows of `pairs` that ask a rubric.

    criterion and text are places among the criteria and texts; reference is counted
    from 0. lowest and highest: the range of answers (inf: no limit). fixed: the answer
    of a settled row, else NaN. open: a judge is asked. sure: the criterion counts for
    this text.
    """

    pair_ids: pd.Series
    criterion: Integers
    reference: Integers
    text: Integers
    lowest: Reals
    highest: Reals
    fixed: Reals
    open: Flags
    sure: Flags


class _Ends(NamedTuple):
    """Least and greatest value, (criteria, texts) or (texts,); NaN where nothing is expected.

    sure: the criterion counts. there: it may count.
    """

    low: Reals
    high: Reals
    sure: Flags
    there: Flags

    def select(self, rows: Flags) -> "_Ends":
        """Select criteria."""
        return _Ends(
            low=self.low[rows],
            high=self.high[rows],
            sure=self.sure[rows],
            there=self.there[rows],
        )

    @property
    def known(self) -> Flags:
        """Where no answer is missing."""
        return np.asarray(self.sure & (self.low == self.high))


def rubric_scores(
    criteria: pd.DataFrame,
    pairs: pd.DataFrame,
    judgments: pd.DataFrame,
    segmentation: str,
    version: str,
) -> pd.DataFrame:
    """Score every text by every judge that answered a rubric; return table `scores`.

    Part is `full`; there are no statistics to pool. A text has a row for every metric
    of a rubric with a question about it: null, with nothing expected, where a criterion
    is not scored. `segmentation` (as recipes print it) and metassay's `version` go into
    the recipes.

    Raises BadInput if a judge has rows of several recipes, or a grade that is off its
    criterion's scale or over its cap.
    """
    scores: list[pd.DataFrame] = []
    problems: list[str] = []
    rubrics = {
        str(rubric): (rows, pairs[pairs["measure"].isin(rows["metric"])])
        for rubric, rows in criteria.sort_values(["rubric", "position"]).groupby(
            "rubric"
        )
    }
    for judge, answers in judgments[_READ].groupby("judge", sort=True):
        for rows, questions in rubrics.values():
            about = answers["pair_id"].isin(questions["pair_id"])
            if questions.empty or not (
                about.any() or questions["settled"].notna().all()
            ):
                continue
            signed = signature(str(judge), answers)
            with collect_problems(problems):
                table = _scores(
                    rows.reset_index(drop=True), questions, answers[about], str(judge)
                )
                end = f"|segmentation:{segmentation}|metassay:{version}"
                recipes = (
                    table["metric"] + f"|judge:{signed}|rubric:" + table.pop("of") + end
                )
                scores.append(table.assign(judge=str(judge), recipe=recipes))
    raise_problems(problems)
    return concat_scores(scores)


def _scores(
    criteria: pd.DataFrame, pairs: pd.DataFrame, judgments: pd.DataFrame, judge: str
) -> pd.DataFrame:
    """Return `scores` without judge and recipe; `of` has the recipe of each metric."""
    graded = criteria[criteria["kind"].isin(_GRADED)].reset_index(drop=True)
    text = ["doc_id", "author"]
    keys = pairs[text].drop_duplicates().sort_values(text, ignore_index=True)
    rows = _rows_of(graded, pairs, places_in(pairs, keys))
    ends = _bound_criteria(
        graded, rows, _answers(graded, rows, judgments, judge), len(keys)
    )
    keys = keys.assign(part=FULL)
    tables = []
    for metric, kind, combines, recipe in rows_of(
        criteria, "metric", "kind", "combines", "recipe"
    ):
        members = _parts_of(graded, kind, metric)
        parts = ends.select(members)
        low = parts.low[:1]
        high = parts.high[:1]
        if kind not in _GRADED:
            weights = graded.loc[members, "weight"].to_numpy(dtype=float)
            low, high = _combined(parts, weights, combines)
        tables.append(
            _rows(keys, parts, low.ravel(), high.ravel()).assign(
                metric=metric, of=recipe
            )
        )
    return pd.concat(tables, ignore_index=True)


def _parts_of(graded: pd.DataFrame, kind: str, metric: str) -> Flags:
    """Select a metric's criteria: its own, all penalties (`total`), or the weighted criteria."""
    if kind in _GRADED:
        return (graded["metric"] == metric).to_numpy()
    if kind == "total":
        return (graded["kind"] == "penalties").to_numpy()
    return graded["weight"].notna().to_numpy()


def _rows_of(graded: pd.DataFrame, pairs: pd.DataFrame, texts: Integers) -> _Rows:
    place = (
        pd.Index(graded["metric"])
        .get_indexer(pd.Index(pairs["measure"]))
        .astype(np.int64)
    )
    of_scale = (graded["kind"] == "scale").to_numpy()[place]
    lowest = graded["low"].to_numpy(dtype=float)[place]
    # The cap is in each row's context: documents may differ in their number of items.
    codes, contexts = pd.factorize(pairs["context"])
    caps = [json.loads(str(context)).get("cap") for context in contexts]
    limits = np.array([np.inf if cap is None else float(cap) for cap in caps])[codes]
    highest = np.where(of_scale, graded["high"].to_numpy(dtype=float)[place], limits)
    better_high = (graded["better"] == "higher").to_numpy()[place]
    settled = pairs["settled"]
    fixed = np.where(
        settled == "no_evidence", np.where(better_high, lowest, highest), np.nan
    )
    fixed[(settled == "not_applicable").to_numpy()] = 0.0
    open_ = settled.isna().to_numpy()
    sure = (settled != "no_reference").to_numpy()
    reference = np.maximum(pairs["citation"].to_numpy(), 0)
    ends = (lowest, highest, fixed)
    return _Rows(pairs["pair_id"], place, reference, texts, *ends, open_, sure)


def _answers(
    graded: pd.DataFrame, rows: _Rows, judgments: pd.DataFrame, judge: str
) -> Reals:
    """Return the answer of each row, NaN where it is missing."""
    ok = judgments[judgments["status"] == "ok"]
    places = pd.Index(ok["pair_id"]).get_indexer(pd.Index(rows.pair_ids))
    grades = np.append(ok["grade"].to_numpy(dtype=float), np.nan)[places]
    has_grade = rows.open & (places >= 0)
    # a jury's may be between levels
    inside = (grades >= rows.lowest) & (grades <= rows.highest)
    wrong = has_grade & ~inside
    if wrong.any():
        counts = pd.Series(
            graded["metric"].to_numpy()[rows.criterion[wrong]]
        ).value_counts()
        raise BadInput(
            f"judgments: judge {judge!r} has {count} grade(s) of {metric} that are off its scale or"
            " over its cap; judge again"
            for metric, count in counts.sort_index().items()
        )
    return np.where(has_grade, grades, rows.fixed)


def _bound_criteria(
    graded: pd.DataFrame, rows: _Rows, answers: Reals, n_texts: int
) -> _Ends:
    """Return the ends of each criterion and text, over the references of the text."""
    n_references = int(rows.reference.max(initial=0)) + 1
    shape = (n_references, len(graded), n_texts)
    place = (rows.reference, rows.criterion, rows.text)
    low = np.full(shape, np.nan)
    high = np.full(shape, np.nan)
    low[place] = np.where(np.isnan(answers), rows.lowest, answers)
    high[place] = np.where(np.isnan(answers), rows.highest, answers)
    sure = np.zeros(shape, np.bool_)
    counting = np.zeros(shape, np.bool_)
    sure[place], counting[place] = rows.sure, True
    of_share = (graded["value"] == "share").to_numpy()
    unit = np.where(of_share, graded["high"].to_numpy(dtype=float), 1.0)
    low = low / unit[:, None]
    high = high / unit[:, None]
    lows = np.full(shape[1:], np.nan)
    highs = np.full(shape[1:], np.nan)
    combines = graded["combines"].tolist()
    better = graded["better"].tolist()
    for at in range(len(graded)):
        ends = _Ends(
            low=low[:, at], high=high[:, at], sure=sure[:, at], there=counting[:, at]
        )
        lows[at], highs[at] = _combine_references(
            ends, combines[at], higher=better[at] == "higher"
        )
    return _Ends(
        low=lows, high=highs, sure=np.any(sure, axis=0), there=np.any(counting, axis=0)
    )


def _combine_references(
    ends: _Ends, combines: str, *, higher: bool
) -> tuple[Reals, Reals]:
    """Return the least and greatest mean, or best (the highest or the lowest)."""
    low, high, sure, there = ends
    if len(low) == 1:
        return low[0], high[0]
    if combines == "mean":
        equal = np.ones(len(low))
        least = least_mean(low, equal, sure, there)
        most = -least_mean(-high, equal, sure, there)
    elif higher:
        least = least_maximum(low, sure, there)
        most = -least_minimum(-high, there)
    else:
        least = least_minimum(low, there)
        most = -least_maximum(-high, sure, there)
    return least, most


def _combined(parts: _Ends, weights: Reals, combines: str) -> tuple[Reals, Reals]:
    """Return the ends of the sum of several criteria, their weighted mean, or the printed sum."""
    low, high, sure, there = parts
    if combines == "renormalised":
        return (
            least_mean(low, weights, sure, there),
            -least_mean(-high, weights, sure, there),
        )
    share = weights / len(weights) if combines == "printed" else np.ones(len(weights))
    most = np.where(there, high * share[:, None], 0.0).sum(axis=0)
    nothing = ~there.any(axis=0)
    return least_sum(low * share[:, None], sure, there), np.where(nothing, np.nan, most)


def _rows(keys: pd.DataFrame, parts: _Ends, low: Reals, high: Reals) -> pd.DataFrame:
    """Return `scores`: `parts` are the criteria that count, low and high (texts,) the values."""
    expected = parts.there.sum(axis=0)
    judged = parts.known.sum(axis=0)
    known = (judged == expected) & (expected > 0)
    return keys.assign(
        value=np.where(known, low, np.nan),
        n_expected=expected.astype(np.int64),
        n_judged=judged.astype(np.int64),
        n_failed=(expected - judged).astype(np.int64),
        low=low,
        high=np.where(np.isinf(high), np.nan, high),
        statistics=pd.Series([None] * len(keys), dtype=object),
    )
