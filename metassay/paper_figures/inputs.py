"""Where the tables are that records read, and the outcome of drawing a paper in words."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from metassay.paper_figures.derived_tables import needed_tables
from metassay.paper_figures.draw import Inputs, Outcome, missing_tables
from metassay.paper_figures.papers import Record

PUBLISHED = "reports/published"
FIGURES = "reports/figures"
STORE = Path(".work/figures")
LOCK = ".work/locks/figures-{}"  # of the process that draws a paper; its stage has it, too
DRAWS = "metassay.paper_figures.draw"  # the code that draws a record

# Tables that are folders, since several stages write them.
_FOLDERS = {
    *("texts", "responses", "notes", "alignments", "pairs", "criteria", "judgments"),
    *("measurements", "statement_scores", "ratings", "segmented"),
}


def table_path(benchmark: str, table: str) -> str:
    """Return the path of a benchmark's table: a folder if several stages write it."""
    return f"data/tables/{benchmark}/{table}{'' if table in _FOLDERS else '.parquet'}"


def paths(records: Iterable[Record]) -> list[str]:
    """Return all that these records read: what a paper's stage declares."""
    drawn = [record for record in records if not record.open]
    tables = {table_path(*table) for record in drawn for table in needed_tables(record)}
    return sorted(tables | {f"{PUBLISHED}/{file}" for record in drawn for file in record.printed})


def inputs_in(root: Path) -> Inputs:
    """Return the inputs of a project."""
    return Inputs(
        lambda benchmark, table: root / table_path(benchmark, table),
        lambda file: root / PUBLISHED / file,
    )


def summary(outcome: Outcome) -> list[str]:
    """Return the outcome of a paper in lines: how many were drawn, and what lacks a number."""
    n_drawn, n_same = len(outcome.drawn), len(outcome.unchanged)
    lines = [
        f"{n_drawn + n_same:,} figure(s) and table(s): {n_drawn:,} drawn, {n_same:,} as before;"
        f" {len(outcome.open):,} open (docs/figures.md)"
    ]
    lines += [
        f"{name}: not drawn: no number of it in {', '.join(table_path(*t) for t in tables)};"
        f" {remedy(benchmark for benchmark, _ in tables)}"
        for name, tables in outcome.lacking.items()
    ]
    lines += [
        f"{name}: no number of ours for {', '.join(titles)}"
        for name, titles in outcome.absent.items()
    ]
    return lines


def damage_lines(problems: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a line per problem (`Outcome.damaged`), with the records that it stops."""
    stopped: dict[str, list[str]] = {}
    for name, of_record in problems.items():
        for problem in of_record:
            stopped.setdefault(problem, []).append(name)
    return [f"not drawn: {', '.join(names)}: {problem}" for problem, names in stopped.items()]


def missing_benchmarks(records: Iterable[Record], inputs: Inputs) -> dict[str, list[str]]:
    """Return the benchmarks whose tables are missing, per record that cannot be drawn yet."""
    tables = {record.name: missing_tables(record, inputs) for record in records}
    return {name: sorted({b for b, _ in missing}) for name, missing in tables.items() if missing}


def remedy(benchmarks: Iterable[str]) -> str:
    """Return the command that makes the tables."""
    return f"`metassay run {' '.join(sorted(set(benchmarks)))}` makes them"
