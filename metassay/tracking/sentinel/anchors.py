"""The anchors: the questions a judge is asked again, how they are drawn, and where they are stored.

Keys and verdicts lie beside the benchmark. The anchors' texts may be private, so they
lie under .work/, which git ignores and which has the ledger with the same texts. A
clone without them takes the texts from the tables of pairs if these still ask the same:
a pair_id is the hash of its texts.

Whole items are drawn, once and with a seed, of metrics that the judge has answered.
Strata are the questions of related measures by the stored verdict and author, and each
gets equally many items. A call has several anchors of a text, as in the repetitions
that a check is compared with.

The stored verdicts are one draw of a judge that changes its mind, and they chose the
anchors. So if nothing changed, today's answers are one more draw like the repetitions
asked when the anchors were fixed: how often each of them differs from the stored
verdicts shows whether today's stand out (`metassay.statistics.changes`). A text's
anchors are permuted together.
"""

import contextlib
import hashlib
import json
import time
from collections import Counter, deque
from collections.abc import Iterable
from contextlib import AbstractContextManager
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
from metassay.core.work import lock_file
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
_OPEN_FOR = timedelta(hours=24)  # for so long, a check that was cut off can be resumed

_APART = 1000  # salts between two draws: more than a judge repeats its own questions


def anchors_file(benchmark: str, judge: str) -> Path:
    """Return the file with table `anchors` of a judge."""
    return BENCHMARKS / benchmark / "sentinel" / "anchors" / f"{judge}.parquet"


def drift_file(benchmark: str) -> Path:
    """Return the file with table `drift` of all judges."""
    return BENCHMARKS / benchmark / "sentinel" / "drift.parquet"


def watched_judges(benchmark: str) -> list[str]:
    """Return the judges that have anchors."""
    return sorted(
        file.stem for file in anchors_file(benchmark, "any").parent.glob("*.parquet")
    )


def read_anchors(benchmark: str, judge: str) -> pd.DataFrame:
    """Read table `anchors` of a judge; raises BadInput if it has none."""
    file = anchors_file(benchmark, judge)
    if not file.exists():
        watched = ", ".join(watched_judges(benchmark)) or "none"
        raise BadInput(
            f"{file} does not exist: judge {judge!r} has no anchors (judges that have some:"
            f" {watched}); `metassay sentinel fix {benchmark} --judge {judge}` draws them"
        )
    return read_stored(ANCHORS, file)


def write_texts(benchmark: str, judge: str, pairs: pd.DataFrame) -> None:
    """Store the anchors' questions, as rows of `pairs`."""
    write(PAIRS, pairs, _work_file(benchmark, judge, "parquet"))


def read_texts(benchmark: str, judge: str, pair_ids: Iterable[str]) -> pd.DataFrame:
    """Read the rows of `pairs` that ask these questions; raises BadInput if a text is missing."""
    ids = sorted(set(pair_ids))
    file = _work_file(benchmark, judge, "parquet")
    tables = TABLES_FOLDER / benchmark / PAIRS.name
    files = [file] if file.exists() else sorted(tables.glob("*.parquet"))
    rows = pd.concat(
        [empty(PAIRS), *(_matching_rows(read(PAIRS, path), ids) for path in files)]
    )
    n_missing = len(ids) - rows["pair_id"].nunique()
    if n_missing:
        raise BadInput(
            f"{file}: {n_missing} of {len(ids)} anchors have no text here, and the tables of"
            f" {benchmark!r} do not ask them any more; copy the file from where the anchors were"
            f" fixed, or draw others: metassay sentinel fix {benchmark} --judge {judge} --replace"
        )
    return rows.reset_index(drop=True)


def _matching_rows(pairs: pd.DataFrame, ids: list[str]) -> pd.DataFrame:
    """Return the open rows with these ids whose texts are those that were hashed."""
    rows = pairs[pairs["pair_id"].isin(ids) & pairs["settled"].isna()]
    texts = rows[["instrument", "premise", "hypothesis", "context"]].astype(object)
    texts = texts.where(texts.notna(), None)
    hashes = [pair_id(*fields) for fields in texts.itertuples(index=False)]
    return rows[rows["pair_id"] == pd.Series(hashes, index=rows.index, dtype="str")]


