"""What tests of readers share: files written from values, and the problems of reading them."""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.registry import load_registry

ROOT = Path(__file__).parents[2]


def put_lines(path: Path, *values: object) -> Path:
    """Write JSON Lines; a text is a line as it is."""
    lines = (value if isinstance(value, str) else json.dumps(value) for value in values)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path.parent


def put_csv(
    path: Path, rows: Iterable[Sequence[object] | Mapping[str, object]]
) -> Path:
    """Write rows of cells, or of cells by column below a header."""
    table = list(rows)
    if isinstance(table[0], Mapping):
        table = [list(table[0]), *(list(row.values()) for row in table)]  # type: ignore[union-attr]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(table)  # type: ignore[arg-type]
    return path.parent


def problems(
    reader: str, folder: Path, criteria: Mapping[str, Criterion] | None = None
) -> list[str]:
    """The problems of a folder, each with a remedy."""
    with pytest.raises(BadInput) as caught:
        ingest(reader, folder, criteria or {})
    assert all("; " in line for line in caught.value.problems)
    return list(caught.value.problems)


def read_benchmark(name: str) -> Tables:
    """The tables of a benchmark of this project whose data it brings."""
    benchmark = load(ROOT).benchmarks[name]
    dataset = load_registry(ROOT / "data/registry.yaml")[benchmark.dataset]
    return ingest(dataset.reader, ROOT / benchmark.raw, benchmark.criteria)


def check_files(
    write: Callable[[Path], object], folder: Path, into: Path, size: float
) -> None:
    """Whether a script writes the files that are committed, which are small; in the same bytes."""
    write(into)
    names = [path.relative_to(into) for path in into.rglob("*") if path.is_file()]
    assert names
    for name in sorted(names):
        assert (into / name).read_bytes() == (folder / name).read_bytes(), name
    assert sum(path.stat().st_size for path in folder.rglob("*.*")) < size
