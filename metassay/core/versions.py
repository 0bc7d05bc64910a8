"""Declared versions: whoever changes the results of a stage or a kind raises its version.

A stage declares its `version` in the table of stages, a kind `VERSION` in its module.
DVC reads them in versions.yaml, and runs again what has another version. A kind of a
user's own that declares none has the hash of its module's file.
docs/decisions/declared-versions.md says why.

An entry of versions.yaml has all that a named block stands for besides its settings in
params.yaml: the version of its kind, those of the kinds inside it, the hashes of its
prompts and of files with learnt coefficients, and what an answer of its language model
depends on.
"""

import hashlib
import importlib
import os
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, collect_problems, raise_problems
from metassay.core.kinds import Chosen, choose, imports_from, is_path, object_at
from metassay.core.options import PARAMS, Block
from metassay.core.params import Params
from metassay.core.stages import REGISTRY, VERSIONS, stage_versions, used_blocks

FILE = VERSIONS
STAGES, DATASETS = "stages", "datasets"
REMEDY = "run `metassay update`, then this again"
HEADER = """\
# Written by `metassay update`; commit it. Declared versions of stages, and of the kinds
# of named blocks that are used. Whoever changes results raises a version; DVC reruns
# what depends on it.
"""
DIGITS = 16  # of a SHA-256 in hexadecimal: 64 bits

# The blocks whose entries have a kind: the module with the indexes of kinds, and their
# names there. `datasets` are in the registry, where a kind is called `reader`; all
# others are in params.yaml.
KINDS: Mapping[str, tuple[str, ...]] = {
    DATASETS: (
        "metassay.datasets.readers",
        "READERS",
        "ITEM_READERS",
        "SENTENCE_READERS",
    ),
    "segmentations": ("metassay.units", "SEGMENTATIONS"),
    "decompositions": ("metassay.units", "DECOMPOSITIONS"),
    "alignments": ("metassay.units.alignment", "ALIGNMENTS"),
    "systems": ("metassay.generation", "SYSTEMS"),
    "judges": ("metassay.judges", "JUDGES"),
    "metrics": ("metassay.metrics", "METRICS"),
    "costly_metrics": ("metassay.metrics", "METRICS"),
    "statement_metrics": ("metassay.metrics.faithfulness", "FAITHFULNESS"),
}

# Settings on which no answer of a language model depends: what it costs, how fast it is
# asked, and what one needs to be let in.
NO_ANSWER: Mapping[str, frozenset[str]] = {
    "models": frozenset({"prices", "tokenizer", "mode"}),
    "endpoints": frozenset(
        {
            "key_env",
            "header_env",
            "concurrency",
            "requests_per_minute",
            "tokens_per_minute",
            "timeout",
            "sends",
            "proxy",
            "batch",
            "wait_s",
        }
    ),
}

# A number or a hash; with prompts, members and the like a mapping, whose key `version`
# has it.
Version = int | str | dict[str, Any]
Versions = dict[str, dict[str, Version]]


def index_of(block: str) -> dict[str, str]:
    """Return the kinds that a block may name: kind -> `module`, or `module:NAME`."""
    module, *names = KINDS[block]
    room = importlib.import_module(module)
    return {kind: path for name in names for kind, path in getattr(room, name).items()}


def versions(root: Path, params: Params) -> Versions:
    """Return the versions of all stages, and of the named blocks that folders of benchmarks/ use.

    `root` is the project's folder. Raises BadInput with every module that can't be
    imported, every version that is no number, and every file that is missing.
    """
    used: dict[str, set[str]] = {block: set() for block in KINDS}
    for folder in params.every.values():
        for block, of_folder in used_blocks(folder).items():
            used[block].update(of_folder)
    collected: Versions = {STAGES: dict(stage_versions())}
    problems: list[str] = []
    for block, names in used.items():
        collected[block] = {}
        for name in sorted(names):
            with collect_problems(problems):
                collected[block][name] = version_of(root, params, block, name)
    raise_problems(dict.fromkeys(problems))
    return collected


def version_of(root: Path, params: Params, block: str, name: str) -> Version:
    """Return the version of a stage or a named block, such as `rouge` of `metrics`.

    Raises BadInput as `versions`.
    """
    if block == STAGES:
        return stage_versions()[name]
    index = index_of(block)
    with imports_from(root):
        if block == DATASETS:
            return declared_version(
                _reader(name, index), f"{REGISTRY} > {DATASETS} > {name}"
            )
        where = f"{PARAMS} > {block} > {name}"
        chosen = choose(index, getattr(params, block)[name], where=where)
        return _describe(chosen, index, params, where)


