"""meta_evaluate: scores x ratings -> how far to trust each metric, and each rater."""

from metassay.core.options import GIVEN, Design, parse
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.evaluate import MADE, evaluate
from metassay.meta_evaluation.layouts import groups_of
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.criteria import CRITERIA, of_rubrics
from metassay.tables.documents import SOURCES
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Test one benchmark's metrics against its raters, and its raters against each other."""
    where = "params.yaml > meta_evaluation"
    planned = parse(Design, given.own("design"), where=f"{given.entry.own} > design")
    chosen = {**given.shared("meta_evaluation"), "primary": planned.primary}
    options = parse(MetaOptions, chosen, where=where)
    board = given.read(LEADERBOARD)
    better = dict(zip(board["metric"], board["better"], strict=True))
    ratings = given.read(RATINGS, [GIVEN, *given.own("studies")])
    rubrics = given.read(CRITERIA, [GIVEN, *given.own("rubrics")])
    notes: list[str] = []
    groups = groups_of(
        planned, given.read(SOURCES), ratings["author"].unique(), f"{given.entry.own} > design"
    )
    evaluation = Evaluation(
        *(given.read(SCORES), ratings, given.criteria(), better, options, of_rubrics(rubrics)),
        groups=groups,
        note=notes.append,
    )
    made = evaluate(evaluation)
    given.note(notes)
    for name, frame in made.items():
        given.write(MADE[name], frame)


if __name__ == "__main__":
    enter(main)
