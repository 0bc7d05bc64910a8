"""Rate limits and waiting times, by hand and by a clock that passes only when somebody sleeps."""

import asyncio
import time
from email.utils import formatdate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.llm.limits import Bucket, Gate, Policy, quota_pause, retry_after


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds


def gate(clock: Clock, *limits: int | None) -> Gate:
    return Gate(*limits, clock=clock, sleep=clock.sleep)  # type: ignore[arg-type]


def test_a_bucket_by_hand() -> None:
    # 60 a minute: it holds 60/20 = 3 and fills with (60 + 1 - 3) / 60 = 58/60 a second. Three go
    # out at once; the fourth waits until another has come in: 60/58 s; the fifth for two of them.
    clock = Clock()
    bucket = Bucket(60, clock)
    assert [bucket.take(1) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert bucket.take(1) == pytest.approx(60 / 58)
    assert bucket.take(1) == pytest.approx(120 / 58)
    clock.now += 120 / 58  # both are through, and nothing has come in since
    assert bucket.take(1) == pytest.approx(60 / 58)
    # (6000 - 30) requests at (601 - 30) a minute: 627 s, 5 % above the 600 s that 600 a
    # minute take
    bucket = Bucket(600, clock)
    last = max(bucket.take(1) for _ in range(6000))
    assert last == pytest.approx((6000 - 30) / (601 - 30) * 60)


@given(
    limit=st.integers(1, 3000),
    sends=st.lists(
        st.tuples(st.floats(0, 30), st.integers(1, 400) | st.just(1)),
        min_size=1,
        max_size=200,
    ),
)
def test_no_minute_sees_more_than_allowed(
    limit: int, sends: list[tuple[float, int]]
) -> None:
    clock = Clock()
    bucket = Bucket(limit, clock)
    sent = []
    for gap, amount in sends:
        clock.now += gap
        sent.append((clock.now + bucket.take(amount), amount))
    largest = max(amount for _, amount in sends)
    # who is larger than the bucket saves up before
    more = 0 if largest == 1 else 1 + largest
    for first, (start, _) in enumerate(sent):
        # Half-open minutes; a hair less than 60 s, since sums of floats are not exact.
        within = sum(n for at, n in sent[first:] if start <= at < start + 60 - 1e-6)
        assert within <= limit + more


def test_the_gate_waits_for_the_slower_bucket_and_while_it_is_closed() -> None:
    clock = Clock()
    limited = gate(clock, 6000, 600)
    assert limited.counts_tokens
    times = []

    async def enter() -> None:
        for _ in range(3):
            await limited.enter(30)
            times.append(clock.now - 1000)

    asyncio.run(enter())
    # Tokens: holds 30, fills with (601 - 30) / 60 a second, so each request of 30 after
    # the first costs 30 * 60 / 571 s; the requests' bucket lets them all through.
    assert times == pytest.approx([0, 30 * 60 / 571, 60 * 60 / 571])
    clock = Clock()
    free = gate(clock, None, None)
    assert not free.counts_tokens
    free.close_for(7.0)
    free.close_for(3.0)  # a shorter pause does not shorten a longer one
    asyncio.run(free.enter(0))
    assert clock.now == pytest.approx(1007.0)


def test_backoff_doubles_up_to_its_cap_and_obeys_the_server_up_to_it() -> None:
    policy = Policy(first_wait=1.0, longest_wait=10.0)
    generator = np.random.default_rng(3)
    for attempt, most in (
        (1, 1.0),
        (2, 2.0),
        (3, 4.0),
        (4, 8.0),
        (5, 10.0),
        (50, 10.0),
    ):
        waits = [policy.wait(attempt, None, generator) for _ in range(50)]
        assert most / 2 <= min(waits) < max(waits) <= most
    waits = [policy.wait(1, 4.0, generator) for _ in range(50)]
    assert 4.0 <= min(waits) < max(waits) <= 5.0
    assert policy.wait(1, 3600.0, generator) == 10.0
    assert 0.0 <= policy.wait(1, -5.0, generator) <= 1.0
    again = [policy.wait(1, None, np.random.default_rng(8)) for _ in range(2)]
    assert again[0] == again[1]


NOON = "Sat, 21 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Sat, 21 Nov 2026 10:00:30 GMT", "date": NOON}, 30.0),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
    here = retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})
    assert here is not None
    assert 97 < here <= 100  # without the server's clock


