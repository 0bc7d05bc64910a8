"""Compare two states whose tables are not there, by their headline numbers and locks.

git keeps both, so a fresh clone or a CI job without DVC's cache has them. Equal hashes
of the scores prove that nothing differs. Where they differ, the headline numbers show
which means moved; without documents there is no test of a difference.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import pandas as pd

from metassay.core.options import BENCHMARKS
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.names import FULL, NO_JUDGE
from metassay.tables.parquet import empty, round_trip
from metassay.tables.scores import SCORES
from metassay.tables.tracking import CHANGED_DOCUMENTS, CHANGES
from metassay.tracking.comparison.causes import causes
from metassay.tracking.comparison.differences import (
    DECISION,
    SAME,
    UNKNOWN,
    Comparison,
    Differences,
)
from metassay.tracking.comparison.sides import (
    LOCK,
    Lock,
    State,
    differing_params,
    outs_of,
    parse_lock,
    table_path,
)

HEADLINE: Final = "headline.json"
UNTESTED: Final = (
    "the tables are not there, and headline numbers alone show no difference"
)


class _Headline(NamedTuple):
    """The headline numbers of a benchmark at a state, and the lock of their run."""

    numbers: Mapping[str, Any]
    lock: Lock
    changed: tuple[str, ...]  # settings and versions that changed since the run

    def hash_of(self, path: str) -> str:
        """Return the MD5 of an output; empty if no stage makes it."""
        return outs_of(self.lock).get(path, "")


def compare_headlines(before: State, after: State, benchmark: str) -> Comparison | None:
    """Compare two states by what git keeps; None if it keeps no headline of their runs.

    Rows are the headline metrics of whole texts, `same numbers` if both locks name the
    same scores, else `cannot tell`. Means have three digits. Certificates are those of
    the best metrics.
    """
    sides = [_load(state, benchmark) for state in (before, after)]
    if sides[0] is None or sides[1] is None:
        return None
    old, new = sides[0], sides[1]
    same_scores, same_certificates = (
        old.hash_of(path) == new.hash_of(path)
        for path in (table_path(benchmark, SCORES), table_path(benchmark, CERTIFICATES))
    )
    rows = _rows(old.numbers, new.numbers, same_scores=same_scores)
    changes = round_trip(CHANGES, pd.DataFrame(rows, columns=list(CHANGES.columns)))
    certificates = [] if same_certificates else _certificates(old.numbers, new.numbers)
    return Comparison(
        benchmark=benchmark,
        before=before.word,
        after=after.word,
        of_systems=False,
        differences=Differences(changes, empty(CHANGED_DOCUMENTS)),
        causes=causes(old.lock, new.lock),
        certificates=pd.DataFrame(certificates, columns=[*DECISION, "before", "after"]),
        outdated=(old.changed, new.changed),
        by_headline=True,
        untested=not same_scores,
    )


def _load(state: State, benchmark: str) -> _Headline | None:
    """Return a state's headline; None if there is none, or it is not of the lock's run."""
    folder = BENCHMARKS / benchmark
    lock_file, headline_file = ((folder / name).as_posix() for name in (LOCK, HEADLINE))
    lock_text, headline = state.text(lock_file), state.text(headline_file)
    if lock_text is None or headline is None:
        return None
    lock = parse_lock(lock_text, f"{state.word}: {lock_file}")
    md5 = hashlib.md5(headline.encode(), usedforsecurity=False).hexdigest()
    if outs_of(lock).get(headline_file) != md5:
        return None
    return _Headline(
        json.loads(headline), lock, tuple(differing_params(lock, state.text))
    )


def _rows(
    old: Mapping[str, Any], new: Mapping[str, Any], *, same_scores: bool
) -> Iterator[dict[str, object]]:
    """Yield rows of CHANGES, one per headline metric and system of either state."""
    boards = old.get("leaderboard", {}), new.get("leaderboard", {})
    for metric in dict.fromkeys([*boards[0], *boards[1]]):
        means = boards[0].get(metric, {}), boards[1].get(metric, {})
        for system in dict.fromkeys([*means[0], *means[1]]):
            before, after = means[0].get(system), means[1].get(system)
            both = before is not None and after is not None
            yield {
                "part": FULL,
                "metric": metric,
                "judge": NO_JUDGE,  # the label has it
                "author": system,
                "verdict": SAME if same_scores else UNKNOWN,
                "why": "" if same_scores else UNTESTED,
                "lacks_answers": False,
                "before": before,
                "after": after,
                "difference": after - before if both else None,
                **dict.fromkeys(_COUNTS, 0),
                "better": "neither",
                "same_recipe": True,
            }


_COUNTS: Final = (
    "n",
    "n_changed",
    "n_only_before",
    "n_only_after",
    "n_failed_before",
    "n_failed_after",
)


def _certificates(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[str, ...]]:
    """Yield decisions whose best metric is another one, or has another verdict."""
    for criterion, levels in new.get("best", {}).items():
        for level, best in levels.items():
            then = old.get("best", {}).get(criterion, {}).get(level)
            if not then or not best:
                continue
            metric, before, after = best["metric"], then["verdict"], best["verdict"]
            if then["metric"] != metric:
                metric = "the best metric"
                before = f"{then['metric']} ({before})"
                after = f"{best['metric']} ({after})"
            if before != after:
                yield ("", criterion, FULL, metric, NO_JUDGE, level, before, after)
