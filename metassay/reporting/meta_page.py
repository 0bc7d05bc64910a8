"""The page of `metassay meta-eval`: the report's own sections and figures, without a project."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.limits import limits
from metassay.reporting.page import write_template
from metassay.reporting.sections import evaluation_sections, write_figures
from metassay.reporting.views.agreement import agreement_section
from metassay.reporting.views.certificates import best_metrics, certificates_section
from metassay.reporting.views.correlations import Criterion, correlation_view
from metassay.reporting.views.raters import raters_section
from metassay.reporting.views.section import Grid, Section


@dataclass(frozen=True)
class MetaPage:
    """Everything the template prints; without metrics there is no `trust`."""

    title: str
    warnings: Sequence[str]
    notes: Sequence[str]
    limits: list[str]
    best: Grid | None
    trust: Section | None
    correlations: list[Criterion]
    sections: list[Section]


def write_meta_page(
    tables: Mapping[str, pd.DataFrame],
    folder: Path,
    *,
    options: CertificationOptions,
    confidence: float,
    title: str,
    warnings: Sequence[str],
    notes: Sequence[str],
) -> None:
    """Write index.html, which needs nothing else, and figures/ to a folder that is there.

    `tables`: those of `evaluate`, `certificates` and `raters`, or `agreement` and `raters` alone.
    The page links to the tables as CSV beside it, which the caller writes. `confidence`: of the
    intervals. Equal input gives equal bytes.
    """
    figures = write_figures(tables, options, folder / "figures")
    tested = "certificates" in tables
    below = evaluation_sections(tables) if tested else [agreement_section(tables["agreement"])]
    lines = limits(tables["certificates"], tables["designs"], confidence) if tested else []
    page = MetaPage(
        title,
        warnings,
        notes,
        lines,
        best_metrics(tables["certificates"]) if tested else None,
        certificates_section(tables["certificates"], options, confidence, lines)
        if tested
        else None,
        correlation_view(tables["correlations"]) if tested else [],
        [*below, raters_section(tables["raters"])],
    )
    with (folder / "index.html").open("w", encoding="utf-8", newline="\n") as file:
        write_template("meta_page.html.j2", file, figures, page=page, markdown=False)
