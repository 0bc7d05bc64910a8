"""The table `agreement`: rater with rater, each with the others, and all raters together."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from metassay.meta_evaluation.options import BELOW_OTHERS, MetaOptions
from metassay.meta_evaluation.study import VERSUS, check_criteria, even, generator, mirrored
from metassay.options import Criterion
from metassay.parquet import empty
from metassay.statistics import weighted, weighted_agreement
from metassay.statistics.agreement import (
    Agreement,
    cohen_kappa,
    complete,
    krippendorff_alpha,
    pairable,
    percent,
)
from metassay.statistics.correlation import COEFFICIENTS, Array, Coefficient
from metassay.statistics.reliability import (
    agreement_interval,
    count_f1,
    fleiss_kappa,
    icc,
    mean_of_others,
    rated_by_all,
)
from metassay.statistics.standing_out import Units, below_others
from metassay.statistics.weighted_agreement import Icc
from metassay.tables.raters import AGREEMENT

ALL = "all"  # agreement.rater_a and rater_b where the coefficient is of all raters together
OTHERS = "others"  # agreement.rater_b where rater_a is held against the mean of the others

_KEY = ["doc_id", "author", "part", "unit"]

Scale = Literal["nominal", "ordinal", "interval", "count"]
Weighted = Callable[[Array, Array], Array]  # of ratings and weights, as in weighted_agreement


class _Asked(NamedTuple):
    """One coefficient, and what its interval is made from."""

    coefficient: str
    rater_a: str
    rater_b: str
    found: Agreement
    used: Array  # (raters, items) that the coefficient takes
    of: Weighted


def agreement(
    ratings: pd.DataFrame, criteria: Mapping[str, Criterion], options: MetaOptions
) -> pd.DataFrame:
    """One row per coefficient, and per pair of raters or rater where it is theirs.

    A thing rated is one unit (text, claim or comparison) of one part. The criterion's declared
    scale says what is asked (on an interval scale kappa would count 79 and 80 as plain
    disagreement):

    - of each two raters: `percent`; on nominal and ordinal scales `cohen_kappa`; on ordinal ones
      its two weighted forms; of counts, `count_f1` with three tolerances;
    - of each rater and the mean of the others of the same things, unless the scale is nominal:
      `spearman_with_others` and `kendall_with_others`, with rater_b = `others`;
    - of each of three raters or more, unless the scale is nominal: `spearman_below_others`, how far
      the rater's agreement with the others lies below theirs among themselves. Its intervals hold
      for all raters at once and draw texts, with all that was rated of them;
    - of all, with rater_a = rater_b = `all`: Krippendorff's alpha (counts are an interval scale);
      Fleiss' kappa on nominal and ordinal scales; the six ICC unless the scale is nominal, of the
      things that every rater rated.

    Intervals draw the things that the coefficient takes again, the raters stay; things of one text
    count as independent. Two raters who share fewer than two things have no value. Abstentions
    count as not rated. A study with one rater has no rows. Raises BadInput for an undeclared
    criterion.
    """
    check_criteria(ratings, criteria)
    rows: list[dict[str, object]] = []
    rated = oriented(ratings.dropna(subset="value"), criteria)
    for (study, criterion), group in rated.groupby(["study", "criterion"], sort=True):
        raters, values, texts = _opinions(group)
        scale = criteria[str(criterion)].scale
        for asked in _all_asked(raters, values, scale):
            key = (str(study), str(criterion), *asked[:3])
            ends = agreement_interval(
                asked.used,
                asked.of,
                n=options.resamples,
                confidence=options.confidence,
                rng=generator(options.seed, "agreement", *key),
            )
            rows.append(
                {
                    **dict(zip(AGREEMENT.key, key, strict=True)),
                    **asked.found._asdict(),
                    "low": ends.low,
                    "high": ends.high,
                    "n_resamples": ends.n_defined,
                }
            )
        if scale != "nominal":
            rows += _below_others((str(study), str(criterion)), raters, values, texts, options)
    return pd.DataFrame(rows, columns=list(AGREEMENT.columns)) if rows else empty(AGREEMENT)


def _below_others(
    key: tuple[str, str],
    raters: Sequence[str],
    values: Array,
    texts: Units,
    options: MetaOptions,
) -> Iterator[dict[str, object]]:
    if len(raters) < 3:
        return
    found = below_others(
        values,
        texts,
        n=options.resamples,
        confidence=options.confidence,
        rng=generator(options.seed, "agreement", *key, BELOW_OTHERS),
    )
    for rater, one in zip(raters, found, strict=True):
        named = zip(AGREEMENT.key, (*key, BELOW_OTHERS, rater, OTHERS), strict=True)
        yield {**dict(named), **one._asdict()}


def _opinions(group: pd.DataFrame) -> tuple[list[str], Array, Units]:
    # A rater who was asked a comparison both ways has one opinion of it: the mean.
    opinions = group.groupby(["rater", *_KEY], sort=True)["value"].mean()
    table = opinions.unstack("rater").sort_index(axis=1)
    values = even(table.to_numpy(dtype=np.float64).T)
    texts, _ = pd.factorize(pd.MultiIndex.from_frame(table.index.to_frame()[_KEY[:3]]))
    return [str(rater) for rater in table.columns], values, texts.astype(np.intp)


def oriented(ratings: pd.DataFrame, criteria: Mapping[str, Criterion]) -> pd.DataFrame:
    """Each comparison as its first author by name has it; what compares nothing stays.

    "A against B" and "B against A" are one question.
    """
    other = ratings["unit"].str.removeprefix(VERSUS)
    turn = ratings["unit"].str.startswith(VERSUS) & (other < ratings["author"])
    return pd.concat([ratings[~turn], mirrored(ratings[turn], criteria)], ignore_index=True)


def _all_asked(raters: Sequence[str], values: Array, scale: Scale) -> Iterator[_Asked]:
    if len(raters) < 2:
        return
    yield from _of_pairs(raters, values, scale)
    if scale != "nominal":
        yield from _with_others(raters, values)
    yield from _of_all(values, scale)


def _of_pairs(raters: Sequence[str], values: Array, scale: Scale) -> Iterator[_Asked]:
    coefficients = _PAIRWISE[scale]
    for a, b in combinations(range(len(raters)), 2):
        used, missing = complete(values[a], values[b])
        shared = used.shape[1]
        for name, (of_two, of) in coefficients.items():
            found = Agreement(np.nan, shared, missing)
            if shared > 1:
                found = of_two(values[a], values[b])
            yield _Asked(name, raters[a], raters[b], found, used, of)


def _with_others(raters: Sequence[str], values: Array) -> Iterator[_Asked]:
    for rater, name in enumerate(raters):
        used, missing = complete(values[rater], mean_of_others(values, rater))
        for coefficient in _WITH_OTHERS:
            value = float(COEFFICIENTS[coefficient](*used))
            found = Agreement(value, used.shape[1], missing)
            of = partial(_weighted_correlation, coefficient=coefficient)
            yield _Asked(f"{coefficient}_with_others", name, OTHERS, found, used, of)


def _of_all(values: Array, scale: Scale) -> Iterator[_Asked]:
    used, _ = pairable(values)
    level = "interval" if scale == "count" else scale
    found = krippendorff_alpha(values, level)
    of: Weighted = partial(weighted_agreement.krippendorff_alpha, scale=level)
    yield _Asked(f"krippendorff_alpha_{level}", ALL, ALL, found, used, of)
    if scale in ("nominal", "ordinal"):
        of = weighted_agreement.fleiss_kappa
        yield _Asked("fleiss_kappa", ALL, ALL, fleiss_kappa(values), used, of)
    if scale != "nominal":
        used, _ = rated_by_all(values)
        for kind in get_args(Icc):
            of = partial(weighted_agreement.icc, kind=kind)
            yield _Asked(kind, ALL, ALL, icc(values, kind), used, of)


def _weighted_correlation(pair: Array, weights: Array, coefficient: Coefficient) -> Array:
    each = np.arange(pair.shape[1])
    return weighted.COEFFICIENTS[coefficient](pair[0], pair[1], each, weights)


_WITH_OTHERS: tuple[Coefficient, ...] = ("spearman", "kendall")
_OfTwo = tuple[Callable[[Array, Array], Agreement], Weighted]

_PERCENT: dict[str, _OfTwo] = {
    "percent": (percent, partial(weighted_agreement.share_within, tolerance=0)),
}
_KAPPA: dict[str, _OfTwo] = {
    "cohen_kappa": (cohen_kappa, partial(weighted_agreement.cohen_kappa, distance="none")),
}
_WEIGHTED_KAPPA: dict[str, _OfTwo] = {
    f"cohen_kappa_{distance}": (
        partial(cohen_kappa, weights=distance),
        partial(weighted_agreement.cohen_kappa, distance=distance),
    )
    for distance in ("linear", "quadratic")
}
_COUNT_F1: dict[str, _OfTwo] = {
    f"count_f1_{tolerance}": (
        partial(count_f1, tolerance=tolerance),
        partial(weighted_agreement.share_within, tolerance=tolerance),
    )
    for tolerance in (0, 1, 2)
}
_PAIRWISE: dict[Scale, dict[str, _OfTwo]] = {
    "nominal": _PERCENT | _KAPPA,
    "ordinal": _PERCENT | _KAPPA | _WEIGHTED_KAPPA,
    "interval": _PERCENT,
    "count": _PERCENT | _COUNT_F1,
}
