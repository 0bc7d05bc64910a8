"""`metassay show`: what tables there are of a benchmark, and one of them, printed or as CSV."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from metassay.cli.project import named
from metassay.cli.terminal import ruled, say
from metassay.core.atomic import is_stdout, whole_file
from metassay.core.errors import BadInput, hint
from metassay.core.params import Params
from metassay.core.stages import TABLES, files_in
from metassay.core.visible import visible
from metassay.format.frames import rows, to_csv
from metassay.format.glossary import terms
from metassay.format.numbers import shown
from metassay.llm.endpoints import parse_models
from metassay.reporting import headline
from metassay.reporting.certificates import limits_of
from metassay.reporting.contract_page import TABLES as CONTRACT
from metassay.reporting.names import ShownAs
from metassay.tables.parquet import read

ROWS = 50  # so many are printed without --all
_FIRST, _OTHER = 22, 14  # characters that a column gets at least with its gap, if it needs them


def show(chosen: argparse.Namespace) -> int:
    """Print one table of a benchmark, or the names of all; or what terms mean."""
    if chosen.terms is not None:
        _show_terms(chosen.terms)
        return 0
    if chosen.name is None:
        raise BadInput("show: name a benchmark, or --terms; `metassay list` has the benchmarks")
    name, wanted, console = chosen.name, chosen.table, Console()
    params, folder = named([name]), Path(TABLES) / name
    if not folder.is_dir():
        raise BadInput(f"{folder} does not exist; metassay run {name} makes it")
    there = {one: t.says for one, t in CONTRACT.items() if path_of(folder, one).exists()}
    for block, views in reversed(VIEWS.items()):
        there = {**(views if name in getattr(params, block) else {}), **there}
    if wanted is None:
        lines = [(one, says.partition(". ")[0]) for one, says in there.items()]
        frame = pd.DataFrame(lines, columns=["table", "what it says"])
        told = [f"metassay show {name} TABLE prints a table; --csv FILE writes it as CSV"]
    elif wanted in there:
        frame, told = table_of(name, wanted, params)
    else:
        known = f"{hint(wanted, there)}; there are: {', '.join(there)}"
        raise BadInput(f"{folder}: no table is called {wanted!r}{known}")
    if chosen.csv:
        say(Console(stderr=True), *told)
        if is_stdout(chosen.csv):
            print(to_csv(frame), end="")
            return 0
        with whole_file(chosen.csv) as file:
            file.write(to_csv(frame).encode())
        return 0
    say(console, *told)
    whole = chosen.all or wanted is None
    console.print(*_blocks(frame if whole else frame.head(ROWS), console.width))
    if len(frame) > ROWS and not whole:
        say(console, f"and {len(frame) - ROWS:,} more rows: metassay show {name} {wanted} --all")
    return 0


def _show_terms(wanted: str) -> None:
    every = terms()
    if wanted and wanted not in every:
        known = f"{hint(wanted, every)}; `metassay show --terms` lists all"
        raise BadInput(f"no term {wanted!r}{known}")
    for name, term in every.items():
        if wanted in ("", name):
            say(Console(), f"{name}: {term.whole}")


def _blocks(frame: pd.DataFrame, width: int) -> Iterator[Table]:
    """As many columns side by side as there is room for, each time after the first column."""
    heads = list(map(str, frame.columns))
    cells = [[*map(_cell, row)] for row in rows(frame, *frame.columns)]
    needed = [max(map(len, column)) + 2 for column in zip(heads, *cells, strict=True)]
    blocks: list[list[int]] = []
    room = 0
    for place, needs in list(enumerate(needed))[1:]:
        if min(needs, _OTHER) > room:
            blocks.append([0])
            room = width - min(needed[0], _FIRST)
        blocks[-1].append(place)
        room -= min(needs, _OTHER)
    if len(blocks) > 1 and frame.iloc[:, 0].duplicated().any():  # which row is it?
        numbered = frame.set_axis(range(1, len(frame) + 1)).reset_index(names="row")
        yield from _blocks(numbered, width)
        return
    for places in blocks:
        table = ruled(*(Column(Text(heads[place]), overflow="fold") for place in places))
        for row in cells:
            table.add_row(*(Text(row[place]) for place in places))
        yield table


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    if isinstance(value, float):
        return shown(value)
    return "" if value is None else visible(str(value))


# Columns that may hold texts are left out, whatever the access class: what a terminal shows is
# recorded. Of those that hold words, these and those of a key are ours or names.
OURS = {
    *("advice", "confound", "found", "given", "note"),
    *("recipe", "sentence", "suspected", "verdict", "why"),
}
VIEWS = {  # what is made of tables, by the block of params that has the benchmark
    "benchmarks": {
        "trust": "the metric closest to people, by each criterion and for each decision",
        "means": "each system's mean score of whole texts, by the main metrics",
    },
    "judge_tests": {"judges": "how often each judge is right"},
    "segment_tests": {"segmentations": "how often each segmentation is right"},
    "every": {"answers": "what language models were asked, and how many answers are missing"},
}


def path_of(folder: Path, table: str) -> Path:
    """A table's file, or its folder where several stages write it."""
    whole = folder / table
    return whole if whole.is_dir() else folder / f"{table}.parquet"


def table_of(name: str, table: str, params: Params) -> tuple[pd.DataFrame, list[str]]:
    """A table of a benchmark, and what is to be known of it."""
    own, folder = params.every[name], Path(TABLES) / name
    shown_as = ShownAs.of(params.shown_as, getattr(own, "writers", []), getattr(own, "judges", []))
    if table == "means":
        authors, values = headline.board(folder, shown_as)
        return pd.DataFrame(values, columns=["metric", *authors]), []
    if table == "trust":
        limits = limits_of(folder, float(params.meta_evaluation["confidence"]))
        best = headline.best_metrics(folder, shown_as)
        return pd.DataFrame(best, columns=[*headline.HEADS_OF_TRUST]), limits
    if table == "judges":
        values = headline.cards(folder, shown_as)
        return pd.DataFrame(values, columns=[*headline.HEADS_OF_CARDS]), []
    if table == "segmentations":
        values = headline.score_rows(folder)
        return pd.DataFrame(values, columns=[*headline.HEADS_OF_SCORES]), []
    if table == "answers":
        models = parse_models(params.endpoints, params.models).models
        return headline.answers_of(folder, files_in(own, "responses"), models), []
    of = CONTRACT[table]
    texts = [
        name
        for name, column in of.columns.items()
        if not (name in of.key or name in OURS or column.choices)
        and pa.types.is_string(getattr(column.type, "value_type", column.type))
    ]
    told = [f"left out, as they may hold texts: {', '.join(texts)}"] if texts else []
    return read(of, path_of(folder, table)).drop(columns=texts), told
