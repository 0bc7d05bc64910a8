"""Labels of several values: a judge's beside people's, and numbers of their table.

Every number is a function of one table: how often people say one thing and the judge
another. `label_estimate` computes such a function with an interval, also where only
some of the rows are labelled: then each label stands for the rows with its verdict
(`label_weights`), and the table is the judge's share of each verdict, of all rows,
times the shares of people's labels among the labelled rows with this verdict.

A judge's verdicts are codes 0 to `n_judge` - 1. People's labels are codes 0 to
`n_people` - 1, -1 for a row without a label. The two need not be the same codes: a row
between two grades has a code of its own (`ordinal_labels`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.exact_sums import Array, Index, Mask
from metassay.statistics.label_weights import label_weights
from metassay.statistics.shares import (
    DRAWS,
    FEW_CLUSTERS,
    UNDEFINED,
    Clusters,
    Coefficient,
    Estimate,
    effective_size,
    ends,
    kish_size,
    posterior_estimate,
    share,
    weighted_share,
)
from metassay.statistics.weighted_cards import ENOUGH

# Texts that are added to a drawn table, over all of its cells.
PRIOR = 1.3
# The same for the labels of one verdict, where only some rows are labelled. With one, the
# intervals of a judge that is hardly ever wrong lay too low: 70 % of those of quadratic
# kappa held it, 87 % of those of agreement on five classes (tests/calibration/label_kinds).
PRIOR_OF_VERDICT = 0.5


class LabelRows(NamedTuple):
    """The rows that a judge has a verdict on."""

    judge: Index  # (rows,) codes
    people: Index  # (rows,) codes; -1 without a label
    weight: Array  # (rows,) how many rows each label stands for; 0 without a label
    cluster: Clusters  # (rows,) rows with equal numbers are alike
    n_judge: int  # codes of the judge
    n_people: int  # codes of people

    @property
    def labelled(self) -> Mask:
        """Return which rows have a label (rows,)."""
        return np.asarray(self.people >= 0)

    @property
    def is_whole(self) -> bool:
        """Return whether all rows have a label."""
        return bool(self.labelled.all())

    @property
    def cell(self) -> Index:
        """Return the cell of each labelled row: people's code times `n_judge`, and the judge's."""
        rows = self.labelled
        return np.asarray(self.people[rows] * self.n_judge + self.judge[rows])

    def table(self) -> Array:
        """Return the shares of all rows (n_people, n_judge), estimated; NaN without labels."""
        verdicts = np.bincount(self.judge, minlength=self.n_judge)
        counts = self._weighted_counts()
        by_verdict = counts.sum(axis=0)
        with np.errstate(invalid="ignore"):
            shares = np.where(by_verdict > 0, counts / by_verdict, np.nan)
        # A verdict that the judge never gives has no part in the table.
        shares[:, verdicts == 0] = 0.0
        return np.asarray(shares * verdicts / max(self.judge.size, 1))

    def _weighted_counts(self) -> Array:
        counts = np.zeros(self.n_people * self.n_judge)
        np.add.at(counts, self.cell, self.weight[self.labelled])
        return counts.reshape(self.n_people, self.n_judge)

    def lacking(self) -> dict[int, int]:
        """Return how many labels each verdict lacks for its numbers, by code, if any.

        A verdict needs 5 labels, or all of its rows if it has fewer.
        """
        verdicts = np.bincount(self.judge, minlength=self.n_judge)
        labels = np.bincount(self.judge[self.labelled], minlength=self.n_judge)
        missing = np.minimum(verdicts, ENOUGH) - labels
        return {code: int(n) for code, n in enumerate(missing) if n > 0}

    def worth_at_most(self) -> float:
        """Bound the effective number of labels, as `shares.worth_at_most` does for two labels.

        The number of clusters where fewer than 5 of them have any but the commonest
        label: then the data cannot show whether rows of a cluster are alike.
        """
        rows = self.labelled
        labels, cluster = self.people[rows], self.cluster[rows]
        n = np.unique(cluster).size
        if not labels.size or n == labels.size:
            return np.inf
        commonest = int(np.argmax(np.bincount(labels)))
        with_others = np.unique(cluster[labels != commonest]).size
        return float(n) if with_others < FEW_CLUSTERS else np.inf


def weigh_rows(judge: Index, people: Index, factors: Sequence[ArrayLike]) -> Array:
    """Return how many rows each label stands for (rows,), by its verdict and each factor.

    `judge`, `people` (rows,) as in `LabelRows`; a factor (rows,) is what labels may have
    been chosen by beside the verdict, such as systems, the most likely one last.
    """
    labelled = people >= 0
    if labelled.all() or not labelled.any():
        return labelled.astype(np.float64)
    verdict = judge.astype(str)
    cells = [
        np.array(
            [f"{code}|{value}" for code, value in zip(verdict, factor, strict=True)]
        )
        for factor in map(np.asarray, factors)
    ]
    return label_weights(labelled, np.zeros(judge.size), [verdict, *cells])


def label_estimate(
    coefficient: Coefficient,
    rows: LabelRows,
    *,
    confidence: float,
    rng: np.random.Generator,
    prior: float = PRIOR_OF_VERDICT,
) -> Estimate:
    """Compute a coefficient of the table of people and judge, with an interval.

    `coefficient` takes tables (..., n_people * n_judge) of counts or shares and returns
    numbers (...). The interval: equal tails of tables drawn from their posterior, with
    as many texts as the rows are worth by cluster. NaN where the coefficient is
    undefined, and where a verdict has too few labels. `prior`: the labels that are added
    to those of each verdict, where only some rows are labelled.
    """
    n = int(np.count_nonzero(rows.labelled))
    if not n or rows.lacking():
        return Estimate(*UNDEFINED, n, float(n))
    if rows.is_whole:
        cells = rows.n_people * rows.n_judge
        return posterior_estimate(
            coefficient,
            rows.cell,
            rows.cluster,
            cells=cells,
            prior=PRIOR / cells,
            confidence=confidence,
            rng=rng,
            most=rows.worth_at_most(),
        )
    return _weighted_estimate(coefficient, rows, confidence, rng, prior)


def _weighted_estimate(
    coefficient: Coefficient,
    rows: LabelRows,
    confidence: float,
    rng: np.random.Generator,
    prior: float,
) -> Estimate:
    """Estimate from labels that stand for several rows; arguments as in `label_estimate`."""
    table = rows.table()
    flat = table.reshape(-1)
    value = float(coefficient(flat))
    n = int(np.count_nonzero(rows.labelled))
    if np.isnan(value):
        return Estimate(*UNDEFINED, n, float(n))
    gradient = np.imag(coefficient(flat + 1e-30j * np.eye(flat.size))) / 1e-30
    influence = _influence(rows, table, gradient.reshape(table.shape))
    worth = effective_size(influence, rows.cluster, confidence=confidence)
    ratio = min(worth / rows.judge.size, rows.worth_at_most() / n)
    verdicts = np.bincount(rows.judge, minlength=rows.n_judge).astype(np.float64)
    drawn = np.zeros((DRAWS, rows.n_people, rows.n_judge))
    for verdict in np.flatnonzero(verdicts):
        of_verdict = rows.labelled & (rows.judge == verdict)
        weight, cluster = rows.weight[of_verdict], rows.cluster[of_verdict]
        certain, _ = kish_size(weight, cluster)
        shares = table[:, verdict] / table[:, verdict].sum()
        counts = shares * certain * ratio + prior / rows.n_people
        labels = rng.standard_gamma(counts, size=(DRAWS, rows.n_people))
        by_judge = rng.standard_gamma(verdicts[verdict] * ratio, size=(DRAWS, 1))
        drawn[:, :, verdict] = by_judge * labels / labels.sum(axis=1, keepdims=True)
    values = coefficient(drawn.reshape(DRAWS, -1))
    return Estimate(value, *ends(values, value, confidence=confidence), n, n * ratio)


def _influence(rows: LabelRows, table: Array, gradient: Array) -> Array:
    """Return how each row (rows,) moves the number: by its verdict, and by its label."""
    by_verdict = table.sum(axis=0)
    expected = np.sum(table * gradient, axis=0) / np.where(
        by_verdict > 0, by_verdict, 1
    )
    influence = expected[rows.judge]
    influence = influence - np.mean(influence)
    has_label = rows.labelled
    verdict, label = rows.judge[has_label], rows.people[has_label]
    surprise = gradient[label, verdict] - expected[verdict]
    influence[has_label] += rows.weight[has_label] * surprise
    return np.asarray(influence)


def share_among(
    hits: Mask, among: Mask, rows: LabelRows, *, confidence: float
) -> Estimate:
    """Return the share of `hits` (rows,) of the labelled rows `among` (rows,), with its interval.

    Both must depend on the verdict alone where only some rows are labelled: shares of
    rows of one verdict are all that weights leave as they are.
    """
    chosen = among & rows.labelled
    values = hits[chosen].astype(np.float64)
    cluster, weight = rows.cluster[chosen], rows.weight[chosen]
    if rows.is_whole:
        return share(values, cluster, confidence=confidence)
    return weighted_share(values, weight, cluster, confidence=confidence)


def split_shares(rows: LabelRows, *, confidence: float) -> list[Estimate]:
    """Return the judge's share of each of its codes, of all rows, with intervals."""
    return [
        share(rows.judge == code, rows.cluster, confidence=confidence)
        for code in range(rows.n_judge)
    ]
