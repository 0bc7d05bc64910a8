"""The records that there are: each has what it names, its stage, and its line in the docs."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.core.options import BENCHMARKS
from metassay.reporting.published.printed import read_printed
from papers import NAMES, derived_tables
from papers.cells import Cell, Cells
from papers.dag import DAG, describe_dag
from papers.draw import (
    FIGURES,
    PUBLISHED,
    draw_paper,
    format_latex,
    format_markdown,
    paths,
)
from papers.index import PAPERS, find_records
from papers.page import describe
from papers.record import Line, Record
from tests.papers.invented import every_form, project

ROOT = Path(__file__).parents[2]
EVERY = [record for records in PAPERS.values() for record in records]
DRAWN = [record for record in EVERY if not record.open]


def ids(record: Record) -> str:
    return f"{record.paper} {record.name}"


def test_papers_have_the_names_that_the_command_line_takes_and_records_names_of_their_own() -> (
    None
):
    assert tuple(PAPERS) == NAMES
    assert [record.paper for record in EVERY] == [
        p for p, of in PAPERS.items() for _ in of
    ]
    assert len(set(map(ids, EVERY))) == len(EVERY)


def test_papers_dvc_yaml_is_that_of_the_records() -> None:
    text = (ROOT / DAG).read_text(encoding="utf-8")
    assert text == describe_dag(PAPERS), (
        "run `metassay figures`, or python -m papers.dag"
    )
    stages: dict[str, Any] = yaml.safe_load(text)["stages"]
    assert [paper for paper in NAMES if paths(PAPERS[paper])] == list(stages)
    for paper, stage in stages.items():
        assert stage["outs"] == [f"{FIGURES}/{paper}"]
        assert all((ROOT / dep).exists() for dep in stage["deps"] if "data/" not in dep)


@pytest.mark.parametrize("record", DRAWN, ids=ids)
def test_what_a_record_names_is_there(record: Record) -> None:
    """A condition on the print that was mistyped would drop the number without a word."""
    assert derived_tables.unknown_tables(record) == []
    assert record.all_numbers
    for benchmark, _ in derived_tables.needed_tables(record):
        assert (ROOT / BENCHMARKS / benchmark).is_dir()
    for numbers in record.all_numbers:
        if (
            numbers.table in derived_tables.DRAWN_FROM
        ):  # columns of those that are made are checked when drawn
            read = [*numbers.columns, *numbers.where]
            assert set(read) <= set(derived_tables.DRAWN_FROM[numbers.table].columns)
    printed = [read_printed(ROOT / PUBLISHED / name) for name in record.printed_files]
    lines = [*record.panels, *record.rows, *record.columns]
    for line in lines if printed else ():
        for column, value in ((isinstance(line, Line) and line.printed) or {}).items():
            assert any(value in set(frame[column]) for frame in printed), (
                column,
                value,
            )


def test_what_is_open_says_what_is_missing_and_reads_nothing() -> None:
    for record in EVERY:
        if record.open:
            assert len(record.open.what) > 20, ids(record)
            assert derived_tables.needed_tables(record) == [], ids(record)


def test_an_open_record_is_drawn_once_benchmarks_has_the_folders_that_it_names(
    tmp_path: Path,
) -> None:
    (before,) = find_records(tmp_path)["simsum"]
    assert before.open
    (tmp_path / BENCHMARKS / "simsum").mkdir(parents=True)
    (after,) = find_records(tmp_path)["simsum"]
    assert after == replace(before, open=None)
    # A record that names no numbers stays open, whatever is there.
    by_name = {record.name: record for record in find_records(tmp_path)["doclens"]}
    assert by_name["fig7"].open


def test_tables_made_for_figures_are_made_of_those_of_the_contract() -> None:
    assert not set(derived_tables.DERIVED) & set(derived_tables.DRAWN_FROM)
    # as some wait for their data alone
    used = {numbers.table for record in EVERY for numbers in record.all_numbers}
    assert set(derived_tables.DERIVED) <= used
    assert {
        table for name in used for table in derived_tables.source_tables(name)
    } == set(derived_tables.DRAWN_FROM)


def test_docs_list_every_record() -> None:
    page = (ROOT / "docs/figures.md").read_text(encoding="utf-8")
    assert page == describe(PAPERS), "docs/figures.md is stale; run `make docs`"


# ---- LaTeX -----------------------------------------------------------------------------------

_OTHER = r"""\documentclass{article}
\usepackage{booktabs,graphicx}
\begin{document}
Before.
\input{table1}
\input{table2}
After.
\end{document}
"""


def test_a_number_its_interval_and_the_printed_one_stand_in_a_row() -> None:
    cells = tuple(
        Cell("", "One", name, 0.25, 0.125, 0.5, 9, 0.25) for name in ("A", "B")
    )
    record = Record(paper="invented", name="table1", title="Two", decimals=3)
    page = format_latex(record, Cells(cells, ("",), ("One",), ("A", "B")))
    assert r"\begin{tabular}{lrrrrrr}" in page
    assert r"One & 0.250 {\scriptsize [0.125, 0.500]} & 0.250 & 0.000 & 0.250 {" in page


def test_the_best_two_and_who_is_behind_have_marks_and_who_has_no_place_is_counted() -> (
    None
):
    ranked = (("a", 0.5, 9, 1, None), ("b", 0.4, 9, 2, 0.2), ("c", 0.3, 9, 3, 0.01))
    cells = tuple(
        Cell("", row, "r", ours, n=n, place=place, p=p)
        for row, ours, n, place, p in (*ranked, ("d", 0.9, 5, None, None))
    )
    page = format_markdown(
        Record(paper="invented", name="table1", title="Two"),
        Cells(cells, ("",), (*"abcd",), ("r",)),
    )
    rows = ("| a | 0.50¹ |", "| b | 0.40² |", "| c | 0.30† |", "| d | 0.90 |")
    assert tuple(page.splitlines()[-4:]) == rows
    assert (
        "they score too few of the texts, and at most so many: d 5; the others 9."
        in page
    )


@pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="no pdflatex here, so no .tex file is compiled; Debian: texlive-latex-recommended",
)
def test_tables_compile_alone_and_inside_another_document(tmp_path: Path) -> None:
    """Compiled with all characters that LaTeX reads as commands in titles and captions."""
    out = tmp_path / "out"
    draw_paper(
        every_form()[:2], project(tmp_path), out, store=tmp_path / "store", version="1"
    )
    (out / "other.tex").write_text(_OTHER, encoding="utf-8")
    for name in ("table1", "other"):
        command = [
            "pdflatex",
            "-interaction=nonstopmode",
            "-halt-on-error",
            f"{name}.tex",
        ]
        ended = subprocess.run(
            command,
            cwd=out,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
        )
        assert ended.returncode == 0, ended.stdout[-1500:]
        assert (out / f"{name}.pdf").stat().st_size > 5000
