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
from metassay.atomic import whole_file
from metassay.errors import BadInput
from metassay.paper_figures.as_table import to_latex, to_markdown
from metassay.paper_figures.cells import Cells, cells_of
from metassay.paper_figures.forms import bars, dots, heatmap, lines, scatter, violins
from metassay.paper_figures.look import rendered
from metassay.paper_figures.made import DRAWN_FROM, MADE, needed, unknown
from metassay.paper_figures.names import FORMATS
from metassay.paper_figures.record import Record
from metassay.reporting.cells import read_printed
from metassay.reporting.tables import to_csv

PICTURES: Mapping[str, Callable[[Record, Cells], Figure]] = {
    "bars": bars.draw,
    "dots": dots.draw,
    "heatmap": heatmap.draw,
    "lines": lines.draw,
    "scatter": scatter.draw,
    "violins": violins.draw,
}
_ANY_DATE = (1980, 1, 1, 0, 0, 0)
_DIGEST = hashlib.sha256().digest_size  # of what is kept, which stands before it


class Inputs(NamedTuple):
    """Where things lie: a table of a benchmark, and a printed table by the name of its file."""

    table: Callable[[str, str], Path]
    printed: Callable[[str], Path]


@dataclass
class Outcome:
    """What came of the records, by name; `lacking` says of each that isn't drawn what it needs.

    `absent` are rows and columns that one that is drawn has no number for. `damaged` says of others
    that are not drawn what is wrong with the tables and printed files that they read, or with them.
    """

    drawn: list[str]
    kept: list[str]
    open: list[str]
    lacking: dict[str, list[tuple[str, str]]]
    absent: dict[str, tuple[str, ...]]
    damaged: dict[str, tuple[str, ...]]


def draw_paper(
    records: Iterable[Record],
    inputs: Inputs,
    out: Path,
    *,
    store: Path,
    version: str,
    formats: Sequence[str] = FORMATS,
) -> Outcome:
    """Bring the folder `out` up to date: a file per record and format, and no other.

    Equal input gives equal bytes. `version` is of the code that draws; with it, the record, the
    tables and the printed file each drawing has a key, under which `store` keeps it. A record that
    is open, lacks a table, or reads what is damaged is left out and told; all others are drawn.
    Each file is replaced in one step. Whoever calls this is to be the only one who does, for `out`.
    """
    outcome = Outcome([], [], [], {}, {}, {})
    files: dict[str, bytes] = {}
    read = _reader(inputs)
    for record in records:
        if record.open:
            outcome.open.append(record.name)
            continue
        try:
            made = _made(record, inputs, read, store=store, version=version, outcome=outcome)
        except BadInput as error:
            outcome.damaged[record.name] = tuple(error.problems)
            continue
        files |= {f"{record.name}.{kind}": made[kind] for kind in formats if kind in made}
    _put(out, files)
    return outcome


def _put(out: Path, files: Mapping[str, bytes]) -> None:
    """Have the folder hold these files alone; a kill in between leaves each of them old or new."""
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = out / name
        if not path.is_file() or path.read_bytes() != content:
            with whole_file(path) as file:
                file.write(content)
    for path in out.iterdir():
        if path.name not in files:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


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
            f" {', '.join([*DRAWN_FROM, *MADE])}"
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
        return parquet.read(DRAWN_FROM[name], inputs.table(benchmark, name))

    return read


def _key(record: Record, inputs: Inputs, version: str) -> str:
    digest = hashlib.sha256(f"{version}\n{record!r}\n".encode())
    files = [file for one in needed(record) for file in _parts(inputs.table(*one))]
    files += [inputs.printed(name) for name in record.printed]
    for file in files:
        digest.update(f"{file.name}\n".encode())
        digest.update(hashlib.sha256(_content(file)).digest())
    return digest.hexdigest()[:32]


def _content(file: Path) -> bytes:
    """Nothing of what cannot be read, and then is named by who reads it."""
    try:
        return file.read_bytes() if file.is_file() else b""
    except OSError:
        return b""


def _parts(path: Path) -> list[Path]:
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def _restored(place: Path) -> dict[str, bytes] | None:
    """What is kept there; None if nothing is, or it is damaged."""
    content = _content(place)
    digest, packed = content[:_DIGEST], content[_DIGEST:]
    if hashlib.sha256(packed).digest() != digest:
        return None
    with zipfile.ZipFile(io.BytesIO(packed)) as kept:
        return {name: kept.read(name) for name in kept.namelist()}


def _keep(place: Path, files: Mapping[str, bytes]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as kept:
        for name, content in files.items():
            kept.writestr(zipfile.ZipInfo(name, _ANY_DATE), content)
    with whole_file(place) as file:
        file.write(hashlib.sha256(packed.getvalue()).digest() + packed.getvalue())
