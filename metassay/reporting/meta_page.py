"""The page of `metassay meta-eval`, and the answer and figures that the report shares with it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import short, short_interval
from metassay.meta_evaluation.options import BELOW_OTHERS, CertificationOptions
from metassay.meta_evaluation.verdicts import FEWEST_SYSTEMS
from metassay.reporting.certificates import answers_by_criterion, best_of, decisions, grid, limits
from metassay.reporting.contract import Link, Problem
from metassay.reporting.evidence import finish, terms, verdict_words
from metassay.reporting.figures import pictures
from metassay.reporting.page import Drawing, put_figures
from metassay.reporting.shell import PageFolder

FIGURES = {
    "leaderboard": Drawing(
        pictures.draw_leaderboard,
        "leaderboard",
        "Each author's mean on the main metrics, with bootstrap intervals",
    ),
    "forest": Drawing(
        pictures.draw_forest,
        "certificates",
        "Each metric's correlation with people per criterion, with intervals and one rater's own",
        ("useful",),
    ),
    "violins": Drawing(
        pictures.draw_violins,
        "rating_violins",
        "What people gave each system by criterion, and the mean with its interval",
    ),
}


def answer_of(
    tables: Mapping[str, pd.DataFrame], options: CertificationOptions, confidence: float
) -> dict[str, Any]:
    """The fields of a head that say which metric to trust: by certificates and designs."""
    certificates = tables["certificates"]
    answer = answers_by_criterion(best_of(certificates), confidence)
    if certificates.empty:
        answer = ["No text has both ratings and scores, so no metric is tested against people."]
    small = limits(certificates, tables["designs"], confidence)
    numbers = {"alpha": short(1.0 - confidence), "useful": short(options.useful)}
    return {
        "answer": answer,
        "problems": [
            *(Problem("warning", line) for line in standing_out(tables["agreement"])),
            *(Problem("limit", line) for line in small),
        ],
        "decisions": decisions(certificates),
        "grid": grid(certificates, confidence),
        "verdicts": verdict_words(fewest=str(FEWEST_SYSTEMS), **numbers),
        "terms": terms("Scores", "People", "Decisions"),
    }


def standing_out(agreement: pd.DataFrame) -> list[str]:
    """Who agrees less with the others than these do with each other, in plain words."""
    found = records(agreement[agreement["coefficient"] == BELOW_OTHERS])
    named = [row for row in found if row["low"] is not None and row["low"] > 0]
    return [
        f"{row['rater_a']} agrees less than the others by {row['criterion']} (study"
        f" {row['study']}): the mean Spearman correlation with another rater is"
        f" {short(row['value'])} {short_interval(row['low'], row['high'])} below that of the others"
        " with each other. Look at this rater’s ratings before you use the mean of all."
        for row in sorted(named, key=lambda r: (r["criterion"], r["study"], -r["value"]))
    ]


def write_meta_page(
    tables: Mapping[str, pd.DataFrame],
    folder: Path,
    *,
    options: CertificationOptions,
    confidence: float,
    title: str,
    command: str,
    notes: Sequence[str],
) -> None:
    """Write index.html, page/ and figures/ to a folder that is there.

    `tables`: those of `evaluate`, `certificates` and `raters`, or `agreement` and `raters` alone.
    The page links to the tables as CSV beside it, which the caller writes, and says by which
    `command`. `confidence`: of the intervals. `notes`: warnings, then what was assumed and left
    out. Equal input gives equal bytes.
    """
    page = PageFolder(folder)
    raters = [Problem("warning", line) for line in standing_out(tables["agreement"])]
    fields: dict[str, Any] = {"problems": raters}
    about = "What people rated, and how far they agree."
    if "certificates" in tables:
        fields = answer_of(tables, options, confidence)
        about = "Metrics tested against people: which to trust, for which decision, and how sure."
    figures = put_figures(FIGURES, tables, folder, options)
    problems = [*(Problem("warning", line) for line in notes), *fields.pop("problems")]
    finish(
        page,
        "meta-eval",
        tables,
        command,
        figures=figures,
        name=title,
        about=about,
        problems=problems,
        links=[Link("choices.json", "Directions, scales and options")],
        **fields,
    )
