"""Which metrics teach a distilled one, and the values that they agree on (Adams et al. 2023, 7.4).

All of it is of training documents: neither the choice nor the scale has seen a held-out one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, raise_problems
from metassay.metrics.faithfulness.record import BY_TEXT
from metassay.scoring.aggregation.statements import PLACE
from metassay.statistics.correlation import correlate
from metassay.tables.names import SIGNS, metric_label, suffix_of
from metassay.tables.parquet import rounded
from metassay.tables.ratings import of_statements
from metassay.tuning.options import TeacherOptions

_RATED = ["doc_id", "author", "number"]


class Candidate(NamedTuple):
    """A metric, and whether it teaches.

    `people` and `coverage`: the Pearson correlation with both; metric and ratings are turned so
    that more is better. None if it is not defined, or if nobody asks.
    """

    name: str
    teaches: bool
    people: float | None = None
    coverage: float | None = None


def by_metric(scores: pd.DataFrame) -> pd.DataFrame:
    """Table `statement_scores`, a row per statement (PLACE and number) and a column per metric.

    Columns are called `metric` or `metric (checkpoint)`. Values are turned so that more is better,
    but for metrics that are neither; NaN where there is none.
    """
    names = [metric_label(*pair) for pair in zip(scores["metric"], scores["judge"], strict=True)]
    turned = scores["value"] * scores["better"].map(SIGNS).fillna(1)
    rows = scores[[*PLACE, "number"]].assign(name=names, value=turned)
    return rows.pivot(index=[*PLACE, "number"], columns="name", values="value")


def candidates(
    scores: pd.DataFrame, ratings: pd.DataFrame, options: TeacherOptions
) -> list[Candidate]:
    """Every metric of `statement_scores` with a direction, and whether it teaches.

    By the rule, over the statements in `scores`: a teacher's correlation with the mean rating is at
    least `human.least`, in its own direction, and its absolute one with coverage at most
    `coverage.most`. Coverage is that of the same alignment, if there are several. Raises BadInput
    if a name is not there or no metric is left.
    """
    values = by_metric(scores)
    metrics = scores[["metric", "judge", "better"]].drop_duplicates().astype(str)
    metric_of = {metric_label(metric, judge): metric for metric, judge, _ in metrics.to_numpy()}
    able = sorted(metric_label(*key) for *key, better in metrics.to_numpy() if better in SIGNS)
    rule, names = options.human, options.names or []
    raise_problems(
        f"teachers > names: {name!r} is not a metric of statements with a direction; choose from"
        f" {', '.join(able)}"
        for name in names
        if name not in able
    )
    if rule is None:
        return [Candidate(name, name in names) for name in able]
    criterion = ratings[ratings["criterion"] == rule.criterion]
    people = _judged(criterion, values) * SIGNS[rule.better]
    every = []
    for name in able:
        with_people, with_coverage = _pearson(values[name], people), None
        teaches = with_people is not None and with_people >= rule.least
        if options.coverage is not None:
            against = _against(metric_of[name], options.coverage.metric, metric_of)
            with_coverage = _pearson(values[name], values[against])
            far = with_coverage is not None and abs(with_coverage) <= options.coverage.most
            teaches = teaches and far
        every.append(Candidate(name, teaches, with_people, with_coverage))
    if not any(one.teaches for one in every):
        raise BadInput(
            f"teachers: none of {len(every)} metrics passes the rule on training documents; lower"
            " human > least, raise coverage > most, or give names"
        )
    return every


def _against(metric: str, coverage: str, metric_of: Mapping[str, str]) -> str:
    """The column of coverage that a metric is held against: if there is one, of its alignment."""
    wanted = (f"{coverage}{suffix_of(metric).removesuffix(BY_TEXT)}", coverage)
    there = {other: label for label, other in metric_of.items() if other in wanted}
    for name in filter(there.get, wanted):
        return there[name]
    raise BadInput(
        f"teachers > coverage > metric: statements have no {wanted[0]!r}; measure it, or correct"
        " the name"
    )


def targets(values: pd.DataFrame, training: Iterable[bool], teachers: Sequence[str]) -> pd.Series:
    """The mean of the teachers' standardised values, by statement; `values` as `by_metric` gives.

    Mean and standard deviation (divided by n) are those of the rows in `training`. NaN where a
    teacher has no value, or where one has the same value throughout.
    """
    rows = values[list(teachers)]
    seen = rows[list(training)]
    spread = seen.std(ddof=0).where(seen.nunique() > 1)
    return ((rows - seen.mean()) / spread).mean(axis=1, skipna=False)


def _judged(ratings: pd.DataFrame, values: pd.DataFrame) -> pd.Series:
    """The mean rating of each row of `values`, over raters and studies."""
    means = of_statements(ratings).groupby(_RATED)["value"].mean()
    keys = pd.MultiIndex.from_frame(values.index.to_frame()[_RATED])
    return pd.Series(means.reindex(keys).to_numpy(), index=values.index)


def _pearson(values: pd.Series, other: pd.Series) -> float | None:
    a, b = (side.to_numpy(dtype=np.float64)[None] for side in (values, other))
    value = correlate(a, b, "global", "pearson").value
    return None if np.isnan(value) else rounded(value)  # no choice hangs on a last digit
