"""The task of a worker of a Dask cluster: read a shard, and write its answer."""

import pickle
import sqlite3
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import BadInput, disk_problem, short_name
from metassay.executor.shards import Storage
from metassay.executor.versions import Versions, contents, difference, versions

_HERE = versions()  # at import: of the code that this process uses
_SEEN: dict[str, str] = {}  # versions of the project's files when this process first read them


class Outcome(NamedTuple):
    """The outcome of a shard, and its worker.

    `refused`: why this worker cannot answer; else `problems`: what is wrong with the input.
    """

    worker: str
    refused: str = ""
    problems: tuple[str, ...] = ()


def answer(place: str, name: str, expected: Versions, files: Mapping[str, str]) -> Outcome:
    """Compute a shard of a storage, and write its answer there."""
    from distributed import get_worker

    worker = get_worker().address
    for file, file_version in contents(map(Path, files)).items():
        if _SEEN.setdefault(file, file_version) != file_version:
            return Outcome(worker, f"{file} has changed since it was read there; start it again")
    if refused := difference({**expected, **files}, {**_HERE, **_SEEN}):
        return Outcome(worker, refused)
    folder = str(Path.cwd())
    if folder not in sys.path:  # for modules with the project's own kinds
        sys.path.insert(0, folder)
    try:
        storage = Storage(place)
        function, shard, common = pickle.loads(storage.read(f"{name}.shard"))
        content = pickle.dumps(function(shard, *common), 5)
        if storage.has(f"{name}.shard"):  # else the run is over, and must leave nothing
            storage.write(f"{name}.answer", content)
    except BadInput as error:
        # Errors of the machine, not of the data.
        of_machine = isinstance(error.__cause__, OSError | sqlite3.Error | ImportError)
        return Outcome(worker, "; ".join(error.problems) if of_machine else "", error.problems)
    except FileNotFoundError as error:
        return Outcome(worker, f"it does not see {short_name(error.filename or place)}")
    except OSError as error:
        return Outcome(worker, disk_problem(error))
    return Outcome(worker)
