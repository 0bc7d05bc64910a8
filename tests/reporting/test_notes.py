"""The notes of stages on the page."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from metassay.reporting.report import ReportInput, write_report
from metassay.reporting.responses import OPEN, notes_section, notes_table
from metassay.tables.notes import NOTES
from metassay.tables.parquet import empty
from tests.reporting.invented_report import SCRIPT


def notes(stage: str, *said: str) -> pd.DataFrame:
    rows = [(stage, position, note) for position, note in enumerate(said)]
    return pd.DataFrame(rows, columns=list(NOTES.columns))


def test_notes_stand_in_the_order_of_the_data_with_their_counts() -> None:
    given = {"ingest": notes("ingest", "b", "a"), "decompose": notes("decompose", "c")}
    section = notes_section(notes_table({**given, "measure": empty(NOTES)}))
    assert section is not None
    (group,) = section.groups
    assert (group.title, group.soft, group.open) == ("3 notes", "ingest 2, decompose 1", True)
    ((_, _, rows, _),) = group.grids
    assert [(stage, cell.text) for stage, (cell,) in rows] == [
        *(("ingest", "b"), ("ingest", "a"), ("decompose", "c")),
    ]


def test_many_notes_are_behind_a_line_and_none_are_no_section() -> None:
    many = notes_section(notes("ingest", *map(str, range(OPEN + 1))))
    assert many is not None
    assert not many.groups[0].open
    assert notes_section(notes_table({})) is None
    assert notes_section(notes_table({"ingest": empty(NOTES)})) is None


@pytest.mark.usefixtures("no_figures")
def test_the_page_has_them_near_the_top_and_escapes_them(
    make_report: Callable[..., ReportInput], tmp_path: Path
) -> None:
    given = {"ingest": notes("ingest", f"rating.csv: is not read {SCRIPT}")}
    write_report(make_report(notes=given), tmp_path / "out")
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert page.index('id="headline"') < page.index('id="notes"') < page.index('id="leaderboard"')
    assert "rating.csv: is not read &lt;script" in page
    assert SCRIPT not in page
    assert "rating.csv" in (tmp_path / "out/notes.csv").read_text(encoding="utf-8")
