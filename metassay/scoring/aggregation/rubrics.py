"""Judgments of rubrics to scores, as table `criteria` says.

A criterion's score is the grade, its share of the highest level, or the number of penalties; over
several references the best, or the mean. `penalties` is the sum of all, `overall` the weighted mean
of the scales (weights renormalised over those that were scored), or the sum as it is printed.

A value is null as long as an answer that could change it is missing, because criteria are not
alike. n_expected is how many criteria should be answered, n_failed how many are not. `low` and
`high` are the least and the greatest value that the missing answers allow, exactly, also where it
is not known whether the reference has a part; `high` is null where one without a cap failed.
"""

import json
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, raise_problems
from metassay.scoring.aggregation.judged import Flags, Integers, places_in, signature, together
from metassay.scoring.pairing.instruments import Reals
from metassay.statistics.subsets import least_maximum, least_mean, least_minimum, least_sum
from metassay.tables.names import FULL

_READ = ["judge", "pair_id", "status", "grade", "recipe"]  # no explanations are copied
_GRADED = ("scale", "penalties")


class _Asked(NamedTuple):
    """Rows of `pairs` that a rubric asks, and where each belongs.

    criterion and text are places among the criteria and texts; reference is counted from 0. lowest
    and highest: what can be answered (inf: no end). fixed: the answer of what was settled, NaN
    where there is none. sure: the criterion counts for this text.
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

    sure: it counts. there: it may count.
    """

    low: Reals
    high: Reals
    sure: Flags
    there: Flags

    def of(self, rows: Flags) -> "_Ends":
        """Those of some criteria."""
        return _Ends(self.low[rows], self.high[rows], self.sure[rows], self.there[rows])

    @property
    def known(self) -> Flags:
        """Where there is nothing left to know."""
        known: Flags = self.sure & (self.low == self.high)
        return known


def rubric_scores(
    criteria: pd.DataFrame,
    pairs: pd.DataFrame,
    judgments: pd.DataFrame,
    segmentation: str,
    version: str,
) -> pd.DataFrame:
    """Scores of every text by every judge that answered a rubric; returns table `scores`.

    Part is `full`; there are no statistics to pool. A text has a row for every metric of a rubric
    that asks anything of it: null, with nothing expected, where a criterion is not scored.
    `segmentation` (as recipes print it) and metassay's `version` go into the recipes.

    Raises BadInput if a judge has rows of several recipes, or a grade that is off its criterion's
    scale or over its cap.
    """
    scores: list[pd.DataFrame] = []
    problems: list[str] = []
    asked = {
        str(rubric): (rows, pairs[pairs["measure"].isin(rows["metric"])])
        for rubric, rows in criteria.sort_values(["rubric", "position"]).groupby("rubric")
    }
    for judge, given in judgments[_READ].groupby("judge", sort=True):
        for rows, mine in asked.values():
            heard = given["pair_id"].isin(mine["pair_id"])
            if mine.empty or not (heard.any() or mine["settled"].notna().all()):
                continue
            said = signature(str(judge), given)
            try:
                found = _scores(rows.reset_index(drop=True), mine, given[heard], str(judge))
            except BadInput as error:
                problems += error.problems
                continue
            end = f"|segmentation:{segmentation}|metassay:{version}"
            recipes = found["metric"] + f"|judge:{said}|rubric:" + found.pop("of") + end
            scores.append(found.assign(judge=str(judge), recipe=recipes))
    raise_problems(problems)
    return together(scores)


def _scores(
    criteria: pd.DataFrame, pairs: pd.DataFrame, judgments: pd.DataFrame, judge: str
) -> pd.DataFrame:
    """Rows of `scores` but for judge and recipe; `of` has the recipe of each metric."""
    graded = criteria[criteria["kind"].isin(_GRADED)].reset_index(drop=True)
    text = ["doc_id", "author"]
    keys = pairs[text].drop_duplicates().sort_values(text, ignore_index=True)
    asked = _asked(graded, pairs, places_in(pairs, keys))
    ends = _of_criteria(graded, asked, _answers(graded, asked, judgments, judge), len(keys))
    keys = keys.assign(part=FULL)
    made = []
    listed = (criteria[name].tolist() for name in ("metric", "kind", "combines", "recipe"))
    for metric, kind, combines, recipe in zip(*listed, strict=True):
        mine = _parts_of(graded, kind, metric)
        parts = ends.of(mine)
        low, high = parts.low[:1], parts.high[:1]
        if kind not in _GRADED:
            weights = graded.loc[mine, "weight"].to_numpy(dtype=float)
            low, high = _combined(parts, weights, combines)
        made.append(_rows(keys, parts, low.ravel(), high.ravel()).assign(metric=metric, of=recipe))
    return pd.concat(made, ignore_index=True)


def _parts_of(graded: pd.DataFrame, kind: str, metric: str) -> Flags:
    """The criteria that go into a metric: one, all penalties (`total`), or the weighted ones."""
    if kind in _GRADED:
        return (graded["metric"] == metric).to_numpy()
    if kind == "total":
        return (graded["kind"] == "penalties").to_numpy()
    return graded["weight"].notna().to_numpy()


