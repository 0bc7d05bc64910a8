"""Every judge of a test in one row: how far it agrees with the right answers, and on what."""

import pandas as pd

from metassay.reporting.judge_test_cards import Card, Cards, value
from metassay.reporting.numbers import exact, per_cent, short, short_interval
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Section,
    Term,
    Terms,
    best_first,
)
from metassay.tables.names import ALL_SUBSETS, MEAN_OF_SUBSETS

COLUMNS = {
    "agreement": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "auroc": "AUROC",
    "ece": "ECE",
    "accuracy_3way": "accuracy, 3-way",
    "balanced_accuracy_3way": "balanced accuracy, 3-way",
    "macro_f1_3way": "macro-F1, 3-way",
}
_TERMS = [
    Term("", word, meaning, "")
    for word, meaning in (
        ("accuracy", "Share of verdicts that are right. Who abstained or failed has no verdict."),
        ("at least, at most", "Accuracy if every verdict that is missing were wrong, or right."),
        (
            "balanced accuracy",
            "The mean of the share of entailed hypotheses that are found and the share of the"
            " others; a coin gets .50, whatever their numbers.",
        ),
        ("F1", "Harmonic mean of precision and recall of the verdict “entailed”."),
        (
            "AUROC",
            "How often the probability of an entailed hypothesis is above that of another one; a"
            " coin gets .50. It needs no threshold, and counts items of which a judge abstained if"
            " it says a probability.",
        ),
        (
            "ECE",
            "Expected calibration error: the mean gap between a probability and the share that is"
            " right; 0 is best. Below it stands what chance gives with so few items.",
        ),
        (
            "3-way",
            "Of the labels entailed, neutral and contradicted; the other numbers take entailed"
            " against the rest. Balanced accuracy and macro-F1 are means over the labels.",
        ),
    )
]
_SAYS = (
    "Every judge beside the right answers, best first. In brackets stand intervals; items of one"
    " cluster (a text, a document) count as alike. A judge that has verdicts on some items only is"
    " compared on these: they have a table of their own."
)
_MEANS = (
    "The mean of subsets is the plain mean of the numbers of the test sets: each set counts the"
    " same, however many items it has."
)
_RATERS = (
    "A rater’s verdicts are held against what most of the other raters say. Items on which"
    " these are split are not among that rater’s."
)


def numbers_section(test: Cards, first: str) -> Section | None:
    """A table per study, rows sorted by the number `first`; None without a card."""
    if not test.whole:
        return None
    several = test.main == MEAN_OF_SUBSETS
    says = [_SAYS, *([_MEANS] if several else []), *([_RATERS] if test.raters else [])]
    grids = [_by_subset(test, first)] if several else []
    groups = [
        Group(_titled(study), f"{test.asked.get(study, 0):,} items", [_study(test, study, first)])
        for study in test.studies
    ]
    groups[0] = groups[0]._replace(open=True)
    terms = [Terms("What the numbers say", _used(test))]
    heading = "How far judges agree with the right answers"
    return Section("numbers", heading, says, ["judge_cards"], grids, groups, terms=terms)


def _used(test: Cards) -> list[Term]:
    """Only what the tables have."""
    three = any("accuracy_3way" in card for card in test.whole.values())
    sure = any("auroc" in card for card in test.whole.values())
    left_out = {*(() if three else ("3-way",)), *(() if sure else ("AUROC", "ECE"))}
    return [term for term in _TERMS if term.word not in left_out]


def _titled(study: str) -> str:
    return study[0].upper() + study[1:] if study in (ALL_SUBSETS, MEAN_OF_SUBSETS) else study