def openai(name: str, left: str, reset: str) -> dict[str, str]:
    return {f"x-ratelimit-remaining-{name}": left, f"x-ratelimit-reset-{name}": reset}


def anthropic(name: str, reset: str, date: str) -> dict[str, str]:
    lead = f"anthropic-ratelimit-{name}"
    return {f"{lead}-remaining": "0", f"{lead}-reset": reset, "date": date}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (openai("requests", "0", "1s"), 1.0),
        (openai("tokens", "0", "6m0s"), 360.0),
        (openai("tokens", "0", "120ms"), 0.12),
        (openai("tokens", "0", "1h2m3.5s"), 3723.5),
        (openai("tokens", "1", "6m0s"), 0.0),
        # The longer of two, where both are used up
        (openai("requests", "0", "2s") | openai("tokens", "0", "1s"), 2.0),
        # Against the server's clock
        (anthropic("input-tokens", "2026-11-21T10:00:30Z", NOON), 30.0),
        (
            anthropic(
                "requests",
                "2026-11-21T11:00:30+01:00",
                NOON.replace("00 GMT", "45 GMT"),
            ),
            0.0,
        ),
        (openai("requests", "0", "soon"), 0.0),
        ({"x-ratelimit-remaining-requests": "0"}, 0.0),
        (openai("requests", "none", "1s"), 0.0),
        ({}, 0.0),
    ],
    ids=str,
)
def test_a_quota_that_is_used_up_pauses_until_it_is_whole(
    headers, seconds: float
) -> None:
    assert quota_pause(headers) == pytest.approx(seconds)


def test_half_as_many_at_once_after_too_many_and_another_a_round() -> None:
    clock = Clock()
    shared = gate(clock, None, None, 8)

    async def leave(too_many: bool, times: int = 1) -> list[int]:
        reached = []
        for _ in range(times):
            clock.now += 1
            shared.leave(await shared.enter(0), too_many=too_many)
            reached.append(shared.concurrency)
        return reached

    async def steps() -> None:
        wave = [await shared.enter(0) for _ in range(8)]
        clock.now += 1
        for entered in wave:  # a whole wave that was too many halves once
            shared.leave(entered, too_many=True)
        assert shared.concurrency == 4
        assert await leave(True) == [2]
        # 2 + 1/2 = 2.5; + 1/2.5 = 2.9; + 1/2.9 = 3.24; 3.55; 3.83; 4.09
        assert await leave(False, 6) == [2, 2, 3, 3, 3, 4]
        assert (await leave(False, 40))[-1] == 8  # never more than the block says
        assert (await leave(True, 9))[-1] == 1  # and never none

    asyncio.run(steps())


def test_who_finds_no_room_waits_until_somebody_leaves() -> None:
    clock = Clock()
    shared = gate(clock, None, None, 2)

    async def steps() -> None:
        entered = [await shared.enter(0), await shared.enter(0)]
        waiting = [asyncio.create_task(shared.enter(0)) for _ in range(3)]

        async def inside() -> int:
            for _ in range(3):
                await asyncio.sleep(0)
            return sum(task.done() for task in waiting)

        assert await inside() == 0
        clock.now += 1
        # a single place is left, and it is taken
        shared.leave(entered[0], too_many=True)
        assert await inside() == 0
        shared.leave(entered[1], too_many=True)
        assert await inside() == 1
        shared.abandon()  # who waits has nothing to wait for
        assert await inside() == 3

    asyncio.run(steps())
