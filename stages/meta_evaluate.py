"""meta_evaluate: scores x ratings -> how far to trust each metric, and each rater."""

from metassay.meta_evaluation.agreement import agreement
from metassay.meta_evaluation.correlations import correlations
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import studies
from metassay.params import load, parse
from metassay.tables import AGREEMENT, CORRELATIONS, LEADERBOARD, RATINGS, SCORES, read, write
from stages.doorway import enter, table


def main(key: str) -> None:
    """Test one benchmark's metrics against its raters, and its raters against each other."""
    params = load()
    criteria = params.benchmarks[key].criteria
    options = parse(MetaOptions, params.meta_evaluation, where="params.yaml > meta_evaluation")
    scores, ratings = read(SCORES, table(key, "scores")), read(RATINGS, table(key, "ratings"))
    board = read(LEADERBOARD, table(key, "leaderboard"))
    better = dict(zip(board["metric"], board["better"], strict=True))
    found = studies(scores, ratings, criteria, better, options)
    write(CORRELATIONS, correlations(found, options), table(key, "correlations"))
    write(AGREEMENT, agreement(ratings, criteria, options), table(key, "agreement"))


if __name__ == "__main__":
    enter(main)
