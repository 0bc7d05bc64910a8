"""report: tables -> reports/<benchmark>/: a web page, its numbers as CSV and Markdown, figures."""

from metassay.core.file_names import asking, noting, rubric_files
from metassay.core.options import GIVEN, parse
from metassay.datasets.registry import Dataset
from metassay.llm.endpoints import parse_models
from metassay.meta_evaluation.evaluate import MADE
from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.headline import evaluation_numbers, write_numbers
from metassay.reporting.names import ShownAs, looks
from metassay.reporting.report import ReportInput, write_report
from metassay.reporting.resampled import Resampling
from metassay.reporting.responses import asked_table
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.criteria import CRITERIA
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.evidence import EVIDENCE
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.notes import NOTES
from metassay.tables.pairs import PAIRS
from metassay.tables.parts import PARTS
from metassay.tables.ratings import RATINGS
from metassay.tables.responses import RESPONSES
from metassay.tables.scores import SCORES
from metassay.tables.units import UNITS
from metassay.units import SEGMENTATIONS
from stages.doorway import REGISTRY, Given, enter

SHOWN = (
    *(SOURCES, PARTS, UNITS, ALIGNMENTS, SCORES, LEADERBOARD, CERTIFICATES),
    *(table for table in MADE.values() if table is not EVIDENCE),  # certificates have its numbers
)


def main(given: Given) -> None:
    """Write the report of one benchmark."""
    name = given.own("dataset")
    dataset = parse(Dataset, given.registered(name), where=f"{REGISTRY} > datasets > {name}")
    writers, judges = [*given.own("systems"), *given.own("few_shot")], given.own("judges")
    where = "params.yaml > certification"
    segmentation = given.chosen(SEGMENTATIONS, "segmentations", given.own("segmentation"))
    report = ReportInput(
        benchmark=given.benchmark,
        title=dataset.title,
        licence=dataset.licence,
        citation=dataset.citation,
        invented=dataset.invented,
        seen=looks(given.own("seen"), judges, given.shared("shown_as")),
        published=given.own("published"),
        published_folder=given.path("reports/published"),
        responses=given.read_each(RESPONSES, asking(writers, judges)),
        notes=given.read_each(NOTES, noting(writers, judges, given.own("costly_metrics"))),
        certification=parse(CertificationOptions, given.shared("certification"), where=where),
        resampling=Resampling(
            *(given.shared(f"meta_evaluation.{name}") for name in Resampling._fields)
        ),
        scales=given.criteria(),
        facets=segmentation.record.facets(segmentation.options),
        shown_as=ShownAs.of(given.shared("shown_as"), writers, judges),
        models=parse_models(given.shared("endpoints"), given.shared("models")).models,
        tables={
            "texts": given.read(TEXTS, [GIVEN, *writers]),
            "pairs": given.read(
                PAIRS, [GIVEN, *given.own("questions"), *rubric_files(given.own("rubrics"))]
            ),
            "criteria": given.read(CRITERIA, [GIVEN, *given.own("rubrics")]),
            "ratings": given.read(RATINGS, [GIVEN, *given.own("studies")]),
            "judgments": given.read(JUDGMENTS, [GIVEN, *judges]),
            **{table.name: given.read(table) for table in SHOWN},
        },
    )
    write_report(report, given.path(f"reports/{given.benchmark}"))
    tables = (report.tables[name] for name in ("leaderboard", "certificates", "criteria"))
    numbers = evaluation_numbers(*tables, asked_table(report.responses, {}))
    write_numbers(numbers, given.headline())


if __name__ == "__main__":
    enter(main)
