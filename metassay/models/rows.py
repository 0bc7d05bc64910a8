"""What a model gives for inputs of one or several texts: computed once, in batches of one length.

Texts are cut by tokens and joined as the tokenizer joins them. What a text says is never taken for
a mark of the tokenizer. Batches are padded and masked, so what an input gets is what it gets by
itself, to the decimals that are kept.
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
from metassay.models.batches import by_length, padded
from metassay.models.loading import Network, NetworkOptions, identify
from metassay.models.outputs import Task, device_kind, outputs
from metassay.models.store import STORE

PACKAGES = ("transformers", "tokenizers", "torch")
PLACES = 8  # decimals that are kept: in float64 they hold, in float32 about five do

# Handed inputs and how many tokens a batch may have, it yields outputs by place.
Scores = Callable[[Sequence[Any], int], Iterable[Mapping[int, Any]]]


class Limits(Options):
    """What a model reads at once.

    `max_tokens`: the longest input (of models that read two texts apart, of either); null for the
    model's own limit. `batch_tokens`: how many tokens are read at once, padding included (about 512
    suits a processor, 8192 a GPU); it is for speed, and changes last digits at most.
    """

    max_tokens: int | None = Field(default=None, ge=5)
    batch_tokens: int = Field(default=512, ge=1)


class Row(NamedTuple):
    """An input as tokens, by the name of the model's argument; `told`: what `read` tells `give`."""

    features: dict[str, list[int]]
    told: Any


@dataclass(frozen=True)
class Runner:
    """A loaded model: `read` makes a row of an input's texts, `give` the outputs of a batch.

    `give` is handed tensors by name, filled up with `pad` (numbers that are no tokens with 0), with
    an `attention_mask` for `input_ids`, and the rows. `left`: padding stands before the tokens.
    """

    read: Callable[..., Row]
    give: Callable[[dict[str, Any], Sequence[Row]], Iterable[Any]]
    pad: int
    device: str
    left: bool = False

    def scores(
        self, inputs: Sequence[tuple[str, ...]], batch_tokens: int
    ) -> Iterator[dict[int, Any]]:
        """Outputs by place, batch by batch; BadInput if the memory does not suffice for one."""
        rows = [self.read(*texts) for texts in inputs]
        sources = [row.features["input_ids"] for row in rows]
        targets = [len(row.features.get("decoder_input_ids", ())) for row in rows]
        units: list[list[int]] = []  # rows with the same source, which an encoder reads once
        sizes: list[int] = []
        for at in sorted(range(len(rows)), key=lambda at: (sources[at], targets[at])):
            size, more = len(sources[at]), targets[at]
            alike = bool(units and more) and sources[units[-1][0]] == sources[at]
            if alike and sizes[-1] - size + more <= batch_tokens:
                units[-1].append(at)
                sizes[-1] += more
            else:
                units.append([at])
                sizes.append(size + more)
        for batch in by_length(sizes, batch_tokens):
            places = [place for unit in batch for place in units[unit]]
            yield dict(zip(places, self._batch([rows[place] for place in places]), strict=True))

    def _batch(self, rows: Sequence[Row]) -> list[Any]:
        torch = extra.module("torch")
        filled: dict[str, Any] = {}
        for name in rows[0].features:
            pad = self.pad if name.endswith("input_ids") or name == "labels" else 0
            filled[name], masks = padded([row.features[name] for row in rows], pad, left=self.left)
            if name == "input_ids":
                filled["attention_mask"] = masks
        tensors = {name: torch.tensor(each, device=self.device) for name, each in filled.items()}
        try:
            with torch.inference_mode():
                return list(self.give(tensors, rows))
        except torch.OutOfMemoryError:
            raise BadInput(
                f"{self.device} has too little memory for {len(rows)} inputs of"
                f" {len(filled['input_ids'][0])} tokens; lower `batch_tokens`, `max_tokens` or"
                " `window`"
            ) from None


def computed(
    task: Task,
    inputs: Sequence[tuple[str, ...]],
    load: Callable[[], Scores],
    batch_tokens: int,
    *,
    store: Path = STORE,
) -> list[Any]:
    """The output of each input, from the store or else of the model, which `load` loads then."""
    loaded = functools.cache(load)

    def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
        for batch in loaded()([inputs[place] for place in missing], batch_tokens):
            yield {missing[at]: output for at, output in batch.items()}

    return outputs(task, inputs, compute, store=store)


def task_of(name: str, options: NetworkOptions, method: int, **settings: Any) -> Task:
    """The task of a model; `method` is raised by whoever changes what is computed."""
    known = {"method": method, "dtype": options.dtype, **settings}
    return Task(name, identify(options), options.device, known, PACKAGES)


def recipe_of(network: NetworkOptions, options: Any, *names: str) -> str:
    """A model, and these options: what can change a value by more than a last digit."""
    stated = {"model": identify(network).name, "device": device_kind(network.device)}
    stated |= {"dtype": network.dtype} | {name: str(getattr(options, name)) for name in names}
    stated |= {name: extra.version(name) for name in PACKAGES}
    return "|".join(f"{name}:{value}" for name, value in stated.items())


def padding_of(network: Network, model: str, *, otherwise: int | None = None) -> int:
    """The token that fills up a batch; BadInput if the model has none."""
    own = network.tokenizer.pad_token_id
    pad: int | None = otherwise if own is None else own
    if pad is None:
        raise BadInput(f"model {model!r} has no padding token; take another one")
    return pad


def encoder_of(network: Network, model: str) -> Any:
    """A tokenizer's own encoder (tokenizers.Tokenizer), which cuts nothing and fills nothing up.

    Marks of the tokenizer that stand in a text (`</s>`) are read as the characters that they are.
    Raises BadInput if the tokenizer has none.
    """
    if not network.tokenizer.is_fast:
        raise BadInput(f"model {model!r} has no fast tokenizer; take a model that has one")
    encoder = network.tokenizer.backend_tokenizer
    encoder.no_truncation()
    encoder.no_padding()
    encoder.encode_special_tokens = True
    return encoder


def features_of(network: Network, joined: Any) -> dict[str, list[int]]:
    """The features of an encoding with its marks: tokens, and types where the model reads them."""
    accepted = inspect.signature(network.weights.forward).parameters
    features = {"input_ids": list(joined.ids)}
    if "token_type_ids" in network.tokenizer.model_input_names and "token_type_ids" in accepted:
        features["token_type_ids"] = list(joined.type_ids)
    return features


def unread(whole: int, read: int) -> float:
    """The share of tokens that were not read; 0 of none."""
    return 1 - read / whole if whole else 0.0


def finite(numbers: Any) -> list[float] | None:
    """A tensor's numbers to the decimals that are kept; None if one is not finite."""
    if not bool(extra.module("torch").isfinite(numbers).all()):
        return None
    return [round(number, PLACES) for number in numbers.double().tolist()]
