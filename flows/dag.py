"""What DVC knows of the chosen benchmarks: their stages, and which of them are stale.

A stage has DVC's address, which plain DVC takes (`benchmarks/sample/dvc.yaml:judge@lexical`), and a
short name, which is shown (`sample: judge@lexical`; `fetch@x` for a stage of the root's dvc.yaml).
"""

import contextlib
import functools
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

QUIET = {
    "DO_NOT_TRACK": "1",
    "DVC_NO_ANALYTICS": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
}
BENCHMARKS = Path("benchmarks")
HALF_WRITTEN = ".dvc.lock.part"  # beside each dvc.lock while it is replaced


@dataclass(frozen=True)
class Stage:
    """One stage instance: its DVC address, what it needs, and how its `meta` says to run it."""

    address: str
    needs: tuple[str, ...]
    retries: int
    delay: float
    tags: tuple[str, ...]

    @property
    def benchmark(self) -> str:
        """The benchmark that it belongs to; empty for a stage of the root's dvc.yaml."""
        return Path(self.address.rpartition(":")[0]).parent.name

    @property
    def name(self) -> str:
        """The short name: `sample: judge@lexical`."""
        own = self.address.rpartition(":")[2]
        return f"{self.benchmark}: {own}" if self.benchmark else own


@dataclass(frozen=True)
class Plan:
    """The stages of some benchmarks by address, each after what it needs, and the stale ones.

    Stale are those whose inputs or outputs changed, and everything downstream of them.
    """

    stages: dict[str, Stage]
    stale: frozenset[str]

    def before(self, address: str) -> list[str]:
        """The stale stages that this one needs."""
        return [needed for needed in self.stages[address].needs if needed in self.stale]

    def after(self, failed: Iterable[str]) -> list[str]:
        """The stale stages that need one of these, or one that needs one of these, and so on."""
        reached = set(failed)
        after = []
        for address in self.stages:
            if address in self.stale - reached and reached.intersection(self.before(address)):
                reached.add(address)
                after.append(address)
        return after


def environment(root: Path) -> dict[str, str]:
    """What a subprocess needs: this Python first on PATH, and every cache inside the project."""
    work = root.resolve() / ".work"
    return {
        **os.environ,
        **QUIET,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PREFECT_HOME": str(work / "prefect"),
        "MPLCONFIGDIR": str(work / "matplotlib"),
        "DVC_SITE_CACHE_DIR": str(work / "dvc"),
        "DVC_GLOBAL_CONFIG_DIR": str(work / "dvc-config"),
        "PYTHONHASHSEED": "0",
    }


def plan(root: Path, benchmarks: Iterable[str]) -> Plan:
    """The stages of these benchmarks with all that they need, and which of them are stale.

    Only their own dvc.yaml and the root's are read: a benchmark needs nothing of another one.
    """
    import networkx
    from dvc.repo import Repo, lock_repo
    from dvc.repo.index import Index

    files = ["dvc.yaml", *(str(BENCHMARKS / name / "dvc.yaml") for name in benchmarks)]
    # DVC reads params.yaml from the working folder, whatever the root it is given.
    with contextlib.chdir(root), Repo(_wait_for_lock=True) as repo, lock_repo(repo):
        own = [repo.stage.load_file(file) for file in files]
        whole = Index(repo, stages=[stage for stages in own for stage in stages]).graph
        chosen = {stage for stages in own[1:] for stage in stages}
        wanted = chosen.union(*(networkx.descendants(whole, stage) for stage in chosen))
        order = list(
            networkx.lexicographical_topological_sort(
                whole.subgraph(wanted).reverse(), key=lambda stage: stage.addressing
            )
        )
        stages = {stage.addressing: _stage(whole, stage) for stage in order}
        with _each_params_file_read_once():
            changed = {stage.addressing for stage in order if stage.status()}
    for address, stage in stages.items():
        if changed.intersection(stage.needs):
            changed.add(address)
    return Plan(stages, frozenset(changed))


@contextmanager
def _each_params_file_read_once() -> Iterator[None]:
    """DVC parses params.yaml anew for every stage: two thirds of its time where stages are many."""
    from dvc.dependency import param

    load_path = param.load_path
    param.load_path = functools.cache(load_path)
    try:
        yield
    finally:
        param.load_path = load_path


def _stage(whole: Any, stage: Any) -> Stage:
    meta = stage.meta or {}
    return Stage(
        address=stage.addressing,
        needs=tuple(sorted(needed.addressing for needed in whole.successors(stage))),
        retries=int(meta.get("retries", 0)),
        delay=float(meta.get("delay", 1)),
        tags=tuple(meta.get("tags", ())),
    )
