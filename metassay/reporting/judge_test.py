"""The report about one test of judges: a folder of tables and one self-contained page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.format.frames import records, rows
from metassay.format.numbers import counted, short
from metassay.reporting.answers import answers_section, answers_table
from metassay.reporting.figures.tests import draw_judge_kinds, draw_reliability
from metassay.reporting.judge_cards import CARDS_OF_ITEMS, judge_cards_section
from metassay.reporting.judge_numbers import (
    BALANCED,
    FIRST,
    cards_of,
    kinds_section,
    kinds_table,
    kinds_verdict,
    numbers_section,
    reliability_section,
    verdict,
)
from metassay.reporting.page import Drawing, Report, filled, write_figures, write_tables, write_test
from metassay.reporting.published_judges import ComparedJudges, compare_judges, published_section
from metassay.reporting.section import Row, present, recipes_section
from metassay.tables.names import FULL, MEAN_OF_SUBSETS

JUDGE_FIGURES = {
    "kinds": Drawing(
        draw_judge_kinds,
        "kinds",
        "Share that each judge detects of each kind of item, and its share of false alarms",
    ),
    "reliability": Drawing(
        draw_reliability,
        "reliability",
        "Each judge's probabilities beside the share of items that are entailed",
    ),
}
_RECIPES = "Everything that went into a judge’s verdicts. Different recipes are different judges."


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

    Files: index.html; verdicts (with the right answers), judge_cards, calibration, kinds (where
    items have kinds), answers (where a judge was asked), language_models (where any model was),
    notes (where there is any) and one published_<name> per comparison, each as .csv (all digits)
    and .md; figures/<name>.svg and .png where there is something to draw. Only the page has texts.
    Raises BadInput if `out` holds anything, and for a comparison that is unknown or lacks its
    table; then nothing is written.
    """
    tables = report.tables
    test = cards_of(tables["judge_cards"], set(tables["ratings"]["rater"]))
    compared = compare_judges(report.published, report.published_folder, test)
    with whole_folder(out, "report") as folder:
        files = {
            "verdicts": with_right_answers(tables["verdicts"], tables["gold"]),
            "judge_cards": tables["judge_cards"],
            "calibration": tables["calibration"],
            **{f"published_{one.name}": one.cells for one in compared},
            **filled(
                kinds=kinds_table(test), answers=answers_table(tables["pairs"], tables["judgments"])
            ),
            **report.said(),
        }
        write_tables(files, folder)
        _write_page(report, files, compared, folder)


