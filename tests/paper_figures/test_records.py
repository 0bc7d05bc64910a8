"""The records that there are: each has what it names, its stage, and its line in the docs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.core.options import BENCHMARKS
from metassay.paper_figures import NAMES
from metassay.paper_figures.derived_tables import (
    DERIVED,
    DRAWN_FROM,
    needed_tables,
    source_tables,
    unknown_tables,
)
from metassay.paper_figures.draw import FIGURES, paths
from metassay.paper_figures.page import describe
from metassay.paper_figures.papers import PAPERS, Line, Record
from metassay.paper_figures.printed import read_printed

ROOT = Path(__file__).parents[2]
EVERY = [record for records in PAPERS.values() for record in records]
DRAWN = [record for record in EVERY if not record.open]


def ids(record: Record) -> str:
    return f"{record.paper} {record.name}"


def test_papers_have_the_names_that_the_command_line_takes() -> None:
    assert tuple(PAPERS) == NAMES
    assert [record.paper for record in EVERY] == [p for p, own in PAPERS.items() for _ in own]


def test_names_are_given_once() -> None:
    named = [(record.paper, record.name) for record in EVERY]
    assert len(named) == len(set(named))


@pytest.mark.parametrize("paper", NAMES)
def test_the_stage_of_a_paper_declares_what_its_records_read(paper: str) -> None:
    stages: dict[str, Any] = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))
    stage = stages["stages"].get(f"figures_{paper}")
    read = paths(PAPERS[paper])
    if not read:
        assert stage is None
        return
    assert stage["cmd"] == f"python -m stages.figures {paper}"
    assert sorted(stage["deps"]) == read
    assert stage["outs"] == [f"{FIGURES}/{paper}"]


@pytest.mark.parametrize("record", DRAWN, ids=ids)
def test_what_a_record_names_is_there(record: Record) -> None:
    assert unknown_tables(record) == []
    assert record.all_numbers
    for benchmark, _ in needed_tables(record):
        assert (ROOT / BENCHMARKS / benchmark).is_dir()
    for numbers in record.all_numbers:
        if numbers.table in DRAWN_FROM:  # columns of those that are made are checked when drawn
            read = [*numbers.columns, *numbers.where]
            assert set(read) <= set(DRAWN_FROM[numbers.table].columns)


@pytest.mark.parametrize("record", [r for r in DRAWN if r.printed], ids=ids)
def test_every_condition_on_the_print_is_of_a_row_there(record: Record) -> None:
    """A name that was mistyped would drop the printed number without a word."""
    printed = [read_printed(ROOT / "reports/published" / name) for name in record.printed]
    known = {column: set[str]() for column in printed[0].columns}
    for frame in printed:
        for column in frame.columns:
            known[column] |= set(frame[column])
    lines = [*record.panels, *record.rows, *record.columns]
    for line in lines:
        for column, value in ((isinstance(line, Line) and line.printed) or {}).items():
            assert value in known[column], (column, value)


def test_what_is_open_says_what_is_missing_and_reads_nothing() -> None:
    for record in EVERY:
        if record.open:
            assert len(record.open) > 20, ids(record)
            assert needed_tables(record) == [], ids(record)


def test_tables_made_for_figures_are_made_of_those_of_the_contract() -> None:
    assert not set(DERIVED) & set(DRAWN_FROM)
    whole = [replace(record, open="") for record in EVERY]  # as some wait for their data alone
    used = {numbers.table for record in whole for numbers in record.all_numbers}
    assert set(DERIVED) <= used
    assert {table for name in used for table in source_tables(name)} == set(DRAWN_FROM)


def test_docs_list_every_record() -> None:
    assert (ROOT / "docs/figures.md").read_text(encoding="utf-8") == describe(PAPERS), (
        "docs/figures.md is stale; run `make docs`"
    )
