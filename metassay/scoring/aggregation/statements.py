"""Single statements with the passages that are aligned with them, and rows of their scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput
from metassay.scoring.aggregation.cells import places_in
from metassay.tables.checks import without_further_references
from metassay.tables.names import aligned_suffixes
from metassay.tables.parquet import empty, rounded
from metassay.tables.statement_scores import STATEMENT_SCORES

PLACE = ["doc_id", "author", "part", "position"]
_TEXT = ["doc_id", "author"]


@dataclass(frozen=True)
class Read:
    """The n statements of a benchmark: rows of `units` with `number`, and what each is read with.

    `sources`: of each statement all passages of its document. `aligned`: by what an alignment adds
    to names of metrics, of each statement the places of its passages, in the order of the source.
    """

    statements: pd.DataFrame
    sources: Sequence[Sequence[str]]
    aligned: Mapping[str, Sequence[Sequence[int]]]

    @property
    def texts(self) -> list[str]:
        """The statements' words."""
        return [str(text) for text in self.statements["text"]]

    def passages(self, suffix: str) -> list[tuple[str, ...]]:
        """What each statement is read against by an alignment."""
        pairs = zip(self.sources, self.aligned[suffix], strict=True)
        return [tuple(source[place] for place in places) for source, places in pairs]


def read_statements(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    alignments: Mapping[str, pd.DataFrame],
) -> Read:
    """All statements with their passages; `alignments` by name, in the benchmark's order.

    Raises BadInput if a statement has no row in an alignment.
    """
    known = units[(units["kind"] == "statement") & (units["status"] == "ok")]
    statements = numbered(without_further_references(known), parts)
    passages = dict(zip(sources["doc_id"], sources["passages"], strict=True))
    aligned = {}
    for name, suffix in aligned_suffixes("all", list(alignments)).items():
        rows = alignments[name]
        at = places_in(statements[PLACE], rows[PLACE])
        if (at < 0).any():
            raise BadInput(
                f"alignments {name}: {(at < 0).sum()} statements have no row; metassay run makes"
                " it again"
            )
        aligned[suffix] = [sorted(places) for places in rows["passages"].to_numpy()[at]]
    return Read(statements, [passages[doc_id] for doc_id in statements["doc_id"]], aligned)


def numbered(statements: pd.DataFrame, parts: pd.DataFrame) -> pd.DataFrame:
    """Statements with `number`, their place in the whole text from 0, sorted by it."""
    starts = parts.set_index(["doc_id", "author", "part"])["starts"]
    begins = starts.map(lambda of_part: min(of_part, default=0))
    keys = pd.MultiIndex.from_frame(statements[["doc_id", "author", "part"]])
    placed = statements.assign(begins=begins.reindex(keys).to_numpy())
    placed = placed.sort_values([*_TEXT, "begins", "part", "position"], ignore_index=True)
    return placed.assign(number=placed.groupby(_TEXT).cumcount()).drop(columns="begins")


def rows_of(  # noqa: PLR0913 - the columns of the table
    read: Read,
    metric: str,
    better: str,
    judge: str,
    recipe: str,
    value: Any,
    *,
    failed: Any = False,
    unread: Any = 0.0,
    cut: Any = False,
) -> pd.DataFrame:
    """One metric's rows of table `statement_scores`: arrays have n values, null is NaN."""
    about = {"metric": metric, "judge": judge, "better": better, "recipe": recipe}
    return read.statements[[*PLACE, "number"]].assign(
        **about,
        value=np.asarray(value, dtype=float),
        failed=failed,
        unread=unread,
        cut=cut,
    )


def table_of(metrics: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Table `statement_scores`."""
    if not metrics or not len(metrics[0]):
        return empty(STATEMENT_SCORES)
    whole = pd.concat(metrics, ignore_index=True)[list(STATEMENT_SCORES.columns)]
    return whole.assign(value=whole["value"].map(rounded))
