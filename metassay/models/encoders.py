"""Encoders: their first layers, the tokens that they read of a text, and one vector per token.

Layers are dropped and texts are read as bert-score 0.3.13 does it, so that scores are equal.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from metassay.core.errors import BadInput
from metassay.models import extra
from metassay.models.batches import by_length, padded
from metassay.models.digits import VECTORS, on_grid
from metassay.models.loading import NO_LIMIT, NetworkOptions, load, places, told_limit

# Where the layers of an encoder are: as a list, or (XLM, ALBERT) as a number of times.
_LISTS = ("layer", "encoder.block", "block", "encoder.layer", "transformer.layer", "layers")
_COUNTS = ("n_layers", "encoder.config.num_hidden_layers")


class EncoderOptions(NetworkOptions):
    """An encoder.

    `layers`: which layer's vectors (1: the first); null for bert-score's choice for this name on
    the hub, and else the last. `batch_tokens`: how many tokens are encoded at once, padding
    included (about 512 suits a processor, 32768 a GPU); it is for speed, and changes last digits at
    most.
    """

    layers: int | None = Field(default=None, ge=1)
    batch_tokens: int = Field(default=512, ge=1)


class Encoder(NamedTuple):
    """A model that gives one vector per token; `limit`: the most tokens that it reads, if any."""

    tokenizer: Any
    weights: Any
    device: str
    limit: int | None


class Tokens(NamedTuple):
    """What an encoder reads of a text, special tokens too; `unread`: the share that it does not."""

    numbers: list[int]
    unread: float


def load_encoder(options: NetworkOptions, layers: int | None = None) -> Encoder:
    """Load the first `layers` layers of an encoder, or of an encoder-decoder's encoder; None: all.

    Raises BadInput as `loading.load` does, and if the model has fewer layers.
    """
    tokenizer, weights = load("AutoModel", options)
    if hasattr(weights, "encoder") and hasattr(weights, "decoder"):
        weights = weights.encoder
    if layers is not None:
        _keep_first(weights, layers, options.model)
    if tokenizer.pad_token_id is None:
        raise BadInput(f"model {options.model!r} has no padding token; take another encoder")
    return Encoder(
        tokenizer,
        weights,
        options.device,
        min([*told_limit(tokenizer), *places(weights)], default=None),
    )


def tokens(encoder: Encoder, texts: Sequence[str]) -> list[Tokens]:
    """The tokens of each text; what is past the encoder's limit is cut off."""
    encode = extra.module("bert_score.utils").sent_encode
    limit = NO_LIMIT if encoder.limit is None else encoder.limit
    read = []
    for text in texts:
        encoder.tokenizer.model_max_length = limit + 1  # one more tells a cut text from a full one
        numbers = encode(encoder.tokenizer, text)
        unread = 0.0
        if len(numbers) > limit:
            encoder.tokenizer.model_max_length = limit
            numbers = encode(encoder.tokenizer, text)
            unread = 1 - len(numbers) / len(encoder.tokenizer(text, verbose=False)["input_ids"])
        read.append(Tokens(numbers, unread))
    return read


def encoded(
    encoder: Encoder, rows: Sequence[Sequence[int]], batch_tokens: int, **settings: bool
) -> Iterator[tuple[list[int], Any, Any]]:
    """Rows of tokens, batch by batch: their places, their tokens (padded), the encoder's output.

    A batch has rows of about one length, and at most `batch_tokens` with their padding.
    """
    torch = extra.module("torch")
    with torch.inference_mode():
        for batch in by_length([len(row) for row in rows], batch_tokens):
            filled, masks = padded([rows[place] for place in batch], encoder.tokenizer.pad_token_id)
            numbers, mask = (torch.tensor(each, device=encoder.device) for each in (filled, masks))
            yield batch, numbers, encoder.weights(numbers, attention_mask=mask, **settings)


def vectors(encoder: Encoder, rows: Sequence[Sequence[int]], batch_tokens: int) -> list[Any]:
    """For each row its vectors (torch, on the device, see `held`): tokens x dimensions."""
    found: list[Any] = [None] * len(rows)
    for batch, _, output in encoded(encoder, rows, batch_tokens):
        for row, place in zip(output[0], batch, strict=True):
            # A copy: a view would keep the whole batch with its padding.
            found[place] = held(row[: len(rows[place])]).clone()
    return found


def held(states: Any) -> Any:
    """What a network gave, to the digits that hold: of float64 on a grid, else as float32.

    On the grid (metassay/models/digits.py) vectors are the same for every processor, number of
    threads and batch; as float32 they differ by about 1e-6.
    """
    if states.dtype == extra.module("torch").float64:
        return on_grid(states, VECTORS)
    return states.float()


def _keep_first(weights: Any, layers: int, model: str) -> None:
    for path in (*_LISTS, *_COUNTS):
        *owners, name = path.split(".")
        owner = weights
        for step in owners:
            owner = getattr(owner, step, None)
        known = getattr(owner, name, None)
        if known is None:
            continue
        there = known if isinstance(known, int) else len(known)
        if not 0 <= layers <= there:
            raise BadInput(f"model {model!r} has {there} layers, not {layers}; correct `layers`")
        setattr(owner, name, layers if isinstance(known, int) else known[:layers])
        return
    raise BadInput(
        f"model {model!r}: where a {type(weights).__name__} has its layers is not known; leave"
        " `layers` out to take its last one"
    )