def _asked(graded: pd.DataFrame, pairs: pd.DataFrame, texts: Integers) -> _Asked:
    place = pd.Index(graded["metric"]).get_indexer(pd.Index(pairs["measure"])).astype(np.int64)
    of_scale = (graded["kind"] == "scale").to_numpy()[place]
    lowest = graded["low"].to_numpy(dtype=float)[place]
    highest = np.where(of_scale, graded["high"].to_numpy(dtype=float)[place], _caps(pairs))
    better_high = (graded["better"] == "higher").to_numpy()[place]
    settled = pairs["settled"]
    fixed = np.where(settled == "no_evidence", np.where(better_high, lowest, highest), np.nan)
    fixed[(settled == "not_applicable").to_numpy()] = 0.0
    open_, sure = settled.isna().to_numpy(), (settled != "no_reference").to_numpy()
    reference = np.maximum(pairs["citation"].to_numpy(), 0)
    ends = (lowest, highest, fixed)
    return _Asked(pairs["pair_id"], place, reference, texts, *ends, open_, sure)


def _caps(pairs: pd.DataFrame) -> Reals:
    """The cap in each row's context: of one document, which may list fewer items than another."""
    codes, contexts = pd.factorize(pairs["context"])
    caps = [json.loads(str(context)).get("cap") for context in contexts]
    return np.array([np.inf if cap is None else float(cap) for cap in caps])[codes]


def _answers(graded: pd.DataFrame, asked: _Asked, judgments: pd.DataFrame, judge: str) -> Reals:
    """The answer of each row, NaN where there is none."""
    ok = judgments[judgments["status"] == "ok"]
    at = pd.Index(ok["pair_id"]).get_indexer(pd.Index(asked.pair_ids))
    grades = np.append(ok["grade"].to_numpy(dtype=float), np.nan)[at]
    given = asked.open & (at >= 0)
    inside = (grades >= asked.lowest) & (grades <= asked.highest)  # a jury's may be between levels
    wrong = given & ~inside
    if wrong.any():
        counts = pd.Series(graded["metric"].to_numpy()[asked.criterion[wrong]]).value_counts()
        raise BadInput(
            f"judgments: judge {judge!r} has {count} grade(s) of {metric} that are off its scale or"
            " over its cap; judge again"
            for metric, count in counts.sort_index().items()
        )
    return np.where(given, grades, asked.fixed)


def _of_criteria(graded: pd.DataFrame, asked: _Asked, answers: Reals, n_texts: int) -> _Ends:
    """Ends of each criterion and text, over the references that the text was held against."""
    n_references = int(asked.reference.max(initial=0)) + 1
    shape = (n_references, len(graded), n_texts)
    place = (asked.reference, asked.criterion, asked.text)
    low, high = np.full(shape, np.nan), np.full(shape, np.nan)
    low[place] = np.where(np.isnan(answers), asked.lowest, answers)
    high[place] = np.where(np.isnan(answers), asked.highest, answers)
    sure, there = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    sure[place], there[place] = asked.sure, True
    of_share = (graded["value"] == "share").to_numpy()
    unit = np.where(of_share, graded["high"].to_numpy(dtype=float), 1.0)
    low, high = low / unit[:, None], high / unit[:, None]
    lows, highs = np.full(shape[1:], np.nan), np.full(shape[1:], np.nan)
    combines, better = graded["combines"].tolist(), graded["better"].tolist()
    for at in range(len(graded)):
        one = _Ends(low[:, at], high[:, at], sure[:, at], there[:, at])
        lows[at], highs[at] = _over_references(one, combines[at], higher=better[at] == "higher")
    return _Ends(lows, highs, np.any(sure, axis=0), np.any(there, axis=0))


def _over_references(one: _Ends, combines: str, *, higher: bool) -> tuple[Reals, Reals]:
    """Least and greatest of the mean, or of the best, which is the highest or the lowest."""
    low, high, sure, there = one
    if len(low) == 1:
        return low[0], high[0]
    if combines == "mean":
        equal = np.ones(len(low))
        least, most = least_mean(low, equal, sure, there), -least_mean(-high, equal, sure, there)
    elif higher:
        least, most = least_maximum(low, sure, there), -least_minimum(-high, there)
    else:
        least, most = least_minimum(low, there), -least_maximum(-high, sure, there)
    return least, most


def _combined(parts: _Ends, weights: Reals, combines: str) -> tuple[Reals, Reals]:
    """Ends of what several criteria make: their sum, weighted mean, or the sum as printed."""
    low, high, sure, there = parts
    if combines == "renormalised":
        return (least_mean(low, weights, sure, there), -least_mean(-high, weights, sure, there))
    share = weights / len(weights) if combines == "printed" else np.ones(len(weights))
    most = np.where(there, high * share[:, None], 0.0).sum(axis=0)
    nothing = ~there.any(axis=0)
    return least_sum(low * share[:, None], sure, there), np.where(nothing, np.nan, most)


def _rows(keys: pd.DataFrame, parts: _Ends, low: Reals, high: Reals) -> pd.DataFrame:
    """Rows of `scores`: `parts` are what is counted, low and high (texts,) what it makes."""
    expected, judged = parts.there.sum(axis=0), parts.known.sum(axis=0)
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
