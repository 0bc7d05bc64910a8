"""report_segmentations: tables of a test of segmentations -> reports/<test>/: a page, numbers."""

from metassay.reporting.headline import (
    segmentation_numbers,
    segmentation_plots,
    write_numbers,
)
from metassay.reporting.responses import models_table
from metassay.reporting.segment_test import SegmentTestReport, write_segment_test
from metassay.tables.documents import TEXTS
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES
from metassay.tables.sentences import SEGMENTED, SENTENCES
from stages.doorway import StageIO, program
from stages.shown import report_fields

SHOWN = (TEXTS, SEGMENTED, SENTENCES, SEGMENT_SCORES, CONFUSIONS)


@program
def main(io: StageIO) -> None:
    segmentations = io.param("segmentations")
    report = SegmentTestReport(
        **report_fields(io, SHOWN, segmentations, {}), segmentations=segmentations
    )
    write_segment_test(report, io.path(f"reports/{io.benchmark}"))
    scores = report.tables["segment_scores"]
    numbers = segmentation_numbers(scores, models_table(report.responses, {}))
    write_numbers(numbers, segmentation_plots(scores), io.path_beside_params)