def _study(test: Cards, study: str, first: str) -> Grid:
    cards = {judge: test.whole[study, judge] for judge in test.judges(study)}
    names = [name for name in COLUMNS if any(name in card for card in cards.values())]
    order = sorted(cards, key=lambda j: (j in test.raters, best_first(value(cards[j], first)), j))
    lines = [
        (
            judge_title(test, judge),
            [
                _verdicts(cards[judge], None if judge in test.raters else test.asked.get(study, 0)),
                *(_number(cards[judge], name) for name in names),
                _bounds(cards[judge]),
                _missing(cards[judge]),
            ],
        )
        for judge in order
    ]
    heads = [
        "judge",
        "verdicts",
        *(COLUMNS[name] for name in names),
        "at least, at most",
        "missing",
    ]
    return Grid("", heads, lines)


def judge_title(test: Cards, judge: str) -> str:
    """A judge's name; of a person that they are one."""
    return f"{judge} (rater)" if judge in test.raters else judge


def _by_subset(test: Cards, first: str) -> Grid:
    judges = test.judges(MEAN_OF_SUBSETS)
    lines = [
        (
            _titled(study),
            [
                _number(test.whole[study, judge], first)
                if (study, judge) in test.whole
                else NOT_COMPUTED
                for judge in judges
            ],
        )
        for study in test.studies
    ]
    heads = ["test set", *(judge_title(test, judge) for judge in judges)]
    return Grid(f"{COLUMNS[first].capitalize()} by test set", heads, lines, sort=False)


def _number(card: Card, name: str) -> Cell:
    if name not in card:
        return NOT_COMPUTED
    row = card[name]
    notes = [short_interval(row["low"], row["high"])]
    if name == "ece" and value(card, "ece_by_chance") is not None:
        notes.append(f"chance {short(value(card, 'ece_by_chance'))}")
    elif name == "auroc" and row["n"] != card["agreement"]["n"]:
        notes.append(f"n = {row['n']:,}")
    text = short(row["value"]) or "undefined"
    return Cell(text, tuple(note for note in notes if note), exact(row["value"]))


def _verdicts(card: Card, asked: int | None) -> Cell:
    """Of all items of the study, whether the judge was asked about them or not; of a rater (None)
    of those that the others settle, of which the shares in the row are.
    """
    n = int(card["agreement"]["n"])
    asked = n + int(card["agreement"]["n_missing"]) if asked is None else asked
    return Cell(f"{n:,}", () if n >= asked else (f"of {asked:,} items",), str(n))


def _bounds(card: Card) -> Cell:
    low, high = value(card, "agreement_at_least"), value(card, "agreement_at_most")
    if low == high:
        return NOT_COMPUTED  # nothing is missing
    return Cell(f"{short(low)}, {short(high)}", (), exact(low))


def _missing(card: Card) -> Cell:
    said = [
        part
        for name in ("abstained", "failed")
        if (row := card[name])["value"]
        for part in (f"{name} {per_cent(row['value'])}", _percents(row["low"], row["high"]))
        if part
    ]
    return Cell(said[0], tuple(said[1:])) if said else Cell("none", stored="0")


def _percents(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f"[{per_cent(low)}, {per_cent(high)}]"


def reliability_section(bins: pd.DataFrame) -> Section | None:
    """The figure of the probabilities; None without any. `bins` are those of all items."""
    if bins.empty:
        return None
    says = (
        "A probability means what it says if, of the items that get .80, 80 % are entailed. Each"
        " dot is a bin of about equally many items: its mean probability, and the share that is"
        " entailed, with its interval. Below the line a judge is too sure of “entailed”, above it"
        " too little. All items that have a probability count, also those of which it abstained."
    )
    heading = "Whether probabilities mean what they say"
    return Section("reliability", heading, [says], ["calibration"], figure="reliability")


def recipes_section(cards: pd.DataFrame) -> Section | None:
    """What made each judge's verdicts; None without a card."""
    recipes = sorted(set(zip(cards["judge"], cards["recipe"], strict=True)))
    if not recipes:
        return None
    rows = [(str(judge), [Cell(str(recipe))]) for judge, recipe in recipes]
    grid = Grid("", ["judge", "recipe"], rows, sort=False)
    says = "Everything that went into a judge’s verdicts. Different recipes are different judges."
    return Section("recipes", "Recipes", [says], ["judge_cards"], [grid])
