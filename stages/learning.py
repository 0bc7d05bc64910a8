"""What doorways that train models share: the statements to learn from, and orders."""

from pathlib import Path
from typing import Any

import pandas as pd

from metassay.scoring.aggregation.statements import read_statements
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.documents import SOURCES
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS
from metassay.tuning.options import parse_block
from metassay.tuning.run import Order, aligned_statements
from stages.doorway import StageIO


def examples(io: StageIO) -> pd.DataFrame:
    """Return a benchmark's statements with the passages of the alignment that the command names."""
    source = io.benchmark_io(io.param("from"))
    sources, parts, units = (source.read(table) for table in (SOURCES, PARTS, UNITS))
    alignment = {io.item: source.read(ALIGNMENTS, io.item)}
    return aligned_statements(read_statements(sources, parts, units, alignment))


def block(io: StageIO, key: str) -> Any:
    """Return the checked options of a block of the tuning."""
    return parse_block(io.param("tune"), key, io.param(key), where=io.entry.params_file)


def order(io: StageIO) -> tuple[Order, Path]:
    """Return the model to train, for the alignment if the command names one, and its folder."""
    name = f"{io.benchmark}-{io.item}" if io.item else io.benchmark
    reads = {"alignment": io.item} if io.item else {"criterion": io.param("criterion")}
    settings = io.param("from"), reads, block(io, "base"), block(io, "training")
    return Order(name, *settings), io.path(f"data/models/{name}")
