"""The environment of a run: its user's, without what would lead Prefect or loopback elsewhere."""

import os
from collections.abc import Mapping
from pathlib import Path

from flows.dag import environment

LOOPBACK = ("localhost", "127.0.0.1", "::1")
# How to reach a server that the user names: to say who one is, and whom one trusts.
CREDENTIALS = (
    "PREFECT_API_KEY",
    "PREFECT_API_AUTH_STRING",
    "PREFECT_API_SSL_CERT_FILE",
    "PREFECT_API_TLS_INSECURE_SKIP_VERIFY",
    "PREFECT_CLIENT_CUSTOM_HEADERS",
)


def _without_proxy(told: Mapping[str, str]) -> dict[str, str]:
    """Both spellings of NO_PROXY, extended by loopback: no proxy has our own servers."""
    names = ("no_proxy", "NO_PROXY")
    hosts = [one.strip() for name in names for one in told.get(name, "").split(",")]
    exempt = ",".join(dict.fromkeys([*filter(None, hosts), *LOOPBACK]))
    return dict.fromkeys(names, exempt)


def set_up(root: Path, *, kept: tuple[str, ...] = ()) -> list[str]:
    """Make this process's environment that of a run: of its user's PREFECT_* only these are kept.

    Returns the names of the others, but for those that are set as a run sets them.
    """
    theirs = [name for name in os.environ if name.startswith("PREFECT_") and name not in kept]
    found = {name: os.environ.pop(name) for name in theirs}
    os.environ.update(environment(root))
    os.environ.update(_without_proxy(os.environ))
    return sorted(name for name, value in found.items() if os.environ.get(name) != value)


def files_of_prefect(root: Path) -> list[str]:
    """Where Prefect would find settings that a run does not read: the project's and the user's."""
    of_project = {"prefect.toml": "", "pyproject.toml": "[tool.prefect", ".env": "PREFECT_"}
    places = {name: (root / name, text) for name, text in of_project.items()}
    places["~/.prefect/profiles.toml"] = Path("~/.prefect/profiles.toml"), "PREFECT_API_URL"
    return [name for name, (path, text) in places.items() if _has(path, text)]


def _has(path: Path, text: str) -> bool:
    """False, too, if there is no such file, no home, or no right to read it."""
    try:
        file = path.expanduser()
        return file.is_file() and text in file.read_text(encoding="utf-8", errors="replace")
    except (OSError, RuntimeError):
        return False
