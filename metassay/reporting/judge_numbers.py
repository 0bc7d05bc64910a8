"""A test of judges in numbers and words: by judge, by kind of item, and who is best."""

from collections.abc import Collection
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import counted, per_cent, short
from metassay.labelled.verdicts import ALL_KINDS
from metassay.reporting.section import Row, best_first, short_estimate
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

    def ranked(self, first: str) -> list[str]:
        """All judges, best first by a number of all items, then raters."""
        judges = {judge for _, judge in self.whole}
        by_judge = {judge: self.whole.get((str(self.main), judge), {}) for judge in judges}
        rank = {
            j: (j in self.raters, best_first(value(card, first)), j) for j, card in by_judge.items()
        }
        return sorted(judges, key=rank.__getitem__)

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
    return card[name]["value"] if name in card else None


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


# By kind of item: which share of what doesn't follow a judge detects, and its false alarms.

DETECTED, FALSE_ALARMS = "detected", "false alarms"
KIND_COLUMNS = (
    *("study", "kind", "judge", "measure", "value", "low", "high"),
    *("n", "n_abstained", "n_failed"),
)


def kinds_table(test: Cards) -> pd.DataFrame:
    """One row per study, kind, judge and measure.

    `detected`: of the verdicts on items that are not entailed, the share that says so; higher is
    better. `false alarms`: of those on entailed items, the share that says they are not; lower is
    better. `n`: these verdicts. n_abstained, n_failed: items of the kind, of either label, without
    one. Kind ALL_KINDS is all of them. Empty where items have no kinds.
    """
    made: list[list[object]] = []
    for (study, kind, judge), card in test.of_kind.items():
        missing = [round(card[name]["value"] * card[name]["n"]) for name in ("abstained", "failed")]
        made += [[study, kind, judge, *row, *missing] for row in _shares(card)]
    frame = pd.DataFrame(made, columns=list(KIND_COLUMNS))
    made = []
    lost = frame.groupby(["study", "judge", "measure"])[["n_abstained", "n_failed"]].sum()
    for study, judge in dict.fromkeys(zip(frame["study"], frame["judge"], strict=True)):
        for row in _shares(test.whole[study, judge]):
            missing = lost.reindex([(study, judge, row[0])], fill_value=0).iloc[0].tolist()
            made.append([study, ALL_KINDS, judge, *row, *missing])
    frame = frame.sort_values(["study", "measure", "kind", "judge"])
    every = pd.DataFrame(made, columns=list(KIND_COLUMNS))
    return pd.concat([frame, every], ignore_index=True) if made else frame


def _shares(card: Card) -> list[list[object]]:
    """Measure, value, low, high and n, of the measures that the items have."""
    found, kept = card["specificity"], card["sensitivity"]
    alarms = [None if kept[name] is None else 1 - kept[name] for name in ("value", "high", "low")]
    made = [[DETECTED, found["value"], found["low"], found["high"], found["n"]]] * bool(found["n"])
    return made + [[FALSE_ALARMS, *alarms, kept["n"]]] * bool(kept["n"])


# The first paragraph of a test of judges: who agrees with the right answers, and how surely.

# What judges are ranked by: accuracy where the items were chosen one by one, and the paper does.
FIRST = {"claim_labels": "agreement"}
BALANCED = "balanced_accuracy"
COMMON = "items of "  # a study of those that a judge has given verdicts on, where these are not all


def verdict(test: Cards, first: str) -> list[str]:
    """Sentences: the best judge of those that were asked about all items, others, people."""
    if test.main is None:
        return ["No item has both a right answer and a verdict, so that no judge can be judged."]
    ranked = _ranked(test, test.main, first)
    said = []
    if ranked:
        said.append(" ".join(_best(test, test.main, ranked, first)))
    said += [  # some of the items only, as a judge has given verdicts on these
        _common(test, study, first)
        for study in test.studies
        if study.startswith(COMMON)
        and test.asked[study] < test.asked[str(test.pooled)]
        and _ranked(test, study, first)
    ]
    return [*said, *filter(None, [_people(test)])]


def kinds_verdict(test: Cards, kinds: pd.DataFrame) -> list[str]:
    """A sentence per judge: what it detects, its false alarms, and its weakest kind of each."""
    found: dict[str, list[str]] = {}
    mine = kinds[kinds["study"] == test.pooled]
    for measure, verb in ((DETECTED, "detects"), (FALSE_ALARMS, "gives false alarms on")):
        of = mine[mine["measure"] == measure]
        for row in records(of[of["kind"] == ALL_KINDS]):
            each = records(of[(of["judge"] == row["judge"]) & (of["kind"] != ALL_KINDS)])
            said = f"{verb} {short_estimate(row)} of {counted(row['n'], 'item')}"
            missing = row["n_abstained"] + row["n_failed"]
            said += f" without {missing:,} that it abstained of or failed" if missing else ""
            found.setdefault(row["judge"], []).append(f"{said}{_weakest(each, measure)}")
    return [f"{judge} {', and '.join(parts)}." for judge, parts in found.items()]


