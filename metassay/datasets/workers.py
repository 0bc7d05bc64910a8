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
from metassay.datasets.registry import load_registry
from metassay.executor.record import LOCAL, Executor
from metassay.llm.endpoints import clear_workers

DASK = "METASSAY_DASK"  # the variable by which `metassay run --dask` tells its stages


def is_local(options: ExecutorOptions) -> bool:
    """Whether this process works alone; METASSAY_DASK overrides the options."""
    return (os.environ.get(DASK) or options.kind) == "local"


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
    changes = {"kind": "dask", "address": os.environ.get(DASK) or options.address}
    where = f"params.yaml > executor (or {DASK})"
    options = parse(ExecutorOptions, options.model_dump() | changes, where=where)
    registry = load_registry()
    datasets = sorted({benchmark.dataset, *repeated})
    raise_problems(
        label_problems(registry, datasets, [(benchmark.dataset, Path(benchmark.raw))])
    )
    clear_workers(
        {name: dataset.access for name, dataset in registry.items()}, datasets, options
    )
    with Cluster(options, name) as cluster:
        yield cluster
