"""Which metrics teach a distilled one, and the values that they agree on (Adams et al. 2023, 7.4).

All of it is of training documents: neither the choice nor the scale has seen a held-out one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, raise_problems
from metassay.statistics.correlation import correlate
from metassay.tables.names import metric_label
from metassay.tuning.examples import PLACE
from metassay.tuning.options import TeacherOptions

_STATEMENT = "statement:"  # of `unit` in ratings
SIGNS = {"higher": 1, "lower": -1}  # what a value is multiplied by, so that more is better


class Candidate(NamedTuple):
    """A metric, and whether it teaches.

    `people` and `coverage`: its Pearson correlation with both, each turned so that more is better
    (coverage as it is); None where nobody asks for it, or where it is not defined.
    """

    name: str
    teaches: bool
    people: float | None = None
    coverage: float | None = None


def by_metric(scores: pd.DataFrame) -> pd.DataFrame:
    """Table `statement_scores` with a row per statement (PLACE) and a column per metric.

    A column is called `metric` or `metric (checkpoint)`; NaN where there is no value.
    """
    names = [metric_label(*pair) for pair in zip(scores["metric"], scores["judge"], strict=True)]
    return scores.assign(name=names).pivot(index=PLACE, columns="name", values="value")


def judged(ratings: pd.DataFrame, criterion: str) -> pd.Series:
    """The mean rating of each statement (PLACE) for a criterion, over raters and studies."""
    rows = ratings[(ratings["criterion"] == criterion) & ratings["unit"].str.startswith(_STATEMENT)]
    position = rows["unit"].str.removeprefix(_STATEMENT).astype("int64")
    return rows.assign(position=position).groupby(PLACE)["value"].mean()


def candidates(
    values: pd.DataFrame, people: pd.Series, better: Mapping[str, str], options: TeacherOptions
) -> list[Candidate]:
    """Every metric, and whether it teaches, by columns `values` of training documents.

    By the rule a teacher's correlation with people is at least `human.least`, in its own
    direction, and its absolute one with coverage at most `coverage.most`; a metric with an
    alignment (`@`) is held against coverage with that alignment, if there is one. Metrics that are
    neither better when higher nor when lower cannot teach. Raises BadInput if none is left, or if a
    name or the metric of coverage is not there.
    """
    names = [str(name) for name in values.columns]
    able = [name for name in names if better.get(_family(name)) in SIGNS]
    if options.human is None:
        chosen = options.names or []
        raise_problems(
            f"teachers > names: {name!r} is {'without a direction' if name in names else 'unknown'}"
            f"; choose from {', '.join(able)}"
            for name in chosen
            if name not in able
        )
        return [Candidate(name, name in chosen) for name in able]
    rated = SIGNS[options.human.better] * people.reindex(values.index)
    every = []
    for name in able:
        turned = SIGNS[better[_family(name)]] * values[name]
        with_people, with_coverage = _pearson(turned, rated), None
        teaches = with_people is not None and with_people >= options.human.least
        if options.coverage is not None:
            against = _against(name, names, options.coverage.metric)
            with_coverage = _pearson(turned, values[against])
            near = with_coverage is None or abs(with_coverage) > options.coverage.most
            teaches = teaches and not near
        every.append(Candidate(name, teaches, with_people, with_coverage))
    if not any(one.teaches for one in every):
        raise BadInput(
            f"teachers: none of {len(every)} metrics passes the rule on training documents; lower"
            " human > least, raise coverage > most, or give names"
        )
    return every


def targets(
    values: pd.DataFrame,
    training: Any,
    teachers: Sequence[str],
    better: Mapping[str, str],
) -> pd.Series:
    """The mean of the teachers' standardised values, turned so that more is better; by statement.

    Mean and standard deviation (divided by n) are those of the rows in `training`. NaN where a
    teacher has no value, or where one has the same value throughout.
    """
    signs = np.array([[SIGNS[better[_family(name)]]] for name in teachers])
    rows = values[list(teachers)].to_numpy(dtype=np.float64).T
    seen = rows[:, np.asarray(training, dtype=bool)]
    means, spread = np.nanmean(seen, axis=1), np.nanstd(seen, axis=1)
    spread = np.where(spread > 0, spread, np.nan)
    z = signs * (rows - means[:, None]) / spread[:, None]
    return pd.Series(z.mean(axis=0), index=values.index)


def _family(name: str) -> str:
    """The metric's name without its alignment and checkpoint."""
    return name.partition(" (")[0].partition("@")[0]


def _against(name: str, names: Sequence[str], coverage: str) -> str:
    alignment = name.partition(" (")[0].partition("@")[2]
    for choice in (f"{coverage}@{alignment}", coverage):
        if choice in names:
            return choice
    raise BadInput(
        f"teachers > coverage > metric: {coverage!r} is no metric of statement_scores; measure it"
        " too, or correct the name"
    )


def _pearson(values: pd.Series, other: pd.Series) -> float | None:
    a, b = (side.to_numpy(dtype=np.float64)[None] for side in (values, other))
    value = correlate(a, b, "global", "pearson").value
    return None if np.isnan(value) else value
