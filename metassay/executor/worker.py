"""What a worker of a Dask cluster does: read a shard, answer it, and write the answer."""

import pickle
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import BadInput
from metassay.executor.shards import Storage
from metassay.executor.versions import Versions, contents, difference, versions

_HERE = versions()  # when this was imported: with the code that this process goes on loading
_SEEN: dict[str, str] = {}  # files of the project, as they were when this process first read them


class Outcome(NamedTuple):
    """How a shard went, and on which worker.

    `refused`: why this worker may not answer; `problems`: what is wrong with the input.
    """

    worker: str
    refused: str = ""
    problems: tuple[str, ...] = ()


def answer(place: str, name: str, wanted: Versions, files: Mapping[str, str]) -> Outcome:
    """Answer a shard of a storage; its answer is a file beside it."""
    from distributed import get_worker

    worker = get_worker().address
    for file, known in contents(map(Path, files)).items():
        if _SEEN.setdefault(file, known) != known:
            return Outcome(worker, f"{file} has changed since it was read there; start it again")
    refused = difference({**wanted, **files}, {**_HERE, **_SEEN})
    if refused:
        return Outcome(worker, refused)
    storage = Storage(place)
    try:
        content = storage.read(f"{name}.shard")
    except FileNotFoundError:
        return Outcome(worker, f"it does not see the shards in {place}")
    here = str(Path.cwd())
    if here not in sys.path:  # where modules with kinds of the project's own lie
        sys.path.insert(0, here)
    function, shard, common = pickle.loads(content)
    try:
        found = function(shard, *common)
    except BadInput as error:
        return Outcome(worker, problems=tuple(error.problems))
    storage.write(f"{name}.answer", pickle.dumps(found, 5))
    return Outcome(worker)
