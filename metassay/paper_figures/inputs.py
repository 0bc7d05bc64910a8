"""Where the tables lie that records read, and what came of a paper in words."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from metassay.paper_figures.derived_tables import needed
from metassay.paper_figures.draw import Inputs, Outcome, absent
from metassay.paper_figures.papers import Record

PUBLISHED = "reports/published"
FIGURES = "reports/figures"
STORE = Path(".work/figures")
LOCK = ".work/locks/figures-{}"  # held by whoever draws a paper, its stage too (stages/doorway.py)
DRAWS = "metassay.paper_figures.draw"  # the code that makes a drawing of a record

# Tables that are folders, since several stages write them.
_FOLDERS = {
    *("texts", "responses", "notes", "alignments", "pairs", "criteria", "judgments"),
    *("measurements", "statement_scores", "ratings", "segmented"),
}


def table_path(benchmark: str, table: str) -> str:
    """A table of a benchmark: a file, or a folder where several stages write it."""
    return f"data/tables/{benchmark}/{table}{'' if table in _FOLDERS else '.parquet'}"


def paths(records: Iterable[Record]) -> list[str]:
    """All that these records read: what the stage of a paper has to declare."""
    drawn = [record for record in records if not record.open]
    tables = {table_path(*table) for record in drawn for table in needed(record)}
    return sorted(tables | {f"{PUBLISHED}/{file}" for record in drawn for file in record.printed})


def inputs_in(root: Path) -> Inputs:
    """The inputs of a project."""
    return Inputs(
        lambda benchmark, table: root / table_path(benchmark, table),
        lambda file: root / PUBLISHED / file,
    )


def summary(outcome: Outcome) -> list[str]:
    """What came of a paper, in lines: how many, and what there is no number for."""
    n_drawn, n_kept = len(outcome.drawn), len(outcome.kept)
    lines = [
        f"{n_drawn + n_kept:,} figure(s) and table(s): {n_drawn:,} drawn, {n_kept:,} as before;"
        f" {len(outcome.open):,} open (docs/figures.md)"
    ]
    lines += [
        f"{name}: not drawn: no number of it in {', '.join(table_path(*of) for of in tables)};"
        f" {remedy(benchmark for benchmark, _ in tables)}"
        for name, tables in outcome.lacking.items()
    ]
    lines += [
        f"{name}: no number of ours for {', '.join(titles)}"
        for name, titles in outcome.absent.items()
    ]
    return lines


def damage(problems: Mapping[str, Sequence[str]]) -> list[str]:
    """What is wrong with what records read, or with them (`Outcome.damaged`): whom each stops."""
    stopped: dict[str, list[str]] = {}
    for name, of_record in problems.items():
        for problem in of_record:
            stopped.setdefault(problem, []).append(name)
    return [f"not drawn: {', '.join(names)}: {problem}" for problem, names in stopped.items()]


def lacking(records: Iterable[Record], inputs: Inputs) -> dict[str, list[str]]:
    """Of each record that cannot be drawn yet, the benchmarks whose tables are not there."""
    tables = {record.name: absent(record, inputs) for record in records}
    return {name: sorted({benchmark for benchmark, _ in of}) for name, of in tables.items() if of}


def remedy(benchmarks: Iterable[str]) -> str:
    """What makes the tables."""
    return f"`metassay run {' '.join(sorted(set(benchmarks)))}` makes them"
