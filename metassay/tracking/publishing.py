"""Headline numbers to a server that follows experiments: MLflow by its REST interface, or W&B.

What is sent are names and numbers: those of `benchmarks/NAME/headline.json`, which git has as well,
and the names of the metrics that were best. No text, no rating, no path of this machine.
"""

import importlib
import importlib.util
import json
import math
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import requests

from metassay import __version__
from metassay.core.errors import BadInput, Unfinished
from metassay.core.options import BENCHMARKS

_EXPERIMENT = "metassay"
_WANDB = "wandb"
_BATCH = 1000  # metrics that MLflow takes at once, and a tenth of it of other things
_TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two pieces of the answer
_ODD = re.compile(r"[^\w\-. :/]", re.ASCII)  # what MLflow has in no name


class Headline(NamedTuple):
    """A benchmark's headline: numbers, and names of metrics, by what they are of."""

    benchmark: str
    numbers: Mapping[str, float]
    names: Mapping[str, str]


def headline(name: str, project: Path) -> Headline:
    """The numbers of `headline.json`; null ones are left out. Raises BadInput if it isn't there."""
    file = project / BENCHMARKS / name / "headline.json"
    try:
        held = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        raise BadInput(f"{file}: cannot be read; run: metassay run {name}") from None
    leaves = {_ODD.sub("_", "/".join(steps)): value for steps, value in _leaves(held)}
    numbers = {
        key: float(value)
        for key, value in leaves.items()
        if isinstance(value, int | float) and math.isfinite(value)
    }
    names = {key: str(v) for key, v in leaves.items() if key.endswith("/metric") and v is not None}
    return Headline(name, numbers, names)


def _leaves(value: object, steps: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, (*steps, str(name)))
    else:
        yield steps, value


def to_mlflow(one: Headline, address: str) -> str:
    """Make a run in the experiment `metassay` of MLflow's server; the run's id.

    MLFLOW_TRACKING_TOKEN, or _USERNAME and _PASSWORD of that name, are sent if they are set. Raises
    BadInput for what the server refuses, Unfinished where it does not answer.
    """
    with requests.Session() as session:
        token, user = (os.environ.get(f"MLFLOW_TRACKING_{n}") for n in ("TOKEN", "USERNAME"))
        if token:
            session.headers["Authorization"] = f"Bearer {token}"
        elif user:
            session.auth = (user, os.environ.get("MLFLOW_TRACKING_PASSWORD", ""))
        experiment = _experiment(session, address)
        now = time.time_ns() // 1_000_000
        tags = {"mlflow.runName": one.benchmark, "metassay.version": __version__}
        body = {"experiment_id": experiment, "start_time": now, "run_name": one.benchmark}
        made = _asked(session, address, "runs/create", body | {"tags": _pairs(tags)})
        run = str(made["run"]["info"]["run_id"])
        metrics = [pair | {"timestamp": now, "step": 0} for pair in _pairs(one.numbers)]
        params = _pairs(one.names)
        for kind, each, size in (("metrics", metrics, _BATCH), ("params", params, _BATCH // 10)):
            for start in range(0, len(each), size):
                batch = {"run_id": run, kind: each[start : start + size]}
                _asked(session, address, "runs/log-batch", batch)
        ended = {"run_id": run, "status": "FINISHED", "end_time": now}
        _asked(session, address, "runs/update", ended)
    return run


def _pairs(named: Mapping[str, object]) -> list[dict[str, object]]:
    return [{"key": key, "value": value} for key, value in named.items()]


def _experiment(session: requests.Session, address: str) -> str:
    wanted = {"max_results": 1, "filter": f"name = '{_EXPERIMENT}'"}
    found = _asked(session, address, "experiments/search", wanted).get("experiments")
    if not found:
        found = [_asked(session, address, "experiments/create", {"name": _EXPERIMENT})]
    return str(found[0]["experiment_id"])


def _asked(session: requests.Session, address: str, what: str, body: object) -> dict[str, Any]:
    url = f"{address.rstrip('/')}/api/2.0/mlflow/{what}"
    try:
        answer = session.post(url, json=body, timeout=_TIMEOUT, allow_redirects=False)
        if 300 <= answer.status_code < 500:
            fix = "check the address, and MLFLOW_TRACKING_TOKEN or _USERNAME and _PASSWORD"
            raise BadInput(f"{url}: answers {answer.status_code}; {fix}")
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
    except (requests.RequestException, ValueError) as error:
        raise Unfinished(f"{url}: {type(error).__name__}; try again") from None
    return found


def to_wandb(one: Headline, project: str) -> str:
    """Make a run in a project of W&B, ENTITY/PROJECT or PROJECT, by the package `wandb`.

    What the package sends unasked is turned off: code, git, console, host and its load. Raises
    BadInput if it is not installed.
    """
    if importlib.util.find_spec(_WANDB) is None:
        raise BadInput("wandb is not installed; run: pip install wandb")
    wandb = importlib.import_module(_WANDB)
    entity, _, name = project.rpartition("/")
    settings = wandb.Settings(
        **{"console": "off", "disable_code": True, "disable_git": True, "save_code": False},
        **{"x_disable_meta": True, "x_disable_stats": True, "x_save_requirements": False},
        disable_job_creation=True,
    )
    run = wandb.init(
        **{"entity": entity or None, "project": name, "name": one.benchmark, "settings": settings},
        config={"metassay": __version__, **one.names},
    )
    run.log(dict(one.numbers))
    run.finish()
    return str(run.id)


SERVERS = {"mlflow": to_mlflow, _WANDB: to_wandb}
