"""What DVC knows of the chosen benchmarks: their stages, and which of them are stale.

A stage has DVC's address, as plain DVC takes it
(`benchmarks/sample/dvc.yaml:judge@lexical`), and a short name to be shown (`sample:
judge@lexical`; `fetch@x` for a stage of the root's dvc.yaml).
"""

import contextlib
import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from flows.reasons import can_ask_again, lacks_answers, response_files
from metassay.core.errors import raise_problems
from metassay.core.merges import dvc_problems
from metassay.core.options import BENCHMARKS, MODELS, PARAMS
from metassay.core.params import TUNED, Tuning, load
from metassay.datasets.registry import is_closed, load_registry

HALF_WRITTEN = ".dvc.lock.part"  # beside each dvc.lock while it is replaced
FORCED = "!"  # before the address of a stage that runs although nothing changed


@dataclass(frozen=True)
class Stage:
    """A stage or an instance of one: its DVC address, its needs, and how to run it (`meta`).

    `responses`: its files of table responses, by name. `reads`: the files and folders
    that it reads, `blocks` the keys of the root's params.yaml. `forced`: runs although
    nothing changed. `closed`: its outputs are for their owner only.
    """

    address: str
    needs: tuple[str, ...]
    retries: int
    delay: float
    tags: tuple[str, ...]
    responses: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    forced: bool = False
    closed: bool = False

    @property
    def order(self) -> str:
        """The line that its worker gets."""
        return f"{FORCED}{self.address}" if self.forced else self.address

    @property
    def benchmark(self) -> str:
        """The benchmark that it belongs to; empty for a stage of another dvc.yaml."""
        folder = Path(self.address.rpartition(":")[0]).parent
        return folder.name if folder.parent == BENCHMARKS else ""

    @property
    def name(self) -> str:
        """The short name: `sample: judge@lexical`."""
        return f"{self.benchmark}: {self.dvc_name}" if self.benchmark else self.dvc_name

    @property
    def dvc_name(self) -> str:
        """The name in its dvc.yaml: `judge@lexical`."""
        return self.address.rpartition(":")[2]


@dataclass(frozen=True)
class Plan:
    """The stages of some benchmarks by address, each after its needs, and the stale ones.

    Stale are those whose inputs or outputs changed or that lack answers of a language
    model, and everything downstream of them. `absent`: missing files and folders that
    nothing needs, such as datasets whose tables are as dvc.lock records them.
    """

    stages: dict[str, Stage]
    stale: frozenset[str]
    absent: tuple[str, ...] = ()

    def needs_of(self, address: str) -> list[str]:
        """Return the stale stages that this one needs."""
        return [need for need in self.stages[address].needs if need in self.stale]

    def mark_done(self, done: Collection[str]) -> "Plan":
        """Return the plan in which these stages are not stale any more."""
        return replace(self, stale=self.stale.difference(done))

    def dependents_of(self, failed: Collection[str]) -> list[str]:
        """Return the stages, all stale, that need one of these, directly or not."""
        reached = _add_downstream(self.stages, failed).difference(failed)
        return [address for address in self.stages if address in reached]


def _makers(tunings: Mapping[str, Tuning], folders: Iterable[str]) -> list[str]:
    """Return the trainings that make models in these folders."""
    makers = []
    for name, tuning in tunings.items():
        paths = [Path(MODELS, model) for model in tuning.models]
        if any(path.is_relative_to(f) for path in paths for f in folders):
            makers.append(name)
    return makers


def _training_sources(root: Path, names: Sequence[str]) -> list[str]:
    """Return the trainings whose models these read, the benchmarks these learn from, and so on."""
    params, sources = load(root), list(names)
    for name in sources:  # which grows
        more: list[str] = []
        if name in params.tunings:
            tuning = params.tunings[name]
            makers = _makers(params.tunings, tuning.trained_base)
            more = [tuning.benchmark, *makers]
        elif name in params.benchmarks:
            lists = (getattr(params.benchmarks[name], key) for key in TUNED)
            folders = {folder for by_name in lists for folder in by_name.values()}
            more = _makers(params.tunings, folders)
        sources += [source for source in more if source not in sources]
    return sources[len(names) :]


