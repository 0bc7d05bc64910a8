"""What can be told of judges before anything runs: whom they ask, and what would stop them."""

from collections.abc import Mapping

from metassay.core.errors import collect_problems
from metassay.core.kinds import Chosen, choose
from metassay.core.options import PARAMS, Block
from metassay.core.params import Benchmark, Folder
from metassay.llm.endpoints import Models, find_model
from metassay.llm.needs import all_datasets, everyone
from metassay.llm.prompts import Decoding
from metassay.units import DECOMPOSITIONS


def asking(judge: Chosen) -> list[Chosen]:
    """Who of a judge and all inside it asks a language model."""
    return [one for one in everyone(judge) if one.record.requests is not None]


def released(own: Folder, blocks: Mapping[str, Block]) -> list[str]:
    """The datasets whose claims judges are shown, which the units don't say themselves.

    `blocks` are those of params.yaml > decompositions.
    """
    names = own.released_claims if isinstance(own, Benchmark) else ()
    where = f"{PARAMS} > decompositions"
    return all_datasets(
        choose(DECOMPOSITIONS, blocks.get(name, {}), where=f"{where} > {name}") for name in names
    )


def example_problems(judge: Chosen, models: Models, where: str) -> list[str]:
    """What is wrong with the examples that a judge or segmentation shows: lines led by `where`.

    Its own models and prompts must be sound.
    """
    problems: list[str] = []
    for one in asking(judge):
        use = one.record.model(one.options)
        decoding = Decoding.of(find_model(models, use.model), use.max_tokens)
        with collect_problems(problems):
            one.record.requests([], one.options, decoding)  # about nothing, with all that is shown
    return [f"{where}: {problem}" for problem in problems]
