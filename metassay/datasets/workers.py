"""Choose the executor for a benchmark's texts: this process, or a cluster that is cleared for them.

Clearance follows the text, for machines as for endpoints (`metassay.llm.endpoints`).
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from metassay.core.errors import BadInput, raise_problems
from metassay.core.options import parse
from metassay.core.params import Evaluation, ExecutorOptions
from metassay.datasets.labels import label_problems
from metassay.datasets.registry import Dataset, load_registry
from metassay.executor.exposure import exposure
from metassay.executor.record import LOCAL, Executor
from metassay.llm.endpoints import PUBLIC, clear_workers

DASK = "METASSAY_DASK"  # the variable by which `metassay run --dask` tells its stages


def is_local(options: ExecutorOptions) -> bool:
    """Whether this process works alone; METASSAY_DASK overrides the options."""
    return (os.environ.get(DASK) or options.kind) == "local"


def set_address(options: ExecutorOptions, address: str | None) -> ExecutorOptions:
    """Return the options with a scheduler's address, `local`, or None for their own."""
    if address == "local":
        return options.model_copy(update={"kind": "local"})
    if not address:
        return options
    changes = {"kind": "dask", "address": address}
    where = f"params.yaml > executor (or {DASK})"
    return parse(ExecutorOptions, options.model_dump() | changes, where=where)


def exposed_to(options: ExecutorOptions, datasets: Iterable[Dataset]) -> str:
    """Return a warning if others can reach the workers; empty if they cannot.

    Raises BadInput if texts of one of the datasets are not public.
    """
    if options.kind == "local" or options.address is None:
        return ""
    problem = exposure(options.address)
    if not problem:
        return ""
    everybody = "everybody who reaches it can run code there and read what passes"
    remedy = (
        "start scheduler and workers with --host 127.0.0.1, or with TLS:"
        " docs/running.md#more-than-one-machine"
    )
    private = sorted({dataset.access for dataset in datasets} - {PUBLIC})
    if private:
        raise BadInput(
            f"executor: {problem}: {everybody}. No {' or '.join(private)} text goes there;"
            f" {remedy}"
        )
    return f"executor: {problem}: {everybody}; {remedy}"


@contextmanager
def open_executor(
    options: ExecutorOptions,
    benchmark: Evaluation,
    repeated: Iterable[str],
    *,
    stage: str,
) -> Iterator[Executor]:
    """Open the executor for a stage's texts, which may repeat text of the datasets `repeated`.

    `stage` is the name of the stage's instance. The variable METASSAY_DASK, a
    scheduler's address or `local`, overrides `options`. Raises BadInput where text may
    not go to the workers, or its access class is in doubt.
    """
    name = f"{benchmark.name}-{stage}"
    if is_local(options):
        yield LOCAL
        # of a run that was ended
        shutil.rmtree(Path(options.storage, name), ignore_errors=True)
        return
    try:
        from metassay.executor.dask_cluster import Cluster
    except ImportError:
        raise BadInput(
            'executor: Dask is not installed; run: pip install "metassay[dask]"'
        ) from None
    options = set_address(options, os.environ.get(DASK))
    registry = load_registry()
    datasets = sorted({benchmark.dataset, *repeated})
    raise_problems(
        label_problems(registry, datasets, [(benchmark.dataset, Path(benchmark.raw))])
    )
    clear_workers(
        {name: dataset.access for name, dataset in registry.items()}, datasets, options
    )
    exposed_to(options, [registry[name] for name in datasets])
    with Cluster(options, name) as cluster:
        yield cluster
