"""The answer of a test of judges: who agrees with the right answers, and how surely."""

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import counted, short
from metassay.labelled.records import ALL_KINDS
from metassay.labelled.results import DETECTED, FALSE_ALARMS, Cards, n_asked
from metassay.reporting.section import short_estimate
from metassay.tables.names import MEAN_OF_SUBSETS

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
