"""The anchors, the questions a judge is asked again: where they are kept, and how they are drawn.

Keys and verdicts lie beside the benchmark. The anchors' texts may be private, so they lie under
.work/, which git ignores and which has the ledger with the same texts. A clone without them takes
them from the tables of pairs, as far as these still ask the same: a pair_id is the hash of its
texts.

Drawn, once and with a seed, are whole items of metrics that the judge has answered. Strata are the
questions of related measures by the stored verdict, of each author, and equally many items come
from each. Several anchors of a text go into one call, as in the repetitions, which a check is held
against.

The stored verdicts are one draw of a judge that changes its mind, and they chose the anchors. So of
the repetitions that were asked when the anchors were fixed, and of today's answers, each might be
today's if nothing changed: how often each of them differs from the stored verdicts says whether
today's stand out (`metassay.statistics.changes`). A text is moved as a whole.
"""

import contextlib
import fcntl
import hashlib
import json
import logging
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.core.options import BENCHMARKS
from metassay.judges.criteria import RUBRIC
from metassay.llm.messages import count_codes
from metassay.scoring.pairing.instruments import INSTRUMENTS, Labels
from metassay.scoring.pairing.measures import MEASURES
from metassay.scoring.pairing.pairs import pair_id
from metassay.statistics.changes import Integers, Standing, least_chance, standing
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


_ITEM = ["family", "doc_id", "author", "own_part", "own_position"]


