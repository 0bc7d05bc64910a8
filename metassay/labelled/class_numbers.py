"""Labels of several classes beside right ones: the numbers that `metassay check` has of them.

Tests of judges with three labels and tests of segmentations have these numbers.
"""

from typing import NamedTuple

import numpy as np

from metassay.statistics.label_rows import LabelRows
from metassay.statistics.nominal_labels import AGREEMENT, nominal_card
from metassay.statistics.shares import Estimate

# The share of labels that equal the right one; beside people it is called agreement.
ACCURACY = "accuracy"
# Numbers of all rows, as tables have them in this order.
OF_ALL = (
    ACCURACY,
    "balanced_accuracy",
    "macro_f1",
    "weighted_f1",
    "cohen_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "majority_baseline",
)
OF_CLASS = ("precision", "recall", "f1")


class ClassNumbers(NamedTuple):
    """Numbers with intervals, by name: of all rows, and of each class."""

    of_all: dict[str, Estimate]
    of_class: list[dict[str, Estimate]]


def class_numbers(
    rows: LabelRows, *, confidence: float, rng: np.random.Generator
) -> ClassNumbers:
    """Return OF_ALL, and OF_CLASS of each class, of labels beside the right ones.

    More is better, but for majority_baseline: the accuracy of giving every row the
    commonest right label. 0 to 1; kappa, AC1 and alpha from -1. NaN where undefined.
    """
    card = nominal_card(rows, confidence=confidence, rng=rng)
    numbers = {ACCURACY: card.numbers[AGREEMENT], **card.numbers}
    return ClassNumbers(
        of_all={name: numbers[name] for name in OF_ALL},
        of_class=[{name: of[name] for name in OF_CLASS} for of in card.classes],
    )
