"""The report about one test of segmentations: a folder of tables and one self-contained page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from metassay.atomic import whole_folder
from metassay.llm.endpoints import ModelOptions
from metassay.reporting.numbers import counted
from metassay.reporting.page import write_template
from metassay.reporting.sections import SEGMENT_FIGURES, write_figures
from metassay.reporting.tables import to_csv, to_markdown
from metassay.reporting.views.asked import asked_section, asked_table, missing_lines
from metassay.reporting.views.notes import notes_section, notes_table
from metassay.reporting.views.section import Cell, Grid, Section
from metassay.reporting.views.segment_examples import Example, examples_view
from metassay.reporting.views.segment_scores import (
    confusions_section,
    labels_section,
    numbers_section,
    places_section,
    scores_of,
    verdict,
)
from metassay.segment_tests.documents import NONE

_KEY = ["doc_id", "author", "position"]


@dataclass(frozen=True, eq=False)
class SegmentTestReport:
    """What the report is made from: the dataset's particulars and the test's tables.

    `segmentations` in the order of params.yaml; `seen` says of each whether choices saw the data.
    `responses` are what language models answered and `notes` what stages said about the data, by
    stage; `models` those of params.yaml, for prices.
    """

    benchmark: str
    segmentations: Sequence[str]
    title: str
    licence: str
    citation: str
    invented: bool
    seen: Sequence[str]
    texts: pd.DataFrame
    sentences: pd.DataFrame
    segmented: pd.DataFrame
    segment_scores: pd.DataFrame
    confusions: pd.DataFrame
    responses: Mapping[str, pd.DataFrame]
    notes: Mapping[str, pd.DataFrame]
    models: Mapping[str, ModelOptions]


@dataclass(frozen=True)
class SegmentTestPage:
    """Everything the template prints; `verdict` stands first, `examples` have texts of the data."""

    benchmark: str
    title: str
    licence: str
    citation: str
    invented: bool
    counts: list[str]
    seen: Sequence[str]
    missing: list[str]
    verdict: list[str]
    sections: list[Section]
    segmentations: Sequence[str]
    examples: list[Example]
    below: list[Section]


def write_segment_test(report: SegmentTestReport, out: Path) -> None:
    """Write the folder `out`, whole or not at all; equal input gives equal bytes.

    Files: index.html; segment_scores, confusions, sentences (a row per sentence with its right
    label and that of each segmentation), language_models (where any model was asked) and notes
    (where there is any), each as .csv (all digits) and .md; figures/confusions.svg and .png. Only
    the page has texts. Raises BadInput if `out` holds anything; then nothing is written.
    """
    labels = _labels(report)
    with whole_folder(out, "report") as folder:
        files = _files(report)
        for name, frame in files.items():
            _write_text(folder / f"{name}.csv", to_csv(frame))
            _write_text(folder / f"{name}.md", to_markdown(frame))
        page, figures = _page(report, files, labels, folder)
        with (folder / "index.html").open("w", encoding="utf-8", newline="\n") as file:
            write_template("segment_test.html.j2", file, figures, page=page, markdown=True)


def _labels(report: SegmentTestReport) -> list[str]:
    """Every label that is right or given, in the order in which texts mostly have them."""
    last = report.sentences.groupby(["doc_id", "author"])["position"].transform("max")
    place = (report.sentences["position"] + 0.5) / (last + 1)
    right = place.groupby(report.sentences["label"]).mean().sort_values(kind="stable").index
    given = sorted(set(report.segmented["label"].dropna()) - set(right))
    every = [str(label) for label in (*right, *given)]
    return [*(label for label in every if label != NONE), *([NONE] if NONE in every else [])]


def _files(report: SegmentTestReport) -> dict[str, pd.DataFrame]:
    """The tables beside the page, by file name."""
    wide = report.sentences[[*_KEY, "label", "confidence"]]
    for name in report.segmentations:
        mine = report.segmented[report.segmented["segmentation"] == name]
        wide = wide.merge(mine[[*_KEY, "label"]].rename(columns={"label": name}), on=_KEY)
    made = {
        "segment_scores": report.segment_scores,
        "confusions": report.confusions,
        "sentences": wide,
        "language_models": asked_table(report.responses, report.models),
        "notes": notes_table(report.notes),
    }
    return {name: frame for name, frame in made.items() if not frame.empty}


def _page(
    report: SegmentTestReport,
    tables: Mapping[str, pd.DataFrame],
    labels: Sequence[str],
    folder: Path,
) -> tuple[SegmentTestPage, dict[str, str]]:
    """The page, and its figures, which are written on the way."""
    scores = scores_of(report.segment_scores, labels)
    order = {name: place for place, name in enumerate((*scores.best, *labels))}
    confusions = report.confusions.sort_values(
        ["segmentation", "label", "given"], key=lambda names: names.map(order)
    )
    figures = write_figures({"confusions": confusions}, None, folder / "figures", SEGMENT_FIGURES)
    asked = tables.get("language_models", pd.DataFrame())
    most = str(report.sentences["label"].value_counts().index[0])
    sections = [
        numbers_section(scores),
        labels_section(scores),
        confusions_section(confusions),
        places_section(scores),
    ]
    below = [
        asked_section(asked),
        notes_section(tables.get("notes", pd.DataFrame())),
        _recipes_section(report.segmented),
    ]
    page = SegmentTestPage(
        report.benchmark,
        report.title,
        report.licence,
        report.citation,
        report.invented,
        _counts(report),
        report.seen,
        missing_lines(asked),
        verdict(scores, most),
        [section for section in sections if section is not None],
        report.segmentations,
        examples_view(
            report.texts, report.sentences, report.segmented, report.segmentations, labels
        ),
        [section for section in below if section is not None],
    )
    return page, figures


def _recipes_section(segmented: pd.DataFrame) -> Section:
    """What made each segmentation's labels."""
    recipes = sorted(set(zip(segmented["segmentation"], segmented["recipe"], strict=True)))
    lines = [(str(name), [Cell(str(recipe))]) for name, recipe in recipes]
    grid = Grid("", ["segmentation", "recipe"], lines, sort=False)
    says = "The settings of each segmentation. Different recipes are different segmentations."
    return Section("recipes", "Recipes", [says], [], [grid])


def _counts(report: SegmentTestReport) -> list[str]:
    return [
        counted(len(report.texts), "text"),
        counted(len(report.sentences), "labelled sentence"),
        counted(report.sentences["label"].nunique(), "label"),
        counted(len(report.segmentations), "segmentation"),
    ]


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
