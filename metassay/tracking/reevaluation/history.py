"""The history of a benchmark: a row per run, and its means whenever they were made again."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.tables.names import FULL
from metassay.tables.parquet import Table, as_written, empty, write
from metassay.tables.tracking import HISTORY, HISTORY_MEANS
from metassay.tracking.comparison.differences import ROW
from metassay.tracking.reevaluation.outcome import Outcome
from metassay.tracking.sentinel.files import read_kept

FOLDER = Path("history")
DONE, NOTHING, FAILED = "run again", "nothing to do", "failed"


class History(NamedTuple):
    """Tables HISTORY and HISTORY_MEANS."""

    runs: pd.DataFrame
    means: pd.DataFrame


def load(root: Path, benchmark: str) -> History:
    """What is there; tables without rows before the first run."""
    files = ((table, _file(root, benchmark, table)) for table in (HISTORY, HISTORY_MEANS))
    return History(
        *(read_kept(table, file) if file.exists() else empty(table) for table, file in files)
    )


def append(root: Path, outcome: Outcome) -> History:
    """Add one run; its means only where they are not those kept last. Returns the whole.

    Runs that are dated later than this one, by a clock that was wrong, are not before it.
    """
    before = load(root, outcome.benchmark)
    kept = before.means[before.means["run"] < outcome.when]
    row = pd.DataFrame([_row(outcome)])
    if outcome.side is None:
        made = empty(HISTORY_MEANS)
    else:
        made = as_written(HISTORY_MEANS, _means(outcome))
    # `metassay run` may have made other means since the last ones kept.
    last = kept[kept["run"] == kept["run"].max()]
    old, new = (one.set_index([*ROW, "recipe"])["mean"].sort_index() for one in (last, made))
    as_kept = old.index.equals(new.index) and np.array_equal(
        old.to_numpy(dtype=float), new.to_numpy(dtype=float), equal_nan=True
    )
    pieces = [made] if outcome.stages > 0 or not (made.empty or as_kept) else []
    after = History(
        _joined([before.runs[before.runs["run"] != outcome.when], row]),
        _joined([before.means[before.means["run"] != outcome.when], *pieces]),
    )
    for table, frame in zip((HISTORY, HISTORY_MEANS), after, strict=True):
        write(table, frame, _file(root, outcome.benchmark, table))
    return load(root, outcome.benchmark)


def _file(root: Path, benchmark: str, table: Table) -> Path:
    return root / FOLDER / benchmark / f"{table.name}.parquet"


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([f for f in frames if not f.empty] or frames[:1], ignore_index=True)


def _row(outcome: Outcome) -> dict[str, object]:
    """Counts are null where nothing was compared, alarms where nothing was asked."""
    there = outcome.compared is not None
    counts = {name.replace(" ", "_"): n for name, n in outcome.counts.items()}
    return {
        "run": outcome.when,
        "revision": outcome.revision,
        "did": FAILED if outcome.failed else DONE if outcome.stages else NOTHING,
        "stages": outcome.stages,
        "accepted": outcome.accepted,
        "compared": outcome.n_compared if there else None,
        **{name: n if there else None for name, n in counts.items()},
        "causes": [str(cause) for cause in outcome.causes],
        "certificates": len(outcome.certificates) if there else None,
        "missing": outcome.lacking,
        "alarms": None if outcome.drift is None else outcome.alarms,
        "status": outcome.status,
    }


def _means(outcome: Outcome) -> pd.DataFrame:
    assert outcome.side is not None
    leaders = outcome.side.leaderboard
    leaders = leaders[leaders["part"] == FULL]
    verdicts = outcome.changes.set_index(ROW)["verdict"]
    made = leaders[[*ROW, "macro", "low", "high", "n_documents", "n_undefined", "n_failed"]]
    made = made.rename(columns={"macro": "mean"})
    found = verdicts.reindex(pd.MultiIndex.from_frame(made[ROW])).astype(object)
    return made.assign(
        run=outcome.when,
        verdict=found.where(found.notna(), None).to_numpy(),
        better=leaders["better"],
        recipe=leaders["recipe"],
    )
