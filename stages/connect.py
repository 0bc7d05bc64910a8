"""What a stage is told of others that work for it: language models, and the executor's workers."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from metassay.core.errors import raise_problems
from metassay.core.kinds import Chosen
from metassay.datasets.clearance import open_executor, open_session
from metassay.datasets.registry import RAW
from metassay.executor.record import Executor
from metassay.llm.needs import Lists, all_datasets, folder_problems
from metassay.llm.session import Session
from metassay.tables import parquet
from metassay.tables.parts import PARTS
from stages.doorway import TABLES, StageIO


def connect(io: StageIO, chosen: Chosen, repeated: Iterable[str]) -> Session:
    """The session of a kind, for tables that may repeat text of the datasets `repeated`.

    Raises BadInput, if the kind asks a model, where the access class of that text is in doubt.
    """
    declared = {key: io.shared(key) for key in ("endpoints", "models")}
    shared, benchmark = io.project.model_copy(update=declared), io.project.evaluations[io.benchmark]
    return open_session(shared, benchmark, chosen, repeated)


def executor(
    io: StageIO, repeated: Iterable[str] | None = None
) -> AbstractContextManager[Executor]:
    """Who works on the pieces of this stage, whose texts may repeat text of these datasets.

    Of tables that do not say so themselves, whose text they may repeat is in `parts`, which is read
    for this alone: it changes no number, so dvc.yaml does not declare it.
    """
    if repeated is None:
        file = TABLES / io.benchmark / f"{PARTS.name}.parquet"
        parts = parquet.read(PARTS, file) if Path(file).exists() else parquet.empty(PARTS)
        repeated = {name for names in parts["repeats"] for name in names}
    benchmark = io.project.evaluations[io.benchmark]
    return open_executor(io.project.executor, benchmark, repeated, stage=io.entry.name)


def check_folder(io: StageIO, chosen: Chosen, lists: Lists) -> None:
    """BadInput if the kind reads another dataset and DVC does not watch its folder for it."""
    key, folders = f"{lists.with_folder}.{io.item}", {}
    if key in io.entry.params.get(io.entry.own, ()):
        folders[io.item] = str(io.path(io.param(key)))
    reads = {io.item: all_datasets([chosen])}
    raise_problems(folder_problems(reads, folders, RAW, where=io.entry.own, lists=lists))
