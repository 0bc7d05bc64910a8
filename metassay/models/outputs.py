"""Outputs of models for texts, computed once: read from the store, or else from the model.

The store is a file next to the ledger, with the same guarantees, under hashes and
without inputs. An output's key is everything that can change it: the model's content,
the task, its settings, the kind of device, the versions of the packages, and the
input's texts (as hashes). The other texts in its batch are not included: they can
change the last digits of an output, and so, rarely, a generated word. With an empty
store the same inputs give the same batches, also after a kill, which loses only the
current batch, or with several processes.
"""

import fcntl
import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from metassay.core.database import Database, Form
from metassay.core.errors import BadInput
from metassay.core.progress import bar
from metassay.models import extra
from metassay.models.loading import Identity

STORE = Path(".work/models.sqlite")  # not an output of DVC, which would delete it

FORM = Form(
    0x4D544D4F,  # "MTMO", to identify the file
    (
        """
CREATE TABLE outputs (
  key TEXT PRIMARY KEY, model TEXT NOT NULL, task TEXT NOT NULL, value TEXT NOT NULL,
  computed REAL NOT NULL
);
""",
    ),
    "store of model outputs",
    "run again: its content is computed again",
)

log = logging.getLogger("metassay.models")

# A process claims at least this many inputs, and this many characters, at once.
_INPUTS, _CHARACTERS = 256, 2**16

# Called with places of inputs, it yields outputs by place, batch by batch, each place
# once.
Compute = Callable[[Sequence[int]], Iterable[Mapping[int, Any]]]


class Store(Database):
    """An open store, usable from any thread; BadInput, without changes, if foreign or damaged."""

    def __init__(self, path: Path = STORE) -> None:
        super().__init__(path, FORM)

    def lookup(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the stored outputs by key; deletes damaged ones."""
        outputs: dict[str, Any] = {}
        damaged: list[tuple[str]] = []
        query = "SELECT key, CAST(value AS BLOB) FROM outputs WHERE key"
        for key, value in self.select_where(query, sorted(set(keys))):
            try:
                outputs[key] = json.loads(value)
            except (ValueError, RecursionError):
                damaged.append((key,))
        if damaged:
            log.warning(
                "%s: %d damaged outputs are computed again", self.path, len(damaged)
            )
            with self.transaction() as connection:
                connection.executemany("DELETE FROM outputs WHERE key = ?", damaged)
        return outputs

    def keep(
        self, outputs: Mapping[str, Any], *, model: str, task: str
    ) -> dict[str, Any]:
        """Store outputs (any JSON but NaN) by key, all or none, and return what the store has.

        An existing output stays, and is returned instead of the new one.
        """
        now = time.time()
        rows = [
            (key, model, task, json.dumps(value, allow_nan=False), now)
            for key, value in outputs.items()
        ]
        with self.transaction() as connection:
            insert = "INSERT INTO outputs VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"
            connection.executemany(insert, rows)
            return self.lookup(outputs)


class Claims:
    """Claims on outputs that this process computes, so that no other process does.

    A claim locks a byte of a file next to the store, at a place computed from the
    output's key. The system releases it when the process ends in any way, and wakes
    waiting processes. Threads of a process do not exclude each other: they can compute
    outputs twice, and the store keeps the first.
    """

    def __init__(self, store: Path) -> None:
        """Open the file of claims; BadInput if it cannot be created next to the store."""
        path = store.with_name(f"{store.name}-claims")
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise BadInput(
                f"{path}: {error.strerror}; make the folder writable"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def take(self, keys: Iterable[str]) -> list[str]:
        """Claim the keys that no other process has, and return them."""
        return [key for key in keys if self._take(key)]

    def drop(self) -> None:
        """Release all claims."""
        fcntl.lockf(self._file, fcntl.LOCK_UN)

    def wait(self, key: str) -> None:
        """Wait until no other process has the key; drop all claims first."""
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, _place(key))
        self.drop()

    def _take(self, key: str) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):  # POSIX allows both
            return False
        return True


def _place(key: str) -> int:
    return int(key[:15], 16)


@dataclass(frozen=True)
class Task:
    """What to compute: everything that can change an output except the input.

    `settings` are JSON; `packages`: packages of the extra `models` whose versions
    matter.
    """

    name: str
    model: Identity
    device: str
    settings: Mapping[str, Any]
    packages: tuple[str, ...]


def outputs(
    task: Task,
    inputs: Sequence[tuple[str, ...]],
    compute: Compute,
    *,
    store: Path = STORE,
) -> list[Any]:
    """Return the task's output for each input; an input is a tuple of texts.

    `compute` is called for each block of inputs with the places whose output is not in
    the store (equal inputs count once). It loads the model when first needed and keeps
    it. Its outputs must be JSON without NaN, and are committed batch by batch. A block
    that another process computes is skipped, and awaited if nothing else remains.
    Raises BadInput if a package is missing or the store is damaged, and errors of
    `compute`.
    """
    if not inputs:
        return []
    keys = _keys(task, inputs)
    # the first of each
    places = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
    with Store(store) as stored:
        values = stored.lookup(keys)
        if len(values) < len(places):
            with Claims(store) as claims:
                _complete(
                    task, list(_blocks(inputs, places)), compute, stored, claims, values
                )
    n_missing = sum(key not in values for key in places)
    if n_missing:
        raise RuntimeError(
            f"{task.name}: {n_missing} of {len(places)} outputs were not computed"
        )
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
                        computed = {
                            keys[place]: value for place, value in batch.items()
                        }
                        values |= stored.keep(
                            computed, model=task.model.name, task=task.name
                        )
                        tell(len(values))
            claims.drop()
            remaining = {
                key: block[key] for key in block.keys() - claimed - values.keys()
            }
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
        return text_hash(
            json.dumps(full, sort_keys=True, separators=(",", ":"), allow_nan=False)
        )

    return [key(texts) for texts in inputs]
