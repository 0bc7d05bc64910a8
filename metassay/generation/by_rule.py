"""Systems that follow a rule, such as copying passages: one function writes for each source."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd

from metassay import __version__
from metassay.core.options import Options
from metassay.generation.record import Generated
from metassay.llm.needs import Resources
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL
from metassay.text.citations import parse
from metassay.text.sentences import sentences

Rule = Callable[[Sequence[str], Sequence[str], Any], str]
Write = Callable[[pd.DataFrame, str, Any, Resources], Generated]


def by_rule(kind: str, rule: Rule) -> Write:
    """The `write` of a system that calls `rule(passages, speakers, options)` for each source.

    The rule returns the text, with `[n]` citing `passages[n]`; an empty one is a row with status
    error and no text. The recipe states kind, settings and version.
    """

    def write(sources: pd.DataFrame, name: str, options: Options, _: Resources) -> Generated:
        settings = [f"{key}:{value}" for key, value in sorted(options.model_dump().items())]
        recipe = "|".join([kind, *settings, f"metassay:{__version__}"])
        rows = []
        columns: Any = (sources[column] for column in ("doc_id", "passages", "speaker"))
        for doc_id, passages, speakers in zip(*columns, strict=True):
            text = rule(passages, speakers, options)
            rows.append((doc_id, name, FULL, text or None, "ok" if text else "error", recipe))
        return Generated(pd.DataFrame(rows, columns=list(TEXTS.columns)))

    return write


def copied(passages: Sequence[str], chosen: Iterable[int]) -> str:
    """The chosen passages, a line each, their own citations replaced by ` [n]` per sentence."""
    lines = []
    for at in chosen:
        passage = " ".join(passages[at].split())
        said = [parse(passage[start:end]).text for start, end in sentences(passage)]
        if said:
            lines.append(" ".join(f"{sentence} [{at}]" for sentence in said))
    return "\n".join(lines)
