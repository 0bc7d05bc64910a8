"""pair: units and their evidence -> the questions put to judges."""

from metassay.pairing.pairs import PairOptions, build_pairs
from metassay.params import load, parse
from metassay.tables import ALIGNMENTS, PAIRS, PARTS, SOURCES, UNITS, read, write
from stages.doorway import enter, table


def main(key: str) -> None:
    """Build the pairs of one benchmark."""
    params = load()
    name = params.benchmarks[key].pairing
    options = parse(PairOptions, params.pairings[name], where=f"params.yaml > pairings > {name}")
    pairs = build_pairs(
        read(SOURCES, table(key, "sources")),
        read(PARTS, table(key, "parts")),
        read(UNITS, table(key, "units")),
        read(ALIGNMENTS, table(key, "alignments")),
        options,
    )
    write(PAIRS, pairs, table(key, "pairs"))


if __name__ == "__main__":
    enter(main)
