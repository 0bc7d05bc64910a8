"""meta_evaluate: scores x ratings -> correlations, and agreement among raters."""

from metassay.meta_evaluation import MetaOptions, agree_all, correlate_all
from metassay.params import load, parse
from metassay.tables import AGREEMENT, CORRELATIONS, RATINGS, SCORES, read, write
from stages.doorway import enter, table


def main(key: str) -> None:
    """Test one benchmark's metrics against its raters, and its raters against each other."""
    params = load()
    criteria = params.benchmarks[key].criteria
    options = parse(MetaOptions, params.meta_evaluation, where="params.yaml > meta_evaluation")
    scores, ratings = read(SCORES, table(key, "scores")), read(RATINGS, table(key, "ratings"))
    write(
        CORRELATIONS, correlate_all(scores, ratings, criteria, options), table(key, "correlations")
    )
    write(AGREEMENT, agree_all(ratings, criteria), table(key, "agreement"))


if __name__ == "__main__":
    enter(main)
