"""train: labels of people and rules -> fitted coefficients of a judge."""

from pathlib import Path
from typing import cast

from metassay.judges import JUDGES
from metassay.judges.semantic.coefficients import write
from metassay.judges.semantic.judge import SemanticOptions
from metassay.judges.semantic.train import train
from stages.doorway import StageIO, program

PAIRS = "data/judges/pairs/training.jsonl"


@program
def main(io: StageIO) -> None:
    options = cast(SemanticOptions, io.choose(JUDGES, "judges", io.benchmark).options)
    into = io.path(options.coefficients)
    folders = [
        io.path(f"data/raw/{name}") for name in ("wice_train", "aci_bench_train")
    ]
    pairs = io.path(PAIRS)
    trained = train(Path(folders[0]).parent, Path(pairs), options, options.batch_tokens)
    write(into, trained.coefficients, trained.network)
