"""Scores that are means of other metrics' standardised scores, such as MIST-Comb1 and MIST-Comb2.

Source: Ben Abacha et al. 2023, An investigation of evaluation metrics for automated medical note
generation, section 4.4, equations 5 and 6.
"""

from collections.abc import Iterator, Mapping
from math import fsum, sqrt
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from metassay.core.errors import raise_problems
from metassay.core.options import PARAMS, Block, Options, Words, parse
from metassay.metrics.describe import OVERLAP, Description
from metassay.tables.names import NO_JUDGE, SIGNS, is_reference, metric_label
from metassay.tables.parquet import empty, rounded
from metassay.tables.scores import SCORES

_TEXT = ["doc_id", "author", "part"]
_COUNTS = ["n_expected", "n_judged", "n_failed"]


class Moments(Options):
    """Mean and standard deviation (divided by n) of a metric's scores in some population."""

    mean: float
    sd: float = Field(gt=0)


class Population(Options):
    """Texts whose moments are kept: what they are called, and the moments of each metric."""

    name: Words
    moments: dict[str, Moments]


class Combination(Options):
    """Metrics that are standardised and averaged, named `metric` or `metric (judge)`.

    `population`: whose mean and standard deviation each is standardised by. Null: those of this
    benchmark, of each part of texts by itself.
    """

    metrics: Annotated[list[str], Field(min_length=2)]
    population: Population | None = None

    @model_validator(mode="after")
    def _complete(self) -> "Combination":
        if len(set(self.metrics)) < len(self.metrics):
            raise ValueError("names a metric twice under metrics; name it once")
        if self.population and set(self.population.moments) != set(self.metrics):
            raise ValueError("must have moments of each of its metrics, and of no other")
        return self


def combination(blocks: Mapping[str, Block], name: str) -> Combination:
    """A block of params.yaml > combinations; BadInput if it is wrong."""
    return parse(Combination, blocks[name], where=f"{PARAMS} > combinations > {name}")


def described(name: str, of: Combination) -> Description:
    """What a combination means."""
    population = of.population.name if of.population else "the systems' texts of this benchmark"
    return Description(
        name,
        f"mean of {', '.join(of.metrics)}, each less its mean and over its standard deviation in"
        f" {population}, and turned so that more is better",
        better="higher",
        range=(None, None),
        missing="null if one of these metrics is, or has the same value for every text",
        source="Ben Abacha et al. 2023, equations 5 and 6",
        family=OVERLAP,
        headline=True,
    )


def combined_scores(
    scores: pd.DataFrame,
    combinations: Mapping[str, Combination],
    descriptions: Mapping[str, Description],
) -> pd.DataFrame:
    """Rows of table `scores`: one per combination and text that has a row of each of its metrics.

    Without a population, mean and standard deviation are of the part's texts by systems, those that
    have all of the metrics; the recipe prints them in full, so that they can be kept. Counts are
    sums over the metrics. Bounds and statistics are null. Raises BadInput if a metric is not there,
    or is neither better high nor low.

    Scores 1, 3 and 4, 8 of two texts: z is -1, 1 for both metrics, and so is their mean. By a
    population of means 0, 2 and deviations 1, 2 it is (1 + 1) / 2 = 1 and (3 + 3) / 2 = 3.
    """
    keys = scores[["metric", "judge"]].drop_duplicates().astype(str)
    metrics = {
        metric_label(*pair): pair for pair in zip(keys["metric"], keys["judge"], strict=True)
    }
    problems = [_problems(*each, metrics, descriptions) for each in combinations.items()]
    raise_problems(line for lines in problems for line in lines)
    made = [empty(SCORES)]
    for name, one in combinations.items():
        signs = {label: SIGNS[descriptions[metrics[label][0]].better] for label in one.metrics}
        members = [
            scores[(scores["metric"] == metric) & (scores["judge"] == judge)].assign(member=label)
            for label, (metric, judge) in ((label, metrics[label]) for label in one.metrics)
        ]
        for _, of_part in pd.concat(members).groupby("part", sort=True):
            made.append(_of_part(name, one, signs, of_part))
    return pd.concat(made, ignore_index=True)


def _problems(
    name: str,
    one: Combination,
    metrics: Mapping[str, tuple[str, str]],
    descriptions: Mapping[str, Description],
) -> Iterator[str]:
    where = f"{PARAMS} > combinations > {name} > metrics"
    for label in one.metrics:
        if label not in metrics:
            yield (
                f"{where}: no scores of {label!r} here; measure it in this benchmark, or take one"
                f" of {', '.join(sorted(metrics))}"
            )
        elif descriptions[metrics[label][0]].better not in SIGNS:
            yield f"{where}: {label!r} is neither better high nor low; take another metric"


def _of_part(
    name: str, one: Combination, signs: Mapping[str, float], members: pd.DataFrame
) -> pd.DataFrame:
    """Rows of one part; `members` are rows of table `scores`, and who of the metrics each is of."""
    values = members.pivot(index=_TEXT, columns="member", values="value")
    there = members.groupby(_TEXT).size().reindex(values.index) == len(one.metrics)
    counts = members.groupby(_TEXT)[_COUNTS].sum().reindex(values.index)[there]
    values = values.reindex(columns=one.metrics)[there]
    by_system = [not is_reference(author) for author in values.index.get_level_values("author")]
    seen = values[by_system].dropna()
    moments = one.population.moments if one.population else _moments(seen)
    standard = [
        signs[label] * (values[label] - moments[label].mean) / moments[label].sd
        if label in moments
        else values[label] * np.nan
        for label in one.metrics
    ]
    frame = counts.assign(value=sum(standard) / len(standard)).reset_index()
    recipes = members.groupby("member")["recipe"].first()
    printed = [
        f"{label}: {_printed(moments.get(label))} {{{recipes[label]}}}" for label in one.metrics
    ]
    population = one.population.name if one.population else f"{len(seen)} texts of this benchmark"
    return frame.assign(
        metric=name,
        judge=NO_JUDGE,
        low=np.nan,
        high=np.nan,
        statistics=None,
        recipe=f"combination of {population}|{'|'.join(printed)}",
    )[list(SCORES.columns)]


def _moments(seen: pd.DataFrame) -> dict[str, Moments]:
    """Of each metric; none of one that has the same value throughout, but for its last digits."""
    found = {}
    for label in seen if len(seen) else ():
        values = seen[label].tolist()
        mean = fsum(values) / len(values)
        if len(set(map(rounded, values))) > 1:
            sd = sqrt(fsum((value - mean) ** 2 for value in values) / len(values))
            found[str(label)] = Moments(mean=mean, sd=sd)
    return found


def _printed(moments: Moments | None) -> str:
    return "all the same" if moments is None else f"mean {moments.mean!r}, sd {moments.sd!r}"
