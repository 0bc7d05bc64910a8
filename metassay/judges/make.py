"""Make judges, with the judges inside them, from blocks of params.yaml."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from metassay.core.errors import collect_problems, raise_problems
from metassay.core.kinds import Chosen, choose
from metassay.core.options import PARAMS, Block
from metassay.core.params import Benchmark, Folder
from metassay.executor.record import LOCAL, Executor
from metassay.judges import JUDGES
from metassay.judges.protocol import Judge, Judgment, Pair
from metassay.llm.endpoints import Models, find_model
from metassay.llm.needs import (
    Resources,
    all_datasets,
    executor_for,
    files_of,
    list_members,
    members_of,
)
from metassay.llm.prompts import Decoding
from metassay.scoring.pairing.instruments import ATTRIBUTION
from metassay.units import DECOMPOSITIONS

REMOTE_BATCH = 2**17  # pairs: what a client holds at once
Provide = Callable[[Chosen], Resources]


def make_judge(chosen: Chosen, provide: Provide, executor: Executor = LOCAL) -> Judge:
    """Make the judge of a block; `provide` gives each kind the resources that its record needs.

    The executor's workers read the pairs of judges that compute, also of those inside
    others. Judges that ask a language model, vote or choose stay in this process.
    """
    members = [make_judge(member, provide, executor) for member in members_of(chosen)]
    resources = provide(chosen)
    judge: Judge = chosen.record.make(chosen.options, resources, members)
    workers = executor_for(chosen, executor)
    counts = getattr(judge, "counts", None)
    # which can be added
    if workers.remote and not members and isinstance(counts, Counter):
        return ShardedJudge(chosen, judge, resources, workers)
    return judge


def instruments_of(chosen: Chosen) -> list[str]:
    """List the instruments that a judge and all judges inside it can answer."""
    instruments = list(chosen.record.instruments)
    for member in members_of(chosen):
        inside = set(instruments_of(member))
        instruments = [name for name in instruments if name in inside]
    return instruments


def batch_of(chosen: Chosen, executor: Executor) -> int:
    """Return the number of pairs per call: with workers, enough for all of them.

    Language models are asked in the same rounds with and without workers.
    """
    asks = any(judge.record.model(judge.options) for judge in list_members(chosen))
    batch: int = chosen.record.batch
    return max(batch, REMOTE_BATCH) if executor.remote and not asks else batch


def _reject_name(member: object) -> object:
    if isinstance(member, str):
        message = "is a name; write the judge's own block in its place, with its kind"
        raise PydanticCustomError("name", message)
    return member


# DVC cannot watch a block named elsewhere
Member = Annotated[Block, BeforeValidator(_reject_name)]


def choose_members(blocks: Mapping[str, Block]) -> dict[str, Chosen]:
    """Return the blocks' judges by name; BadInput lists the problems of all, at any depth."""
    chosen: dict[str, Chosen] = {}
    problems: list[str] = []
    for name, block in blocks.items():
        where = f"members > {name}"
        with collect_problems(problems):
            chosen[name] = choose(JUDGES, block, where=where)
            with collect_problems(problems, f"{where} > "):
                chosen[name].record.members(chosen[name].options)
    raise_problems(problems)
    return chosen


def total_tokens(judgments: Iterable[Judgment]) -> int | None:
    """Return the sum of the known token counts; None if none is known."""
    counts = [judgment.tokens for judgment in judgments if judgment.tokens is not None]
    return sum(counts) if counts else None


