"""Records of systems, and the function that writes texts with one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from metassay import __version__
from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.executor.record import LOCAL, Executor, apply_to_frames, group_by_document
from metassay.llm.needs import Needs, Requests, Resources, executor_for, files_of
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL

if TYPE_CHECKING:
    from metassay.llm.prompts import Decoding


class Generated(NamedTuple):
    """Rows of TEXTS, and warnings for the user, without any of their text."""

    texts: pd.DataFrame
    warnings: tuple[str, ...] = ()


Write = Callable[[pd.DataFrame, str, Any, Resources], Generated]


@dataclass(frozen=True, kw_only=True)
class System(Needs):
    """A kind of system in params.yaml > systems, which writes a text from a source.

    `write(sources, name, options, resources)` returns TEXTS of SOURCES, with `name` as
    the author. `requests(sources, options, decoding, raw)` returns its questions to a
    model. `follow_up(texts, options, decoding)` returns those that it asks about its
    own first answers, given TEXTS with them. A `costly` system loads a model itself, so
    estimates do not run it.
    """

    options: type[Options]
    write: Write
    requests: "Callable[[pd.DataFrame, Any, Decoding, Path], Requests] | None" = None
    follow_up: "Callable[[pd.DataFrame, Any, Decoding], Requests] | None" = None
    costly: bool = False


def write_texts(
    sources: pd.DataFrame,
    name: str,
    system: Chosen,
    resources: Resources,
    executor: Executor = LOCAL,
) -> Generated:
    """Write a text for every source: SOURCES to TEXTS, with `name` as the author.

    A source for which writing failed has a row with a status and no text.
    """
    write, rest = system.record.write, (name, system.options, resources)
    workers = executor_for(system, executor)
    if not workers.remote:
        return Generated(*write(sources, *rest))
    pieces, forms = group_by_document(sources)
    shards = workers.map(
        apply_to_frames, pieces, forms, write, *rest, files=files_of(system)
    )
    texts = pd.concat([shard.texts for shard in shards], ignore_index=True)
    return Generated(
        texts, tuple(warning for shard in shards for warning in shard.warnings)
    )


def by_rule(
    kind: str, rule: Callable[[Sequence[str], Sequence[str], Any], str]
) -> Write:
    """Return the `write` of a system that calls `rule(passages, speakers, options)` per source.

    The rule returns the text, in which `[n]` cites `passages[n]`; if it is empty, the
    row has status error and no text. The recipe has kind, settings and version.
    """

    def write(
        sources: pd.DataFrame, name: str, options: Options, _: Resources
    ) -> Generated:
        settings = [
            f"{key}:{value}" for key, value in sorted(options.model_dump().items())
        ]
        recipe = "|".join([kind, *settings, f"metassay:{__version__}"])
        rows = []
        columns: Any = (sources[column] for column in ("doc_id", "passages", "speaker"))
        for doc_id, passages, speakers in zip(*columns, strict=True):
            text = rule(passages, speakers, options)
            rows.append(
                (doc_id, name, FULL, text or None, "ok" if text else "error", recipe)
            )
        return Generated(pd.DataFrame(rows, columns=list(TEXTS.columns)))

    return write
