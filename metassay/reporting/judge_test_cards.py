"""The cards of a test of judges as its page needs them: by study, judge and number."""

from collections.abc import Collection
from typing import NamedTuple

import pandas as pd

from metassay.reporting.tables import records
from metassay.reporting.views.section import Row
from metassay.tables.names import ALL_SUBSETS, FULL, MEAN_OF_SUBSETS

Card = dict[str, Row]  # by statistic


class Cards(NamedTuple):
    """Cards of the items of all kinds by (study, judge), those of one kind by (study, kind, judge).

    `asked` is by how many items with a right answer each study has: the most that a judge was asked
    about. `raters` are the names among the judges that are people's.
    """

    whole: dict[tuple[str, str], Card]
    of_kind: dict[tuple[str, str, str], Card]
    asked: dict[str, int]
    raters: frozenset[str]

    @property
    def studies(self) -> list[str]:
        """The mean of all subsets, all of them together, each subset, then others."""
        first = (MEAN_OF_SUBSETS, ALL_SUBSETS)
        names = dict.fromkeys(study for study, _ in self.whole)
        return sorted(names, key=lambda s: (first.index(s) if s in first else len(first), s))

    @property
    def main(self) -> str | None:
        """The study of all items: the mean of subsets, or the one subset; None without a card."""
        return self.studies[0] if self.whole else None

    @property
    def pooled(self) -> str | None:
        """The study of all items as items of one: where kinds and bins of probabilities are."""
        return next((study for study in self.studies if study != MEAN_OF_SUBSETS), None)

    def judges(self, study: str) -> list[str]:
        """Whose cards there are of a study: judges by name, then raters."""
        names = {judge for one, judge in self.whole if one == study}
        return sorted(names, key=lambda judge: (judge in self.raters, judge))

    def answers_all(self, study: str, judge: str) -> bool:
        """Whether the judge was asked about all items of the study, so that others compare."""
        return n_asked(self.whole[study, judge]) == self.asked[study]


def cards_of(cards: pd.DataFrame, raters: Collection[str]) -> Cards:
    """The rows of table `judge_cards`, found by where they belong."""
    whole: dict[tuple[str, str], Card] = {}
    of_kind: dict[tuple[str, str, str], Card] = {}
    asked: dict[str, int] = {}
    for row in records(cards):
        study, part, judge = row["study"], row["part"], row["judge"]
        card = (
            whole.setdefault((study, judge), {})
            if part == FULL
            else of_kind.setdefault((study, part, judge), {})
        )
        card[row["statistic"]] = row
    for (study, judge), card in whole.items():
        if judge not in raters:
            asked[study] = max(asked.get(study, 0), n_asked(card))
    return Cards(whole, of_kind, asked, frozenset(raters))


def n_asked(card: Card) -> int:
    """How many items with a right answer the judge was asked about."""
    return int(card["agreement_at_least"]["n"])


def value(card: Card, name: str) -> float | None:
    """A number of the card; None where it has none."""
    found: float | None = card[name]["value"] if name in card else None
    return found