def _write_page(
    report: JudgeTestReport,
    files: Mapping[str, pd.DataFrame],
    compared: Sequence[ComparedJudges],
    folder: Path,
) -> None:
    """The page and its figures; judges are called as they are shown."""
    read, tables = report.shown_as.frames(report.tables), report.shown_as.frames(files)
    cards, bins = tables["judge_cards"], tables["calibration"]
    test, first = cards_of(cards, set(read["ratings"]["rater"])), FIRST.get(report.test, BALANCED)
    kinds = tables.get("kinds", kinds_table(test))
    of_all = bins[(bins["study"] == test.pooled) & (bins["part"] == FULL)]
    drawn = {"kinds": kinds[kinds["study"] == test.pooled], "reliability": of_all}
    counted_cards = cards[cards["study"] != MEAN_OF_SUBSETS]  # means of several have no counts
    write_test(
        "judge_test.html.j2",
        folder,
        report,
        tables,
        figures=write_figures(JUDGE_FIGURES, drawn, folder),
        counts=_counts(read),
        verdict=[*kinds_verdict(test, kinds), *verdict(test, first)],
        sections=present(
            [
                numbers_section(test, first),
                kinds_section(test, kinds),
                reliability_section(of_all),
                published_section(compared, tables),
            ]
        ),
        errors=errors_view(tables["verdicts"], read["pairs"], read["judgments"]),
        below=[
            answers_section(tables.get("answers", pd.DataFrame())),
            judge_cards_section(counted_cards, bins, CARDS_OF_ITEMS),
        ],
        recipes=recipes_section(cards, "judge", _RECIPES, ["judge_cards"]),
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


# A test's wrong verdicts that judges were surest of, with what they read and what they say.

EACH = 5  # examples of each judge and direction
LONGEST = 2_000  # characters of a premise or an explanation that are shown

_ENTAILED = "entailed"
_NO_TEXTS = "its texts are not among the data"


class Wrong(NamedTuple):
    """One wrong verdict; `about` says what is known of it, `place` which premise it is."""

    item: str
    about: str
    hypothesis: str
    place: str
    premise: str
    why: str


class Errors(NamedTuple):
    """Wrong verdicts of one judge in one direction, the surest first; `n` is how many there are."""

    title: str
    n: str
    examples: list[Wrong]


def with_right_answers(verdicts: pd.DataFrame, gold: pd.DataFrame) -> pd.DataFrame:
    """Table `verdicts` with the columns subset, kind, right (the label) and wrong.

    `wrong` is true or false, and null where there is no verdict or no right answer. Where one side
    uses three labels and the other two, neutral and contradicted are not entailed.
    """
    known = gold[["item", "subset", "kind", "label"]].rename(columns={"label": "right"})
    both = verdicts.merge(known, on="item", how="left")
    wrong = [_wrong(said, right) for said, right in rows(both, "label", "right")]
    return both.assign(wrong=pd.array(wrong, dtype="boolean"))


def _wrong(said: str | None, right: str | None) -> bool | None:
    if said is None or right is None:
        return None
    if "not_entailed" in (said, right):
        return (said == _ENTAILED) != (right == _ENTAILED)
    return said != right


def errors_view(judged: pd.DataFrame, pairs: pd.DataFrame, judgments: pd.DataFrame) -> list[Errors]:
    """Of each judge the surest wrong verdicts, `entailed` apart from the others.

    `judged` is of `with_right_answers`. How sure: by the probability of what the judge said; those
    without one come last, by item. Verdicts that were given show the first premise.
    """
    wrong = judged[judged["wrong"].fillna(False)]
    found = wrong["label"] == _ENTAILED
    sure = wrong["probability"].where(found, 1.0 - wrong["probability"])
    wrong = wrong.assign(found=found, sure=sure).sort_values(
        ["judge", "found", "sure", "item"], ascending=[True, False, False, True]
    )
    groups = wrong.groupby(["judge", "found"], sort=False)
    items = set(groups.head(EACH)["item"])
    read: dict[str, dict[int, tuple[str, str, str]]] = {}
    columns = ("doc_id", "position", "pair_id", "premise", "hypothesis")
    for item, position, *of in rows(pairs[pairs["doc_id"].isin(items)], *columns):
        pair_id, premise, hypothesis = map(str, of)
        read.setdefault(item, {})[position] = (pair_id, premise, hypothesis)
    said = {
        (pair_id, judge): explanation or ""
        for pair_id, judge, explanation in rows(judgments, "pair_id", "judge", "explanation")
    }
    return [
        Errors(
            f"{judge} says {'entailed' if entailed else 'not entailed'}, and is wrong",
            counted(len(mine), "item"),
            [_example(row, read.get(row["item"]), said) for row in records(mine.head(EACH))],
        )
        for (judge, entailed), mine in groups
    ]


def _example(
    row: Row,
    premises: Mapping[int, tuple[str, str, str]] | None,
    said: Mapping[tuple[str, str], str],
) -> Wrong:
    about = [f"right: {row['right'].replace('_', ' ')}", f"said: {row['label'].replace('_', ' ')}"]
    if row["probability"] is not None:
        about.append(f"probability of entailed {short(row['probability'])}")
    about += [row["subset"], *([row["kind"].replace("_", " ")] if row["kind"] != "full" else [])]
    known = ", ".join(about)
    if premises is None:
        return Wrong(row["item"], known, f"item {row['item']}", _NO_TEXTS, "", "")
    position = min(premises) if row["position"] is None else int(row["position"])
    pair_id, premise, hypothesis = premises[position]
    place = "premise" if len(premises) == 1 else f"premise {position + 1} of {len(premises)}"
    if row["position"] is None and len(premises) > 1:
        place += ", which need not be the one that decided"
    why = said.get((pair_id, row["judge"]), "")
    return Wrong(row["item"], known, hypothesis, place, _cut(premise), _cut(why))


def _cut(text: str) -> str:
    more = len(text) - LONGEST
    return text if more <= 0 else f"{text[:LONGEST]}… ({more:,} more characters)"
