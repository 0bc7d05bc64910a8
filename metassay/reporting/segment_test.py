"""The report about one test of segmentations: a folder of tables and one self-contained page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.format.frames import records, rows
from metassay.format.numbers import counted, exact, per_cent, short, shown, shown_interval
from metassay.labelled.records import NONE
from metassay.reporting.figures.tests import draw_confusions
from metassay.reporting.page import Drawing, Report, filled, write_figures, write_tables, write_test
from metassay.reporting.section import (
    Cell,
    Grid,
    Group,
    Row,
    Section,
    best_first,
    count,
    estimate,
    present,
    recipes_section,
    short_cell,
    short_estimate,
)
from metassay.reporting.specs import section

SEGMENT_FIGURES = {
    "confusions": Drawing(
        draw_confusions,
        "confusions",
        "How many sentences of each label every segmentation gives which label",
    )
}
_TEXT = ["doc_id", "author"]
_SENTENCE = [*_TEXT, "position"]
_RECIPES = "The settings of each segmentation. Different recipes are different segmentations."


@dataclass(frozen=True, eq=False, kw_only=True)
class SegmentTestReport(Report):
    """What the report is made from; `segmentations` in the order of params.yaml.

    `tables`: texts, sentences, segmented, segment_scores and confusions.
    """

    segmentations: Sequence[str]


def write_segment_test(report: SegmentTestReport, out: Path) -> None:
    """Write the folder `out`, whole or not at all; equal input gives equal bytes.

    Files: index.html; segment_scores, confusions, sentences (a row per sentence with its right
    label and that of each segmentation), language_models (where any model was asked) and notes
    (where there is any), each as .csv (all digits) and .md; figures/confusions.svg and .png. Only
    the page has texts. Raises BadInput if `out` holds anything; then nothing is written.
    """
    tables = report.tables
    labels = _labels(tables["sentences"], tables["segmented"])
    with whole_folder(out, "report") as folder:
        wide = _wide(tables["sentences"], tables["segmented"], report.segmentations)
        files = {
            **filled(
                segment_scores=tables["segment_scores"],
                confusions=tables["confusions"],
                sentences=wide[[*_SENTENCE, "label", "confidence", *report.segmentations]],
            ),
            **report.said(),
        }
        write_tables(files, folder)
        _write_page(report, files, labels, folder)


def _labels(sentences: pd.DataFrame, segmented: pd.DataFrame) -> list[str]:
    """Every label that is right or given, in the order in which texts mostly have them."""
    last = sentences.groupby(_TEXT)["position"].transform("max")
    place = (sentences["position"] + 0.5) / (last + 1)
    right = place.groupby(sentences["label"]).mean().sort_values(kind="stable").index
    given = sorted(set(segmented["label"].dropna()) - set(right))
    every = [str(label) for label in (*right, *given)]
    return [*(label for label in every if label != NONE), *([NONE] if NONE in every else [])]


def _wide(
    sentences: pd.DataFrame, segmented: pd.DataFrame, segmentations: Sequence[str]
) -> pd.DataFrame:
    """The sentences, with a column of labels per segmentation."""
    for name in segmentations:
        mine = segmented.loc[segmented["segmentation"] == name, [*_SENTENCE, "label"]]
        sentences = sentences.merge(mine.rename(columns={"label": name}), on=_SENTENCE)
    return sentences


def _write_page(
    report: SegmentTestReport,
    files: Mapping[str, pd.DataFrame],
    labels: Sequence[str],
    folder: Path,
) -> None:
    tables = report.tables
    texts, sentences, segmented = (tables[name] for name in ("texts", "sentences", "segmented"))
    scores = scores_of(tables["segment_scores"], labels)
    order = {name: place for place, name in enumerate((*scores.best, *labels))}
    confusions = tables["confusions"].sort_values(
        ["segmentation", "label", "given"], key=lambda names: names.map(order)
    )
    write_test(
        "segment_test.html.j2",
        folder,
        report,
        files,
        figures=write_figures(SEGMENT_FIGURES, {"confusions": confusions}, folder),
        counts=[
            counted(len(texts), "text"),
            counted(len(sentences), "labelled sentence"),
            counted(sentences["label"].nunique(), "label"),
            counted(len(report.segmentations), "segmentation"),
        ],
        verdict=verdict(scores, str(sentences["label"].value_counts().index[0])),
        sections=present(
            [
                numbers_section(scores),
                labels_section(scores),
                confusions_section(confusions),
                places_section(scores),
            ]
        ),
        segmentations=report.segmentations,
        examples=examples_view(texts, sentences, segmented, report.segmentations, labels),
        below=[],
        recipes=recipes_section(segmented, "segmentation", _RECIPES),
    )


# Segmentations beside right labels, as tables: all sentences, each label, places, confusions.

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
    **{("place", name): name for name in ("first third", "middle third", "last third")},
    ("confidence", "lower"): "labels that people were less sure of",
    ("confidence", "higher"): "labels that people were surer of",
}


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
    said: list[str] = []
    for name in scores.best:
        accuracy = scores.of_all(name, "accuracy")
        if accuracy["value"] is None:
            said.append(f"{name} failed on every sentence.")
            continue
        found = (
            f"{name} gives {short_estimate(accuracy)} of {counted(accuracy['n'], 'sentence')} the"
            f" right label; its macro-F1 is {short_estimate(scores.of_all(name, 'macro_f1'))}"
        )
        if accuracy["n_failed"]:
            low, high = (short(scores.value(name, f"accuracy_at_{e}")) for e in ("least", "most"))
            found += (
                f". It failed on {accuracy['n_failed']:,} more, with which its accuracy is between"
                f" {low} and {high}"
            )
        guess = short(scores.value(name, "majority_guess"))
        lead = f"Calling every sentence “{majority}” would be right for {guess}"
        if said:
            best = scores.best[0]
            row = scores.found[best]["above", name, "accuracy"]
            ends = shown_interval(row["low"], row["high"])
            lead = f"{best} is right for {shown(row['value'])} {ends}".strip() + " more"
            chance = row["low"] is not None and row["low"] <= 0
            lead += ", which may be chance" if chance else ""
        said.append(f"{found}. {lead}.")
    return said


def numbers_section(scores: Scores) -> Section:
    """A row per segmentation, the most accurate first."""
    failed = any(scores.value(name, "failed") for name in scores.found)
    heads = ["segmentation", "sentences", *_NUMBERS.values(), "majority guess"]
    heads += ["at least, at most"] * failed
    lines = []
    for name in scores.best:
        accuracy = scores.of_all(name, "accuracy")
        notes = (f"failed on {accuracy['n_failed']:,}",) if accuracy["n_failed"] else ()
        guess = scores.of_all(name, "majority_guess") | {"low": None}
        low, high = (scores.value(name, f"accuracy_at_{end}") for end in ("least", "most"))
        cells = [
            count(accuracy["n"])._replace(notes=notes),
            *(short_cell(scores.of_all(name, statistic)) for statistic in _NUMBERS),
            short_cell(guess),
            *[Cell(f"{short(low)}, {short(high)}", (), exact(low))] * failed,
        ]
        lines.append((name, cells))
    grids = [Grid("", heads, lines)]
    pairs = []
    for first, second in combinations(scores.best, 2):
        above = [scores.found[first]["above", second, name] for name in _DIFFERENCES]
        cells = [count(above[0]["n"]), *map(estimate, above)]
        pairs.append((f"{first} above {second}", cells))
    if pairs:
        heads = ["difference", "sentences", *(_NUMBERS[name] for name in _DIFFERENCES)]
        caption = "By how much one is above another, on the sentences that both labelled"
        grids.append(Grid(caption, heads, pairs, sort=False))
    return section("segment_numbers", grids=grids, without=() if failed else ("at least, at most",))


def labels_section(scores: Scores) -> Section:
    """F1 by label and segmentation; behind a line each segmentation's precision and recall."""
    best, first, groups = scores.best, [], []
    for label in scores.labels:
        found = [scores.found[name].get(("label", label, "f1")) for name in best]
        n = max((row["n"] for row in found if row is not None), default=0)
        first.append((label, [count(n), *map(short_cell, found)]))
    for name in best:
        lines = []
        for label in scores.labels:
            found = [scores.found[name].get(("label", label, one)) for one in _OF_LABEL]
            n = next((row["n"] for row in found if row is not None), 0)
            lines.append((label, [count(n), *map(short_cell, found)]))
        grid = Grid("", ["label", "sentences", *_OF_LABEL.values()], lines, sort=False)
        groups.append(Group(name, "precision, recall, F1", [grid]))
    grids = [Grid("F1 by label", ["label", "sentences", *best], first, sort=False)]
    also = ["none"] if NONE in scores.labels else []
    return section("labels", also=also, grids=grids, groups=groups)


