"""What a test of judges comes to: cards by study and judge, kinds of items, right and wrong."""

from collections.abc import Collection
from typing import Any, NamedTuple

import pandas as pd

from metassay.format.frames import records, rows
from metassay.labelled.records import ALL_KINDS, ENTAILED
from metassay.tables.names import ALL_SUBSETS, FULL, MEAN_OF_SUBSETS
from metassay.tables.summaries import SUMMARIES

Card = dict[str, dict[str, Any]]  # rows of table `judge_cards` by statistic


class Cards(NamedTuple):
    """Cards of the items of all kinds by (study, judge), those of one kind by (study, kind, judge).

    `n_asked` is by how many items with a right answer each study has: the most that a judge was
    asked about. `raters` are the names among the judges that are people's.
    """

    whole: dict[tuple[str, str], Card]
    of_kind: dict[tuple[str, str, str], Card]
    n_asked: dict[str, int]
    raters: frozenset[str]

    @property
    def studies(self) -> list[str]:
        """The mean of all subsets, all of them together, each subset, then others."""
        first = (MEAN_OF_SUBSETS, ALL_SUBSETS)
        names = {study for study, _ in self.whole}
        return sorted(names, key=lambda s: (first.index(s) if s in first else len(first), s))

    @property
    def main(self) -> str | None:
        """The study of all items: the mean of subsets, or the only subset; None without a card."""
        return self.studies[0] if self.whole else None

    @property
    def pooled(self) -> str | None:
        """The study of all items together: where kinds and bins of probabilities are."""
        return next((study for study in self.studies if study != MEAN_OF_SUBSETS), None)

    def value(self, study: str | None, judge: str, statistic: str) -> float | None:
        """A number of a card; None where there is none."""
        row = self.whole.get((str(study), judge), {}).get(statistic)
        return None if row is None else row["value"]

    def ranked(self, study: str | None, statistic: str) -> list[str]:
        """All judges, best first by a number of a study, then raters."""
        judges = {judge for _, judge in self.whole}
        value = {judge: self.value(study, judge, statistic) for judge in judges}
        rank = {j: (j in self.raters, v is None, -(v or 0.0), j) for j, v in value.items()}
        return sorted(judges, key=rank.__getitem__)

    def comparable(self, study: str, statistic: str) -> list[str]:
        """Those of `ranked` that have the number and were asked about all items of the study."""
        return [
            judge
            for judge in self.ranked(study, statistic)
            if judge not in self.raters
            and self.value(study, judge, statistic) is not None
            and n_asked(self.whole[study, judge]) == self.n_asked[study]
        ]


def cards_of(cards: pd.DataFrame, raters: Collection[str]) -> Cards:
    """The rows of table `judge_cards`, by where they belong."""
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
    """How many items with a right answer the judge was asked about."""
    return int(card["agreement_at_least"]["n"])


# By kind of item: which share of what doesn't follow a judge detects, and its false alarms.

DETECTED, FALSE_ALARMS = "detected", "false alarms"
_MISSING = ["n_abstained", "n_failed"]
KIND_COLUMNS = list(SUMMARIES["kinds"].columns)


def kinds_table(test: Cards) -> pd.DataFrame:
    """Table `kinds`; kind ALL_KINDS is all of them. Empty where items have no kinds.

    `detected`: higher is better. `false alarms`: lower is better.
    """
    lines: list[list[object]] = []
    for (study, kind, judge), card in test.of_kind.items():
        missing = [round(card[name]["value"] * card[name]["n"]) for name in ("abstained", "failed")]
        lines += [[study, kind, judge, *share, *missing] for share in _shares(card)]
    frame = pd.DataFrame(lines, columns=KIND_COLUMNS)
    lost = frame.groupby(["study", "judge", "measure"])[_MISSING].sum()
    every = [
        [study, ALL_KINDS, judge, *share, *lost.loc[[(study, judge, share[0])]].sum()]
        for study, judge in dict.fromkeys(zip(frame["study"], frame["judge"], strict=True))
        for share in _shares(test.whole[study, judge])
    ]
    frame = frame.sort_values(["study", "measure", "kind", "judge"])
    of_all = pd.DataFrame(every, columns=KIND_COLUMNS)
    return pd.concat([frame, of_all], ignore_index=True) if every else frame


def _shares(card: Card) -> list[list[object]]:
    """Measure, value, low, high and n, of the measures that the items have."""
    no, yes = card["specificity"], card["sensitivity"]
    alarms = [None if yes[name] is None else 1 - yes[name] for name in ("value", "high", "low")]
    shares = [[DETECTED, no["value"], no["low"], no["high"], no["n"]]] * bool(no["n"])
    return shares + [[FALSE_ALARMS, *alarms, yes["n"]]] * bool(yes["n"])


# Every verdict beside the right answer.


def with_right_answers(verdicts: pd.DataFrame, gold: pd.DataFrame) -> pd.DataFrame:
    """Table `verdicts` with the columns subset, kind, right (the label), wrong and sure.

    `wrong` is true or false, and null where there is no verdict or no right answer. Where one side
    uses three labels and the other two, neutral and contradicted are not entailed. `sure`: the
    probability of a wrong verdict, 0 to 1; null of others, and where the judge gave none.
    """
    known = gold[["item", "subset", "kind", "label"]].rename(columns={"label": "right"})
    both = verdicts.merge(known, on="item", how="left")
    wrong = [_wrong(label, right) for label, right in rows(both, "label", "right")]
    sure = both["probability"].where(both["label"] == ENTAILED, 1.0 - both["probability"])
    both["wrong"] = pd.array(wrong, dtype="boolean")
    return both.assign(sure=sure.where(both["wrong"].fillna(False).astype(bool)).astype("float64"))


def _wrong(label: str | None, right: str | None) -> bool | None:
    if label is None or right is None:
        return None
    if "not_entailed" in (label, right):
        return (label == ENTAILED) != (right == ENTAILED)
    return label != right
