"""meta_evaluate: scores x ratings -> how far to trust each metric, and each rater."""

from metassay.meta_evaluation.evaluate import evaluate
from metassay.meta_evaluation.options import MetaOptions
from metassay.params import load, parse
from metassay.tables import LEADERBOARD, RATINGS, SCORES, TABLES, read, write
from stages.doorway import enter, table


def main(key: str) -> None:
    """Test one benchmark's metrics against its raters, and its raters against each other."""
    params = load()
    criteria = params.benchmarks[key].criteria
    options = parse(MetaOptions, params.meta_evaluation, where="params.yaml > meta_evaluation")
    scores, ratings = read(SCORES, table(key, "scores")), read(RATINGS, table(key, "ratings"))
    board = read(LEADERBOARD, table(key, "leaderboard"))
    better = dict(zip(board["metric"], board["better"], strict=True))
    made = evaluate(scores, ratings, criteria, better, options)
    for name, frame in made.items():
        write(TABLES[name], frame, table(key, name))


if __name__ == "__main__":
    enter(main)
