"""What a worker of a Dask cluster does: read a shard, answer it, and write the answer."""

import pickle
import sqlite3
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import BadInput, disk_problem, short_name
from metassay.executor.shards import Storage
from metassay.executor.versions import Versions, contents, difference, versions

_HERE = versions()  # when this was imported: with the code that this process goes on loading
_SEEN: dict[str, str] = {}  # files of the project, as they were when this process first read them


class Outcome(NamedTuple):
    """How a shard went, and on which worker.

    `refused`: why this worker may not answer; else `problems`: what is wrong with the input.
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
    if refused := difference({**wanted, **files}, {**_HERE, **_SEEN}):
        return Outcome(worker, refused)
    here = str(Path.cwd())
    if here not in sys.path:  # where modules with kinds of the project's own lie
        sys.path.insert(0, here)
    try:
        storage = Storage(place)
        function, shard, common = pickle.loads(storage.read(f"{name}.shard"))
        found = pickle.dumps(function(shard, *common), 5)
        if storage.has(f"{name}.shard"):  # else the run is over, and nothing is to stay
            storage.write(f"{name}.answer", found)
    except BadInput as error:
        its = isinstance(error.__cause__, OSError | sqlite3.Error | ImportError)  # the machine's
        return Outcome(worker, "; ".join(error.problems) if its else "", error.problems)
    except FileNotFoundError as error:
        return Outcome(worker, f"it does not see {short_name(error.filename or place)}")
    except OSError as error:
        return Outcome(worker, disk_problem(error))
    return Outcome(worker)
