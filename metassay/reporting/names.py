"""Rows of tables as they are shown: their order, names, keys, and an estimate in a sentence.

Tables and CSV files keep the names of params.yaml; pages, figures and the terminal are
handed frames in which they stand as `params.yaml > shown_as` says, so that no view
knows of two names.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from metassay.core.errors import raise_problems
from metassay.format.frames import records
from metassay.format.numbers import short, short_interval
from metassay.metrics.describe import FAMILIES, Description
from metassay.reporting.keys import Key, key_of, part_rank
from metassay.scoring.catalogue import descriptions
from metassay.scoring.rubrics.ask import rubric_descriptions
from metassay.tables.names import base_metric, metric_label

ARROWS = {"higher": "↑", "lower": "↓", "neither": ""}

Metric = tuple[str, str]  # metric, judge
Row = dict[str, Any]
K = TypeVar("K")

# What a rubric's metrics mean, and in which order people's criteria stand, is data of a
# benchmark; a page shows one benchmark, in many views.
_OF_RUBRICS: ContextVar[Mapping[str, Description]] = ContextVar("rubrics", default={})  # noqa: B039 - never changed
_RATED: ContextVar[Sequence[str]] = ContextVar("rated", default=())


@contextmanager
def known_names(criteria: pd.DataFrame, rated: Iterable[str] = ()) -> Iterator[None]:
    """Within it, metrics that the rubrics in table `criteria` make are known like all others.

    `rated` are the criteria that people rate, in the order in which pages show them.
    """
    before, rated_before = (
        _OF_RUBRICS.set(rubric_descriptions(criteria)),
        _RATED.set([*rated]),
    )
    try:
        yield
    finally:
        _OF_RUBRICS.reset(before)
        _RATED.reset(rated_before)


def sorted_metrics(metrics: Iterable[Metric]) -> list[Metric]:
    """Sort metrics without repeats, by family as they are described, unknown ones last by name."""
    return sorted(set(metrics), key=_metric_rank)


def headline_metrics(metrics: Iterable[Metric], at_most: int = 8) -> list[Metric]:
    """Return those that are described as headline metrics; without any, the first `at_most`."""
    ordered = sorted_metrics(metrics)
    headline = [m for m in ordered if getattr(_description(m[0]), "headline", False)]
    return headline or ordered[:at_most]


def sorted_parts(parts: Iterable[str]) -> list[str]:
    """Sort parts without repeats: `full`, sections of notes, facets of abstracts, then by name."""
    return sorted(set(parts), key=part_rank)


def criterion_rank(criterion: str) -> tuple[int, str]:
    """Return the sorting key of a criterion: its place in `known_names`, others by name."""
    rated = _RATED.get()
    return (rated.index(criterion) if criterion in rated else len(rated), criterion)


def _description(metric: str) -> Description | None:
    return descriptions().get(base_metric(metric)) or _OF_RUBRICS.get().get(metric)


def _metric_rank(metric: Metric) -> tuple[int, str, int, Metric]:
    """Families as `describe.FAMILIES` has them, others by name; metrics as they are described."""
    family = getattr(_description(metric[0]), "family", "")
    of_family = (
        FAMILIES.index(family) if family in FAMILIES else len(FAMILIES) + (not family)
    )
    places, of_rubrics = _places(), list(_OF_RUBRICS.get())  # as their criteria stand
    place = of_rubrics.index(metric[0]) if metric[0] in of_rubrics else 0
    rank = places.get(base_metric(metric[0]), len(places) + place)
    return of_family, family, rank, metric


@cache
def _places() -> dict[str, int]:
    """Return the place of each metric among all that are described."""
    return {name: place for place, name in enumerate(descriptions())}


# Rows by their keys.


def group_by_criterion(frame: pd.DataFrame) -> list[tuple[Key, list[Row]]]:
    """Group the rows by study, criterion and part, in the order of the page."""

    def rank(
        item: tuple[Key, list[Row]],
    ) -> tuple[str, tuple[int, str], tuple[int, str]]:
        study, criterion, part = item[0]
        return study, criterion_rank(criterion), part_rank(part)

    return sorted(grouped(records(frame), key_of).items(), key=rank)


def grouped(rows: Iterable[Row], key: Callable[[Row], K]) -> dict[K, list[Row]]:
    """Group the rows by their key, keys and rows in the order of the rows."""
    groups: dict[K, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


metric_of = itemgetter("metric", "judge")


def metric_name(row: Row) -> str:
    """Return the metric's name, with the judge's in brackets."""
    return metric_label(row["metric"], row["judge"])


def best_first(value: float | None) -> tuple[bool, float]:
    """Return the sorting key of one number: the largest first, null last."""
    return value is None, -(value or 0.0)


def short_estimate(row: Row, column: str = "value", prefix: str = "") -> str:
    """Write a value and its interval for a sentence, `.52 [.31, .69]`; empty where missing."""
    ends = short_interval(row[f"{prefix}low"], row[f"{prefix}high"])
    return f"{short(row[column])} {ends}".strip()


# What pages, figures and the terminal call a system or judge whose name is not what
# people know.

_AUTHORS = ("author", "author_a", "author_b")
_LABELS = (  # have `metric (judge)`
    "metric_a",
    "metric_b",
    "members",
    "confound",
    "first",
    "second",
    "scorer",
)


class ShownAs(NamedTuple):
    """Other words for names: of a benchmark's systems, which are authors, and of its judges."""

    authors: Mapping[str, str]
    judges: Mapping[str, str]

    @classmethod
    def choose(
        cls, shown_as: Mapping[str, str], systems: Iterable[str], judges: Iterable[str]
    ) -> "ShownAs":
        """As params.yaml > shown_as says of these systems and judges."""
        return cls(
            {name: shown_as[name] for name in systems if name in shown_as},
            {name: shown_as[name] for name in judges if name in shown_as},
        )

    def frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows with the names of authors and judges that readers see."""
        author = lambda name: self.authors.get(name, name)  # noqa: E731
        renames = dict.fromkeys(_AUTHORS if self.authors else (), author)
        if self.judges:
            renames |= {"judge": lambda name: self.judges.get(name, name)}
            renames |= dict.fromkeys(_LABELS, self._label)
        shown = {
            column: frame[column].map(rename, na_action="ignore")
            for column, rename in renames.items()
            if column in frame
        }
        # the name of an author, or a rater
        if self.authors and {"of", "name"} <= set(frame):
            authors = frame["name"].map(author)
            shown["name"] = frame["name"].where(frame["of"] != "author", authors)
        return frame.assign(**shown)

    def frames(self, tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        """Return all of them so, by name."""
        return {name: self.frame(frame) for name, frame in tables.items()}

    def check(self, authors: Iterable[str]) -> None:
        """Raise BadInput if a system is shown under the name of another of these authors."""
        others = set(authors) - set(self.authors)
        raise_problems(
            f"params.yaml > shown_as > {name}: {shown!r} is another author's name; choose another"
            for name, shown in self.authors.items()
            if shown in others
        )

    def _label(self, label: str) -> str:
        """Rename the judge of a label, or of several that are joined by ` + `."""
        keys = "|".join(map(re.escape, self.judges))
        return re.sub(
            rf"\(({keys})\)(?= \+ |$)", lambda m: f"({self.judges[m[1]]})", label
        )


def describe_seen(
    seen: Mapping[str, str], names: Iterable[str], shown_as: Mapping[str, str]
) -> list[str]:
    """Say of each judge or segmentation whether choices saw the data (params.yaml > seen)."""
    return [
        f"{shown_as.get(name, name)}: {seen.get(name, 'not stated')}" for name in names
    ]


NONE = ShownAs({}, {})  # every name is shown as it is
