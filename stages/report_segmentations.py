"""report_segmentations: tables of a test of segmentations -> reports/<test>/: a page, numbers."""

from metassay.core.file_names import asking_segmentations, noting_segmentations
from metassay.core.options import GIVEN, parse
from metassay.datasets.registry import Dataset
from metassay.llm.endpoints import parse_models
from metassay.reporting.headline import segmentation_numbers, write_numbers
from metassay.reporting.names import looks
from metassay.reporting.responses import asked_table
from metassay.reporting.segment_test import SegmentTestReport, write_segment_test
from metassay.tables.documents import TEXTS
from metassay.tables.notes import NOTES
from metassay.tables.responses import RESPONSES
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES
from metassay.tables.sentences import SEGMENTED, SENTENCES
from stages.doorway import REGISTRY, Given, enter

SHOWN = (SENTENCES, SEGMENT_SCORES, CONFUSIONS)


def main(given: Given) -> None:
    """Write the report of one test of segmentations."""
    name, segmentations = given.own("dataset"), given.own("segmentations")
    dataset = parse(Dataset, given.registered(name), where=f"{REGISTRY} > datasets > {name}")
    report = SegmentTestReport(
        benchmark=given.benchmark,
        segmentations=segmentations,
        title=dataset.title,
        licence=dataset.licence,
        citation=dataset.citation,
        invented=dataset.invented,
        seen=looks(given.own("seen"), segmentations, {}),
        responses=given.read_each(RESPONSES, asking_segmentations(segmentations)),
        notes=given.read_each(NOTES, noting_segmentations(segmentations)),
        models=parse_models(given.shared("endpoints"), given.shared("models")).models,
        tables={
            "texts": given.read(TEXTS, [GIVEN]),
            "segmented": given.read(SEGMENTED, segmentations),
            **{table.name: given.read(table) for table in SHOWN},
        },
    )
    write_segment_test(report, given.path(f"reports/{given.benchmark}"))
    asked = asked_table(report.responses, {})
    write_numbers(segmentation_numbers(report.tables["segment_scores"], asked), given.headline())


if __name__ == "__main__":
    enter(main)
