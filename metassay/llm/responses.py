"""Answers as a table that can be versioned and shared: out of a ledger and into another."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.errors import BadInput
from metassay.llm.ledger import Entry, Ledger
from metassay.tables import RESPONSES, read, write


class Imported(NamedTuple):
    """What an import did: rows read, added, and known already with the same or another answer."""

    rows: int
    added: int
    same: int
    different: int


def responses(ledger: Ledger, keys: Iterable[str] | None = None) -> pd.DataFrame:
    """Rows of the table `responses`: of these questions, or of all that were ever answered.

    Raises BadInput if the ledger lacks one of the keys.
    """
    wanted = None if keys is None else set(keys)
    rows = list(ledger.rows(", ".join(RESPONSES.columns), wanted))
    if wanted is not None and len(rows) < len(wanted):
        first = min(wanted - {row[0] for row in rows})
        raise BadInput(
            f"{ledger.path}: {len(wanted) - len(rows)} of {len(wanted)} answers are not in the"
            f" ledger, the first is {first}; ask for them before exporting"
        )
    frame = pd.DataFrame(rows, columns=list(RESPONSES.columns), dtype=object)
    return frame.astype({"prompt_tokens": "Int64", "completion_tokens": "Int64"})


def export(ledger: Ledger, path: Path, keys: Iterable[str] | None = None) -> int:
    """Write the table `responses`; the same answers give the same bytes. Returns its rows."""
    frame = responses(ledger, keys)
    write(RESPONSES, frame, path)
    return len(frame)


def import_(ledger: Ledger, paths: Iterable[Path], *, replace: bool = False) -> Imported:
    """Add the answers of tables `responses`, files or folders of them.

    An answer that is there already stays, unless `replace`: then the table's takes its place, so
    that a colleague's run is repeated to the byte. Raises BadInput, changing nothing, if a request
    does not belong to its key.
    """
    total = Imported(0, 0, 0, 0)
    with ledger.database.transaction():
        for path in paths:
            done = _import(ledger, path, replace=replace)
            total = Imported(*(a + b for a, b in zip(total, done, strict=True)))
    return total


def _import(ledger: Ledger, path: Path, *, replace: bool) -> Imported:
    frame = read(RESPONSES, path)
    rows = {str(row["key"]): row for row in frame.to_dict("records")}
    wrong = [key for key, row in rows.items() if not _belongs(key, str(row["request"]))]
    if wrong:
        raise BadInput(
            f"{path}: {len(wrong)} requests do not belong to their key, the first is {wrong[0]};"
            " the file was changed: take it from its source again"
        )
    known = ledger.lookup(rows)
    counts = {"added": 0, "same": 0, "different": 0}
    for key, row in rows.items():
        entry = _entry(row)
        kind = "added" if key not in known else "same" if known[key] == entry else "different"
        counts[kind] += 1
        if kind == "different" and replace:
            ledger.forget(key)
        request = str(row["request"])
        ledger.store(request, entry, model=_model(request), endpoint_kind="imported")
    return Imported(len(rows), **counts)


def _belongs(key: str, request: str) -> bool:
    return hashlib.sha256(request.encode("utf-8")).hexdigest() == key


def _model(request: str) -> str:
    return str(json.loads(request)["model"])


def _entry(row: dict[Any, Any]) -> Entry:
    plain: dict[str, Any] = {name: None if pd.isna(value) else value for name, value in row.items()}
    prompt, completion = plain["prompt_tokens"], plain["completion_tokens"]
    return Entry(
        key=plain["key"],
        status=plain["status"],
        finish_reason=plain["finish_reason"],
        prompt_tokens=None if prompt is None else int(prompt),
        completion_tokens=None if completion is None else int(completion),
        text=plain["text"],
    )
