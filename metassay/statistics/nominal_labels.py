"""Labels without order: a judge's beside people's. Confusion, agreement, and each class.

All numbers but the judge's own shares are NaN where a verdict has too few labels.
Higher is better; 0 to 1, those corrected for chance from -1. Tables (..., classes,
classes) have people in rows and the judge in columns.
"""

from typing import NamedTuple

import numpy as np

from metassay.statistics.classification import (
    accuracy,
    cohen_kappa,
    f1,
    gwet_ac1,
    macro_f1,
    recall,
    weighted_f1,
)
from metassay.statistics.exact_sums import Array, Index, quotient
from metassay.statistics.label_rows import (
    PRIOR,
    LabelRows,
    label_estimate,
    share_among,
    split_shares,
)
from metassay.statistics.shares import (
    UNDEFINED,
    Clusters,
    Coefficient,
    Estimate,
    Tables,
    posterior_estimate,
    share,
)

AGREEMENT = "agreement"
BASELINE = "majority_baseline"


class NominalCard(NamedTuple):
    """What a judge's labels are worth beside people's."""

    numbers: dict[str, Estimate]  # by name
    # The same numbers of a judge that gives every row people's commonest label.
    base_rate: dict[str, float]
    classes: list[dict[str, Estimate]]  # by class and name
    class_base_rate: list[dict[str, float]]


