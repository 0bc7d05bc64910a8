"""The sizing tables of speed/README.md have the rows that speed/sizing.py prints."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from speed import sizing

PAGE = Path(__file__).parent.parent.parent / "speed/README.md"


@pytest.mark.parametrize(
    ("head", "labels"),
    [(sizing.UNITS, sizing.unit_labels()), (sizing.STUDIES, sizing.study_labels())],
)
def test_the_page_has_the_rows_that_are_measured(
    head: Sequence[str], labels: list[str]
) -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index(f"| {' | '.join(head)} |") + 2
    rows = [
        line.strip("| ").split(" | ") for line in lines[start : start + len(labels) + 1]
    ]
    assert [row[0] for row in rows[:-1]] == labels
    assert {len(row) for row in rows[:-1]} == {len(head)}
    assert rows[-1] == [""]  # and no more


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(59.0, "seconds"), (90.0, "1.5 core minutes"), (3_600.0 * 123, "120 core hours")],
)
def test_time_is_told_as_people_say_it(seconds: float, words: str) -> None:
    assert sizing.core(seconds) == words
