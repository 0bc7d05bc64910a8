"""How far off the semantic judge's probabilities are on another processor, in float32 and float64.

    python -m tests.judges.processors

Judges every third pair of `invented_notes` and every sixth of `wice_dev`, whose tables a run has
made, under three instruction sets. What it prints for float32 is what OFF of the judge rests on.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from metassay.core.options import parse
from metassay.core.strict_yaml import load
from metassay.judges.protocol import Pair
from metassay.judges.semantic.judge import SemanticJudge, SemanticOptions
from tests.machines import PROCESSORS, settings

TABLES = Path("data/tables")
EVERY = {"invented_notes": 3, "wice_dev": 6}


def probabilities(dtype: str) -> list[float]:
    """Of the chosen pairs, in their order."""
    block = load(Path("params.yaml"))["judges"]["semantic"] | {"dtype": dtype}  # type: ignore[index,call-overload]
    block.pop("kind")
    options = parse(SemanticOptions, block, where="params.yaml")
    pairs = []
    for name, every in EVERY.items():
        files = sorted((TABLES / name / "pairs").rglob("*.parquet"))
        rows = pd.concat([pd.read_parquet(file) for file in files]).iloc[::every]
        texts = zip(rows["premise"], rows["hypothesis"], strict=True)
        pairs += [Pair(f"{name}{n}", "entailment", *each) for n, each in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder:
        judged = SemanticJudge(options, store=Path(folder) / "store.sqlite").judge(pairs)
    return [-1.0 if each is None else float(each.probability or 0.0) for each in judged]


def main() -> None:
    """Judge as each processor would, and print how far each is from this one."""
    if len(sys.argv) > 1:
        print(json.dumps(probabilities(sys.argv[1])))
        return
    for dtype in ("float32", "float64"):
        found = {}
        for processor in PROCESSORS:
            done = subprocess.run(
                [sys.executable, "-m", "tests.judges.processors", dtype],
                env={**os.environ, **settings(processor, 1)},
                stdout=subprocess.PIPE,
                check=True,
            )
            found[processor] = np.array(json.loads(done.stdout.splitlines()[-1]))
        for processor in list(PROCESSORS)[1:]:
            apart = np.abs(found[processor] - found["native"])
            print(
                f"{dtype}, {processor}: {(apart > 0).sum()} of {len(apart)} differ, by up to"
                f" {apart.max():.3g}; {np.quantile(apart, 0.99):.3g} in 99 of 100",
                flush=True,
            )


if __name__ == "__main__":
    main()
