"""What a stage is told of language models: its session with them, and its params.

The class of a dataset (`access`), what all may cost (`max_cost`) and how much may be missing
(`max_missing`) are permissions: they are asked each time and change no number, so dvc.yaml does not
declare them.
"""

from collections.abc import Iterable
from pathlib import Path

from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen
from metassay.core.options import PARAMS, parse
from metassay.core.params import Folder, Shared, parsed
from metassay.datasets.clearance import open_session
from metassay.datasets.registry import RAW
from metassay.llm.needs import Lists, all_datasets, folder_problems
from metassay.llm.session import Session
from stages.doorway import Given


def connect(given: Given, chosen: Chosen, repeated: Iterable[str]) -> Session:
    """The session of a kind, for tables that may repeat text of the datasets `repeated`.

    Raises BadInput, if the kind asks a model, where the access class of that text is in doubt.
    """
    benchmark, shared = params_of(given)
    declared = {key: given.shared(key) for key in ("endpoints", "models")}
    return open_session(shared.model_copy(update=declared), benchmark, chosen, repeated)


def params_of(given: Given) -> tuple[Folder, Shared]:
    """All params, for what is asked about permissions alone."""
    own = given.entry.own
    shared = parse(Shared, strict_yaml.load(PARAMS), where=str(PARAMS))
    return parsed(strict_yaml.load(Path(own)), where=own), shared


def check_folder(given: Given, chosen: Chosen, lists: Lists) -> None:
    """BadInput if the kind reads another dataset and DVC does not watch its folder for it."""
    key = f"{lists.with_folder}.{given.item}"
    folders = {}
    if key in given.entry.params.get(given.entry.own, ()):
        folder = given.own(key)
        given.path(folder)
        folders[given.item] = folder
    reads = {given.item: all_datasets([chosen])}
    problems = folder_problems(reads, folders, RAW, where=given.entry.own, lists=lists)
    if problems:
        raise BadInput(problems)
