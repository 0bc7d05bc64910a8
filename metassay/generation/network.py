"""Language models on this machine: loading them with transformers, and decoding in batches."""

import copy
import hashlib
import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from metassay.errors import BadInput
from metassay.params import Options

# Where configurations say how many positions their model knows, by kind of model.
_POSITIONS = ("max_encoder_position_embeddings", "max_position_embeddings")
_NO_LIMIT = 10**6  # tokenizers that know no limit say 10**30
_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "typical_p")
_BEAMS_ONLY = ("early_stopping", "length_penalty")


class NetworkOptions(Options):
    """A model on this machine and how it is decoded.

    `model`: a folder, or a name on the hub, whose `revision` must then be given. `max_input`: the
    longest input in tokens; null for the model's own limit. `dtype`, `batch_size` and `device` can
    change the last digits of a sum, and so, rarely, a word. `seed` matters only to networks that
    draw numbers of their own: decoding draws none.
    """

    model: str
    revision: str | None = None
    device: str
    dtype: Literal["float32", "bfloat16", "float16"]
    batch_size: int = Field(ge=1)
    beams: int = Field(ge=1)
    max_input: int | None = Field(default=None, ge=1)
    max_new_tokens: int = Field(ge=1)
    seed: int = Field(ge=0)


class Network(NamedTuple):
    """A model with its tokenizer; `limit`: tokens of its longest input, if it has any."""

    tokenizer: Any
    weights: Any
    limit: int | None
    recipe: str


class Output(NamedTuple):
    """What was written for one input, and whether it came to an end."""

    text: str
    ended: bool


def load(kind: str, options: NetworkOptions) -> Network:
    """Load a model by one of transformers' Auto classes; BadInput if that cannot be done.

    The limit counts what a causal model will write, since it reads that too.
    """
    torch, transformers = _module("torch"), _module("transformers")
    revision = _revision(options)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(options.model, **revision)
        weights = getattr(transformers, kind).from_pretrained(
            options.model, dtype=getattr(torch, options.dtype), **revision
        )
    except (OSError, ValueError) as error:
        raise BadInput(
            f"model {options.model!r} cannot be loaded by {kind} ({type(error).__name__}); correct"
            " the model or the kind of system"
        ) from error
    weights = weights.to(options.device).eval()
    limit = _limit(tokenizer, weights.config, options)
    # What is passed to `generate` would be filled up with the model's own settings again.
    weights.generation_config = _decoding(tokenizer, weights, options)
    return Network(tokenizer, weights, limit, _recipe(options, limit))


def write(
    network: Network, inputs: Sequence[Sequence[int]], options: NetworkOptions
) -> Iterator[Output]:
    """Decode every input (token numbers, at least one), in batches in their order."""
    for start in range(0, len(inputs), options.batch_size):
        yield from _batch(network, inputs[start : start + options.batch_size], options)


def _batch(
    network: Network, inputs: Sequence[Sequence[int]], options: NetworkOptions
) -> Iterator[Output]:
    torch, weights = _module("torch"), network.weights
    goes_on = not weights.config.is_encoder_decoder
    longest = max(map(len, inputs))
    rows, masks = [], []
    for tokens in inputs:
        row, mask = list(tokens), [1] * len(tokens)
        padding = longest - len(row)
        pads, blanks = [weights.generation_config.pad_token_id] * padding, [0] * padding
        # A causal model goes on from the last place of its input, which must not be padding.
        rows.append(pads + row if goes_on else row + pads)
        masks.append(blanks + mask if goes_on else mask + blanks)
    with torch.inference_mode(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        written = weights.generate(
            input_ids=torch.tensor(rows, device=options.device),
            attention_mask=torch.tensor(masks, device=options.device),
        )
    for tokens in written[:, longest if goes_on else 1 :].tolist():
        yield _output(network, tokens, options.max_new_tokens)


def _output(network: Network, tokens: list[int], most: int) -> Output:
    decoding = network.weights.generation_config
    ends = decoding.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    end = next((at for at, token in enumerate(tokens) if token in ends), None)
    # Some models must write an end mark in the last place, whether they have finished or not.
    forced = decoding.forced_eos_token_id is not None and end == most - 1
    text = network.tokenizer.decode(tokens[:end], skip_special_tokens=True).strip()
    return Output(text, end is not None and not forced)


def _decoding(tokenizer: Any, weights: Any, options: NetworkOptions) -> Any:
    """The model's own settings, but for those that make it sample or set its length."""
    decoding = copy.deepcopy(weights.generation_config)
    decoding.update(
        do_sample=False,
        num_beams=options.beams,
        max_new_tokens=options.max_new_tokens,
        max_length=None,
        **dict.fromkeys(_SAMPLING),
        **(dict.fromkeys(_BEAMS_ONLY) if options.beams == 1 else {}),
    )
    if decoding.pad_token_id is None:
        ends = tokenizer.eos_token_id
        decoding.pad_token_id = ends if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    return decoding


def _limit(tokenizer: Any, config: Any, options: NetworkOptions) -> int | None:
    reserved = 0 if config.is_encoder_decoder else options.max_new_tokens
    known = [getattr(config, name, None) for name in _POSITIONS]
    limits = [places - reserved for places in known if places is not None][:1]
    if options.max_input is not None:
        limits.append(options.max_input)
    elif tokenizer.model_max_length < _NO_LIMIT:
        limits.append(tokenizer.model_max_length - reserved)
    return min(limits) if limits else None


def _recipe(options: NetworkOptions, limit: int | None) -> str:
    settings: dict[str, object] = {"model": _identity(options)}
    for name in ("device", "dtype", "batch_size", "beams", "max_new_tokens", "seed"):
        settings[name] = getattr(options, name)
    settings["limit"] = limit
    settings |= {name: _module(name).__version__ for name in ("transformers", "torch")}
    return "|".join(f"{name}:{value}" for name, value in settings.items())


def _revision(options: NetworkOptions) -> dict[str, str]:
    if Path(options.model).is_dir():
        return {}
    if options.revision is None:
        raise BadInput(
            f"model {options.model!r} is no folder here; correct it, or give the revision of"
            " the hub's model of that name"
        )
    return {"revision": options.revision}


def _identity(options: NetworkOptions) -> str:
    """Name and revision, or a folder's name and the hash of what is in it; never its path."""
    folder = Path(options.model)
    if not folder.is_dir():
        return f"{options.model}@{options.revision}"
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"{folder.resolve().name}#{digest.hexdigest()[:8]}"


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise BadInput(f"{name} is not installed; install metassay[models]") from None
