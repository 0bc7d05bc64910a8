"""What a model makes of texts, computed once: from the store where it is there, else by the model.

An output is known by all that can change it: the model's content, the task, its settings, the kind
of device, the versions of the packages that compute, and the input's texts (as hashes). Which other
texts shared its batch is not part of that: it can change the last digits of an output, and so,
rarely, a written word. The same inputs in an empty store give the same batches, also after a kill,
or if several processes share them.
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

# A process takes so many inputs for itself at once, and more if they have fewer characters.
_INPUTS, _CHARACTERS = 256, 2**16

# Handed places of inputs, it yields outputs by place, batch by batch, each place once.
Compute = Callable[[Sequence[int]], Iterable[Mapping[int, Any]]]


@dataclass(frozen=True)
class Task:
    """What is computed of an input: everything that can change the output but the input itself.

    `settings` are JSON; `packages` are those of the extra `models` whose versions matter.
    """

    name: str
    model: Identity
    device: str
    settings: Mapping[str, Any]
    packages: tuple[str, ...]


def outputs(
    task: Task, inputs: Sequence[tuple[str, ...]], compute: Compute, *, store: Path = STORE
) -> list[Any]:
    """The output of the task for each input, which is one text or several.

    `compute` is called for one block of inputs after another, with the places of those whose output
    is not in the store (equal inputs count once), and it alone loads the model, which it keeps for
    the next block. What it yields is JSON without NaN, and is committed batch by batch. A block
    that another process computes is passed over, and waited for if nothing else is left. Raises
    BadInput if a package is missing or the store is not sound, and what `compute` raises.
    """
    if not inputs:
        return []
    keys = _keys(task, inputs)
    places = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))  # the first of each
    with Store(store) as kept:
        found = kept.lookup(keys)
        if len(found) < len(places):
            with Claims(store) as claims:
                _complete(task, list(_blocks(inputs, places)), compute, kept, claims, found)
    lost = sum(key not in found for key in places)
    if lost:
        raise RuntimeError(f"{task.name}: {lost} of {len(places)} outputs were not computed")
    return [found[key] for key in keys]


def _complete(
    task: Task,
    blocks: list[dict[str, int]],
    compute: Compute,
    kept: Store,
    claims: Claims,
    found: dict[str, Any],
) -> None:
    """Add to `found` what is missing of blocks, each of places by key."""
    total = sum(map(len, blocks))
    while blocks:
        theirs = []
        for block in blocks:
            mine = set(claims.take(key for key in block if key not in found))
            found |= kept.lookup(block.keys() - found.keys())  # by whoever was before us
            keys = {block[key]: key for key in mine - found.keys()}
            if keys:
                with bar(task.name, total) as tell:
                    for batch in compute(sorted(keys)):
                        values = {keys[place]: value for place, value in batch.items()}
                        found |= kept.keep(values, model=task.model.name, task=task.name)
                        tell(len(found))
            claims.drop()
            left = {key: block[key] for key in block.keys() - mine - found.keys()}
            if left:
                theirs.append(left)
        blocks = theirs
        if blocks:
            log.warning("waiting for another process that uses %s", task.model.name)
            claims.wait(min(blocks[0]))


def _blocks(
    inputs: Sequence[tuple[str, ...]], places: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Places by key, in order, block by block.

    What the store holds changes no block, so that several processes have the same ones.
    """
    block: dict[str, int] = {}
    size = 0
    for key, place in sorted(places.items(), key=lambda each: each[1]):
        if len(block) >= _INPUTS and size >= _CHARACTERS:
            yield block
            block, size = {}, 0
        block[key] = place
        size += sum(map(len, inputs[place]))
    if block:
        yield block


def text_hash(text: str) -> str:
    """SHA-256 of a text, which stands for it in keys."""
    return hashlib.sha256(text.encode()).hexdigest()


def device_kind(device: str) -> str:
    """`cuda` of `cuda:1`: one kind of device computes alike, whichever it is."""
    return device.partition(":")[0]


def _keys(task: Task, inputs: Sequence[tuple[str, ...]]) -> list[str]:
    """SHA-256 of the canonical JSON of everything that can change an output."""
    known = {
        "task": task.name,
        "model": task.model.content,
        "device": device_kind(task.device),
        "settings": dict(task.settings),
        "versions": {name: extra.version(name) for name in task.packages},
    }
    hashes = {text: text_hash(text) for texts in inputs for text in texts}

    def key(texts: tuple[str, ...]) -> str:
        asked = known | {"texts": [hashes[text] for text in texts]}
        return text_hash(json.dumps(asked, sort_keys=True, separators=(",", ":"), allow_nan=False))

    return [key(texts) for texts in inputs]
