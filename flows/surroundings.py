"""The environment of a run: its user's, without settings that mislead Prefect or loopback."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from metassay.core.errors import BadInput, disk_problem
from metassay.core.exit_codes import REFUSED

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# How to reach a server that the user names: credentials and trusted certificates.
CREDENTIALS = (
    "PREFECT_API_KEY",
    "PREFECT_API_AUTH_STRING",
    "PREFECT_API_SSL_CERT_FILE",
    "PREFECT_API_TLS_INSECURE_SKIP_VERIFY",
    "PREFECT_CLIENT_CUSTOM_HEADERS",
)

# The number of threads of PyTorch, and of numpy on macOS; of OpenBLAS it is 1
# (stages/__init__.py).
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def exit_code(action: Callable[[], int | None]) -> int:
    """Return what an action returns, 0 for None; 2, and print the reason, if it cannot be done."""
    try:
        return action() or 0
    except BadInput as error:
        print("\n".join(error.problems), file=sys.stderr)
    except OSError as error:
        print(disk_problem(error), file=sys.stderr)
    return REFUSED


def environment(root: Path) -> dict[str, str]:
    """Return a subprocess's environment: this Python first on PATH, every cache in the project."""
    work = root.resolve() / ".work"
    return {
        **os.environ,
        "DO_NOT_TRACK": "1",
        "DVC_NO_ANALYTICS": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PREFECT_HOME": str(work / "prefect"),
        "SQLITE_TMPDIR": str(work),
        "MPLCONFIGDIR": str(work / "matplotlib"),
        "DVC_SITE_CACHE_DIR": str(work / "dvc"),
        "DVC_GLOBAL_CONFIG_DIR": str(work / "dvc-config"),
        "PYTHONHASHSEED": "0",
    }


def stage_environment(root: Path, jobs: int) -> dict[str, str]:
    """Return the environment of a stage that runs beside `jobs` - 1 others.

    They share the cores: threads of PyTorch without a core wait for each other.
    A number of threads that the user sets stays.
    """
    # This process may use fewer cores than there are.
    cores = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count()
    )
    return {
        **dict.fromkeys(_THREADS, str(max(1, (cores or 1) // jobs))),
        **environment(root),
    }


def set_up(root: Path, *, keep: tuple[str, ...] = ()) -> list[str]:
    """Give this process the environment of a run: of the user's PREFECT_*, only `keep` stays.

    Returns the names of the others, except those already set as a run sets them. Our
    own servers get no proxy.
    """
    names = [
        name for name in os.environ if name.startswith("PREFECT_") and name not in keep
    ]
    values = {name: os.environ.pop(name) for name in names}
    os.environ.update(environment(root))
    spellings = ("no_proxy", "NO_PROXY")
    hosts = [
        host.strip()
        for name in spellings
        for host in os.environ.get(name, "").split(",")
    ]
    exempt = ",".join(dict.fromkeys([*filter(None, hosts), *_LOOPBACK]))
    os.environ.update(dict.fromkeys(spellings, exempt))
    return sorted(
        name for name, value in values.items() if os.environ.get(name) != value
    )
