"""The command `push`: send tables to a DVC remote, if their texts may go there, or numbers."""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from metassay.cli.project import check_project, datasets_in, load_params
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

_ACCEPT = "accept what is there now: `metassay watch accept {}`"


def push(args: argparse.Namespace) -> int:
    """Push the named benchmarks, or raise BadInput with all that forbids it; or publish numbers."""
    names = list(dict.fromkeys(args.names))
    server, _, place = args.to.partition(":")
    if server in SERVERS and place:
        return _publish(names, server, place)
    params, registry = check_project(names), load_registry()
    raise_problems(p for name in names for p in _problems(name, args.to, params, registry))
    words = [args.to, *names]
    return run_flows(words, dict(os.environ), module="flows.push", passed_on=(FAILED,))


def _publish(names: list[str], server: str, place: str) -> int:
    """Send headline numbers, if those of every benchmark exist."""
    load_params(names)
    try:
        for name, numbers in {name: headline(name, Path()) for name in names}.items():
            run = SERVERS[server](name, *numbers, place)
            print(f"{name}: {len(numbers[0])} numbers, run {run}")
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

    def refusal(tables: str, dataset: str, access: str) -> str:
        return (
            f"{name}: its {tables} hold text of dataset {dataset!r}, which is {access}: they do not"
            f" go to DVC's remote {remote!r}. If they may, add {access!r} to {PARAMS} > remotes >"
            f" {remote}"
        )

    today = [(dataset, str(registry[dataset].access)) for dataset in datasets]
    yield from (refusal("tables", *pair) for pair in today if pair[1] not in allowed)
    yield from label_problems(registry, datasets, [(folder.dataset, Path(folder.raw))])
    for dataset, access in _accepted_classes(name, registry):
        if access not in allowed and (dataset, access) not in today:
            yield f"{refusal('accepted tables', dataset, access)}; else {_ACCEPT.format(name)}"


def _accepted_classes(name: str, registry: Mapping[str, Dataset]) -> list[tuple[str, str]]:
    """Return the datasets whose texts the accepted tables may hold, with their access classes: of
    the time of acceptance, and of today. A dataset with neither is private."""
    file = accepted_file(name)
    if not file.is_file():
        return []
    try:
        recorded = classes_in(parse_lock(lock_text(file), str(file)))
        raise_problems([] if recorded else [f"{file}: names no dataset"])
    except BadInput as error:
        unknown = f"so it is not known whose texts the tables of {file} hold"
        remedy = f"{unknown}; {_ACCEPT.format(name)}"
        raise BadInput(f"{line}; {remedy}" for line in error.problems) from error
    classes = []
    for dataset, stored in recorded.items():
        today = {str(registry[dataset].access)} if dataset in registry else set()
        classes += [(dataset, access) for access in sorted(stored | today or {"private"})]
    return classes


def classes_in(lock: Lock) -> dict[str, set[str]]:
    """Return the datasets whose texts the tables of a lock may hold, with their access classes at
    that time, if the lock has them. Raises BadInput for unknown blocks."""
    params = [stage.get("params") or {} for stage in lock["stages"].values()]
    datasets: dict[str, set[str]] = {}
    kinds = []
    for files in params:
        for key, entry in files.get(str(REGISTRY), {}).items():
            classes = datasets.setdefault(key.removeprefix(f"{DATASETS}."), set())
            if isinstance(entry, dict) and "access" in entry:
                classes.add(str(entry["access"]))
        for key, options in files.get(str(PARAMS), {}).items():
            block, _, name = key.partition(".")
            if name and block in KINDS:
                where = f"{PARAMS} > {block} > {name}"
                kinds.append(choose(KINDS[block], options, where=where))
    names = dict.fromkeys([*all_datasets(kinds), *datasets])
    return {name: datasets.get(name, set()) for name in names}
