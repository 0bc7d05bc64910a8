"""Stages on a cluster's workers: nothing is asked twice, and no text goes without leave.

That tables have the bytes that they have here, whatever befalls workers:
speed/dask_cluster.py.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.datasets.workers import DASK
from metassay.llm import client
from metassay.llm.ledger import Ledger
from metassay.llm.session import LEDGER
from stages.doorway import BAD_INPUT
from tests.executor.dask_machines import Machines
from tests.llm.batch_setup import QUICK
from tests.llm.scripted_server import ScriptedServer
from tests.stage_setup import (
    KEY,
    READER,
    SETTINGS,
    refresh_code,
    run_stage,
    tiny_project,
)
from tests.test_llm_pipeline import PRICES, data, script

pytestmark = pytest.mark.slow

CANARY = "canary-9d2e"
STAGES = [
    ("generate", "lead"),
    ("segment", ""),
    ("decompose", "clauses"),
    ("align", "rouge_topk"),
    ("pair", "all"),
    ("judge", "lexical"),
    ("measure", ""),
]
UNSURE = '''
"""A judge of the project's own, which is sure of every other pair, and says when it is asked."""

import os
import time
from collections import Counter
from pathlib import Path

from metassay.judges.protocol import Judgment
from metassay.judges.protocol import TWO_WAY, JudgeKind
from metassay.kinds import Options


class Unsure:
    signature = "unsure"

    def __init__(self):
        self.counts = Counter()

    @property
    def notes(self):
        return [f"asked of {self.counts['pairs']} pairs"]

    def judge(self, pairs):
        self.counts["pairs"] += len(pairs)
        with Path("log").open("a") as file:
            file.write(f"{os.getpid()}\\n")
        time.sleep(0.1)
        sure = [int(pair.pair_id[:8], 16) % 2 for pair in pairs]
        return [Judgment("ok", "entailed", probability=0.9 if s else 0.5) for s in sure]


KIND = JudgeKind(
    options=Options, make=lambda *_: Unsure(), instruments=TWO_WAY, likely=lambda _: TWO_WAY
)
'''


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(script) as running:
        yield running


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, server: ScriptedServer) -> Path:
    """A benchmark of texts by a rule; its judge `unsure` asks a model about every other pair."""
    root = tmp_path_factory.mktemp("ward") / "project"
    tiny_project(root, server.base_url, ["Replaced."])
    data(root / "data/raw/one", [f"{CANARY}-{number}" for number in range(12)])
    then = READER | {"style": "json_cot", "per_call": "claim"}
    members = {"first": {"kind": "unsure:KIND"}, "then": then}
    unsure = {"kind": "cascade", "unsure": [0.2, 0.8], "members": members}
    (root / "unsure.py").write_text(UNSURE, encoding="utf-8")
    change(root, "params.yaml", systems={"lead": {"kind": "lead", "passages": 4}})
    change(root, "params.yaml", decompositions={"clauses": {"kind": "clauses"}})
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    change(root, "params.yaml", judges=params["judges"] | {"unsure": unsure})
    lists: dict[str, Any] = {"systems": ["lead"], "decompositions": ["clauses"]}
    change(root, str(SETTINGS), **lists, judges=["lexical", "unsure"])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.syspath_prepend(root)
        refresh_code(root)
        for stage in [("ingest",), *STAGES]:
            assert run_stage(patch, root, *stage) == 0
    return root


@pytest.fixture(scope="module")
def machines(project: Path) -> Iterator[Machines]:
    with Machines(project) as running:
        running.scheduler()
        running.worker()
        running.worker()
        running.wait(2)
        yield running


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, server: ScriptedServer) -> None:
    monkeypatch.setenv(KEY, "k")
    monkeypatch.setattr(client, "Policy", lambda: QUICK)
    server.calls.clear()


def change(root: Path, file: str, **changes: Any) -> None:
    content = yaml.safe_load((root / file).read_text(encoding="utf-8"))
    (root / file).write_text(yaml.safe_dump(content | changes), encoding="utf-8")


def tables(root: Path) -> dict[Path, bytes]:
    files = sorted((root / "data/tables").rglob("*.parquet"))
    return {file.relative_to(root): file.read_bytes() for file in files}


def test_a_model_is_asked_once_and_within_the_budget_though_a_worker_dies(
    project: Path,
    machines: Machines,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(DASK, machines.address)
    params = yaml.safe_load((project / "params.yaml").read_text(encoding="utf-8"))
    model = params["models"]["m"] | {"prices": PRICES}
    change(project, "params.yaml", models={"m": model}, max_cost=cap(0.004))
    log = project / "log"

    def kill() -> None:
        while not (log.exists() and log.read_text(encoding="utf-8").split()):
            time.sleep(0.01)
        os.kill(int(log.read_text(encoding="utf-8").split()[0]), signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    # the budget ends
    assert run_stage(monkeypatch, project, "judge", "unsure") == BAD_INPUT
    killing.join()
    with Ledger(project / LEDGER) as ledger:
        ((spent,),) = ledger.select("SELECT spent + uncertain + reserved FROM accounts")
    assert 0 < spent <= 0.004e12
    assert set(server.requests.values()) == {1}

    change(project, "params.yaml", max_cost=cap(10))
    assert run_stage(monkeypatch, project, "judge", "unsure") == 0
    assert set(server.requests.values()) == {1}
    there, sent = tables(project), len(server.requests)
    monkeypatch.setenv(DASK, "local")
    assert run_stage(monkeypatch, project, "judge", "unsure") == 0
    assert tables(project) == there
    assert len(server.requests) == sent > 10


def cap(amount: float) -> dict[str, Any]:
    return {"amount": amount, "currency": "USD"}


def test_no_private_text_reaches_a_worker_without_leave(
    project: Path, machines: Machines, monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    monkeypatch.setenv(DASK, machines.address)
    registry = yaml.safe_load(
        (project / "data/registry.yaml").read_text(encoding="utf-8")
    )
    registry["datasets"]["one"]["access"] = "private"
    change(project, "data/registry.yaml", **registry)
    for stage in STAGES:
        if stage[0] != "pair":  # it only makes rows
            assert run_stage(monkeypatch, project, *stage) == BAD_INPUT, stage
    messages = "".join(capfd.readouterr())
    workers = f"the workers of {machines.address}"
    assert f"dataset 'one' is private: its text does not go to {workers}" in messages
    assert (
        "params.yaml > executor > sends; else run on this machine alone (--dask"
        in messages
    )
    assert CANARY not in messages
    assert not list(project.glob(".work/shards/**/*.shard"))
    assert CANARY.encode() not in (project / "dask.log").read_bytes()

    change(
        project, "params.yaml", executor={"kind": "dask", "address": machines.address}
    )
    monkeypatch.delenv(DASK)
    assert run_stage(monkeypatch, project, "measure") == BAD_INPUT
    may = {"kind": "dask", "address": machines.address, "sends": ["private"]}
    change(project, "params.yaml", executor=may)
    assert run_stage(monkeypatch, project, "measure") == 0
    assert CANARY.encode() not in (project / "dask.log").read_bytes()
