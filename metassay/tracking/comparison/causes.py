"""Find why numbers differ: the roots, in two locks of a benchmark.

Trace back from the scores: what a stage made differs either for its own settings, code
or inputs (roots), or because an earlier stage made something else. If nothing that went
in differs, the same questions got other answers. Of blocks that DVC watches whole, only
what a stage's own blocks name is a cause.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from metassay.core.options import BENCHMARKS, PARAMS
from metassay.datasets.registry import REGISTRY
from metassay.tracking.comparison.sides import Lock, outs_of
from metassay.versions.code_yaml import FILE as CODE
from metassay.versions.code_yaml import JOINT, STAGES, split_version

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
        sides = (self.before, self.after)
        self.relisted = relisted_versions(
            *(
                [stage.get("params") or {} for stage in stages.values()]
                for stages in sides
            )
        )
        self.changed = _differing_keys(outs_of(before), outs_of(after))
        self.makers = {
            str(out["path"]): name
            for stages in sides
            for name, stage in stages.items()
            for out in stage.get("outs") or ()
        }

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
    read = changed_params(
        before.get("params") or {}, after.get("params") or {}, pair.relisted
    )
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
    """Return each root once, and a joint version only if none of its parts is named."""
    first: dict[tuple[str, str], Cause] = {}
    for cause in roots:
        first.setdefault((cause.kind, cause.what), cause)
    return [
        cause
        for (kind, what), cause in first.items()
        if not any(kind == k and w.startswith(f"{what}.") for k, w in first)
    ]


Params = Mapping[str, Mapping[str, Any]]  # file -> key as dvc.yaml writes it -> value
Differing = list[tuple[str, str]]  # kind of cause, what

# Blocks that are read whole, and the lists of a benchmark that say which of their names
# it uses.
LISTED: Final[Mapping[str, tuple[str, ...]]] = {
    "metrics": JOINT["metrics_of"],
    "decompositions": JOINT["decomposition_of"],
    "questions": ("questions",),
}
MODELS, ENDPOINTS = "models", "endpoints"
OF_MODEL: Final = {"model", "revision", "endpoint", "base_url", "coefficients"}
OF_PROMPT: Final = {"prompt", "prompts", "style", "template", "system"}
OF_DATA: Final = {"dataset", "raw", "studies"}
# Of a model, an endpoint or a dataset: no number depends on these.
NO_NUMBER: Final[Mapping[str, set[str]]] = {
    MODELS: {"prices", "tokenizer"},
    ENDPOINTS: {
        "key_env",
        "concurrency",
        "requests_per_minute",
        "tokens_per_minute",
        "timeout",
        "sends",
        "proxy",
    },
    "datasets": {"title", "licence", "citation", "access", "mirror", "url", "invented"},
}
PARTS: Final = (
    ("code", "code of "),
    ("prompt", "prompts of "),
    ("model", "what is learnt by "),
)


def relisted_versions(*sides: Iterable[Params]) -> set[str]:
    """Return joint versions that differ without an edit; a side has all its stages' settings."""
    lists = []
    for side in sides:
        params = [
            keys
            for files in side
            for file, keys in files.items()
            if _of_benchmark(file)
        ]
        names = [name for group in JOINT.values() for name in group]
        lists.append(
            {name: keys[name] for keys in params for name in names if name in keys}
        )
    return {
        key
        for key, group in JOINT.items()
        if any(lists[0].get(name) != lists[1].get(name) for name in group)
    }


def changed_params(
    before: Params, after: Params, ignored: Collection[str] = ()
) -> Differing:
    """Return kind and name of each setting and version that a stage uses and that differs.

    `ignored`: joint versions to ignore, from `relisted_versions`.
    """
    differing: Differing = []
    one_sided: Differing = []
    used = _used(before, after)
    for file in dict.fromkeys([*after, *before]):
        old, new = before.get(file, {}), after.get(file, {})
        for key in dict.fromkeys([*new, *old]):
            if key not in old or key not in new:
                # A list chooses another name, or dvc.yaml watches something else.
                one_sided.append(
                    ("code" if file == CODE else "settings", f"{file} > {key}")
                )
            elif file == CODE and key.split(".")[0] not in ignored:
                differing += _versions(key, str(old[key]), str(new[key]))
            elif file != CODE:
                differing += _settings(file, key, old[key], new[key], used)
    return differing or one_sided


