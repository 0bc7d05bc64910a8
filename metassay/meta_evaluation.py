"""Scores and ratings brought to system x document matrices, and every metric held against people.

People are scorers too: a rating becomes a matrix as a metric does. All alignment is by key.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field

from metassay.contract import empty
from metassay.errors import BadInput
from metassay.params import Criterion, Options
from metassay.statistics.agreement import Agreement, cohen_kappa, krippendorff_alpha, percent
from metassay.statistics.correlation import (
    COEFFICIENTS,
    LEVELS,
    TIE,
    Array,
    correlate,
    tied,
)
from metassay.statistics.resampling import Draws, draw, interval
from metassay.tables import AGREEMENT, CORRELATIONS, REFERENCE

ALL = "all"  # agreement.rater_a and rater_b where the coefficient is of all raters together
VERSUS = "versus:"

_STUDIED = ["study", "criterion", "part"]
_TEXT = ["doc_id", "author"]
_THING = ["doc_id", "author", "part", "unit"]


class MetaOptions(Options):
    """How the intervals are made (params.yaml > meta_evaluation)."""

    resamples: int = Field(ge=1)
    confidence: float = Field(gt=0, lt=1)
    seed: int = Field(ge=0)
    resample: Literal["documents", "systems", "both"] = "documents"


class _Humans(NamedTuple):
    """What people said in one study by one criterion of one part."""

    study: str
    criterion: str
    part: str
    systems: pd.Index  # who was rated; the rows of `values`
    documents: pd.Index  # on what; the columns of `values`
    values: Array  # NaN where nobody rated
    draws: Draws


def correlate_all(
    scores: pd.DataFrame,
    ratings: pd.DataFrame,
    criteria: Mapping[str, Criterion],
    options: MetaOptions,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """The table `correlations`: each metric with each rated criterion of the same part.

    `scores`, `ratings`: the tables of those names. One row per level and coefficient, the sign as
    it is: a good metric correlates negatively with an error rate. Only texts of systems and
    documents that the study rated by this criterion take part, and never the reference; n_missing
    counts those of them that have one of score and rating but not both. All metrics share the
    draws of one (study, criterion, part), seeded by its name, so that neither the order of rows
    nor another metric changes an interval. `progress(done, total)` is called after each metric.

    Raises BadInput for ratings by an undeclared criterion, and for scores of several recipes under
    one metric and judge.
    """
    people = list(_humans(ratings, criteria, options))
    measured = {
        part: list(of_part.groupby(["metric", "judge"], sort=True))
        for part, of_part in scores.groupby("part", sort=True)
    }
    total = sum(len(measured.get(human.part, [])) for human in people)
    rows: list[dict[str, object]] = []
    done = 0
    for human in people:
        for (metric, judge), of_metric in measured.get(human.part, []):
            rows += _rows(human, str(metric), str(judge), of_metric, options.confidence)
            done += 1
            if progress is not None:
                progress(done, total)
    return pd.DataFrame(rows, columns=list(CORRELATIONS.columns)) if rows else empty(CORRELATIONS)


def agree_all(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    """The table `agreement`: rater with rater, and all raters together, per study and criterion.

    A thing rated is one unit (text, claim or comparison) of one part. Each pair of raters has
    `percent`, and `cohen_kappa` where the criterion's scale is nominal or ordinal (on an interval
    scale kappa would count 79 and 80 as plain disagreement); Krippendorff's alpha, at the
    criterion's declared scale, is of all raters: rater_a = rater_b = `all`. Abstentions count as
    not rated. A study with one rater has no rows. Raises BadInput for an undeclared criterion.
    """
    _check(ratings, criteria)
    rows: list[dict[str, object]] = []
    rated = _oriented(ratings.dropna(subset="value"), criteria)
    for (study, criterion), group in rated.groupby(["study", "criterion"], sort=True):
        scale = criteria[str(criterion)].scale
        for coefficient, rater_a, rater_b, found in _agreements(group, scale):
            rows.append(
                {
                    "study": study,
                    "criterion": criterion,
                    "coefficient": coefficient,
                    "rater_a": rater_a,
                    "rater_b": rater_b,
                    **found._asdict(),
                }
            )
    return pd.DataFrame(rows, columns=list(AGREEMENT.columns)) if rows else empty(AGREEMENT)


def human_scores(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    """One human score per text: columns study, criterion, part, doc_id, author, value.

    Each rater's mean over the units they rated (claims, comparisons), then the mean of the raters:
    so that a rater counts once per text, however many of its claims they got through. In a
    comparison the other author has the mirrored value (1 - value on a scale of 0 to 1), which
    makes the mean a rate of wins, ties half. Abstentions and the reference's own scores are left
    out. Raises BadInput for an undeclared criterion.
    """
    _check(ratings, criteria)
    seen = pd.concat([ratings, _mirrored(ratings, criteria)], ignore_index=True)
    seen = seen[seen["value"].notna() & (seen["author"] != REFERENCE)]
    each = seen.groupby([*_STUDIED, *_TEXT, "rater"], sort=True)["value"].mean()
    return each.groupby(level=[*_STUDIED, *_TEXT], sort=True).mean().reset_index()


def _humans(
    ratings: pd.DataFrame, criteria: Mapping[str, Criterion], options: MetaOptions
) -> Iterator[_Humans]:
    for key, group in human_scores(ratings, criteria).groupby(_STUDIED, sort=True):
        study, criterion, part = (str(name) for name in key)
        systems = pd.Index(sorted(group["author"].unique()))
        documents = pd.Index(sorted(group["doc_id"].unique()))
        values = _even(_matrix(group, systems, documents))
        draws = draw(
            (len(systems), len(documents)),
            resample=options.resample,
            n=options.resamples,
            rng=_generator(options.seed, study, criterion, part),
        )
        yield _Humans(study, criterion, part, systems, documents, values, draws)


def _generator(seed: int, *key: str) -> np.random.Generator:
    digest = hashlib.sha256("\x1f".join(key).encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, len(digest), 4)]
    return np.random.default_rng([seed, *words])


def _matrix(rows: pd.DataFrame, systems: pd.Index, documents: pd.Index) -> Array:
    matrix = np.full((len(systems), len(documents)), np.nan)
    system = systems.get_indexer(pd.Index(rows["author"]))
    document = documents.get_indexer(pd.Index(rows["doc_id"]))
    wanted = (system >= 0) & (document >= 0)
    matrix[system[wanted], document[wanted]] = rows["value"].to_numpy(dtype=np.float64)[wanted]
    return matrix


def _even(values: Array) -> Array:
    # Means of the same ratings in another order, or mirrored, are tied, not a rounding error apart.
    tolerance = TIE * float(np.nanmax(np.abs(values)))
    return tied(values.ravel(), tolerance=tolerance).reshape(values.shape)


def _rows(
    human: _Humans, metric: str, judge: str, scores: pd.DataFrame, confidence: float
) -> Iterator[dict[str, object]]:
    rated = scores[scores["author"].isin(human.systems) & scores["doc_id"].isin(human.documents)]
    recipe = _recipe(rated if len(rated) else scores, metric, judge, human.part)
    values = _matrix(rated, human.systems, human.documents)
    for level in LEVELS:
        for coefficient in COEFFICIENTS:
            found = correlate(values, human.values, level, coefficient)
            ends = interval(
                values, human.values, level, coefficient, draws=human.draws, confidence=confidence
            )
            yield {
                "study": human.study,
                "criterion": human.criterion,
                "part": human.part,
                "metric": metric,
                "judge": judge,
                "level": level,
                "coefficient": coefficient,
                **found._asdict(),
                "low": ends.low,
                "high": ends.high,
                "n_resamples": ends.n_defined,
                "recipe": recipe,
            }


def _recipe(scores: pd.DataFrame, metric: str, judge: str, part: str) -> str:
    recipes = sorted(scores["recipe"].unique())
    if len(recipes) > 1:
        raise BadInput(
            f"scores: {metric} (judge {judge}, part {part}) mixes {len(recipes)} recipes, which"
            f" are never compared: {recipes[0]} and {recipes[1]}; measure all systems with one"
        )
    return str(recipes[0])


def _check(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> None:
    unknown = sorted(set(ratings["criterion"].unique()) - set(criteria))
    if unknown:
        raise BadInput(
            f"ratings: criterion {name!r} is not declared; add it in params.yaml > benchmarks >"
            " (its name) > criteria"
            for name in unknown
        )


def _mirrored(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    # Each comparison as the other author has it. Rows that compare nothing are left out.
    rows = ratings[ratings["unit"].str.startswith(VERSUS)]
    ends = {name: criterion.low + criterion.high for name, criterion in criteria.items()}
    return rows.assign(
        author=rows["unit"].str.removeprefix(VERSUS),
        unit=VERSUS + rows["author"],
        value=rows["criterion"].map(ends).astype("float64") - rows["value"],
    )


def _oriented(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    # "A against B" and "B against A" are one question: both as their first author has it.
    other = ratings["unit"].str.removeprefix(VERSUS)
    turn = ratings["unit"].str.startswith(VERSUS) & (other < ratings["author"])
    return pd.concat([ratings[~turn], _mirrored(ratings[turn], criteria)], ignore_index=True)


def _agreements(
    group: pd.DataFrame, scale: Literal["nominal", "ordinal", "interval"]
) -> Iterator[tuple[str, str, str, Agreement]]:
    # A rater who was asked a comparison both ways has one opinion of it: the mean.
    opinions = group.groupby(["rater", *_THING], sort=True)["value"].mean()
    table = opinions.unstack("rater").sort_index(axis=1)
    raters = [str(rater) for rater in table.columns]
    if len(raters) < 2:
        return
    values = _even(table.to_numpy(dtype=np.float64).T)
    for a, b in combinations(range(len(raters)), 2):
        yield "percent", raters[a], raters[b], percent(values[a], values[b])
        if scale != "interval":
            yield "cohen_kappa", raters[a], raters[b], cohen_kappa(values[a], values[b])
    yield f"krippendorff_alpha_{scale}", ALL, ALL, krippendorff_alpha(values, scale)