def plan(
    root: Path,
    benchmarks: Iterable[str],
    *,
    ask: bool = True,
    again: bool = False,
    more: Collection[str] = (),
) -> Plan:
    """Return the stages of these benchmarks with all that they need, and which of them are stale.

    `more`: addresses of further stages, whoever makes what they read. With
    `ask`, a stage that lacks answers of language models that may come if asked again is
    stale, too; with `again`, a stage that lacks any answer runs although nothing
    changed. Only these benchmarks' dvc.yaml and the root's are read, and those of
    trainings whose models they read, with the benchmarks that these learn from. Raises
    BadInput with the reason if DVC cannot read them.
    """
    import networkx
    from dvc.repo import lock_repo
    from dvc.repo.index import Index

    from flows.reasons import explain_dvc_errors, print_if_busy, repository

    names = list(benchmarks)
    raise_problems(dvc_problems(root, names))
    read = [*names, *_training_sources(root, names)]
    files = ["dvc.yaml", *(str(BENCHMARKS / name / "dvc.yaml") for name in read)]
    files += sorted({address.rpartition(":")[0] for address in more})
    # DVC reads params.yaml from the working folder, whatever its root.
    with contextlib.chdir(root), explain_dvc_errors(), repository() as repo:
        print_if_busy(repo)
        with lock_repo(repo):
            loaded = [repo.stage.load_file(file) for file in files]
            graph = Index(
                repo, stages=[stage for stages in loaded for stage in stages]
            ).graph
            chosen = {
                stage for stages in loaded[1 : len(names) + 1] for stage in stages
            }
            further = {
                stage.addressing: stage
                for stages in loaded[len(read) + 1 :]
                for stage in stages
            }
            raise_problems(
                f"{address}: no stage has this name; choose from {', '.join(further)}"
                for address in more
                if address not in further
            )
            chosen |= {further[address] for address in more}
            needed = chosen.union(
                *(networkx.descendants(graph, stage) for stage in chosen)
            )
            order = list(
                networkx.lexicographical_topological_sort(
                    graph.subgraph(needed).reverse(), key=lambda stage: stage.addressing
                )
            )
            datasets = load_registry()
            private = {
                name for name in map(_benchmark_of, order) if is_closed(name, datasets)
            }
            stages = {
                stage.addressing: _stage(graph, stage, private) for stage in order
            }
            statuses = _statuses(order, stages)
            lacking = {
                stage.addressing for stage in order if ask and can_ask_again(stage)
            }
            forced = {
                stage.addressing for stage in order if again and lacks_answers(stage)
            }
    stages |= {address: replace(stages[address], forced=True) for address in forced}
    changed = lacking | forced | {a for a, status in statuses.items() if status.changed}
    stale = _add_downstream(stages, changed)
    # A missing dataset is fetched only for a stage that will read it.
    absent = {
        a
        for a, status in statuses.items()
        if status.absent and "network" in stages[a].tags
    }
    needs = {need for address in stale for need in stages[address].needs}
    stale = _add_downstream(stages, stale | (absent & needs))
    paths = {
        path
        for a, status in statuses.items()
        if a not in stale
        for path in status.absent
    }
    return Plan(stages, frozenset(stale), tuple(sorted(paths)))


class _Status(NamedTuple):
    """DVC's status of a stage: whether it is certainly stale, and what is merely missing."""

    changed: bool
    absent: frozenset[str]


def _statuses(order: Iterable[Any], stages: Mapping[str, Stage]) -> dict[str, _Status]:
    """Return DVC's status per stage; parsing params.yaml once saves two thirds of the time."""
    from dvc.dependency import param

    outs = [
        ("network" in stages[s.addressing].tags, out) for s in order for out in s.outs
    ]
    data = {str(out): out for fetched, out in outs if fetched}
    rest = {str(out) for fetched, out in outs if not fetched}
    load_path = param.load_path
    param.load_path = functools.cache(load_path)
    try:
        return {
            s.addressing: _status(s, stages[s.addressing], data, rest) for s in order
        }
    finally:
        param.load_path = load_path


