"""Encoders: their first layers, the tokens that they read of a text, and a vector per token.

Layers are dropped and texts are read as in bert-score 0.3.13, so that scores are equal.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from metassay.core.errors import BadInput
from metassay.models import extra
from metassay.models.batches import batch_by_length, pad_rows
from metassay.models.digits import VECTORS, round_to_grid
from metassay.models.loading import (
    NO_LIMIT,
    NetworkOptions,
    load,
    places,
    tokenizer_limit,
)

# Attributes of an encoder with its layers: a list, or (XLM, ALBERT) a number of
# repetitions.
_LISTS = (
    "layer",
    "encoder.block",
    "block",
    "encoder.layer",
    "transformer.layer",
    "layers",
)
_COUNTS = ("n_layers", "encoder.config.num_hidden_layers")


class EncoderOptions(NetworkOptions):
    """An encoder.

    `layers`: the layer whose vectors are used (1: the first); null for bert-score's
    choice for this name on the hub, or else the last. `batch_tokens`: tokens that are
    encoded at once, with padding (about 512 for a processor, 32768 for a GPU); it
    affects speed, and last digits at most.
    """

    layers: int | None = Field(default=None, ge=1)
    batch_tokens: int = Field(default=512, ge=1)

    @property
    def packages(self) -> Mapping[str, str]:
        """The packages that run it; bert-score cuts texts to what it reads."""
        return {**super().packages, "bert_score": extra.INSTALL}


class Encoder(NamedTuple):
    """A model that computes a vector per token; `limit`: the most tokens that it reads, if any."""

    tokenizer: Any
    weights: Any
    device: str
    limit: int | None


class Tokens(NamedTuple):
    """The tokens that an encoder reads, with special ones; `unread`: the share that it does not."""

    numbers: list[int]
    unread: float


def load_encoder(options: NetworkOptions, layers: int | None = None) -> Encoder:
    """Load the first `layers` layers of an encoder or an encoder-decoder's encoder; None: all.

    Raises BadInput as `loading.load` does, and if the model has fewer layers.
    """
    tokenizer, weights = load("AutoModel", options)
    if hasattr(weights, "encoder") and hasattr(weights, "decoder"):
        weights = weights.encoder
    if layers is not None:
        _keep_first(weights, layers, options.model)
    if tokenizer.pad_token_id is None:
        raise BadInput(
            f"model {options.model!r} has no padding token; take another encoder"
        )
    return Encoder(
        tokenizer,
        weights,
        options.device,
        min([*tokenizer_limit(tokenizer), *places(weights)], default=None),
    )


def tokens(encoder: Encoder, texts: Sequence[str]) -> list[Tokens]:
    """Tokenize each text, truncated at the encoder's limit."""
    encode = extra.module("bert_score.utils").sent_encode
    limit = NO_LIMIT if encoder.limit is None else encoder.limit
    results = []
    for text in texts:
        # one more shows whether a text is truncated
        encoder.tokenizer.model_max_length = limit + 1
        numbers = encode(encoder.tokenizer, text)
        unread = 0.0
        if len(numbers) > limit:
            encoder.tokenizer.model_max_length = limit
            numbers = encode(encoder.tokenizer, text)
            unread = 1 - len(numbers) / len(
                encoder.tokenizer(text, verbose=False)["input_ids"]
            )
        results.append(Tokens(numbers, unread))
    return results


def locate_tokens(encoder: Encoder, text: str, read: Tokens, model: str) -> Any:
    """Return the tokenizer's encoding of a text, of which `read` has the first tokens.

    It has their places (`offset_mapping`) and words (`word_ids()`). Of a text that was
    cut, `read` ends with a mark where the encoding continues. Raises BadInput, naming
    `model`, if the tokenizer does not know the places.
    """
    offsets = {"return_offsets_mapping": encoder.tokenizer.is_fast}
    encoding = encoder.tokenizer(text, **offsets, verbose=False)
    marks = {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}
    numbers = zip(read.numbers, encoding["input_ids"], strict=False)
    if "offset_mapping" not in encoding or any(
        a != b and a not in marks for a, b in numbers
    ):
        raise BadInput(
            f"model {model!r}: the places of its tokens in a text are not known; choose an"
            " encoder with a fast tokenizer"
        )
    return encoding


def encode_batches(
    encoder: Encoder, rows: Sequence[Sequence[int]], batch_tokens: int, **settings: bool
) -> Iterator[tuple[list[int], Any, Any]]:
    """Encode rows of tokens; yields places, padded tokens and the encoder's output of each batch.

    A batch has rows of similar length, and at most `batch_tokens` with padding.
    """
    torch = extra.module("torch")
    with torch.inference_mode():
        for batch in batch_by_length([len(row) for row in rows], batch_tokens):
            arrays = pad_rows(
                [rows[place] for place in batch], encoder.tokenizer.pad_token_id
            )
            numbers, mask = (
                torch.tensor(array, device=encoder.device) for array in arrays
            )
            yield (
                batch,
                numbers,
                encoder.weights(numbers, attention_mask=mask, **settings),
            )


def vectors(
    encoder: Encoder, rows: Sequence[Sequence[int]], batch_tokens: int
) -> list[Any]:
    """Return each row's vectors (torch, on the device, see `round_states`): tokens x dimensions."""
    states: list[Any] = [None] * len(rows)
    for batch, _, output in encode_batches(encoder, rows, batch_tokens):
        for row, place in zip(output[0], batch, strict=True):
            # A copy: a view would keep the whole batch with its padding.
            states[place] = round_states(row[: len(rows[place])]).clone()
    return states


def round_states(states: Any) -> Any:
    """Round a network's output to its stable digits: float64 to a grid, others to float32.

    On the grid (metassay/models/digits.py) vectors are equal on every processor and for
    any number of threads and batch; as float32 they differ by about 1e-6.
    """
    if states.dtype == extra.module("torch").float64:
        return round_to_grid(states, VECTORS)
    return states.float()


def _keep_first(weights: Any, layers: int, model: str) -> None:
    for path in (*_LISTS, *_COUNTS):
        *owners, name = path.split(".")
        owner = weights
        for step in owners:
            owner = getattr(owner, step, None)
        layer_list = getattr(owner, name, None)
        if layer_list is None:
            continue
        n_layers = layer_list if isinstance(layer_list, int) else len(layer_list)
        if not 0 <= layers <= n_layers:
            raise BadInput(
                f"model {model!r} has {n_layers} layers, not {layers}; correct `layers`"
            )
        setattr(
            owner, name, layers if isinstance(layer_list, int) else layer_list[:layers]
        )
        return
    raise BadInput(
        f"model {model!r}: where a {type(weights).__name__} has its layers is unknown; remove"
        " `layers` to use the last one"
    )
