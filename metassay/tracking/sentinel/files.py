"""Where the sentinel keeps what: keys and verdicts beside the benchmark, texts out of git's sight.

The anchors' texts may be private, so they lie under .work/, which git ignores and which has the
ledger with the same texts. A clone without them takes them from the tables of pairs, as far as
these still ask the same: a pair_id is the hash of its texts.
"""

import contextlib
import fcntl
import json
import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pandas as pd

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.core.options import BENCHMARKS
from metassay.scoring.pairing.pairs import pair_id
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import Table, empty, read, write
from metassay.tables.tracking import ANCHORS, DRIFT

WORK = Path(".work/sentinel")
TABLES_FOLDER = Path("data/tables")
_OPEN_FOR = timedelta(hours=24)  # a check that was cut off goes on where it stopped, for so long
_log = logging.getLogger(__name__)
_APART = 1000  # salts between two draws: more than a judge repeats its own questions


def anchors_file(benchmark: str, judge: str) -> Path:
    """Table `anchors` of one judge."""
    return BENCHMARKS / benchmark / "sentinel" / "anchors" / f"{judge}.parquet"


def drift_file(benchmark: str) -> Path:
    """Table `drift`, of all judges."""
    return BENCHMARKS / benchmark / "sentinel" / "drift.parquet"


def watched(benchmark: str) -> list[str]:
    """The judges that have anchors."""
    return sorted(file.stem for file in anchors_file(benchmark, "any").parent.glob("*.parquet"))


def read_anchors(benchmark: str, judge: str) -> pd.DataFrame:
    """Table `anchors` of a judge; BadInput where nobody fixed any."""
    file = anchors_file(benchmark, judge)
    if not file.exists():
        there = ", ".join(watched(benchmark)) or "none"
        raise BadInput(
            f"{file} does not exist: judge {judge!r} has no anchors (judges that have some:"
            f" {there}); `metassay sentinel fix {benchmark} --judge {judge}` draws them"
        )
    return read_kept(ANCHORS, file)


def write_texts(benchmark: str, judge: str, pairs: pd.DataFrame) -> None:
    """Keep what the anchors ask, as rows of `pairs`."""
    write(PAIRS, pairs, _work(benchmark, judge, "parquet"))


def read_texts(benchmark: str, judge: str, pair_ids: Iterable[str]) -> pd.DataFrame:
    """The rows of `pairs` that ask these questions; BadInput where a text is not to be had."""
    wanted = sorted(set(pair_ids))
    file = _work(benchmark, judge, "parquet")
    tables = TABLES_FOLDER / benchmark / PAIRS.name
    files = [file] if file.exists() else sorted(tables.glob("*.parquet"))
    rows = [_those(read(PAIRS, one), wanted) for one in files]
    found = pd.concat(rows, ignore_index=True) if rows else None
    absent = len(wanted) - (0 if found is None else found["pair_id"].nunique())
    if found is None or absent:
        raise BadInput(
            f"{file}: {absent} of {len(wanted)} anchors have no text here, and the tables of"
            f" {benchmark!r} do not ask them any more; copy the file from where the anchors were"
            f" fixed, or draw others: metassay sentinel fix {benchmark} --judge {judge} --replace"
        )
    return found


def _those(pairs: pd.DataFrame, wanted: list[str]) -> pd.DataFrame:
    """Rows that ask what is wanted, and whose texts are those that were hashed."""
    rows = pairs[pairs["pair_id"].isin(wanted) & pairs["settled"].isna()]
    texts = rows[["instrument", "premise", "hypothesis", "context"]].astype(object)
    texts = texts.where(texts.notna(), None)
    hashes = [pair_id(*said) for said in texts.itertuples(index=False)]
    return rows[rows["pair_id"] == pd.Series(hashes, index=rows.index, dtype="str")]


@contextmanager
def alone(benchmark: str) -> Iterator[None]:
    """Nobody else checks this benchmark's judges meanwhile: two would write over each other's rows
    and share answers. A second one waits; a killed one lets go."""
    path = WORK / f"{benchmark}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _log.warning("%s: waiting for another check of its judges to end", benchmark)
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def append_drift(benchmark: str, rows: pd.DataFrame) -> None:
    """Add rows to table `drift`."""
    file = drift_file(benchmark)
    known = [read_kept(DRIFT, file)] if file.exists() else []
    write(DRIFT, pd.concat([*known, rows], ignore_index=True), file)


def unused(benchmark: str, judge: str, now: datetime) -> datetime:
    """`now` to the second, or the next one of which there is no row yet."""
    file, now = drift_file(benchmark), now.replace(microsecond=0)
    rows = read_kept(DRIFT, file) if file.exists() else empty(DRIFT)
    taken = set(rows.loc[rows["judge"] == judge, "when"])
    while f"{now:%Y-%m-%dT%H:%M:%SZ}" in taken:
        now += timedelta(seconds=1)
    return now


def salt(benchmark: str, judge: str, task: str, now: datetime) -> int:
    """A number that makes questions of their own of what is asked again.

    It goes into the requests (`repeat`), so that the ledger keeps each answer and none answers for
    another. What was cut off within a day has the number that it had: then the ledger does answer,
    with what was just paid for. `finished` ends that.
    """
    file = _work(benchmark, judge, "open")
    with contextlib.suppress(FileNotFoundError, ValueError, LookupError, TypeError):  # or damaged
        begun = json.loads(file.read_text(encoding="utf-8"))
        then = datetime.fromisoformat(begun["when"])
        if begun["task"] == task and now - _OPEN_FOR < then <= now:
            return int(begun["salt"])
    number = time.time_ns() // 1_000_000 * _APART  # not of `now`, which a caller may give twice
    with whole_file(file) as out:
        content = {"task": task, "when": now.isoformat(), "salt": number}
        out.write(json.dumps(content).encode())
    return number


def finished(benchmark: str, judge: str) -> None:
    """What is asked next is asked anew."""
    _work(benchmark, judge, "open").unlink(missing_ok=True)


def _work(benchmark: str, judge: str, ending: str) -> Path:
    return WORK / benchmark / f"{judge}.{ending}"


def read_kept(table: Table, file: Path) -> pd.DataFrame:
    """One such table; BadInput where it is damaged, with what brings it back."""
    if file.is_file():
        file.open("rb").close()  # who may not read it is told so, and not that it is damaged
    try:
        return read(table, file)
    except BadInput as error:
        raise BadInput(
            f"{file}: is damaged or no table `{table.name}`; `git checkout {file}` if it was"
            " committed, else move it away and begin anew"
        ) from error
