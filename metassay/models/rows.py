"""Outputs of a model for inputs of one or several texts: computed once, in batches.

Texts are truncated by tokens and joined by the tokenizer. Text is never read as a
special token. Batches are padded and masked, so that an output does not depend on the
batch, to the stored decimals.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.models import extra
from metassay.models.batches import batch_by_length, pad_rows
from metassay.models.loading import Network, NetworkOptions, identify
from metassay.models.outputs import STORE, Task, device_kind, outputs

PACKAGES = ("transformers", "tokenizers", "torch")
PLACES = 8  # stored decimals: all stable in float64, about five in float32

# Called with inputs and the tokens of a batch, it yields outputs by place.
Scores = Callable[[Sequence[Any], int], Iterable[Mapping[int, Any]]]


class Limits(Options):
    """How much a model reads at once.

    `max_tokens`: the longest input (of each text, for models that read two texts
    separately); null for the model's limit. `batch_tokens`: tokens that are read at
    once, with padding (about 512 for a processor, 8192 for a GPU); it affects speed,
    and last digits at most.
    """

    max_tokens: int | None = Field(default=None, ge=5)
    batch_tokens: int = Field(default=512, ge=1)


class Row(NamedTuple):
    """An input as tokens by argument of the model; `context`: data of `read` for `give`."""

    features: dict[str, list[int]]
    context: Any


@dataclass(frozen=True)
class Runner:
    """A loaded model: `read` makes a row of an input's texts, `give` the outputs of a batch.

    `give` gets tensors by name, padded with `pad` (other numbers with 0), with an
    `attention_mask` for `input_ids`, and the rows. `left`: padding is before the
    tokens.
    """

    read: Callable[..., Row]
    give: Callable[[dict[str, Any], Sequence[Row]], Iterable[Any]]
    pad: int
    device: str
    left: bool = False

    def scores(
        self, inputs: Sequence[tuple[str, ...]], batch_tokens: int
    ) -> Iterator[dict[int, Any]]:
        """Yield outputs by place, batch by batch; BadInput if the memory is too small."""
        rows = [self.read(*texts) for texts in inputs]
        sources = [row.features["input_ids"] for row in rows]
        targets = [len(row.features.get("decoder_input_ids", ())) for row in rows]
        # rows with the same source, which an encoder reads once
        units: list[list[int]] = []
        sizes: list[int] = []
        for place in sorted(range(len(rows)), key=lambda i: (sources[i], targets[i])):
            size, target = len(sources[place]), targets[place]
            same_source = (
                bool(units and target) and sources[units[-1][0]] == sources[place]
            )
            if same_source and sizes[-1] - size + target <= batch_tokens:
                units[-1].append(place)
                sizes[-1] += target
            else:
                units.append([place])
                sizes.append(size + target)
        for batch in batch_by_length(sizes, batch_tokens):
            places = [place for unit in batch for place in units[unit]]
            yield dict(
                zip(places, self._batch([rows[place] for place in places]), strict=True)
            )

    def _batch(self, rows: Sequence[Row]) -> list[Any]:
        torch = extra.module("torch")
        arrays: dict[str, Any] = {}
        for name in rows[0].features:
            pad = self.pad if name.endswith("input_ids") or name == "labels" else 0
            values = [row.features[name] for row in rows]
            arrays[name], masks = pad_rows(values, pad, left=self.left)
            if name == "input_ids":
                arrays["attention_mask"] = masks
        tensors = {
            name: torch.tensor(array, device=self.device)
            for name, array in arrays.items()
        }
        try:
            with torch.inference_mode():
                return list(self.give(tensors, rows))
        except torch.OutOfMemoryError:
            raise BadInput(
                f"{self.device} has too little memory for {len(rows)} inputs of"
                f" {len(arrays['input_ids'][0])} tokens; lower `batch_tokens`, `max_tokens` or"
                " `window`"
            ) from None


def compute_outputs(
    task: Task,
    inputs: Sequence[tuple[str, ...]],
    load: Callable[[], Scores],
    batch_tokens: int,
    *,
    store: Path = STORE,
) -> list[Any]:
    """Return the output of each input, from the store, or from the model loaded by `load`."""
    cached_load = functools.cache(load)

    def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
        for batch in cached_load()([inputs[place] for place in missing], batch_tokens):
            yield {missing[i]: output for i, output in batch.items()}

    return outputs(task, inputs, compute, store=store)


def task_of(name: str, options: NetworkOptions, method: int, **settings: Any) -> Task:
    """Return the task of a model; raise `method` when the computation changes."""
    all_settings = {"method": method, "dtype": options.dtype, **settings}
    return Task(name, identify(options), options.device, all_settings, PACKAGES)


def recipe_of(network: NetworkOptions, options: Any, *names: str) -> str:
    """Describe a model and these options, which can change more than last digits."""
    recipe = {"model": identify(network).name, "device": device_kind(network.device)}
    recipe |= {"dtype": network.dtype} | {
        name: str(getattr(options, name)) for name in names
    }
    recipe |= {name: extra.version(name) for name in PACKAGES}
    return "|".join(f"{name}:{value}" for name, value in recipe.items())


def padding_of(network: Network, model: str, *, otherwise: int | None = None) -> int:
    """Return the padding token; BadInput if the model has none."""
    padding = network.tokenizer.pad_token_id
    pad: int | None = otherwise if padding is None else padding
    if pad is None:
        raise BadInput(f"model {model!r} has no padding token; take another one")
    return pad


def encoder_of(network: Network, model: str) -> Any:
    """Return a tokenizer's encoder (tokenizers.Tokenizer), without truncation and padding.

    Special tokens in a text (`</s>`) are read as plain characters. Raises BadInput if
    the tokenizer has none.
    """
    if not network.tokenizer.is_fast:
        raise BadInput(
            f"model {model!r} has no fast tokenizer; take a model that has one"
        )
    encoder = network.tokenizer.backend_tokenizer
    encoder.no_truncation()
    encoder.no_padding()
    encoder.encode_special_tokens = True
    return encoder


def features_of(network: Network, joined: Any) -> dict[str, list[int]]:
    """Return the features of an encoding: tokens, and token types if the model reads them."""
    accepted = inspect.signature(network.weights.forward).parameters
    features = {"input_ids": list(joined.ids)}
    if (
        "token_type_ids" in network.tokenizer.model_input_names
        and "token_type_ids" in accepted
    ):
        features["token_type_ids"] = list(joined.type_ids)
    return features


def unread(whole: int, read: int) -> float:
    """Return the share of tokens that were not read; 0 without tokens."""
    return 1 - read / whole if whole else 0.0


def finite(numbers: Any) -> list[float] | None:
    """Return a tensor's numbers to the stored decimals; None if one is not finite."""
    if not bool(extra.module("torch").isfinite(numbers).all()):
        return None
    return [round(number, PLACES) for number in numbers.double().tolist()]
