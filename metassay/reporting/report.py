"""The report about one benchmark: a folder of tables, figures and a page of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.core.options import Criterion
from metassay.format.frames import rows
from metassay.format.numbers import counted
from metassay.meta_evaluation import summaries
from metassay.meta_evaluation.evaluate import RESULT_TABLES
from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.answers import answers_table, unanswered
from metassay.reporting.contract import Problem
from metassay.reporting.documents import put_documents
from metassay.reporting.facets import facets_table
from metassay.reporting.meta_page import answer_of
from metassay.reporting.names import Metric, headline_metrics, known_names
from metassay.reporting.page import Report, filled, write_tables
from metassay.reporting.page_words import LEXICAL, NO_GROUPS
from metassay.reporting.shell import PageFolder
from metassay.statistics.document_means import Resampling
from metassay.tables.criteria import rubric_criteria
from metassay.tables.names import metric_label

# The tables that lie beside the page, as they are.
TABLES = (
    "leaderboard",
    "certificates",
    *(name for name in RESULT_TABLES if name != "evidence"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportInput(Report):
    """What the report is made from; `tables` has every table of a benchmark that it reads.

    With table `alignments` each statement names the passages that its faithfulness was
    judged against. `certification` made the verdicts; `resampling` makes the intervals
    that the report adds. `scales` are of what people rated. `facets` are those that the
    benchmark's segmentation may find.
    """

    scales: Mapping[str, Criterion]
    certification: CertificationOptions
    resampling: Resampling
    facets: Sequence[str] = ()


def write_report(report: ReportInput, out: Path) -> None:
    """Write the folder `out`, whole or not at all; equal input gives equal bytes.

    Files: index.html and page/, which it shows; those of TABLES, and where they have a
    row those of `tables.summaries`, criteria, notes and the tables of each comparison,
    each as .csv (all digits); figures/<name>.svg and .png where there is
    something to draw. Raises BadInput if `out` holds anything, and for a system that is
    shown under another author's name; then nothing is written.
    """
    tables = {**report.tables, "criteria": rubric_criteria(report.tables["criteria"])}
    report.shown_as.check(tables["texts"]["author"])
    with (
        whole_folder(out, "report") as folder,
        known_names(report.tables["criteria"], report.scales),
    ):
        files = {
            **{name: tables[name] for name in TABLES},
            **_summaries(report, tables),
            **report.published.tables,
            **filled(
                answers=answers_table(tables["pairs"], tables["judgments"]),
                criteria=tables["criteria"],
            ),
            **report.run_tables(),
        }
        write_tables(files, folder)
        _write_page(report, tables, files, folder)


def _summaries(
    report: ReportInput, tables: Mapping[str, pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    """Make the tables that the report adds for its reader, those that have a row."""
    how, scales = report.resampling, report.scales
    parts, scores, ratings = tables["parts"], tables["scores"], tables["ratings"]
    criteria, board = tables["criteria"], tables["leaderboard"]
    grades, levels = summaries.rubric_tables(criteria, scores)
    better = _directions(board)
    headline = {metric: better[metric] for metric in headline_metrics(better)}
    return filled(
        system_groups=summaries.system_groups(scores, headline, how, tables["designs"]),
        conflict_shares=summaries.conflict_shares(tables["conflicts"]),
        facets=facets_table(parts, report.facets, how),
        profile=summaries.profile_table(tables["sources"], parts, scores, how),
        rating_violins=summaries.violins(ratings, scales, how),
        ranks=summaries.ranks_table(board, tables["rating_summaries"], scales),
        rubric_grades=grades,
        rubric_levels=levels,
        rubric_agreement=summaries.rubric_agreement(
            criteria, scores, ratings, scales, how
        ),
    )


def _write_page(
    report: ReportInput,
    tables: Mapping[str, pd.DataFrame],
    files: Mapping[str, pd.DataFrame],
    folder: Path,
) -> None:
    """Write the page, with names as they are shown, of the benchmark's tables and the files'."""
    shown_as, page = report.shown_as, PageFolder(folder)
    tables, files = shown_as.frames(tables), shown_as.frames(files)
    answer = answer_of(files, report.certification, report.resampling.confidence)
    if "answers" in files:
        missing = [Problem("missing", line) for line in unanswered(files["answers"])]
        answer["problems"] = [*missing, *answer["problems"]]
    better = _directions(files["leaderboard"])
    headline = headline_metrics(better)
    certified = set(rows(files["certificates"], "metric", "judge"))
    in_texts = {*headline, *(metric for metric in better if metric in certified)}
    clusters = summaries.clusters_found(files["designs"], report.resampling)
    # A judge may have any name, so its recipe counts too.
    named = set(rows(tables["judgments"], "judge", "recipe"))
    lexical = sorted(
        {judge for judge, recipe in named if "lexical" in f"{judge} {recipe}".lower()}
    )
    texts_info = put_documents(
        page,
        tables,
        facets=report.facets,
        scales=report.scales,
        better={metric: better[metric] for metric in in_texts},
        names=shown_as.authors,
    )
    report.write_page(
        page,
        "benchmark",
        files,
        _counts(tables),
        useful=report.certification.useful,
        systems={
            "headline": [metric_label(*metric) for metric in headline],
            "no_groups": NO_GROUPS if clusters else "",
        },
        **answer,
        banners=[LEXICAL.format(judges=" and ".join(lexical))] if lexical else [],
        texts=texts_info,
    )


def _directions(board: pd.DataFrame) -> dict[Metric, str]:
    """Return which way each metric is better."""
    return {
        tuple(metric): better
        for *metric, better in rows(board, "metric", "judge", "better")
    }


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
        counts.append(
            f"{counted(len(ratings), 'rating')} by {counted(n_people, 'rater')}"
        )
    return counts
