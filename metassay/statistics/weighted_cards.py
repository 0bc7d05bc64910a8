"""A judge's card where only a part of the rows is labelled: labels weighted by rows.

Everything rests on three shares: of the rows that the judge passes (of all rows), and of
the rows that people pass among those that the judge passes, and among those that it
fails (of the labelled rows, weighted by `label_weights`). Each number of the card is a
function of these three, and so are the pass rates: value and interval make the same
assumption, that within a cell of the weights labels were not chosen.

An interval combines those of the shares: the distance of its lower end is the root of
the summed squares of the distances by which each share alone can lower the number
(Newcombe 1998, Interval estimation for the difference between independent proportions;
Zou and Donner 2008, Construction of confidence limits about effect measures). Simulated
coverage: tests/calibration/rates.md.
"""

from typing import NamedTuple

import numpy as np

from metassay.statistics.classification import AC1, COEFFICIENTS, SHARES
from metassay.statistics.exact_sums import Array, quotient
from metassay.statistics.shares import (
    UNDEFINED,
    Clusters,
    Coefficient,
    Estimate,
    Tables,
    cells,
    weighted_share,
)

# Labels of a verdict's rows below which nothing that rests on them is told.
ENOUGH = 5
PASS_RATE = "pass_rate"


def _share_of_cells(hits: tuple[int, ...], base: tuple[int, ...]) -> Coefficient:
    def share(table: Tables) -> Tables:
        top = table[..., list(hits)].sum(axis=-1)
        return quotient(top, table[..., list(base)].sum(axis=-1))

    return share


def _balanced_accuracy(table: Tables) -> Tables:
    return (_OF_CARD["sensitivity"](table) + _OF_CARD["specificity"](table)) / 2.0


_OF_CARD: dict[str, Coefficient] = {
    **{name: _share_of_cells(*cells) for name, cells in SHARES.items()},
    "balanced_accuracy": _balanced_accuracy,
    **COEFFICIENTS,
    PASS_RATE: lambda table: table[..., 0] + table[..., 2],
}
_SIGNED = ("cohen_kappa", "mcc", AC1)  # from -1; all others from 0


class VerdictShares(NamedTuple):
    """The three shares that a card rests on."""

    judge: Estimate  # of rows that the judge passes, of all rows
    # Of rows that people pass: of those that the judge passes, and of those it fails.
    passed: Estimate
    failed: Estimate

    def ends(self) -> Array:
        """Return tables (7, 4): the shares' values, then each share at each of its ends."""
        values = [share.value for share in self]
        points = [values]
        for place, share in enumerate(self):
            for end in (share.low, share.high):
                points.append([*values[:place], end, *values[place + 1 :]])
        q, a, c = np.array(points, dtype=np.float64).T
        cells = (q * a, q * (1.0 - a), (1.0 - q) * c, (1.0 - q) * (1.0 - c))
        return np.stack(cells, axis=-1)


def verdict_shares(
    verdict: Array,
    people: Array,
    weight: Array,
    cluster: Clusters,
    *,
    confidence: float,
) -> VerdictShares:
    """Return the shares of a judge's verdicts and of people's labels, all arrays (rows,).

    `verdict` and `people` are 1 or 0, `people` NaN without a label; `weight` is from
    `label_weights`. A verdict with fewer than ENOUGH labels has an undefined share,
    unless all its rows are labelled; `labels_lacking` counts what is missing.
    """
    rows = np.ones(verdict.size)
    judge = weighted_share(verdict, rows, cluster, confidence=confidence)
    by_verdict = []
    for side in (1.0, 0.0):
        has_label = (verdict == side) & np.isfinite(people)
        if not (verdict == side).any():
            # A verdict that was never given: people may pass any share of its rows.
            by_verdict.append(Estimate(0.5, 0.0, 1.0, 0, 0.0))
        elif labels_lacking(verdict, people, side):
            n = int(np.count_nonzero(has_label))
            by_verdict.append(Estimate(*UNDEFINED, n, 0.0))
        else:
            labels = people[has_label], weight[has_label], cluster[has_label]
            of_side = weighted_share(*labels, confidence=confidence)
            if np.isnan(of_side.low):
                # One document, whose rows may be alike: the next may be all otherwise.
                of_side = of_side._replace(low=0.0, high=1.0)
            by_verdict.append(of_side)
    return VerdictShares(judge, *by_verdict)