def confusions_section(confusions: pd.DataFrame) -> Section | None:
    """The figure, and each segmentation's most frequent confusions; None without a sentence."""
    if confusions.empty:
        return None
    total = confusions.groupby(["segmentation", "label"])["n"].transform("sum")
    wrong = (confusions["label"] != confusions["given"]) & (confusions["n"] > 0)
    groups = []
    for name, mine in confusions.assign(total=total)[wrong].groupby("segmentation", sort=False):
        first = mine.sort_values("n", ascending=False, kind="stable").head(MOST)
        lines = [
            (f"{label} taken for {given}", [count(n), Cell(per_cent(n / of), (), exact(n / of))])
            for label, given, n, of in rows(first, "label", "given", "n", "total")
        ]
        grid = Grid("", ["confusion", "sentences", "of those with the label"], lines)
        title = f"{name}: what it confuses most"
        groups.append(Group(title, f"{mine['n'].sum():,} wrong", [grid]))
    return section("confusions", groups=groups)


def places_section(scores: Scores) -> Section | None:
    """Accuracy by third of the text, and by how sure people were; None where there is neither."""
    lines = []
    for (of, name), title in _PLACES.items():
        found = [scores.found[one].get((of, name, "accuracy")) for one in scores.best]
        sizes = [row["n"] + row["n_failed"] for row in found if row is not None]
        if sizes:
            lines.append((title, [count(max(sizes)), *map(short_cell, found)]))
    if not lines:
        return None
    heads = ["sentences of", "sentences", *scores.best]
    return section("places", grids=[Grid("Accuracy by place", heads, lines, sort=False)])


