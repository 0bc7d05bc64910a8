"""Draw records into a folder; what was drawn of the same numbers before comes from a store."""

import hashlib
import io
import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from metassay import parquet
from metassay.atomic import whole_file, whole_folder
from metassay.errors import BadInput
from metassay.paper_figures.as_table import to_latex, to_markdown
from metassay.paper_figures.cells import Cells, cells_of
from metassay.paper_figures.forms import bars, dots, heatmap, lines, scatter, violins
from metassay.paper_figures.look import rendered
from metassay.paper_figures.made import MADE, needed, unknown
from metassay.paper_figures.names import FORMATS
from metassay.paper_figures.record import Record
from metassay.reporting.cells import read_printed
from metassay.reporting.tables import to_csv
from metassay.tables import TABLES

PICTURES: Mapping[str, Callable[[Record, Cells], Figure]] = {
    "bars": bars.draw,
    "dots": dots.draw,
    "heatmap": heatmap.draw,
    "lines": lines.draw,
    "scatter": scatter.draw,
    "violins": violins.draw,
}
_ANY_DATE = (1980, 1, 1, 0, 0, 0)


class Inputs(NamedTuple):
    """Where things lie: a table of a benchmark, and a printed table by the name of its file."""

    table: Callable[[str, str], Path]
    printed: Callable[[str], Path]


@dataclass
class Outcome:
    """What came of the records, by name; `lacking` says of each that isn't drawn what it needs.

    `absent` are rows and columns that one that is drawn has no number for.
    """

    drawn: list[str]
    kept: list[str]
    open: list[str]
    lacking: dict[str, list[tuple[str, str]]]
    absent: dict[str, tuple[str, ...]]


def draw_paper(
    records: Iterable[Record],
    inputs: Inputs,
    out: Path,
    *,
    store: Path,
    version: str,
    formats: Sequence[str] = FORMATS,
) -> Outcome:
    """Make the folder `out` new, with a file per record and format; equal input, equal bytes.

    `version` is of the code that draws; with it, the record, the tables and the printed file each
    drawing has a key, under which `store` keeps it. A record that is open or lacks a table is left
    out and told. Raises BadInput with all that is wrong with records, tables and printed files;
    then `out` is as it was.
    """
    outcome = Outcome([], [], [], {}, {})
    files: dict[str, bytes] = {}
    problems: list[str] = []
    read = _reader(inputs)
    for record in records:
        if record.open:
            outcome.open.append(record.name)
            continue
        try:
            made = _made(record, inputs, read, store=store, version=version, outcome=outcome)
        except BadInput as error:
            problems += error.problems
            continue
        files |= {f"{record.name}.{kind}": made[kind] for kind in formats if kind in made}
    if problems:
        raise BadInput(list(dict.fromkeys(problems)))
    shutil.rmtree(out, ignore_errors=True)
    with whole_folder(out, "figures") as folder:
        for name, content in files.items():
            (folder / name).write_bytes(content)
    return outcome


def absent(record: Record, inputs: Inputs) -> list[tuple[str, str]]:
    """Benchmark and name of the tables that a record needs and that are not there."""
    return [one for one in needed(record) if not inputs.table(*one).exists()]


def _made(
    record: Record,
    inputs: Inputs,
    read: Callable[[str, str], pd.DataFrame],
    *,
    store: Path,
    version: str,
    outcome: Outcome,
) -> dict[str, bytes]:
    """The record's files by format; nothing, and it is told why, if it cannot be drawn."""
    nobody = unknown(record)
    if nobody:
        raise BadInput(
            f"{record.paper} {record.name}: {', '.join(nobody)}: no such table; choose from"
            f" {', '.join([*TABLES, *MADE])}"
        )
    lacking = absent(record, inputs)
    if lacking:
        outcome.lacking[record.name] = lacking
        return {}
    key = _key(record, inputs, version)
    place = store / record.paper / f"{record.name}-{key}.zip"
    files = _restored(place)
    told = outcome.drawn if files is None else outcome.kept
    if files is None:
        theirs = [read_printed(inputs.printed(name)) for name in record.printed]
        printed = pd.concat(theirs, ignore_index=True) if theirs else None
        cells = cells_of(record, read, printed)
        files = _files(record, cells) | {"absent": "\n".join(cells.absent).encode()}
        _keep(place, files)
    said = files.pop("absent").decode()
    if not files:
        outcome.lacking[record.name] = needed(record)
        return {}
    told.append(record.name)
    if said:
        outcome.absent[record.name] = tuple(said.split("\n"))
    return files


def _files(record: Record, cells: Cells) -> dict[str, bytes]:
    """By format; nothing if not one number of ours is there."""
    if not cells.cells:
        return {}
    files = {"md": to_markdown(record, cells).encode(), "csv": to_csv(cells.frame(record)).encode()}
    if record.form == "table":
        return files | {"tex": to_latex(record, cells).encode()}
    return files | rendered(partial(PICTURES[record.form], record, cells))


def _reader(inputs: Inputs) -> Callable[[str, str], pd.DataFrame]:
    """Reads each table once."""

    @cache
    def read(benchmark: str, name: str) -> pd.DataFrame:
        if name in MADE:
            return MADE[name].make({one: read(benchmark, one) for one in MADE[name].of})
        return parquet.read(TABLES[name], inputs.table(benchmark, name))

    return read


def _key(record: Record, inputs: Inputs, version: str) -> str:
    digest = hashlib.sha256(f"{version}\n{record!r}\n".encode())
    files = [file for one in needed(record) for file in _parts(inputs.table(*one))]
    files += [inputs.printed(name) for name in record.printed]
    for file in files:
        if not file.exists():
            raise BadInput(f"published: {file} does not exist; restore it from the repository")
        digest.update(f"{file.name}\n".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:32]


def _parts(path: Path) -> list[Path]:
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def _restored(place: Path) -> dict[str, bytes] | None:
    """What is kept there; None if nothing is, or it is damaged."""
    try:
        with zipfile.ZipFile(place) as kept:
            return {name: kept.read(name) for name in kept.namelist()}
    except (FileNotFoundError, zipfile.BadZipFile):
        return None


def _keep(place: Path, files: Mapping[str, bytes]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as kept:
        for name, content in files.items():
            kept.writestr(zipfile.ZipInfo(name, _ANY_DATE), content)
    with whole_file(place) as file:
        file.write(packed.getvalue())
