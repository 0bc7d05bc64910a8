"""docs/figures.md: every table and figure that has a record, drawn or open.

`python -m papers.page docs/figures.md` writes it.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from metassay.format.prose import join_lines
from papers.derived_tables import DERIVED
from papers.index import find_records
from papers.record import Record

_INTRO = """\
Generated from `papers/`; do not edit.

These tables and figures of five papers are drawn from the tables of the benchmarks
here. Our numbers stand beside the printed ones. `metassay figures` draws them into
`reports/figures/PAPER/`, a file per format: a table as .csv (all digits), .md and .tex;
a figure as .svg, .pdf and .png, with its numbers as .md and .csv. `--paper NAME` draws
one paper, `--format pdf,tex` only these formats. A figure is drawn again when its
tables or its record changed. The command works in a copy of Metassay's repository,
since the folder `papers/` is no part of the package.

The command runs nothing else: it shows the tables that are there. If a benchmark's
tables are missing, it names the figures that need them and the command that makes the
tables. If a table or a printed file is damaged, it names the file and the fault. It
draws all other figures and exits with 3, or with 1 if it could draw none. It says which
tables are out of date.

When all tables of a paper are there, its stage in `papers/dvc.yaml` draws it, and
`papers/dvc.lock` records from which tables; `python -m flows NAME --dag
papers/dvc.yaml` runs that stage under Prefect. Otherwise, and with `--format`, the
paper is drawn without DVC.

A caption counts the printed numbers that have no counterpart here. Most of them are not
shown. Where a paper's systems or judges were not released, their printed numbers stand
alone, below ours. A LaTeX file compiles by itself. Another document can `\\input` it if
it loads `booktabs` and `graphicx`.

A figure is *open* if it cannot be drawn here: *for data* that were not published or
that you must fetch yourself, *for credentials* if only credentialed users may have the
data or it needs a language model of yours, *for us* if this project lacks something.
An open figure that is fed by a benchmark is drawn as soon as `benchmarks/` has that folder;
[datasets](datasets.md#with-a-copy-of-yours) says how to get one.

[Methods of the papers](papers.md) says where each method, prompt and ablation is.

To add a figure, write a record into the module of its paper in `papers/` (`record.py`
there explains the fields). Put the printed numbers into `reports/published/`, and run
`make docs`. A test compares records, `papers/dvc.yaml` and this page."""


def describe(papers: Mapping[str, Sequence[Record]]) -> str:
    """Return all records as a Markdown page, by paper, in their order."""
    every = [record for records in papers.values() for record in records]
    lines = ["# Tables and figures of papers", "", *_INTRO.split("\n"), ""]
    lines += [f"All papers: {_counts(every)}", ""]
    for paper, records in papers.items():
        lines += [f"## {paper}", "", _counts(records), ""]
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


def _counts(records: Sequence[Record]) -> str:
    n = Counter(record.open.kind if record.open else "drawn" for record in records)
    return (
        f"{n['drawn']} drawn, {n['data']} open for data, {n['credentials']} open for"
        f" credentials, {n['us']} open for us."
    )


def _line(record: Record) -> str:
    cells = [
        record.name,
        _cell(record.title),
        record.form,
        _code(sorted({numbers.benchmark for numbers in record.all_numbers})),
        ", ".join(record.printed_files),
        _status(record),
    ]
    return f"| {' | '.join(cells)} |"


def _status(record: Record) -> str:
    if record.open is None:
        return "drawn"
    return f"open for {record.open.kind}: {_cell(join_lines(record.open.what))}"


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    page = describe(find_records(Path()))
    Path(sys.argv[1]).write_text(page, encoding="utf-8")
