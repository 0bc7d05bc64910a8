"""meta_evaluate: scores x ratings -> how far to trust each metric, and each rater."""

from metassay.core.options import Design, parse
from metassay.meta_evaluation.agreement import rating_summaries
from metassay.meta_evaluation.evaluate import evaluate
from metassay.meta_evaluation.facet_weights import facet_weights
from metassay.meta_evaluation.layouts import groups_of
from metassay.meta_evaluation.made import MADE
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.criteria import CRITERIA, of_rubrics
from metassay.tables.documents import SOURCES
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from stages.doorway import StageIO, enter


def main(io: StageIO) -> None:
    """Test one benchmark's metrics against its raters, and its raters against each other."""
    where = "params.yaml > meta_evaluation"
    planned = parse(Design, io.param("design"), where=f"{io.entry.own} > design")
    chosen = {**io.shared("meta_evaluation"), "primary": planned.primary}
    options = parse(MetaOptions, chosen, where=where)
    board = io.read(LEADERBOARD)
    better = dict(zip(board["metric"], board["better"], strict=True))
    ratings = io.read(RATINGS)
    scores, criteria = io.read(SCORES), io.criteria()
    rubrics = io.read(CRITERIA)
    notes: list[str] = []
    groups = groups_of(
        planned, io.read(SOURCES), ratings["author"].unique(), f"{io.entry.own} > design"
    )
    made = evaluate(scores, ratings, criteria, better, options, groups=groups, note=notes.append)
    made["rating_summaries"] = rating_summaries(ratings, criteria, options)
    made["facet_weights"] = facet_weights(ratings, criteria, of_rubrics(rubrics), options)
    io.note(notes)
    for name, frame in made.items():
        io.write(MADE[name], frame)


if __name__ == "__main__":
    enter(main)