def items_of(pairs: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Every question that is put to judges, with the item that it belongs to and what was answered.

    Adds to the rows of `pairs`: `item` (a number), `verdict` and `status` (null where the
    judge has no row, as where the question is settled), and `stratum`: the item's, by its first
    verdict; null where any of its pairs failed, or none was answered.
    """
    rows = pairs.merge(verdicts(judgments), on="pair_id", how="left")
    graded = rows["instrument"].isin(RUBRIC)
    rows["family"] = rows["measure"].map(family).mask(graded, "rubric")
    rows["own_part"] = rows["part"].mask(graded, "")
    rows["own_position"] = rows["position"].mask(graded, 0)
    rows = rows.sort_values([*_ITEM, "citation", "measure", "pair_id"], ignore_index=True)
    rows["item"] = rows.groupby(_ITEM).ngroup()
    failed = rows["status"].notna() & (rows["status"] != "ok")
    first = rows.groupby("item")["verdict"].transform("first")
    sound = first.notna() & ~failed.groupby(rows["item"]).transform("any")
    rows["stratum"] = (rows["family"] + ": " + first.astype("object")).where(sound, None)
    return rows.drop(columns=["family", "own_part", "own_position"])


def draw(items: pd.DataFrame, number: int, seed: int) -> pd.DataFrame:
    """Open rows of `items_of`, of at least `number` different answered pairs or of all there are.

    The strata of each author take turns, so that none has more items than another that still has
    some. Adds `weight` and `covered`, as table `anchors` has them. BadInput where nothing was
    answered.
    """
    drawable = items[items["stratum"].notna()]
    if drawable.empty:
        raise BadInput("no question of this judge has an answer, so nothing can be watched")
    known = drawable[drawable["verdict"].notna()].groupby("item")["pair_id"].agg(set)
    first = drawable.groupby("item")[["author", "stratum"]].first()
    strata = first["author"] + ": " + first["stratum"]
    shuffled = np.random.default_rng(seed).permutation(strata.index.to_numpy())
    queues: dict[str, deque[int]] = {}
    for item in shuffled.tolist():
        queues.setdefault(strata[item], deque()).append(item)
    drawn: list[int] = []
    asked: set[str] = set()
    while any(queues.values()) and len(asked) < number:
        for queue in queues.values():
            if queue and len(asked) < number:
                drawn.append(queue.popleft())
                asked |= known[drawn[-1]]
    return _weighted(drawable[drawable["settled"].isna()], drawn)


def _weighted(drawable: pd.DataFrame, drawn: list[int]) -> pd.DataFrame:
    # The rows of the drawn items, and how many others each of them stands for.
    every = drawable.drop_duplicates("item")[["item", "author", "stratum", "measure"]]
    every = every.assign(family=every["measure"].map(family), drawn=every["item"].isin(drawn))
    cell, whole = ["author", "stratum"], ["author", "family"]
    there = every.groupby(cell)["drawn"].transform("sum")
    every["weight"] = every.groupby(cell)["drawn"].transform("size") / there.where(there > 0)
    every["covered"] = (there > 0).groupby([every[name] for name in whole]).transform("mean")
    chosen = every.loc[every["drawn"], ["item", "weight", "covered"]]
    return drawable.merge(chosen, on="item")


def verdicts(judgments: pd.DataFrame) -> pd.DataFrame:
    """pair_id, status and verdict: a label, or a grade as text; null where the status isn't ok."""
    grade = judgments["grade"].map(lambda grade: None if pd.isna(grade) else f"{grade:.12g}")
    said = judgments["label"].astype("object").where(judgments["label"].notna(), grade)
    return judgments[["pair_id", "status"]].assign(
        verdict=said.where(judgments["status"] == "ok", None).astype("str")
    )


class Failed(NamedTuple):
    """Answers of today that have no verdict: how often each status, and whether any is missing."""

    counts: str
    missing: bool  # asking the same again may get it; all others are what the model said


def failed(answers: Iterable[pd.DataFrame]) -> Failed:
    """Of what `verdicts` gave."""
    statuses = [one for said in answers for one in said["status"] if one != "ok"]
    return Failed(count_codes(statuses), "error" in statuses)


def rank(instrument: str, verdict: str) -> float:
    """The greater the better, within an instrument: its first label is the greatest."""
    answer = INSTRUMENTS[instrument].answer
    return -answer.names.index(verdict) if isinstance(answer, Labels) else float(verdict)


def hashed(pair_ids: Iterable[str], stored: Iterable[str]) -> str:
    """What names a set of anchors: a hash of its questions and their stored verdicts."""
    lines = sorted(f"{one} {verdict}" for one, verdict in zip(pair_ids, stored, strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


@cache
def family(measure: str) -> str:
    """The questions whose answers may go into one number together, by the first of their names.

    `measure` is what `pairs.measure` says.
    """
    names = {measure}
    together = [
        # What is asked of a whole text goes with no single item of it.
        {one.name for one in found.questions if one.whole == found.counted.whole}
        for found in MEASURES.values()
    ]
    while wider := set().union(*(some for some in together if some & names)) - names:
        names |= wider
    return min(names)


TEXT = ["doc_id", "author", "part"]


class Found(NamedTuple):
    """What the answered anchors say: how many changed, and which way the changes went in sum.

    `flips`: how often a stored verdict became another one.
    """

    answered: int
    failed: int
    changed: Standing
    shift: Standing
    flips: Counter[tuple[str, str]]


def anchored(anchors: pd.DataFrame) -> pd.DataFrame:
    """The rows of table `anchors` that count: with a stored verdict, and every repetition."""
    whole = anchors["repeats"].map(all) & (anchors["repeats"].str.len() > 0)
    return anchors[anchors["verdict"].notna() & whole]


def compare(anchors: pd.DataFrame, now: pd.DataFrame, false_alarm: float) -> Found | None:
    """Hold verdicts of today (columns pair_id, verdict) against the anchors.

    An anchor without a verdict of today is left out of all draws. None where nothing was answered.
    """
    counted = anchored(anchors)
    said = counted["pair_id"].map(now.set_index("pair_id")["verdict"])
    rows = counted[said.notna()]
    if rows.empty:
        return None
    today = zip(rows["repeats"], said.dropna(), strict=True)
    draws = np.array([[*repeats, one] for repeats, one in today], dtype=object)
    stored = rows["verdict"].to_numpy(dtype=object)[:, None]
    each = zip(rows["instrument"], np.hstack([stored, draws]), strict=True)
    ranks = np.array([[rank(instrument, one) for one in verdicts] for instrument, verdicts in each])
    clusters = rows.groupby(TEXT).ngroup().to_numpy(dtype=np.int64)
    ups = np.sign(ranks[:, 1:] - ranks[:, :1])
    changed, shift = standings(draws != stored, ups, clusters, false_alarm)
    flips = Counter((a, b) for a, b in zip(stored[:, 0], draws[:, -1], strict=True) if a != b)
    return Found(len(rows), len(counted) - len(rows), changed, shift, flips)


def standings(
    differs: NDArray[Any], ups: NDArray[Any], clusters: NDArray[Any], false_alarm: float
) -> tuple[Standing, Standing]:
    """Where today's changes and their net shift stand.

    `differs` and `ups` (anchors, draws) say of each draw, today's last, whether it differs from the
    stored verdict, and whether it is higher (1) or lower (-1); `clusters` (anchors,) has the number
    of each anchor's text.
    """
    changed = standing(_summed(differs, clusters), false_alarm / 2)
    return changed, standing(_summed(ups, clusters), false_alarm / 4)


def stands_out(changed: Standing, shift: Standing, false_alarm: float) -> bool:
    """Whether there are too many changes, or too many one way; each by half of the rate."""
    return min(changed.more, two_sided(shift)) <= false_alarm / 2


def two_sided(shift: Standing) -> float:
    """The p of a net shift either way."""
    return min(1.0, 2 * min(shift.more, shift.fewer))


def is_blind(anchors: pd.DataFrame, false_alarm: float) -> bool:
    """Whether the anchors are of so few texts that nothing could ever stand out."""
    counted = anchored(anchors)
    if counted.empty:
        return True
    draws = len(counted["repeats"].iloc[0]) + 1
    return least_chance(counted.groupby(TEXT).ngroups, draws) > false_alarm / 4


def _summed(values: NDArray[Any], of: NDArray[np.integer[Any]]) -> Integers:
    sums = np.zeros((int(of.max()) + 1, values.shape[1]), dtype=np.int64)
    np.add.at(sums, of, values.astype(np.int64))
    return sums
