"""What comes with the extra `models`: torch, transformers and bert-score, imported when used."""

import importlib
import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

from metassay.core.errors import BadInput


def module(name: str) -> Any:
    """Import a module of the extra; BadInput says how to install it if it is not there."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # A module that is there, but lacks one of its own, is a broken installation.
        if error.name != name.partition(".")[0]:
            raise
        raise _absent(error.name) from None


def version(package: str) -> str:
    """The installed version of a package of the extra, which is not imported; BadInput as above."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise _absent(package) from None


def folder(name: str) -> Path:
    """Where a package of the extra lies; it is not imported. BadInput as above."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise _absent(name)
    return Path(spec.submodule_search_locations[0])


def _absent(name: str) -> BadInput:
    return BadInput(f'{name} is not installed; run: pip install "metassay[models]"')
