"""examine_segmentations: labels of sentences x right labels -> scores and confusions."""

from metassay.core.options import parse
from metassay.labelled.segmentation_scores import examine
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES
from metassay.tables.sentences import SEGMENTED, SENTENCES
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Hold the segmentations of one test against the right labels."""
    where = "params.yaml > meta_evaluation"
    options = parse(MetaOptions, given.shared("meta_evaluation"), where=where)
    said = given.read(SEGMENTED, given.own("segmentations"))
    found = examine(given.read(SENTENCES), said, options)
    given.note(found.notes)
    given.write(SEGMENT_SCORES, found.scores)
    given.write(CONFUSIONS, found.confusions)


if __name__ == "__main__":
    enter(main)
