"""Whose text may go where, and with which keys: it is decided before the first request."""

import os
import socket
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from metassay.core.errors import raise_problems
from metassay.core.params import ExecutorOptions
from metassay.llm.endpoints import PUBLIC, EndpointOptions, variables

REACH_SECONDS = 2.0


@dataclass(frozen=True)
class Cleared:
    """An endpoint that one dataset's text may go to. Made by `check` and by nothing else."""

    name: str
    options: EndpointOptions
    dataset: str


class Secrets(NamedTuple):
    """What says who asks: the key, if one is wanted, and headers. Kept nowhere but in memory."""

    key: str | None
    headers: dict[str, str]


def secrets_of(endpoint: Cleared) -> Secrets:
    """Read the endpoint's secrets now; BadInput names each variable without one."""
    problems: list[str] = []
    found: dict[str, str] = {}
    for key, name in variables(endpoint.options).items():
        found[key] = secret = os.environ.get(name, "").strip()
        place = f"params.yaml > endpoints > {endpoint.name} > {key}"
        if not secret:
            remedy = "is not set; set it, or import the responses of a finished run"
        elif not (secret.isascii() and secret.isprintable()):
            remedy = "holds no key; set it again"
        else:
            continue
        problems.append(f"the environment variable {name} ({place}) {remedy}")
    raise_problems(problems)
    headers = {name: found[f"header_env > {name}"] for name in endpoint.options.header_env}
    return Secrets(found.get("key_env"), headers)


def check(access: str, dataset: str, name: str, endpoint: EndpointOptions) -> Cleared:
    """Clear an endpoint for a dataset of this access class; BadInput unless it is public or sent.

    An endpoint on this machine is no exception: what it passes on is not ours to know.
    """
    return check_all({dataset: access}, [dataset], name, endpoint)


def check_all(
    access: Mapping[str, str], datasets: Iterable[str], name: str, endpoint: EndpointOptions
) -> Cleared:
    """Clear an endpoint for text of all these datasets; BadInput lists those that forbid it."""
    where = f"endpoint {name!r} ({endpoint.base_url})"
    remedy = f"params.yaml > endpoints > {name} > sends; else choose a model at another endpoint"
    first = _check(access, datasets, endpoint.sends, where, remedy)
    return Cleared(name, endpoint, first)


def check_workers(
    access: Mapping[str, str], datasets: Iterable[str], executor: ExecutorOptions
) -> None:
    """Clear a cluster's workers for text of these datasets, by the rule that endpoints have."""
    where = f"the workers of {executor.address}"
    remedy = "params.yaml > executor > sends; else run on this machine alone (--dask local)"
    _check(access, datasets, executor.sends, where, remedy)


def _check(
    access: Mapping[str, str],
    datasets: Iterable[str],
    sends: Collection[str],
    where: str,
    remedy: str,
) -> str:
    """The first of the datasets, if all are public or of a class that is sent."""
    problems: list[str] = []
    every = list(dict.fromkeys(datasets))
    for dataset in every:
        if dataset not in access:
            known = ", ".join(sorted(access))
            problems.append(
                f"dataset {dataset!r} is not in data/registry.yaml, so nothing says where its text"
                f" may go; known: {known}; add its entry, correct the name, or strike off the"
                " system whose texts repeat its examples, and run the benchmark again"
            )
        elif access[dataset] != PUBLIC and access[dataset] not in sends:
            problems.append(
                f"dataset {dataset!r} is {access[dataset]}: its text does not go to {where}. If it"
                f" may, add {access[dataset]!r} to {remedy}"
            )
    raise_problems(problems)
    return every[0]


def can_ask(endpoint: EndpointOptions) -> bool:
    """Whether an endpoint could be asked now: its keys are set, or it wants none and is there."""
    names = variables(endpoint)
    if names:
        return all(os.environ.get(name, "").strip() for name in names.values())
    address = urlsplit(endpoint.proxy or endpoint.base_url)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        socket.create_connection((address.hostname or "", port), timeout=REACH_SECONDS).close()
    except OSError:
        return False
    return True
