"""Loading a model from a folder or from the hub, and what its content is known by."""

import functools
import hashlib
import re
from pathlib import Path
from typing import Any, Literal, NamedTuple

from metassay.errors import BadInput
from metassay.models import extra
from metassay.options import Options

_COMMIT = re.compile(r"[0-9a-f]{40}")
_HEAD = "pooler"  # a head on top of an encoder that nobody here reads


class NetworkOptions(Options):
    """A model on this machine.

    `model`: a folder, or a name on the hub, whose `revision` (the 40 digits of a commit) must then
    be given. `dtype` and `device` can change the last digits of a sum, and so, rarely, a word.
    """

    model: str
    revision: str | None = None
    device: str
    dtype: Literal["float32", "bfloat16", "float16"]


class Network(NamedTuple):
    """A model with its tokenizer."""

    tokenizer: Any
    weights: Any


class Identity(NamedTuple):
    """What a model is known by: `name` to people, in recipes; `content` to keys of the store.

    On the hub both are name@revision. A folder's content is the SHA-256 over its files, and its
    name ends in the first digits of that; its path is in neither.
    """

    name: str
    content: str


def load(kind: str, options: NetworkOptions) -> Network:
    """Load a model by one of transformers' Auto classes.

    Raises BadInput if that cannot be done, if a revision is missing or may move, or if the model's
    files lack weights, which would otherwise be drawn at random.
    """
    torch, transformers = extra.module("torch"), extra.module("transformers")
    revision = _revision(options)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(options.model, **revision)
        weights, info = getattr(transformers, kind).from_pretrained(
            options.model,
            dtype=getattr(torch, options.dtype),
            output_loading_info=True,
            **revision,
        )
    except (OSError, ValueError) as error:
        raise BadInput(
            f"model {options.model!r} cannot be loaded by {kind} ({type(error).__name__}); correct"
            " the model or what it is used as"
        ) from error
    missing = sorted(name for name in info["missing_keys"] if _HEAD not in name)
    if missing:
        raise BadInput(
            f"model {options.model!r} lacks {len(missing)} of the weights of {kind}, the first is"
            f" {missing[0]}; correct the model or what it is used as"
        )
    return Network(tokenizer, weights.to(options.device).eval())


def identify(options: NetworkOptions) -> Identity:
    """Name and content of a model, which is not loaded; BadInput if a revision is missing."""
    if _revision(options):
        name = f"{options.model}@{options.revision}"
        return Identity(name, name)
    place = Path(options.model)
    content = _content(place)
    return Identity(f"{place.resolve().name}#{content[:8]}", content)


def _revision(options: NetworkOptions) -> dict[str, str]:
    if Path(options.model).is_dir():
        return {}
    if options.revision is None:
        raise BadInput(
            f"model {options.model!r} is no folder here; correct it, or give the revision of"
            " the hub's model of that name"
        )
    if not _COMMIT.fullmatch(options.revision):
        raise BadInput(
            f"model {options.model!r}, revision {options.revision!r}: branches and tags can move;"
            " give the 40 digits of a commit (on the model's page: Files, then History)"
        )
    return {"revision": options.revision}


def _content(folder: Path) -> str:
    """SHA-256 over names and bytes of a folder's files, hidden ones apart.

    Those are notes of git and of the hub's client, which differ from one download to the next.
    """
    files = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        within = path.relative_to(folder)
        if not any(step.startswith(".") for step in within.parts):
            known = path.stat()
            files.append((path, within.as_posix(), known.st_size, known.st_mtime_ns))
    return _digest(tuple(files))


@functools.lru_cache(maxsize=16)  # recipes ask again and again, and weights are large
def _digest(files: tuple[tuple[Path, str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, within, _size, _changed in files:
        digest.update(f"{within}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
