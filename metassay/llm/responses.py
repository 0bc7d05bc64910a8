"""Answers, and failures, as a table that can be shared: out of a ledger and into another."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.errors import BadInput, raise_problems
from metassay.llm.ledger import Entry, Failure, Ledger
from metassay.llm.messages import logprobs_from_json, read_request
from metassay.tables.parquet import read, write
from metassay.tables.responses import RESPONSES

_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_MOST_TOKENS = 10**10  # of one answer; more does not stay countable when it is added up
_BATCH = 1000  # rows written at a time, so that other processes need not wait for long


class Imported(NamedTuple):
    """What an import did: rows read, added, and known already with the same or another answer."""

    rows: int
    added: int
    same: int
    different: int


def responses(
    ledger: Ledger, keys: Iterable[str] | None = None, failures: Iterable[Failure] | None = None
) -> pd.DataFrame:
    """Rows of the table `responses`: of these questions, or of all that were ever asked.

    `failures` are those given up on; by default those that the ledger has noted. Raises BadInput if
    a key has neither an answer nor a failure, or a request was changed.
    """
    wanted = None if keys is None else set(keys)
    known = ledger.failures(wanted) if failures is None else {f.key: f for f in failures}
    asked = None if wanted is None else wanted - known.keys()
    rows = list(ledger.rows(", ".join(RESPONSES.columns), asked))
    if asked is not None and len(rows) < len(asked):
        first = min(asked - {row[0] for row in rows})
        raise BadInput(
            f"{ledger.path}: {len(asked) - len(rows)} of {len(asked)} answers are not in the"
            f" ledger, the first is {first}; ask for them before exporting"
        )
    nothing = (None,) * (len(RESPONSES.columns) - 4)
    rows += [(f.key, f.request, "error", f.code, *nothing) for f in known.values()]
    ledger.check_questions((row[0], row[1]) for row in rows)
    frame = pd.DataFrame(rows, columns=list(RESPONSES.columns), dtype=object)
    return frame.astype({"prompt_tokens": "Int64", "completion_tokens": "Int64"})


def export(ledger: Ledger, path: Path, keys: Iterable[str] | None = None) -> int:
    """Write the table `responses`; the same answers give the same bytes. Returns its rows."""
    frame = responses(ledger, keys)
    write(RESPONSES, frame, path)
    return len(frame)


def import_(ledger: Ledger, paths: Iterable[Path], *, replace: bool = False) -> Imported:
    """Add the answers of tables `responses`; BadInput, changing nothing, if one was changed.

    An answer that is there stays, unless `replace`. A failure never takes an answer's place.
    """
    files = list(paths)
    for path in files:  # all of them, before the first is imported
        _read(path)
    total = Imported(0, 0, 0, 0)
    for path in files:
        done = _import(ledger, _read(path), replace=replace)
        total = Imported(*(a + b for a, b in zip(total, done, strict=True)))
    return total


def _read(path: Path) -> list[dict[Any, Any]]:
    rows = read(RESPONSES, path).to_dict("records")
    counts = ("prompt_tokens", "completion_tokens")
    checks: dict[str, Callable[[dict[Any, Any]], bool]] = {
        "requests do not belong to their key": lambda row: (
            read_request(row["request"], row["key"]) is not None
        ),
        "answers have numbers of tokens that cannot be": lambda row: all(
            pd.isna(row[name]) or 0 <= row[name] <= _MOST_TOKENS for name in counts
        ),
        "answers have log-probabilities that cannot be read": lambda row: (
            pd.isna(row["logprobs"]) or logprobs_from_json(row["logprobs"]) is not None
        ),
    }
    wrong = {what: [r["key"] for r in rows if not sound(r)] for what, sound in checks.items()}
    raise_problems(
        f"{path}: {len(keys)} {what}, the first is {keys[0]}; the file was changed: take it from"
        " its source again"
        for what, keys in wrong.items()
        if keys
    )
    return rows


def _import(ledger: Ledger, rows: list[dict[Any, Any]], *, replace: bool) -> Imported:
    known = ledger.lookup(row["key"] for row in rows)
    failed = ledger.failures(row["key"] for row in rows if row["status"] == "error")
    counts = {"added": 0, "same": 0, "different": 0}
    for start in range(0, len(rows), _BATCH):
        with ledger.database.transaction():
            for row in rows[start : start + _BATCH]:
                new = _read_row(row)
                before = known.get(new.key) if isinstance(new, Entry) else failed.get(new.key)
                kind = "added" if before is None else "same" if before == new else "different"
                if isinstance(new, Failure) and new.key in known:
                    kind = "same"
                elif isinstance(new, Failure):
                    if kind == "added" or (replace and kind == "different"):
                        ledger.note_failures([new])
                else:
                    if kind == "different" and replace:
                        ledger.forget(new.key)
                    model = str(json.loads(row["request"])["model"])
                    ledger.store(row["request"], new, model=model, endpoint_kind="imported")
                counts[kind] += 1
    return Imported(len(rows), **counts)


def _read_row(row: dict[Any, Any]) -> Entry | Failure:
    plain: dict[str, Any] = {n: None if pd.isna(row[n]) else row[n] for n in Entry._fields}
    if row["status"] == "error":
        code = str(plain["finish_reason"])
        return Failure(row["key"], code if _CODE.fullmatch(code) else "unknown", row["request"])
    for name in ("prompt_tokens", "completion_tokens"):
        plain[name] = None if plain[name] is None else int(plain[name])
    return Entry(**plain)
