"""What DVC knows of the chosen benchmarks: their stages, and which of them are stale.

A stage has DVC's address, which plain DVC takes (`benchmarks/sample/dvc.yaml:judge@lexical`), and a
short name, which is shown (`sample: judge@lexical`; `fetch@x` for a stage of the root's dvc.yaml).
"""

import contextlib
import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from flows.reasons import answers, asks_again, lacks
from metassay.core.errors import raise_problems
from metassay.core.merges import dvc_problems
from metassay.core.options import BENCHMARKS
from metassay.core.params import TUNED, load
from metassay.core.stages import MODELS
from metassay.datasets.registry import is_closed, load_registry

HALF_WRITTEN = ".dvc.lock.part"  # beside each dvc.lock while it is replaced
FORCED = "!"  # before the address of a stage that is to run although nothing changed


@dataclass(frozen=True)
class Stage:
    """One stage instance: its DVC address, the stages that it needs, how its `meta` says to run
    it, the files and folders that it reads, whether it runs although nothing changed, and whether
    what it makes is its owner's alone."""

    address: str
    needs: tuple[str, ...]
    retries: int
    delay: float
    tags: tuple[str, ...]
    asked: tuple[str, ...] = ()  # its files of table responses, by name
    reads: tuple[str, ...] = ()
    forced: bool = False
    closed: bool = False

    @property
    def order(self) -> str:
        """What its worker is told."""
        return f"{FORCED}{self.address}" if self.forced else self.address

    @property
    def benchmark(self) -> str:
        """The benchmark that it belongs to; empty for a stage of the root's dvc.yaml."""
        return Path(self.address.rpartition(":")[0]).parent.name

    @property
    def name(self) -> str:
        """The short name: `sample: judge@lexical`."""
        return f"{self.benchmark}: {self.own}" if self.benchmark else self.own

    @property
    def own(self) -> str:
        """The name in its dvc.yaml: `judge@lexical`."""
        return self.address.rpartition(":")[2]


@dataclass(frozen=True)
class Plan:
    """The stages of some benchmarks by address, each after what it needs, and the stale ones.

    Stale are those whose inputs or outputs changed or that lack answers of a language model, and
    everything downstream of them. `absent` are files and folders that are not there and that
    nobody needs: datasets of which the tables are as dvc.lock says.
    """

    stages: dict[str, Stage]
    stale: frozenset[str]
    absent: tuple[str, ...] = ()

    def before(self, address: str) -> list[str]:
        """The stale stages that this one needs."""
        return [needed for needed in self.stages[address].needs if needed in self.stale]

    def after(self, failed: Collection[str]) -> list[str]:
        """The stages, all stale, that need one of these, or one that needs one, and so on."""
        reached = _with_downstream(self.stages, failed).difference(failed)
        return [address for address in self.stages if address in reached]


def _learnt_from(root: Path, names: Sequence[str]) -> list[str]:
    """Trainings whose models these read, the benchmarks that they learn from, and so on."""
    params, every = load(root), list(names)
    for name in every:  # which grows
        more: list[str] = []
        if name in params.tunings:
            more = [params.tunings[name].benchmark]
        elif name in params.benchmarks:
            lists = (getattr(params.benchmarks[name], key) for key in TUNED)
            folders = {folder for one in lists for folder in one.values()}
            more = [
                one
                for one, tuning in params.tunings.items()
                if any(Path(MODELS, m).is_relative_to(f) for m in tuning.models for f in folders)
            ]
        every += [one for one in more if one not in every]
    return every[len(names) :]


def plan(
    root: Path,
    benchmarks: Iterable[str],
    *,
    ask: bool = True,
    again: bool = False,
    more: Collection[str] = (),
) -> Plan:
    """The stages of these benchmarks with all that they need, and which of them are stale.

    `more` are stages of the root's dvc.yaml that are wanted too, whoever makes what they read. With
    `ask`, stale is also what lacks answers of language models that asking again may get, and with
    `again` a stage that lacks any runs although nothing changed.
    Only their own dvc.yaml and the root's are read, and those of trainings whose models they read,
    with the benchmarks that these learn from. Raises BadInput with the reason where DVC cannot read
    them.
    """
    import networkx
    from dvc.repo import lock_repo
    from dvc.repo.index import Index

    from flows.reasons import refused, repository, tell_if_busy

    names = list(benchmarks)
    raise_problems(dvc_problems(root, names))
    read = [*names, *_learnt_from(root, names)]
    files = ["dvc.yaml", *(str(BENCHMARKS / name / "dvc.yaml") for name in read)]
    # DVC reads params.yaml from the working folder, whatever the root it is given.
    with contextlib.chdir(root), refused(), repository() as repo:
        tell_if_busy(repo)
        with lock_repo(repo):
            own = [repo.stage.load_file(file) for file in files]
            whole = Index(repo, stages=[stage for stages in own for stage in stages]).graph
            chosen = {stage for stages in own[1 : len(names) + 1] for stage in stages}
            chosen |= {stage for stage in own[0] if stage.name in more}
            wanted = chosen.union(*(networkx.descendants(whole, stage) for stage in chosen))
            order = list(
                networkx.lexicographical_topological_sort(
                    whole.subgraph(wanted).reverse(), key=lambda stage: stage.addressing
                )
            )
            datasets = load_registry()
            alone = {name for name in map(_of, order) if is_closed(name, datasets)}
            stages = {one.addressing: _stage(whole, one, alone) for one in order}
            found = _looks(order, stages)
            lacking = {one.addressing for one in order if ask and asks_again(one)}
            forced = {one.addressing for one in order if again and lacks(one)}
    stages |= {address: replace(stages[address], forced=True) for address in forced}
    changed = lacking | forced | {address for address, look in found.items() if look.changed}
    stale = _with_downstream(stages, changed)
    # What brings a dataset that is not there runs only for who will read it.
    absent = {a for a, look in found.items() if look.absent and "network" in stages[a].tags}
    needed = {one for address in stale for one in stages[address].needs}
    stale = _with_downstream(stages, stale | (absent & needed))
    paths = {path for a, look in found.items() if a not in stale for path in look.absent}
    return Plan(stages, frozenset(stale), tuple(sorted(paths)))


