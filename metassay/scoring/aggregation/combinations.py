"""Means of other metrics' standardised scores, such as MIST-Comb1 and MIST-Comb2.

Source: Ben Abacha et al. 2023, An investigation of evaluation metrics for automated
medical note generation, section 4.4, equations 5 and 6.
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
from metassay.tables.parquet import empty, round_significant
from metassay.tables.scores import SCORES

_TEXT = ["doc_id", "author", "part"]
_COUNTS = ["n_expected", "n_judged", "n_failed"]


class Moments(Options):
    """Mean and standard deviation (divided by n) of a metric's scores in a population."""

    mean: float
    sd: float = Field(gt=0)


class Population(Options):
    """The name of a set of texts, and the moments of each metric over them."""

    name: Words
    moments: dict[str, Moments]


class Combination(Options):
    """Metrics that are standardised and averaged, named `metric` or `metric (judge)`.

    `population`: the texts whose mean and standard deviation standardise. Null: this
    benchmark's, separately for each part of texts.
    """

    metrics: Annotated[list[str], Field(min_length=2)]
    population: Population | None = None

    @model_validator(mode="after")
    def _complete(self) -> "Combination":
        if len(set(self.metrics)) < len(self.metrics):
            raise ValueError("names a metric twice under metrics; name it once")
        if self.population and set(self.population.moments) != set(self.metrics):
            raise ValueError("must have moments of exactly its metrics")
        return self


def parse_combination(blocks: Mapping[str, Block], name: str) -> Combination:
    """Parse a block of params.yaml > combinations; BadInput if it is wrong."""
    return parse(Combination, blocks[name], where=f"{PARAMS} > combinations > {name}")


def describe(name: str, combination: Combination) -> Description:
    """Describe a combination."""
    population = (
        combination.population.name
        if combination.population
        else "the systems' texts of this benchmark"
    )
    return Description(
        name,
        f"mean of {', '.join(combination.metrics)}, each less its mean and over its standard"
        f" deviation in {population}, and turned so that more is better",
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
    """Return a row of table `scores` per combination and text that has all of its metrics.

    Without a population, mean and standard deviation are over the systems' texts of the
    part that have all of the metrics; the recipe prints them in full, for use as a
    population. Counts are sums over the metrics. Bounds and statistics are null. Raises
    BadInput if a metric is missing, or is better neither high nor low.

    Scores 1, 3 and 4, 8 of two texts: z is -1, 1 for both metrics, and so is their
    mean. By a population of means 0, 2 and deviations 1, 2 it is (1 + 1) / 2 = 1 and (3
    + 3) / 2 = 3.
    """
    labels = pd.Series(
        map(metric_label, scores["metric"], scores["judge"]), scores.index
    )
    metrics = dict(zip(labels, scores["metric"], strict=True))
    better = {label: descriptions[metric].better for label, metric in metrics.items()}
    problems: list[str] = []
    for name, block in combinations.items():
        problems += _problems(name, block, better)
    raise_problems(problems)
    tables = [empty(SCORES)]
    for name, block in combinations.items():
        signs = {label: SIGNS[better[label]] for label in block.metrics}
        members = [
            scores[labels == label].assign(member=label) for label in block.metrics
        ]
        for _, of_part in pd.concat(members).groupby("part", sort=True):
            tables.append(_combine_part(name, block, signs, of_part))
    return pd.concat(tables, ignore_index=True)


def _problems(
    name: str, combination: Combination, better: Mapping[str, str]
) -> Iterator[str]:
    where = f"{PARAMS} > combinations > {name} > metrics"
    for label in combination.metrics:
        if label not in better:
            yield (
                f"{where}: no scores of {label!r} here; measure it in this benchmark, or take one"
                f" of {', '.join(sorted(better))}"
            )
        elif better[label] not in SIGNS:
            yield f"{where}: {label!r} is neither better high nor low; take another metric"


def _combine_part(
    name: str,
    combination: Combination,
    signs: Mapping[str, float],
    members: pd.DataFrame,
) -> pd.DataFrame:
    """Return the rows of a part; `members` are rows of `scores` with the label of their metric."""
    values = members.pivot(index=_TEXT, columns="member", values="value")
    complete = members.groupby(_TEXT).size().reindex(values.index) == len(
        combination.metrics
    )
    counts = members.groupby(_TEXT)[_COUNTS].sum().reindex(values.index)[complete]
    values = values.reindex(columns=combination.metrics)[complete]
    by_system = [
        not is_reference(author) for author in values.index.get_level_values("author")
    ]
    seen = values[by_system].dropna()
    moments = (
        combination.population.moments if combination.population else _moments(seen)
    )
    standard = [
        signs[label] * (values[label] - moments[label].mean) / moments[label].sd
        if label in moments
        else values[label] * np.nan
        for label in combination.metrics
    ]
    frame = counts.assign(value=sum(standard) / len(standard)).reset_index()
    recipes = members.groupby("member")["recipe"].first()
    printed = [
        f"{label}: {_printed(moments.get(label))} {{{recipes[label]}}}"
        for label in combination.metrics
    ]
    population = (
        combination.population.name
        if combination.population
        else f"{len(seen)} texts of this benchmark"
    )
    return frame.assign(
        metric=name,
        judge=NO_JUDGE,
        low=np.nan,
        high=np.nan,
        statistics=None,
        recipe=f"combination of {population}|{'|'.join(printed)}",
    )[list(SCORES.columns)]


def _moments(seen: pd.DataFrame) -> dict[str, Moments]:
    """Return each metric's moments; none if all values are equal up to their last digits."""
    moments = {}
    for label in seen if len(seen) else ():
        values = seen[label].tolist()
        mean = fsum(values) / len(values)
        if len(set(map(round_significant, values))) > 1:
            sd = sqrt(fsum((value - mean) ** 2 for value in values) / len(values))
            moments[str(label)] = Moments(mean=mean, sd=sd)
    return moments


def _printed(moments: Moments | None) -> str:
    return (
        "all the same"
        if moments is None
        else f"mean {moments.mean!r}, sd {moments.sd!r}"
    )
