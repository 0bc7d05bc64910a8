"""The session of a stage with language models."""

from collections.abc import Iterable

from metassay.core.errors import raise_problems
from metassay.core.kinds import Chosen
from metassay.datasets.clearance import open_session
from metassay.datasets.registry import RAW
from metassay.llm.needs import Lists, all_datasets, folder_problems
from metassay.llm.session import Session
from stages.doorway import StageIO


def connect(io: StageIO, chosen: Chosen, repeated: Iterable[str]) -> Session:
    """Open the session of a kind, for tables that may repeat text of the datasets `repeated`.

    Raises BadInput if the kind asks a model and the access class of that text is in
    doubt.
    """
    benchmark = io.project.evaluations[io.benchmark]
    return open_session(io.project, benchmark, chosen, repeated)


def check_folder(io: StageIO, chosen: Chosen, lists: Lists) -> None:
    """Raise BadInput if the kind reads another dataset whose folder DVC does not watch for it."""
    key, folders = f"{lists.with_folder}.{io.item}", {}
    if key in io.entry.params.get(io.entry.params_file, ()):
        folders[io.item] = str(io.path(io.param(key)))
    reads = {io.item: all_datasets([chosen])}
    raise_problems(
        folder_problems(reads, folders, RAW, where=io.entry.params_file, lists=lists)
    )
