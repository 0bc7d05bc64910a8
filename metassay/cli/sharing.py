"""The command `push`: tables to a DVC remote, as far as their texts may go there, and numbers."""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from metassay.cli.project import checked, datasets_in, named
from metassay.cli.running import run_flows
from metassay.core.errors import BadInput, Unfinished, raise_problems
from metassay.core.exit_codes import FAILED
from metassay.core.kinds import choose
from metassay.core.options import PARAMS
from metassay.core.params import Params
from metassay.datasets.labels import label_problems
from metassay.datasets.registry import REGISTRY, Dataset, load_registry
from metassay.llm.endpoints import PUBLIC
from metassay.llm.needs import all_datasets
from metassay.project.validation import KINDS
from metassay.tracking.comparison.sides import Lock, lock_text, parse_lock
from metassay.tracking.publishing import SERVERS, headline
from metassay.tracking.reevaluation.outcome import accepted_file
from metassay.versions.code_yaml import DATASETS


def push(args: argparse.Namespace) -> int:
    """Push the named benchmarks, or say of all of them why not; to a server, their numbers."""
    names = list(dict.fromkeys(args.names))
    server, _, place = args.to.partition(":")
    if server in SERVERS and place:
        return _publish(names, server, place)
    params, registry = checked(names), load_registry()
    raise_problems(one for name in names for one in _problems(name, args.to, params, registry))
    words = [args.to, *names]
    return run_flows(words, dict(os.environ), module="flows.push", own=(FAILED,))


def _publish(names: list[str], server: str, place: str) -> int:
    """Send headline numbers, once all of them are there to be sent."""
    named(names)
    try:
        for name, said in {name: headline(name, Path()) for name in names}.items():
            print(f"{name}: {len(said[0])} numbers, run {SERVERS[server](name, *said, place)}")
    except Unfinished as error:
        print(error, file=sys.stderr)
        return FAILED
    return 0


def _problems(
    name: str, remote: str, params: Params, registry: dict[str, Dataset]
) -> Iterable[str]:
    folder = params.data_of(name)
    datasets = datasets_in(folder, params)
    allowed = {PUBLIC, *params.remotes.get(remote, [])}
    for dataset in datasets:
        access = registry[dataset].access
        if access not in allowed:
            yield (
                f"{name}: its tables hold text of dataset {dataset!r}, which is {access}: they do"
                f" not go to DVC's remote {remote!r}. If they may, add {access!r} to {PARAMS} >"
                f" remotes > {remote}"
            )
    yield from label_problems(registry, datasets, [(folder.dataset, Path(folder.raw))])
    told = {(dataset, str(registry[dataset].access)) for dataset in datasets}
    for dataset, known in _accepted_classes(name, registry):
        if known not in allowed and (dataset, known) not in told:
            yield (
                f"{name}: its accepted tables hold text of dataset {dataset!r}, which is {known}:"
                f" they do not go to DVC's remote {remote!r}. If they may, add {known!r} to"
                f" {PARAMS} > remotes > {remote}; else accept what is there now: `metassay watch"
                f" accept {name}`"
            )


def _accepted_classes(name: str, registry: Mapping[str, Dataset]) -> list[tuple[str, str]]:
    """The datasets whose texts the accepted tables may hold, with the class of then and that of
    today, for an accepted state may be of other datasets. One that neither knows is private."""
    file = accepted_file(name)
    if not file.is_file():
        return []
    try:
        recorded = classes_in(parse_lock(lock_text(file), str(file)))
    except BadInput as error:
        raise BadInput(
            f"{line}; so it is not known whose texts the tables of {file} hold; accept what is"
            f" there now: `metassay watch accept {name}`"
            for line in error.problems
        ) from error
    if not recorded:
        raise BadInput(
            f"{file}: names no dataset; so it is not known whose texts its tables hold;"
            f" accept what is there now: `metassay watch accept {name}`"
        )
    found = []
    for dataset, then in recorded.items():
        now = {str(registry[dataset].access)} if dataset in registry else set()
        found += [(dataset, access) for access in sorted(then | now or {"private"})]
    return found


def classes_in(lock: Lock) -> dict[str, set[str]]:
    """The datasets whose texts the tables of a lock may hold, each with its access classes at that
    time; none where the lock does not say. Raises BadInput for blocks that are not understood."""
    read = [stage.get("params") or {} for stage in lock["stages"].values()]
    found: dict[str, set[str]] = {}
    kinds = []
    for files in read:
        for key, entry in files.get(str(REGISTRY), {}).items():
            classes = found.setdefault(key.removeprefix(f"{DATASETS}."), set())
            if isinstance(entry, dict) and "access" in entry:
                classes.add(str(entry["access"]))
        for key, options in files.get(str(PARAMS), {}).items():
            block, _, one = key.partition(".")
            if one and block in KINDS:
                where = f"{PARAMS} > {block} > {one}"
                kinds.append(choose(KINDS[block], options, where=where))
    return {name: found.get(name, set()) for name in dict.fromkeys([*all_datasets(kinds), *found])}
