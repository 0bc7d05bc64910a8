"""A judge's card: what its pass and fail are worth, in numbers that say what they mean."""

import math

import pandas as pd

from metassay.core.errors import BadInput
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
    grouped,
    key_of,
    metric_of,
    number,
    titled,
)
from metassay.tables.names import metric_label

Card = dict[str, Row]  # by statistic

CARDS_OF_ITEMS = (
    "Each judge’s card in full, in the words of judges that pass or fail texts. Here a text is an"
    " item, it passes where its hypothesis is entailed, and what people say is the right answer."
    " Sensitivity says how much of what is entailed the judge finds entailed; specificity says how"
    " much of the rest it finds not entailed."
)
_NAMES = {
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "precision": "precision of a pass",
    "negative_predictive_value": "precision of a fail",
    "balanced_accuracy": "balanced accuracy",
    "cohen_kappa": "Cohen’s kappa",
    "mcc": "Matthews correlation",
    "agreement": "agreement",
    "agreement_by_chance": "agreement by chance",
    "judge_pass_rate": "pass rate, the judge’s own",
    "people_pass_rate": "pass rate, people’s",
    "rogan_gladen_pass_rate": "pass rate, Rogan-Gladen",
    "prediction_powered_pass_rate": "pass rate, prediction-powered",
    "brier": "Brier score",
    "bias": "bias of the probabilities",
    "ece": "expected calibration error",
    "ece_by_chance": "the same by chance",
    "labels_pass_rate": "ratings for the pass rate",
    "labels_sensitivity": "ratings for sensitivity",
    "labels_specificity": "ratings for specificity",
}
_MEANS = {
    "balanced_accuracy": "The mean of sensitivity and specificity; a coin gets 50 %.",
    "cohen_kappa": "Agreement beyond chance: 0 is chance, 1 is perfect.",
    "mcc": "Correlation of the judge’s judgments with people’s: 0 is none, 1 is perfect.",
    "agreement_by_chance": "Were judge and people to pass as many, without looking.",
    "rogan_gladen_pass_rate": "The judge’s own, corrected by sensitivity and specificity.",
    "prediction_powered_pass_rate": "The judge’s own, corrected by the texts that people rated.",
    "brier": "Mean squared distance of probability and judgment: 0 is best.",
    "bias": "Mean probability less share passed: above 0, the judge is too kind.",
    "ece": "Mean gap between a bin’s probability and its share passed.",
    "ece_by_chance": "What a judge whose probabilities are right would show on so few texts.",
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
    page = ANALYSIS.page
    return Section(page.id, page.heading, [*(says or page.says)], files, groups=groups)


def _cards(rows: list[Row]) -> dict[Metric, Card]:
    made = {
        metric: {row["statistic"]: row for row in mine}
        for metric, mine in grouped(sorted(rows, key=metric_of), metric_of).items()
    }
    problems = [
        f"judge_cards: {shown_key(metric_label(*name))}: has no {', '.join(lacking)}; metassay run"
        " builds a benchmark's tables again"
        for name, card in made.items()
        if (lacking := _lacking(card))
    ]
    if problems:
        raise BadInput(problems)
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
        (title, [_value(card[name], name), Cell(_means(name, card))])
        for name, title in _NAMES.items()
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


def _means(name: str, card: Card) -> str:
    if name in _MEANS:
        return _MEANS[name]
    row = card[name]
    if name.startswith("labels_"):
        return _labels(row, name)
    n, found = row["n"], _with_interval(row)
    none = {
        "sensitivity": "People passed no text that has a judgment.",
        "specificity": "People failed no text that has a judgment.",
        "precision": "The judge passes no text that people rated.",
        "negative_predictive_value": "The judge fails no text that people rated.",
    }
    if n == 0:
        return none.get(name, "No text has both a judgment and a rating.")
    texts = counted(n, "text")
    return {
        "sensitivity": f"Of {texts} that people passed, the judge passes {found}.",
        "specificity": f"Of {texts} that people failed, the judge fails {found}.",
        "precision": f"Of {texts} that the judge passes, people passed {found}.",
        "negative_predictive_value": f"Of {texts} that the judge fails, people failed {found}.",
        "agreement": f"Of {texts} with both, judge and people agree on {found}.",
        "judge_pass_rate": f"Of {texts}, the judge passes {found}.",
        "people_pass_rate": f"Of {texts} that people rated, they passed {found}.",
    }[name]


def _labels(row: Row, name: str) -> str:
    of = {
        "labels_pass_rate": "the prediction-powered pass rate",
        "labels_sensitivity": "sensitivity",
        "labels_specificity": "specificity",
    }[name]
    wide = f"{100 * row['width']:.3g} points wide"
    if row["value"] is None:
        return f"Too few texts have both a judgment and a rating to say when {of} is {wide}."
    needed = counted(int(row["value"]), "rated text")
    more = ""
    if name == "labels_pass_rate" and row["value"] > row["n_judged"]:
        more = f"; only {row['n_judged']:,} have a judgment, so more texts are needed"
    return f"For an interval of {of} {wide}: {needed} in all, {row['n']:,} so far{more}."


def _with_interval(row: Row) -> str:
    interval = _interval(row)
    return f"{_per_cent(row['value'])} {interval}" if interval else _per_cent(row["value"])


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
        return f"{100 * value:.1f}" if 0.0005 <= value < 0.9995 else _beyond(value)
    return str(points).replace("-", MINUS)


def _beyond(value: float) -> str:
    return "> 99.9" if value > 0.5 else "< 0.1"


def _reliability(rows: list[Row]) -> list[Grid]:
    if not rows:
        return []
    lines = [
        (
            f"{shown(row['lowest'])} to {shown(row['highest'])}",
            [
                number(row["mean"]),
                number(row["passed"], low=row["low"], high=row["high"]),
                count(row["n"]),
            ],
        )
        for row in sorted(rows, key=lambda r: r["bin"])
    ]
    heads = ["probability", "mean", "share that people passed", "texts"]
    caption = f"Probability and what people said, {counted(len(rows), 'bin')} of about equal size"
    return [Grid(caption, heads, lines, sort=False)]