def _weakest(each: list[Row], measure: str) -> str:
    known = [row for row in each if row["value"] is not None]
    if len(known) < 2:
        return ""
    most = measure == FALSE_ALARMS
    worst = (max if most else min)(known, key=lambda row: row["value"])
    share = f"{short(worst['value'])} of {worst['n']:,}"
    return f" ({'most' if most else 'least'}: {worst['kind'].replace('_', ' ')}, {share})"


def _ranked(test: Cards, study: str, first: str) -> list[str]:
    """Judges that were asked about all items and have the number, best first."""
    judges = [
        judge
        for judge in test.judges(study)
        if judge not in test.raters
        and test.answers_all(study, judge)
        and value(test.whole[study, judge], first) is not None
    ]
    return sorted(judges, key=lambda j: (best_first(value(test.whole[study, j], first)), j))


def _best(test: Cards, study: str, ranked: list[str], first: str) -> list[str]:
    best, *others = ranked
    card = test.whole[study, best]
    where = {MEAN_OF_SUBSETS: " (mean of the test sets)", ALL_SUBSETS: ""}.get(study, "")
    lead = f"{best} agrees best with the right answers" if others else f"{best} is the only judge"
    aside = _without_looking(test, best, first)
    number = f"{NUMBERS[first]}{where} {short_estimate(card[first])} ({aside})"
    n, asked = int(card["agreement"]["n"]), n_asked(card)
    items = counted(n, "item") if n == asked else f"{n:,} of {counted(asked, 'item')}"
    said = [f"{lead}: {number} on {items}."]
    said += _silence(best, card)
    if others:
        second = test.whole[study, others[0]][first]
        said.append(
            f"Then comes {others[0]}, {short_estimate(second)}{_order(card[first], second)}."
        )
    if others[1:]:
        rest = [
            f"{judge} {short_estimate(test.whole[study, judge][first])}" for judge in others[1:]
        ]
        said.append(f"After that: {', '.join(rest)}.")
    return said + [part for judge in others for part in _silence(judge, test.whole[study, judge])]


def _order(best: Row, second: Row) -> str:
    """Intervals that overlap settle nothing; this is said, and no test pretended."""
    if best["low"] is None or second["high"] is None:
        return ""
    if best["low"] > second["high"]:
        return "; its interval lies below"
    return "; the intervals overlap and do not settle the order of the two"


def _without_looking(test: Cards, judge: str, first: str) -> str:
    """What the number would be of a judge that does not read."""
    if first == BALANCED:
        return "a coin gets .50"
    share = value(test.whole[str(test.pooled), judge], "people_pass_rate") or 0.0
    return f"always the commoner answer gets {short(max(share, 1 - share))}"


def _silence(judge: str, card: Card) -> list[str]:
    """How often a judge abstains or fails, and what its accuracy could be at worst and best."""
    said = [
        f"{word} of {per_cent(row['value'])}"
        for name, word in (("abstained", "abstains"), ("failed", "has no answer"))
        if (row := card[name])["value"]
    ]
    if not said:
        return []
    low, high = value(card, "agreement_at_least"), value(card, "agreement_at_most")
    bounds = f"its accuracy is {short(value(card, 'agreement'))} without them"
    worst = f"{short(low)} if all were wrong, {short(high)} if right"
    return [f"{judge} {' and '.join(said)}; {bounds}, {worst}."]


def _common(test: Cards, study: str, first: str) -> str:
    said = [
        f"{judge} {short_estimate(test.whole[study, judge][first])}"
        for judge in _ranked(test, study, first)
    ]
    n, given = counted(test.asked[study], "item"), study.removeprefix(COMMON)
    return f"On the {n} that {given} has verdicts on, {NUMBERS[first]} is: {', '.join(said)}."


def _people(test: Cards) -> str:
    """A rater's own accuracy, which no judge need beat: people may have labelled some sets only."""
    known: list[Row] = []
    for rater in sorted(test.raters):
        of_rater = [
            card["agreement"]
            for (study, judge), card in test.whole.items()
            if judge == rater and study != MEAN_OF_SUBSETS
        ]
        most = max(of_rater, key=lambda row: row["n"], default=None)
        known += [most] if most and most["value"] is not None else []
    if not known:
        return ""
    if len(known) == 1:
        return f"A rater’s own accuracy, against most of the others, is {short_estimate(known[0])}."
    low = min(known, key=lambda row: row["value"])
    high = max(known, key=lambda row: row["value"])
    return (
        f"The accuracy of one rater against most of the others is from {short_estimate(low)} to"
        f" {short_estimate(high)} ({len(known)} raters), which is what people reach."
    )
