"""A Dask cluster of Slurm jobs, for `metassay run NAME --dask tcp://HOST:8786`.

    pip install "metassay[pipeline,models,dask]" dask-jobqueue
    python slurm.py 40        # in the project's folder, on a node that stays up, such as in tmux

This is for public datasets alone: everybody who reaches the scheduler can have it run
code. For others see TLS in docs/integrations.md.

Each job is one worker with one thread, of at most 40 that are there while there is
work. Jobs copy the project to their node's own disk, because SQLite, which keeps what
models computed, cannot be shared over a network drive. Shards stay on the shared one,
in .work/shards of the project.
"""

import sys
import threading
from pathlib import Path

from dask_jobqueue.slurm import SLURMCluster

PROJECT = Path.cwd()


def start(most: int) -> SLURMCluster:
    """The scheduler, in this process; jobs come and go with the work."""
    cluster = SLURMCluster(
        queue="cpu",
        account=None,
        cores=1,
        processes=1,
        memory="6GB",
        walltime="04:00:00",
        python=sys.executable,
        job_extra_directives=["--requeue"],
        job_script_prologue=[
            "export OMP_NUM_THREADS=1",
            'own="${TMPDIR:-/tmp}/metassay-$SLURM_JOB_ID"',
            f'rsync -a --exclude .work --exclude .dvc/cache "{PROJECT}/" "$own/"',
            'cd "$own"',
        ],
        worker_extra_args=["--lifetime", "230m", "--lifetime-stagger", "5m"],
        scheduler_options={"port": 8786, "dashboard_address": None},
    )
    cluster.adapt(minimum=1, maximum=most)
    return cluster


if __name__ == "__main__":
    running = start(int(sys.argv[1]))
    print(running.scheduler_address, flush=True)
    threading.Event().wait()
