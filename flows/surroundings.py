"""The environment of a run: its user's, without what would lead Prefect or loopback elsewhere."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from metassay.core.errors import BadInput, disk_problem
from metassay.core.exit_codes import REFUSED

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# How to reach a server that the user names: to say who one is, and whom one trusts.
CREDENTIALS = (
    "PREFECT_API_KEY",
    "PREFECT_API_AUTH_STRING",
    "PREFECT_API_SSL_CERT_FILE",
    "PREFECT_API_TLS_INSECURE_SKIP_VERIFY",
    "PREFECT_CLIENT_CUSTOM_HEADERS",
)


# How many threads the libraries of linear algebra take.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def _cores() -> int:
    """Those that this process may use, which may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def exit_code(action: Callable[[], int | None]) -> int:
    """What an action returns, 0 for nothing; 2 if it can't be done, and then stderr has why."""
    try:
        return action() or 0
    except BadInput as error:
        print("\n".join(error.problems), file=sys.stderr)
    except OSError as error:
        print(disk_problem(error), file=sys.stderr)
    return REFUSED


def environment(root: Path) -> dict[str, str]:
    """What a subprocess needs: this Python first on PATH, and every cache inside the project."""
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


def of_stages(root: Path, jobs: int) -> dict[str, str]:
    """The environment of a stage that runs beside `jobs` - 1 others.

    They share the cores: threads of linear algebra that have no core wait for each other. A number
    of threads that the user sets stays.
    """
    threads = str(max(1, _cores() // jobs))
    return {**dict.fromkeys(_THREADS, threads), **environment(root)}


def set_up(root: Path, *, kept: tuple[str, ...] = ()) -> list[str]:
    """Make this process's environment that of a run: of its user's PREFECT_* only these are kept.

    Returns the names of the others, but for those that are set as a run sets them. No proxy has
    our own servers.
    """
    theirs = [name for name in os.environ if name.startswith("PREFECT_") and name not in kept]
    found = {name: os.environ.pop(name) for name in theirs}
    os.environ.update(environment(root))
    spellings = ("no_proxy", "NO_PROXY")
    hosts = [host.strip() for name in spellings for host in os.environ.get(name, "").split(",")]
    exempt = ",".join(dict.fromkeys([*filter(None, hosts), *_LOOPBACK]))
    os.environ.update(dict.fromkeys(spellings, exempt))
    return sorted(name for name, value in found.items() if os.environ.get(name) != value)
