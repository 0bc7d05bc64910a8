"""Sources to texts by rule: one system writes for every source."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from metassay import __version__
from metassay.generation import lead, longest_turn
from metassay.generation.lead import LeadOptions
from metassay.generation.longest_turn import LongestTurnOptions
from metassay.params import Options
from metassay.tables import FULL, TEXTS


class System(NamedTuple):
    """A kind of system that follows a rule: the class of its options, and what writes one text.

    `write(passages, speakers, options)` returns the text, with `[n]` citing `passages[n]`; an empty
    one means that it had nothing to write.
    """

    options: type[Options]
    write: Callable[[Sequence[str], Sequence[str], Any], str]


RULES: Mapping[str, System] = {
    "lead": System(LeadOptions, lead.write),
    "longest_turn": System(LongestTurnOptions, longest_turn.write),
}


def generate(sources: pd.DataFrame, name: str, options: Options) -> pd.DataFrame:
    """Write a text for every source: tables.SOURCES to tables.TEXTS, with `name` as the author.

    The kind of system follows from the class of `options`. A source without passages, or from which
    nothing could be written, gives a row with status error and no text. The recipe states kind,
    settings and version.
    """
    kind, system = next((k, s) for k, s in RULES.items() if type(options) is s.options)
    recipe = _recipe(kind, options)
    rows = []
    columns: Any = (sources[column] for column in ("doc_id", "passages", "speaker"))
    for doc_id, passages, speakers in zip(*columns, strict=True):
        text = system.write(passages, speakers, options)
        rows.append((doc_id, name, FULL, text or None, "ok" if text else "error", recipe))
    return pd.DataFrame(rows, columns=list(TEXTS.columns))


def _recipe(kind: str, options: Options) -> str:
    settings = [f"{key}:{value}" for key, value in sorted(options.model_dump().items())]
    return "|".join([kind, *settings, f"metassay:{__version__}"])
