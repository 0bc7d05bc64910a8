"""aggregate: judgments and measurements -> scores; scores -> leaderboard."""

import pandas as pd

from metassay import __version__
from metassay.core.options import parse
from metassay.llm.endpoints import parse_models
from metassay.scoring.aggregation.judged import Setup, judged_scores
from metassay.scoring.aggregation.leaderboard import LeaderboardOptions, leaderboard
from metassay.scoring.aggregation.rubrics import rubric_scores
from metassay.scoring.catalogue import check_given, descriptions, user_descriptions
from metassay.scoring.pairing.questions import Questions
from metassay.scoring.rubrics.metrics import rubric_descriptions
from metassay.tables.criteria import CRITERIA
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.pairs import PAIRS
from metassay.tables.parts import PARTS
from metassay.tables.scores import MEASUREMENTS, SCORES
from metassay.tables.units import UNITS
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.alignment import ALIGNMENTS
from metassay.units.recipes import recipe_of
from stages.doorway import StageIO, enter


def main(io: StageIO) -> None:
    """Bring one benchmark's scores together and rank its authors."""
    setup = setup_of(io)
    pairs = io.read(PAIRS)
    judgments = io.read(JUDGMENTS)
    criteria = io.read(CRITERIA)
    check_given(criteria)
    graded = pairs["measure"].isin(criteria["metric"])
    judged = judged_scores(io.read(PARTS), io.read(UNITS), pairs[~graded], judgments, setup)
    by_rubric = rubric_scores(criteria, pairs[graded], judgments, setup.segmentation, setup.version)
    measured = io.read(MEASUREMENTS)
    scores = pd.concat([judged, by_rubric, measured], ignore_index=True)
    options = io.options(LeaderboardOptions, "aggregation")
    io.write(SCORES, scores)
    known = {
        **descriptions(),
        **user_descriptions(io.project, io.benchmark),
        **rubric_descriptions(criteria),
    }
    io.write(LEADERBOARD, leaderboard(scores, known, options))


def setup_of(io: StageIO) -> Setup:
    """What led to the pairs, as recipes print it."""
    (name,) = [*io.param("decompositions"), *io.param("released_claims")]
    decomposition = io.chosen(DECOMPOSITIONS, "decompositions", name)
    segmentation = io.chosen(SEGMENTATIONS, "segmentations", io.param("segmentation"))
    alignment = io.chosen(ALIGNMENTS, "alignments", io.param("alignment"))
    models = parse_models(io.shared("endpoints"), io.shared("models"))
    questions, where = io.shared("questions"), "params.yaml > questions"
    return Setup(
        segmentation=recipe_of(segmentation, models),
        decomposition=recipe_of(decomposition, models),
        alignment=recipe_of(alignment, models),
        questions={
            name: parse(Questions, questions[name], where=f"{where} > {name}")
            for name in io.param("questions")
        },
        version=__version__,
    )


if __name__ == "__main__":
    enter(main)
