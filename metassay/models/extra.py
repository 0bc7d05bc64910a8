"""Packages of the extra `models`: torch, transformers and bert-score, imported when used."""

import importlib
import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

from metassay.core.errors import BadInput

INSTALL = 'run: pip install "metassay[models]"'


def module(name: str) -> Any:
    """Import a module of the extra; BadInput with how to install it if it is missing."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # An installed module that lacks its own dependency is a broken installation.
        if error.name != name.partition(".")[0]:
            raise
        raise _absent(error.name) from None


def version(package: str) -> str:
    """Return the version of a package of the extra without importing it; BadInput if missing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise _absent(package) from None


def folder(name: str) -> Path:
    """Return the folder of a package of the extra without importing it; BadInput if missing."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise _absent(name)
    return Path(spec.submodule_search_locations[0])


def _absent(name: str) -> BadInput:
    return BadInput(f"{name} is not installed; {INSTALL}")
