"""Results of a test of judges: cards by study and judge, kinds of items, right and wrong."""

from collections.abc import Collection
from typing import Any, NamedTuple

import pandas as pd

from metassay.format.frames import records, rows
from metassay.labelled.records import ALL_KINDS, ENTAILED
from metassay.tables.names import ALL_SUBSETS, FULL, MEAN_OF_SUBSETS
from metassay.tables.summaries import SUMMARIES

Card = dict[str, dict[str, Any]]  # rows of table `judge_cards` by statistic


class Cards(NamedTuple):
    """Cards of the items of all kinds by (study, judge), of one kind by (study, kind, judge).

    `n_asked`: the number of items with a gold label in each study, the most of any
    judge. `raters`: the judges that are people.
    """

    whole: dict[tuple[str, str], Card]
    of_kind: dict[tuple[str, str, str], Card]
    n_asked: dict[str, int]
    raters: frozenset[str]

    @property
    def studies(self) -> list[str]:
        """The mean of subsets, all of them together, each subset, then others."""
        first = (MEAN_OF_SUBSETS, ALL_SUBSETS)
        names = {study for study, _ in self.whole}
        return sorted(
            names, key=lambda s: (first.index(s) if s in first else len(first), s)
        )

    @property
    def main(self) -> str | None:
        """The study of all items: the mean of subsets, or the only subset; None without a card."""
        return self.studies[0] if self.whole else None

    @property
    def pooled(self) -> str | None:
        """The study of all items together, which has kinds and bins of probabilities."""
        return next((study for study in self.studies if study != MEAN_OF_SUBSETS), None)

    def value(self, study: str | None, judge: str, statistic: str) -> float | None:
        """Return a statistic of a card; None if it is missing."""
        row = self.whole.get((str(study), judge), {}).get(statistic)
        return None if row is None else row["value"]

    def ranked(self, study: str | None, statistic: str) -> list[str]:
        """Rank judges by a statistic of a study, best first, then raters."""
        judges = {judge for _, judge in self.whole}
        value = {judge: self.value(study, judge, statistic) for judge in judges}
        rank = {
            j: (j in self.raters, v is None, -(v or 0.0), j) for j, v in value.items()
        }
        return sorted(judges, key=rank.__getitem__)

    def comparable(self, study: str, statistic: str) -> list[str]:
        """Rank the judges that have the statistic and were asked about all items of the study."""
        return [
            judge
            for judge in self.ranked(study, statistic)
            if judge not in self.raters
            and self.value(study, judge, statistic) is not None
            and n_asked(self.whole[study, judge]) == self.n_asked[study]
        ]


def cards_of(cards: pd.DataFrame, raters: Collection[str]) -> Cards:
    """Group the rows of table `judge_cards` into cards."""
    test = Cards({}, {}, {}, frozenset(raters))
    for row in records(cards):
        study, part, judge = row["study"], row["part"], row["judge"]
        if part == FULL:
            test.whole.setdefault((study, judge), {})[row["statistic"]] = row
        else:
            test.of_kind.setdefault((study, part, judge), {})[row["statistic"]] = row
    for (study, judge), card in test.whole.items():
        if judge not in raters:
            test.n_asked[study] = max(test.n_asked.get(study, 0), n_asked(card))
    return test


def n_asked(card: Card) -> int:
    """Return the number of items with a gold label that the judge was asked about."""
    return int(card["agreement_at_least"]["n"])


# By kind of item: the share of unentailed claims that a judge detects, and its false
# alarms.

DETECTED, FALSE_ALARMS = "detected", "false alarms"
_MISSING = ["n_abstained", "n_failed"]
KIND_COLUMNS = list(SUMMARIES["kinds"].columns)


def kinds_table(test: Cards) -> pd.DataFrame:
    """Return table `kinds`; ALL_KINDS has all of them. Empty if items have no kinds.

    `detected`: higher is better. `false alarms`: lower is better.
    """
    lines: list[list[object]] = []
    for (study, kind, judge), card in test.of_kind.items():
        missing = [
            round(card[name]["value"] * card[name]["n"])
            for name in ("abstained", "failed")
        ]
        lines += [[study, kind, judge, *share, *missing] for share in _shares(card)]
    frame = pd.DataFrame(lines, columns=KIND_COLUMNS)
    failures = frame.groupby(["study", "judge", "measure"])[_MISSING].sum()
    of_all_kinds = [
        [
            study,
            ALL_KINDS,
            judge,
            *share,
            *failures.loc[[(study, judge, share[0])]].sum(),
        ]
        for study, judge in dict.fromkeys(
            zip(frame["study"], frame["judge"], strict=True)
        )
        for share in _shares(test.whole[study, judge])
    ]
    frame = frame.sort_values(["study", "measure", "kind", "judge"])
    totals = pd.DataFrame(of_all_kinds, columns=KIND_COLUMNS)
    return pd.concat([frame, totals], ignore_index=True) if of_all_kinds else frame


def _shares(card: Card) -> list[list[object]]:
    """Return measure, value, low, high and n of the measures that the items have."""
    no, yes = card["specificity"], card["sensitivity"]
    alarms = [
        None if yes[name] is None else 1 - yes[name]
        for name in ("value", "high", "low")
    ]
    shares = [[DETECTED, no["value"], no["low"], no["high"], no["n"]]] * bool(no["n"])
    return shares + [[FALSE_ALARMS, *alarms, yes["n"]]] * bool(yes["n"])


def add_right_answers(verdicts: pd.DataFrame, gold: pd.DataFrame) -> pd.DataFrame:
    """Return table `verdicts` with columns subset, kind, right (the gold label), wrong and sure.

    `wrong` is null without a verdict or gold label. If one side uses three labels and
    the other two, neutral and contradicted are not entailed. `sure`: the probability of
    a wrong verdict, 0 to 1; null of other verdicts, and if the judge gave none.
    """
    gold_rows = gold[["item", "subset", "kind", "label"]].rename(
        columns={"label": "right"}
    )
    table = verdicts.merge(gold_rows, on="item", how="left")
    wrong = [_wrong(label, right) for label, right in rows(table, "label", "right")]
    sure = table["probability"].where(
        table["label"] == ENTAILED, 1.0 - table["probability"]
    )
    table["wrong"] = pd.array(wrong, dtype="boolean")
    wrongly = table["wrong"].fillna(False).astype(bool)
    return table.assign(sure=sure.where(wrongly).astype("float64"))


def _wrong(label: str | None, right: str | None) -> bool | None:
    if label is None or right is None:
        return None
    if "not_entailed" in (label, right):
        return (label == ENTAILED) != (right == ENTAILED)
    return label != right
