"""Draw records into a folder; what was drawn of the same numbers before comes from a store."""

import hashlib
import io
import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.format.frames import to_csv
from metassay.paper_figures import FORMATS
from metassay.paper_figures.cells import Cells, Tables, cells_of
from metassay.paper_figures.derived_tables import DERIVED, DRAWN_FROM, needed, unknown
from metassay.paper_figures.markup import to_latex, to_markdown
from metassay.paper_figures.papers import Record
from metassay.paper_figures.pictures import picture_files
from metassay.reporting.cells import read_printed
from metassay.tables import parquet

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

    drawn: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    lacking: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    absent: dict[str, tuple[str, ...]] = field(default_factory=dict)
    damaged: dict[str, tuple[str, ...]] = field(default_factory=dict)


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
    outcome = Outcome()
    files: dict[str, bytes] = {}
    tables = _tables(inputs)
    for record in records:
        if record.open:
            outcome.open.append(record.name)
            continue
        try:
            drawing = _draw(record, inputs, tables, outcome, store=store, version=version)
        except BadInput as error:
            outcome.damaged[record.name] = tuple(error.problems)
            continue
        files |= {f"{record.name}.{kind}": drawing[kind] for kind in formats if kind in drawing}
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


def _draw(
    record: Record, inputs: Inputs, tables: Tables, outcome: Outcome, *, store: Path, version: str
) -> dict[str, bytes]:
    """The record's files by format; nothing, and it is told why, if it cannot be drawn."""
    nobody = unknown(record)
    if nobody:
        raise BadInput(
            f"{record.paper} {record.name}: {', '.join(nobody)}: no such table; choose from"
            f" {', '.join([*DRAWN_FROM, *DERIVED])}"
        )
    lacking = absent(record, inputs)
    if lacking:
        outcome.lacking[record.name] = lacking
        return {}
    place = store / record.paper / f"{record.name}-{_key(record, inputs, version)}.zip"
    files = _stored(place)
    names = outcome.drawn if files is None else outcome.kept
    if files is None:
        printed = [read_printed(inputs.printed(name)) for name in record.printed]
        theirs = pd.concat(printed, ignore_index=True) if printed else None
        cells = cells_of(record, tables, theirs)
        files = _files(record, cells) | {"absent": "\n".join(cells.absent).encode()}
        _store(place, files)
    titles = files.pop("absent").decode()
    if not files:
        outcome.lacking[record.name] = needed(record)
        return {}
    names.append(record.name)
    if titles:
        outcome.absent[record.name] = tuple(titles.split("\n"))
    return files


def _files(record: Record, cells: Cells) -> dict[str, bytes]:
    """By format; nothing if not one number of ours is there."""
    if not cells.cells:
        return {}
    files = {"md": to_markdown(record, cells).encode(), "csv": to_csv(cells.frame(record)).encode()}
    if record.form == "table":
        return files | {"tex": to_latex(record, cells).encode()}
    return files | picture_files(record, cells)


def _tables(inputs: Inputs) -> Tables:
    """Reads each table once, or makes it."""

    @cache
    def read(benchmark: str, name: str) -> pd.DataFrame:
        if name in DERIVED:
            return DERIVED[name].make({of: read(benchmark, of) for of in DERIVED[name].of})
        return parquet.read(DRAWN_FROM[name], inputs.table(benchmark, name))

    return read


def _key(record: Record, inputs: Inputs, version: str) -> str:
    digest = hashlib.sha256(f"{version}\n{record!r}\n".encode())
    paths = [inputs.table(*one) for one in needed(record)]
    paths += [inputs.printed(name) for name in record.printed]
    for path in paths:
        for file in sorted(path.glob("*.parquet")) if path.is_dir() else [path]:
            digest.update(f"{file.name}\n".encode())
            digest.update(hashlib.sha256(_content(file)).digest())
    return digest.hexdigest()[:32]


def _content(file: Path) -> bytes:
    """Nothing of what cannot be read, and then is named by who reads it."""
    try:
        return file.read_bytes() if file.is_file() else b""
    except OSError:
        return b""


def _stored(place: Path) -> dict[str, bytes] | None:
    """What is stored there; None if nothing is, or it is damaged."""
    content = _content(place)
    digest, packed = content[:_DIGEST], content[_DIGEST:]
    if hashlib.sha256(packed).digest() != digest:
        return None
    with zipfile.ZipFile(io.BytesIO(packed)) as pack:
        return {name: pack.read(name) for name in pack.namelist()}


def _store(place: Path, files: Mapping[str, bytes]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, content in files.items():
            pack.writestr(zipfile.ZipInfo(name, _ANY_DATE), content)
    with whole_file(place) as file:
        file.write(hashlib.sha256(packed.getvalue()).digest() + packed.getvalue())
