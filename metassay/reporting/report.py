"""The report about one benchmark: a folder of tables, figures and one self-contained page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from metassay.atomic import whole_folder
from metassay.llm.endpoints import ModelOptions
from metassay.meta_evaluation.options import CertificationOptions
from metassay.options import Criterion
from metassay.reporting.cells import Ours
from metassay.reporting.display import NONE, ShownAs, with_names_shown
from metassay.reporting.facets import facets_table
from metassay.reporting.limits import limits
from metassay.reporting.names import described
from metassay.reporting.numbers import counted
from metassay.reporting.page import Page, write_page
from metassay.reporting.profile import profile_table
from metassay.reporting.published import Compared, compare_all
from metassay.reporting.published_claims import ClaimScores
from metassay.reporting.ranks import ranks_table
from metassay.reporting.resampled import Resampling
from metassay.reporting.rubric_agreement import rubric_agreement_table
from metassay.reporting.rubrics import rubric_tables
from metassay.reporting.sections import evaluation_sections, made_sections, write_figures
from metassay.reporting.tables import rows, to_csv, to_markdown
from metassay.reporting.views.answers import answers_section, answers_table
from metassay.reporting.views.asked import asked_section, asked_table, missing_lines
from metassay.reporting.views.certificates import best_metrics, certificates_section
from metassay.reporting.views.correlations import correlation_view
from metassay.reporting.views.documents import Document, document_views
from metassay.reporting.views.facets import facets_view
from metassay.reporting.views.filled import filled_in
from metassay.reporting.views.judgments import judgments
from metassay.reporting.views.leaderboard import leaderboard_view, recipes
from metassay.reporting.views.notes import notes_section, notes_table
from metassay.reporting.views.published import published_view
from metassay.reporting.views.published_claims import claims_section
from metassay.reporting.views.rubrics import rubrics_section
from metassay.reporting.violins import violins
from metassay.rubrics.given import of_rubrics

DRAWN = ["draws"]  # columns for figures alone: long lists that no file has

# The tables that lie beside the page, as they are.
TABLES = (
    "leaderboard",
    "certificates",
    "designs",
    "strata",
    "correlations",
    "components",
    "significance",
    "agreement",
    "preferences",
    "ensembles",
    "conflicts",
    "disagreements",
    "confounds",
    "corrected",
    "judge_cards",
    "calibration",
    "rating_summaries",
    "metric_correlations",
    "facet_weights",
)


@dataclass(frozen=True, eq=False)
class ReportInput:
    """What a report is made from: the dataset's particulars and the benchmark's tables.

    `published` names comparisons of `published.COMPARISONS`; their tables are in
    `published_folder`. `invented` puts up a banner that the data are made up; `seen` says of
    each judge whether choices saw them. With `alignments`
    each statement names the passages that its faithfulness was judged against. `responses` are what
    language models answered, by stage; `models` those of params.yaml, for their prices. `notes` are
    what stages did about the data that its owner should know, by stage.
    `certification` made the verdicts; `resampling` makes the intervals that the report adds.
    `scales` are of what people rated. `facets` are those that the benchmark's segmentation may
    find. `shown_as` has other words for names of systems and judges, for the page and its figures.
    """

    benchmark: str
    title: str
    licence: str
    citation: str
    invented: bool
    seen: Sequence[str]
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
    components: pd.DataFrame
    agreement: pd.DataFrame
    certificates: pd.DataFrame
    designs: pd.DataFrame
    strata: pd.DataFrame
    significance: pd.DataFrame
    preferences: pd.DataFrame
    ensembles: pd.DataFrame
    conflicts: pd.DataFrame
    disagreements: pd.DataFrame
    confounds: pd.DataFrame
    corrected: pd.DataFrame
    judge_cards: pd.DataFrame
    calibration: pd.DataFrame
    rating_summaries: pd.DataFrame
    metric_correlations: pd.DataFrame
    facet_weights: pd.DataFrame
    criteria: pd.DataFrame
    scales: Mapping[str, Criterion]
    published: list[str]
    published_folder: Path
    certification: CertificationOptions
    resampling: Resampling
    alignments: pd.DataFrame | None = None
    responses: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    models: Mapping[str, ModelOptions] = field(default_factory=dict)
    notes: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    shown_as: ShownAs = NONE
    facets: Sequence[str] = ()


def write_report(report: ReportInput, out: Path) -> None:
    """Write the folder `out`, whole or not at all; equal input gives equal bytes.

    Files: index.html; those of TABLES, facets, profile, rating_violins, ranks, rubric_grades,
    rubric_levels and rubric_agreement (where there is something in them), answers (where there is a
    judge), criteria (where there is a rubric), language_models (where any was asked), notes (where
    there is any) and the tables of each comparison, each as .csv (all digits) and .md;
    figures/<name>.svg and .png where there is something to draw. Raises BadInput if `out` holds
    anything, for a comparison that is unknown or lacks its table, and for a system that is shown
    under another author's name; then nothing is written.
    """
    compared = compare_all(
        report.published,
        report.published_folder,
        Ours(
            report.leaderboard,
            report.correlations,
            report.scores,
            report.ratings,
            report.facet_weights,
        ),
    )
    report.shown_as.check(report.texts["author"])
    with whole_folder(out, "report") as unfinished, described(report.criteria, report.scales):
        asked = replace(report, criteria=of_rubrics(report.criteria))
        _write_all(asked, compared, unfinished)


def _write_all(report: ReportInput, compared: list[Compared | ClaimScores], folder: Path) -> None:
    answers = answers_table(report.pairs, report.judgments)
    asked, notes = asked_table(report.responses, report.models), notes_table(report.notes)
    made = _made(report)
    files = {
        **{name: getattr(report, name) for name in TABLES},
        **made,
        **{name: frame for c in compared for name, frame in c.tables.items()},
        **({} if answers.empty else {"answers": answers}),
        **({} if report.criteria.empty else {"criteria": report.criteria}),
        **({} if asked.empty else {"language_models": asked}),
        **({} if notes.empty else {"notes": notes}),
    }
    for name, frame in files.items():
        in_file = frame.drop(columns=DRAWN, errors="ignore")
        _write_text(folder / f"{name}.csv", to_csv(in_file))
        _write_text(folder / f"{name}.md", to_markdown(in_file))
    report = with_names_shown(report, report.shown_as)
    tables = {name: report.shown_as.frame(frame) for name, frame in files.items()}
    inlined = write_figures(tables, report.certification, folder / "figures")
    small = limits(report.certificates, report.designs, report.resampling.confidence)
    page = Page(
        benchmark=report.benchmark,
        title=report.title,
        licence=report.licence,
        citation=report.citation,
        invented=report.invented,
        counts=_counts(report),
        seen=report.seen,
        lexical_judges=_lexical_judges(report.judgments),
        figures=inlined,
        limits=small,
        best=best_metrics(report.certificates),
        leaderboard=leaderboard_view(report.leaderboard),
        recipes=recipes(report.leaderboard),
        correlations=correlation_view(report.correlations),
        trust=certificates_section(
            report.certificates,
            report.certification,
            report.resampling.confidence,
            small,
        ),
        sections=[
            *evaluation_sections(tables),
            *made_sections(tables),
            *filter(None, [answers_section(report.shown_as.frame(answers))]),
            *(claims_section(c, tables) for c in compared if isinstance(c, ClaimScores)),
        ],
        facets=facets_view(tables.get("facets"), report.parts, report.facets, report.sources),
        rubrics=rubrics_section(tables),
        filled=filled_in(report.criteria, report.pairs, report.judgments, report.parts),
        published=[published_view(c) for c in compared if isinstance(c, Compared)],
        missing=missing_lines(asked),
        notes=notes_section(notes),
        asked=asked_section(asked),
        documents=_documents(report),
        n_documents=len(report.sources),
    )
    with (folder / "index.html").open("w", encoding="utf-8", newline="\n") as file:
        write_page(page, file)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _made(report: ReportInput) -> dict[str, pd.DataFrame]:
    """Tables that the report makes for its reader, those that have a row."""
    made = {
        "facets": facets_table(report.parts, report.facets, report.resampling),
        "profile": profile_table(report.sources, report.parts, report.scores, report.resampling),
        "rating_violins": violins(report.ratings, report.scales, report.resampling),
        "ranks": ranks_table(report.leaderboard, report.rating_summaries, report.scales),
    }
    grades, levels = rubric_tables(report.criteria, report.scores)
    made |= {"rubric_grades": grades, "rubric_levels": levels}
    given = report.criteria, report.scores, report.ratings, report.scales
    made["rubric_agreement"] = rubric_agreement_table(*given, report.resampling)
    return {name: frame for name, frame in made.items() if not frame.empty}


def _documents(report: ReportInput) -> Iterator[Document]:
    return document_views(
        report.sources,
        report.texts,
        report.parts,
        report.scores,
        report.ratings,
        judgments(
            *(report.units, report.pairs, report.judgments, report.alignments),
            names={shown: name for name, shown in report.shown_as.authors.items()},
        ),
        report.facets,
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
        counted(len(report.judgments), "judgment"),
    ]
    if n_people:
        counts.append(f"{counted(len(report.ratings), 'rating')} by {counted(n_people, 'rater')}")
    return counts


def _lexical_judges(judgments: pd.DataFrame) -> list[str]:
    """Judges that compare words; a judge may have any name, so its recipe counts too."""
    named = set(rows(judgments, "judge", "recipe"))
    return sorted({judge for judge, recipe in named if "lexical" in f"{judge} {recipe}".lower()})
