"""Find why numbers differ: the roots, in two locks of a benchmark.

Trace back from the scores: what a stage made differs either for its own settings,
versions or inputs (roots), or because an earlier stage made something else. If nothing
that went in differs, the same questions got other answers.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from metassay.core.options import PARAMS
from metassay.core.stages import VERSIONS
from metassay.core.versions import NO_ANSWER, STAGES
from metassay.datasets.registry import REGISTRY
from metassay.tracking.comparison.sides import Lock, outs_of

TARGETS: Final = ("scores.parquet", "leaderboard.parquet", "certificates.parquet")
KINDS: Final = ("data", "prompt", "model", "settings", "code", "answers")


class Cause(NamedTuple):
    """A root: its kind (one of KINDS), the first stage that it reaches, and what it is."""

    kind: str
    stage: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what} (stage {self.stage})"


def causes(before: Lock, after: Lock) -> list[Cause]:
    """Find the roots of what differs in the scores; else in leaderboard or certificates.

    In the order of the DAG, each once, with the first stage that it reaches. A root is
    a possible cause: the locks cannot tell how much each did.
    """
    pair = _Pair(before, after)
    for target in TARGETS:
        outs = [path for path in pair.changed if path.endswith(f"/{target}")]
        if outs:
            reached = _reached(pair, outs)
            stages = [stage for stage in pair.stages if stage in reached]
            return _once_each(
                [root for stage in stages for root in _roots_of(pair, stage)]
            ) or [
                Cause(
                    "settings",
                    stage,
                    f"{'with' if stage in pair.after else 'without'} {stage}",
                )
                for stage in pair.stages
                if (stage in pair.after) != (stage in pair.before)
            ]
    return []


class _Pair:
    def __init__(self, before: Lock, after: Lock) -> None:
        self.before, self.after = before["stages"], after["stages"]
        # The later lock has the order of the DAG; a stage that is gone comes where it
        # was.
        self.stages = list(dict.fromkeys([*self.after, *self.before]))
        self.changed = _differing_keys(outs_of(before), outs_of(after))
        self.makers: dict[str, str] = {}
        for name, stage in (*self.before.items(), *self.after.items()):
            for out in stage.get("outs") or ():
                self.makers[str(out["path"])] = name

    def sides(self, stage: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return a stage's entry in both locks; empty where a lock has no such stage."""
        return self.before.get(stage, {}), self.after.get(stage, {})

    def outs_in(self, dependency: str) -> list[str]:
        """Return the outputs of stages that a dependency is, or has in it."""
        return [
            o for o in self.makers if o == dependency or o.startswith(f"{dependency}/")
        ]


def _reached(pair: _Pair, paths: list[str]) -> set[str]:
    """Return the stages behind these outputs, by way of outputs that differ."""
    stages: set[str] = set()
    waiting = list(paths)
    while waiting:
        stage = pair.makers[waiting.pop()]
        if stage in stages:
            continue
        stages.add(stage)
        for dependency in _changed_dependencies(pair, stage):
            waiting += [
                path for path in pair.outs_in(dependency) if path in pair.changed
            ]
    return stages


def _differing_keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]


def _changed_dependencies(pair: _Pair, stage: str) -> list[str]:
    return _differing_keys(
        *(
            {str(d["path"]): d.get("md5") for d in s.get("deps") or ()}
            for s in pair.sides(stage)
        )
    )


def _roots_of(pair: _Pair, stage: str) -> list[Cause]:
    """Return what differs of a stage itself; `answers` where nothing that goes into it differs."""
    before, after = pair.sides(stage)
    if not before or not after:
        return []  # the list that names it is a setting that a later stage reads
    changed = _changed_dependencies(pair, stage)
    roots = [
        Cause(_kind_of_file(path), stage, path)
        for path in changed
        if not pair.outs_in(path)
    ]
    read = changed_params(before.get("params") or {}, after.get("params") or {})
    roots += [Cause(kind, stage, what) for kind, what in read]
    if not roots and before.get("cmd") != after.get("cmd"):
        roots.append(Cause("code", stage, f"the command of {stage}"))
    if not roots and not changed:
        roots.append(
            Cause("answers", stage, f"{stage}: the same questions, other answers")
        )
    return roots


