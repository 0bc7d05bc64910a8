"""The tables of `metassay check` that all kinds of labels share.

They are `card` (numbers of all labels), `classes` (of each class or grade), `confusion`,
`labels`, `beside_raters`, `replacement`, `contests`, `disagreements`. A kind's `Analysis`
says how its cards are made, and which tables it has beside these.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from metassay.api.labels import (
    BY,
    NOMINAL,
    NUMBERS,
    ORDINAL,
    PASS_FAIL,
    PREFERENCES,
    RANKINGS,
    Labels,
)
from metassay.format.numbers import short
from metassay.meta_evaluation.label_warnings import verdict_factors
from metassay.statistics import (
    nominal_labels,
    number_labels,
    ordinal_labels,
    preferences,
)
from metassay.statistics.classification import AC1
from metassay.statistics.exact_sums import Array, Index, Mask
from metassay.statistics.label_rows import LabelRows, weigh_rows
from metassay.statistics.label_weights import Chosen, find_chosen
from metassay.statistics.nominal_labels import AGREEMENT, nominal_card
from metassay.statistics.number_labels import number_card
from metassay.statistics.ordinal_labels import BIAS, middle_grades, ordinal_card
from metassay.statistics.random_numbers import generator
from metassay.statistics.raters import Nearness, annotator_test, compare_with_raters
from metassay.statistics.shares import Estimate, judgments

Row = dict[str, Any]

WHOLE = "all"
TOO_FEW = "too few labels"  # begins the reason why numbers are blank
KENDALL = "kendall"  # the mean of documents' Kendall's tau b

# Numbers of a card that may be required, by kind of labels: more of them is better.
REQUIRED: Mapping[str, Sequence[str]] = {
    PASS_FAIL: (
        "sensitivity",
        "specificity",
        "precision",
        "negative_predictive_value",
        "balanced_accuracy",
        "f1",
        "cohen_kappa",
        AC1,
        "mcc",
        AGREEMENT,
    ),
    NOMINAL: nominal_labels.MORE_IS_BETTER,
    ORDINAL: ordinal_labels.MORE_IS_BETTER,
    NUMBERS: number_labels.MORE_IS_BETTER,
    PREFERENCES: preferences.MORE_IS_BETTER,
    RANKINGS: (KENDALL, *preferences.MORE_IS_BETTER),
}
# The number of a card that says on how many rows judge and people are compared.
COUNTED = {
    PASS_FAIL: AGREEMENT,
    NOMINAL: AGREEMENT,
    ORDINAL: "exact",
    NUMBERS: "pearson",
    PREFERENCES: AGREEMENT,
    RANKINGS: AGREEMENT,
}
# Kinds whose labels are equal or not, and are never near each other.
UNORDERED = (PASS_FAIL, NOMINAL, PREFERENCES, RANKINGS)


class LabelCard(NamedTuple):
    """The numbers of a judge on a slice."""

    numbers: Mapping[str, Estimate]
    base_rate: Mapping[str, float]
    why_blank: str
    # How many labels make a number's interval as wide as the caller wants, by name.
    needed: Mapping[str, float]
    # Rows of the table `classes`: label, statistic, estimate, base rate.
    classes: tuple[tuple[str, str, Estimate, float], ...] = ()
    # Of passes and fails: shares of passes by name, and why they are not corrected.
    rates: Mapping[str, Estimate] = {}
    why_uncorrected: str = ""


class PeopleLabels(NamedTuple):
    """People's label of each item, out of those of all raters."""

    code: Index  # (items,) -1 where there is none, or raters are split
    pairs: Index  # (codes, 2) of grades: the middle grades; else each code twice
    split: Mask  # (items,) raters are split