def _used(*sides: Params) -> dict[str, set[str]]:
    """Return the names that a stage uses of blocks that it reads whole."""
    used: dict[str, set[str]] = {block: set() for block in (*LISTED, MODELS, ENDPOINTS)}
    for side in sides:
        params = [keys for file, keys in side.items() if _of_benchmark(file)]
        for block, lists in LISTED.items():
            listed = (keys.get(name) or () for keys in params for name in lists)
            used[block].update(name for names in listed for name in names)
        shared = side.get(str(PARAMS), {})
        blocks = [value for key, value in shared.items() if "." in key]
        blocks += [_picked(shared.get(block), used[block]) for block in LISTED]
        models = shared.get(MODELS) or {}
        answering = {
            name for block in blocks for name in _models_in(block) if name in models
        }
        used[MODELS] |= answering
        used[ENDPOINTS] |= {str(models[name].get("endpoint")) for name in answering}
    return used


def _of_benchmark(file: str) -> bool:
    return file.startswith(f"{BENCHMARKS}/")


def _picked(block: object, names: Iterable[str]) -> dict[str, Any]:
    return {n: block[n] for n in names if n in block} if isinstance(block, dict) else {}


def _models_in(block: object) -> Iterator[str]:
    """Yield the models that a block names, at any depth: a jury's members have their own."""
    if isinstance(block, dict):
        for key, value in block.items():
            if key == "model" and isinstance(value, str):
                yield value
            yield from _models_in(value)


def _settings(
    file: str, key: str, before: Any, after: Any, used: Mapping[str, set[str]]
) -> Iterator[tuple[str, str]]:
    block = key.split(".", maxsplit=1)[0]
    if file == str(PARAMS) and key in used:
        names = sorted(used[key])
        before, after = _picked(before, names), _picked(after, names)
        yield from (
            difference
            for name in names
            if name in before and name in after  # else a list tells which is used now
            for difference in _leaves(f"{key}.{name}", block, before[name], after[name])
        )
        return
    where = key if file == str(PARAMS) else f"{file} > {key}"
    for kind, what in _leaves(where, block, before, after):
        yield (
            ("data", where) if file == str(REGISTRY) or key in OF_DATA else (kind, what)
        )


def _leaves(
    where: str, block: str, before: Any, after: Any
) -> Iterator[tuple[str, str]]:
    """Yield the settings of a block that differ, each with its kind."""
    if before == after:
        return
    if not isinstance(before, dict) or not isinstance(after, dict):
        key = where.rpartition(" > ")[2]
        yield (
            "model"
            if key in OF_MODEL
            else "prompt"
            if key in OF_PROMPT
            else "settings",
            where,
        )
        return
    for key in dict.fromkeys([*after, *before]):
        if key not in NO_NUMBER.get(block, ()):
            yield from _leaves(
                f"{where} > {key}", block, before.get(key), after.get(key)
            )


def _versions(key: str, before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield what differs in a version: CODE, CODE+PROMPTS or CODE+PROMPTS+LEARNT, hashes or ""."""
    if before == after:
        return
    block, _, name = key.partition(".")
    # A joint version is over all that a benchmark names in a block.
    what = f"stage {name}" if block == STAGES else JOINT.get(block, (key,))[0]
    pairs = list(zip(split_version(before), split_version(after), strict=True))
    differ = [bool(left and right and left != right) for left, right in pairs]
    if not any(differ):  # a hash that only one side has is no sign of an edit
        yield "code", f"code of {what}"
    for (kind, lead), differs in zip(PARTS, differ, strict=True):
        if differs:
            yield kind, f"{lead}{what}"
