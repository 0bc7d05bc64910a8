"""The headline numbers of a benchmark, out of its tables: leaders and the metrics to trust."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from metassay.llm.endpoints import ModelOptions
from metassay.parquet import read
from metassay.reporting.best import Best, best
from metassay.reporting.display import NONE, ShownAs
from metassay.reporting.names import described, headline_metrics, sorted_authors
from metassay.reporting.numbers import short, short_interval
from metassay.reporting.tables import records
from metassay.reporting.views.asked import asked_table
from metassay.reporting.views.section import by_criterion
from metassay.reporting.words import DECISIONS
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.criteria import CRITERIA
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import FULL, metric_label
from metassay.tables.notes import NOTES
from metassay.tables.responses import RESPONSES

_ARTIFACT = (
    "study",
    "criterion",
    "part",
    "level",
    "metric",
    "judge",
    "verdict",
    "corrected",
    "corrected_low",
    "corrected_high",
    "low",
    "high",
    "p",
)


def board(folder: Path, shown_as: ShownAs = NONE) -> tuple[list[str], list[list[str]]]:
    """The authors, and a row per headline metric: its name, then each author's macro mean."""
    rows = shown_as.frame(_leaderboard(folder))
    means = means_of(rows, read(CRITERIA, folder / CRITERIA.name))
    authors = sorted_authors(str(author) for mean in means.values() for author in mean)
    cells = [
        [label, *(_number(mean.get(author)) for author in authors)] for label, mean in means.items()
    ]
    return authors, cells


def means_of(leaderboard: pd.DataFrame, criteria: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Of whole texts, each author's macro mean by headline metric, in the order of pages."""
    rows = leaderboard[leaderboard["part"] == FULL]
    with described(criteria):
        wanted = headline_metrics(zip(rows["metric"], rows["judge"], strict=True))
    found = {}
    for metric, judge in wanted:
        mine = rows[(rows["metric"] == metric) & (rows["judge"] == judge)]
        means = zip(map(str, mine["author"]), mine["macro"], strict=True)
        found[metric_label(metric, judge)] = dict(means)
    return found


def best_metrics(folder: Path, shown_as: ShownAs = NONE) -> list[list[str]]:
    """Per study, criterion and decision the metric to trust, of the whole texts.

    Criterion, decision, metric, corrected correlation with its interval, verdict. Where no metric
    may be used: that, the first candidate and its correlation, what to do, and how often which
    verdict was given.
    """
    found = shown_as.frame(read(CERTIFICATES, folder / "certificates.parquet"))
    return [[name, DECISIONS[level], *_chosen(chosen)] for name, level, chosen in best_of(found)]


def best_of(certificates: pd.DataFrame) -> Iterator[tuple[str, str, Best]]:
    """Of whole texts: criterion (with its study, where there are several), level, best metric."""
    several = certificates["study"].nunique() > 1
    for (study, criterion, _), rows in by_criterion(certificates[certificates["part"] == FULL]):
        name = f"{criterion} ({study})" if several else criterion
        for level in DECISIONS:
            chosen = best([row for row in rows if row["level"] == level])
            if chosen is not None:
                yield name, level, chosen


def answers_of(
    folder: Path, stages: Iterable[str], models: Mapping[str, ModelOptions] = MappingProxyType({})
) -> pd.DataFrame:
    """What these stages asked language models, what is missing, and the cost by the models'
    prices; without models there is none."""
    files = {stage: folder / f"{RESPONSES.name}/{stage}.parquet" for stage in stages}
    return asked_table({stage: read(RESPONSES, file) for stage, file in files.items()}, models)


def notes_of(folder: Path, stages: Iterable[str]) -> list[tuple[str, str]]:
    """What these stages noted: stage and note, in their order."""
    return [
        (stage, str(note))
        for stage in stages
        for note in read(NOTES, folder / f"{NOTES.name}/{stage}.parquet")["note"]
    ]


def artifacts(folder: Path, answers: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Rows for Prefect's table artifacts: `leaderboard`, `certificates`, `answers`; no texts.

    `answers`, as `answers_of` has it, is an artifact where any model was asked.
    """
    leaders = _leaderboard(folder)[["metric", "judge", "author", "macro", "low", "high"]]
    trust = read(CERTIFICATES, folder / "certificates.parquet")[list(_ARTIFACT)]
    found = {"leaderboard": records(leaders), "certificates": records(trust)}
    if not answers.empty:
        found["answers"] = records(answers)
    return found


def _chosen(found: Best) -> list[str]:
    row = found.row
    ends = short_interval(row["corrected_low"], row["corrected_high"])
    value = f"{short(row['corrected'])} {ends}".strip()
    if row["trusted"]:
        return [found.metric, value, f"{row['verdict']}, {found.of}"]
    first = f"none; first is {found.metric}" if value else "none"
    return [first, value, f"{row['advice']}: {found.verdicts}"]


def _leaderboard(folder: Path) -> pd.DataFrame:
    rows = read(LEADERBOARD, folder / "leaderboard.parquet")
    return rows[rows["part"] == FULL].reset_index(drop=True)


def _number(value: Any) -> str:
    return "–" if value is None or pd.isna(value) else f"{value:.3f}"
