"""Segmentations beside right labels, as tables: all sentences, each label, places, confusions."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import pandas as pd

from metassay.reporting.numbers import (
    counted,
    exact,
    per_cent,
    short,
    short_interval,
    shown,
    shown_interval,
)
from metassay.reporting.tables import records, rows
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Row,
    Section,
    Term,
    Terms,
    best_first,
    count,
    number,
)
from metassay.segment_tests.documents import NONE

ALL = "all"
MOST = 8  # confusions that are shown of a segmentation
_NUMBERS = {
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
    "weighted_f1": "weighted F1",
    "cohen_kappa": "Cohen’s kappa",
}
_DIFFERENCES = ("accuracy", "macro_f1")
_OF_LABEL = {"precision": "precision", "recall": "recall", "f1": "F1"}
_PLACES = {
    "place": {name: name for name in ("first third", "middle third", "last third")},
    "confidence": {
        "lower": "labels that people were less sure of",
        "higher": "labels that people were surer of",
    },
}
_TERMS = [
    Term("", word, meaning, "")
    for word, meaning in (
        ("accuracy", "Share of the sentences that are given their right label."),
        (
            "macro-F1",
            "The mean F1 of the labels that some sentence has: a rare label counts as much as a"
            " frequent one.",
        ),
        ("weighted F1", "The mean F1 of these labels, each as often as sentences have it."),
        ("F1", "2 × right / (sentences with the label + sentences given it)."),
        ("Cohen’s kappa", "Agreement beyond what chance gives; 0 is chance, 1 perfect."),
        ("majority guess", "Accuracy of giving every sentence the most frequent label."),
        (
            "at least, at most",
            "Accuracy if the labels that are missing because the segmentation failed were all"
            " wrong, or all right.",
        ),
    )
]
_SAYS = (
    "A sentence’s label is the facet that covers more than half of its characters, and “none” if"
    " no facet does. In brackets stand intervals for other documents: whole documents are drawn"
    " again, because sentences of one are alike."
)


class Scores(NamedTuple):
    """Rows of table `segment_scores` by segmentation, then by (of, name, statistic)."""

    found: dict[str, dict[tuple[str, str, str], Row]]
    labels: Sequence[str]  # in the order of the page

    @property
    def best(self) -> list[str]:
        """Segmentations, the most accurate first."""
        return sorted(self.found, key=lambda one: (best_first(self.value(one, "accuracy")), one))

    def of_all(self, segmentation: str, statistic: str) -> Row:
        """The row of one number of all sentences."""
        return self.found[segmentation][ALL, ALL, statistic]

    def value(self, segmentation: str, statistic: str) -> float | None:
        """Its value; None if it is undefined."""
        value: float | None = self.of_all(segmentation, statistic)["value"]
        return value


def scores_of(frame: pd.DataFrame, labels: Sequence[str]) -> Scores:
    """The rows of table `segment_scores`, found by where they belong."""
    found: dict[str, dict[tuple[str, str, str], Row]] = {}
    for row in records(frame):
        key = (row["of"], row["name"], row["statistic"])
        found.setdefault(row["segmentation"], {})[key] = row
    return Scores(found, labels)


def verdict(scores: Scores, majority: str) -> list[str]:
    """Sentences: the most accurate segmentation, and a guess; then each of the others."""
    said = []
    for name in scores.best:
        accuracy = scores.of_all(name, "accuracy")
        if accuracy["value"] is None:
            said.append(f"{name} failed on every sentence.")
            continue
        found = (
            f"{name} gives {_with_ends(accuracy)} of {counted(accuracy['n'], 'sentence')} the right"
            f" label; its macro-F1 is {_with_ends(scores.of_all(name, 'macro_f1'))}"
        )
        if accuracy["n_failed"]:
            low, high = (scores.value(name, f"accuracy_at_{end}") for end in ("least", "most"))
            found += (
                f". It failed on {accuracy['n_failed']:,} more, with which its accuracy is between"
                f" {short(low)} and {short(high)}"
            )
        if said:
            found += f". {_above(scores.best[0], scores.found[scores.best[0]], name)}"
        else:
            guess = scores.value(name, "majority_guess")
            found += f". Calling every sentence “{majority}” would be right for {short(guess)}"
        said.append(f"{found}.")
    return said


def numbers_section(scores: Scores) -> Section:
    """A row per segmentation, the most accurate first."""
    failed = any(scores.value(name, "failed") for name in scores.found)
    heads = ["segmentation", "sentences", *_NUMBERS.values(), "majority guess"]
    lines = []
    for name in scores.best:
        cells = [_sentences(scores.of_all(name, "accuracy"))]
        cells += [_cell(scores.of_all(name, statistic)) for statistic in _NUMBERS]
        cells.append(_cell(scores.of_all(name, "majority_guess"), ends=False))
        if failed:
            low, high = (scores.value(name, f"accuracy_at_{end}") for end in ("least", "most"))
            cells.append(Cell(f"{short(low)}, {short(high)}", (), exact(low)))
        lines.append((name, cells))
    grid = Grid("", [*heads, *(["at least, at most"] if failed else [])], lines)
    pairs = [
        (
            f"{one} above {other}",
            [
                count(scores.found[one]["above", other, "accuracy"]["n"]),
                *(_difference(scores.found[one]["above", other, name]) for name in _DIFFERENCES),
            ],
        )
        for one, other in combinations(scores.best, 2)
    ]
    grids = [grid]
    if pairs:
        heads = ["difference", "sentences", *(_NUMBERS[name] for name in _DIFFERENCES)]
        caption = "By how much one is above another, on the sentences that both labelled"
        grids.append(Grid(caption, heads, pairs, sort=False))
    terms = [term for term in _TERMS if failed or term.word != "at least, at most"]
    return Section(
        "numbers",
        "How often labels are right",
        [_SAYS],
        ["segment_scores"],
        grids,
        terms=[Terms("What the numbers say", terms)],
    )


def labels_section(scores: Scores) -> Section:
    """F1 by label and segmentation; behind a line each segmentation's precision and recall."""
    names = scores.best
    lines = [
        (label, [_support(scores, label), *(_of_label(scores, name, label) for name in names)])
        for label in scores.labels
    ]
    grid = Grid("F1 by label", ["label", "sentences", *names], lines, sort=False)
    groups = [Group(name, "precision, recall, F1", [_each_label(scores, name)]) for name in names]
    none = "“none” is the label of sentences that are of no facet."
    says = [none] if NONE in scores.labels else []
    return Section("labels", "Label by label", says, ["segment_scores"], [grid], groups)


