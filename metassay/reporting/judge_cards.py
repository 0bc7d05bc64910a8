"""A judge's card: what its pass and fail are worth, in numbers that say what they mean."""

import math

import pandas as pd

from metassay.core.errors import raise_problems
from metassay.core.errors import shown as shown_key
from metassay.format.frames import records
from metassay.format.numbers import MINUS, counted, shown
from metassay.meta_evaluation.judge_cards import ANALYSIS
from metassay.reporting.names import Metric
from metassay.reporting.section import (
    Cell,
    Grid,
    Group,
    Row,
    Section,
    by_criterion,
    count,
    estimate,
    grouped,
    key_of,
    metric_of,
    number,
    opening,
    titled,
)
from metassay.tables.columns import entries
from metassay.tables.names import metric_label

Card = dict[str, Row]  # by statistic

CARDS_OF_ITEMS = (
    "Each judge’s card in full, in the words of judges that pass or fail texts. Here a text is an"
    " item, it passes where its hypothesis is entailed, and what people say is the right answer."
    " Sensitivity says how much of what is entailed the judge finds entailed; specificity says how"
    " much of the rest it finds not entailed."
)
# Statistic: its name | what it means | what is said instead where it rests on no text.
_NO_TEXT = "No text has both a judgment and a rating."
_NUMBERS = {
    name: tuple(words.split(" | "))
    for name, words in entries(f"""
    sensitivity: sensitivity | Of {{texts}} that people passed, the judge passes {{value}}.
      | People passed no text that has a judgment.
    specificity: specificity | Of {{texts}} that people failed, the judge fails {{value}}.
      | People failed no text that has a judgment.
    precision: precision of a pass | Of {{texts}} that the judge passes, people passed {{value}}.
      | The judge passes no text that people rated.
    negative_predictive_value: precision of a fail
      | Of {{texts}} that the judge fails, people failed {{value}}.
      | The judge fails no text that people rated.
    balanced_accuracy: balanced accuracy
      | The mean of sensitivity and specificity; a coin gets 50 %.
    cohen_kappa: Cohen’s kappa | Agreement beyond chance: 0 is chance, 1 is perfect.
    mcc: Matthews correlation
      | Correlation of the judge’s judgments with people’s: 0 is none, 1 is perfect.
    agreement: agreement | Of {{texts}} with both, judge and people agree on {{value}}. | {_NO_TEXT}
    agreement_by_chance: agreement by chance
      | Were judge and people to pass as many, without looking.
    judge_pass_rate: pass rate, the judge’s own
      | Of {{texts}}, the judge passes {{value}}. | {_NO_TEXT}
    people_pass_rate: pass rate, people’s
      | Of {{texts}} that people rated, they passed {{value}}. | {_NO_TEXT}
    rogan_gladen_pass_rate: pass rate, Rogan-Gladen
      | The judge’s own, corrected by sensitivity and specificity.
    prediction_powered_pass_rate: pass rate, prediction-powered
      | The judge’s own, corrected by the texts that people rated.
    brier: Brier score | Mean squared distance of probability and judgment: 0 is best.
    bias: bias of the probabilities
      | Mean probability less share passed: above 0, the judge is too kind.
    ece: expected calibration error | Mean gap between a bin’s probability and its share passed.
    ece_by_chance: the same by chance
      | What a judge whose probabilities are right would show on so few texts.
    labels_pass_rate: ratings for the pass rate | the prediction-powered pass rate
    labels_sensitivity: ratings for sensitivity | sensitivity
    labels_specificity: ratings for specificity | specificity
    """)
}
_COUNTED = ("true_pass", "false_fail", "false_pass", "true_fail")
_PER_CENT = {
    *("sensitivity", "specificity", "precision", "negative_predictive_value"),
    *("balanced_accuracy", "agreement", "agreement_by_chance", "judge_pass_rate"),
    *("people_pass_rate", "rogan_gladen_pass_rate", "prediction_powered_pass_rate"),
}


def judge_cards_section(cards: pd.DataFrame, bins: pd.DataFrame, *says: str) -> Section | None:
    """One group per criterion, metric and judge; None without a card. `says` how to read them."""
    if cards.empty:
        return None
    of_bins = grouped(records(bins), lambda row: (key_of(row), metric_of(row)))
    groups: list[Group] = []
    for key, mine in by_criterion(cards):
        for metric, card in _cards(mine).items():
            reliability = of_bins.get((key, metric), [])
            grids = [_judgments(card), _numbers(card), *_reliability(reliability)]
            title = f"{metric_label(*metric)}, {titled(key)}"
            soft = f"study {key[0]}, {_rests_on(card)}"
            groups.append(Group(title, soft, grids, open=not groups))
    files = ["judge_cards", *(["calibration"] if len(bins) else [])]
    section = opening(ANALYSIS)
    return section._replace(says=[*(says or section.says)], files=files, groups=groups)


