"""Runs benchmarks as other processors would, and compares every table to the byte.

    METASSAY_MIRROR=DIR python -m tests.machines mts_dialog aci_bench wice_dev

Each setting (an instruction set and a number of threads) has a copy of the project of
its own, with nothing computed and nothing in a store. PyTorch, MKL, oneDNN, OpenBLAS
and numpy are all told to take no newer instructions, which each decides by itself. Of
judgments that differ it says how many labels do and how far the probabilities are
apart. Exit code 1: some table differs.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from tests.conftest import copy_project
from tests.stage_setup import refresh_code

_NEWEST = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
PROCESSORS: dict[str, Mapping[str, str]] = {
    "native": {},
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": _NEWEST,
    },
    "default": {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": f"AVX2 FMA3 {_NEWEST}",
    },
}
THREADS = (1, 2, 4)


def settings(processor: str, threads: int) -> dict[str, str]:
    """The environment of a process that computes as this processor would."""
    libraries = ("OMP", "MKL", "OPENBLAS")
    return dict(PROCESSORS[processor]) | {
        f"{each}_NUM_THREADS": str(threads) for each in libraries
    }


def run(root: Path, names: Sequence[str], changes: Mapping[str, str]) -> None:
    """Run benchmarks in a copy of the project; SystemExit with what was said if that fails."""
    copy_project(root)
    refresh_code(root)
    done = subprocess.run(
        [sys.executable, "-m", "metassay.cli", "run", "--no-prefect", *names],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), **changes},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{root.name}: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def differing(first: Path, other: Path, names: Sequence[str]) -> Iterator[str]:
    """A line for each table of these benchmarks whose bytes differ, or that only one of them has.

    Notes of what a stage cost in time are in no table.
    """
    for name in names:
        tables = [
            {
                path.relative_to(root): path
                for path in (root / "data/tables" / name).rglob("*.*")
            }
            for root in (first, other)
        ]
        for table in sorted(tables[0].keys() | tables[1].keys()):
            here, there = (paths.get(table) for paths in tables)
            if here is None or there is None:
                yield f"{table}: only one run has it"
            elif here.read_bytes() != there.read_bytes():
                yield f"{table}: {_how(here, there) if here.suffix == '.parquet' else 'differs'}"


def _how(here: Path, there: Path) -> str:
    ours, other = pd.read_parquet(here), pd.read_parquet(there)
    if len(ours) != len(other) or list(ours.columns) != list(other.columns):
        return f"{len(ours)} rows, {len(other)} in the other run"
    lines = []
    for column in ours:
        if pd.api.types.is_float_dtype(ours[column]):
            apart = (ours[column] - other[column]).abs()
            rows, far = int((apart > 0).sum()), f" by up to {apart.max():.2g}"
        else:
            rows, far = (
                int((ours[column].map(repr) != other[column].map(repr)).sum()),
                "",
            )
        if rows:
            lines.append(f"{column} differs in {rows:,} of {len(ours):,} rows{far}")
    return "; ".join(lines) or "the same values in other bytes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("benchmarks", nargs="+")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="each instruction set once: 1, 2 and 4 threads",
    )
    arguments = parser.parse_args()
    every = [*itertools.product(PROCESSORS, THREADS)]
    chosen = [*zip(PROCESSORS, THREADS, strict=True)] if arguments.quick else every
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        roots = []
        for processor, threads in chosen:
            start = time.monotonic()
            root = Path(folder) / f"{processor}-{threads}"
            root.mkdir()
            run(root, arguments.benchmarks, settings(processor, threads))
            roots.append(root)
            lines = [*differing(roots[0], root, arguments.benchmarks)]
            different += len(lines)
            seconds = time.monotonic() - start
            print(
                f"{root.name}: {len(lines)} tables differ, {seconds:.0f} s", flush=True
            )
            for line in lines:
                print(f"  {line}", flush=True)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
