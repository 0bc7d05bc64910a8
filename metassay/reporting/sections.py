"""What the report and the page of `metassay meta-eval` both make of the tables of `evaluate`."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.figures import (
    components,
    confusions,
    correlation_heatmap,
    drawing,
    facet_lengths,
    forest,
    judge_kinds,
    leaderboard,
    metric_matrix,
    profile,
    reliability,
    rubric_levels,
    violins,
)
from metassay.reporting.views.agreement import agreement_section, preferences_section
from metassay.reporting.views.components import components_section
from metassay.reporting.views.conflicts import conflicts_section
from metassay.reporting.views.confounds import confounds_section
from metassay.reporting.views.corrected import corrected_section
from metassay.reporting.views.ensembles import ensembles_section
from metassay.reporting.views.facet_weights import facet_weights_section
from metassay.reporting.views.judge_cards import judge_cards_section
from metassay.reporting.views.judged_metrics import judged_metrics_section
from metassay.reporting.views.metric_matrix import metric_matrix_section
from metassay.reporting.views.people import people_section
from metassay.reporting.views.profile import profile_section
from metassay.reporting.views.ranks import ranks_section
from metassay.reporting.views.section import Section
from metassay.reporting.views.significance import significance_section
from metassay.reporting.views.strata import strata_section


class Drawing(NamedTuple):
    """A figure, the table that it draws, its title to read out, and the options that it takes."""

    draw: drawing.Draw
    table: str
    title: str
    options: tuple[str, ...] = ()


FIGURES = {
    "leaderboard": Drawing(
        leaderboard.draw,
        "leaderboard",
        "Each author's mean on the main metrics, with bootstrap intervals",
    ),
    "forest": Drawing(
        forest.draw,
        "certificates",
        "Each metric's correlation with people per criterion, with intervals and one rater's own",
        ("useful",),
    ),
    "components": Drawing(
        components.draw,
        "components",
        "Each metric's correlation with people between systems, between documents, text by text",
    ),
    "correlation_heatmap": Drawing(
        correlation_heatmap.draw,
        "correlations",
        "Pearson correlation of every metric with every human criterion, by level",
    ),
    "violins": Drawing(
        violins.draw,
        "rating_violins",
        "Each system's mean rating by criterion, and how it varies with other documents",
    ),
    "metric_matrix": Drawing(
        metric_matrix.draw,
        "metric_correlations",
        "Pearson correlation of every metric and human criterion with every other",
    ),
    "rubric_levels": Drawing(
        rubric_levels.draw,
        "rubric_levels",
        "How often each grade of each criterion was given, by author",
    ),
    "profile": Drawing(
        profile.draw,
        "profile",
        "Words, numbers and popularity of words of each author's texts",
    ),
    "facet_lengths": Drawing(
        facet_lengths.draw,
        "facets",
        "Share of each author's words that belongs to each of their parts",
    ),
}


JUDGE_FIGURES = {
    "kinds": Drawing(
        judge_kinds.draw,
        "kinds",
        "Share that each judge detects of each kind of item, and its share of false alarms",
    ),
    "reliability": Drawing(
        reliability.draw,
        "reliability",
        "Each judge's probabilities beside the share of items that are entailed",
    ),
}

SEGMENT_FIGURES = {
    "confusions": Drawing(
        confusions.draw,
        "confusions",
        "How many sentences of each label every segmentation gives which label",
    ),
}


def evaluation_sections(tables: Mapping[str, pd.DataFrame]) -> list[Section]:
    """What stands below the correlations: of `tables`, by name, those that have anything to say."""
    made = [
        strata_section(tables["strata"]),
        judged_metrics_section(tables["certificates"]),
        components_section(tables["components"]),
        significance_section(tables["significance"]),
        agreement_section(tables["agreement"]),
        preferences_section(tables["preferences"]),
        ensembles_section(tables["ensembles"]),
        conflicts_section(tables["conflicts"], tables["disagreements"]),
        confounds_section(tables["confounds"], tables["certificates"]),
        corrected_section(tables["corrected"]),
        judge_cards_section(tables["judge_cards"], tables["calibration"]),
        metric_matrix_section(tables["metric_correlations"]),
    ]
    return [section for section in made if section is not None]


def made_sections(tables: Mapping[str, pd.DataFrame]) -> list[Section]:
    """What a report has beside these: people's means, systems in order, what texts are like."""
    nothing = pd.DataFrame()
    made = [
        people_section(tables["rating_summaries"], tables.get("rating_violins", nothing)),
        facet_weights_section(tables["facet_weights"]),
        ranks_section(tables.get("ranks", nothing)),
        profile_section(tables.get("profile", nothing)),
    ]
    return [section for section in made if section is not None]


def write_figures(
    tables: Mapping[str, pd.DataFrame],
    options: CertificationOptions | None,
    folder: Path,
    figures: Mapping[str, Drawing] | None = None,
) -> dict[str, str]:
    """Write as SVG and PNG what can be drawn of the tables there are; returns `<svg>` elements.

    `figures` are FIGURES where they are not named; those without options need none.
    """
    inlined = {}
    for name, one in (FIGURES if figures is None else figures).items():
        if one.table not in tables:
            continue
        given = {option: getattr(options, option) for option in one.options}
        drawn = drawing.draw(one.draw, tables[one.table], **given)
        if drawn is None:
            continue
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.svg").write_text(drawn.svg, encoding="utf-8", newline="\n")
        (folder / f"{name}.png").write_bytes(drawn.png)
        inlined[name] = drawing.inline(drawn.svg, name, one.title)
    return inlined
