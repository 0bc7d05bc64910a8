"""A judge whose pairs an executor's workers read; it answers as the judge itself would.

Whole groups of pairs go to a worker: those about one statement and its citations, since their
answers rest on each other, and those with the same premise, which is read once for all of them.
What the judge counts for its notes is counted there, and added up here.
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
    """A shard's judgments, by group, what the judge counted, and its signature there."""

    judgments: list[list[Judgment | None]]
    counts: Counter[str]
    signature: str


class ShardedJudge:
    """See the module; `here` is the same judge in this process, for its signature and notes."""

    def __init__(self, chosen: Chosen, here: Any, resources: Resources, executor: Executor) -> None:
        self._chosen, self._here, self._executor = chosen, here, executor
        self._resources = resources

    @property
    def signature(self) -> str:
        """That of the judge."""
        return str(self._here.signature)

    @property
    def notes(self) -> Sequence[str]:
        """What the judge says of all that was counted anywhere."""
        return list(self._here.notes)

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        """One judgment per pair; RuntimeError if a worker's judge is not the same as ours."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for place, pair in enumerate(pairs):
            groups.setdefault(_group(pair), []).append(place)
        pieces = [[pairs[place] for place in places] for places in groups.values()]
        files, make = files_of(self._chosen), self._chosen.record.make
        common = make, self._chosen.options, self._resources
        shards = self._executor.map(judge_groups, pieces, *common, files=files)
        found: list[Judgment | None] = [None] * len(pairs)
        answered = (group for shard in shards for group in shard.judgments)
        for places, judgments in zip(groups.values(), answered, strict=True):
            for place, judgment in zip(places, judgments, strict=True):
                found[place] = judgment
        for shard in shards:
            if shard.signature != self.signature:
                raise RuntimeError(f"a worker has {shard.signature}, and here is {self.signature}")
            self._here.counts.update(shard.counts)
        return found


def shardable(judge: Judge) -> bool:
    """Whether a judge's notes are of counts that add up (`counts`); others stay here."""
    return isinstance(getattr(judge, "counts", None), Counter)


def judge_groups(
    shard: Sequence[Sequence[Pair]], make: Any, options: Any, resources: Resources
) -> Answers:
    """What a judge answers of some groups of pairs."""
    flat = [pair for group in shard for pair in group]
    with _ONE:
        judge = _made(make, options, resources)
        judge.counts.clear()
        each = iter(judge.judge(flat))
        counts = Counter(judge.counts)
    judgments = [[next(each) for _ in group] for group in shard]
    return Answers(judgments, counts, judge.signature)


_LAST: dict[tuple[Any, ...], Any] = {}
_HELD = 2  # judges: as many as stages that run at a time
_ONE = threading.Lock()  # of a worker with several threads one judges


def _made(make: Any, options: Any, resources: Resources) -> Any:
    """The judge of an earlier shard, which has its model loaded, if it is one of the last."""
    key = type(options), options.model_dump_json(), getattr(make, "__code__", make)
    judge = _LAST.pop(key) if key in _LAST else make(options, resources, ())
    while len(_LAST) >= _HELD:
        del _LAST[next(iter(_LAST))]
    _LAST[key] = judge
    return judge


def _group(pair: Pair) -> tuple[str, ...]:
    if pair.instrument.startswith(ATTRIBUTION.name):
        return (pair.premise if pair.context is None else pair.context,)
    return (pair.premise,)
