"""A cluster whose workers die, hang or are others than ours, and whose scheduler is restarted."""

import os
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from metassay.core.errors import BadInput, Unfinished
from metassay.executor.dask_cluster import Cluster
from tests.executor import work
from tests.executor.dask_machines import ROOT, Machines

pytestmark = pytest.mark.slow

NUMBERS = list(range(24))
SQUARES = [number * number for number in NUMBERS]


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    with Machines(tmp_path / "machines") as running:
        running.scheduler()
        yield running


def when(condition: Callable[[], bool], then: Callable[[], object]) -> threading.Thread:
    """Do something in a thread, once a condition holds."""

    def wait() -> None:
        while not condition():
            time.sleep(0.02)
        then()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def squares(cluster: Cluster, log: Path, seconds: float = 0.1) -> list[int]:
    shards = cluster.map(work.squares, NUMBERS, seconds, str(log))
    return [square for shard in shards for square in shard]


def test_workers_die_and_the_scheduler_is_restarted_and_nothing_is_done_again(
    machines: Machines, tmp_path: Path
) -> None:
    log, storage = tmp_path / "log", tmp_path / "shards"
    first, second = machines.worker(), machines.worker()

    def another() -> None:
        machines.kill(first)
        machines.worker()

    def restart() -> None:
        machines.kill(machines.processes[0])
        # they end by themselves, after a while
        for process in list(machines.processes):
            machines.kill(process)
        machines.scheduler()
        machines.worker()

    threads = [
        when(lambda: first.pid in [p for _, p in work.noted(log)], another),
        when(lambda: len(work.noted(log)) > 15, restart),
    ]
    with Cluster(machines.options(storage), "squares") as cluster:
        assert squares(cluster, log) == SQUARES
        assert len(list((storage / "squares").iterdir())) == 2 * len(NUMBERS)
    for thread in threads:
        thread.join()
    assert not (storage / "squares").exists()
    times = Counter(number for number, _ in work.noted(log))
    assert set(times) == set(NUMBERS)
    assert sum(times.values()) <= len(NUMBERS) + 3  # what was in hand when three died
    assert second.returncode is not None


def test_a_hanging_worker_is_given_up_and_another_version_refused(
    machines: Machines, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log, storage = tmp_path / "log", tmp_path / "shards"
    older = tmp_path / "older"
    shutil.copytree(
        ROOT / "metassay", older / "metassay", ignore=shutil.ignore_patterns("*.pyc")
    )
    shutil.copytree(ROOT / "tests/executor", older / "tests/executor")
    with (older / "metassay/core/work.py").open("a", encoding="utf-8") as file:
        file.write("# another version\n")
    machines.worker(str(older))
    with (
        Cluster(machines.options(storage), "a") as cluster,
        pytest.raises(BadInput, match=r"none of the 1 worker\(s\) of .* can be used"),
    ):
        squares(cluster, log)
    (refused,) = [message for message in caplog.messages if "refused" in message]
    assert "is refused: metassay " in refused
    assert " instead of " in refused
    assert "\n" not in refused
    assert not work.noted(log)

    hanging, _ = machines.worker(), machines.worker()
    machines.wait(3)
    stop = when(
        lambda: hanging.pid in [p for _, p in work.noted(log)],
        lambda: os.kill(hanging.pid, signal.SIGSTOP),
    )
    with Cluster(machines.options(storage, limit_s=3.0), "a") as cluster:
        assert squares(cluster, log) == SQUARES
    stop.join()
    assert "is given up: a shard took more than 3 s there" in caplog.text
    assert Counter(Counter(number for number, _ in work.noted(log)).values())[1] >= 23


def test_a_workers_bad_input_is_ours_and_a_deadly_shard_ends_the_run(
    machines: Machines, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    storage = tmp_path / "shards"
    machines.worker()
    with Cluster(machines.options(storage), "a") as cluster:
        with pytest.raises(BadInput, match="row 7: is wrong; correct it"):
            cluster.map(work.refuse, [7])
        assert squares(cluster, tmp_path / "log", 0.0) == SQUARES
        prompt = tmp_path / "prompt.yaml"
        prompt.write_text("one", encoding="utf-8")
        assert cluster.map(len, [0], files=[prompt]) == [1]
        prompt.write_text("another", encoding="utf-8")  # which the worker may have read
        with pytest.raises(BadInput, match="can be used"):
            cluster.map(len, [1], files=[prompt])
        assert (
            "prompt.yaml has changed since it was read there; start it again"
            in caplog.text
        )
    with Cluster(machines.options(storage), "a") as cluster:
        for _ in range(4):
            machines.worker()
        machines.wait(5)
        with pytest.raises(Unfinished, match=r"took down .*what is done stays done"):
            cluster.map(work.end, [1])


def test_who_is_not_there_is_named_with_a_remedy(tmp_path: Path) -> None:
    with Machines(tmp_path / "machines") as machines:
        options = machines.options(tmp_path / "shards", patience_s=0.0)
        lacks = (
            r"no scheduler answers at .*; start one",
            "has no worker; start some in the",
        )
        for start, lack in zip((lambda: None, machines.scheduler), lacks, strict=True):
            start()
            with Cluster(options, "a") as cluster, pytest.raises(BadInput, match=lack):
                cluster.map(work.refuse, [1])
