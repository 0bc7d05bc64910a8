import asyncio
import time
from email.utils import formatdate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.llm.limits import Bucket, Gate, Policy, retry_after


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds


def test_a_bucket_by_hand() -> None:
    # 60 a minute: it holds 60/20 = 3 and fills with (60 + 1 - 3) / 60 = 58/60 a second. Three go
    # out at once; the fourth waits until one has come in: 60/58 s; the fifth for two of them.
    clock = Clock()
    bucket = Bucket(60, clock)
    assert [bucket.take(1) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert bucket.take(1) == pytest.approx(60 / 58)
    assert bucket.take(1) == pytest.approx(120 / 58)
    clock.now += 120 / 58  # both are through, and nothing has come in since
    assert bucket.take(1) == pytest.approx(60 / 58)


@given(
    limit=st.integers(1, 3000),
    gaps=st.lists(st.floats(0, 30), min_size=1, max_size=300),
)
def test_no_minute_sees_more_requests_than_allowed(limit: int, gaps: list[float]) -> None:
    clock = Clock()
    bucket = Bucket(limit, clock)
    sent = []
    for gap in gaps:
        clock.now += gap
        sent.append(clock.now + bucket.take(1))
    for first, start in enumerate(sent):
        # Half-open minutes; a hair less than 60 s, since sums of floats are not exact.
        assert sum(start <= at < start + 60 - 1e-6 for at in sent[first:]) <= limit


@given(
    limit=st.integers(100, 10_000),
    amounts=st.lists(st.integers(1, 400), min_size=1, max_size=200),
)
def test_no_minute_sees_more_tokens_than_allowed(limit: int, amounts: list[int]) -> None:
    clock = Clock()
    bucket = Bucket(limit, clock)
    sent = [(clock.now + bucket.take(amount), amount) for amount in amounts]
    largest = max(amounts)  # a request larger than the bucket saves up before the minute begins
    for first, (start, _) in enumerate(sent):
        within = sum(n for at, n in sent[first:] if start <= at < start + 60 - 1e-6)
        assert within <= limit + 1 + largest


def test_a_bucket_reaches_the_rate_it_allows() -> None:
    clock = Clock()
    bucket = Bucket(600, clock)
    last = max(bucket.take(1) for _ in range(6000))
    # (6000 - 30) requests at (601 - 30) a minute: 627 s, 5 % above the 600 s that 600 a minute take
    assert last == pytest.approx((6000 - 30) / (601 - 30) * 60)


def test_the_gate_waits_for_the_slower_bucket() -> None:
    clock = Clock()
    gate = Gate(6000, 600, clock=clock, sleep=clock.sleep)
    assert gate.counts_tokens
    times = []

    async def enter() -> None:
        for _ in range(3):
            await gate.enter(30)
            times.append(clock.now - 1000)

    asyncio.run(enter())
    # Tokens: holds 30, fills with (601 - 30) / 60 a second, so each request of 30 after the first
    # costs 30 * 60 / 571 s; the requests' own bucket lets them all through.
    assert times == pytest.approx([0, 30 * 60 / 571, 60 * 60 / 571])


def test_a_closed_gate_holds_everybody_back() -> None:
    clock = Clock()
    gate = Gate(None, None, clock=clock, sleep=clock.sleep)
    assert not gate.counts_tokens
    gate.close_for(7.0)
    gate.close_for(3.0)  # a shorter pause does not shorten a longer one
    asyncio.run(gate.enter(0))
    assert clock.now == pytest.approx(1007.0)


def test_backoff_doubles_up_to_its_cap_and_keeps_at_least_half() -> None:
    policy = Policy(first_wait=1.0, longest_wait=10.0)
    generator = np.random.default_rng(3)
    for attempt, most in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 10.0), (50, 10.0)):
        waits = [policy.wait(attempt, None, generator) for _ in range(50)]
        assert most / 2 <= min(waits) < max(waits) <= most


def test_backoff_obeys_the_server_up_to_its_cap() -> None:
    policy = Policy(first_wait=1.0, longest_wait=10.0)
    generator = np.random.default_rng(3)
    waits = [policy.wait(1, 4.0, generator) for _ in range(50)]
    assert 4.0 <= min(waits) < max(waits) <= 5.0
    assert policy.wait(1, 3600.0, generator) == 10.0
    assert 0.0 <= policy.wait(1, -5.0, generator) <= 1.0


def test_backoff_is_reproducible() -> None:
    draws = [
        [Policy().wait(n, None, generator) for n in range(1, 6)]
        for generator in (np.random.default_rng(8), np.random.default_rng(8))
    ]
    assert draws[0] == draws[1]


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
        (
            {
                "retry-after": "Fri, 21 Nov 2026 10:00:30 GMT",
                "date": "Fri, 21 Nov 2026 10:00:00 GMT",
            },
            30.0,
        ),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_a_date_without_the_servers_clock() -> None:
    asked = retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})
    assert asked is not None
    assert 97 < asked <= 100


def test_half_as_many_at_once_after_too_many_and_one_more_a_round() -> None:
    clock = Clock()
    gate = Gate(None, None, 8, clock=clock, sleep=clock.sleep)

    async def wave(number: int) -> list[float]:
        return [await gate.enter(0) for _ in range(number)]

    async def steps() -> None:
        first = await wave(8)
        clock.now += 1
        for entered in first:  # a whole wave that was one too many halves once
            gate.leave(entered, too_many=True)
        assert gate.at_once == 4
        clock.now += 1
        entered = (await wave(1))[0]
        gate.leave(entered, too_many=True)
        assert gate.at_once == 2
        # 2 + 1/2 = 2.5; + 1/2.5 = 2.9; + 1/2.9 = 3.24; 3.55; 3.83; 4.09
        reached = []
        for _ in range(6):
            gate.leave((await wave(1))[0], too_many=False)
            reached.append(gate.at_once)
        assert reached == [2, 2, 3, 3, 3, 4]
        for _ in range(40):
            gate.leave((await wave(1))[0], too_many=False)
        assert gate.at_once == 8  # never more than the block says
        for _ in range(9):
            clock.now += 1
            gate.leave((await wave(1))[0], too_many=True)
        assert gate.at_once == 1  # and never none

    asyncio.run(steps())


def test_who_finds_no_room_waits_until_somebody_leaves() -> None:
    clock = Clock()
    gate = Gate(None, None, 2, clock=clock, sleep=clock.sleep)

    async def steps() -> None:
        entered = [await gate.enter(0), await gate.enter(0)]
        waiting = [asyncio.create_task(gate.enter(0)) for _ in range(3)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        clock.now += 1
        gate.leave(entered[0], too_many=True)  # one place only is left, and it is taken
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        gate.leave(entered[1], too_many=True)
        for _ in range(3):
            await asyncio.sleep(0)
        assert [task.done() for task in waiting] == [True, False, False]
        gate.abandon()  # who waits has nothing to wait for
        for _ in range(3):
            await asyncio.sleep(0)
        assert all(task.done() for task in waiting)

    asyncio.run(steps())