def join_raters(labels: Labels) -> PeopleLabels:
    """Return people's labels: the commonest of a class, the median of grades."""
    if labels.kind == ORDINAL:
        middle = middle_grades(labels.table, labels.levels)
        nobody = np.zeros(len(labels.items), dtype=np.bool_)
        return PeopleLabels(code=middle.code, pairs=middle.pairs, split=nobody)
    n_classes = len(labels.levels)
    counts = np.array([(labels.table == code).sum(axis=0) for code in range(n_classes)])
    most = counts.max(axis=0)
    is_split = (most > 0) & ((counts == most).sum(axis=0) > 1)
    code = np.where((most == 0) | is_split, -1, counts.argmax(axis=0))
    pairs = np.repeat(np.arange(n_classes)[:, None], 2, axis=1)
    return PeopleLabels(code=code.astype(np.intp), pairs=pairs, split=is_split)


class MoreTables(Protocol):
    """Makes the rows of a kind's further tables, by table."""

    def __call__(
        self, name: str, cards: Mapping[str, LabelCard], *, refused: bool
    ) -> Mapping[str, Iterable[Row]]:
        """Return rows of a judge; `refused`: whether a requirement is not met."""


# Makes the card of a judge on a slice, of which it is told the name and the items (items,).
CardMaker = Callable[[str, str, Mask], LabelCard]


class Analysis(NamedTuple):
    """What a kind of labels has of its own; all functions are told the name of a judge."""

    make: CardMaker
    # The labels (items,) of a judge that knows only what labels are usual.
    guess: Callable[[str], Array]
    # How many rows each label stands for (items,) beside raters; None: its own alone.
    weigh: Callable[[str], Array | None]
    tables: MoreTables | None = None


