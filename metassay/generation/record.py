"""What a system is: one frozen record per module of this folder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from metassay.core.options import Options
from metassay.llm.needs import Needs, Requests, Resources

if TYPE_CHECKING:
    from metassay.llm.prompts import Decoding


class Generated(NamedTuple):
    """Rows of TEXTS, and what their owner should know: lines without any text."""

    texts: pd.DataFrame
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class System(Needs):
    """One way to write a text from a source: what a kind in params.yaml > systems stands for.

    `write(sources, name, options, resources)` makes TEXTS of SOURCES, with `name` as
    the author. `requests(sources, options, decoding, raw)` says what it would ask a model; None if
    it asks none. A `costly` system loads a model of its own, so whoever only wants an estimate
    does not run it.
    """

    options: type[Options]
    write: Callable[[pd.DataFrame, str, Any, Resources], Generated]
    requests: "Callable[[pd.DataFrame, Any, Decoding, Path], Requests] | None" = None
    costly: bool = False