def declared_version(path: str, where: str) -> int | str:
    """Return the `VERSION` of the module of a kind; without one, the hash of the module's file.

    `path` is `module` or `module:NAME`. Kinds of one module share its version.
    """
    module = sys.modules.get(path.partition(":")[0])
    if module is None:
        object_at(path, "__name__", where=where)  # which imports it
        module = sys.modules[path.partition(":")[0]]
    declared = getattr(module, "VERSION", None)
    if declared is None:
        file = getattr(module, "__file__", None)
        if file is None:
            raise BadInput(
                f"{where}: {module.__name__} has no file; give it VERSION = 1"
            )
        # The project's own file, wherever a module of this name was imported from before.
        local = Path(*module.__name__.split(".")).with_suffix(".py")
        return hash_of(local if local.is_file() else Path(file))
    if type(declared) is not int:
        raise BadInput(
            f"{where}: {module.__name__}.VERSION is {declared!r}; write a whole number"
        )
    return declared


@lru_cache(maxsize=1)
def _registry(content: bytes) -> Any:  # noqa: ARG001 - the key: each reader asks for it
    """Return the registry, which is parsed again only if its `content` changed."""
    return strict_yaml.load(Path(REGISTRY))


def _reader(name: str, index: Mapping[str, str]) -> str:
    path = Path(REGISTRY)
    registry = _registry(path.read_bytes() if path.is_file() else b"")
    if not isinstance(registry, dict) or not registry.get(DATASETS):
        raise BadInput(f"{REGISTRY}: has no {DATASETS}; restore the file")
    block = registry[DATASETS].get(name)
    reader = str(block.get("reader")) if isinstance(block, dict) else "nothing"
    if reader not in index and not is_path(reader):
        raise BadInput(
            f"{REGISTRY} > {DATASETS} > {name} > reader: {reader!r} is not known; choose from"
            f" {', '.join(index)}"
        )
    return index.get(reader, reader)


def _describe(
    chosen: Chosen, index: Mapping[str, str], params: Params, where: str
) -> Version:
    """Return the version of a kind with those of the kinds inside it, and of what it reads."""
    record, options = chosen.record, chosen.options
    entry: dict[str, Any] = {
        "version": declared_version(index.get(chosen.kind, chosen.kind), where)
    }
    for name, member in record.members(options).items():
        inside = entry.setdefault("members", {})
        inside[name] = _describe(member, index, params, f"{where} > members > {name}")
    for file in record.files(options):
        path = Path(os.path.relpath(file.path))
        if not path.is_file():
            raise BadInput(f"{where}: reads {path}, which does not exist; add the file")
        kind = "learnt" if file.filled is None else "prompts"
        entry.setdefault(kind, {})[path.as_posix()] = hash_of(path)
    use = record.model(options)
    if use is not None:
        entry["models"] = {
            use.model: answering(params.models, params.endpoints, use.model)
        }
    return entry if len(entry) > 1 else entry["version"]


def answering(
    models: Mapping[str, Block], endpoints: Mapping[str, Block], name: str
) -> dict[str, Any]:
    """Return the settings of a model and its endpoint that an answer depends on."""
    model = models.get(name, {})
    endpoint = endpoints.get(str(model.get("endpoint")), {})
    rest = _drop_keys(model, NO_ANSWER["models"] | {"endpoint"})
    return {**rest, "endpoint": _drop_keys(endpoint, NO_ANSWER["endpoints"])}


def _drop_keys(block: Block, keys: Iterable[str]) -> Block:
    return {key: value for key, value in block.items() if key not in keys}


def hash_of(file: Path) -> str:
    """Return the hash of a file's bytes; CRLF counts as LF, since git writes CRLF on Windows."""
    content = file.read_bytes().replace(b"\r\n", b"\n")
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def find_stale(root: Path, params: Params, keys: Iterable[str]) -> list[str]:
    """Compare versions.yaml with what is declared; `keys` are such as `metrics.rouge`.

    Returns a line, with its remedy, for each entry that is missing or differs. Raises
    BadInput as `versions`.
    """
    recorded = read(root)
    problems = []
    for key in keys:
        block, _, name = key.partition(".")
        version = recorded.get(block, {}).get(name)
        if version is None:
            problems.append(f"{FILE} > {block} > {name}: is missing; {REMEDY}")
        elif version != version_of(root, params, block, name):
            problems.append(
                f"{FILE} > {block} > {name}: is not the version here; {REMEDY}"
            )
    return problems


def read(root: Path) -> Versions:
    """Read versions.yaml; empty if it is absent, or unreadable (for example after a merge)."""
    try:
        content = yaml.load(
            (root / FILE).read_text(encoding="utf-8"), Loader=strict_yaml.LOADER
        )
        return {block: dict(names) for block, names in content.items()}
    except (OSError, ValueError, yaml.YAMLError, AttributeError, TypeError):
        return {}


def format_yaml(collected: Versions) -> str:
    """Return the text of versions.yaml, the same for the same versions."""
    text: str = yaml.dump(
        collected, sort_keys=False, allow_unicode=True, width=1000, Dumper=_Dumper
    )
    return HEADER + text


class _Dumper(yaml.SafeDumper):
    """Hashes stand in quotes: some readers of YAML take 12345678901234e5 for a number."""


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    is_hash = len(text) == DIGITS and set(text) <= set("0123456789abcdef")
    style = '"' if is_hash else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _quoted)
