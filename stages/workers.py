"""The executor of a stage: this process, or workers that may have its texts."""

from collections.abc import Iterable
from contextlib import AbstractContextManager

from metassay.datasets.workers import is_local, open_executor
from metassay.executor.record import Executor
from metassay.tables.parquet_file import load
from stages.doorway import TABLES, StageIO


def executor(
    io: StageIO, repeated: Iterable[str] | None = None
) -> AbstractContextManager[Executor]:
    """Open the executor for the pieces of this stage, whose texts may repeat these datasets.

    By default, `parts` has the datasets that texts may repeat. It is read for this
    alone and changes no number, so dvc.yaml does not declare it.
    """
    if repeated is None and not is_local(io.project.executor):
        file = TABLES / io.benchmark / "parts.parquet"
        parts = load(file, [])["repeats"].to_pylist() if file.exists() else []
        repeated = {name for names in parts for name in names}
    options, benchmark = io.project.executor, io.project.evaluations[io.benchmark]
    return open_executor(options, benchmark, repeated or (), stage=io.entry.name)
