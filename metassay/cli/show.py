"""`metassay show`: list the tables of a benchmark, print one of them, or write it as CSV."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from metassay.cli.project import load_params
from metassay.cli.terminal import ruled, say
from metassay.core.atomic import is_stdout, whole_file
from metassay.core.errors import BadInput, hint
from metassay.core.params import Params
from metassay.core.stages import TABLES, files_in
from metassay.core.visible import visible
from metassay.datasets.registry import is_closed, load_registry
from metassay.format.frames import format_csv, rows
from metassay.format.glossary import terms
from metassay.format.numbers import shown
from metassay.llm.endpoints import parse_models
from metassay.reporting import headline
from metassay.reporting.contract_page import TABLES as CONTRACT
from metassay.reporting.names import ShownAs
from metassay.reporting.single_file import single_file
from metassay.reporting.warning_lines import warnings_of
from metassay.tables.parquet import read

ROWS = 50  # printed without --all
_FIRST, _OTHER = 22, 14  # least width of a column with its gap, unless it needs less


def show(args: argparse.Namespace) -> int:
    """Print a table of a benchmark, or the names of all; or explain terms."""
    if args.terms is not None:
        _show_terms(args.terms)
        return 0
    if args.name is None:
        raise BadInput(
            "show: name a benchmark, or --terms; `metassay list` has the benchmarks"
        )
    if args.html:
        _check_alone(args)
        load_params([args.name])
        _write_html(args.name, args.html)
        return 0
    _show_table(args)
    return 0


def _check_alone(args: argparse.Namespace) -> None:
    """Refuse what --html does not read: it writes the report, and no table."""
    options = {
        f"table {args.table}": args.table is not None,
        "--csv": args.csv is not None,
        "--all": args.all,
    }
    unused = [name for name, there in options.items() if there]
    if unused:
        verb = "is" if len(unused) == 1 else "are"
        raise BadInput(
            f"show: --html writes the whole report, so {' and '.join(unused)} {verb} no use here;"
            f" `metassay show {args.name} --html {args.html}` writes it"
        )


def _show_table(args: argparse.Namespace) -> None:
    """Print a table, or the names of all; or write it as CSV."""
    name, table, console = args.name, args.table, Console()
    params, folder = load_params([name]), Path(TABLES) / name
    if not folder.is_dir():
        raise BadInput(f"{folder} does not exist; metassay run {name} makes it")
    says = {
        name: t.says for name, t in CONTRACT.items() if path_of(folder, name).exists()
    }
    for block, views in reversed(VIEWS.items()):
        if name in getattr(params, block):
            says = {**views, **says}
    if table is None:
        lines = [(key, text.partition(". ")[0]) for key, text in says.items()]
        frame = pd.DataFrame(lines, columns=["table", "what it says"])
        notes = [
            f"metassay show {name} TABLE prints a table; --csv FILE writes it as CSV"
        ]
    elif table in says:
        frame, notes = table_of(name, table, params)
    else:
        known = f"{hint(table, says)}; there are: {', '.join(says)}"
        raise BadInput(f"{folder}: no table is called {table!r}{known}")
    if args.csv:
        say(Console(stderr=True), *notes)
        if is_stdout(args.csv):
            print(format_csv(frame), end="")
            return
        with whole_file(args.csv) as file:
            file.write(format_csv(frame).encode())
        return
    say(console, *notes)
    whole = args.all or table is None
    console.print(*_blocks(frame if whole else frame.head(ROWS), console.width))
    if len(frame) > ROWS and not whole:
        say(
            console,
            f"and {len(frame) - ROWS:,} more rows: metassay show {name} {table} --all",
        )


def _write_html(name: str, file: Path) -> None:
    """Write a report as one file; with its texts only if all data that it reads are public."""
    folder = Path("reports") / name
    if not (folder / "index.html").is_file():
        raise BadInput(f"{folder} has no report; metassay run {name} makes it")
    texts = not is_closed(name, load_registry())
    page = single_file(folder, texts=texts)
    with whole_file(file) as out:
        out.write(page)
    has = "with" if texts else "without"
    why = "" if texts else ", since it reads data whose access class is not public"
    size = len(page) / 1_000_000
    print(f"{file}: the report {has} its texts{why}, {size:.1f} MB in one file")


def _show_terms(name: str) -> None:
    glossary = terms()
    if name and name not in glossary:
        known = f"{hint(name, glossary)}; `metassay show --terms` lists all"
        raise BadInput(f"no term {name!r}{known}")
    for key, term in glossary.items():
        if name in ("", key):
            say(Console(), f"{key}: {term.whole}")


def _blocks(frame: pd.DataFrame, width: int) -> Iterator[Table]:
    """Split a frame into tables of as many columns as there is room for, the first in each."""
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
    if len(blocks) > 1 and frame.iloc[:, 0].duplicated().any():  # rows need a number
        numbered = frame.set_axis(range(1, len(frame) + 1)).reset_index(names="row")
        yield from _blocks(numbered, width)
        return
    for places in blocks:
        table = ruled(
            *(Column(Text(heads[place]), overflow="fold") for place in places)
        )
        for row in cells:
            table.add_row(*(Text(row[place]) for place in places))
        yield table


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    if isinstance(value, float):
        return shown(value)
    return "" if value is None else visible(str(value))


# Columns that may hold texts are left out, whatever the access class, since terminals
# are recorded. Of the columns with words, these and keys hold names or words of
# Metassay.
OURS = {
    "advice",
    "confound",
    "finding",
    "given",
    "note",
    "recipe",
    "remedy",
    "sentence",
    "verdict",
    "why",
}
VIEWS = {  # tables derived from others, by the block of params that has the benchmark
    "benchmarks": {
        "trust": "the metric closest to people, by each criterion and for each decision",
        "means": "each system's mean score of whole texts, by the main metrics",
    },
    "judge_tests": {"judges": "how often each judge is right"},
    "segment_tests": {"segmentations": "how often each segmentation is right"},
    "every": {
        "answers": "what language models were asked, and how many answers are missing"
    },
}


def path_of(folder: Path, table: str) -> Path:
    """Return a table's file, or its folder if several stages write it."""
    whole = folder / table
    return whole if whole.is_dir() else folder / f"{table}.parquet"


def table_of(name: str, table: str, params: Params) -> tuple[pd.DataFrame, list[str]]:
    """Return a table of a benchmark, and notes on it."""
    evaluation, folder = params.every[name], Path(TABLES) / name
    renamed = (getattr(evaluation, key, []) for key in ("writers", "judges"))
    shown_as = ShownAs.choose(params.shown_as, *renamed)
    if table == "means":
        return headline.board(folder, shown_as), []
    if table == "trust":
        return headline.best_metrics(folder, shown_as), warnings_of(folder)
    if table == "judges":
        return headline.cards(folder, shown_as), []
    if table == "segmentations":
        return headline.score_rows(folder), []
    if table == "answers":
        models = parse_models(params.endpoints, params.models).models
        return headline.answers_of(
            folder, files_in(evaluation, "responses"), models
        ), []
    contract = CONTRACT[table]
    texts = [
        name
        for name, column in contract.columns.items()
        if not (name in contract.key or name in OURS or column.choices)
        and pa.types.is_string(getattr(column.type, "value_type", column.type))
    ]
    notes = [f"left out, as they may hold texts: {', '.join(texts)}"] if texts else []
    return read(contract, path_of(folder, table)).drop(columns=texts), notes
