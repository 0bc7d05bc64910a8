"""pair_rubric: a rubric and the parts of texts -> the questions that it puts to judges."""

from metassay.scoring.pairing.rubrics import rubric_pairs
from metassay.scoring.rubrics.ask import criteria_table, expand_facets
from metassay.scoring.rubrics.record import load_rubric
from metassay.tables.criteria import CRITERIA
from metassay.tables.documents import SOURCES
from metassay.tables.pairs import PAIRS
from metassay.tables.parts import PARTS
from metassay.units import SEGMENTATIONS
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    name = io.item
    segmentation = io.choose(SEGMENTATIONS, "segmentations", io.param("segmentation"))
    facets = segmentation.record.facets(segmentation.options)
    rubric = expand_facets(load_rubric(io.path(f"rubrics/{name}.yaml")), facets)
    pairs = rubric_pairs(io.read(SOURCES), io.read(PARTS), rubric, facets)
    io.write(PAIRS, pairs, f"rubric-{name}")
    io.write(CRITERIA, criteria_table(rubric), name)
