"""The report about one test of judges: a folder of tables, and the page that shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.format.numbers import counted
from metassay.labelled.results import cards_of, kinds_table, with_right_answers
from metassay.reporting.answers import answers_table
from metassay.reporting.contract import CellInfo, SystemsInfo
from metassay.reporting.figures.tests import draw_judge_kinds, draw_reliability
from metassay.reporting.judge_answer import BALANCED, FIRST, NUMBERS, kinds_verdict, verdict
from metassay.reporting.judge_items import put_items
from metassay.reporting.names import sorted_parts
from metassay.reporting.page import Drawing, Report, filled, put_figures, write_tables
from metassay.reporting.pages import finish_test, in_order
from metassay.reporting.published_judges import JUDGE_COMPARISONS, compare_judges
from metassay.reporting.shell import PageFolder
from metassay.reporting.specs import Block
from metassay.reporting.specs import texts as words
from metassay.tables.names import FULL

JUDGE_FIGURES = {
    "kinds": Drawing(
        draw_judge_kinds,
        "kinds",
        "Share that each judge detects of each kind of item, and its share of false alarms",
    ),
    "reliability": Drawing(
        draw_reliability,
        "calibration",
        "Each judge's probabilities beside the share of items that are entailed",
    ),
}
# Numbers of a card of which less is better, and those that are neither good nor bad.
_LOWER = ("false_pass", "false_fail", "abstained", "failed", "brier", "ece")
_NEITHER = (
    *("true_pass", "true_fail", "agreement_by_chance", "judge_pass_rate", "people_pass_rate"),
    *("rogan_gladen_pass_rate", "prediction_powered_pass_rate", "bias", "ece_by_chance"),
    *("labels_pass_rate", "labels_sensitivity", "labels_specificity"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgeTestReport(Report):
    """What the report is made from.

    `tables`: pairs, judgments, gold, ratings, verdicts, judge_cards and calibration. `test` is the
    test's type and `options` what params.yaml says of it. `published` names tables in
    `published_folder` to compare with. `confidence` is that of the intervals.
    """

    test: str
    options: Mapping[str, Any]
    published: Sequence[str]
    published_folder: Path
    confidence: float


def write_judge_test(report: JudgeTestReport, out: Path) -> None:
    """Write the folder `out`, whole or not at all; equal input gives equal bytes.

    Files: index.html and page/; verdicts (with the right answers), judge_cards, calibration, kinds
    (where items have kinds), answers (where a judge was asked), language_models (where any model
    was), notes (where there is any) and one published_<name> per comparison, each as .csv (all
    digits) and .md; figures/<name>.svg and .png where there is something to draw. Only the page has
    texts. Raises BadInput if `out` holds anything, and for a comparison that is unknown or lacks
    its table; then nothing is written.
    """
    tables = report.tables
    cards = cards_of(tables["judge_cards"], set(tables["ratings"]["rater"]))
    compared = compare_judges(report.published, report.published_folder, cards)
    kinds = kinds_table(cards)
    answers = answers_table(tables["pairs"], tables["judgments"])
    files = {
        "judge_cards": tables["judge_cards"],
        **filled(kinds=kinds),
        "calibration": tables["calibration"],
        "verdicts": with_right_answers(tables["verdicts"], tables["gold"]),
        **{f"published_{name}": frame for name, frame in compared.items()},
        **filled(answers=answers),
        **report.said(),
    }
    published = words("words_of_tests.yaml")["published"]
    blocks = {
        f"published_{name}": {**published, "says": [*published["says"], f"{of.title}. {of.says}"]}
        for name, of in JUDGE_COMPARISONS.items()
        if name in compared
    }
    with whole_folder(out, "report") as folder:
        write_tables(files, folder)
        _write_page(report, files, blocks, folder)


def _write_page(
    report: JudgeTestReport,
    files: Mapping[str, pd.DataFrame],
    blocks: Mapping[str, Block],
    folder: Path,
) -> None:
    """The page and its figures; judges are called as they are shown."""
    tables, shown = report.shown_as.frames(report.tables), report.shown_as.frames(files)
    cards = cards_of(shown["judge_cards"], set(tables["ratings"]["rater"]))
    kinds, bins = shown.get("kinds", kinds_table(cards)), shown["calibration"]
    first = FIRST.get(report.test, BALANCED)
    better = dict.fromkeys(_LOWER, "lower") | dict.fromkeys(_NEITHER, "neither")
    rows = shown["judge_cards"]
    shown["judge_cards"] = rows.assign(better=rows["statistic"].map(better).fillna("higher"))
    known = set(rows.loc[rows["value"].notna() & (rows["part"] == FULL), "statistic"])
    headline = [name for name in sorted(NUMBERS, key=first.__ne__) if name in known]
    order = {
        **{"study": cards.studies, "part": sorted_parts(rows["part"])},
        **{"judge": cards.ranked(cards.main, first), "statistic": headline},
    }
    for name in ("judge_cards", "kinds", "calibration"):
        if name in shown:
            shown[name] = in_order(shown[name], order)
    drawn = {
        "kinds": kinds[kinds["study"] == cards.pooled],
        "calibration": bins[(bins["study"] == cards.pooled) & (bins["part"] == FULL)],
    }
    page = PageFolder(folder)
    finish_test(
        page,
        report,
        shown,
        "judge test",
        put_figures(JUDGE_FIGURES, drawn, folder),
        blocks,
        counts=_counts(tables),
        answer=[*kinds_verdict(cards, kinds), *verdict(cards, first)],
        systems=SystemsInfo(
            noun="judge",
            table="judge_cards",
            system="judge",
            metric=["statistic"],
            cell=CellInfo("value", "low", "high", "n", "n_missing"),
            better="better",
            groups="",
            headline=headline,
        ),
        texts=put_items(page, shown["verdicts"], tables),
    )


def _counts(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    gold, ratings = tables["gold"], tables["ratings"]
    unlabelled = int(gold["label"].isna().sum())
    counts = [
        counted(len(gold), "item") + (f" ({unlabelled:,} unlabelled)" if unlabelled else ""),
        counted(gold["subset"].nunique(), "subset"),
        counted(tables["pairs"]["pair_id"].nunique(), "question"),
        counted(len(tables["judgments"]), "judgment"),
    ]
    if len(ratings):
        raters = counted(ratings["rater"].nunique(), "rater")
        counts.append(f"{counted(len(ratings), 'label')} by {raters}")
    return counts
