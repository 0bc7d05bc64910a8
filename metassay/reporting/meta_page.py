"""The page of `metassay meta-eval`, and the sections and figures that the report shares with it."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.meta_evaluation.evaluate import ANALYSES
from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.advice import advice
from metassay.reporting.certificates import best_metrics, best_of, certificates_section, limits
from metassay.reporting.figures.correlations import (
    draw_components,
    draw_correlation_heatmap,
    draw_forest,
    draw_metric_matrix,
)
from metassay.reporting.figures.drawing import Draw
from metassay.reporting.figures.systems import (
    draw_facet_lengths,
    draw_leaderboard,
    draw_profile,
    draw_rubric_levels,
    draw_violins,
)
from metassay.reporting.judge_cards import judge_cards_section
from metassay.reporting.metrics import (
    components_section,
    conflicts_section,
    confounds_section,
    corrected_section,
    correlation_view,
    ensembles_section,
    judged_metrics_section,
    metric_matrix_section,
    significance_section,
)
from metassay.reporting.page import Drawing, Spec, sections_of, write_figures, write_page
from metassay.reporting.people import agreement_section, preferences_section, raters_section
from metassay.reporting.section import analysis_section
from metassay.tables.columns import entries

# Name of the figure: the table that it draws | its title to read out.
_TITLES = entries("""
    leaderboard: leaderboard | Each author's mean on the main metrics, with bootstrap intervals
    forest: certificates | Each metric's correlation with people per criterion, with intervals and
      one rater's own
    components: components | Which shares of the variance of people's ratings and of each metric lie
      between systems, between documents, text by text
    correlation_heatmap: certificates | Correlation of every metric with every human criterion, by
      level
    violins: rating_violins | What people gave each system by criterion, and the mean with its
      interval
    metric_matrix: metric_correlations | Pearson correlation of every metric and human criterion
      with every other
    rubric_levels: rubric_levels | How often each grade of each criterion was given, by author
    profile: profile | Words, numbers and popularity of words of each author's texts
    facet_lengths: facets | Share of each author's words that belongs to each of their parts
""")
_DRAW: tuple[Draw, ...] = (
    *(draw_leaderboard, draw_forest, draw_components, draw_correlation_heatmap, draw_violins),
    *(draw_metric_matrix, draw_rubric_levels, draw_profile, draw_facet_lengths),
)
FIGURES = {
    name: Drawing(draw, table, title, ("useful",) if draw is draw_forest else ())
    for draw, (name, words) in zip(_DRAW, _TITLES, strict=True)
    for table, title in [words.split(" | ")]
}

# What stands below the correlations.
EVALUATION = (
    *(
        Spec(partial(analysis_section, one), (one.tables[0].name,))
        for one in ANALYSES
        if one.page.across
    ),
    Spec(judged_metrics_section, ("certificates",)),
    Spec(components_section, ("components",)),
    Spec(significance_section, ("significance",)),
    Spec(agreement_section, ("agreement",)),
    Spec(preferences_section, ("preferences",)),
    Spec(ensembles_section, ("ensembles",)),
    Spec(conflicts_section, ("conflicts", "disagreements")),
    Spec(confounds_section, ("confounds", "certificates")),
    Spec(corrected_section, ("corrected",)),
    Spec(judge_cards_section, ("judge_cards", "calibration")),
    Spec(metric_matrix_section, ("metric_correlations",)),
)
_RATERS_ALONE = (Spec(agreement_section, ("agreement",)),)


def evaluation_figures(
    tables: Mapping[str, pd.DataFrame], options: CertificationOptions, folder: Path
) -> dict[str, str]:
    """Write those of FIGURES that can be drawn of the tables; returns `<svg>` elements."""
    return write_figures(FIGURES, tables, folder, options)


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
    page: dict[str, Any] = {"limits": [], "best": None, "trust": None, "correlations": []}
    tested = "certificates" in tables
    if tested:
        certificates = tables["certificates"]
        lines = limits(certificates, tables["designs"], confidence)
        answer = [*advice(best_of(certificates), confidence)]
        page = {
            "answer": answer,
            "limits": [line for line in lines if line not in answer],
            "best": best_metrics(certificates),
            "trust": certificates_section(certificates, options, confidence, lines),
            "correlations": correlation_view(tables["correlations"]),
        }
    below = sections_of(EVALUATION if tested else _RATERS_ALONE, tables)
    write_page(
        "meta_page.html.j2",
        folder,
        evaluation_figures(tables, options, folder),
        markdown=False,
        title=title,
        warnings=warnings,
        notes=notes,
        sections=[*below, raters_section(tables["raters"])],
        **page,
    )
