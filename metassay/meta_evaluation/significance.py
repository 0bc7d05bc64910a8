"""The table `significance`: is one metric closer to people than another, or is it chance."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from metassay.contract import empty
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Measured, Study, generator
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS, Array, Coefficient, Level
from metassay.statistics.permutation import common, permutation_test
from metassay.statistics.significance import (
    benjamini_hochberg,
    holm,
    paired_bootstrap,
    williams,
)
from metassay.tables import SIGNIFICANCE


def significance(found: Sequence[Study], options: MetaOptions) -> pd.DataFrame:
    """One row per level, test and pair of the compared metrics, the smaller label first.

    Metrics and people are turned so that more is better: a positive difference says that metric a
    is closer to people. Only texts that have both metrics and people take part. n counts, at
    document level, the documents in which both metrics correlate with people. Williams' test has
    no rows at document level, whose averages it does not cover; at global level it takes texts of
    one document for independent and is too sure. All pairs of a family share their permutations or
    resamples, which hang on the study alone: another metric changes no p, only the corrected ones.
    """
    rows = [
        row
        for study in found
        for level in LEVELS
        for test in _tests(level, options)
        for row in _family(study, level, test, options)
    ]
    return pd.DataFrame(rows, columns=list(SIGNIFICANCE.columns)) if rows else empty(SIGNIFICANCE)


def _tests(level: Level, options: MetaOptions) -> list[str]:
    drawn = [f"permutation_{options.resample}", f"bootstrap_{options.resample}"]
    return drawn if level == "document" else ["williams", *drawn]


def _family(study: Study, level: Level, test: str, options: MetaOptions) -> list[dict[str, object]]:
    compared = sorted(study.compared(options), key=lambda one: one.label)
    pairs = list(combinations(compared, 2))
    found = [_tested(study, a, b, level, test, options) for a, b in pairs]
    p = [values["p"] for values in found]
    return [
        {
            **study.key,
            "level": level,
            "coefficient": options.coefficient,
            "test": test,
            "metric_a": a.label,
            "metric_b": b.label,
            **values,
            "p_holm": by_holm,
            "p_benjamini_hochberg": by_benjamini_hochberg,
        }
        for (a, b), values, by_holm, by_benjamini_hochberg in zip(
            pairs, found, holm(p), benjamini_hochberg(p), strict=True
        )
    ]


def _tested(
    study: Study, a: Measured, b: Measured, level: Level, test: str, options: MetaOptions
) -> dict[str, float]:
    scores = a.oriented, b.oriented, study.oriented
    rng = generator(options.seed, "significance", *study.key.values(), level, test)
    low, high, undefined = np.nan, np.nan, 0
    if test == "williams":
        by_theory = williams(*scores, level, options.coefficient)
        difference, p, missing = by_theory.difference, by_theory.p, by_theory.n_missing
    elif test.startswith("permutation"):
        permuted = permutation_test(
            *scores,
            level,
            options.coefficient,
            resample=options.resample,
            n=options.permutations,
            rng=rng,
        )
        difference, p, _, undefined, missing = permuted
    else:
        drawn = paired_bootstrap(
            *scores,
            level,
            options.coefficient,
            resample=options.resample,
            n=options.resamples,
            confidence=options.confidence,
            rng=rng,
        )
        difference, low, high, p, _, undefined, missing = drawn
    return {
        "difference": difference,
        "low": low,
        "high": high,
        "p": p,
        "n": _rests_on(*scores, level, options.coefficient),
        "n_undefined": undefined,
        "n_missing": missing,
    }


def _rests_on(a: Array, b: Array, human: Array, level: Level, coefficient: Coefficient) -> int:
    trio = common(a, b, human)
    if level == "global":
        return int(np.count_nonzero(trio.present))
    if level == "system":
        return int(np.count_nonzero(np.any(trio.present, axis=1)))
    of = EVERY_COEFFICIENT[coefficient]
    with_people = [of(metric.T, trio.human.T) for metric in (trio.a, trio.b)]
    return int(np.count_nonzero(~np.isnan(with_people[0] + with_people[1])))
