"""Rubrics: what each criterion asks, what was given, and how far judges agree with people."""

from collections.abc import Mapping, Sequence

import pandas as pd

from metassay.reporting.names import ARROWS, sorted_authors
from metassay.reporting.numbers import counted, denominators, shown
from metassay.reporting.tables import records
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Row,
    Section,
    number,
)
from metassay.reporting.words import COEFFICIENT_NAMES
from metassay.tables.names import FULL

_COEFFICIENT = "spearman"  # grades are ranks: a level more is not always worth the same
_LEVEL = "global"
_EQUAL = "rubric_agreement"
_KINDS = {
    "scale": "scale",
    "penalties": "penalties",
    "total": "sum of penalties",
    "overall": "overall score",
}


def rubrics_section(tables: Mapping[str, pd.DataFrame]) -> Section | None:
    """One group per rubric: its criteria, then authors by criterion and judge; None without any.

    `tables`: criteria, rubric_grades, rubric_levels, rubric_agreement and correlations; all
    but the last have rows or are not there.
    """
    if "criteria" not in tables:
        return None
    lines = sorted(records(tables["criteria"]), key=lambda row: (row["rubric"], row["position"]))
    grades = records(tables["rubric_grades"]) if "rubric_grades" in tables else []
    equal = records(tables[_EQUAL]) if _EQUAL in tables else []
    agreement = _agreement(tables["correlations"])
    rubrics = list(dict.fromkeys(row["rubric"] for row in lines))
    return Section(
        "rubrics",
        "Rubrics",
        [
            "A rubric asks several things of a text, each with its own scale, or counts penalties."
            " Each criterion is a metric, RUBRIC_CRITERION; its score is the answer, or its share"
            " of the highest one. Weights are those of the overall score.",
            "Means are of grades as they were given, with their standard deviation (divided by n,"
            " ddof 0). An answer that failed is missing, and never a low grade. Beside a criterion"
            f" stands {COEFFICIENT_NAMES[_COEFFICIENT]}’s correlation of a judge’s scores with what"
            " people gave on the criterion of the same name, over all texts. Where people gave the"
            " same grades, a table says how often they are equal: with each rater in turn, then the"
            " mean over raters; alpha has the judge as one rater more.",
        ],
        [
            "criteria",
            *(name for name in ("rubric_grades", "rubric_levels", _EQUAL) if name in tables),
        ],
        groups=[
            _rubric(
                [row for row in lines if row["rubric"] == rubric],
                [row for row in grades if row["rubric"] == rubric],
                [row for row in equal if row["rubric"] == rubric],
                agreement,
                is_open=place == 0,
            )
            for place, rubric in enumerate(rubrics)
        ],
    )


def _agreement(correlations: pd.DataFrame) -> dict[tuple[str, str, str], Row]:
    """Rows of whole texts by metric, judge and people's criterion; of several studies the first."""
    chosen = correlations[
        (correlations["coefficient"] == _COEFFICIENT)
        & (correlations["level"] == _LEVEL)
        & (correlations["part"] == FULL)
    ]
    found: dict[tuple[str, str, str], Row] = {}
    for row in sorted(records(chosen), key=lambda row: row["study"]):
        found.setdefault((row["metric"], row["judge"], row["criterion"]), row)
    return found


def _rubric(
    lines: Sequence[Row],
    grades: Sequence[Row],
    equal: Sequence[Row],
    agreement: Mapping[tuple[str, str, str], Row],
    *,
    is_open: bool,
) -> Group:
    judges = sorted({row["judge"] for row in grades})
    rated = [judge for judge in judges if any(_same(row, judge) in agreement for row in lines)]
    heads = ["criterion", "asks", "answers", "better", "weight"]
    heads += [f"{judge} and people" for judge in rated]
    criteria = [
        (
            row["criterion"],
            [*_about(row), *(_with_people(agreement.get(_same(row, judge))) for judge in rated)],
        )
        for row in lines
    ]
    grids = [Grid("Criteria", heads, criteria, sort=False)]
    for judge in judges:
        mine = [row for row in grades if row["judge"] == judge]
        grids.append(_grades(judge, [row["criterion"] for row in lines], mine))
    if equal:
        grids.append(_equal_grades(equal))
    soft = f"{counted(len(lines), 'measure')}, {counted(len(judges), 'judge')}"
    says = [f"Source: {lines[0]['source']}.", *_missing(lines)]
    return Group(lines[0]["rubric"], soft, grids, open=is_open, says=says)


def _missing(lines: Sequence[Row]) -> list[str]:
    """What is done where an answer is missing: each rule once, and of which criteria it is."""
    by_rule: dict[str, list[str]] = {}
    for row in lines:
        by_rule.setdefault(row["missing"], []).append(row["criterion"])
    return [f"Missing data of {', '.join(names)}: {rule}." for rule, names in by_rule.items()]


def _same(row: Row, judge: str) -> tuple[str, str, str]:
    return row["metric"], judge, row["criterion"]


def _about(row: Row) -> list[Cell]:
    high = "no end" if row["high"] is None else f"{row['high']:g}"
    share = ("its share is the score",) if row["value"] == "share" else ()
    return [
        Cell(row["meaning"], css="words"),
        Cell(f"{row['low']:.3g} to {high}", (_KINDS[row["kind"]], *share)),
        Cell(f"{row['better']} {ARROWS[row['better']]}"),
        NOT_COMPUTED if row["weight"] is None else Cell(f"{row['weight']:g}"),
    ]


def _with_people(row: Row | None) -> Cell:
    if row is None:
        return NOT_COMPUTED
    return number(row["value"], f"n = {row['n']:,}", low=row["low"], high=row["high"])


def _grades(judge: str, criteria: Sequence[str], mine: Sequence[Row]) -> Grid:
    found = {(row["author"], row["criterion"]): row for row in mine}
    lines = [
        (author, [_mean(found.get((author, criterion))) for criterion in criteria])
        for author in sorted_authors(row["author"] for row in mine)
    ]
    return Grid(f"Mean grades by {judge}", ["author", *criteria], lines)


def _equal_grades(mine: Sequence[Row]) -> Grid:
    """Judges and people by criterion, in the order of the table."""
    cells: dict[tuple[str, str, str], list[Cell]] = {}
    for row in mine:
        counts = f"{denominators(row['n'], n_missing=row['n_missing'])}, {row['n_raters']} raters"
        cell = number(row["value"], counts, low=row["low"], high=row["high"])
        cells.setdefault((row["criterion"], row["judge"], row["study"]), []).append(cell)
    heads = ["criterion", "judge", "study", "equal grades", "kappa, quadratic", "alpha, ordinal"]
    lines = [
        (name, [Cell(judge), Cell(study), *own]) for (name, judge, study), own in cells.items()
    ]
    return Grid("The grades of judges and of people", heads, lines, sort=False)


def _mean(row: Row | None) -> Cell:
    if row is None:
        return NOT_COMPUTED
    counts = f"n = {row['n']:,}"
    counts += f", {row['n_missing']:,} missing" if row["n_missing"] else ""
    counts += f", {row['n_unscored']:,} not scored" if row["n_unscored"] else ""
    spread = f"SD {shown(row['sd'])}" if row["sd"] is not None else ""
    return number(row["mean"], spread, counts)
