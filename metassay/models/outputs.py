"""Outputs of models for texts, computed once: read from the store, or else from the model.

An output's key is everything that can change it: the model's content, the task, its settings, the
kind of device, the versions of the packages, and the input's texts (as hashes). The other texts in
its batch are not included: they can change the last digits of an output, and so, rarely, a
generated word. With an empty store the same inputs give the same batches, also after a kill or with
several processes.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metassay.core.progress import bar
from metassay.models import extra
from metassay.models.loading import Identity
from metassay.models.store import STORE, Claims, Store

log = logging.getLogger("metassay.models")

# A process claims at least this many inputs, and this many characters, at once.
_INPUTS, _CHARACTERS = 256, 2**16

# Called with places of inputs, it yields outputs by place, batch by batch, each place once.
Compute = Callable[[Sequence[int]], Iterable[Mapping[int, Any]]]


@dataclass(frozen=True)
class Task:
    """What to compute: everything that can change an output except the input.

    `settings` are JSON; `packages`: packages of the extra `models` whose versions matter.
    """

    name: str
    model: Identity
    device: str
    settings: Mapping[str, Any]
    packages: tuple[str, ...]


def outputs(
    task: Task, inputs: Sequence[tuple[str, ...]], compute: Compute, *, store: Path = STORE
) -> list[Any]:
    """Return the output of the task for each input, a tuple of texts.

    `compute` is called for each block of inputs with the places whose output is not in the store
    (equal inputs count once). It loads the model when first needed and keeps it. Its outputs must
    be JSON without NaN, and are committed batch by batch. A block that another process computes is
    skipped, and awaited if nothing else remains. Raises BadInput if a package is missing or the
    store is damaged, and errors of `compute`.
    """
    if not inputs:
        return []
    keys = _keys(task, inputs)
    places = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))  # the first of each
    with Store(store) as stored:
        values = stored.lookup(keys)
        if len(values) < len(places):
            with Claims(store) as claims:
                _complete(task, list(_blocks(inputs, places)), compute, stored, claims, values)
    n_missing = sum(key not in values for key in places)
    if n_missing:
        raise RuntimeError(f"{task.name}: {n_missing} of {len(places)} outputs were not computed")
    return [values[key] for key in keys]


def _complete(
    task: Task,
    blocks: list[dict[str, int]],
    compute: Compute,
    stored: Store,
    claims: Claims,
    values: dict[str, Any],
) -> None:
    """Add the missing outputs of blocks to `values`; a block has places by key."""
    total = sum(map(len, blocks))
    while blocks:
        waiting = []
        for block in blocks:
            claimed = set(claims.take(key for key in block if key not in values))
            # From processes that were earlier.
            values |= stored.lookup(block.keys() - values.keys())
            keys = {block[key]: key for key in claimed - values.keys()}
            if keys:
                with bar(task.name, total) as tell:
                    for batch in compute(sorted(keys)):
                        computed = {keys[place]: value for place, value in batch.items()}
                        values |= stored.keep(computed, model=task.model.name, task=task.name)
                        tell(len(values))
            claims.drop()
            remaining = {key: block[key] for key in block.keys() - claimed - values.keys()}
            if remaining:
                waiting.append(remaining)
        blocks = waiting
        if blocks:
            log.warning("waiting for another process that uses %s", task.model.name)
            claims.wait(min(blocks[0]))


def _blocks(
    inputs: Sequence[tuple[str, ...]], places: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Yield blocks of places by key, in order.

    Blocks do not depend on the store, so that several processes have the same ones.
    """
    block: dict[str, int] = {}
    size = 0
    for key, place in sorted(places.items(), key=lambda item: item[1]):
        if len(block) >= _INPUTS and size >= _CHARACTERS:
            yield block
            block, size = {}, 0
        block[key] = place
        size += sum(map(len, inputs[place]))
    if block:
        yield block


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text, which replaces it in keys."""
    return hashlib.sha256(text.encode()).hexdigest()


def device_kind(device: str) -> str:
    """Return `cuda` for `cuda:1`: devices of a kind give the same outputs."""
    return device.partition(":")[0]


def _keys(task: Task, inputs: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the SHA-256 of the canonical JSON of everything that can change an output."""
    shared = {
        "task": task.name,
        "model": task.model.content,
        "device": device_kind(task.device),
        "settings": dict(task.settings),
        "versions": {name: extra.version(name) for name in task.packages},
    }
    hashes = {text: text_hash(text) for texts in inputs for text in texts}

    def key(texts: tuple[str, ...]) -> str:
        full = shared | {"texts": [hashes[text] for text in texts]}
        return text_hash(json.dumps(full, sort_keys=True, separators=(",", ":"), allow_nan=False))

    return [key(texts) for texts in inputs]
