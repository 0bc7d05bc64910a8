"""Rate limits of endpoints, and waiting times between attempts."""

import asyncio
import datetime
import email.utils
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import numpy as np

IN_A_ROW = 3  # refusals of one kind that stop a run
MINUTE = 60.0
_BURST = 20.0  # a bucket holds a twentieth of a minute: three seconds


@dataclass(frozen=True)
class Policy:
    """How a failing request is repeated, and how long the claims of a dead process last.

    Between `attempts` it waits `first_wait` seconds, doubled each time up to
    `longest_wait`, times a seeded random number from 0.5 to 1; or the time of the
    server's Retry-After.
    """

    attempts: int = 6
    first_wait: float = 1.0
    longest_wait: float = 60.0
    lease: float = 15.0
    seed: int = 0

    def wait(
        self, attempt: int, after: float | None, generator: np.random.Generator
    ) -> float:
        """Return the seconds to wait after an attempt (1 is the first); `after`: Retry-After."""
        draw = float(generator.random())
        if after is not None:  # a little later, so that not all requests return at once
            return min(max(after, 0.0) + self.first_wait * draw, self.longest_wait)
        return min(self.first_wait * 2.0 ** (attempt - 1), self.longest_wait) * (
            0.5 + draw / 2
        )


class Bucket:
    """A token bucket: no minute has more than `per_minute`.

    It fills a little more slowly than that, since a full bucket may be emptied at once.
    """

    def __init__(
        self, per_minute: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._level = self._capacity = max(1.0, per_minute / _BURST)
        self._rate = (per_minute + 1 - self._capacity) / MINUTE
        self._updated = clock()

    def take(self, amount: float) -> float:
        """Take an amount; return the seconds to wait before using it."""
        now = self._clock()
        self._level = min(
            self._capacity, self._level + (now - self._updated) * self._rate
        )
        self._updated = now
        self._level -= amount
        return max(0.0, -self._level / self._rate)


class Gate:
    """Limits requests to one endpoint: buckets, pauses, and half the concurrency after a 429."""

    def __init__(
        self,
        requests_per_minute: int | None,
        tokens_per_minute: int | None,
        at_once: int = 1024,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._requests = (
            Bucket(requests_per_minute, clock) if requests_per_minute else None
        )
        self._tokens = Bucket(tokens_per_minute, clock) if tokens_per_minute else None
        self.counts_tokens = self._tokens is not None
        self._clock = clock
        self._sleep = sleep
        self._closed_until = clock()
        self._abandoned = False
        self._most = at_once
        self._allowed = float(at_once)
        self._inside = 0
        self._halved = -math.inf
        self._room = asyncio.Event()

    @property
    def concurrency(self) -> int:
        """The number of requests that may be under way now."""
        return int(self._allowed)

    async def enter(self, tokens: float) -> float:
        """Wait until a request of so many tokens may be sent; return the time, for `leave`."""
        while self._inside >= self.concurrency and not self._abandoned:
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
        """Note the end of a request sent at `entered`, and whether it was one too many (429)."""
        self._inside -= 1
        if not too_many:
            self._allowed = min(self._most, self._allowed + 1 / self._allowed)
        elif entered > self._halved:
            self._allowed = max(1.0, self._allowed / 2)
            self._halved = self._clock()
        self._room.set()

    def close_for(self, seconds: float) -> None:
        """Send no request for so many seconds."""
        self._closed_until = max(self._closed_until, self._clock() + seconds)

    def abandon(self) -> None:
        """Let all waiting requests pass, since none will be sent; `sleep` must end by itself."""
        self._abandoned = True
        self._room.set()


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `Retry-After-Ms` or `Retry-After` (RFC 9110, 10.2.3).

    A date is compared with the server's `Date`. None if the headers are missing or
    unreadable.

    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "150"})
    (2.0, 0.15)
    """
    if (milliseconds := _number(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    if (seconds := _number(value)) is not None:
        return seconds
    then = _seconds(value)
    return None if then is None else then - _now(headers)


# The header with the rest of a quota, and the header with the time of its reset:
# https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers and
# https://docs.claude.com/en/api/rate-limits#response-headers
QUOTAS = (
    *(
        (f"x-ratelimit-remaining-{n}", f"x-ratelimit-reset-{n}")
        for n in ("requests", "tokens")
    ),
    *(
        (f"anthropic-ratelimit-{name}-remaining", f"anthropic-ratelimit-{name}-reset")
        for name in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
)
_DURATION = re.compile(
    r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?"
)


def quota_pause(headers: Mapping[str, str]) -> float:
    """Return the seconds until the last empty quota is reset; 0 if none is empty."""
    empty = [reset for left, reset in QUOTAS if _number(headers.get(left, "")) == 0]
    return max(
        (_seconds_until(headers.get(reset, ""), headers) for reset in empty),
        default=0.0,
    )


def _seconds_until(reset: str, headers: Mapping[str, str]) -> float:
    """Return the seconds of `1s`, `6m0s` or `120ms`, or until a time of RFC 3339; else 0."""
    parts = _DURATION.fullmatch(reset)
    if reset and parts:
        hours, minutes, seconds, milliseconds = (
            float(part or 0) for part in parts.groups()
        )
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
    except (ValueError, OverflowError):  # including years out of range
        return None
