"""The texts of a change report before and after: of the documents behind rows that changed.

They are for local files alone: no Markdown, event, artifact or history has them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.errors import BadInput
from metassay.format.frames import records
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL
from metassay.tables.parquet import read, read_file
from metassay.tracking.comparison.differences import DIFFER, ROW
from metassay.tracking.comparison.locks import lock_text, outs_of, parse_lock
from metassay.tracking.comparison.sides import TABLES, found_tables
from metassay.tracking.comparison.words import document
from metassay.tracking.reevaluation.outcome import Outcome, accepted_file, row_name

MOST = 12  # texts of a report


class ChangedText(NamedTuple):
    """A system's text of a document, accepted and now; None where there is none, or none to be had.

    `rows` are the rows of table CHANGES that it is behind, by name; `same` says that both texts are
    there and are one.
    """

    doc_id: str
    author: str
    before: str | None
    after: str | None
    rows: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether the text did not change, only its scores did."""
        return self.before is not None and self.before == self.after


def changed_texts(root: Path, outcome: Outcome, most: int = MOST) -> list[ChangedText]:
    """The whole texts behind what regressed, improved or changed, those behind most rows first.

    Accepted ones are None where DVC's cache and remotes no longer have them.
    """
    behind: dict[tuple[str, str], list[str]] = {}
    changes = outcome.changes
    differ = changes[changes["verdict"].isin(DIFFER)]
    rows = outcome.documents.merge(differ[ROW], on=ROW)
    for row in records(rows):
        behind.setdefault((row["doc_id"], row["author"]), []).append(row_name(row))
    if not behind:
        return []
    before, after = _accepted(root, outcome.benchmark), _here(root, outcome.benchmark)
    ordered = sorted(behind.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        ChangedText(document(key[0]), key[1], before.get(key), after.get(key), tuple(names))
        for key, names in ordered[:most]
    ]


def _here(root: Path, benchmark: str) -> dict[tuple[str, str], str]:
    folder = root / TABLES / benchmark / TEXTS.name
    return _whole(read(TEXTS, folder)) if folder.is_dir() else {}


def _accepted(root: Path, benchmark: str) -> dict[tuple[str, str], str]:
    file = accepted_file(benchmark)
    place = (TABLES / benchmark / TEXTS.name).as_posix()
    try:
        made: Mapping[str, Any] = outs_of(parse_lock(lock_text(root / file), str(file)))
        wanted = {path: md5 for path, md5 in made.items() if path.startswith(f"{place}/")}
        files = found_tables(root, wanted, name="accepted", benchmark=benchmark)
        return _whole(pd.concat([read_file(TEXTS, file) for file in files.values()]))
    except (BadInput, ValueError):  # there is no such table any more
        return {}


def _whole(texts: pd.DataFrame) -> dict[tuple[str, str], str]:
    whole = texts[(texts["part"] == FULL) & texts["text"].notna()]
    return {(row["doc_id"], row["author"]): row["text"] for row in records(whole)}