def make_label_tables(
    labels: Labels, analysis: Analysis
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return the tables that have rows, by name; and a line for each requirement not met."""
    rows: dict[str, list[Row]] = {}
    lines: list[str] = []
    for name in labels.judges:
        cards = {
            part: analysis.make(name, part, here)
            for part, here in iterate_slices(labels)
        }
        whole = cards[WHOLE]
        unmet = [*_unmet(name, whole, labels)]
        lines += unmet
        replacement, contests = _replacement(name, labels, analysis)
        tables: dict[str, Iterable[Row]] = {
            "card": _card_rows(cards),
            "classes": _class_rows(cards),
            "confusion": _confusion(name, labels),
            "labels": _labels_needed(whole, labels),
            "beside_raters": _nearness_rows(name, labels, analysis),
            "replacement": [replacement],
            "contests": contests,
            "disagreements": _disagreements(name, labels),
        }
        if analysis.tables is not None:
            tables |= analysis.tables(name, cards, refused=bool(unmet))
        for table, new in tables.items():
            rows.setdefault(table, []).extend({"judge": name, **row} for row in new)
    return {
        name: pd.DataFrame(of_table) for name, of_table in rows.items() if of_table
    }, lines


def iterate_slices(labels: Labels) -> Iterator[tuple[str, Mask]]:
    """Yield the name of each slice and its items (items,), all items first."""
    yield WHOLE, np.ones(len(labels.items), dtype=np.bool_)
    by = {name: BY + name for name in labels.choices.by}
    if "system" in labels.items and labels.items["system"].nunique() > 1:
        by = {labels.choices.system: "system", **by}
    for name, column in by.items():
        for value in sorted({*labels.items[column]} - {""}):
            yield (
                f"{name}={value}",
                (labels.items[column] == value).to_numpy(dtype=np.bool_),
            )


def slice_columns(labels: Labels) -> dict[str, Any]:
    """Return the columns by which rows are sliced, by the user's names; systems last."""
    columns = {name: labels.items[BY + name].to_numpy() for name in labels.choices.by}
    if "system" in labels.items:
        columns[labels.choices.system] = labels.items["system"].to_numpy()
    return columns


# ---- what is labelled


def judged_rows(name: str, labels: Labels, here: Mask) -> tuple[LabelRows, Index]:
    """Return the rows of a slice that a judge has a verdict on, and their places.

    Without those of systems of which nothing is labelled.
    """
    people = join_raters(labels)
    values = labels.judges[name]
    usable = here & np.isfinite(values) & ~people.split
    unlabelled = unlabelled_systems(name, labels, here)
    if unlabelled:
        usable &= ~labels.items["system"].isin(unlabelled).to_numpy()
    places = np.flatnonzero(usable)
    judge = np.searchsorted(labels.levels, values[places])
    code = people.code[places]
    factors = [column[places] for column in slice_columns(labels).values()]
    rows = LabelRows(
        judge=judge,
        people=code,
        weight=weigh_rows(judge, code, factors),
        cluster=labels.cluster[places],
        n_judge=len(labels.levels),
        n_people=len(people.pairs),
    )
    return rows, places


def judged_items(labels: Labels) -> Mask:
    """Return which items (items,) any judge has a verdict on."""
    judged = np.zeros(len(labels.items), dtype=np.bool_)
    for values in labels.judges.values():
        judged |= np.isfinite(values)
    return judged


def unlabelled_systems(name: str, labels: Labels, here: Mask) -> list[str]:
    """Return the systems that a judge has verdicts on in the rows `here`, and nobody labels."""
    if "system" not in labels.items or not (labels.n[here] > 0).any():
        return []
    system = labels.items["system"].to_numpy()
    judged = {*system[here & np.isfinite(labels.judges[name])]}
    return sorted(judged - {*system[here & (labels.n > 0)]})


def find_label_choices(labels: Labels) -> list[Chosen]:
    """Return what labels were chosen by: verdicts, a judge's certainty, systems, slices."""
    judged, has_label = judged_items(labels), labels.n > 0
    if not (judged & ~has_label).any():
        return []
    factors = label_factors(labels)
    return find_chosen(has_label[judged], factors, labels.cluster[judged])


def label_factors(labels: Labels) -> dict[str, Array]:
    """Return what labels may have been chosen by, in words, of the judged items."""
    judged = judged_items(labels)
    factors: dict[str, Any] = {}
    for name, values in labels.judges.items():
        if labels.kind == PASS_FAIL:
            factors |= verdict_factors(values[judged], "rows", name)
        elif labels.kind != NUMBERS:
            factors[name] = _those_labelled(name, values[judged], labels)
    for column, values_of in slice_columns(labels).items():
        phrases = [f"rows of {column} {value}" for value in values_of[judged]]
        factors[column] = np.array(phrases)
    return factors


def _those_labelled(name: str, verdicts: Array, labels: Labels) -> Array:
    places = np.searchsorted(labels.levels, np.nan_to_num(verdicts))
    phrases = [
        f"rows that {name} labels {labels.names[place]}"
        if is_judged
        else f"rows without a verdict of {name}"
        for place, is_judged in zip(places, np.isfinite(verdicts), strict=True)
    ]
    return np.array(phrases)


# ---- cards


def make_card(
    name: str, part: str, here: Mask, *, labels: Labels, chosen: bool
) -> LabelCard:
    """Return a judge's card on a slice; `chosen`: whether labels were chosen."""
    rng = generator(labels.choices.seed, "label_card", name, part)
    options: dict[str, Any] = {"confidence": labels.choices.confidence, "rng": rng}
    if labels.kind == NUMBERS:
        judge, people = labels.judges[name], mean_rating(labels)
        both = here & np.isfinite(judge) & np.isfinite(people)
        numbers = number_card(
            judge[both],
            people[both],
            labels.cluster[both],
            confidence=labels.choices.confidence,
            comparable=is_one_scale(name, labels),
        )
        return LabelCard(
            numbers=numbers.numbers,
            base_rate=numbers.base_rate,
            needed=labels_for_width(numbers.numbers, labels),
            why_blank="too few rows, or all numbers are equal",
        )
    rows, _ = judged_rows(name, labels, here)
    why = why_blank(rows, labels)
    if labels.kind == ORDINAL:
        pairs = join_raters(labels).pairs
        grades = ordinal_card(rows, labels.levels, pairs, **options)
        biases = zip(labels.names, grades.levels, strict=True)
        return LabelCard(
            numbers=grades.numbers,
            base_rate=grades.base_rate,
            needed=labels_for_width(grades.numbers, labels),
            classes=tuple((label, BIAS, bias, np.nan) for label, bias in biases),
            why_blank=why,
        )
    card = nominal_card(rows, **options)
    of_classes = []
    for label, numbers_of, base in zip(
        labels.names, card.classes, card.class_base_rate, strict=True
    ):
        for statistic, estimate in numbers_of.items():
            if statistic == "people_alone" and chosen:
                # Labelled rows are not like the others.
                blank = estimate._replace(value=np.nan, low=np.nan, high=np.nan)
                of_classes.append((label, statistic, blank, np.nan))
            else:
                base_rate = base.get(statistic, np.nan)
                of_classes.append((label, statistic, estimate, base_rate))
    return LabelCard(
        numbers=card.numbers,
        base_rate=card.base_rate,
        needed=labels_for_width(card.numbers, labels),
        classes=tuple(of_classes),
        why_blank=why,
    )


def why_blank(rows: LabelRows, labels: Labels) -> str:
    """Return the most likely reason for an undefined number of a card."""
    if not rows.labelled.any():
        return "no row is labelled"
    if lacking := rows.lacking():
        names = ", ".join(labels.names[code] for code in lacking)
        return f"{TOO_FEW} for what the judge labels {names}"
    return "judge or people give all rows the same label, or no row has it"


def mean_rating(labels: Labels) -> Array:
    """Return the mean of the raters' numbers (items,); NaN without one."""
    total = np.nansum(labels.table, axis=0)
    return np.where(labels.n > 0, total / np.maximum(labels.n, 1), np.nan)


def is_one_scale(name: str, labels: Labels) -> bool:
    """Return whether a judge's numbers and people's lie in about the same range."""
    judge, people = labels.judges[name], labels.table
    if not (np.isfinite(judge).any() and np.isfinite(people).any()):
        return False
    low = max(np.nanmin(judge), np.nanmin(people))
    high = min(np.nanmax(judge), np.nanmax(people))
    lowest = min(np.nanmin(judge), np.nanmin(people))
    highest = max(np.nanmax(judge), np.nanmax(people))
    return bool(high - low >= 0.5 * (highest - lowest))


def _card_rows(cards: Mapping[str, LabelCard]) -> Iterator[Row]:
    for part, card in cards.items():
        for statistic, estimate in card.numbers.items():
            yield {
                "slice": part,
                "statistic": statistic,
                **estimate._asdict(),
                "base_rate": card.base_rate.get(statistic, np.nan),
                "why_blank": card.why_blank if np.isnan(estimate.value) else "",
            }


def _class_rows(cards: Mapping[str, LabelCard]) -> Iterator[Row]:
    for part, card in cards.items():
        for label, statistic, estimate, base in card.classes:
            why = card.why_blank
            if statistic == "people_alone":
                why = "labels were chosen: the labelled rows are not like the others"
            if statistic == BIAS:
                why = "fewer than 5 rows have this grade"
            yield {
                "slice": part,
                "label": label,
                "statistic": statistic,
                **estimate._asdict(),
                "base_rate": base,
                "why_blank": why if np.isnan(estimate.value) else "",
            }


def _unmet(name: str, card: LabelCard, labels: Labels) -> Iterator[str]:
    """Yield the requirements that the lower end of an interval does not reach, or is unknown."""
    so = "the judge is not as good as required"
    if labels.kind == PASS_FAIL:
        so = "no corrected pass rate is given"
    for statistic, least in labels.choices.require.items():
        estimate = card.numbers[statistic]
        if not estimate.low >= least:
            number = f"{statistic} {short(estimate.value)}".strip()
            low = short(estimate.low) or "unknown"
            yield (
                f"NOT MET: {name}: {number} has the lower end {low}, not {short(least)} or"
                f" more: {so}"
            )


def labels_for_width(
    numbers: Mapping[str, Estimate], labels: Labels
) -> dict[str, float]:
    """Return how many labels make each number's interval as wide as wanted.

    A half-width falls as the root of the number of labels.
    """
    needed = {}
    for statistic in REQUIRED[labels.kind]:
        estimate = numbers[statistic]
        if np.isfinite(estimate.low):
            ratio = (estimate.high - estimate.low) / labels.choices.width
            needed[statistic] = float(np.ceil(estimate.n * ratio**2))
    return needed


def _labels_needed(card: LabelCard, labels: Labels) -> Iterator[Row]:
    """Yield the labels needed for intervals of the width, and for each required lower end.

    No number is enough where the value itself is not above what is required.
    """

    def n_labelled(statistic: str) -> int:
        # The shares of passes and fails are of some of the labelled rows.
        is_share = labels.kind == PASS_FAIL
        return card.numbers[AGREEMENT if is_share else statistic].n

    for statistic, needed in card.needed.items():
        aim = f"{labels.choices.width:g} wide"
        yield _needed_row(statistic, aim, n_labelled(statistic), needed)
    for statistic, least in labels.choices.require.items():
        estimate = card.numbers[statistic]
        gap = estimate.value - least
        ratio = (estimate.value - estimate.low) / gap if gap > 0 else np.nan
        labelled = n_labelled(statistic)
        needed = float(np.ceil(labelled * max(ratio, 1.0) ** 2))
        yield _needed_row(statistic, f"lower end {least:g}", labelled, needed)


def _needed_row(statistic: str, aim: str, labelled: int, needed: float) -> Row:
    more = max(needed - labelled, 0.0) if np.isfinite(needed) else np.nan
    return {
        "for": statistic,
        "aim": aim,
        "labelled": labelled,
        "needed": needed,
        "more": more,
    }


# ---- judge and people, label by label


def _confusion(name: str, labels: Labels) -> Iterator[Row]:
    """Yield how often people say one label and the judge another; `share` is of all rows."""
    # Which text of a pair is the first one is arbitrary in rankings; the card of passes
    # and fails has the four counts.
    if labels.kind in (PASS_FAIL, NUMBERS, RANKINGS):
        return
    everywhere = np.ones(len(labels.items), dtype=np.bool_)
    rows, _ = judged_rows(name, labels, everywhere)
    pairs = join_raters(labels).pairs
    table = rows.table()
    counts = np.bincount(rows.cell, minlength=table.size).reshape(table.shape)
    for place, people in enumerate(labels.names):
        # A row between two grades counts half for each.
        half = (pairs == place).sum(axis=1) / 2.0
        for verdict, judge in enumerate(labels.names):
            yield {
                "people": people,
                "judged": judge,
                "rows": float(np.sum(half * counts[:, verdict])),
                "share": float(np.sum(half * table[:, verdict])),
            }


def _disagreements(name: str, labels: Labels) -> Iterator[Row]:
    """Yield the items on which judge and people differ, those farthest apart first."""
    if labels.kind == PASS_FAIL:  # `pass_tables` has them, with probabilities
        return
    if labels.kind == NUMBERS and not is_one_scale(name, labels):
        return
    judge, n = labels.judges[name], labels.n
    people = mean_rating(labels)
    joined = join_raters(labels).code if labels.kind in UNORDERED else None
    if joined is not None:
        agreeing = (labels.table == joined).sum(axis=0) / np.maximum(n, 1)
        differs = np.isfinite(judge) & (joined >= 0) & (judge != joined)
        # The surest first: unanimous raters, and many of them.
        distance = np.where(differs, agreeing, 0.0)
    else:
        distance = np.nan_to_num(np.abs(judge - people))
        # A quarter of the rows at most: numbers are hardly ever equal.
        least = 1.0 if labels.kind == ORDINAL else float(np.quantile(distance, 0.75))
        differs = (distance >= least) & (distance > 0)
    order = sorted(np.flatnonzero(differs), key=lambda i: (-distance[i], -n[i], i))
    for i in order:
        row: Row = {
            key: labels.items[key].iloc[i]
            for key in ("id", "doc", "system", "pair")
            if key in labels.items
        }
        if joined is not None:
            row["verdict"] = labels.names[int(judge[i])]
            row["people"] = labels.names[int(joined[i])]
        else:
            row["verdict"] = judge[i]
            row["people"] = people[i]
        yield {**row, "n_raters": int(n[i]), "distance": float(distance[i])}


# ---- beside raters


def nearness_of(labels: Labels) -> Nearness:
    """Return how nearness of two labels is measured in the test beside raters."""
    return "equal" if labels.kind in UNORDERED else "squared"


def weigh_beside_raters(name: str, labels: Labels) -> Array | None:
    """Return how many rows each label stands for (items,); None: its own alone."""
    if labels.kind == NUMBERS:
        return None
    everywhere = np.ones(len(labels.items), dtype=np.bool_)
    rows, places = judged_rows(name, labels, everywhere)
    if rows.is_whole:
        return None
    weight = np.zeros(len(labels.items))
    weight[places] = rows.weight
    return weight


def _verdicts(name: str, labels: Labels) -> Array:
    """Return a judge's labels (items,); probabilities of passing as passes and fails."""
    values = labels.judges[name]
    return judgments(values) if labels.kind == PASS_FAIL else values


def _replacement(
    name: str, labels: Labels, analysis: Analysis
) -> tuple[Row, list[Row]]:
    """Return the alternative annotator test of a judge, and its contests with each rater."""
    choices = labels.choices
    judge = _verdicts(name, labels)
    options: dict[str, Any] = {
        "cluster": labels.cluster,
        "weight": analysis.weigh(name),
        "nearness": nearness_of(labels),
        "epsilon": choices.epsilon,
        "level": 1 - choices.confidence,
    }
    guess = np.where(np.isfinite(judge), analysis.guess(name), np.nan)
    test = annotator_test(judge, labels.table, **options)
    base = annotator_test(guess, labels.table, **options)
    n_raters = sum(np.isfinite(contest.p) for contest in test.contests)
    if labels.kind == NUMBERS and not is_one_scale(name, labels):
        n_raters = 0
    row: Row = {"epsilon": choices.epsilon, "n_raters": n_raters, **test._asdict()}
    del row["contests"]
    if not n_raters:
        for key, value in row.items():
            row[key] = value if key in ("epsilon", "n_raters") else None
    contests = [
        {"rater": who, **contest._asdict()}
        for who, contest in zip(labels.raters, test.contests, strict=True)
        if contest.n and n_raters
    ]
    return {**row, "base_rate_passes": base.passes if n_raters else None}, contests


def usual_label(labels: Labels) -> float:
    """Return the label of a judge that knows only how people label on the whole."""
    ratings = labels.table[np.isfinite(labels.table)]
    if not ratings.size:
        return np.nan
    if labels.kind == NOMINAL:
        return float(np.argmax(np.bincount(ratings.astype(np.intp))))
    if labels.kind == ORDINAL:
        return float(np.sort(ratings)[(ratings.size - 1) // 2])
    return float(np.mean(ratings))


def _nearness_rows(name: str, labels: Labels, analysis: Analysis) -> Iterator[Row]:
    if labels.kind == PASS_FAIL:
        return
    if labels.kind == NUMBERS and not is_one_scale(name, labels):
        return
    nearness = compare_with_raters(
        labels.judges[name],
        labels.table,
        confidence=labels.choices.confidence,
        cluster=labels.cluster,
        weight=analysis.weigh(name),
        nearness=nearness_of(labels),
    )
    for who, estimate in nearness._asdict().items():
        if estimate.n:
            yield {"of": who, **estimate._asdict()}
