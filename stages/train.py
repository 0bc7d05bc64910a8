"""train: coefficients of a judge, fitted to what people and rules labelled."""

from pathlib import Path
from typing import cast

from metassay.judges import JUDGES
from metassay.judges.semantic.coefficients import write
from metassay.judges.semantic.judge import SemanticOptions
from metassay.judges.semantic.train import train
from stages.doorway import StageIO, enter

PAIRS = "data/judges/pairs/training.jsonl"


def main(io: StageIO) -> None:
    """Fit the coefficients that the judge's block names, to the encoder that it names."""
    options = cast(SemanticOptions, io.chosen(JUDGES, "judges", io.benchmark).options)
    into = io.path(options.coefficients)
    folders = [io.path(f"data/raw/{name}") for name in ("wice_train", "aci_bench_train")]
    pairs = io.path(PAIRS)
    made = train(Path(folders[0]).parent, Path(pairs), options, options.batch_tokens)
    write(into, made.coefficients, made.network)


if __name__ == "__main__":
    enter(main)
