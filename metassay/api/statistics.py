"""Single statistics over arrays, with the defaults that the reports use."""

from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics import agreement as raters
from metassay.statistics import correlation, significance
from metassay.statistics.agreement import Agreement, Distance, Scale
from metassay.statistics.correlation import Coefficient, Correlation, Level
from metassay.statistics.resampling import Resample
from metassay.statistics.significance import Alternative, PermutationTest

AgreementCoefficient = Literal["krippendorff_alpha", "cohen_kappa", "percent"]


def correlate(
    metric: ArrayLike,
    human: ArrayLike,
    *,
    level: Level = "system",
    coefficient: Coefficient = "kendall",
) -> Correlation:
    """Correlate a metric's scores with people's.

    Parameters
    ----------
    metric : array_like, shape (systems, documents)
        `metric[k, d]` is the score of what system k wrote for document d. NaN is
        missing.
    human : array_like, shape (systems, documents)
        People's scores of the same texts.
    level : {"system", "document", "global"}
        "system": across systems, between each system's means over the documents where
        it has both scores. "document": across systems within a document, then the mean
        over the documents for which the coefficient is defined. "global": across all
        texts.
    coefficient : {"kendall", "pearson", "spearman", "kendall_c"}
        "kendall" is tau-b, "kendall_c" is Stuart's tau-c.

    Returns
    -------
    Correlation
        A named tuple: `value` (-1 to 1 with its true sign; NaN where undefined, never
        0), `n` (the number of items, documents or systems behind it), `n_undefined`
        (documents without a coefficient) and `n_missing` (texts with only one of the
        two scores).

    Raises
    ------
    ValueError
        If the arrays are not two-dimensional or differ in shape, or a name is unknown.

    Notes
    -----
    There is no p-value: texts share documents and systems. `meta_eval` gives intervals and tests.
    Source: Deutsch et al. 2021, A Statistical Analysis of Summarization Evaluation Metrics Using
    Resampling Methods, section 2.

    Examples
    --------
    >>> import metassay
    >>> metassay.correlate([[1, 2], [3, 4], [5, 7]], [[1, 1], [2, 2], [2, 3]]).value
    1.0
    """
    _check(level=(level, Level), coefficient=(coefficient, Coefficient))
    return correlation.correlate(metric, human, level, coefficient)


def permutation_test(  # noqa: PLR0913 - the data, the question, the draws
    a: ArrayLike,
    b: ArrayLike,
    human: ArrayLike,
    *,
    level: Level = "system",
    coefficient: Coefficient = "kendall",
    resample: Resample = "both",
    permutations: int = 1000,
    alternative: Alternative = "two-sided",
    seed: int = 0,
) -> PermutationTest:
    """Test whether one metric correlates better with people than another.

    Parameters
    ----------
    a, b : array_like, shape (systems, documents)
        The scores of the two metrics; NaN is missing. Negate a metric of which less is
        better.
    human : array_like, shape (systems, documents)
        People's scores of the same texts.
    level, coefficient
        As in `correlate`.
    resample : {"both", "systems", "documents"}
        Units in which a permutation swaps the two metrics' standardized scores. "both"
        generalizes to other systems and documents, "documents" to other documents of
        these systems.
    permutations : int
        The number of random permutations.
    alternative : {"two-sided", "greater", "less"}
        "greater": the correlation of `a` is larger.
    seed : int
        Seed of the random generator: equal input gives equal numbers.

    Returns
    -------
    PermutationTest
        A named tuple: `difference` (the correlation of `a` minus that of `b`, on texts
        with all three scores), `p` (never 0, as the data count as one permutation; NaN
        where undefined), `n` (texts with all three), `n_undefined` (permutations
        without a difference) and `n_missing` (texts with only some of the three).

    Raises
    ------
    ValueError
        If the arrays are not two-dimensional or differ in shape, or a name is unknown.

    Notes
    -----
    Source: Deutsch et al. 2021, A Statistical Analysis of Summarization Evaluation Metrics Using
    Resampling Methods (PERM-SYS, PERM-INPUT, PERM-BOTH); Phipson and Smyth 2010 for p.
    """
    _check(level=(level, Level), coefficient=(coefficient, Coefficient))
    _check(resample=(resample, Resample), alternative=(alternative, Alternative))
    return significance.permutation_test(
        a,
        b,
        human,
        level,
        coefficient,
        resample=resample,
        n=permutations,
        rng=np.random.default_rng(seed),
        alternative=alternative,
    )


def agreement(
    ratings: ArrayLike,
    *,
    coefficient: AgreementCoefficient = "krippendorff_alpha",
    scale: Scale = "interval",
    weights: Distance = "none",
) -> Agreement:
    """Measure the agreement of raters.

    Parameters
    ----------
    ratings : array_like, shape (raters, items)
        Ratings as numbers, NaN where a rater did not rate an item.
    coefficient : {"krippendorff_alpha", "cohen_kappa", "percent"}
        "krippendorff_alpha" takes any number of raters, the others take two. "percent"
        is the share of items with the same rating.
    scale : {"interval", "ordinal", "nominal"}
        The distance between two ratings, for Krippendorff's alpha.
    weights : {"none", "linear", "quadratic"}
        The distance between two ratings, for Cohen's kappa.

    Returns
    -------
    Agreement
        A named tuple: `value` (1 is perfect agreement, 0 agreement by chance, except
        for "percent"; NaN where undefined, as if all ratings are equal), `n` (items
        with two ratings or more) and `n_missing` (items with a single rating).

    Raises
    ------
    ValueError
        If the array is not two-dimensional, or does not have two raters where two are
        needed, or a name is unknown.

    Notes
    -----
    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability; Cohen 1960, A coefficient
    of agreement for nominal scales; Cohen 1968, Weighted kappa.

    Examples
    --------
    >>> import metassay
    >>> metassay.agreement([[1, 2, 3], [1, 2, 3]]).value
    1.0
    """
    _check(coefficient=(coefficient, AgreementCoefficient))
    _check(scale=(scale, Scale), weights=(weights, Distance))
    if coefficient == "krippendorff_alpha":
        return raters.agreement(
            ratings, partial(raters.krippendorff_alpha, scale=scale)
        )
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or len(table) != 2:
        raise ValueError(
            f"{coefficient} needs ratings of two raters (2, items), got {table.shape}"
        )
    if coefficient == "cohen_kappa":
        return raters.agreement(table, partial(raters.cohen_kappa, distance=weights))
    return raters.agreement(table, raters.share_within)


def _check(**arguments: tuple[Any, Any]) -> None:
    """Raise ValueError unless each argument is one of its literals."""
    for name, (value, known) in arguments.items():
        if value not in get_args(known):
            raise ValueError(
                f"{name}={value!r} is not known; choose from {list(get_args(known))}"
            )
