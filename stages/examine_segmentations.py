"""examine_segmentations: labels of sentences x right labels -> scores and confusions."""

from metassay.labelled.segmentation_scores import examine
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES
from metassay.tables.sentences import SEGMENTED, SENTENCES
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    options = io.options(MetaOptions, "meta_evaluation")
    examination = examine(io.read(SENTENCES), io.read(SEGMENTED), options)
    io.note(examination.notes)
    io.write(SEGMENT_SCORES, examination.scores)
    io.write(CONFUSIONS, examination.confusions)
