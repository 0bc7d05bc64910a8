"""The first paragraph of a test of judges: who agrees with the right answers, and how surely."""

import pandas as pd

from metassay.judge_tests.beside import ALL_KINDS
from metassay.reporting.judge_test_cards import Card, Cards, n_asked, value
from metassay.reporting.numbers import counted, per_cent, short, short_interval
from metassay.reporting.tables import records
from metassay.reporting.views.judge_kinds import DETECTED, FALSE_ALARMS
from metassay.reporting.views.judge_numbers import COLUMNS
from metassay.reporting.views.section import Row, best_first
from metassay.tables.names import ALL_SUBSETS, MEAN_OF_SUBSETS

# What judges are ranked by: accuracy where the items were chosen one by one, and the paper does.
FIRST = {"claim_labels": "agreement"}
BALANCED = "balanced_accuracy"
COMMON = "items of "  # a study of those that a judge has given verdicts on, where these are not all


def first_number(kind: str) -> str:
    """The number that a type of test ranks judges by."""
    return FIRST.get(kind, BALANCED)


def verdict(test: Cards, first: str) -> list[str]:
    """Sentences: the best judge of those that were asked about all items, others, people."""
    if test.main is None:
        return ["No item has both a right answer and a verdict, so that no judge can be judged."]
    ranked = _ranked(test, test.main, first)
    said = []
    if ranked:
        said.append(" ".join(_best(test, test.main, ranked, first)))
    said += [_common(test, study, first) for study in test.studies if _is_common(test, study)]
    people = _people(test)
    return [*said, *([people] if people else [])]


def kinds_verdict(test: Cards, kinds: pd.DataFrame) -> list[str]:
    """A sentence per judge: what it detects, its false alarms, and its weakest kind of each."""
    found: dict[str, list[str]] = {}
    mine = kinds[kinds["study"] == test.pooled]
    for measure, verb in ((DETECTED, "detects"), (FALSE_ALARMS, "gives false alarms on")):
        of = mine[mine["measure"] == measure]
        for row in records(of[of["kind"] == ALL_KINDS]):
            each = records(of[(of["judge"] == row["judge"]) & (of["kind"] != ALL_KINDS)])
            said = f"{verb} {_with_ends(row)} of {counted(row['n'], 'item')}{_without(row)}"
            found.setdefault(row["judge"], []).append(f"{said}{_weakest(each, measure)}")
    return [f"{judge} {', and '.join(parts)}." for judge, parts in found.items()]


def _without(row: Row) -> str:
    missing = row["n_abstained"] + row["n_failed"]
    return f" without {missing:,} that it abstained of or failed" if missing else ""


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
    number = f"{COLUMNS[first]}{where} {_with_ends(card[first])} ({aside})"
    said = [f"{lead}: {number} on {_verdicts(card)}."]
    said += _silence(best, card)
    if others:
        second = test.whole[study, others[0]][first]
        said.append(f"Then comes {others[0]}, {_with_ends(second)}{_order(card[first], second)}.")
    if others[1:]:
        rest = [f"{judge} {_with_ends(test.whole[study, judge][first])}" for judge in others[1:]]
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


def _with_ends(row: Row) -> str:
    return f"{short(row['value'])} {short_interval(row['low'], row['high'])}".strip()


def _verdicts(card: Card) -> str:
    n, asked = int(card["agreement"]["n"]), n_asked(card)
    return counted(n, "item") if n == asked else f"{n:,} of {counted(asked, 'item')}"


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


def _is_common(test: Cards, study: str) -> bool:
    """Some of the items only, as a judge has given verdicts on these."""
    return study.startswith(COMMON) and test.asked[study] < test.asked[str(test.pooled)]


def _common(test: Cards, study: str, first: str) -> str:
    ranked = _ranked(test, study, first)
    said = [f"{judge} {_with_ends(test.whole[study, judge][first])}" for judge in ranked]
    n = counted(test.asked[study], "item")
    given = study.removeprefix(COMMON)
    return f"On the {n} that {given} has verdicts on, {COLUMNS[first]} is: {', '.join(said)}."


def _people(test: Cards) -> str:
    """A rater's own accuracy, which no judge need beat."""
    rows = [_of_most(test, rater) for rater in sorted(test.raters)]
    known = [row for row in rows if row is not None and row["value"] is not None]
    if not known:
        return ""
    if len(known) == 1:
        return f"A rater’s own accuracy, against most of the others, is {_with_ends(known[0])}."
    low = min(known, key=lambda row: row["value"])
    high = max(known, key=lambda row: row["value"])
    return (
        f"The accuracy of one rater against most of the others is from {_with_ends(low)} to"
        f" {_with_ends(high)} ({len(known)} raters), which is what people reach."
    )


def _of_most(test: Cards, rater: str) -> Row | None:
    """A rater's accuracy on the most items: people may have labelled some of the sets only."""
    found = [
        card["agreement"]
        for (study, judge), card in test.whole.items()
        if judge == rater and study != MEAN_OF_SUBSETS
    ]
    return max(found, key=lambda row: row["n"], default=None)
