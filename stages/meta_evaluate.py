"""meta_evaluate: scores x ratings -> how far to trust each metric, and each rater."""

from metassay.meta_evaluation.evaluate import evaluate
from metassay.meta_evaluation.facet_weights import facet_weights
from metassay.meta_evaluation.made import MADE
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.rating_summaries import rating_summaries
from metassay.options import GIVEN, parse
from metassay.rubrics.given import of_rubrics
from metassay.tables.criteria import CRITERIA
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Test one benchmark's metrics against its raters, and its raters against each other."""
    where = "params.yaml > meta_evaluation"
    options = parse(MetaOptions, given.shared("meta_evaluation"), where=where)
    board = given.read(LEADERBOARD)
    better = dict(zip(board["metric"], board["better"], strict=True))
    ratings = given.read(RATINGS, [GIVEN, *given.own("studies")])
    scores, criteria = given.read(SCORES), given.criteria()
    rubrics = given.read(CRITERIA, [GIVEN, *given.own("rubrics")])
    notes: list[str] = []
    made = evaluate(scores, ratings, criteria, better, options, note=notes.append)
    made["rating_summaries"] = rating_summaries(ratings, criteria, options)
    made["facet_weights"] = facet_weights(ratings, criteria, of_rubrics(rubrics), options)
    given.note(notes)
    for name, frame in made.items():
        given.write(MADE[name], frame)


if __name__ == "__main__":
    enter(main)
