"""A judge whose pairs an executor's workers read; its answers are those of the judge itself.

Whole groups of pairs go to a worker: those about one statement and its citations, since their
answers depend on each other, and those with the same premise, which is then read once. Workers
count for the judge's notes, and the counts are added here.
"""

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from metassay.core.kinds import Chosen
from metassay.executor.record import Executor
from metassay.judges.protocol import Judge, Judgment, Pair
from metassay.llm.needs import Resources, files_of
from metassay.scoring.pairing.instruments import ATTRIBUTION


class Answers(NamedTuple):
    """The judgments of a shard's groups, and the counts and signature of the worker's judge."""

    judgments: list[list[Judgment | None]]
    counts: Counter[str]
    signature: str


class ShardedJudge:
    """See the module; `base` is the judge in this process, for its signature and notes."""

    def __init__(self, chosen: Chosen, base: Any, resources: Resources, executor: Executor) -> None:
        self._chosen, self._base, self._executor = chosen, base, executor
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
        groups: dict[tuple[str, ...], list[int]] = {}
        for place, pair in enumerate(pairs):
            groups.setdefault(_group(pair), []).append(place)
        pieces = [[pairs[place] for place in places] for places in groups.values()]
        files, make = files_of(self._chosen), self._chosen.record.make
        common = make, self._chosen.options, self._resources
        shards = self._executor.map(judge_groups, pieces, *common, files=files)
        answers: list[Judgment | None] = [None] * len(pairs)
        answered = (group for shard in shards for group in shard.judgments)
        for places, judgments in zip(groups.values(), answered, strict=True):
            for place, judgment in zip(places, judgments, strict=True):
                answers[place] = judgment
        for shard in shards:
            if shard.signature != self.signature:
                raise RuntimeError(f"a worker has {shard.signature}, and here is {self.signature}")
            self._base.counts.update(shard.counts)
        return answers


def is_shardable(judge: Judge) -> bool:
    """Return whether a judge's notes are counts that can be added (`counts`)."""
    return isinstance(getattr(judge, "counts", None), Counter)


def judge_groups(
    shard: Sequence[Sequence[Pair]], make: Any, options: Any, resources: Resources
) -> Answers:
    """Make the judge, or take a loaded one, and judge groups of pairs."""
    flat = [pair for group in shard for pair in group]
    with _LOCK:
        judge = _load(make, options, resources)
        judge.counts.clear()
        answers = iter(judge.judge(flat))
        counts = Counter(judge.counts)
    judgments = [[next(answers) for _ in group] for group in shard]
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


def _group(pair: Pair) -> tuple[str, ...]:
    if pair.instrument.startswith(ATTRIBUTION.name):
        return (pair.premise if pair.context is None else pair.context,)
    return (pair.premise,)
