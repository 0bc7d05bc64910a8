"""Judges out of params.yaml's blocks, with the judges inside them."""

from collections.abc import Callable

from metassay.core.kinds import Chosen
from metassay.executor.record import LOCAL, Executor
from metassay.judges.protocol import Judge
from metassay.judges.sharded import ShardedJudge, shardable
from metassay.llm.needs import Resources, everyone, executor_for, members_of

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