class _Look(NamedTuple):
    """What DVC says of one stage: whether it is stale for sure, and what is merely not there."""

    changed: bool
    absent: frozenset[str]


def _looks(order: Iterable[Any], stages: Mapping[str, Stage]) -> dict[str, _Look]:
    """What DVC says of each of its stages; params.yaml is parsed once, not anew for each.

    That would be two thirds of DVC's time where stages are many.
    """
    from dvc.dependency import param

    outs = [("network" in stages[one.addressing].tags, out) for one in order for out in one.outs]
    data = {str(out): out for brought, out in outs if brought}
    rest = {str(out) for brought, out in outs if not brought}
    load_path = param.load_path
    param.load_path = functools.cache(load_path)
    try:
        return {one.addressing: _look(one, stages[one.addressing], data, rest) for one in order}
    finally:
        param.load_path = load_path


def _look(one: Any, stage: Stage, data: Mapping[str, Any], rest: Collection[str]) -> _Look:
    """Look at one of DVC's stages: `data` is what was brought, by path, `rest` all else made.

    A dataset that is not there changes nothing where dvc.lock says that the tables are of it: a
    clone of the project may have its tables alone (`dvc repro --allow-missing` sees it so, too). A
    table that is not there is lost, and its stage stale.
    """
    said: list[Any] = next(iter(one.status().values()), [])
    inputs = {str(dep): dep for dep in one.deps}
    changes = [
        (kind, path, state)
        for change in said
        if isinstance(change, dict)
        for kind, paths in change.items()
        for path, state in paths.items()
    ]
    absent = {
        path
        for kind, path, state in changes
        if (
            _is_absent(inputs[path], stage, data, rest)
            if kind == "changed deps" and state == "deleted"
            else path in data and not data[path].exists
        )
    }
    certain = len(absent) < len(changes) or any(isinstance(change, str) for change in said)
    return _Look(certain, frozenset(absent))


def _is_absent(dep: Any, stage: Stage, data: Mapping[str, Any], rest: Collection[str]) -> bool:
    """Whether what is not there is data: of no stage, or what dvc.lock says was brought."""
    path = str(dep)
    if hasattr(dep, "params"):  # a params file
        return False
    if path in data:
        return bool(dep.hash_info and dep.hash_info == data[path].hash_info)
    of_a_stage = any(one == path or one.startswith(f"{path}/") for one in rest)
    return bool(stage.benchmark and dep.hash_info) and not of_a_stage


def _with_downstream(stages: Mapping[str, Stage], changed: Iterable[str]) -> set[str]:
    """These stages and all that need one of them; `stages` stand each after what it needs."""
    reached = set(changed)
    for address, stage in stages.items():
        if reached.intersection(stage.needs):
            reached.add(address)
    return reached


def only(root: Path, whole: Plan, name: str) -> Plan:
    """Of a plan each benchmark's stage of this name, which runs although nothing changed.

    Raises BadInput where a file that one of them reads is not there.
    """
    stages = [one for one in whole.stages.values() if one.own == name and one.benchmark]
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


def _of(stage: Any) -> str:
    """The benchmark that one of DVC's stages is of; of one of the root's dvc.yaml its item."""
    file, _, name = stage.addressing.rpartition(":")
    return Path(file).parent.name or name.partition("@")[2]


def _stage(whole: Any, stage: Any, alone: Collection[str]) -> Stage:
    meta = stage.meta or {}
    return Stage(
        address=stage.addressing,
        needs=tuple(sorted(needed.addressing for needed in whole.successors(stage))),
        retries=int(meta.get("retries", 0)),
        delay=float(meta.get("delay", 1)),
        tags=tuple(meta.get("tags", ())),
        asked=tuple(file.stem for file in answers(stage)),
        reads=tuple(sorted(str(read.def_path) for read in stage.deps)),
        closed=_of(stage) in alone,
    )
