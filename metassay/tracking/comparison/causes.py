"""Why numbers differ: what two locks of one benchmark say that went in, and only the roots of it.

Going back from the scores, what a stage made differs for its own settings, code or inputs (roots),
or since an earlier stage made something else. Where nothing that went in differs, the same
questions got other answers. Of blocks that DVC watches whole, only what a stage's own blocks name
is a cause.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from metassay.core.options import BENCHMARKS, PARAMS
from metassay.datasets.registry import REGISTRY
from metassay.tracking.comparison.sides import Lock, outs_of
from metassay.versions.code_yaml import FILE as CODE
from metassay.versions.code_yaml import JOINT, STAGES, parts_of

TARGETS: Final = ("scores.parquet", "leaderboard.parquet", "certificates.parquet")
KINDS: Final = ("data", "prompt", "model", "settings", "code", "answers")


class Cause(NamedTuple):
    """One root: its kind (one of KINDS), the first stage that it reaches, and what it is."""

    kind: str
    stage: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what} (stage {self.stage})"


def causes(before: Lock, after: Lock) -> list[Cause]:
    """The roots of what differs in the scores; if these are alike, in leaderboard or certificates.

    In the order of the DAG, each once, with the first stage that it reaches. A root is a possible
    cause: the locks cannot tell how much each did.
    """
    pair = _Pair(before, after)
    for target in TARGETS:
        differing = [path for path in pair.outs if path.endswith("/" + target) and pair.moved(path)]
        if differing:
            reached = _reached(pair, differing)
            found = [one for stage in pair.stages if stage in reached for one in _own(pair, stage)]
            return _once(found) or [
                Cause("settings", stage, f"{'with' if stage in pair.after else 'without'} {stage}")
                for stage in pair.stages
                if (stage in pair.after) != (stage in pair.before)
            ]
    return []


class _Pair:
    """Two locks side by side."""

    def __init__(self, before: Lock, after: Lock) -> None:
        self.before, self.after = before["stages"], after["stages"]
        # The later lock's order is that of the DAG; what is gone comes where it was.
        self.stages = list(dict.fromkeys([*self.after, *self.before]))
        sides = (self.before, self.after)
        self.relisted = relisted(
            *([stage.get("params") or {} for stage in stages.values()] for stages in sides)
        )
        self._made = outs_of(before), outs_of(after)
        self.outs = dict.fromkeys([*self._made[1], *self._made[0]])
        self.makers = {
            str(out["path"]): name
            for stages in sides
            for name, stage in stages.items()
            for out in stage.get("outs") or ()
        }

    def moved(self, path: str) -> bool:
        """Whether an output differs, or is on one side only."""
        return self._made[0].get(path) != self._made[1].get(path)

    def sides(self, stage: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """What both locks say of a stage; nothing where one has none of that name."""
        return self.before.get(stage, {}), self.after.get(stage, {})

    def inside(self, dependency: str) -> list[str]:
        """The outputs of stages that a dependency is, or holds."""
        return [o for o in self.outs if o == dependency or o.startswith(dependency + "/")]


def _reached(pair: _Pair, paths: list[str]) -> set[str]:
    """The stages behind these outputs, by way of outputs that differ."""
    found: set[str] = set()
    waiting = list(paths)
    while waiting:
        stage = pair.makers[waiting.pop()]
        if stage in found:
            continue
        found.add(stage)
        for dependency in _changed_dependencies(pair, stage):
            waiting += [path for path in pair.inside(dependency) if pair.moved(path)]
    return found


def _changed_dependencies(pair: _Pair, stage: str) -> list[str]:
    one, other = (
        {str(d["path"]): d.get("md5") for d in side.get("deps") or ()} for side in pair.sides(stage)
    )
    return [path for path in dict.fromkeys([*one, *other]) if one.get(path) != other.get(path)]


def _own(pair: _Pair, stage: str) -> list[Cause]:
    """What of a stage's own differs; `answers` where nothing that goes into it does."""
    before, after = pair.sides(stage)
    if not before or not after:
        return []  # which list names it is a setting that a later stage reads
    changed = _changed_dependencies(pair, stage)
    found = [Cause(_kind_of_file(path), stage, path) for path in changed if not pair.inside(path)]
    read = changed_params(before.get("params") or {}, after.get("params") or {}, pair.relisted)
    found += [Cause(kind, stage, what) for kind, what in read]
    if not found and before.get("cmd") != after.get("cmd"):
        found.append(Cause("code", stage, f"the command of {stage}"))
    if not found and not changed:
        found.append(Cause("answers", stage, f"{stage}: the same questions, other answers"))
    return found


def _kind_of_file(path: str) -> str:
    room = path.split("/", maxsplit=1)[0]
    if room in ("rubrics", "prompts"):
        return "prompt"
    return "model" if path.startswith(("data/judges", "data/segmenters")) else "data"


def _once(found: list[Cause]) -> list[Cause]:
    """Each root once, and a joint version only where none of what it is over is named."""
    first: dict[tuple[str, str], Cause] = {}
    for cause in found:
        first.setdefault((cause.kind, cause.what), cause)
    return [
        cause
        for (kind, what), cause in first.items()
        if not any(kind == k and w.startswith(f"{what}.") for k, w in first)
    ]


Params = Mapping[str, Mapping[str, Any]]  # file -> key as dvc.yaml writes it -> value
Found = list[tuple[str, str]]  # kind of cause, what