def lock_benchmark(benchmark: str) -> AbstractContextManager[int]:
    """Let no other process check this benchmark's judges: they share rows and answers."""
    return lock_file(
        WORK / f"{benchmark}.lock", f"{benchmark}: another check of its judges runs"
    )


def append_drift(benchmark: str, rows: pd.DataFrame) -> None:
    """Add rows to table `drift`."""
    write(
        DRIFT,
        pd.concat([_drift(benchmark), rows], ignore_index=True),
        drift_file(benchmark),
    )


def _drift(benchmark: str) -> pd.DataFrame:
    file = drift_file(benchmark)
    return read_stored(DRIFT, file) if file.exists() else empty(DRIFT)


def unused_time(benchmark: str, judge: str, now: datetime) -> datetime:
    """Return `now` to the second, or the next second without a row of this judge."""
    rows, now = _drift(benchmark), now.replace(microsecond=0)
    times = set(rows.loc[rows["judge"] == judge, "when"])
    while f"{now:%Y-%m-%dT%H:%M:%SZ}" in times:
        now += timedelta(seconds=1)
    return now


def salt(benchmark: str, judge: str, task: str, now: datetime) -> int:
    """Return a number that tells questions asked again from earlier ones.

    It goes into the requests (`repeat`), so that the ledger has each answer and none
    answers for another. A task that was cut off within a day gets the same number
    again: then the ledger returns what was already paid for. `end_round` ends that.
    """
    file = _work_file(benchmark, judge, "open")
    # or damaged
    with contextlib.suppress(FileNotFoundError, ValueError, LookupError, TypeError):
        begun = json.loads(file.read_text(encoding="utf-8"))
        start = datetime.fromisoformat(begun["when"])
        if begun["task"] == task and now - _OPEN_FOR < start <= now:
            return int(begun["salt"])
    # not from `now`, which a caller may repeat
    number = time.time_ns() // 1_000_000 * _APART
    with whole_file(file) as out:
        out.write(
            json.dumps({"task": task, "when": now.isoformat(), "salt": number}).encode()
        )
    return number


def end_round(benchmark: str, judge: str) -> None:
    """End the round: the next questions get a new salt."""
    _work_file(benchmark, judge, "open").unlink(missing_ok=True)


def _work_file(benchmark: str, judge: str, ending: str) -> Path:
    return WORK / benchmark / f"{judge}.{ending}"


def read_stored(table: Table, file: Path) -> pd.DataFrame:
    """Read a stored table; raises BadInput, with a remedy, if it is damaged."""
    if file.is_file():
        file.open("rb").close()  # a file without permission is no damaged file
    try:
        return read(table, file)
    except BadInput as error:
        raise BadInput(
            f"{file}: is damaged or is not a table `{table.name}`; `git checkout {file}` if it was"
            " committed, else move it away and begin anew"
        ) from error


_ITEM = ["family", "doc_id", "author", "own_part", "own_position"]


