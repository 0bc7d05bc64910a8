"""Systems that follow a rule: one function of one source writes for all of them."""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from metassay import __version__
from metassay.core.options import Options
from metassay.generation.record import Generated
from metassay.llm.needs import Resources
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL

Rule = Callable[[Sequence[str], Sequence[str], Any], str]
Write = Callable[[pd.DataFrame, str, Any, Resources], Generated]


def by_rule(kind: str, rule: Rule) -> Write:
    """The `write` of a system that calls `rule(passages, speakers, options)` for each source.

    The rule returns the text, with `[n]` citing `passages[n]`. An empty one means that it had
    nothing to write: that source gets a row with status error and no text. The recipe states kind,
    settings and version.
    """

    def write(
        sources: pd.DataFrame,
        name: str,
        options: Options,
        resources: Resources,  # noqa: ARG001 - a rule needs nothing but the source
    ) -> Generated:
        recipe = _recipe(kind, options)
        rows = []
        columns: Any = (sources[column] for column in ("doc_id", "passages", "speaker"))
        for doc_id, passages, speakers in zip(*columns, strict=True):
            text = rule(passages, speakers, options)
            rows.append((doc_id, name, FULL, text or None, "ok" if text else "error", recipe))
        return Generated(pd.DataFrame(rows, columns=list(TEXTS.columns)))

    return write


def _recipe(kind: str, options: Options) -> str:
    settings = [f"{key}:{value}" for key, value in sorted(options.model_dump().items())]
    return "|".join([kind, *settings, f"metassay:{__version__}"])