def labels_lacking(verdict: Array, people: Array, side: float) -> int:
    """Return how many more labels the rows of a verdict need for the card; 0 if enough."""
    of_side = verdict == side
    n_labels = int(np.count_nonzero(of_side & np.isfinite(people)))
    return max(min(ENOUGH, int(np.count_nonzero(of_side))) - n_labels, 0)


def weighted_card(
    verdict: Array,
    people: Array,
    weight: Array,
    cluster: Clusters,
    *,
    confidence: float,
) -> dict[str, Estimate]:
    """Return the numbers of a card and the pass rate, all arrays as in `verdict_shares`.

    By name: sensitivity, specificity, precision, negative_predictive_value, agreement,
    balanced_accuracy, agreement_by_chance, cohen_kappa, mcc, f1, gwet_ac1, pass_rate.
    Values are those of all rows, estimated; NaN where a number rests on a verdict with
    too few labels, or is undefined. `n` counts labels as the unweighted card does (of
    sensitivity those that pass); `n_effective` is what the labels are worth that the
    interval rests on.

    Examples
    --------
    A judge passes 80 of 100 rows. Of 20 labelled ones of these people pass 18; of the 20
    that it fails, all labelled, they pass 5. So people pass .8 * .9 + .2 * .25 = .77 of
    all rows, of which the judge passes .72: its sensitivity is .72 / .77.

    >>> import numpy as np
    >>> from metassay.statistics.label_weights import label_weights
    >>> verdict = np.repeat([1.0, 0.0], [80, 20])
    >>> people = np.full(100, np.nan)
    >>> people[:20] = np.repeat([1.0, 0.0], [18, 2])
    >>> people[80:] = np.repeat([1.0, 0.0], [5, 15])
    >>> weight = label_weights(np.isfinite(people), verdict)
    >>> rows = np.arange(100)
    >>> card = weighted_card(verdict, people, weight, rows, confidence=0.95)
    >>> round(card["pass_rate"].value, 4), round(card["sensitivity"].value, 4)
    (0.77, 0.9351)
    """
    shares = verdict_shares(verdict, people, weight, cluster, confidence=confidence)
    tables = shares.ends()
    has_label = np.isfinite(people)
    counts = np.bincount(cells(verdict[has_label], people[has_label]), minlength=4)
    worth = {
        "precision": shares.passed.n_effective,
        "negative_predictive_value": shares.failed.n_effective,
    }
    # Labels of both verdicts: so much each is worth.
    of_both = shares.passed.n_effective + shares.failed.n_effective
    each = of_both / max(int(counts.sum()), 1)
    estimates = {}
    for name, number in _OF_CARD.items():
        value, low, high = _square_and_add(np.asarray(number(tables), np.float64))
        lowest = -1.0 if name in _SIGNED else 0.0
        _, base = SHARES.get(name, ((), range(4)))
        n = int(counts[list(base)].sum())
        estimates[name] = Estimate(
            value=value,
            low=max(low, lowest) if np.isfinite(low) else np.nan,
            high=min(high, 1.0) if np.isfinite(high) else np.nan,
            n=n,
            n_effective=worth.get(name, each * n),
        )
    return estimates


def constant_card(rate: float) -> dict[str, float]:
    """Return the numbers of a judge that gives every row the commoner label, by name.

    `rate`: the share of rows that people pass.
    """
    table = (
        [rate, 1.0 - rate, 0.0, 0.0] if rate >= 0.5 else [0.0, 0.0, rate, 1.0 - rate]
    )
    tables = np.array([table], dtype=np.float64)
    return {name: float(number(tables)[0]) for name, number in _OF_CARD.items()}


def _square_and_add(numbers: Array) -> tuple[float, float, float]:
    """Combine a number at the shares' values and at each end (7,): value, low, high."""
    value = float(numbers[0])
    if np.isnan(value):
        return UNDEFINED
    # A share's end at which the number is undefined moves it nowhere.
    moves = np.nan_to_num(numbers[1:].reshape(-1, 2) - value)
    down = np.minimum(moves.min(axis=1), 0.0)
    up = np.maximum(moves.max(axis=1), 0.0)
    low = value - float(np.sqrt(np.sum(down**2)))
    return value, low, value + float(np.sqrt(np.sum(up**2)))
