"""In which order metrics, parts and authors are shown, and what they are called."""

from collections.abc import Iterable
from functools import cache

from metassay.metrics.catalogue import descriptions
from metassay.metrics.describe import FAMILIES
from metassay.tables import EACH_PART, FULL, REFERENCE

OTHER_FAMILY = "Other metrics"

ARROWS = {"higher": "↑", "lower": "↓", "neither": ""}

_PARTS = (FULL, "subjective", "objective_exam", "objective_results", "assessment_and_plan")

Metric = tuple[str, str]  # metric, judge


def family(metric: str) -> str:
    """The heading a metric is shown under; `OTHER_FAMILY` for one that nobody described."""
    return descriptions()[metric].family if metric in descriptions() else OTHER_FAMILY


def families(metrics: Iterable[str]) -> list[str]:
    """The headings of these metrics, without repeats, in the order of pages."""
    return sorted({family(metric) for metric in metrics}, key=_family_rank)


def sorted_metrics(metrics: Iterable[Metric]) -> list[Metric]:
    """Metrics without repeats, by family as they are described, unknown ones last by name."""
    return sorted(set(metrics), key=_metric_rank)


def headline_metrics(metrics: Iterable[Metric], at_most: int = 8) -> list[Metric]:
    """Those that are described as headline metrics, or the first `at_most` where there is none."""
    known = sorted_metrics(metrics)
    headline = [m for m in known if m[0] in descriptions() and descriptions()[m[0]].headline]
    return headline or known[:at_most]


def sorted_parts(parts: Iterable[str]) -> list[str]:
    """Parts without repeats: `full`, then the SOAP sections in a note's order, then by name."""
    return sorted(set(parts), key=part_rank)


def part_rank(part: str) -> tuple[int, str]:
    """Sorting key of one part."""
    return (_PARTS.index(part) if part in _PARTS else len(_PARTS), part)


def criterion_title(criterion: str, part: str) -> str:
    """The criterion, with the part where that isn't the whole text."""
    if part == EACH_PART:
        return f"{criterion}, within each part"
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
    return _family_rank(family(metric[0])), _places().get(metric[0], len(_places())), metric


@cache
def _places() -> dict[str, int]:
    """The place of each metric among all that are described."""
    return {name: place for place, name in enumerate(descriptions())}
