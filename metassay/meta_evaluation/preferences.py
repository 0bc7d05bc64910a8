"""The table `preferences`: does a metric order two texts as people who compared them do."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from metassay.meta_evaluation.agreement import oriented
from metassay.meta_evaluation.study import VERSUS, Better, check_criteria, one_recipe
from metassay.options import Criterion
from metassay.parquet import empty
from metassay.statistics.correlation import TIE, Array
from metassay.statistics.preference import preference_agreement
from metassay.tables.orderings import PREFERENCES

_STUDIED = ["study", "criterion", "part"]
_ASKED = ["doc_id", "author", "unit", "rater"]


def preferences(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    better: Mapping[str, Better],
) -> pd.DataFrame:
    """One row per study, criterion, part and metric of that part that has a direction.

    A rating above the middle of the criterion's scale prefers `author`, one below it the author
    that its unit names, the middle is a tie and null an abstention; where less is better, the
    other way round. Each rater's comparison counts once; one that a rater was asked both ways is
    one, and is the mean of the two. A metric prefers the text with the better score. Comparisons
    with the reference count like others, if the reference has a score. Ratings that compare
    nothing have no rows.

    Raises BadInput for an undeclared criterion, and for scores of several recipes under one metric
    and judge among the texts compared.
    """
    check_criteria(ratings, criteria)
    compared = oriented(ratings[ratings["unit"].str.startswith(VERSUS)], criteria)
    of_part = dict(list(scores.groupby("part", sort=True)))
    rows: list[dict[str, object]] = []
    for key, group in compared.groupby(_STUDIED, sort=True):
        study, criterion, part = (str(name) for name in key)
        asked = group.groupby(_ASKED, sort=True)["value"].mean().reset_index()
        texts = _texts(asked)
        people = _preferred(asked["value"].to_numpy(dtype=np.float64), criteria[criterion])
        for (metric, judge), mine in of_part.get(part, scores[:0]).groupby(["metric", "judge"]):
            direction = better[str(metric)]
            if direction == "neither":
                continue
            sign = -1.0 if direction == "lower" else 1.0
            value = mine.set_index(["doc_id", "author"])["value"]
            first, second = (
                sign * value.reindex(text).to_numpy(dtype=np.float64) for text in texts
            )
            rows.append(
                {
                    "study": study,
                    "criterion": criterion,
                    "part": part,
                    "metric": metric,
                    "judge": judge,
                    **preference_agreement(first, second, people)._asdict(),
                    "recipe": _recipe(mine, texts),
                }
            )
    return pd.DataFrame(rows, columns=list(PREFERENCES.columns)) if rows else empty(PREFERENCES)


def _texts(asked: pd.DataFrame) -> tuple[pd.MultiIndex, pd.MultiIndex]:
    """The two texts of each comparison, by document and author."""
    authors = asked["author"], asked["unit"].str.removeprefix(VERSUS)
    first, second = (pd.MultiIndex.from_arrays([asked["doc_id"], author]) for author in authors)
    return first, second


def _preferred(values: Array, criterion: Criterion) -> Array:
    """1 the first text, 0 the second, .5 a tie, NaN abstained."""
    step = values - (criterion.low + criterion.high) / 2.0
    noise = TIE * max(abs(criterion.low), abs(criterion.high))
    side = np.where(np.abs(step) <= noise, 0.0, np.sign(step))
    preferred: Array = 0.5 + 0.5 * (-side if criterion.better == "lower" else side)
    return preferred


def _recipe(scores: pd.DataFrame, texts: tuple[pd.MultiIndex, pd.MultiIndex]) -> str:
    scored = pd.MultiIndex.from_frame(scores[["doc_id", "author"]])
    compared = scores[scored.isin(texts[0]) | scored.isin(texts[1])]
    metric, judge, part = (str(scores[name].iloc[0]) for name in ("metric", "judge", "part"))
    return one_recipe(compared if len(compared) else scores, metric, judge, part)
