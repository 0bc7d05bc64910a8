"""Send headline numbers to a server that tracks experiments: MLflow by its REST interface, or W&B.

Only names and numbers of `benchmarks/NAME/headline.json` are sent: no text, rating or
path.
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
from typing import Any

import requests

from metassay import __version__
from metassay.core.errors import BadInput, Unfinished
from metassay.core.options import BENCHMARKS

_EXPERIMENT, _WANDB = "metassay", "wandb"
_BATCHES = {"metrics": 1000, "params": 100}  # how many MLflow takes at once
_TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two pieces of the answer
# characters that MLflow refuses in names
_FORBIDDEN = re.compile(r"[^\w\-. :/]", re.ASCII)

Numbers = Mapping[str, float]  # by path in headline.json
Names = Mapping[str, str]


def headline(name: str, project: Path) -> tuple[Numbers, Names]:
    """Read a benchmark's finite headline numbers and metrics' names; BadInput if it cannot."""
    file = project / BENCHMARKS / name / "headline.json"
    try:
        leaves = dict(_leaves(json.loads(file.read_text("utf-8"))))
    except (OSError, ValueError):
        raise BadInput(f"{file}: cannot be read; run: metassay run {name}") from None
    numbers = {
        path: float(v) for path, v in leaves.items() if isinstance(v, int | float)
    }
    names = {
        p: v for p, v in leaves.items() if p.endswith("/metric") and isinstance(v, str)
    }
    return {path: v for path, v in numbers.items() if math.isfinite(v)}, names


def _leaves(value: object, steps: tuple[str, ...] = ()) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, (*steps, name))
    else:
        yield _FORBIDDEN.sub("_", "/".join(steps)), value


def send_to_mlflow(name: str, numbers: Numbers, metrics: Names, address: str) -> str:
    """Make a run of a headline in the experiment `metassay` of MLflow's server; return its id.

    MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and _PASSWORD, are sent if they
    are set. Raises BadInput for what the server refuses, Unfinished if it does not
    answer.
    """
    token, user, password = (
        os.environ.get(f"MLFLOW_TRACKING_{suffix}", "")
        for suffix in ("TOKEN", "USERNAME", "PASSWORD")
    )
    with requests.session() as session:
        session.auth = (user, password) if user and not token else None
        session.headers.update({"Authorization": f"Bearer {token}"} if token else {})

        def post(method: str, **body: object) -> dict[str, Any]:
            return _answer(
                session, f"{address.rstrip('/')}/api/2.0/mlflow/{method}", body
            )

        query = f"name = '{_EXPERIMENT}'"
        matches = post("experiments/search", max_results=1, filter=query).get(
            "experiments"
        )
        experiment = (matches or [post("experiments/create", name=_EXPERIMENT)])[0][
            "experiment_id"
        ]
        now = time.time_ns() // 1_000_000
        tags = _pairs({"mlflow.runName": name, "metassay.version": __version__})
        fields: dict[str, Any] = {"start_time": now, "run_name": name, "tags": tags}
        run = post("runs/create", experiment_id=experiment, **fields)["run"]["info"][
            "run_id"
        ]
        values = [pair | {"timestamp": now, "step": 0} for pair in _pairs(numbers)]
        for kind, pairs in (("metrics", values), ("params", _pairs(metrics))):
            for start in range(0, len(pairs), _BATCHES[kind]):
                post(
                    "runs/log-batch",
                    run_id=run,
                    **{kind: pairs[start : start + _BATCHES[kind]]},
                )
        post("runs/update", run_id=run, status="FINISHED", end_time=now)
    return str(run)


def _pairs(values: Mapping[str, object]) -> list[dict[str, object]]:
    return [{"key": key, "value": value} for key, value in values.items()]


def _answer(session: requests.Session, url: str, body: object) -> dict[str, Any]:
    try:
        answer = session.post(url, json=body, timeout=_TIMEOUT, allow_redirects=False)
        if 300 <= answer.status_code < 500:
            fix = "check the address, and MLFLOW_TRACKING_TOKEN or _USERNAME and _PASSWORD"
            raise BadInput(f"{url}: answers {answer.status_code}; {fix}")
        answer.raise_for_status()
        content: dict[str, Any] = answer.json()
    except (requests.RequestException, ValueError) as error:
        raise Unfinished(f"{url}: {type(error).__name__}; try again") from None
    return content


def send_to_wandb(name: str, numbers: Numbers, metrics: Names, project: str) -> str:
    """Make a run of a headline in W&B's ENTITY/PROJECT or PROJECT, by its package; return its id.

    Everything else that the package would send is turned off: code, git, console, host,
    load and the list of packages. Raises BadInput if it is not installed.
    """
    if importlib.util.find_spec(_WANDB) is None:
        raise BadInput("wandb is not installed; run: pip install wandb")
    wandb = importlib.import_module(_WANDB)
    entity, _, project_name = project.rpartition("/")
    off = ("disable_code", "disable_git", "disable_job_creation", "x_disable_meta")
    quiet: dict[str, Any] = dict.fromkeys((*off, "x_disable_stats"), True)
    settings = wandb.Settings(
        console="off", save_code=False, x_save_requirements=False, **quiet
    )
    config = {"metassay": __version__, **metrics}
    where = {"entity": entity or None, "project": project_name, "name": name}
    run = wandb.init(**where, settings=settings, config=config)
    run.log(dict(numbers))
    run.finish()
    return str(run.id)


SERVERS = {"mlflow": send_to_mlflow, _WANDB: send_to_wandb}
