"""Does a judge's card that was made on some texts hold on others?

A card's rate (sensitivity, or specificity) on new texts is compared with the rate on
the card, with a margin declared before the look. Source of the interval of a
difference: Newcombe 1998, Interval estimation for the difference between independent
proportions, method 10, with the ends of Jeffreys' intervals.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy import special

from metassay.statistics.exact_sums import Array
from metassay.statistics.label_weights import label_weights
from metassay.statistics.shares import STEPS, Estimate, jeffreys
from metassay.statistics.weighted_cards import weighted_card

HOLDS, WORSE = "holds", "worse"
CANNOT_TELL, NOT_CHECKED = "cannot tell", "not checked"

MARGIN = 0.1
FEWEST = 5  # labels of a class, below which nothing is told
POWER = 0.8  # the chance of `holds` for which labels are counted, where nothing changed
MOST = 100_000  # labels; nobody takes more
LEAST_SIZE, MOST_SIZE = 1e-3, 1e9  # between which the size behind an interval lies


class Transfer(NamedTuple):
    """How a rate on new texts stands to that of the card.

    `difference`: new less old, with the 95 % interval `low` to `high` (for one test).
    `labels`: how many labels of the class, in all, would show `holds` with a chance of
    80 % if the rate is that of the card; NaN if no number would, as the card itself
    rests on too few.
    """

    difference: float
    low: float
    high: float
    outcome: str
    labels: float


def transfer(
    card: Estimate,
    new: Estimate,
    *,
    margin: float,
    n_tests: int = 1,
    level: float = 0.05,
) -> Transfer:
    """Tell whether a rate of the card holds on new texts.

    Parameters
    ----------
    card, new : Estimate
        The rate of the card and that on the new texts, of which no text is on the card.
        Only their value, `n` and `n_effective` are used; where labels were weighted,
        `size_of_interval` has the size that their interval rests on.
    margin : float
        By how much the new rate may be lower: chosen before anybody looks.
    n_tests : int
        How many rates of one kind are looked at, such as one for each system: `level`
        is divided by it.
    level : float
        The chance of a wrong `holds` for a rate that is lower by the margin, and of a
        wrong `worse`, over all tests.

    Returns
    -------
    Transfer
        `holds`: the one-sided lower end of the difference is above -margin; `worse`: the
        upper end of its two-sided interval is below -margin; `cannot tell` in between,
        or with fewer than 5 labels on either side; `not checked` without labels.

    Notes
    -----
    Simulated error rates: docs/calibration.md.

    Examples
    --------
    >>> card = Estimate(0.90, 0.83, 0.95, 100, 100.0)
    >>> transfer(card, Estimate(0.91, 0.87, 0.94, 250, 250.0), margin=0.1).outcome
    'holds'
    >>> transfer(card, Estimate(0.62, 0.52, 0.71, 100, 100.0), margin=0.1).outcome
    'worse'
    >>> transfer(card, Estimate(0.85, 0.64, 0.95, 20, 20.0), margin=0.1).outcome
    'cannot tell'
    """
    labels = labels_to_hold(card, margin=margin, level=level / n_tests)
    if not new.n:
        return Transfer(math.nan, math.nan, math.nan, NOT_CHECKED, labels)
    if math.isfinite(labels):
        # Texts of a document go together: so many more of them are needed.
        labels = math.ceil(labels * new.n / new.n_effective)
    if math.isnan(new.value):
        return Transfer(math.nan, math.nan, math.nan, CANNOT_TELL, labels)
    difference = new.value - card.value
    low, high = difference_interval(card, new, confidence=1 - level / n_tests)
    least, _ = difference_interval(card, new, confidence=1 - 2 * level / n_tests)
    outcome = CANNOT_TELL
    if min(card.n, new.n) >= FEWEST and least > -margin:
        outcome = HOLDS
    if min(card.n, new.n) >= FEWEST and high < -margin:
        outcome = WORSE
    return Transfer(difference, low, high, outcome, labels)


def difference_interval(
    old: Estimate, new: Estimate, *, confidence: float
) -> tuple[float, float]:
    """Return the ends of the interval of `new` less `old`, two shares of different texts."""
    old_low, old_high = _ends(old, confidence)
    new_low, new_high = _ends(new, confidence)
    difference = new.value - old.value
    low = difference - math.hypot(new.value - new_low, old_high - old.value)
    high = difference + math.hypot(new_high - new.value, old.value - old_low)
    return low, high


def size_of_interval(rate: Estimate, *, confidence: float) -> float:
    """Return how many independent labels have a Jeffreys' interval as wide as that of `rate`.

    The smaller number, if the two sides differ, as those of a weighted rate do: its
    interval combines several shares, and is wider than `n_effective` labels would make
    it. `confidence` is that of the interval. NaN for an undefined rate.

    >>> low, high = jeffreys(18, 20, confidence=0.95)
    >>> rate = Estimate(0.9, low, high, 25, 20.0)
    >>> round(size_of_interval(rate, confidence=0.95), 6)
    20.0
    """
    if math.isnan(rate.low) or math.isnan(rate.high):
        return math.nan
    few, many = LEAST_SIZE, MOST_SIZE
    for _ in range(STEPS):
        middle = math.sqrt(few * many)
        if _is_as_wide(middle, rate, confidence):
            few = middle
        else:
            many = middle
    return few


def _is_as_wide(n: float, rate: Estimate, confidence: float) -> bool:
    """Return whether n independent labels have an interval that holds that of `rate`."""
    low, high = jeffreys(rate.value * n, n, confidence=confidence)
    # An end that was cut off at 0 or 1 says nothing of the width.
    reaches_low = low <= rate.low or (rate.low <= 0.0 and rate.high < 1.0)
    reaches_high = high >= rate.high or (rate.high >= 1.0 and rate.low > 0.0)
    return reaches_low and reaches_high


def labels_to_hold(card: Estimate, *, margin: float, level: float) -> float:
    """Count the labels of a class, of independent texts, that show `holds` in 80 %.

    It is supposed that nothing changed: the true rate is that on the card, and the new
    rate lies as low as in one of five samples. NaN if no number is enough.
    """
    if not holds_with(MOST, card, margin=margin, level=level):
        return math.nan
    too_few = FEWEST - 1
    enough = MOST
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if holds_with(middle, card, margin=margin, level=level):
            enough = middle
        else:
            too_few = middle
    return enough


def labels_by_verdict(
    verdict: Array, card: Mapping[str, Estimate], *, margin: float, level: float = 0.05
) -> int:
    """Count the labels of each verdict that show `holds` in 80 % where nothing changed.

    Parameters
    ----------
    verdict : array (rows,)
        1 or 0: the verdicts on the new texts, of which as many are labelled that the
        judge passes as that it fails, or all if there are fewer.
    card : mapping
        The card's sensitivity and specificity.
    margin, level : float
        As `transfer` takes them.

    Returns
    -------
    int
        Labels of each verdict; the larger number of rows of a verdict if that is not
        enough.
    """
    few = FEWEST - 1
    enough = int(max((verdict == side).sum() for side in (0, 1)))
    while enough - few > 1:
        middle = (few + enough) // 2
        if _hold_with(middle, verdict, card, margin=margin, level=level):
            enough = middle
        else:
            few = middle
    return enough


def _hold_with(
    n: int, verdict: Array, card: Mapping[str, Estimate], *, margin: float, level: float
) -> bool:
    """Return whether both rates are shown to hold with n labels of each verdict."""
    here = expected_card(n, verdict, card)
    for name, rate in card.items():
        size = size_of_interval(here[name], confidence=1 - level)
        if math.isnan(size) or not holds_with(size, rate, margin=margin, level=level):
            return False
    return True


def expected_card(
    n: int, verdict: Array, card: Mapping[str, Estimate]
) -> dict[str, Estimate]:
    """Return the card of n labels of each verdict, if the judge is as on `card`."""
    sensitivity, specificity = card["sensitivity"].value, card["specificity"].value
    judged = float(verdict.mean())
    gain = max(sensitivity + specificity - 1, 0.01)
    passed = min(max((judged - (1 - specificity)) / gain, 0.02), 0.98)
    right = passed * sensitivity
    wrong = (1 - passed) * (1 - specificity)
    missed = passed * (1 - sensitivity)
    people = np.full(len(verdict), np.nan)
    for side, share in (
        (1, right / (right + wrong)),
        (0, missed / (missed + (1 - passed) * specificity)),
    ):
        rows = np.flatnonzero(verdict == side)[:n]
        people[rows] = np.arange(len(rows)) < round(share * len(rows))
    weight = label_weights(np.isfinite(people), verdict)
    return weighted_card(
        verdict, people, weight, np.arange(len(verdict)), confidence=0.95
    )


def holds_with(n: float, card: Estimate, *, margin: float, level: float) -> bool:
    """Return whether `n` labels show `holds` where luck is as bad as in one of five samples."""
    spread = math.sqrt(card.value * (1 - card.value) / n)
    unlucky = card.value + float(special.ndtri(1 - POWER)) * spread
    new = Estimate(max(unlucky, 0.0), math.nan, math.nan, int(n), n)
    low, _ = difference_interval(card, new, confidence=1 - 2 * level)
    return low > -margin


def _ends(rate: Estimate, confidence: float) -> tuple[float, float]:
    hits = rate.value * rate.n_effective
    return jeffreys(hits, rate.n_effective, confidence=confidence)
