"""Whole commands on a small study: processor seconds, and ratios to a fixed loop.

`python speed/small_studies.py [FOLDER]` runs each command in a process of its own,
imports and page included. With FOLDER, a checkout of another version, it alternates the
two, first asserts that they compute the same correlations, and prints the paired
ratios. The loop is measured in every round: ratios to it compare two machines.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

HERE = Path(__file__).parent.parent
ROUNDS, DOCUMENTS, LOOP = 7, 15, 2_000_000
QUICK = {"ROUNDS": 1, "DOCUMENTS": 5, "LOOP": 20_000}
SYSTEMS, RATERS, METRICS, CRITERIA, LABELLED = 4, 2, 2, 2, 60

START = "import sys; from metassay.cli.main import main; sys.exit(main(sys.argv[1:]))"
IN_PYTHON = """
import metassay, pandas as pd
metassay.meta_eval(pd.read_csv("scores.csv"), pd.read_csv("ratings.csv"))
"""


class Command(NamedTuple):
    """A program for `python -c` and its arguments; `out`: it writes the folder `out`."""

    program: str
    words: Sequence[str] = ()
    out: bool = False


COMMANDS = {
    "meta-eval --out": Command(
        START, ("meta-eval", "scores.csv", "ratings.csv", "--out"), out=True
    ),
    "meta_eval": Command(IN_PYTHON),
    "judge-check": Command(START, ("judge-check", "verdicts.csv")),
}


def write_study(folder: Path) -> None:
    """Write scores, ratings and verdicts: equal in every run."""
    rng = random.Random(1)
    scores, ratings = list[dict[str, object]](), list[dict[str, object]]()
    for document in range(DOCUMENTS):
        for system in range(SYSTEMS):
            quality = rng.gauss(0.3 * system, 1)
            text = {"doc_id": f"d{document}", "system": f"s{system}"}
            measured = {f"m{k}": quality + rng.gauss(0, 1 + k) for k in range(METRICS)}
            scores.append({**text, **measured})
            for rater in range(RATERS):
                grades = {f"c{k}": rng.randrange(1, 6) for k in range(CRITERIA)}
                ratings.append({**text, "rater": f"r{rater}", **grades})
    labels = [rng.random() < 0.6 for _ in range(LABELLED)]
    verdicts = {
        "item": [f"i{n}" for n in range(LABELLED)],
        "judge": [label == (rng.random() < 0.85) for label in labels],
        "human": labels,
    }
    pd.DataFrame(scores).to_csv(folder / "scores.csv", index=False)
    pd.DataFrame(ratings).to_csv(folder / "ratings.csv", index=False)
    pd.DataFrame(verdicts).to_csv(folder / "verdicts.csv", index=False)


def run(command: Command, tree: Path, folder: Path, out: Path) -> float:
    """Return the processor seconds of a command with the code of a checkout."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(tree),
        # compiled once, as where it is installed
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
    }
    words = [*command.words, str(out)] if command.out else [*command.words]
    before = os.times()
    subprocess.run(
        [sys.executable, "-c", command.program, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def loop() -> float:
    """Return the processor seconds of a loop that never changes."""
    start = time.process_time()
    total = 0
    for number in range(LOOP):
        total += number * number % 7
    assert total
    return time.process_time() - start


def read_correlations(out: Path) -> dict[tuple[str, ...], float]:
    """Return the value of each correlation by what names it."""
    table = pd.read_csv(out / "correlations.csv").dropna(subset="value")
    keys = table[["criterion", "metric", "level", "coefficient"]].itertuples(
        index=False, name=None
    )
    return dict(zip(keys, table["value"], strict=True))


def compare(name: str, trees: Sequence[Path], folder: Path) -> None:
    """Print a line per checkout: median seconds, ratio to the loop, ratio to the first."""
    command = COMMANDS[name]
    outs = [folder / f"{name.split(maxsplit=1)[0]}-first{n}" for n in range(len(trees))]
    for tree, out in zip(trees, outs, strict=True):
        run(command, tree, folder, out)  # compiles
    if command.out:
        correlations = [read_correlations(out) for out in outs]
        assert all(each == correlations[0] for each in correlations)
    seconds: list[list[float]] = [[] for _ in trees]
    loops = []
    for round_ in range(ROUNDS):
        loops.append(loop())
        for place, tree in enumerate(trees):
            out = folder / f"{name.split(maxsplit=1)[0]}-{round_}-{place}"
            seconds[place].append(run(command, tree, folder, out))
    for tree, of_tree in zip(trees, seconds, strict=True):
        of_loop = [a / b for a, b in zip(of_tree, loops, strict=True)]
        ratios = [a / b for a, b in zip(of_tree, seconds[0], strict=True)]
        print(
            f"{name}, {tree.name}: {statistics.median(of_tree):.2f} s,"
            f" {statistics.median(of_loop):.1f} loops,"
            f" {statistics.median(ratios):.2f} times {trees[0].name}"
            f" ({min(ratios):.2f} to {max(ratios):.2f})"
        )


def main() -> None:
    others = [Path(word).resolve() for word in sys.argv[1:] if word != "--quick"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_study(folder)
        for command in COMMANDS:
            compare(command, [HERE, *others], folder)


if __name__ == "__main__":
    main()