# Some texts, sentence by sentence: the right label beside what each segmentation says.

SHOWN = 12  # texts
COLOURS = 8  # classes of page.css; more labels begin again


class Chip(NamedTuple):
    """A label and how it looks: by its colour, and whether it is wrong, or there is none."""

    label: str
    css: str


class Line(NamedTuple):
    """One sentence, its right label and those given, one per segmentation."""

    sentence: str
    label: Chip
    given: list[Chip]


class Example(NamedTuple):
    """One text."""

    key: str
    about: str
    lines: list[Line]


def examples_view(
    texts: pd.DataFrame,
    sentences: pd.DataFrame,
    segmented: pd.DataFrame,
    segmentations: Sequence[str],
    labels: Sequence[str],
) -> list[Example]:
    """SHOWN texts, evenly from those with the most wrong labels to those with the fewest.

    `labels` in the order of the page, which is that of colours. A label that is missing because the
    segmentation failed is not wrong.
    """
    wide = _wide(sentences.sort_values(_SENTENCE), segmented, segmentations).assign(wrong=0.0)
    for name in segmentations:
        wide["wrong"] += (wide[name] != wide["label"]) & wide[name].notna()
    share = wide.groupby(_TEXT)["wrong"].mean().sort_values(ascending=False, kind="stable")
    places = np.linspace(0, len(share) - 1, min(SHOWN, len(share))).round().astype(int)
    chosen = [share.index[place] for place in places]
    written = {tuple(own[:-1]): own[-1] for own in rows(texts, *_TEXT, "text")}
    by_text = {key: mine for key, mine in wide.groupby(_TEXT) if key in set(chosen)}
    colours = {label: f"m m{place % COLOURS}" for place, label in enumerate(labels)}
    colours[NONE] = ""
    several = sentences["author"].nunique() > 1
    names = {key: ", ".join(key) if several else key[0] for key in chosen}
    return [
        _example(names[key], written[key], by_text[key], segmentations, colours) for key in chosen
    ]


def _example(
    key: str, text: str, mine: pd.DataFrame, segmentations: Sequence[str], colours: dict[str, str]
) -> Example:
    lines = []
    for start, end, label, *given in rows(mine, "start", "end", "label", *segmentations):
        chips = [_chip(one, label, colours) for one in given]
        lines.append(Line(text[start:end], Chip(label, colours[label]), chips))
    right = [f"{name} {(mine[name] == mine['label']).sum()}" for name in segmentations]
    about = f"of {counted(len(lines), 'sentence')} right: {', '.join(right)}"
    return Example(key, about, lines)


def _chip(given: str | None, label: str, colours: dict[str, str]) -> Chip:
    if given is None:
        return Chip("failed", "unknown")
    return Chip(given, colours[given] if given == label else f"{colours[given]} wrong")
