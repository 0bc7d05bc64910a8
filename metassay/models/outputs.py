"""What a model makes of texts, computed once: from the store where it is there, else by the model.

An output is known by all that can change it: the model's content, the task, its settings, the kind
of device, the versions of the packages that compute, and the input's texts (as hashes). Which other
texts shared its batch is not part of that: it can change the last digits of an output, and so,
rarely, a written word. The same inputs in an empty store give the same batches, also after a kill.
"""

import contextlib
import fcntl
import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metassay.errors import BadInput
from metassay.models import extra
from metassay.models.loading import Identity
from metassay.models.store import STORE, Store

log = logging.getLogger("metassay.models")

# Handed places of inputs, it yields outputs by place, batch by batch, each place once.
Compute = Callable[[Sequence[int]], Iterator[Mapping[int, Any]]]


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

    `compute` is called only if some outputs are not in the store, with the place of each (equal
    inputs count once), and it alone loads the model. What it yields is JSON without NaN, and is
    committed batch by batch. Processes that use the same model on the same device take turns, so
    that the second finds what the first has computed. Raises BadInput if a package is missing or
    the store is not sound, and what `compute` raises.
    """
    keys = _keys(task, inputs)
    places = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))  # the first of each
    with Store(store) as kept:
        found = kept.lookup(keys)
        if len(found) < len(places):
            with _alone(store, task):
                found |= kept.lookup(places.keys() - found.keys())  # by whoever was before us
                missing = sorted(place for key, place in places.items() if key not in found)
                if missing:
                    for batch in compute(missing):
                        values = {keys[place]: value for place, value in batch.items()}
                        found |= kept.keep(values, model=task.model.name, task=task.name)
    lost = sum(key not in found for key in places)
    if lost:
        raise RuntimeError(f"{task.name}: {lost} of {len(places)} outputs were not computed")
    return [found[key] for key in keys]


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


@contextlib.contextmanager
def _alone(store: Path, task: Task) -> Iterator[None]:
    """No other process uses this model on this device meanwhile; a killed one lets go of it."""
    which = text_hash(f"{task.model.content} {task.device}")[:16]
    path = store.with_name(f"{store.name}-{which}")
    try:
        lock = path.open("w")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; make the folder writable") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.warning("waiting for another process that uses %s", task.model.name)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