def _kind_of_file(path: str) -> str:
    if path.split("/", maxsplit=1)[0] in ("rubrics", "prompts"):
        return "prompt"
    return "model" if path.startswith(("data/judges", "data/segmenters")) else "data"


def _once_each(roots: list[Cause]) -> list[Cause]:
    """Return each root once."""
    first: dict[tuple[str, str], Cause] = {}
    for cause in roots:
        first.setdefault((cause.kind, cause.what), cause)
    return list(first.values())


Params = Mapping[str, Mapping[str, Any]]  # file -> key as dvc.yaml writes it -> value
Differing = list[tuple[str, str]]  # kind of cause, what

OF_MODEL: Final = {"model", "revision", "endpoint", "base_url", "coefficients"}
OF_PROMPT: Final = {"prompt", "prompts", "style", "template", "system"}
OF_DATA: Final = {"dataset", "raw", "studies"}
# Of a dataset: no number depends on these.
NO_NUMBER: Final = {
    "title",
    "licence",
    "citation",
    "access",
    "mirror",
    "url",
    "invented",
}
HASHED: Final = "code.yaml"  # the versions of older locks: hashes of the code


def changed_params(before: Params, after: Params) -> Differing:
    """Return kind and name of each setting and version that a stage uses and that differs."""
    differing: Differing = []
    one_sided: Differing = []
    for file in dict.fromkeys([*after, *before]):
        old, new = before.get(file, {}), after.get(file, {})
        for key in dict.fromkeys([*new, *old]):
            if key not in old or key not in new:
                # A list chooses another name, or dvc.yaml watches something else. The
                # list is named itself, so the versions of what it names are not.
                if file not in (VERSIONS, HASHED):
                    one_sided.append(("settings", f"{file} > {key}"))
                elif key.startswith(f"{STAGES}."):
                    one_sided.append(("code", f"{file} > {key}"))
            elif file in (VERSIONS, HASHED):
                differing += _versions(key, old[key], new[key])
            else:
                differing += _settings(file, key, old[key], new[key])
    return differing or one_sided


def _settings(
    file: str, key: str, before: Any, after: Any
) -> Iterator[tuple[str, str]]:
    where = key if file == str(PARAMS) else f"{file} > {key}"
    ignored = NO_NUMBER if file == str(REGISTRY) else NO_ANSWER.get(key, ())
    for kind, what in _leaves(where, before, after, ignored):
        yield (
            ("data", where) if file == str(REGISTRY) or key in OF_DATA else (kind, what)
        )


def _leaves(
    where: str, before: Any, after: Any, ignored: Iterable[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the settings of a block that differ, each with its kind."""
    if before == after:
        return
    if not isinstance(before, dict) or not isinstance(after, dict):
        key = where.rpartition(" > ")[2]
        kind = "prompt" if key in OF_PROMPT else "settings"
        if key in OF_MODEL:
            kind = "model"
        yield kind, where
        return
    for key in dict.fromkeys([*after, *before]):
        if key not in ignored:
            yield from _leaves(
                f"{where} > {key}", before.get(key), after.get(key), ignored
            )


def _versions(key: str, before: Any, after: Any) -> Iterator[tuple[str, str]]:
    """Yield what differs in a version: a number or a hash, or a mapping that has one."""
    block, _, name = key.partition(".")
    what = f"stage {name}" if block == STAGES else key
    old = before if isinstance(before, dict) else {"version": before}
    new = after if isinstance(after, dict) else {"version": after}
    if old.get("version") != new.get("version"):
        yield "code", f"code of {what}"
    for part, kind, lead in (
        ("prompts", "prompt", "prompts of "),
        ("learnt", "model", "what is learnt by "),
    ):
        if old.get(part) != new.get(part):
            yield kind, f"{lead}{what}"
    yield from _leaves("models", old.get("models", {}), new.get("models", {}))
    members = old.get("members", {}), new.get("members", {})
    for member in members[0].keys() & members[1].keys():
        yield from _versions(
            f"{key} > {member}", members[0][member], members[1][member]
        )
