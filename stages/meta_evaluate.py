"""meta_evaluate: scores x ratings -> how far to trust each metric, and each rater."""

from metassay.meta_evaluation.evaluate import evaluate
from metassay.meta_evaluation.options import MetaOptions
from metassay.options import parse
from metassay.tables import LEADERBOARD, RATINGS, SCORES, TABLES
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Test one benchmark's metrics against its raters, and its raters against each other."""
    where = "params.yaml > meta_evaluation"
    options = parse(MetaOptions, given.shared("meta_evaluation"), where=where)
    board = given.read(LEADERBOARD)
    better = dict(zip(board["metric"], board["better"], strict=True))
    scores, ratings, criteria = given.read(SCORES), given.read(RATINGS), given.criteria()
    notes: list[str] = []
    made = evaluate(scores, ratings, criteria, better, options, note=notes.append)
    given.note(notes)
    for name, frame in made.items():
        given.write(TABLES[name], frame)


if __name__ == "__main__":
    enter(main)
