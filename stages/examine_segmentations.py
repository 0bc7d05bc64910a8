"""examine_segmentations: labels of sentences x right labels -> scores and confusions."""

from metassay.labelled.segmentation_scores import examine
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES
from metassay.tables.sentences import SEGMENTED, SENTENCES
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    options = io.options(MetaOptions, "meta_evaluation")
    said = io.read(SEGMENTED)
    found = examine(io.read(SENTENCES), said, options)
    io.note(found.notes)
    io.write(SEGMENT_SCORES, found.scores)
    io.write(CONFUSIONS, found.confusions)
