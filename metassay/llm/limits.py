"""How fast an endpoint may be asked, and how patiently it is asked again."""

import asyncio
import datetime
import email.utils
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import numpy as np

IN_A_ROW = 3  # refusals of one kind, that stop a run
MINUTE = 60.0
_BURST = 20.0  # a bucket holds this fraction of a minute: three seconds' worth


@dataclass(frozen=True)
class Policy:
    """How a failing request is repeated, and how long a claim outlives a dead process.

    Between `attempts` pass `first_wait` seconds, doubled each time up to `longest_wait`, of which a
    seeded draw keeps at least half; or what the server asks for in Retry-After.
    """

    attempts: int = 6
    first_wait: float = 1.0
    longest_wait: float = 60.0
    lease: float = 15.0
    seed: int = 0

    def wait(self, attempt: int, asked: float | None, generator: np.random.Generator) -> float:
        """Seconds to wait after the given attempt (1 for the first); `asked` by the server."""
        draw = float(generator.random())
        if asked is not None:  # a little later than asked for, so that not all come back at once
            return min(max(asked, 0.0) + self.first_wait * draw, self.longest_wait)
        return min(self.first_wait * 2.0 ** (attempt - 1), self.longest_wait) * (0.5 + draw / 2)


class Bucket:
    """A token bucket: in no minute does more than `per_minute` go out.

    It fills a little slower, since what it holds when full may go out at once.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._capacity = max(1.0, per_minute / _BURST)
        self._rate = (per_minute + 1 - self._capacity) / MINUTE
        self._level = self._capacity
        self._at = clock()

    def take(self, amount: float) -> float:
        """Take the amount now; returns the seconds to wait before using it."""
        now = self._clock()
        self._level = min(self._capacity, self._level + (now - self._at) * self._rate)
        self._at = now
        self._level -= amount
        return max(0.0, -self._level / self._rate)


class Gate:
    """What every request to one endpoint passes: buckets, pauses, and half as many after a 429."""

    def __init__(
        self,
        requests_per_minute: int | None,
        tokens_per_minute: int | None,
        at_once: int = 1024,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._requests = Bucket(requests_per_minute, clock) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute, clock) if tokens_per_minute else None
        self._clock = clock
        self._sleep = sleep
        self._closed_until = clock()
        self._abandoned = False
        self._most, self._allowed = at_once, float(at_once)
        self._inside, self._halved = 0, -math.inf
        self._room = asyncio.Event()

    @property
    def counts_tokens(self) -> bool:
        """Whether anybody needs to know how many tokens a request takes."""
        return self._tokens is not None

    @property
    def at_once(self) -> int:
        """How many requests may be under way at the moment."""
        return int(self._allowed)

    async def enter(self, tokens: float) -> float:
        """Wait until a request of so many tokens may go out; returns when, for `leave`."""
        while self._inside >= self.at_once and not self._abandoned:
            self._room.clear()
            await self._room.wait()
        self._inside += 1
        wait = self._requests.take(1) if self._requests else 0.0
        wait = max(wait, self._tokens.take(tokens) if self._tokens else 0.0)
        if wait > 0:
            await self._sleep(wait)
        while not self._abandoned and (wait := self._closed_until - self._clock()) > 0:
            await self._sleep(wait)
        return self._clock()

    def leave(self, entered: float, *, too_many: bool) -> None:
        """A request is over that went out at `entered`; whether it was one too many."""
        self._inside -= 1
        if not too_many:
            self._allowed = min(self._most, self._allowed + 1 / self._allowed)
        elif entered > self._halved:
            self._allowed = max(1.0, self._allowed / 2)
            self._halved = self._clock()
        self._room.set()

    def close_for(self, seconds: float) -> None:
        """Let nobody in for a while: the server said that it is too much."""
        self._closed_until = max(self._closed_until, self._clock() + seconds)

    def abandon(self) -> None:
        """Nothing more is sent, so nobody waits on; what is in `sleep` has to wake by itself."""
        self._abandoned = True
        self._room.set()


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait, of `Retry-After-Ms` or `Retry-After` (RFC 9110, 10.2.3).

    A date is read against the server's own `Date`. None if the headers say nothing readable.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after", "")
    seconds, then = _number(asked), _seconds(asked)
    if seconds is not None:
        return seconds
    return None if then is None else then - _now(headers)


# The header that says what is left of a quota, and the one that says when it is whole again:
# https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers and
# https://docs.claude.com/en/api/rate-limits#response-headers
QUOTAS = (
    *((f"x-ratelimit-remaining-{of}", f"x-ratelimit-reset-{of}") for of in ("requests", "tokens")),
    *(
        (f"anthropic-ratelimit-{of}-remaining", f"anthropic-ratelimit-{of}-reset")
        for of in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
)
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")


def quota_pause(headers: Mapping[str, str]) -> float:
    """Seconds until a quota of which nothing is left is whole again; 0 if some is left of each."""
    empty = [reset for left, reset in QUOTAS if _number(headers.get(left, "")) == 0]
    return max((_until(headers.get(reset, ""), headers) for reset in empty), default=0.0)


def _until(reset: str, headers: Mapping[str, str]) -> float:
    """Seconds of `1s`, `6m0s` or `120ms`, or until a time of RFC 3339; 0 of anything else."""
    parts = _DURATION.fullmatch(reset)
    if reset and parts:
        hours, minutes, seconds, milliseconds = (float(part or 0) for part in parts.groups())
        return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
    try:
        then = datetime.datetime.fromisoformat(reset).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, then - _now(headers))


def _now(headers: Mapping[str, str]) -> float:
    now = _seconds(headers.get("date", ""))
    return time.time() if now is None else now


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _seconds(date: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):  # years and hours beyond all dates
        return None
