"""train: coefficients of a judge, fitted to what people and rules labelled."""

from pathlib import Path
from typing import cast

from metassay.judges import JUDGES
from metassay.judges.semantic.coefficients import write
from metassay.judges.semantic.judge import SemanticOptions
from metassay.judges.semantic.train import train
from stages.doorway import Given, enter

PAIRS = "data/judges/pairs/training.jsonl"


def main(given: Given) -> None:
    """Fit the coefficients that the judge's block names, to the encoder that it names."""
    options = cast(SemanticOptions, given.chosen(JUDGES, "judges", given.benchmark).options)
    into = given.path(options.coefficients)
    folders = [given.path(f"data/raw/{name}") for name in ("wice_train", "aci_bench_train")]
    pairs = given.path(PAIRS)
    made = train(Path(folders[0]).parent, Path(pairs), options, options.batch_tokens)
    write(into, made.coefficients, made.network)


if __name__ == "__main__":
    enter(main)
