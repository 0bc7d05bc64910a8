"""aggregate: verdicts and measurements -> scores; scores -> leaderboard."""

import pandas as pd

from metassay import __version__
from metassay.aggregation.leaderboard import LeaderboardOptions, leaderboard
from metassay.metrics.verdicts import Setup, verdict_scores
from metassay.pairing.pairs import PairOptions
from metassay.params import load, parse, printed
from metassay.tables import JUDGMENTS, LEADERBOARD, MEASUREMENTS, PAIRS, PARTS, SCORES, read, write
from metassay.units.decompositions import recipe_of
from stages.doorway import enter, table


def main(key: str) -> None:
    """Bring one benchmark's scores together and rank its authors."""
    params = load()
    benchmark = params.benchmarks[key]
    where = f"params.yaml > pairings > {benchmark.pairing}"
    pairing = parse(PairOptions, params.pairings[benchmark.pairing], where=where)
    options = parse(LeaderboardOptions, params.aggregation, where="params.yaml > aggregation")
    setup = Setup(
        segmentation=printed(params.segmentations[benchmark.segmentation]),
        decomposition=recipe_of(params, benchmark.decomposition),
        alignment=printed(params.alignments[benchmark.alignment]),
        pairing=pairing,
        version=__version__,
    )
    judged = verdict_scores(
        read(PARTS, table(key, "parts")),
        read(PAIRS, table(key, "pairs")),
        read(JUDGMENTS, table(key, "judgments")),
        setup,
    )
    scores = pd.concat([judged, read(MEASUREMENTS, table(key, "measurements"))], ignore_index=True)
    write(SCORES, scores, table(key, "scores"))
    write(LEADERBOARD, leaderboard(scores, options), table(key, "leaderboard"))


if __name__ == "__main__":
    enter(main)
