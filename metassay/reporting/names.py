"""In which order metrics, parts and authors are shown, and what they are called.

Tables and CSV files keep the names of params.yaml; pages, figures and the terminal are handed
frames in which they stand as `params.yaml > shown_as` says, so that no view knows of two names.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.errors import raise_problems
from metassay.metrics.describe import FAMILIES, Description
from metassay.scoring.catalogue import descriptions
from metassay.scoring.rubrics.ask import rubric_descriptions
from metassay.tables.names import EACH_PART, FULL, REFERENCE, STATEMENT, base_metric

OTHER_FAMILY = "Other metrics"

ARROWS = {"higher": "↑", "lower": "↓", "neither": ""}

_PARTS = (
    FULL,
    *("subjective", "objective_exam", "objective_results", "assessment_and_plan"),
    *("background", "method", "result", "conclusion"),
)

Metric = tuple[str, str]  # metric, judge

# What a rubric's metrics mean, and in which order people's criteria stand, is data of a benchmark;
# a page shows one benchmark, in many views.
_OF_RUBRICS: ContextVar[Mapping[str, Description]] = ContextVar("rubrics", default={})  # noqa: B039 - never changed
_RATED: ContextVar[Sequence[str]] = ContextVar("rated", default=())


@contextmanager
def described(criteria: pd.DataFrame, rated: Iterable[str] = ()) -> Iterator[None]:
    """Within it, metrics that the rubrics in table `criteria` make are known like all others.

    `rated` are the criteria that people rate, in the order in which pages show them.
    """
    before, rated_before = _OF_RUBRICS.set(rubric_descriptions(criteria)), _RATED.set([*rated])
    try:
        yield
    finally:
        _OF_RUBRICS.reset(before)
        _RATED.reset(rated_before)


def _description(metric: str) -> Description | None:
    return descriptions().get(base_metric(metric)) or _OF_RUBRICS.get().get(metric)


def family(metric: str) -> str:
    """The heading a metric is shown under; `OTHER_FAMILY` for one that nobody described."""
    known = _description(metric)
    return OTHER_FAMILY if known is None else known.family


def families(metrics: Iterable[str]) -> list[str]:
    """The headings of these metrics, without repeats, in the order of pages."""
    return sorted({family(metric) for metric in metrics}, key=_family_rank)


def sorted_metrics(metrics: Iterable[Metric]) -> list[Metric]:
    """Metrics without repeats, by family as they are described, unknown ones last by name."""
    return sorted(set(metrics), key=_metric_rank)


def headline_metrics(metrics: Iterable[Metric], at_most: int = 8) -> list[Metric]:
    """Those that are described as headline metrics, or the first `at_most` where there is none."""
    known = sorted_metrics(metrics)
    headline = [m for m in known if getattr(_description(m[0]), "headline", False)]
    return headline or known[:at_most]


def sorted_parts(parts: Iterable[str]) -> list[str]:
    """Parts without repeats: `full`, a note's sections and an abstract's facets, then by name."""
    return sorted(set(parts), key=part_rank)


def part_rank(part: str) -> tuple[int, str]:
    """Sorting key of one part."""
    return (_PARTS.index(part) if part in _PARTS else len(_PARTS), part)


def criterion_rank(criterion: str) -> tuple[int, str]:
    """Sorting key of what people rate: as the benchmark has it (`described`), others by name."""
    rated = _RATED.get()
    return (rated.index(criterion) if criterion in rated else len(rated), criterion)


def criterion_title(criterion: str, part: str) -> str:
    """The criterion, with the part where that isn't the whole text."""
    if part == EACH_PART:
        return f"{criterion}, within each part"
    if part == STATEMENT:
        return f"{criterion}, by statement"
    return criterion if part == FULL else f"{criterion}, {part}"


def sorted_authors(authors: Iterable[str]) -> list[str]:
    """Authors without repeats, the reference first."""
    return sorted(set(authors), key=lambda author: (author != REFERENCE, author))


def _family_rank(title: str) -> tuple[int, str]:
    """Families as `describe.FAMILIES` has them, then others by name, then OTHER_FAMILY."""
    if title in FAMILIES:
        return FAMILIES.index(title), title
    return len(FAMILIES) + (title == OTHER_FAMILY), title


def _metric_rank(metric: Metric) -> tuple[tuple[int, str], int, Metric]:
    described, of_rubrics = _places(), list(_OF_RUBRICS.get())  # as their criteria stand
    place = of_rubrics.index(metric[0]) if metric[0] in of_rubrics else 0
    rank = described.get(base_metric(metric[0]), len(described) + place)
    return _family_rank(family(metric[0])), rank, metric


@cache
def _places() -> dict[str, int]:
    """The place of each metric among all that are described."""
    return {name: place for place, name in enumerate(descriptions())}


# What pages, figures and the terminal call a system or judge whose name is not what people know.

_AUTHORS = ("author", "author_a", "author_b")
_JUDGES = ("judge",)
_LABELS = (  # hold `metric (judge)`
    *("metric_a", "metric_b", "members", "confound", "first", "second", "scorer"),
)


class ShownAs(NamedTuple):
    """Other words for names: of a benchmark's systems, which are authors, and of its judges."""

    authors: Mapping[str, str]
    judges: Mapping[str, str]

    @classmethod
    def of(
        cls, shown_as: Mapping[str, str], systems: Iterable[str], judges: Iterable[str]
    ) -> "ShownAs":
        """As params.yaml > shown_as says of these systems and judges."""
        return cls(
            {name: shown_as[name] for name in systems if name in shown_as},
            {name: shown_as[name] for name in judges if name in shown_as},
        )

    def frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The same rows, with authors and judges called as they are shown."""
        made: dict[str, Any] = {}
        for columns, names, other in (
            (_AUTHORS, self.authors, lambda name: self.authors.get(name, name)),
            (_JUDGES, self.judges, lambda name: self.judges.get(name, name)),
            (_LABELS, self.judges, self._label),
        ):
            for column in columns:
                if names and column in frame:
                    made[column] = frame[column].map(other, na_action="ignore")
        if self.authors and {"of", "name"} <= set(frame):  # the name of an author, or a rater
            other_names = frame["name"].map(lambda name: self.authors.get(name, name))
            made["name"] = frame["name"].where(frame["of"] != "author", other_names)
        return frame.assign(**made)

    def frames(self, tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        """All of them so, by name."""
        return {name: self.frame(frame) for name, frame in tables.items()}

    def check(self, authors: Iterable[str]) -> None:
        """BadInput if a system is shown under the name of another of these authors."""
        others = set(authors) - set(self.authors)
        raise_problems(
            f"params.yaml > shown_as > {name}: {shown!r} is another author's name; choose another"
            for name, shown in self.authors.items()
            if shown in others
        )

    def _label(self, label: str) -> str:
        """A label, or several that are joined by ` + `."""
        keys = "|".join(map(re.escape, self.judges))
        return re.sub(rf"\(({keys})\)(?= \+ |$)", lambda m: f"({self.judges[m[1]]})", label)


def looks(seen: Mapping[str, str], names: Iterable[str], shown_as: Mapping[str, str]) -> list[str]:
    """For each judge or segmentation whether choices saw the data, as params.yaml > seen says."""
    return [f"{shown_as.get(name, name)}: {seen.get(name, 'not stated')}" for name in names]


NONE = ShownAs({}, {})  # every name is shown as it is
