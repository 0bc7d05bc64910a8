"""The report about one benchmark: a folder of tables, figures and one self-contained page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.core.options import Criterion
from metassay.format.frames import rows
from metassay.format.numbers import counted
from metassay.meta_evaluation.evaluate import MADE
from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.advice import advice
from metassay.reporting.answers import CLASSES, answers_section, answers_table, judgments
from metassay.reporting.cells import Ours
from metassay.reporting.certificates import best_metrics, best_of, certificates_section, limits
from metassay.reporting.documents import document_views
from metassay.reporting.facets import facets_table, facets_view
from metassay.reporting.leaderboard import leaderboard_view, recipes
from metassay.reporting.meta_page import EVALUATION, evaluation_figures
from metassay.reporting.metrics import correlation_view
from metassay.reporting.names import described
from metassay.reporting.page import Report, Spec, filled, sections_of, write_page, write_tables
from metassay.reporting.people import (
    facet_weights_section,
    people_section,
    ranks_section,
    ranks_table,
    violins,
)
from metassay.reporting.profile import profile_section, profile_table
from metassay.reporting.published import Compared, compare_all, published_view
from metassay.reporting.published_judges import ClaimScores, claims_section
from metassay.reporting.resampled import Resampling
from metassay.reporting.responses import asked_section, missing_lines, notes_section
from metassay.reporting.rubrics import (
    filled_in,
    rubric_agreement_table,
    rubric_tables,
    rubrics_section,
)
from metassay.tables.criteria import of_rubrics

# The tables that lie beside the page, as they are.
TABLES = ("leaderboard", "certificates", *(name for name in MADE if name != "evidence"))
_SECTIONS = (
    *EVALUATION,
    Spec(people_section, ("rating_summaries", "rating_violins")),
    Spec(facet_weights_section, ("facet_weights",)),
    Spec(ranks_section, ("ranks",)),
    Spec(profile_section, ("profile",)),
    Spec(answers_section, ("answers",)),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportInput(Report):
    """What the report is made from; `tables` has every table of a benchmark that it reads.

    `published` names comparisons of `published.COMPARISONS`; their tables are in
    `published_folder`. With table `alignments` each statement names the passages that its
    faithfulness was judged against. `certification` made the verdicts; `resampling` makes the
    intervals that the report adds. `scales` are of what people rated. `facets` are those that the
    benchmark's segmentation may find.
    """

    scales: Mapping[str, Criterion]
    published: Sequence[str]
    published_folder: Path
    certification: CertificationOptions
    resampling: Resampling
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
    tables, criteria = report.tables, report.tables["criteria"]
    ours = Ours(*(tables[name] for name in Ours._fields))
    compared = compare_all(report.published, report.published_folder, ours)
    report.shown_as.check(tables["texts"]["author"])
    with whole_folder(out, "report") as folder, described(criteria, report.scales):
        every = {**tables, "criteria": of_rubrics(criteria)}
        files = {
            **{name: tables[name] for name in TABLES},
            **_made(report, every),
            **{name: frame for one in compared for name, frame in one.tables.items()},
            **filled(
                answers=answers_table(tables["pairs"], tables["judgments"]),
                criteria=every["criteria"],
            ),
            **report.said(),
        }
        write_tables(files, folder)
        _write_page(report, every, files, compared, folder)


def _made(report: ReportInput, tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Tables that the report makes for its reader, those that have a row."""
    how, scales = report.resampling, report.scales
    parts, scores, ratings = tables["parts"], tables["scores"], tables["ratings"]
    criteria = tables["criteria"]
    grades, levels = rubric_tables(criteria, scores)
    return filled(
        facets=facets_table(parts, report.facets, how),
        profile=profile_table(tables["sources"], parts, scores, how),
        rating_violins=violins(ratings, scales, how),
        ranks=ranks_table(tables["leaderboard"], tables["rating_summaries"], scales),
        rubric_grades=grades,
        rubric_levels=levels,
        rubric_agreement=rubric_agreement_table(criteria, scores, ratings, scales, how),
    )


def _write_page(
    report: ReportInput,
    every: Mapping[str, pd.DataFrame],
    files: Mapping[str, pd.DataFrame],
    compared: Sequence[Compared | ClaimScores],
    folder: Path,
) -> None:
    """Names are called as they are shown: in `every` table of the benchmark, and those beside."""
    shown = report.shown_as
    read, tables = shown.frames(every), shown.frames(files)
    certificates, confidence = tables["certificates"], report.resampling.confidence
    small = limits(certificates, tables["designs"], confidence)
    answer = [*advice(best_of(certificates), confidence)]
    said = {name: tables.get(name, pd.DataFrame()) for name in ("language_models", "notes")}
    known = judgments(
        *(read["units"], read["pairs"], read["judgments"], read.get("alignments")),
        names={other: name for name, other in shown.authors.items()},
    )
    write_page(
        "page.html.j2",
        folder,
        evaluation_figures(tables, report.certification, folder),
        **report.facts,
        counts=_counts(read),
        lexical_judges=_lexical_judges(read["judgments"]),
        answer=answer,
        limits=[line for line in small if line not in answer],
        best=best_metrics(certificates),
        leaderboard=leaderboard_view(tables["leaderboard"]),
        recipes=recipes(tables["leaderboard"]),
        correlations=correlation_view(tables["correlations"]),
        trust=certificates_section(certificates, report.certification, confidence, small),
        sections=[
            *sections_of(_SECTIONS, tables),
            *(claims_section(one, tables) for one in compared if isinstance(one, ClaimScores)),
        ],
        facets=facets_view(tables.get("facets"), read["parts"], report.facets, read["sources"]),
        rubrics=rubrics_section(tables),
        filled=filled_in(*(read[n] for n in ("criteria", "pairs", "judgments", "parts"))),
        published=[published_view(one) for one in compared if isinstance(one, Compared)],
        missing=missing_lines(said["language_models"]),
        notes=notes_section(said["notes"]),
        asked=asked_section(said["language_models"]),
        documents=document_views(read, known, report.facets),
        n_documents=len(read["sources"]),
        classes=CLASSES,
    )


def _counts(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    texts, units, ratings = tables["texts"], tables["units"], tables["ratings"]
    n_failed = int((texts["status"] != "ok").sum())
    n_people = ratings["rater"].nunique()
    counts = [
        counted(len(tables["sources"]), "document"),
        counted(texts["author"].nunique(), "author"),
        counted(len(texts), "text") + (f" ({n_failed:,} failed)" if n_failed else ""),
        counted(int((units["kind"] == "claim").sum()), "claim"),
        counted(int((units["kind"] == "statement").sum()), "statement"),
        counted(len(tables["judgments"]), "judgment"),
    ]
    if n_people:
        counts.append(f"{counted(len(ratings), 'rating')} by {counted(n_people, 'rater')}")
    return counts


def _lexical_judges(judgments: pd.DataFrame) -> list[str]:
    """Judges that compare words; a judge may have any name, so its recipe counts too."""
    named = set(rows(judgments, "judge", "recipe"))
    return sorted({judge for judge, recipe in named if "lexical" in f"{judge} {recipe}".lower()})
