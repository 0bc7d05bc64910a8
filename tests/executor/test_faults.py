"""What a full disk, a late worker, a lost scheduler and stale weights come to."""

import errno
import gc
import logging
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cloudpickle
import distributed
import pytest

from metassay.core import database
from metassay.core.errors import BadInput, Unfinished
from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.core.params import ExecutorOptions
from metassay.datasets.workers import DASK, open_executor
from metassay.executor import dask_cluster, shards
from metassay.executor.dask_cluster import Cluster
from metassay.executor.shards import Outcome, Storage, answer, contents, versions
from metassay.judges.make import judge_groups
from metassay.judges.protocol import Judgment, Pair
from metassay.llm.needs import Needs, Resources, files_of

ADDRESS = "tcp://127.0.0.1:9"
RESOURCES = Resources(Path("data/raw"))


def full(_: Sequence[int]) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "models")


def full_store(_: Sequence[int]) -> None:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    form = database.Form(1, (), "store", "run again")
    with database._explain_errors(Path("models.sqlite"), form):
        raise error


def without_file(_: Sequence[int]) -> None:
    Path("nowhere/terms.csv").read_text(encoding="utf-8")


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage(str(tmp_path / "shards"))


@pytest.fixture
def ask(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """What a worker says of a shard, here."""
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(address="w"))
    monkeypatch.setattr(shards, "LATE_SECONDS", 0.0)

    def put(function: Callable[..., Any]) -> Outcome:
        storage.write("one.shard", cloudpickle.dumps((function, [1], ()), 5))
        return answer(storage.place, "one", versions(), {})

    return put


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (full, "models: there is no room left on the disk; make room"),
        (
            full_store,
            "models.sqlite: database or disk is full; make sure that the disk has room",
        ),
        (without_file, "it does not see nowhere/terms.csv"),
    ],
)
def test_what_a_machine_lacks_closes_it_and_does_not_end_the_run(
    ask, function, why: str
) -> None:
    outcome = ask(function)
    assert outcome.worker == "w"
    assert outcome.refused.startswith(why)


