"""docs/figures.md: every table and figure that has a record, drawn or open.

`python -m metassay.paper_figures.page docs/figures.md` writes it.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from metassay.paper_figures.derived_tables import DERIVED, needed_tables
from metassay.paper_figures.papers import PAPERS, Record

_INTRO = """\
Generated from `metassay/paper_figures/`; do not edit.

Tables and figures of five papers, drawn from the tables of benchmarks here, ours beside what was
printed. `metassay figures` draws them into `reports/figures/PAPER/`, a file per format: a table as
.csv (all digits), .md and .tex, a figure as .svg, .pdf, .png and its numbers. `--paper NAME` takes
one paper, `--format pdf,tex` these formats alone. Drawn again is only what has another table,
record or code than before; the rest is put back.

Nothing else is run: a figure shows the tables that are there. Where the tables of a benchmark are
not there, what it feeds is named with the command that makes them; where a table or a printed file
is damaged, what reads it is named with what is wrong. The rest is drawn, and the exit code is 3 (1
if nothing could be drawn). Where tables are not up to date, that is said.

Where all tables of a paper are there, its stage in the root's `dvc.yaml` draws it, and `dvc.lock`
says from which tables; `python -m flows --figures NAME` runs the same under Prefect. In part, or
with `--format`, it is drawn without DVC.

A printed number that has no counterpart here is counted and not shown; a number of ours that the
paper doesn't have may stand beside the others. *Open* is what cannot be drawn from tables here,
with what is missing. A LaTeX file compiles by itself, and is its table alone where another document
takes it by `\\input`, with `booktabs` and `graphicx` loaded.

To add one, write a record into `metassay/paper_figures/records.yaml` (`papers.py` beside it says
what it has), put the printed numbers into `reports/published/`, and run `metassay update`, which
writes the paper's stage, and `make docs`. A test compares records, stages and this page."""


def describe(papers: Mapping[str, Sequence[Record]]) -> str:
    """Return all records as a Markdown page, by paper, in their order."""
    lines = ["# Tables and figures of papers", "", *_INTRO.split("\n"), ""]
    for paper, records in papers.items():
        n_open = sum(bool(record.open) for record in records)
        lines += [
            f"## {paper}",
            "",
            f"{len(records) - n_open} drawn, {n_open} open.",
            "",
        ]
        lines += ["| name | what it shows | form | fed by | beside | status |"]
        lines += ["|---|---|---|---|---|---|"]
        lines += [_line(record) for record in records]
        lines.append("")
    lines += [
        "## Tables made for figures alone",
        "",
        "| table | made of | what it holds |",
    ]
    lines += ["|---|---|---|"]
    lines += [
        f"| {name} | {_code(table.sources)} | {_cell(table.summary)} |"
        for name, table in DERIVED.items()
    ]
    return "\n".join(lines) + "\n"


def _line(record: Record) -> str:
    cells = [
        record.name,
        _cell(record.title),
        record.form,
        _code(sorted({benchmark for benchmark, _ in needed_tables(record)})),
        ", ".join(record.printed),
        f"open: {_cell(record.open)}" if record.open else "drawn",
    ]
    return f"| {' | '.join(cells)} |"


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(describe(PAPERS), encoding="utf-8")
