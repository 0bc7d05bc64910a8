"""Judges out of params.yaml's blocks, with the judges inside them: blocks within a block."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from metassay.core.errors import BadInput, collect_problems, raise_problems
from metassay.core.kinds import Chosen, choose
from metassay.core.options import PARAMS, Block
from metassay.core.params import Benchmark, Folder
from metassay.executor.record import LOCAL, Executor
from metassay.judges import JUDGES
from metassay.judges.protocol import Judge, Judgment
from metassay.judges.sharded import ShardedJudge, shardable
from metassay.llm.endpoints import Models, find_model
from metassay.llm.needs import Resources, all_datasets, everyone, executor_for, members_of
from metassay.llm.prompts import Decoding
from metassay.units import DECOMPOSITIONS

REMOTE_BATCH = 2**17  # pairs: what a client holds at once
Provide = Callable[[Chosen], Resources]


def make_judge(chosen: Chosen, provide: Provide, executor: Executor = LOCAL) -> Judge:
    """The judge of a block; `provide` gives each kind what its record says that it needs.

    Judges that compute have the executor's workers read their pairs, also inside of others; those
    that ask, vote or choose stay in this process.
    """
    members = [make_judge(member, provide, executor) for member in members_of(chosen)]
    resources = provide(chosen)
    judge: Judge = chosen.record.make(chosen.options, resources, members)
    over = executor_for(chosen, executor)
    if over.remote and not members and shardable(judge):
        return ShardedJudge(chosen, judge, resources, over)
    return judge


def instruments_of(chosen: Chosen) -> list[str]:
    """The instruments that a judge and all judges inside it can answer."""
    inside = [set(instruments_of(member)) for member in members_of(chosen)]
    return [name for name in chosen.record.instruments if all(name in some for some in inside)]


def batch_of(chosen: Chosen, executor: Executor) -> int:
    """How many pairs a judge is handed at once: all workers have to do then, if there are any.

    With a language model inside as many as ever, so that it is asked in just the same rounds.
    """
    asks = any(one.record.model(one.options) for one in everyone(chosen))
    batch: int = chosen.record.batch
    return max(batch, REMOTE_BATCH) if executor.remote and not asks else batch


def _no_name(member: object) -> object:
    if isinstance(member, str):
        said = "is a name; write the judge's own block in its place, with its kind"
        raise PydanticCustomError("name", said)
    return member


Member = Annotated[Block, BeforeValidator(_no_name)]  # DVC would not watch a block named elsewhere


def chosen_members(blocks: Mapping[str, Block]) -> dict[str, Chosen]:
    """What the blocks ask for, by name; BadInput lists what is wrong with any, at any depth."""
    chosen: dict[str, Chosen] = {}
    problems: list[str] = []
    for name, block in blocks.items():
        where, inside = f"members > {name}", ""
        try:
            chosen[name] = choose(JUDGES, block, where=where)
            inside = f"{where} > "
            chosen[name].record.members(chosen[name].options)
        except BadInput as error:
            problems += [f"{inside}{problem}" for problem in error.problems]
    raise_problems(problems)
    return chosen


def paid(judgments: Iterable[Judgment]) -> int | None:
    """The tokens of all that say how many; None if none does."""
    known = [one.tokens for one in judgments if one.tokens is not None]
    return sum(known) if known else None


def own_notes(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """What members have to say, by name."""
    return [f"{name}: {note}" for name, told in notes.items() for note in told]


# What can be told of judges before anything runs: whom they ask, and what would stop them.


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
