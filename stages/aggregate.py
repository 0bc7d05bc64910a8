"""aggregate: judgments and measurements -> scores; scores -> leaderboard."""

import pandas as pd

from metassay import __version__
from metassay.core.file_names import rubric_files
from metassay.core.options import CHEAP, GIVEN, parse, printed
from metassay.core.params import load
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
from metassay.units.recipes import recipe_of
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Bring one benchmark's scores together and rank its authors."""
    asked, rubrics = given.own("questions"), given.own("rubrics")
    setup = setup_of(given, asked)
    pairs = given.read(PAIRS, [GIVEN, *asked, *rubric_files(rubrics)])
    judgments = given.read(JUDGMENTS, [GIVEN, *given.own("judges")])
    criteria = given.read(CRITERIA, [GIVEN, *rubrics])
    check_given(criteria)
    graded = pairs["measure"].isin(criteria["metric"])
    judged = judged_scores(given.read(PARTS), given.read(UNITS), pairs[~graded], judgments, setup)
    by_rubric = rubric_scores(criteria, pairs[graded], judgments, setup.segmentation, setup.version)
    measured = given.read(MEASUREMENTS, [GIVEN, CHEAP, *given.own("costly_metrics")])
    scores = pd.concat([judged, by_rubric, measured], ignore_index=True)
    where = "params.yaml > aggregation"
    options = parse(LeaderboardOptions, given.shared("aggregation"), where=where)
    given.write(SCORES, scores)
    known = {
        **descriptions(),
        **user_descriptions(load(), given.benchmark),
        **rubric_descriptions(criteria),
    }
    given.write(LEADERBOARD, leaderboard(scores, known, options))


def setup_of(given: Given, asked: list[str]) -> Setup:
    """What led to the pairs, as recipes print it."""
    (name,) = [*given.own("decompositions"), *given.own("released_claims")]
    decomposition = given.chosen(DECOMPOSITIONS, "decompositions", name)
    segmentation = given.chosen(SEGMENTATIONS, "segmentations", given.own("segmentation"))
    models = parse_models(given.shared("endpoints"), given.shared("models"))
    questions, where = given.shared("questions"), "params.yaml > questions"
    return Setup(
        segmentation=recipe_of(segmentation, models),
        decomposition=recipe_of(decomposition, models),
        alignment=printed(given.shared(f"alignments.{given.own('alignment')}")),
        questions={
            name: parse(Questions, questions[name], where=f"{where} > {name}") for name in asked
        },
        version=__version__,
    )


if __name__ == "__main__":
    enter(main)