def prefix_notes(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """List the members' notes, each with the member's name before it."""
    prefixed: list[str] = []
    for name, lines in notes.items():
        prefixed += [f"{name}: {note}" for note in lines]
    return prefixed


def llm_members(judge: Chosen) -> list[Chosen]:
    """Return those of a judge and all judges inside it that ask a language model."""
    return [
        member for member in list_members(judge) if member.record.requests is not None
    ]


def claim_datasets(folder: Folder, blocks: Mapping[str, Block]) -> list[str]:
    """List the datasets whose released claims judges read, which the units' table does not name.

    `blocks` are those of params.yaml > decompositions.
    """
    names = folder.released_claims if isinstance(folder, Benchmark) else ()
    where = f"{PARAMS} > decompositions"
    return all_datasets(
        choose(DECOMPOSITIONS, blocks.get(name, {}), where=f"{where} > {name}")
        for name in names
    )


def example_problems(judge: Chosen, models: Models, where: str) -> list[str]:
    """List the problems of the examples that a judge or segmentation shows, each after `where`.

    Its models and prompts must be valid.
    """
    problems: list[str] = []
    for member in llm_members(judge):
        use = member.record.model(member.options)
        decoding = Decoding.choose(find_model(models, use.model), use.max_tokens)
        with collect_problems(problems):
            # no pairs, but all examples
            member.record.requests([], member.options, decoding)
    return [f"{where}: {problem}" for problem in problems]


class Answers(NamedTuple):
    """The judgments of a shard's groups, and the counts and signature of the worker's judge."""

    judgments: list[list[Judgment | None]]
    counts: Counter[str]
    signature: str


class ShardedJudge:
    """A judge whose pairs an executor's workers read; its answers are those of the judge itself.

    `base` is the judge in this process, for its signature and notes. Whole groups of
    pairs go to a worker: those about one statement and its citations, since their
    answers depend on each other, and those with the same premise, which is then read
    once. Workers count for the notes.
    """

    def __init__(
        self, chosen: Chosen, base: Any, resources: Resources, executor: Executor
    ) -> None:
        self._chosen = chosen
        self._base = base
        self._executor = executor
        self._resources = resources

    @property
    def signature(self) -> str:
        """The judge's signature."""
        return str(self._base.signature)

    @property
    def notes(self) -> Sequence[str]:
        """The judge's notes, about the pairs of all workers."""
        return list(self._base.notes)

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """Return one judgment per pair; RuntimeError if a worker's judge has another signature."""
        groups: dict[str | None, list[int]] = {}
        for place, pair in enumerate(pairs):
            is_whole = pair.context is None or not pair.instrument.startswith(
                ATTRIBUTION.name
            )
            groups.setdefault(pair.premise if is_whole else pair.context, []).append(
                place
            )
        pieces = []
        for places in groups.values():
            pieces.append([pairs[place] for place in places])
        files = files_of(self._chosen)
        make = self._chosen.record.make
        common = make, self._chosen.options, self._resources
        shards = self._executor.map(judge_groups, pieces, *common, files=files)
        answers: list[Judgment | None] = [None] * len(pairs)
        answered = chain.from_iterable(shard.judgments for shard in shards)
        for places, judgments in zip(groups.values(), answered, strict=True):
            for place, judgment in zip(places, judgments, strict=True):
                answers[place] = judgment
        for shard in shards:
            if shard.signature != self.signature:
                raise RuntimeError(
                    f"a worker has {shard.signature}, and here is {self.signature}"
                )
            self._base.counts.update(shard.counts)
        return answers


def judge_groups(
    shard: Sequence[Sequence[Pair]], make: Any, options: Any, resources: Resources
) -> Answers:
    """Make the judge, or take a loaded one, and judge groups of pairs."""
    flat = list(chain.from_iterable(shard))
    with _LOCK:
        judge = _load(make, options, resources)
        judge.counts.clear()
        answers = iter(judge.judge(flat))
        counts = Counter(judge.counts)
    judgments = [list(islice(answers, len(group))) for group in shard]
    return Answers(judgments, counts, judge.signature)


_LOADED: dict[tuple[Any, ...], Any] = {}
_MOST_LOADED = 2  # judges: as many as stages that run at a time
_LOCK = threading.Lock()  # only one thread of a worker judges at a time


def _load(make: Any, options: Any, resources: Resources) -> Any:
    """Return the judge of a recent shard, with its model loaded, or make it."""
    key = type(options), options.model_dump_json(), getattr(make, "__code__", make)
    judge = _LOADED.pop(key) if key in _LOADED else make(options, resources, ())
    while len(_LOADED) >= _MOST_LOADED:
        del _LOADED[next(iter(_LOADED))]
    _LOADED[key] = judge
    return judge