def number_items(pairs: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Return every question that is put to judges, with its item and the judge's answer.

    Adds to the rows of `pairs`: `item` (a number), `verdict` and `status` (null where
    the judge has no row, or the question is settled), and `stratum`: the item's, by its
    first verdict; null where any of its pairs failed, or none was answered.
    """
    rows = pairs.merge(verdicts(judgments), on="pair_id", how="left")
    graded = rows["instrument"].isin(RUBRIC)
    rows["family"] = rows["measure"].map(family).mask(graded, "rubric")
    rows["own_part"] = rows["part"].mask(graded, "")
    rows["own_position"] = rows["position"].mask(graded, 0)
    rows = rows.sort_values(
        [*_ITEM, "citation", "measure", "pair_id"], ignore_index=True
    )
    rows["item"] = rows.groupby(_ITEM).ngroup()
    failed = rows["status"].notna() & (rows["status"] != "ok")
    first = rows.groupby("item")["verdict"].transform("first")
    answered = first.notna() & ~failed.groupby(rows["item"]).transform("any")
    rows["stratum"] = (rows["family"] + ": " + first.astype("object")).where(
        answered, None
    )
    return rows.drop(columns=["family", "own_part", "own_position"])


def draw_items(items: pd.DataFrame, number: int, seed: int) -> pd.DataFrame:
    """Draw items of at least `number` different answered pairs, or all; return their open rows.

    `items` is from `number_items`. The strata of each author take turns, so that none
    gets more items than another that has some left. Adds `weight` and `covered`, as in
    table `anchors`. Raises BadInput if nothing was answered.
    """
    drawable = items[items["stratum"].notna()]
    if drawable.empty:
        raise BadInput(
            "no question of this judge has an answer, so nothing can be watched"
        )
    answered = drawable[drawable["verdict"].notna()].groupby("item")["pair_id"].agg(set)
    first = drawable.groupby("item")[["author", "stratum"]].first()
    strata = first["author"] + ": " + first["stratum"]
    shuffled = np.random.default_rng(seed).permutation(strata.index.to_numpy())
    queues: dict[str, deque[int]] = {}
    for item in shuffled.tolist():
        queues.setdefault(strata[item], deque()).append(item)
    chosen: list[int] = []
    pairs: set[str] = set()
    while any(queues.values()) and len(pairs) < number:
        for queue in queues.values():
            if queue and len(pairs) < number:
                chosen.append(queue.popleft())
                pairs |= answered[chosen[-1]]
    return _weight_items(drawable[drawable["settled"].isna()], chosen)


def _weight_items(drawable: pd.DataFrame, chosen: list[int]) -> pd.DataFrame:
    # The rows of the chosen items, and how many others each item stands for.
    items = drawable.drop_duplicates("item")[["item", "author", "stratum", "measure"]]
    items = items.assign(
        family=items["measure"].map(family), chosen=items["item"].isin(chosen)
    )
    cell, group = ["author", "stratum"], ["author", "family"]
    n_chosen = items.groupby(cell)["chosen"].transform("sum")
    items["weight"] = items.groupby(cell)["chosen"].transform("size") / n_chosen.where(
        n_chosen > 0
    )
    items["covered"] = (
        (n_chosen > 0).groupby([items[name] for name in group]).transform("mean")
    )
    return drawable.merge(
        items.loc[items["chosen"], ["item", "weight", "covered"]], on="item"
    )


def verdicts(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return pair_id, status and verdict: a label, or a grade as text; null unless status is ok."""
    grade = judgments["grade"].map(
        lambda grade: None if pd.isna(grade) else f"{grade:.12g}"
    )
    verdict = (
        judgments["label"].astype("object").where(judgments["label"].notna(), grade)
    )
    return judgments[["pair_id", "status"]].assign(
        verdict=verdict.where(judgments["status"] == "ok", None).astype("str")
    )


class Failures(NamedTuple):
    """Answers of today without a verdict: how often each status, and whether any is missing."""

    counts: str
    missing: bool  # asking again may get these; all others are what the model answered


def count_failures(answers: Iterable[pd.DataFrame]) -> Failures:
    """Count the failures in tables of `verdicts`."""
    statuses = [
        status for table in answers for status in table["status"] if status != "ok"
    ]
    return Failures(count_codes(statuses), "error" in statuses)


def rank(instrument: str, verdict: str) -> float:
    """Return a verdict's rank, higher is better: an instrument's first label is the highest."""
    answer = INSTRUMENTS[instrument].answer
    return (
        -answer.names.index(verdict) if isinstance(answer, Labels) else float(verdict)
    )


def hash_anchors(pair_ids: Iterable[str], stored: Iterable[str]) -> str:
    """Name a set of anchors by the hash of its questions and their stored verdicts."""
    lines = sorted(
        f"{pair} {verdict}" for pair, verdict in zip(pair_ids, stored, strict=True)
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


@cache
def family(measure: str) -> str:
    """Name the questions whose answers can go into one number by the first; see `pairs.measure`."""
    names = {measure}
    groups = [
        # A question on a whole text belongs to no single item of it.
        {
            question.name
            for question in record.questions
            if question.whole == record.counted.whole
        }
        for record in MEASURES.values()
    ]
    while wider := set().union(*(group for group in groups if group & names)) - names:
        names |= wider
    return min(names)


TEXT = ["doc_id", "author", "part"]


class Drift(NamedTuple):
    """How many answered anchors changed, the net shift, and the flips between verdicts."""

    answered: int
    failed: int
    changed: Standing
    shift: Standing
    flips: Counter[tuple[str, str]]


def complete_anchors(anchors: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of table `anchors` that count: with a stored verdict and every repetition."""
    complete = anchors["repeats"].map(all) & (anchors["repeats"].str.len() > 0)
    return anchors[anchors["verdict"].notna() & complete]


def compare(
    anchors: pd.DataFrame, current: pd.DataFrame, false_alarm: float
) -> Drift | None:
    """Compare verdicts of today (columns pair_id, verdict) with the anchors.

    An anchor without a verdict of today is left out of all draws. None if nothing was
    answered.
    """
    complete = complete_anchors(anchors)
    today = complete["pair_id"].map(current.set_index("pair_id")["verdict"])
    rows, today = complete[today.notna()], today.dropna()
    if rows.empty:
        return None
    repeats = zip(rows["repeats"], today, strict=True)
    draws = np.array(
        [[*earlier, verdict] for earlier, verdict in repeats], dtype=object
    )
    stored = rows["verdict"].to_numpy(dtype=object)[:, None]
    answers = zip(rows["instrument"], np.hstack([stored, draws]), strict=True)
    ranks = np.array(
        [[rank(instrument, v) for v in verdicts] for instrument, verdicts in answers]
    )
    clusters = rows.groupby(TEXT).ngroup().to_numpy(dtype=np.int64)
    ups = np.sign(ranks[:, 1:] - ranks[:, :1])
    changed, shift = standings(draws != stored, ups, clusters, false_alarm)
    flips = Counter(
        (a, b) for a, b in zip(stored[:, 0], draws[:, -1], strict=True) if a != b
    )
    return Drift(len(rows), len(complete) - len(rows), changed, shift, flips)


def standings(
    differs: NDArray[Any], ups: NDArray[Any], clusters: NDArray[Any], false_alarm: float
) -> tuple[Standing, Standing]:
    """Return where today's changes and their net shift stand among the repetitions.

    `differs` and `ups` (anchors, draws), today's draw last: whether each draw differs
    from the stored verdict, and whether it is higher (1) or lower (-1). `clusters`
    (anchors,): the number of each anchor's text.
    """
    changed = standing(_cluster_sums(differs, clusters), false_alarm / 2)
    return changed, standing(_cluster_sums(ups, clusters), false_alarm / 4)


def stands_out(changed: Standing, shift: Standing, false_alarm: float) -> bool:
    """Return whether too many changed, or too many in one direction; each at half of the rate."""
    return min(changed.more, two_sided(shift)) <= false_alarm / 2


def two_sided(shift: Standing) -> float:
    """Return the two-sided p of a net shift."""
    return min(1.0, 2 * min(shift.more, shift.fewer))


def too_few_texts(anchors: pd.DataFrame, false_alarm: float) -> bool:
    """Return whether the anchors are of so few texts that no change could ever stand out."""
    complete = complete_anchors(anchors)
    if complete.empty:
        return True
    draws = len(complete["repeats"].iloc[0]) + 1
    return least_chance(complete.groupby(TEXT).ngroups, draws) > false_alarm / 4


def _cluster_sums(values: NDArray[Any], clusters: NDArray[np.integer[Any]]) -> Integers:
    sums = np.zeros((int(clusters.max()) + 1, values.shape[1]), dtype=np.int64)
    np.add.at(sums, clusters, values.astype(np.int64))
    return sums
