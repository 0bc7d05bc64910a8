"""The report about one benchmark: a folder of tables, figures and one self-contained page."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from metassay.errors import BadInput
from metassay.llm.endpoints import ModelOptions
from metassay.reporting.figures import correlation_heatmap, drawing, forest, leaderboard
from metassay.reporting.numbers import counted
from metassay.reporting.page import Page, write_page
from metassay.reporting.published import Compared, compare_all
from metassay.reporting.tables import rows, to_csv, to_markdown
from metassay.reporting.views.agreement import agreement_section, preferences_section
from metassay.reporting.views.asked import asked_table, asked_view
from metassay.reporting.views.certificates import best_metrics, certificates_section
from metassay.reporting.views.conflicts import conflicts_section
from metassay.reporting.views.confounds import confounds_section
from metassay.reporting.views.corrected import corrected_section
from metassay.reporting.views.correlations import correlation_view
from metassay.reporting.views.documents import Document, document_views
from metassay.reporting.views.ensembles import ensembles_section
from metassay.reporting.views.leaderboard import leaderboard_view, recipes
from metassay.reporting.views.published import published_view
from metassay.reporting.views.section import Section
from metassay.reporting.views.significance import significance_section
from metassay.reporting.views.verdicts import verdicts

# The tables that lie beside the page, as they are.
TABLES = (
    "leaderboard",
    "certificates",
    "correlations",
    "significance",
    "agreement",
    "preferences",
    "ensembles",
    "conflicts",
    "disagreements",
    "confounds",
    "corrected",
)

# Each figure with the table that it draws and the title that is read out for it.
FIGURES: dict[str, tuple[drawing.Draw, str, str]] = {
    "leaderboard": (
        leaderboard.draw,
        "leaderboard",
        "Each author's mean on the main metrics, with bootstrap intervals",
    ),
    "forest": (
        forest.draw,
        "certificates",
        "Each metric's correlation with people per criterion, with intervals and human ceiling",
    ),
    "correlation_heatmap": (
        correlation_heatmap.draw,
        "correlations",
        "Pearson correlation of every metric with every human criterion, by level",
    ),
}


@dataclass(frozen=True, eq=False)
class ReportInput:
    """What a report is made from: the dataset's particulars and the benchmark's tables.

    `published` names comparisons of `published.COMPARISONS`; their tables are in
    `published_folder`. `invented` puts up a banner that the data are made up. With `alignments`
    each statement names the passages that its faithfulness was judged against. `responses` are what
    language models answered, by stage; `models` those of params.yaml, for their prices.
    """

    benchmark: str
    title: str
    licence: str
    citation: str
    invented: bool
    sources: pd.DataFrame
    texts: pd.DataFrame
    parts: pd.DataFrame
    units: pd.DataFrame
    pairs: pd.DataFrame
    judgments: pd.DataFrame
    scores: pd.DataFrame
    leaderboard: pd.DataFrame
    ratings: pd.DataFrame
    correlations: pd.DataFrame
    agreement: pd.DataFrame
    certificates: pd.DataFrame
    significance: pd.DataFrame
    preferences: pd.DataFrame
    ensembles: pd.DataFrame
    conflicts: pd.DataFrame
    disagreements: pd.DataFrame
    confounds: pd.DataFrame
    corrected: pd.DataFrame
    published: list[str]
    published_folder: Path
    alignments: pd.DataFrame | None = None
    responses: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    models: Mapping[str, ModelOptions] = field(default_factory=dict)


def write_report(report: ReportInput, out: Path) -> None:
    """Write the folder `out`, whole or not at all; equal input gives equal bytes.

    Files: index.html; those of TABLES, language_models (where any was asked) and one
    published_<name> per comparison, each as .csv (all digits) and .md; figures/<name>.svg
    and .png where there is something to draw. Raises BadInput if `out` holds anything, or for a
    comparison that is unknown or lacks its table; then nothing is written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"report: {out} already holds something; delete it or name another folder")
    compared = compare_all(
        report.published, report.published_folder, report.leaderboard, report.correlations
    )
    unfinished = out.parent / f".{out.name}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)  # of a run that was killed
    unfinished.mkdir(parents=True)
    try:
        _write_all(report, compared, unfinished)
        if out.exists():
            out.rmdir()
        unfinished.replace(out)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _write_all(report: ReportInput, compared: list[Compared], folder: Path) -> None:
    asked = asked_table(report.responses, report.models)
    tables = {
        **{name: getattr(report, name) for name in TABLES},
        **{f"published_{c.name}": c.cells for c in compared},
        **({} if asked.empty else {"language_models": asked}),
    }
    for name, frame in tables.items():
        _write_text(folder / f"{name}.csv", to_csv(frame))
        _write_text(folder / f"{name}.md", to_markdown(frame))
    inlined = _write_figures(tables, folder / "figures")
    page = Page(
        benchmark=report.benchmark,
        title=report.title,
        licence=report.licence,
        citation=report.citation,
        invented=report.invented,
        counts=_counts(report),
        lexical_judges=_lexical_judges(report.judgments),
        figures=inlined,
        best=best_metrics(report.certificates),
        leaderboard=leaderboard_view(report.leaderboard),
        recipes=recipes(report.leaderboard),
        correlations=correlation_view(report.correlations),
        trust=certificates_section(report.certificates),
        sections=_sections(report),
        published=[published_view(c) for c in compared],
        asked=asked_view(asked),
        documents=_documents(report),
        n_documents=len(report.sources),
    )
    with (folder / "index.html").open("w", encoding="utf-8", newline="\n") as file:
        write_page(page, file)