def confusions_section(confusions: pd.DataFrame) -> Section | None:
    """The figure, and each segmentation's most frequent confusions; None without a sentence."""
    if confusions.empty:
        return None
    total = confusions.groupby(["segmentation", "label"])["n"].transform("sum")
    wrong = confusions.assign(total=total)[
        (confusions["label"] != confusions["given"]) & (confusions["n"] > 0)
    ]
    groups = []
    for name, mine in wrong.groupby("segmentation", sort=False):
        first = mine.sort_values("n", ascending=False, kind="stable").head(MOST)
        lines = [
            (f"{label} taken for {given}", [count(n), Cell(per_cent(n / of), (), exact(n / of))])
            for label, given, n, of in rows(first, "label", "given", "n", "total")
        ]
        heads = ["confusion", "sentences", "of those with the label"]
        title = f"{name}: what it confuses most"
        groups.append(Group(title, f"{mine['n'].sum():,} wrong", [Grid("", heads, lines)]))
    says = (
        "Rows are right labels, columns the labels given; the darker, the larger the row’s share."
    )
    heading = "What is taken for what"
    return Section(
        "confusions", heading, [says], ["confusions"], groups=groups, figure="confusions"
    )


def places_section(scores: Scores) -> Section | None:
    """Accuracy by third of the text, and by how sure people were; None where there is neither."""
    there = {(of, name) for mine in scores.found.values() for of, name, _ in mine}
    keys = [(of, name) for of, names in _PLACES.items() for name in names if (of, name) in there]
    if not keys:
        return None
    lines = []
    for of, name in keys:
        found = [scores.found[one].get((of, name, "accuracy")) for one in scores.best]
        sizes = [row["n"] + row["n_failed"] for row in found if row is not None]
        cells = [NOT_COMPUTED if row is None else _cell(row) for row in found]
        lines.append((_PLACES[of][name], [count(max(sizes)), *cells]))
    grid = Grid("Accuracy by place", ["sentences of", "sentences", *scores.best], lines, sort=False)
    says = (
        "Thirds are of a text’s sentences. Where the data say how sure people were of a label,"
        " sentences are parted at the median: what people doubt, no segmentation can always get"
        " right."
    )
    heading = "Where in the text, and how sure the right labels are"
    return Section("places", heading, [says], ["segment_scores"], [grid])


def _each_label(scores: Scores, name: str) -> Grid:
    lines = []
    for label in scores.labels:
        found = {one: scores.found[name].get(("label", label, one)) for one in _OF_LABEL}
        cells = [NOT_COMPUTED if row is None else _cell(row) for row in found.values()]
        n = next((row["n"] for row in found.values() if row is not None), 0)
        lines.append((label, [count(n), *cells]))
    return Grid("", ["label", "sentences", *_OF_LABEL.values()], lines, sort=False)


def _support(scores: Scores, label: str) -> Cell:
    found = [scores.found[name].get(("label", label, "f1")) for name in scores.found]
    return count(max((row["n"] for row in found if row is not None), default=0))


def _of_label(scores: Scores, name: str, label: str) -> Cell:
    row = scores.found[name].get(("label", label, "f1"))
    return NOT_COMPUTED if row is None else _cell(row)


def _sentences(row: Row) -> Cell:
    notes = (f"failed on {row['n_failed']:,}",) if row["n_failed"] else ()
    return Cell(f"{row['n']:,}", notes, str(row["n"]))


def _cell(row: Row, *, ends: bool = True) -> Cell:
    interval = short_interval(row["low"], row["high"]) if ends else ""
    text = short(row["value"]) or "undefined"
    return Cell(text, (interval,) if interval else (), exact(row["value"]))


def _difference(row: Row) -> Cell:
    return number(row["value"], low=row["low"], high=row["high"])


def _above(best: str, mine: dict[tuple[str, str, str], Row], other: str) -> str:
    row = mine["above", other, "accuracy"]
    ends = shown_interval(row["low"], row["high"])
    said = f"{best} is right for {shown(row['value'])} {ends}".strip() + " more"
    if row["low"] is not None and row["low"] <= 0:
        said += ", which may be chance"
    return said


def _with_ends(row: dict[str, Any]) -> str:
    return f"{short(row['value'])} {short_interval(row['low'], row['high'])}".strip()
