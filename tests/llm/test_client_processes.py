"""Processes that share a ledger, and processes that are killed."""

import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from metassay.llm.ledger import Ledger, export
from tests.llm.batch_setup import Asker, another_process, asking, request, requests
from tests.llm.scripted_server import ScriptedServer

# with fewer, all are answered before the last kill by the clock
QUESTIONS, KILLS = 500, 10


@pytest.fixture(scope="module")
def processes() -> Iterator[tuple[Asker, Asker]]:
    """Two processes that ask, started once: their imports take seconds."""
    with another_process() as first, another_process() as second:
        yield first, second


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def start(
    child: Asker, server: ScriptedServer, ledger: Ledger, count: int, **more: float
) -> int:
    """Start a run in a child; its process id."""
    settings = {"ledger": str(ledger.path), "concurrency": 8, "lease": 0.3} | more
    return child.start(base_url=server.base_url, count=count, **settings)


def answers(ledger: Ledger) -> int:
    return sum(row[2] for row in ledger.holdings())


def exported(ledger: Ledger, path: Path) -> str:
    export(ledger, path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest of the table that a run which nobody killed exports."""
    folder = tmp_path_factory.mktemp("calm")
    with ScriptedServer() as calm, Ledger(folder / "calm.sqlite") as ledger:
        asking(calm.base_url, ledger, concurrency=16)(requests(QUESTIONS))
        return exported(ledger, folder / "calm.parquet")


def test_killed_ten_times_and_nothing_is_asked_again(
    server, ledger, tmp_path, processes, undisturbed
) -> None:
    """Each kill comes after a random number of answers, with sixteen requests under way.

    The server then keeps its further answers back until the dead process's connections
    are closed, so that an answer is either not sent, or has reached the process; what
    is between the two when a process dies is nobody's to know.
    """
    server.latency = 0.005
    moments = np.random.default_rng(20261121).choice(
        QUESTIONS - 20, KILLS, replace=False
    )
    child = processes[0]
    for moment in sorted(moments.tolist()):
        server.hold_after(moment - server.answered.total())
        process = start(child, server, ledger, QUESTIONS, concurrency=16)
        # Every answer is in the ledger while the process still waits for others.
        wait_until(
            lambda: server.holding > 0 and answers(ledger) == server.answered.total()
        )
        assert answers(ledger) == moment
        os.kill(process, signal.SIGKILL)
        assert child.result() is None
        wait_until(lambda: server.connected == 0)
        server.let_go()
    start(child, server, ledger, QUESTIONS, concurrency=16)
    assert child.result() == {"ok": QUESTIONS}
    assert len(server.answered) == QUESTIONS
    assert set(server.answered.values()) == {1}  # no answered request ever came again
    assert server.requests.total() <= QUESTIONS + KILLS * 16
    assert exported(ledger, tmp_path / "r.parquet") == undisturbed


def test_killed_in_the_middle_of_anything(
    server, ledger, tmp_path, processes, undisturbed
) -> None:
    """Kills by the clock: what the ledger has is never asked again, and it is never damaged."""
    server.latency = 0.005
    waits = np.random.default_rng(7).uniform(0.02, 0.15, size=3)
    child = processes[0]
    for wait in waits.tolist():
        before = server.requests.total()
        process = start(child, server, ledger, QUESTIONS, concurrency=16)
        wait_until(lambda before=before: server.requests.total() > before + 16)
        time.sleep(wait)
        os.kill(process, signal.SIGKILL)
        child.result()
        with Ledger(ledger.path) as checked:  # sound, or this would raise
            answered = checked.lookup(request(n).key for n in range(QUESTIONS))
        before_resuming = server.requests.copy()
        start(child, server, ledger, len(answered), concurrency=16)
        child.result()
        assert len(server.requests - before_resuming) <= len(answered)
    start(child, server, ledger, QUESTIONS, concurrency=16)
    assert child.result() == {"ok": QUESTIONS}
    # Only an answer on its way when its process died, at most one per worker, is asked
    # again.
    assert server.answered.total() <= QUESTIONS + len(waits) * 16
    assert exported(ledger, tmp_path / "r.parquet") == undisturbed


def test_two_processes_ask_the_same_and_pay_once(server, ledger, processes) -> None:
    asking(server, ledger)([request("first")])  # which goes alone
    server.hold_after(0)
    for process in processes:
        start(process, server, ledger, 200, lease=15.0)
    # they share the work, and do not wait for each other
    wait_until(lambda: server.holding == 16)
    server.let_go()
    assert [process.result() for process in processes] == [{"ok": 200}] * 2
    assert len(server.requests) == 201
    assert set(server.requests.values()) == {1}


def test_the_questions_of_a_dead_process_are_asked_when_its_claims_expire(
    server, ledger, processes
) -> None:
    server.hold_after(10)
    first, second = processes
    process = start(first, server, ledger, 30, lease=2.0)
    wait_until(lambda: server.holding == 8)
    start(second, server, ledger, 30, lease=2.0)
    wait_until(lambda: server.holding == 16)  # the second has taken what was left
    os.kill(process, signal.SIGKILL)
    died = time.monotonic()
    server.let_go()
    assert second.result() == {"ok": 30}
    assert first.result() is None
    assert time.monotonic() - died < 40
    # Eight questions of the dead were asked a second time, and no other.
    assert sorted(server.requests.values()) == [1] * 22 + [2] * 8


def test_an_interrupt_leaves_a_clean_ledger(server, ledger, processes) -> None:
    server.hold_after(10)
    child = processes[0]
    process = start(child, server, ledger, 30, lease=60.0)
    wait_until(lambda: server.holding == 8 and answers(ledger) == 10)
    os.kill(process, signal.SIGINT)
    assert child.result() is None
    wait_until(lambda: server.connected == 0)
    server.let_go()
    keys = [request(number).key for number in range(30)]
    # nobody has to wait for the lease of a minute
    assert ledger.claimed_keys(keys) == set()
    assert ledger.attempts() == {"interrupted": 8, "ok": 10}
    start(child, server, ledger, 30, lease=60.0)
    assert child.result() == {"ok": 30}
    assert set(server.answered.values()) == {1}