# Blocks that are read whole, and the lists of a benchmark that say which of their names it uses.
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
        *("key_env", "concurrency", "requests_per_minute", "tokens_per_minute", "timeout"),
        *("sends", "proxy"),
    },
    "datasets": {"title", "licence", "citation", "access", "mirror", "url", "invented"},
}
PARTS: Final = (("code", "code of "), ("prompt", "prompts of "), ("model", "what is learnt by "))


def relisted(*sides: Iterable[Params]) -> set[str]:
    """The joint versions whose names differ: they differ without an edit, as a list says.

    Each side has the settings of all its stages.
    """
    named = []
    for side in sides:
        own = [keys for one in side for file, keys in one.items() if _of_benchmark(file)]
        every = [one for group in JOINT.values() for one in group]
        named.append({one: keys[one] for keys in own for one in every if one in keys})
    return {
        key
        for key, group in JOINT.items()
        if any(named[0].get(o) != named[1].get(o) for o in group)
    }


def changed_params(before: Params, after: Params, apart: Collection[str] = ()) -> Found:
    """Kind and name of each setting and version that a stage uses and that differs.

    `apart`: joint versions that say nothing, from `relisted`.
    """
    found: Found = []
    one_sided: Found = []
    used = _used(before, after)
    for file in dict.fromkeys([*after, *before]):
        ours, theirs = before.get(file, {}), after.get(file, {})
        for key in dict.fromkeys([*theirs, *ours]):
            if key not in ours or key not in theirs:
                # Another name is chosen, which a list says; or dvc.yaml watches something else.
                one_sided.append(("code" if file == CODE else "settings", f"{file} > {key}"))
            elif file == CODE and key.split(".")[0] not in apart:
                found += _versions(key, str(ours[key]), str(theirs[key]))
            elif file != CODE:
                found += _settings(file, key, ours[key], theirs[key], used)
    return found or one_sided


def _used(*sides: Params) -> dict[str, set[str]]:
    """The names that a stage uses of blocks that it reads whole."""
    used: dict[str, set[str]] = {block: set() for block in (*LISTED, MODELS, ENDPOINTS)}
    for side in sides:
        own = [keys for file, keys in side.items() if _of_benchmark(file)]
        for block, lists in LISTED.items():
            named = (keys.get(one) or () for keys in own for one in lists)
            used[block].update(name for names in named for name in names)
        shared = side.get(str(PARAMS), {})
        blocks = [value for key, value in shared.items() if "." in key]
        blocks += [_picked(shared.get(block), used[block]) for block in LISTED]
        models = shared.get(MODELS) or {}
        asked = {name for block in blocks for name in _asked(block) if name in models}
        used[MODELS] |= asked
        used[ENDPOINTS] |= {str(models[name].get("endpoint")) for name in asked}
    return used


def _of_benchmark(file: str) -> bool:
    return file.startswith(f"{BENCHMARKS}/")


def _picked(block: object, names: Iterable[str]) -> dict[str, Any]:
    return {n: block[n] for n in names if n in block} if isinstance(block, dict) else {}


def _asked(block: object) -> Iterator[str]:
    """The models that a block names, at any depth: a jury's members have their own."""
    if isinstance(block, dict):
        for key, value in block.items():
            if key == "model" and isinstance(value, str):
                yield value
            yield from _asked(value)


def _settings(
    file: str, key: str, before: Any, after: Any, used: Mapping[str, set[str]]
) -> Iterator[tuple[str, str]]:
    block = key.split(".", maxsplit=1)[0]
    if file == str(PARAMS) and key in used:
        names = sorted(used[key])
        before, after = _picked(before, names), _picked(after, names)
        yield from (
            one
            for name in names
            if name in before and name in after  # else a list says which is used now
            for one in _leaves(f"{key}.{name}", block, before[name], after[name])
        )
        return
    where = key if file == str(PARAMS) else f"{file} > {key}"
    for kind, what in _leaves(where, block, before, after):
        of_data = file == str(REGISTRY) or key in OF_DATA
        yield ("data", where) if of_data else (kind, what)


def _leaves(where: str, block: str, before: Any, after: Any) -> Iterator[tuple[str, str]]:
    """The settings of a block that differ, each with its kind."""
    if before == after:
        return
    if not isinstance(before, dict) or not isinstance(after, dict):
        key = where.rpartition(" > ")[2]
        yield "model" if key in OF_MODEL else "prompt" if key in OF_PROMPT else "settings", where
        return
    for key in dict.fromkeys([*after, *before]):
        if key not in NO_NUMBER.get(block, ()):
            yield from _leaves(f"{where} > {key}", block, before.get(key), after.get(key))


def _versions(key: str, before: str, after: str) -> Iterator[tuple[str, str]]:
    """A version is CODE, CODE+PROMPTS or CODE+PROMPTS+LEARNT, each a hash or empty."""
    if before == after:
        return
    block, _, name = key.partition(".")
    # A joint version is over all that a benchmark names in a block.
    what = f"stage {name}" if block == STAGES else JOINT.get(block, (key,))[0]
    pairs = list(zip(parts_of(before), parts_of(after), strict=True))
    differ = [bool(one and other and one != other) for one, other in pairs]
    if not any(differ):  # what one side alone has is no sign of an edit
        yield "code", f"code of {what}"
    for (kind, of), differs in zip(PARTS, differ, strict=True):
        if differs:
            yield kind, f"{of}{what}"