def _sections(report: ReportInput) -> list[Section]:
    made = [
        significance_section(report.significance),
        agreement_section(report.agreement),
        preferences_section(report.preferences),
        ensembles_section(report.ensembles),
        conflicts_section(report.conflicts, report.disagreements),
        confounds_section(report.confounds),
        corrected_section(report.corrected),
    ]
    return [section for section in made if section is not None]


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _write_figures(tables: dict[str, pd.DataFrame], folder: Path) -> dict[str, str]:
    """Write what can be drawn; returns the `<svg>` elements for the page."""
    inlined = {}
    for name, (figure_of, table, title) in FIGURES.items():
        drawn = drawing.draw(figure_of, tables[table])
        if drawn is None:
            continue
        folder.mkdir(exist_ok=True)
        _write_text(folder / f"{name}.svg", drawn.svg)
        (folder / f"{name}.png").write_bytes(drawn.png)
        inlined[name] = drawing.inline(drawn.svg, name, title)
    return inlined


def _documents(report: ReportInput) -> Iterator[Document]:
    return document_views(
        report.sources,
        report.texts,
        report.parts,
        report.scores,
        report.ratings,
        verdicts(report.units, report.pairs, report.judgments, report.alignments),
    )


def _counts(report: ReportInput) -> list[str]:
    n_failed = int((report.texts["status"] != "ok").sum())
    n_people = report.ratings["rater"].nunique()
    counts = [
        counted(len(report.sources), "document"),
        counted(report.texts["author"].nunique(), "author"),
        counted(len(report.texts), "text") + (f" ({n_failed:,} failed)" if n_failed else ""),
        counted(int((report.units["kind"] == "claim").sum()), "claim"),
        counted(int((report.units["kind"] == "statement").sum()), "statement"),
        counted(len(report.judgments), "verdict"),
    ]
    if n_people:
        counts.append(f"{counted(len(report.ratings), 'rating')} by {counted(n_people, 'rater')}")
    return counts


def _lexical_judges(judgments: pd.DataFrame) -> list[str]:
    """Judges that compare words; a judge may have any name, so its recipe counts too."""
    named = set(rows(judgments, "judge", "recipe"))
    return sorted({judge for judge, recipe in named if "lexical" in f"{judge} {recipe}".lower()})
