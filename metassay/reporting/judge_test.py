"""The report about one test of judges: a folder of tables and one self-contained page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.atomic import whole_folder
from metassay.llm.endpoints import ModelOptions
from metassay.reporting.display import NONE, ShownAs, with_names_shown
from metassay.reporting.judge_test_cards import Cards, cards_of
from metassay.reporting.numbers import counted
from metassay.reporting.page import write_template
from metassay.reporting.published_judges import ComparedJudges, compare_judges
from metassay.reporting.sections import JUDGE_FIGURES, write_figures
from metassay.reporting.tables import to_csv, to_markdown
from metassay.reporting.views.answers import answers_section, answers_table
from metassay.reporting.views.asked import asked_section, asked_table, missing_lines
from metassay.reporting.views.judge_cards import CARDS_OF_ITEMS, judge_cards_section
from metassay.reporting.views.judge_errors import Errors, errors_view, with_right_answers
from metassay.reporting.views.judge_kinds import kinds_section, kinds_table
from metassay.reporting.views.judge_numbers import (
    numbers_section,
    recipes_section,
    reliability_section,
)
from metassay.reporting.views.judge_verdict import first_number, kinds_verdict, verdict
from metassay.reporting.views.notes import notes_section, notes_table
from metassay.reporting.views.published_judges import published_section
from metassay.reporting.views.section import Section
from metassay.tables.names import FULL, MEAN_OF_SUBSETS


@dataclass(frozen=True, eq=False)
class JudgeTestReport:
    """What the report is made from: the dataset's particulars and the test's tables.

    `test` is its type and `options` what params.yaml says of it. `seen` says of each judge whether
    choices saw these data. `published` names tables in
    `published_folder` to compare with. `responses` are what language models answered and `notes`
    what stages said about the data, by stage; `models` those of params.yaml, for their prices.
    `confidence` is that of the intervals. `shown_as` has other words for names of judges.
    """

    benchmark: str
    test: str
    options: Mapping[str, Any]
    title: str
    licence: str
    citation: str
    invented: bool
    seen: Sequence[str]
    pairs: pd.DataFrame
    judgments: pd.DataFrame
    gold: pd.DataFrame
    ratings: pd.DataFrame
    verdicts: pd.DataFrame
    judge_cards: pd.DataFrame
    calibration: pd.DataFrame
    responses: Mapping[str, pd.DataFrame]
    notes: Mapping[str, pd.DataFrame]
    models: Mapping[str, ModelOptions]
    published: Sequence[str]
    published_folder: Path
    confidence: float
    shown_as: ShownAs = NONE


@dataclass(frozen=True)
class JudgeTestPage:
    """Everything the template prints; `verdict` stands first, `errors` have texts of the data."""

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
    errors: list[Errors]
    below: list[Section]


def write_judge_test(report: JudgeTestReport, out: Path) -> None:
    """Write the folder `out`, whole or not at all; equal input gives equal bytes.

    Files: index.html; verdicts (with the right answers), judge_cards, calibration, kinds (where
    items have kinds), answers (where a judge was asked), language_models (where any model was),
    notes (where there is any) and one published_<name> per comparison, each as .csv (all digits)
    and .md; figures/<name>.svg and .png where there is something to draw. Only the page has texts.
    Raises BadInput if `out` holds anything, and for a comparison that is unknown or lacks its
    table; then nothing is written.
    """
    raters = set(report.ratings["rater"])
    test = cards_of(report.judge_cards, raters)
    compared = compare_judges(report.published, report.published_folder, test)
    with whole_folder(out, "report") as folder:
        files = _files(report, test, compared)
        for name, frame in files.items():
            _write_text(folder / f"{name}.csv", to_csv(frame))
            _write_text(folder / f"{name}.md", to_markdown(frame))
        shown = with_names_shown(report, report.shown_as)
        tables = {name: report.shown_as.frame(frame) for name, frame in files.items()}
        page, figures = _page(shown, tables, compared, folder)
        with (folder / "index.html").open("w", encoding="utf-8", newline="\n") as file:
            write_template("judge_test.html.j2", file, figures, page=page, markdown=True)


def _files(
    report: JudgeTestReport, test: Cards, compared: Sequence[ComparedJudges]
) -> dict[str, pd.DataFrame]:
    """The tables beside the page, by file name."""
    made = {
        "verdicts": with_right_answers(report.verdicts, report.gold),
        "judge_cards": report.judge_cards,
        "calibration": report.calibration,
        **{f"published_{one.name}": one.cells for one in compared},
    }
    rest = {
        "kinds": kinds_table(test),
        "answers": answers_table(report.pairs, report.judgments),
        "language_models": asked_table(report.responses, report.models),
        "notes": notes_table(report.notes),
    }
    return {**made, **{name: frame for name, frame in rest.items() if not frame.empty}}


def _page(
    report: JudgeTestReport,
    tables: Mapping[str, pd.DataFrame],
    compared: Sequence[ComparedJudges],
    folder: Path,
) -> tuple[JudgeTestPage, dict[str, str]]:
    """The page, and its figures, which are written on the way; judges are called as shown."""
    test, first = (
        cards_of(report.judge_cards, set(report.ratings["rater"])),
        first_number(report.test),
    )
    kinds = tables.get("kinds", kinds_table(test))
    pooled = report.calibration["study"] == test.pooled
    drawn = {
        "kinds": kinds[kinds["study"] == test.pooled],
        "reliability": report.calibration[pooled & (report.calibration["part"] == FULL)],
    }
    figures = write_figures(drawn, None, folder / "figures", JUDGE_FIGURES)
    asked = tables.get("language_models", pd.DataFrame())
    sections = [
        numbers_section(test, first),
        kinds_section(test, kinds),
        reliability_section(drawn["reliability"]),
        published_section(compared, tables),
    ]
    below = [
        answers_section(tables.get("answers", pd.DataFrame())),
        judge_cards_section(_of_items(report.judge_cards), report.calibration, CARDS_OF_ITEMS),
        asked_section(asked),
        notes_section(tables.get("notes", pd.DataFrame())),
        recipes_section(report.judge_cards),
    ]
    page = JudgeTestPage(
        report.benchmark,
        report.title,
        report.licence,
        report.citation,
        report.invented,
        _counts(report),
        report.seen,
        missing_lines(asked),
        [*kinds_verdict(test, kinds), *verdict(test, first)],
        [section for section in sections if section is not None],
        errors_view(tables["verdicts"], report.pairs, report.judgments),
        [section for section in below if section is not None],
    )
    return page, figures


def _of_items(cards: pd.DataFrame) -> pd.DataFrame:
    """Without means of several cards, which have no counts."""
    return cards[cards["study"] != MEAN_OF_SUBSETS]


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _counts(report: JudgeTestReport) -> list[str]:
    unlabelled = int(report.gold["label"].isna().sum())
    counts = [
        counted(len(report.gold), "item") + (f" ({unlabelled:,} unlabelled)" if unlabelled else ""),
        counted(report.gold["subset"].nunique(), "subset"),
        counted(report.pairs["pair_id"].nunique(), "question"),
        counted(len(report.judgments), "judgment"),
    ]
    if len(report.ratings):
        raters = counted(report.ratings["rater"].nunique(), "rater")
        counts.append(f"{counted(len(report.ratings), 'label')} by {raters}")
    return counts
