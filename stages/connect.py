"""A stage's connection to language models, by what its benchmark's texts may be sent to.

Who may be sent what (a dataset's access class) and what all may cost (`max_cost`) are permissions:
they are asked each time and change no number, so dvc.yaml does not declare them.
"""

from pathlib import Path

from metassay import strict_yaml
from metassay.datasets.registry import load_registry
from metassay.errors import BadInput
from metassay.generation import SYSTEMS
from metassay.kinds import Chosen, choose
from metassay.llm.connection import Connection
from metassay.llm.endpoints import parse_models
from metassay.needs import Lists, all_datasets, folder_problems
from metassay.options import PARAMS, parse
from metassay.params import Benchmark, Shared
from stages.doorway import Given

RAW = Path("data/raw")


def connect(given: Given) -> Connection:
    """Connect for the benchmark's texts, which may repeat examples that its systems were shown."""
    benchmark = parse(Benchmark, strict_yaml.load(Path(given.entry.own)), where=given.entry.own)
    shared = parse(Shared, strict_yaml.load(PARAMS), where=str(PARAMS))
    shown = all_datasets(
        choose(SYSTEMS, shared.systems[name], where=f"{PARAMS} > systems > {name}")
        for name in benchmark.few_shot
    )
    return Connection(
        parse_models(given.shared("endpoints"), given.shared("models")),
        shared.max_cost,
        {name: dataset.access for name, dataset in load_registry().items()},
        [benchmark.dataset, *shown],
        raw=RAW,
    )


def check_folder(given: Given, chosen: Chosen, lists: Lists) -> None:
    """BadInput if the kind reads another dataset and DVC does not watch its folder for it."""
    key = f"{lists.with_folder}.{given.item}"
    folders = {}
    if key in given.entry.params.get(given.entry.own, ()):
        folder = given.own(key)
        given.path(folder)
        folders[given.item] = folder
    reads = {given.item: chosen.record.datasets(chosen.options)}
    problems = folder_problems(reads, folders, RAW, where=given.entry.own, lists=lists)
    if problems:
        raise BadInput(problems)
