"""A test of judges in numbers and words: by judge, by kind of item, and who is best."""

from collections.abc import Collection
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import counted, short
from metassay.labelled.verdicts import ALL_KINDS
from metassay.reporting.section import Row, best_first, short_estimate
from metassay.tables.names import ALL_SUBSETS, FULL, MEAN_OF_SUBSETS

Card = dict[str, Row]  # by statistic

# Numbers of a card that come first, and what sentences call them.
NUMBERS = {
    "agreement": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "auroc": "AUROC",
    "ece": "ECE",
    "accuracy_3way": "accuracy, 3-way",
    "balanced_accuracy_3way": "balanced accuracy, 3-way",
    "macro_f1_3way": "macro-F1, 3-way",
}
# What judges are ranked by: accuracy where the items were chosen one by one, and the paper does.
FIRST = {"claim_labels": "agreement"}
BALANCED = "balanced_accuracy"
COMMON = "items of "  # a study of those that a judge has given verdicts on, where these are not all


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
        value = {judge: best_first(self.value(study, judge, statistic)) for judge in judges}
        return sorted(judges, key=lambda judge: (judge in self.raters, value[judge], judge))

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
KIND_COLUMNS = ["study", "kind", "judge", "measure", "value", "low", "high", "n", *_MISSING]


def kinds_table(test: Cards) -> pd.DataFrame:
    """One row per study, kind, judge and measure.

    `detected`: of the verdicts on items that are not entailed, the share that says so; higher is
    better. `false alarms`: of those on entailed items, the share that says they are not; lower is
    better. `n`: these verdicts. n_abstained, n_failed: items of the kind, of either label, without
    one. Kind ALL_KINDS is all of them. Empty where items have no kinds.
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


# The answer of a test of judges: who agrees with the right answers, and how surely.


def kinds_verdict(test: Cards, kinds: pd.DataFrame) -> list[str]:
    """A sentence per judge: what it detects, its false alarms, and its weakest kind of each."""
    parts: dict[str, list[str]] = {}
    pooled = kinds[kinds["study"] == test.pooled]
    for measure, verb in ((DETECTED, "detects"), (FALSE_ALARMS, "gives false alarms on")):
        of = pooled[pooled["measure"] == measure]
        for row in records(of[of["kind"] == ALL_KINDS]):
            text = f"{verb} {short_estimate(row)} of {counted(row['n'], 'item')}"
            if missing := row["n_abstained"] + row["n_failed"]:
                text += f" without {missing:,} that it abstained of or failed"
            each = of[(of["judge"] == row["judge"]) & (of["kind"] != ALL_KINDS)]
            each = each[each["value"].notna()].sort_values("value", kind="stable")
            if len(each) > 1:
                weak, most = (-1, "most") if measure == FALSE_ALARMS else (0, "least")
                kind, share, n = each.iloc[weak][["kind", "value", "n"]]
                text += f" ({most}: {kind.replace('_', ' ')}, {short(share)} of {n:,})"
            parts.setdefault(row["judge"], []).append(text)
    return [f"{judge} {', and '.join(texts)}." for judge, texts in parts.items()]


def verdict(test: Cards, first: str) -> list[str]:
    """Sentences: judges that were asked about all items, best first, then of fewer items, people.

    Intervals that overlap settle no order; this is said, and no test pretended.
    """
    if test.main is None:
        return ["No item has both a right answer and a verdict, so that no judge can be judged."]
    judges = test.comparable(test.main, first)
    sentences = [_sentence(test, judge, judges, first) for judge in judges]
    for study in test.studies:  # some of the items only, as a judge has given verdicts on these
        some = test.comparable(study, first) if study.startswith(COMMON) else []
        if some and test.n_asked[study] < test.n_asked[str(test.pooled)]:
            each = (f"{judge} {short_estimate(test.whole[study, judge][first])}" for judge in some)
            n, of = counted(test.n_asked[study], "item"), study.removeprefix(COMMON)
            where = f"On the {n} that {of} has verdicts on"
            sentences.append(f"{where}, {NUMBERS[first]} is: {', '.join(each)}.")
    return sentences + _people(test)


def _sentence(test: Cards, judge: str, judges: list[str], first: str) -> str:
    """A judge's number, what it rests on, and how it stands to the best, the first of `judges`."""
    study, best = str(test.main), judges[0]
    card, top = test.whole[study, judge], test.whole[study, best][first]["low"]
    n, n_all = int(card["agreement"]["n"]), n_asked(card)
    text = f"{judge}: "
    if judge == best:
        mean = " (mean of the test sets)" if study == MEAN_OF_SUBSETS else ""
        lead = "agrees best with the right answers" if judges[1:] else "is the only judge"
        text = f"{judge} {lead}: {NUMBERS[first]}{mean} "
    items = counted(n, "item") if n == n_all else f"{n:,} of {counted(n_all, 'item')}"
    text += f"{short_estimate(card[first])} on {items}"
    if judge == best:
        share = test.value(test.pooled, judge, "people_pass_rate") or 0.0
        commoner = f"always the commoner answer gets {short(max(share, 1 - share))}"
        text += f" ({'a coin gets .50' if first == BALANCED else commoner})"
    low, high = (short(card[f"agreement_at_{end}"]["value"]) for end in ("least", "most"))
    if low != high:
        text += f"; with the items without a verdict its accuracy is between {low} and {high}"
    if judge != best and None not in (top, card[first]["high"]) and top <= card[first]["high"]:
        text += f"; its interval overlaps that of {best}, which settles no order"
    return f"{text}."


def _people(test: Cards) -> list[str]:
    """A rater's own accuracy, which no judge need beat: people may have labelled some sets only."""
    cards = sorted(test.whole.items(), key=lambda item: item[1]["agreement"]["n"])
    most = {judge: card["agreement"] for (study, judge), card in cards if study != MEAN_OF_SUBSETS}
    known = [most[r] for r in sorted(test.raters) if r in most and most[r]["value"] is not None]
    if not known:
        return []
    low, high = (of(known, key=lambda row: row["value"]) for of in (min, max))
    share = short_estimate(low)
    if len(known) > 1:
        share = f"from {share} to {short_estimate(high)} ({len(known)} raters)"
    people = "The accuracy of a rater against most of the others"
    return [f"{people} is {share}, which is what people reach."]
