"""Every system's mean on every metric and criterion, and its rank among the systems."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from metassay.options import Criterion
from metassay.reporting.tables import records
from metassay.tables.names import FULL, is_reference, metric_label

METRIC, PEOPLE = "metric", "people"

_TYPES = {
    **dict.fromkeys(("scorer_is", "scorer", "study", "part", "metric", "judge"), "object"),
    **{"author": "object", "value": "float64", "low": "float64", "high": "float64"},
    **{"better": "object", "rank": "Int64", "n_ranked": "int64"},
}
_DIGITS = 12  # what tables keep: what differs behind them is a tie


def ranks_table(
    leaderboard: pd.DataFrame, summaries: pd.DataFrame, criteria: Mapping[str, Criterion]
) -> pd.DataFrame:
    """One row per metric or human criterion and system; empty with fewer than two systems.

    Metrics: those that say which text is better, on whole texts (macro of table leaderboard).
    Criteria: means of table rating_summaries, of whole texts or of parts. rank: 1 is the best;
    equal values share a rank, and the next one is left out; null without a value. n_ranked: how
    many systems have one.
    """
    made: list[dict[str, Any]] = []
    board = leaderboard[(leaderboard["part"] == FULL) & (leaderboard["better"] != "neither")]
    for row in records(board[~board["author"].map(is_reference).astype(bool)]):
        own = {name: row[name] for name in ("part", "metric", "judge", "author", "low", "high")}
        label = metric_label(row["metric"], row["judge"])
        own |= {"scorer_is": METRIC, "scorer": label, "study": "", "value": row["macro"]}
        made.append({**own, "better": row["better"]})
    for row in records(summaries[summaries["of"] == "author"]):
        if is_reference(row["name"]):
            continue
        own = {name: row[name] for name in ("study", "part", "low", "high")}
        own |= {"scorer_is": PEOPLE, "scorer": row["criterion"], "metric": "", "judge": ""}
        better = criteria[row["criterion"]].better
        made.append({**own, "author": row["name"], "value": row["mean"], "better": better})
    by_scorer: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in made:
        key = tuple(row[name] for name in ("scorer_is", "scorer", "study", "part"))
        by_scorer.setdefault(key, []).append(row)
    if len({row["author"] for row in made}) < 2:
        made = []
    ranked = [row | extra for mine in by_scorer.values() for row, extra in _ranked(mine) if made]
    return pd.DataFrame(ranked, columns=list(_TYPES)).astype(_TYPES)


def _ranked(mine: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    sign = -1 if mine[0]["better"] == "higher" else 1
    known = [_key(row["value"], sign) for row in mine if row["value"] is not None]
    return [
        (row, {"rank": _rank(row["value"], sign, known), "n_ranked": len(known)}) for row in mine
    ]


def _rank(value: float | None, sign: int, known: Sequence[float]) -> int | None:
    return None if value is None else 1 + sum(one < _key(value, sign) for one in known)


def _key(value: float, sign: int) -> float:
    return sign * float(f"{value:.{_DIGITS}g}")
