"""report: tables -> reports/<benchmark>/: a web page, its numbers as CSV, figures."""

from metassay.core.stages import PUBLISHED
from metassay.meta_evaluation.evaluate import RESULT_TABLES
from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.headline import (
    evaluation_numbers,
    evaluation_plots,
    write_numbers,
)
from metassay.reporting.names import ShownAs
from metassay.reporting.published.cells import Ours
from metassay.reporting.published.index import compare_all
from metassay.reporting.report import ReportInput, write_report
from metassay.reporting.responses import models_table
from metassay.statistics.document_means import Resampling
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.criteria import CRITERIA
from metassay.tables.documents import DOCUMENT_CLUSTERS, SOURCES, TEXTS
from metassay.tables.evidence import EVIDENCE
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.pairs import PAIRS
from metassay.tables.parts import PARTS
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from metassay.tables.units import UNITS
from metassay.units import SEGMENTATIONS
from stages.doorway import StageIO, program
from stages.shown import report_fields

SHOWN = (
    SOURCES,
    TEXTS,
    PARTS,
    UNITS,
    ALIGNMENTS,
    PAIRS,
    JUDGMENTS,
    CRITERIA,
    SCORES,
    LEADERBOARD,
    RATINGS,
    CERTIFICATES,
    *(
        table for table in RESULT_TABLES.values() if table is not EVIDENCE
    ),  # certificates have its numbers
)


@program
def main(io: StageIO) -> None:
    writers, judges = [*io.param("systems"), *io.param("few_shot")], io.param("judges")
    shown_as = io.shared("shown_as")
    segmentation = io.choose(SEGMENTATIONS, "segmentations", io.param("segmentation"))
    clusters = io.read(DOCUMENT_CLUSTERS)
    fields = report_fields(io, SHOWN, judges, shown_as)
    ours = Ours(*(fields["tables"][name] for name in Ours._fields))
    report = ReportInput(
        **fields,
        published=compare_all(io.param("published"), io.path(PUBLISHED), ours),
        certification=io.options(CertificationOptions, "certification"),
        resampling=Resampling(
            *(
                io.shared(f"meta_evaluation.{name}")
                for name in ("resamples", "confidence", "seed")
            ),
            dict(zip(clusters["doc_id"], clusters["cluster"], strict=True)),
        ),
        scales=io.criteria(),
        facets=segmentation.record.facets(segmentation.options),
        shown_as=ShownAs.choose(shown_as, writers, judges),
    )
    write_report(report, io.path(f"reports/{io.benchmark}"))
    tables = [
        report.tables[name] for name in ("leaderboard", "certificates", "criteria")
    ]
    numbers = evaluation_numbers(*tables, models_table(report.responses, {}))
    write_numbers(numbers, evaluation_plots(*tables), io.path_beside_params)
