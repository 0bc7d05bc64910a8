"""aggregate: judgments and measurements -> scores; scores -> leaderboard."""

import pandas as pd

from metassay import __version__
from metassay.aggregation.judged import Setup, judged_scores
from metassay.aggregation.leaderboard import LeaderboardOptions, leaderboard
from metassay.llm.endpoints import parse_models
from metassay.metrics.catalogue import descriptions
from metassay.options import CHEAP, GIVEN, parse, printed
from metassay.pairing.questions import Questions
from metassay.tables import JUDGMENTS, LEADERBOARD, MEASUREMENTS, PAIRS, PARTS, SCORES, UNITS
from metassay.units import DECOMPOSITIONS
from metassay.units.decompose import recipe_of
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Bring one benchmark's scores together and rank its authors."""
    asked = given.own("questions")
    judged = judged_scores(
        given.read(PARTS),
        given.read(UNITS),
        given.read(PAIRS, [GIVEN, *asked]),
        given.read(JUDGMENTS, [GIVEN, *given.own("judges")]),
        setup_of(given, asked),
    )
    measured = given.read(MEASUREMENTS, [GIVEN, CHEAP, *given.own("costly_metrics")])
    scores = pd.concat([judged, measured], ignore_index=True)
    where = "params.yaml > aggregation"
    options = parse(LeaderboardOptions, given.shared("aggregation"), where=where)
    given.write(SCORES, scores)
    given.write(LEADERBOARD, leaderboard(scores, descriptions(), options))


def setup_of(given: Given, asked: list[str]) -> Setup:
    """What led to the pairs, as recipes print it."""
    (name,) = [*given.own("decompositions"), *given.own("released_claims")]
    decomposition = given.chosen(DECOMPOSITIONS, "decompositions", name)
    models = parse_models(given.shared("endpoints"), given.shared("models"))
    questions, where = given.shared("questions"), "params.yaml > questions"
    return Setup(
        segmentation=printed(given.shared(f"segmentations.{given.own('segmentation')}")),
        decomposition=recipe_of(decomposition, models),
        alignment=printed(given.shared(f"alignments.{given.own('alignment')}")),
        questions={
            name: parse(Questions, questions[name], where=f"{where} > {name}") for name in asked
        },
        version=__version__,
    )


if __name__ == "__main__":
    enter(main)
