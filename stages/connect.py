"""A stage's connection to language models, by what the texts that it reads may be sent to.

Clearance follows the text: its tables say of which dataset it is, and whose examples it may repeat.
The class of a dataset (`access`), what all may cost (`max_cost`) and how much may be missing
(`max_missing`) are permissions: they are asked each time and change no number, so dvc.yaml does not
declare them.
"""

from collections.abc import Iterable
from pathlib import Path

from metassay import strict_yaml
from metassay.datasets.labels import label_problems
from metassay.datasets.registry import RAW, load_registry
from metassay.errors import BadInput
from metassay.kinds import Chosen
from metassay.llm.connection import Connection
from metassay.llm.endpoints import parse_models
from metassay.needs import Lists, all_datasets, everyone, folder_problems
from metassay.options import PARAMS, parse
from metassay.params import Folder, Shared, parsed
from stages.doorway import Given


def connect(given: Given, chosen: Chosen, repeated: Iterable[str]) -> Connection:
    """Connect a kind for tables that may repeat text of the datasets `repeated`.

    Raises BadInput, if the kind asks a model, where the access class of that text is in doubt.
    """
    benchmark, shared = params_of(given)
    registry = load_registry()
    datasets = sorted({benchmark.dataset, *repeated})
    if any(one.record.model(one.options) is not None for one in everyone(chosen)):
        # Only then may anything be sent.
        shown = [(name, RAW / name) for name in all_datasets([chosen])]
        own = (benchmark.dataset, Path(benchmark.raw))
        problems = label_problems(registry, datasets, [own, *shown])
        if problems:
            raise BadInput(problems)
    return Connection(
        parse_models(given.shared("endpoints"), given.shared("models")),
        shared.max_cost,
        {name: dataset.access for name, dataset in registry.items()},
        datasets,
        max_missing=shared.max_missing,
        raw=RAW,
    )


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
