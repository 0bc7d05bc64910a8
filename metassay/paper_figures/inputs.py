"""Where the tables lie that records read, and what came of a paper in words."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from metassay.paper_figures.draw import Inputs, Outcome, absent
from metassay.paper_figures.made import needed
from metassay.paper_figures.record import Record

PUBLISHED = "reports/published"
FIGURES = "reports/figures"
STORE = Path(".work/figures")
LOCK = ".work/locks/figures-{}"  # held by whoever draws a paper, its stage too (stages/doorway.py)
DRAWS = "metassay.paper_figures.draw"  # the code that makes a drawing of a record

# Tables that are folders, since several stages write them.
_FOLDERS = {
    *("texts", "responses", "notes", "pairs", "criteria", "judgments", "measurements", "ratings"),
    *("segmented",),
}


def table_path(benchmark: str, table: str) -> str:
    """A table of a benchmark: a file, or a folder where several stages write it."""
    return f"data/tables/{benchmark}/{table}{'' if table in _FOLDERS else '.parquet'}"


def printed_path(file: str) -> str:
    """A printed table, which git keeps."""
    return f"{PUBLISHED}/{file}"


def paths(records: Iterable[Record]) -> list[str]:
    """All that these records read: what the stage of a paper has to declare."""
    drawn = [record for record in records if not record.open]
    tables = {table_path(*one) for record in drawn for one in needed(record)}
    return sorted(tables | {printed_path(file) for record in drawn for file in record.printed})


def inputs_in(root: Path) -> Inputs:
    """The inputs of a project."""
    return Inputs(
        lambda benchmark, table: root / table_path(benchmark, table),
        lambda file: root / printed_path(file),
    )


def said(outcome: Outcome) -> list[str]:
    """What came of a paper, in lines: how many, and what there is no number for."""
    n = len(outcome.drawn) + len(outcome.kept)
    lines = [
        f"{n:,} figure(s) and table(s): {len(outcome.drawn):,} drawn,"
        f" {len(outcome.kept):,} as before; {len(outcome.open):,} open (docs/figures.md)"
    ]
    lines += [
        f"{name}: not drawn: no number of it in {', '.join(map(_named, tables))};"
        f" {remedy(benchmark for benchmark, _ in tables)}"
        for name, tables in outcome.lacking.items()
    ]
    lines += [
        f"{name}: no number of ours for {', '.join(titles)}"
        for name, titles in outcome.absent.items()
    ]
    return lines


def damaged(found: Mapping[str, Sequence[str]]) -> list[str]:
    """What is wrong with what records read, or with them (`Outcome.damaged`): whom each stops."""
    stopped: dict[str, list[str]] = {}
    for name, problems in found.items():
        for problem in problems:
            stopped.setdefault(problem, []).append(name)
    return [f"not drawn: {', '.join(names)}: {problem}" for problem, names in stopped.items()]


def lacking(records: Iterable[Record], inputs: Inputs) -> dict[str, list[str]]:
    """Of each record that cannot be drawn yet, the benchmarks whose tables are not there."""
    found = {record.name: absent(record, inputs) for record in records if not record.open}
    return {name: sorted({one for one, _ in tables}) for name, tables in found.items() if tables}


def remedy(benchmarks: Iterable[str]) -> str:
    """What makes the tables."""
    return f"`metassay run {' '.join(sorted(set(benchmarks)))}` makes them"


def _named(table: tuple[str, str]) -> str:
    return table_path(*table)
