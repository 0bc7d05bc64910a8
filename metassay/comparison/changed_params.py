"""Which settings and versions of code differ between two runs of a stage, of those that it uses.

DVC watches some blocks of params.yaml whole (all models, all metrics), so that a stage reruns if
any name in them changes. A cause is only what the stage's own blocks name.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from metassay.code_version import FILE as CODE
from metassay.code_version import JOINT, STAGES, parts_of
from metassay.datasets.registry import REGISTRY
from metassay.options import BENCHMARKS, PARAMS

Params = Mapping[str, Mapping[str, Any]]  # file -> key as dvc.yaml writes it -> value
Found = list[tuple[str, str]]  # kind of cause, what

# Blocks that are read whole, and the lists of a benchmark that say which of their names it uses.
LISTED: Final[Mapping[str, tuple[str, ...]]] = {
    "metrics": ("metrics",),
    "decompositions": ("decompositions", "released_claims"),
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
PROMPTS_OF: Final = "prompts of "
PARTS: Final = (("code", "code of "), ("prompt", PROMPTS_OF), ("model", "what is learnt by "))


def relisted(*sides: Iterable[Params]) -> set[str]:
    """The joint versions whose names differ: they differ without an edit, as a list says.

    Each side has the settings of all its stages.
    """
    lists = {key: LISTED.get(block, (block,)) for key, block in JOINT.items()}
    named = []
    for side in sides:
        own = [keys for one in side for file, keys in one.items() if _own(file)]
        named.append(
            {
                one: keys[one]
                for keys in own
                for group in lists.values()
                for one in group
                if one in keys
            }
        )
    return {
        key
        for key, group in lists.items()
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
        own = [keys for file, keys in side.items() if _own(file)]
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


def _own(file: str) -> bool:
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
        yield _kind(where.rpartition(" > ")[2]), where
        return
    for key in dict.fromkeys([*after, *before]):
        if key not in NO_NUMBER.get(block, ()):
            yield from _leaves(f"{where} > {key}", block, before.get(key), after.get(key))


def _kind(key: str) -> str:
    return "model" if key in OF_MODEL else "prompt" if key in OF_PROMPT else "settings"


def _versions(key: str, before: str, after: str) -> Iterator[tuple[str, str]]:
    """A version is CODE, CODE+PROMPTS or CODE+PROMPTS+LEARNT, each a hash or empty."""
    if before == after:
        return
    block, _, name = key.partition(".")
    # A joint version is over all that a benchmark names in a block.
    what = JOINT.get(block, f"stage {name}" if block == STAGES else key)
    pairs = list(zip(parts_of(before), parts_of(after), strict=True))
    differ = [bool(one and other and one != other) for one, other in pairs]
    if not any(differ):  # what one side alone has is no sign of an edit
        yield "code", f"code of {what}"
    for (kind, of), differs in zip(PARTS, differ, strict=True):
        if differs:
            yield kind, f"{of}{what}"
