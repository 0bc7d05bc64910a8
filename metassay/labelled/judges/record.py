"""What a type of judge test is, and which items it takes: halves, subsets by name, a sample."""

import hashlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from metassay.core.errors import shown
from metassay.core.options import Options, Seed
from metassay.labelled.judges.items import ItemRow, Items
from metassay.tabular.rows import Place


class Sample(Options):
    """So many items of each subset, at most; the same ones with the same seed."""

    items: Annotated[int, Field(ge=1)]
    seed: Seed


@dataclass(frozen=True, kw_only=True)
class JudgeTestKind:
    """One type of judge test: what `test` in a benchmark's params.yaml stands for.

    `options` checks the block `options` of that file. `reads` says which readers its dataset may
    have: `items` (those of `ITEM_READERS`), or `rows` (those of benchmarks, `READERS`).
    `make(read, options)` turns what the reader gave (`Items` or `Rows`) into the test's `Items`,
    with the same `problems` and `warnings` and what it adds to them.
    `ways` (options -> 2 or 3) says what judges are asked: entailed or not, or one of three labels.
    """

    options: type[Options]
    reads: Literal["items", "rows"]
    make: Callable[[Any, Any], Any]
    ways: Callable[[Any], int]


HALVES = ("fitted", "held_out")


def half_of(cluster: str, seed: int) -> str:
    """The half that all items of a cluster are in: `fitted`, which choices may see, or `held_out`.

    It depends on the cluster's name and the seed alone, whatever else the data hold.
    """
    return HALVES[zlib.crc32(f"{seed} {cluster}".encode()) % 2]


def in_halves(read: Items, seed: int) -> Items:
    """The same items; each subset is cut in two by clusters, `dev` in dev_fitted, dev_held_out."""
    rows = [
        row._replace(subset=f"{row.subset}_{half_of(row.cluster or row.item, seed)}")
        for row in read.items
    ]
    return Items(rows, read.verdicts, read.labels, read.problems, read.warnings)


def chosen(read: Items, subsets: Sequence[str], sample: Sample | None) -> Items:
    """The items of these subsets (of all where none is named), of each at most a sample.

    Verdicts and people's labels of other items are left out with them. A subset that the data do
    not have is a problem. A sample takes the items whose key, hashed with the seed, comes first: it
    does not change with the order of the file, and a larger one holds the smaller.
    """
    there = sorted({row.subset for row in read.items})
    for name in subsets:
        if name not in there and not read.problems:
            known = f"there are: {', '.join(map(shown, there))}"
            at = Place("params.yaml > options > subsets")
            read.problems.add(at, "names a subset that the data do not have", known, shown(name))
    rows = [row for row in read.items if not subsets or row.subset in subsets]
    if sample is not None:
        rows = _sampled(rows, sample)
    kept, all_of_them = {row.item for row in rows}, {row.item for row in read.items}
    out = all_of_them - kept  # what is about no item at all stays, to be told
    return Items(
        rows,
        [row for row in read.verdicts if row.item not in out],
        [row for row in read.labels if row.item not in out],
        read.problems,
        read.warnings,
    )


def _sampled(rows: Sequence[ItemRow], sample: Sample) -> list[ItemRow]:
    by_subset: dict[str, list[ItemRow]] = {}
    for row in rows:
        by_subset.setdefault(row.subset, []).append(row)
    taken = set()
    for some in by_subset.values():
        first = sorted(some, key=lambda row: _rank(sample.seed, row.item))[: sample.items]
        taken |= {id(row) for row in first}
    return [row for row in rows if id(row) in taken]


def _rank(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\x1f{name}".encode()).hexdigest()