def test_no_part_of_an_answer_and_no_text_is_left_behind(
    ask, storage, monkeypatch
) -> None:
    assert ask(len) == Outcome("w")
    assert sorted(os.listdir(storage.place)) == ["one.answer", "one.shard"]  # noqa: PTH208
    assert ask(lambda _: storage.clear()) == Outcome("w")  # it is late: the run is over
    assert not Path(storage.place).exists()
    assert answer(storage.place, "one", versions(), {}).refused.startswith(
        "it does not see "
    )

    def no_room(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(OSError, match="No space left"):
        storage.write("one.answer", b"1")
    assert not os.listdir(storage.place)  # noqa: PTH208


def test_a_file_that_a_network_drive_shows_late_is_waited_for(
    storage, monkeypatch
) -> None:
    late = threading.Timer(0.2, storage.write, ("a", b"1"))
    late.start()
    assert storage.read("a") == b"1"
    late.join()
    monkeypatch.setattr(shards, "LATE_SECONDS", 0.0)
    with pytest.raises(FileNotFoundError):
        storage.read("b")
    with pytest.raises(BadInput, match=r"executor > storage: nowhere://a: .*nowhere"):
        Storage("nowhere://a")


class Client:
    """A scheduler that is there, with workers, and loses everything that it is asked."""

    status = "running"
    threads: dict[str, int] = {"w": 1}  # noqa: RUF012

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def nthreads(self) -> dict[str, int]:
        return self.threads

    def submit(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("the scheduler forgot")

    def close(self, **_: Any) -> None:
        pass


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr(dask_cluster, "_Client", Client)
    monkeypatch.setattr(dask_cluster, "WAIT_SECONDS", 0.01)
    options: dict[str, Any] = {"storage": str(tmp_path / "shards"), "patience_s": 0.05}
    return Cluster(ExecutorOptions(kind="dask", address=ADDRESS, **options), "a")


def test_a_scheduler_that_loses_everything_ends_the_run_and_says_where_text_stays(
    cluster: Cluster, tmp_path: Path, caplog
) -> None:
    with (
        pytest.raises(Unfinished, match=r"lost 6 times in a row \(RuntimeError\)"),
        cluster,
    ):
        cluster.map(len, [1])
    (message,) = caplog.messages
    assert (
        f"which contain texts, stay in {tmp_path / 'shards/a'}; run again to" in message
    )


def test_workers_that_all_go_are_waited_for_no_longer_than_patience_lasts(
    cluster: Cluster, monkeypatch, caplog
) -> None:
    running = {object(): ("one", time.monotonic())}
    cluster._closed_workers["w"] = "it hangs"
    assert cluster._room(running) == 0  # it may yet answer
    with pytest.raises(BadInput, match=r"none of the 1 worker\(s\) .* \(w: it hangs\)"):
        cluster._room({})
    monkeypatch.setattr(Client, "threads", {})
    with pytest.raises(BadInput, match="has no worker; start some"):
        cluster._room(running)
    (message,) = caplog.messages  # a single time
    assert message.endswith("waiting for 0.05 s")


def test_a_worker_that_stops_between_its_answer_and_reporting_it_is_not_waited_for(
    cluster: Cluster,
) -> None:
    waits = []

    def result(timeout: float) -> Outcome:
        waits.append(timeout)
        raise TimeoutError

    future = SimpleNamespace(status="finished", result=result)
    with pytest.raises(dask_cluster._Lost):
        cluster._is_answered(future, "one")
    assert waits == [dask_cluster.SAYING_SECONDS]
    cluster._storage.write("one.answer", b"1")
    assert cluster._is_answered(future, "one")
    assert len(waits) == 1


@pytest.mark.parametrize("address", ["tls://127.0.0.1:9", "tcp://127.0.0.1"])
def test_an_address_that_can_never_answer_is_named(
    tmp_path: Path, address: str
) -> None:
    options = ExecutorOptions(
        kind="dask", address=address, storage=str(tmp_path / "shards")
    )
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        Cluster(options, "a") as cluster,
        pytest.raises(
            BadInput, match=r"no scheduler answers .* \(.*(port|TLS|ssl).*\)"
        ),
    ):
        cluster.map(len, [1])
    # One that is closed when it is collected can hang the next one's start.
    clients = [it for it in gc.get_objects() if isinstance(it, distributed.Client)]
    assert {client.status for client in clients} <= {"closed", "newly-created"}


class Named(Options):
    encoder: dict[str, str]


def test_weights_in_a_folder_are_versions_like_files(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "tokenizer").mkdir(parents=True)
    for file in ("weights", "tokenizer/words"):
        (folder / file).write_bytes(b"1")
    chosen = Chosen(
        "kind", Needs(), Named(encoder={"model": str(folder), "device": "cpu"})
    )
    assert files_of(chosen) == [folder]
    known = contents([folder])
    assert sorted(known) == [f"{folder}/tokenizer/words", f"{folder}/weights"]
    (folder / "weights").write_bytes(b"2")
    os.utime(folder / "weights", ns=(1, 1))
    after = contents(map(Path, known))
    assert [name for name in known if known[name] != after[name]] == [
        f"{folder}/weights"
    ]
    assert (
        files_of(Chosen("kind", Needs(), Named(encoder={"model": "package:x"}))) == []
    )


class Sure:
    """A judge of a project's own, with options that another has, too."""

    signature = "sure"

    def __init__(self, label: str) -> None:
        self.label, self.counts = label, Counter[str]()

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        return [Judgment("ok", self.label) for _ in pairs]


def test_judges_that_have_the_same_options_are_not_taken_for_each_other() -> None:
    pair = Pair("1", "entailment", "It hurts.", "It hurts.")
    makes = [lambda *_: Sure("entailed"), lambda *_: Sure("not_entailed")]
    groups = [
        judge_groups(
            [[pair]], cloudpickle.loads(cloudpickle.dumps(make)), Options(), RESOURCES
        )
        for make in [*makes, *makes]
    ]
    judgments = [group.judgments[0][0] for group in groups]
    assert [it.label for it in judgments if it] == ["entailed", "not_entailed"] * 2


def test_a_run_on_this_machine_takes_away_what_an_ended_one_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(DASK, "local")
    for stage in ("judge", "measure"):
        Storage(f".work/shards/ward-{stage}").write("one.shard", b"text")
    benchmark: Any = SimpleNamespace(name="ward")
    with open_executor(ExecutorOptions(), benchmark, (), stage="judge") as executor:
        assert not executor.remote
    assert os.listdir(".work/shards") == ["ward-measure"]  # noqa: PTH208
