"""Words of pages, as files of this folder."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from metassay.core import strict_yaml

Block = Mapping[str, Any]


@cache
def texts(file: str) -> Any:
    """The blocks of a file of this folder, such as `words.yaml`."""
    return strict_yaml.load(Path(__file__).with_name(file))