def _status(
    dvc_stage: Any, stage: Stage, data: Mapping[str, Any], rest: Collection[str]
) -> _Status:
    """Return DVC's status of a stage: `data` has fetched outputs by path, `rest` all others.

    A missing dataset changes nothing if dvc.lock records the tables as made of it: a
    clone may have the tables alone (`dvc repro --allow-missing` does the same). A
    missing table is lost, and its stage stale.
    """
    entries: list[Any] = next(iter(dvc_stage.status().values()), [])
    inputs = {str(dep): dep for dep in dvc_stage.deps}
    changes = []
    for entry in entries:
        by_kind = entry if isinstance(entry, dict) else {}
        for kind, paths in by_kind.items():
            changes += [(kind, path, state) for path, state in paths.items()]
    absent = {
        path
        for kind, path, state in changes
        if (
            _is_absent(inputs[path], stage, data, rest)
            if kind == "changed deps" and state == "deleted"
            else path in data and not data[path].exists
        )
    }
    certain = len(absent) < len(changes) or any(
        isinstance(entry, str) for entry in entries
    )
    return _Status(certain, frozenset(absent))


def _is_absent(
    dep: Any, stage: Stage, data: Mapping[str, Any], rest: Collection[str]
) -> bool:
    """Return whether a missing input is data: of no stage, or fetched as dvc.lock records it."""
    path = str(dep)
    if hasattr(dep, "params"):  # a params file
        return False
    if path in data:
        return bool(dep.hash_info and dep.hash_info == data[path].hash_info)
    is_output = any(out == path or out.startswith(f"{path}/") for out in rest)
    return bool(stage.benchmark and dep.hash_info) and not is_output


def _add_downstream(stages: Mapping[str, Stage], changed: Iterable[str]) -> set[str]:
    """Return these stages and all that need one; in `stages`, each comes after its needs."""
    reached = set(changed)
    for address, stage in stages.items():
        if reached.intersection(stage.needs):
            reached.add(address)
    return reached


def only(root: Path, plan: Plan, name: str) -> Plan:
    """Select a stage per benchmark, to run at any rate; raises BadInput if it lacks a file."""
    stages = [stage for stage in plan.stages.values() if stage.dvc_name == name]
    stages = [stage for stage in stages if stage.benchmark]
    problems = []
    for stage in stages:
        absent = [file for file in stage.reads if not (root / file).exists()]
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            makes = f"`metassay run {stage.benchmark}` makes it"
            problems.append(f"{stage.name}: {absent[0]}{more} not there; {makes}")
    raise_problems(problems)
    forced = {stage.address: replace(stage, forced=True) for stage in stages}
    return Plan(forced, frozenset(forced))


def _benchmark_of(stage: Any) -> str:
    """Return the benchmark of a DVC stage; for a stage of the root's dvc.yaml, its item."""
    file, _, name = stage.addressing.rpartition(":")
    return Path(file).parent.name or name.partition("@")[2]


def _stage(graph: Any, stage: Any, private: Collection[str]) -> Stage:
    meta = stage.meta or {}
    return Stage(
        address=stage.addressing,
        needs=tuple(sorted(need.addressing for need in graph.successors(stage))),
        retries=int(meta.get("retries", 0)),
        delay=float(meta.get("delay", 1)),
        tags=tuple(meta.get("tags", ())),
        responses=tuple(file.stem for file in response_files(stage)),
        reads=tuple(sorted(str(dep.def_path) for dep in stage.deps)),
        blocks=tuple(
            key
            for dep in stage.deps
            if Path(dep.fs_path) == Path(PARAMS.name).absolute()
            for key in getattr(dep, "params", ())
        ),
        closed=_benchmark_of(stage) in private,
    )
