"""The page of `metassay meta-eval`, and the answer and figures that the report shares with it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.format import glossary
from metassay.format.frames import records
from metassay.format.numbers import short
from metassay.meta_evaluation.options import BELOW_OTHERS, CertificationOptions
from metassay.meta_evaluation.verdicts import FEWEST_SYSTEMS, VERDICTS
from metassay.reporting.certificates import (
    answers_by_criterion,
    best_of,
    decisions,
    grid,
    limits,
)
from metassay.reporting.contract import Link, Problem, VerdictWord
from metassay.reporting.names import short_estimate
from metassay.reporting.page import write_page
from metassay.reporting.sentences import state_of
from metassay.reporting.shell import PageFolder


def answer_of(
    tables: Mapping[str, pd.DataFrame], options: CertificationOptions, confidence: float
) -> dict[str, Any]:
    """Return the fields of a head that say which metric to trust: by certificates and designs."""
    certificates = tables["certificates"]
    answer = [*answers_by_criterion(best_of(certificates), confidence)]
    if certificates.empty:
        answer = [
            "No text has both ratings and scores, so no metric is tested against people."
        ]
    small = limits(certificates, tables["designs"], confidence)
    terms = glossary.terms(
        alpha=short(1.0 - confidence),
        useful=short(options.useful),
        fewest=str(FEWEST_SYSTEMS),
    )
    groups = ("Scores", "People", "Decisions")
    return {
        "answer": answer,
        "problems": [
            *(Problem("warning", line) for line in rater_outliers(tables["agreement"])),
            *(Problem("limit", line) for line in small),
        ],
        "decisions": decisions(certificates),
        "grid": grid(certificates, confidence),
        "verdicts": [
            VerdictWord(kind, state_of(kind), terms[kind].whole) for kind in VERDICTS
        ],
        "terms": {
            name: term.whole for name, term in terms.items() if term.group in groups
        },
    }


def rater_outliers(agreement: pd.DataFrame) -> list[str]:
    """Say who agrees less with the others than these do with each other, in plain words."""
    rows = records(
        agreement[(agreement["coefficient"] == BELOW_OTHERS) & (agreement["low"] > 0)]
    )
    return [
        f"{row['rater_a']} agrees less than the others by {row['criterion']} (study"
        f" {row['study']}): the mean Spearman correlation with another rater is"
        f" {short_estimate(row)} below that of the others"
        " with each other. Look at this rater’s ratings before you use the mean of all."
        for row in sorted(rows, key=lambda r: (r["criterion"], r["study"], -r["value"]))
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

    `tables`: those of `evaluate`, `certificates` and `raters`, or `agreement` and
    `raters` alone. The page links to the tables as CSV beside it, which the caller
    writes, and says by which `command`. `confidence`: of the intervals. `notes`:
    warnings, then what was assumed and left out. Equal input gives equal bytes.
    """
    raters = [Problem("warning", line) for line in rater_outliers(tables["agreement"])]
    fields: dict[str, Any] = {"problems": raters}
    about = "What people rated, and how far they agree."
    if "certificates" in tables:
        fields = answer_of(tables, options, confidence)
        about = "Metrics tested against people: which to trust, for which decision, and how sure."
    problems = [*(Problem("warning", line) for line in notes), *fields.pop("problems")]
    write_page(
        PageFolder(folder),
        "meta-eval",
        tables,
        command,
        useful=options.useful,
        name=title,
        about=about,
        problems=problems,
        links=[Link("choices.json", "Directions, scales and options")],
        **fields,
    )
