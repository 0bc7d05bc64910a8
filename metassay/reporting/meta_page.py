"""The page of `metassay meta-eval`, and the answer and figures that the report shares with it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.format import glossary
from metassay.format.numbers import short
from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.verdicts import FEWEST_SYSTEMS, VERDICTS
from metassay.reporting.certificates import (
    answers_by_criterion,
    best_of,
    decisions,
    grid,
)
from metassay.reporting.contract import Link, Problem, VerdictWord
from metassay.reporting.page import write_page
from metassay.reporting.sentences import state_of
from metassay.reporting.shell import PageFolder
from metassay.reporting.warning_lines import problems_of, warning_lines
from metassay.tables.evidence import DESIGNS
from metassay.tables.parquet import empty


def answer_of(
    tables: Mapping[str, pd.DataFrame], options: CertificationOptions, confidence: float
) -> dict[str, Any]:
    """Return the fields of a head that say which metric to trust: by certificates and warnings."""
    certificates = tables["certificates"]
    answer = [*answers_by_criterion(best_of(certificates), confidence)]
    if certificates.empty:
        answer = [
            "No text has both ratings and scores, so no metric is tested against people."
        ]
    lines = warning_lines(tables["warnings"], tables["designs"])
    terms = glossary.terms(
        alpha=short(1.0 - confidence),
        useful=short(options.useful),
        fewest=str(FEWEST_SYSTEMS),
    )
    groups = ("Scores", "People", "Decisions")
    return {
        "answer": answer,
        "problems": problems_of(lines),
        "decisions": decisions(certificates),
        "grid": grid(certificates, confidence),
        "verdicts": [
            VerdictWord(kind, state_of(kind), terms[kind].whole) for kind in VERDICTS
        ],
        "terms": {
            name: term.whole for name, term in terms.items() if term.group in groups
        },
    }


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
    """Write index.html and page/ to a folder that is there.

    `tables`: those of `evaluate`, `certificates` and `raters`, or `agreement`, `raters`
    and `warnings` alone. The page links to the tables as CSV beside it, which the
    caller writes, and says by which `command`. `confidence`: of the intervals. `notes`:
    what was assumed and left out. Equal input gives equal bytes.
    """
    lines = warning_lines(tables["warnings"], empty(DESIGNS))
    fields: dict[str, Any] = {"problems": problems_of(lines)}
    about = "What people rated, and how far they agree."
    if "certificates" in tables:
        fields = answer_of(tables, options, confidence)
        about = "Metrics tested against people: which to trust, for which decision, and how sure."
    of_notes = [Problem("warning", line) for line in notes]
    problems = fields.pop("problems") + of_notes
    write_page(
        PageFolder(folder),
        "meta-eval",
        tables,
        command,
        name=title,
        about=about,
        problems=problems,
        links=[Link("choices.json", "Directions, scales and options")],
        **fields,
    )
