"""Parts to units: statements, and the claims they make."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from metassay.errors import BadInput
from metassay.params import Options
from metassay.tables import UNITS
from metassay.text.citations import strip_citations
from metassay.units.claims import clauses
from metassay.units.statements import Statement, statements

_Row = tuple[object, ...]


class ClauseOptions(Options):
    """Claims are clauses of statements, by the rules of claims.py."""


def decompose(
    parts: pd.DataFrame,
    sources: pd.DataFrame,
    options: ClauseOptions,  # noqa: ARG001 - one rule set, without settings, so far
) -> pd.DataFrame:
    """Take the leaf parts apart: tables.PARTS and tables.SOURCES to tables.UNITS.

    Every leaf part with status ok gives its statements, with citations and spans, and their claims,
    without either but with the position of their statement. Of a text of task `question`, the whole
    text is the one claim; its statement is null if it has several sentences. Other parts give no
    units: a failed part has unknown claims, not none, which its status in tables.PARTS says.

    Raises BadInput if a part's doc_id is not in sources.
    """
    tasks = dict(zip(sources["doc_id"], sources["task"], strict=True))
    absent = sorted(set(parts["doc_id"]) - set(tasks))
    if absent:
        raise BadInput(
            f"parts: {len(absent)} doc_id(s) are not in sources, the first is {absent[0]!r};"
            " run the segment stage again"
        )
    leaves = parts[(parts["leaf"] == "yes") & (parts["status"] == "ok")]
    rows: list[_Row] = []
    columns: Any = (leaves[name] for name in ("doc_id", "author", "part", "text"))
    for doc_id, author, part, text in zip(*columns, strict=True):
        units = _question(text) if tasks[doc_id] == "question" else _units(text)
        rows += [(doc_id, author, part, *unit) for unit in units]
    frame = pd.DataFrame(rows, columns=list(UNITS.columns))
    return frame.astype({"statement": "Int64", "start": "Int64", "end": "Int64"})


def _units(text: str) -> list[_Row]:
    said = statements(text)
    claims = [(at, clause) for at, one in enumerate(said) for clause in clauses(one.text)]
    return _rows(said, claims)


def _question(text: str) -> list[_Row]:
    said = statements(text)
    if not said:
        return []
    return _rows(said, [(0 if len(said) == 1 else None, strip_citations(text).strip())])


def _rows(said: list[Statement], claims: Sequence[tuple[int | None, str]]) -> list[_Row]:
    """The columns from `kind` on."""
    rows: list[_Row] = [
        ("statement", position, one.text, "ok", list(one.citations), None, one.start, one.end)
        for position, one in enumerate(said)
    ]
    for position, (statement, claim) in enumerate(claims):
        rows.append(("claim", position, claim, "ok", [], statement, None, None))
    return rows
