"""Items with labels by judges and people: what all analyses of `metassay check` are handed.

The kind of the labels decides which numbers are told (`label_tables`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.statistics.card_transfer import MARGIN
from metassay.statistics.exact_sums import Array, quotient
from metassay.statistics.raters import EPSILON
from metassay.statistics.shares import WIDTH, Clusters
from metassay.tabular.option_words import Caller

PASS_FAIL = "pass/fail"
NOMINAL = "nominal"
ORDINAL = "ordinal"
NUMBERS = "numbers"
PREFERENCES = "preferences"  # read by `preference_study`
RANKINGS = "rankings"  # read by `ranking_study`
SYSTEMS = "systems"  # scores of systems, read by `system_board`

BY = "by "  # prefix of a slice's column: its name may be that of another column
KIND = "kind of claim"  # the column of `claim_kinds`, which slices rows
PASSES = ("fail", "pass")  # the names of passes and fails, in the order of 0 and 1


class Choices(NamedTuple):
    """The caller's choices; empty columns are guessed."""

    judge: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    doc: str = ""
    system: str = ""
    rater: str = ""
    by: tuple[str, ...] = ()
    # words that are a pass; every other one is then a fail
    passes: tuple[str, ...] = ()
    pass_from: float | None = None  # the number from which on grades are a pass
    # words that are no verdict and no label, such as "unsure"
    missing: tuple[str, ...] = ()
    # words that are a label of their own: labels are then classes without order
    classes: tuple[str, ...] = ()
    # columns of ranks or scores of which less, or more, is better
    lower: tuple[str, ...] = ()
    higher: tuple[str, ...] = ()
    rows: Mapping[str, Sequence[str]] = {}  # the values by which rows count, by column
    require: Mapping[str, float] = {}  # the least lower end of numbers of the card
    card: str = ""  # the folder of a saved card that may hold for these rows
    margin: float = MARGIN  # by how much its rates may be lower here
    choose: str = ""  # the number by which the best of several judges is chosen
    epsilon: float = EPSILON
    confidence: float = 0.95
    width: float = WIDTH
    seed: int = 0
    caller: Caller = Caller.PYTHON
    claim: str = ""  # the column with the text of each claim, whose kinds are slices

    @property
    def roles(self) -> tuple[str, str, str]:
        """The columns of documents, systems and raters."""
        return self.doc, self.system, self.rater

    @property
    def recorded(self) -> dict[str, object]:
        """The choices that numbers depend on, by name."""
        return {k: v for k, v in self._asdict().items() if k != "caller"}


class Labels(NamedTuple):
    """Items with labels of one kind; NaN where there is none."""

    name: str
    kind: str  # PASS_FAIL, NOMINAL, ORDINAL, NUMBERS, PREFERENCES or RANKINGS
    # What labels are called, in order; of NUMBERS none.
    names: tuple[str, ...]
    # The values of the labels in arrays: codes of classes, grades; of NUMBERS none.
    levels: Array
    items: pd.DataFrame  # id; doc and system, if there are; BY and each column of `by`
    # (items,) each; of PASS_FAIL they may be probabilities of passing.
    judges: Mapping[str, Array]
    raters: Mapping[str, Array]
    table: Array  # (raters, items)
    n: Array  # (items,) number of raters
    cluster: Clusters  # items with equal numbers are alike
    choices: Choices
    notes: tuple[str, ...]

    @property
    def share(self) -> Array:
        """Return the share of raters who pass each item (items,), of PASS_FAIL."""
        return quotient(np.nansum(self.table, axis=0), self.n)

    @property
    def passed(self) -> Array:
        """Return 1 or 0 by the majority (items,), of PASS_FAIL; NaN for a split or no label."""
        share = self.share
        return np.where(np.isnan(share) | (share == 0.5), np.nan, share > 0.5)
