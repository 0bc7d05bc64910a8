"""Citations past the last passage, however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.datasets.checks import check_citations
from metassay.tabular.rows import Place, Rows, SourceRow, TextRow
from metassay.text.citations import parse
from metassay.text.sentences import sentences


def findings(text: str, author: str, passages: int) -> tuple[list[str], list[str]]:
    names = [""] * passages
    source = SourceRow(Place("s", 1), "d", "note", ["p"] * passages, names, names)
    rows = Rows([source], [TextRow(Place("t", 1), "d", author, "full", text)])
    check_citations(rows)
    return rows.problems.lines(), rows.warnings.lines()


@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ("Fine [2].", None),
        ("Fine [0-2]. Fine. [1, 2]", None),
        ("Wrong [3].", 3),
        ("Wrong. [0][7] [5]", 5),
        ("Wrong [1, 12; 4].", 4),
        ("Wrong [2-4].", 3),
        ("Wrong [2\u20139].", 3),
        ("BP [120/80] and [laughs] and [9] in mid-sentence.", None),
        (f"Too long to be one [{'9' * 5000}].", None),
    ],
)
def test_what_counts(text: str, beyond: int | None) -> None:
    problems, warnings = findings(text, "alpha", 3)
    assert problems == []
    assert [f": [{beyond}] of 3 passages" in line for line in warnings] == [True] * (
        beyond is not None
    )
    problems, warnings = findings(text, "reference", 3)
    assert (len(problems), warnings) == (beyond is not None, [])


@given(st.text("[]0123 .,-ab\n", max_size=60), st.integers(1, 4))
def test_the_short_cut_misses_nothing(text: str, passages: int) -> None:
    cited = [
        n for start, end in sentences(text) for n in parse(text[start:end]).citations
    ]
    _, warnings = findings(text, "alpha", passages)
    assert bool(warnings) == any(number >= passages for number in cited)
