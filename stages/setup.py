"""The recipes that lead from texts to statements and pairs, for stages that score these."""

from collections.abc import Mapping

from metassay import __version__
from metassay.scoring.aggregation.judged import Setup
from metassay.scoring.pairing.questions import Questions
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.alignment import ALIGNMENTS
from metassay.units.record import recipe_of
from stages.doorway import StageIO


def setup_of(io: StageIO, questions: Mapping[str, Questions]) -> Setup:
    """Return a benchmark's settings from texts to pairs; `questions` are its blocks."""
    (name,) = [*io.param("decompositions"), *io.param("released_claims")]
    decomposition = io.choose(DECOMPOSITIONS, "decompositions", name)
    segmentation = io.choose(SEGMENTATIONS, "segmentations", io.param("segmentation"))
    models = io.models()
    return Setup(
        segmentation=recipe_of(segmentation, models),
        decomposition=recipe_of(decomposition, models),
        alignments={
            name: recipe_of(io.choose(ALIGNMENTS, "alignments", name), models)
            for name in io.param("alignments")
        },
        questions=questions,
        version=__version__,
    )
