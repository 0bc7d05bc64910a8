"""Labels beside right ones: accuracy, precision, recall and F1 by label, of tables of counts.

A table (..., labels, labels) counts texts by their right label (rows) and the label that they were
given (columns). Every number is of the last two axes, so that a thousand resampled tables take one
call. All but kappa are 0 to 1, and more is better unless said. NaN where a number is undefined.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.arithmetic import Array
from metassay.statistics.posterior import quotient
from metassay.statistics.resampling import draw


def tables(
    right: ArrayLike, said: ArrayLike, document: ArrayLike, *, labels: int, documents: int
) -> Array:
    """One table per document: (documents, labels, labels), of codes 0 to `labels` - 1, (n,) each.

    `document` (n,): which document a text is of, 0 to `documents` - 1; some may have none.
    """
    x, y, of = (np.asarray(values, dtype=np.intp) for values in (right, said, document))
    counts = np.zeros((documents, labels, labels))
    np.add.at(counts, (of, x, y), 1.0)
    return counts


def resampled(counts: Array, *, n: int, rng: np.random.Generator) -> Array:
    """The sums of n resamples of whole documents, with replacement: (n, ...) of (documents, ...).

    Sentences of a document are alike, so that other documents, not other sentences, are drawn.
    """
    drawn = draw((1, len(counts)), resample="documents", n=n, rng=rng).documents
    # Whole numbers below 2**53: exact in any order.
    sums: Array = drawn.astype(np.float64) @ counts.reshape(len(counts), -1)
    return sums.reshape(n, *counts.shape[1:])


def ends(values: Array, value: float, *, confidence: float) -> tuple[float, float]:
    """Equal tails of resampled values (n,), let out to hold `value`; NaN where it or all are."""
    known = values[np.isfinite(values)]
    if np.isnan(value) or not known.size:
        return np.nan, np.nan
    low, high = np.quantile(known, ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0))
    return min(float(low), value), max(float(high), value)


def support(table: Array) -> Array:
    """How many texts have each label: (..., labels)."""
    made: Array = table.sum(axis=-1)
    return made


def precision(table: Array) -> Array:
    """Share of the texts given a label that have it; NaN for a label never given."""
    return quotient(_hits(table), table.sum(axis=-2))


def recall(table: Array) -> Array:
    """Share of the texts with a label that are given it; NaN for a label that no text has."""
    return quotient(_hits(table), support(table))


def f1(table: Array) -> Array:
    """2 hits / (texts with the label + texts given it), by label; NaN where nobody uses it.

    0 for a label that texts have and that is never given, whose precision is undefined. Source: van
    Rijsbergen 1979, Information Retrieval.
    """
    return quotient(2.0 * _hits(table), support(table) + table.sum(axis=-2))


def accuracy(table: Array) -> Array:
    """Share of the texts that are given their label."""
    return quotient(_hits(table).sum(axis=-1), table.sum(axis=(-1, -2)))


def macro_f1(table: Array) -> Array:
    """The mean F1 of the labels that some text has: each label counts the same.

    A label that is given although no text has it is not among them; it costs the recall of others.
    """
    there = support(table) > 0
    return quotient(np.where(there, f1(table), 0.0).sum(axis=-1), there.sum(axis=-1))


def weighted_f1(table: Array) -> Array:
    """The mean F1 of the labels, each as often as texts have it."""
    worth = support(table)
    return quotient(np.where(worth > 0, f1(table) * worth, 0.0).sum(axis=-1), worth.sum(axis=-1))


def cohen_kappa(table: Array) -> Array:
    """Agreement beyond chance, -1 to 1; NaN where chance agrees on all. Source: Cohen 1960."""
    total = table.sum(axis=(-1, -2))
    by_chance = quotient((support(table) * table.sum(axis=-2)).sum(axis=-1), total * total)
    return quotient(accuracy(table) - by_chance, 1.0 - by_chance)


def majority_guess(table: Array) -> Array:
    """The accuracy of giving every text the label that most texts have."""
    return quotient(support(table).max(axis=-1), table.sum(axis=(-1, -2)))


def failed(table: Array, missing: ArrayLike) -> Array:
    """Share of the texts that were given no label; `missing` (...) is how many, not in the table.

    Less is better.
    """
    return quotient(np.asarray(missing), table.sum(axis=(-1, -2)) + missing)


def accuracy_at_least(table: Array, missing: ArrayLike) -> Array:
    """Accuracy if every label that is missing were wrong."""
    return quotient(_hits(table).sum(axis=-1), table.sum(axis=(-1, -2)) + missing)


def accuracy_at_most(table: Array, missing: ArrayLike) -> Array:
    """Accuracy if every label that is missing were right."""
    return quotient(_hits(table).sum(axis=-1) + missing, table.sum(axis=(-1, -2)) + missing)


OF_ALL: dict[str, Callable[[Array], Array]] = {
    "accuracy": accuracy,
    "macro_f1": macro_f1,
    "weighted_f1": weighted_f1,
    "cohen_kappa": cohen_kappa,
    "majority_guess": majority_guess,
}
OF_LABEL: dict[str, Callable[[Array], Array]] = {"precision": precision, "recall": recall, "f1": f1}


def _hits(table: Array) -> Array:
    made: Array = np.diagonal(table, axis1=-2, axis2=-1)
    return made
