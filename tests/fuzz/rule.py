"""The rule that all input is held to: taken, or refused in plain lines; nothing else."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from metassay.core.errors import BadInput

EXAMPLES = int(os.environ.get("METASSAY_FUZZ", "15"))
SECONDS = 60
LONGEST = 2000
CANARY = "Zanzibarquux"  # stands in texts alone, so no message may show it


def examples(number: int) -> settings:
    """So many examples of a test, the same ones each time."""
    return settings(
        max_examples=max(number, 3),
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


FEW = examples(EXAMPLES // 4)  # of what takes a good part of a second each


def fuzz(check: Callable[..., object], *strategies: Any, few: bool = False) -> None:
    """Call the check with examples of what the strategies draw."""

    @given(st.tuples(*strategies))
    def run(values: tuple[Any, ...]) -> None:
        check(*values)

    (FEW(run) if few else run)()


class Ended(NamedTuple):
    """How it went: the value, or the problems if it was refused."""

    value: Any
    problems: tuple[str, ...]


class Hang(BaseException):
    """It took longer than anybody waits; no `except Exception` may swallow this."""


def handled(action: Callable[[], Any]) -> Ended:
    """Do it. Another error than BadInput is a finding, and so is a line that nobody can read."""
    try:
        with _in_time():
            return Ended(action(), ())
    except BadInput as error:
        problems = tuple(error.problems)
    assert problems, "refused without a word"
    for line in problems:
        check_line(line)
    return Ended(None, problems)


def check_line(line: str) -> None:
    """One line for a terminal: short, printable, and without a document's text."""
    assert line.strip(), "an empty line"
    assert len(line) <= LONGEST, f"{len(line)} characters: {line[:200]}"
    assert CANARY not in line, line
    assert line.isprintable(), ascii(line)
    line.encode("utf-8")


@contextmanager
def _in_time() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Hang(f"not done after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