def nominal_card(
    rows: LabelRows, *, confidence: float, rng: np.random.Generator
) -> NominalCard:
    """Return the numbers of a judge with labels of several classes, each with an interval.

    Of all rows: agreement, cohen_kappa, gwet_ac1, krippendorff_alpha,
    majority_baseline, balanced_accuracy, macro_f1 and weighted_f1. Of each class:
    precision, recall, f1, as_judged, corrected and people_alone, the last three being
    shares of rows. balanced_accuracy is the mean recall of the classes that people
    give, macro_f1 the mean F1 of those that either gives, weighted_f1 that of people's,
    each as often as people give it: as scikit-learn has them.

    Intervals: precision, recall and shares of completely labelled rows are Jeffreys';
    all others are of drawn tables (`label_estimate`). `corrected` is the share of the
    class if people had labelled all rows.

    Sources: Cohen 1960, A coefficient of agreement for nominal scales; Gwet 2008,
    Computing inter-rater reliability and its variance in the presence of high
    agreement; Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    n = rows.n_judge
    n_labels = int(np.count_nonzero(rows.labelled))
    table = rows.table()
    # Without a number for the whole table there is no commonest label either.
    has_table = bool(n_labels) and bool(np.isfinite(table).all())
    people = table.sum(axis=1)
    commonest = int(np.argmax(people)) if has_table else -1
    constant = np.zeros_like(table)
    if has_table:
        constant[:, commonest] = people
    numbers: dict[str, Estimate] = {}
    base_rate: dict[str, float] = {}
    for name, coefficient in coefficients(n, n_labels).items():
        numbers[name] = _estimate(name, coefficient, rows, confidence, rng)
        of_constant = float(coefficient(constant.reshape(-1))) if has_table else np.nan
        # Rounded: 0 by rounding error is 0.
        base_rate[name] = round(of_constant, 12) + 0.0
    numbers[BASELINE] = _class_share(rows, commonest, confidence, rng)
    base_rate[BASELINE] = numbers[BASELINE].value
    judged = split_shares(rows, confidence=confidence)
    classes: list[dict[str, Estimate]] = []
    of_classes = []
    for code in range(n):
        classes.append(
            {
                "precision": _precision(rows, code, confidence),
                "recall": _recall(rows, code, confidence, rng),
                "as_judged": judged[code],
                "corrected": _class_share(rows, code, confidence, rng),
                "people_alone": _people_alone(rows, code, confidence),
            }
        )
        is_commonest = code == commonest
        share_of_class = float(people[code]) if has_table else np.nan
        of_classes.append(
            {
                "precision": share_of_class if is_commonest else np.nan,
                "recall": float(is_commonest) if has_table else np.nan,
                "f1": _constant_f1(share_of_class, is_commonest),
            }
        )
    for name, coefficient in _class_means(table).items():
        numbers[name] = _estimate(name, coefficient, rows, confidence, rng)
    for name, coefficient in _class_means(constant).items():
        of_constant = float(coefficient(constant.reshape(-1))) if has_table else np.nan
        base_rate[name] = round(of_constant, 12) + 0.0
    for code, of_class in enumerate(classes):
        of_class["f1"] = _class_f1(rows, code, confidence, rng)
    return NominalCard(
        numbers=numbers,
        base_rate=base_rate,
        classes=classes,
        class_base_rate=of_classes,
    )


def coefficients(n: int, n_labels: int) -> dict[str, Coefficient]:
    """Return the numbers of a whole table (..., n * n), by name; `n_labels` rows are labelled."""

    def take_square(number: Coefficient) -> Coefficient:
        return lambda table: number(_square(table, n))

    return {
        AGREEMENT: take_square(accuracy),
        "cohen_kappa": take_square(cohen_kappa),
        "gwet_ac1": take_square(gwet_ac1),
        "krippendorff_alpha": take_square(
            lambda table: krippendorff_alpha(table, n_labels)
        ),
    }


def _class_means(table: Array) -> dict[str, Coefficient]:
    """Return the means over classes that are given in a table (classes, classes), by name."""
    n = len(table)
    by_people = table.sum(axis=1) > 0
    by_either = by_people | (table.sum(axis=0) > 0)
    return {
        "balanced_accuracy": lambda t: recall(_square(t, n))[..., by_people].mean(-1),
        "macro_f1": lambda t: macro_f1(_square(t, n), by_either),
        "weighted_f1": lambda t: weighted_f1(_square(t, n), by_people),
    }


def compare_judges(
    first: Index,
    second: Index,
    right: Index,
    cluster: Clusters,
    *,
    n: int,
    confidence: float,
    rng: np.random.Generator,
) -> dict[str, Estimate]:
    """Return by how much the first of two judges is above the second, with intervals.

    `first`, `second`, `right` (rows,): codes 0 to `n` - 1 of the rows that both labelled.
    The difference of agreement and of macro_f1, of one table of all three, so that a row
    that is hard for both favours neither. NaN without rows.
    """
    cell = (right * n + first) * n + second
    used = np.isin(np.arange(n), np.concatenate((first, second, right)))

    def less(number: Coefficient) -> Coefficient:
        def difference(table: Tables) -> Tables:
            cube = table.reshape(*table.shape[:-1], n, n, n)
            return number(cube.sum(axis=-1)) - number(cube.sum(axis=-2))

        return difference

    numbers = {AGREEMENT: accuracy, "macro_f1": lambda t: macro_f1(t, used)}
    return {
        name: posterior_estimate(
            less(number),
            cell,
            cluster,
            cells=n**3,
            prior=PRIOR / n**3,
            confidence=confidence,
            rng=rng,
        )
        for name, number in numbers.items()
    }


def krippendorff_alpha(table: Tables, n: int) -> Tables:
    """Return Krippendorff's alpha of two observers, nominal, of `n` rows; NaN for one label.

    Tables are counts or shares: `n` corrects the disagreement by chance for the size.

    >>> round(float(krippendorff_alpha(np.array([[8.0, 1.0], [1.0, 0.0]]), 10)), 6)
    -0.055556
    """
    total = table.sum(axis=(-1, -2))
    mean = (table.sum(axis=-1) + table.sum(axis=-2)) / 2.0
    p = quotient(mean, total[..., None])
    by_chance = (1.0 - (p * p).sum(axis=-1)) * (2.0 * n) / (2.0 * n - 1.0)
    ratio = quotient(1.0 - accuracy(table), by_chance)
    return np.asarray(1.0 - ratio)


# The numbers of which more is better.
MORE_IS_BETTER = (*coefficients(2, 1), *_class_means(np.eye(2)))


def _square(table: Tables, n: int) -> Tables:
    return table.reshape(*table.shape[:-1], n, n)


def _estimate(
    name: str,
    coefficient: Coefficient,
    rows: LabelRows,
    confidence: float,
    rng: np.random.Generator,
) -> Estimate:
    if name == AGREEMENT and rows.is_whole:
        hits = rows.judge == rows.people
        return share_among(hits, rows.labelled, rows, confidence=confidence)
    return label_estimate(coefficient, rows, confidence=confidence, rng=rng)


def _precision(rows: LabelRows, code: int, confidence: float) -> Estimate:
    of_verdict = rows.judge == code
    if code in rows.lacking():
        n = int(np.count_nonzero(of_verdict & rows.labelled))
        return Estimate(*UNDEFINED, n, float(n))
    return share_among(rows.people == code, of_verdict, rows, confidence=confidence)


def _recall(
    rows: LabelRows, code: int, confidence: float, rng: np.random.Generator
) -> Estimate:
    of_label = rows.people == code
    if rows.is_whole:
        return share_among(rows.judge == code, of_label, rows, confidence=confidence)

    def class_recall(table: Tables) -> Tables:
        return recall(_square(table, rows.n_judge))[..., code]

    estimate = label_estimate(class_recall, rows, confidence=confidence, rng=rng)
    return estimate._replace(n=int(np.count_nonzero(of_label)))


def _class_f1(
    rows: LabelRows, code: int, confidence: float, rng: np.random.Generator
) -> Estimate:
    def class_f1(table: Tables) -> Tables:
        return f1(_square(table, rows.n_judge))[..., code]

    estimate = label_estimate(class_f1, rows, confidence=confidence, rng=rng)
    return estimate._replace(n=int(np.count_nonzero(rows.people == code)))


def _constant_f1(share_of_class: float, is_commonest: bool) -> float:
    """Return the F1 of a class for a judge that gives every row the commonest one."""
    if not is_commonest:
        return 0.0 if share_of_class > 0 else np.nan
    return 2.0 * share_of_class / (share_of_class + 1.0)


def _class_share(
    rows: LabelRows, code: int, confidence: float, rng: np.random.Generator
) -> Estimate:
    """Return the share of all rows that people give the class, with its interval."""
    if code < 0:
        return Estimate(*UNDEFINED, 0, 0.0)
    if rows.is_whole:
        return _people_alone(rows, code, confidence)

    def class_share(table: Tables) -> Tables:
        square = _square(table, rows.n_judge)
        return quotient(square[..., code, :].sum(axis=-1), square.sum(axis=(-1, -2)))

    return label_estimate(class_share, rows, confidence=confidence, rng=rng)


def _people_alone(rows: LabelRows, code: int, confidence: float) -> Estimate:
    labelled = rows.labelled
    return share(
        rows.people[labelled] == code,
        rows.cluster[labelled],
        confidence=confidence,
        most=rows.worth_at_most(),
    )