def _cards(rows: list[Row]) -> dict[Metric, Card]:
    made = {
        metric: {row["statistic"]: row for row in mine}
        for metric, mine in grouped(sorted(rows, key=metric_of), metric_of).items()
    }
    raise_problems(
        f"judge_cards: {shown_key(metric_label(*name))}: has no {', '.join(lacking)}; metassay run"
        " builds a benchmark's tables again"
        for name, card in made.items()
        if (lacking := _lacking(card))
    )
    return made


def _lacking(card: Card) -> list[str]:
    known = {name for name, row in card.items() if name not in _COUNTED or pd.notna(row["value"])}
    return [name for name in ("agreement", *_COUNTED) if name not in known]


def _rests_on(card: Card) -> str:
    row = card["agreement"]
    said = [f"{counted(row['n'], 'text')} rated, {row['n_judged']:,} judged"]
    if row["n_effective"] < row["n"]:
        said.append(f"the rated ones worth {row['n_effective']:,.0f} independent ones")
    if row["n_missing"]:
        said.append(f"{row['n_missing']:,} rated without a judgment")
    if row["n_split"]:
        said.append(f"{row['n_split']:,} left out where raters are split")
    return ", ".join(said)


def _judgments(card: Card) -> Grid:
    heads = ["people", "judge passes", "judge fails"]
    rows = [
        ("pass", [count(int(card[name]["value"])) for name in ("true_pass", "false_fail")]),
        ("fail", [count(int(card[name]["value"])) for name in ("false_pass", "true_fail")]),
    ]
    return Grid("Judgments", heads, rows, sort=False)


def _numbers(card: Card) -> Grid:
    rows = [
        (title, [_value(card[name], name), Cell(_means(name, card[name], *words))])
        for name, (title, *words) in _NUMBERS.items()
        if name in card
    ]
    return Grid("What the judgments are worth", ["number", "value", "means"], rows, sort=False)


def _value(row: Row, name: str) -> Cell:
    notes = (f"n = {row['n']:,}",)
    if name.startswith("labels_"):
        return count(int(row["value"])) if row["value"] is not None else Cell("undefined", notes)
    if name not in _PER_CENT:
        return number(row["value"], *notes, low=row["low"], high=row["high"])
    made = number(row["value"])
    interval = _interval(row)
    below = (interval, *notes) if interval else notes
    return made._replace(text=_per_cent(row["value"]), notes=below)


def _means(name: str, row: Row, words: str, none: str = "") -> str:
    if name.startswith("labels_"):
        return _labels(row, name, words)
    if none and row["n"] == 0:
        return none
    interval = _interval(row)
    value = f"{_per_cent(row['value'])} {interval}" if interval else _per_cent(row["value"])
    return words.format(texts=counted(row["n"], "text"), value=value)


def _labels(row: Row, name: str, of: str) -> str:
    wide = f"{100 * row['width']:.3g} points wide"
    if row["value"] is None:
        return f"Too few texts have both a judgment and a rating to say when {of} is {wide}."
    needed = counted(int(row["value"]), "rated text")
    more = ""
    if name == "labels_pass_rate" and row["value"] > row["n_judged"]:
        more = f"; only {row['n_judged']:,} have a judgment, so more texts are needed"
    return f"For an interval of {of} {wide}: {needed} in all, {row['n']:,} so far{more}."


def _interval(row: Row) -> str:
    if row["low"] is None or row["high"] is None:
        return ""
    return f"[{_whole(row['low'])}, {_whole(row['high'])}]"


def _per_cent(value: float | None) -> str:
    return "undefined" if value is None else f"{_whole(value)} %"


def _whole(value: float) -> str:
    """Per cent, half a point up; all or nothing only where it is all or nothing."""
    points = math.floor(100 * value + 0.5)
    if (points == 100 and value < 1) or (points == 0 and value > 0):
        beyond = "> 99.9" if value > 0.5 else "< 0.1"
        return f"{100 * value:.1f}" if 0.0005 <= value < 0.9995 else beyond
    return str(points).replace("-", MINUS)


def _reliability(rows: list[Row]) -> list[Grid]:
    if not rows:
        return []
    lines = [
        (
            f"{shown(row['lowest'])} to {shown(row['highest'])}",
            [number(row["mean"]), estimate(row, of="passed"), count(row["n"])],
        )
        for row in sorted(rows, key=lambda row: row["bin"])
    ]
    heads = ["probability", "mean", "share that people passed", "texts"]
    caption = f"Probability and what people said, {counted(len(rows), 'bin')} of about equal size"
    return [Grid(caption, heads, lines, sort=False)]
