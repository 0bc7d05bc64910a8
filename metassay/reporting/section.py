"""Rows of tables: their keys, groups and order, and an estimate in a sentence."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from metassay.core import strict_yaml
from metassay.format.frames import records
from metassay.format.numbers import short, short_interval
from metassay.reporting.names import (
    Metric,
    criterion_rank,
    criterion_title,
    part_rank,
)
from metassay.tables.names import metric_label

Key = tuple[str, str, str]  # study, criterion, part
Row = dict[str, Any]
K = TypeVar("K")


def short_estimate(row: Row) -> str:
    """The value of a row and its interval for a sentence, two decimals each."""
    return f"{short(row['value'])} {short_interval(row['low'], row['high'])}".strip()


def by_criterion(frame: pd.DataFrame) -> list[tuple[Key, list[Row]]]:
    """The rows of each study, criterion and part, in the order of the page."""
    found = grouped(records(frame), key_of)
    return sorted(found.items(), key=lambda item: key_rank(item[0]))


def grouped(rows: Iterable[Row], key: Callable[[Row], K]) -> dict[K, list[Row]]:
    """The rows by their key, keys and rows in the order of the rows."""
    found: dict[K, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def key_of(row: Row) -> Key:
    """Study, criterion and part."""
    return row["study"], row["criterion"], row["part"]


def metric_of(row: Row) -> Metric:
    """Metric and judge."""
    return row["metric"], row["judge"]


def metric_name(row: Row) -> str:
    """The metric's name, with the judge's in brackets."""
    return metric_label(row["metric"], row["judge"])


def key_rank(key: Key) -> tuple[str, tuple[int, str], tuple[int, str]]:
    """Sorting key: by study and criterion, the whole text before its parts."""
    study, criterion, part = key
    return study, criterion_rank(criterion), part_rank(part)


def titled(key: Key) -> str:
    """A criterion's name on the page."""
    return criterion_title(key[1], key[2])


def best_first(value: float | None) -> tuple[bool, float]:
    """Sorting key of one number: the largest first, null last."""
    return value is None, -(value or 0.0)


# Words of pages, as files of this folder.


TableWords = Mapping[str, Any]


@cache
def texts(file: str) -> Any:
    """The blocks of a file of this folder, such as `words.yaml`."""
    return strict_yaml.load(Path(__file__).with_name(file))
