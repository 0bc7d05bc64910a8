"""Definition of a table, and the only reader and writer of Parquet.

Reading and writing validate. Rows are sorted by key. Reals are rounded to 12
significant digits, so that a processor's order of summation cannot change the bytes;
values that are not computed are exact. A file is replaced completely or not at all.
Every page has a checksum, without which one damaged file in nine was read as different
numbers. Errors name the table, the column and the first wrong key, never a text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput, collect_problems, raise_problems, shown
from metassay.tables.parquet_file import load

SIGNIFICANT_DIGITS = 12

_AGAIN = "metassay run builds a benchmark's tables again"

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Column:
    """A column: its Arrow type, meaning, whether it can be null, and its possible values.

    A `later` column is left out of a file if all values are null, as in older files.
    """

    type: pa.DataType
    meaning: str
    null: bool = False
    choices: tuple[str, ...] = ()
    exact: bool = False  # a real that is not rounded
    later: bool = False


@dataclass(frozen=True)
class Table:
    """A table: a unique, sorted key without nulls, and its columns in file order."""

    name: str
    says: str
    key: tuple[str, ...]
    columns: dict[str, Column]

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the file."""
        return pa.schema(
            [pa.field(n, c.type, nullable=c.null) for n, c in self.columns.items()]
        )


def empty(table: Table) -> pd.DataFrame:
    """Return a frame with the table's columns and no rows."""
    return _make_frame(table.schema.empty_table())


def frame_of(table: Table, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a frame of the rows, with the table's columns."""
    if not rows:
        return empty(table)
    return pd.DataFrame({name: [row[name] for row in rows] for name in table.columns})


def write(table: Table, frame: pd.DataFrame, path: Path) -> None:
    """Validate, sort by key, and replace the file.

    Raises BadInput with all problems; then nothing is written.
    """
    rows = _validate(table, _make_arrow(table, frame, str(path)), str(path))
    without = [
        n
        for n, c in table.columns.items()
        if c.later and rows[n].null_count == len(rows)
    ]
    rows = rows.drop_columns(without)
    with whole_file(path) as file:
        pq.write_table(
            rows.replace_schema_metadata(None),
            file,
            version="2.6",
            compression="zstd",
            compression_level=3,
            store_schema=False,
            row_group_size=65536,
            write_page_checksum=True,
        )


def round_trip(table: Table, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame as after `write` and `read`: validated, sorted, rounded; without a file.

    Raises BadInput with all problems.
    """
    return _make_frame(
        _validate(table, _make_arrow(table, frame, "in memory"), "in memory")
    )


def read(table: Table, *paths: Path) -> pd.DataFrame:
    """Read files, or all files of a folder (of a stage that repeats), and validate.

    Lists become Python lists, nullable integers Int64, missing text and reals NaN. A
    missing or empty folder is a table without rows; a missing file raises BadInput.
    """
    pieces = []
    problems = [
        f"{table.name}: {path} is a file where a folder belongs; delete it, then {_AGAIN}"
        for path in paths
        if path.suffix != ".parquet" and path.is_file()
    ]
    files = (
        [p] if p.suffix == ".parquet" else sorted(p.glob("*.parquet")) for p in paths
    )
    for file in chain.from_iterable(files):
        with collect_problems(problems, f"{table.name}: "):
            pieces.append(_read_one(table, file))
    raise_problems(problems)
    rows = pa.concat_tables(pieces) if pieces else table.schema.empty_table()
    return _make_frame(
        _validate(table, rows, ", ".join(map(str, paths)), f"; {_AGAIN}")
    )


def read_file(table: Table, file: Path) -> pd.DataFrame:
    """Read a file of any name, such as in DVC's cache, and validate; otherwise as `read`."""
    return _make_frame(
        _validate(table, _read_one(table, file), str(file), f"; {_AGAIN}")
    )


def _read_one(table: Table, file: Path) -> pa.Table:
    try:
        rows = load(
            file,
            [n for n, c in table.columns.items() if pa.types.is_dictionary(c.type)],
        )
    except BadInput as error:
        raise BadInput(f"{problem}; {_AGAIN}" for problem in error.problems) from error
    for name, column in table.columns.items():
        if column.later and name not in rows.column_names:
            place = min(list(table.columns).index(name), rows.num_columns)
            rows = rows.add_column(place, name, pa.nulls(len(rows), column.type))
    difference = _difference(rows.schema, table)
    if difference:
        raise BadInput(f"{file} is of another version: {difference}; {_AGAIN}")
    return rows.cast(_any_null(table))


def _difference(schema: pa.Schema, table: Table) -> str:
    """Describe how the columns differ; empty if they do not."""
    absent = [name for name in table.columns if name not in schema.names]
    unknown = [name for name in schema.names if name not in table.columns]
    differences = [f"without {', '.join(map(shown, absent))}"] if absent else []
    differences += [f"with {', '.join(map(shown, unknown))}"] if unknown else []
    if not differences and schema.names != list(table.columns):
        return "its columns are in another order"
    for name, column in table.columns.items() if not differences else ():
        if schema.field(name).type != column.type:
            differences.append(
                f"{name!r} is {schema.field(name).type}, not {column.type}"
            )
    return ", ".join(differences)


def _make_arrow(table: Table, frame: pd.DataFrame, where: str) -> pa.Table:
    later = [name for name, column in table.columns.items() if column.later]
    frame = frame.assign(**{name: None for name in later if name not in frame.columns})
    wrong = {
        str(n): "is unknown; remove it" for n in frame.columns if n not in table.columns
    }
    absent = {n: "is missing; add it" for n in table.columns if n not in frame.columns}
    arrays = {}
    for name in [name for name in table.columns if name in frame.columns]:
        column = table.columns[name]
        try:
            arrays[name] = _array(frame[name], column)
        except UnicodeEncodeError:
            wrong[name] = "holds half of a surrogate pair; write the whole character"
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError):
            kinds = sorted({type(value).__name__ for value in frame[name]})
            wrong[name] = f"must be {column.type}, has {kinds}"
    problems = (absent | wrong).items()
    raise_problems(
        f"{table.name}: {where}: column {name!r} {what}" for name, what in problems
    )
    return pa.table(arrays, schema=_any_null(table))


def _any_null(table: Table) -> pa.Schema:
    """Return the table's schema with all columns nullable."""
    return pa.schema(
        [pa.field(name, column.type) for name, column in table.columns.items()]
    )


def _array(values: "pd.Series[Any]", column: Column) -> pa.Array:
    if column.type == pa.float64():
        numbers = pd.to_numeric(values).astype("float64").tolist()
        reals = (
            (v + 0.0 for v in numbers)
            if column.exact
            else map(round_significant, numbers)
        )
        return pa.array(list(reals), column.type, from_pandas=True)
    if pa.types.is_dictionary(column.type):
        # Only used categories, sorted: equal rows give an equal dictionary, hence equal
        # bytes.
        return pa.array(pd.Categorical(values.astype("object"))).cast(column.type)
    if pa.types.is_list(column.type):
        is_real = column.type.value_type == pa.float64()
        convert = round_significant if is_real else lambda value: value
        # or missing
        is_list = (hasattr(x, "__iter__") and not isinstance(x, str) for x in values)
        lists = [
            [*map(convert, x)] if ok else None
            for x, ok in zip(values, is_list, strict=True)
        ]
        return pa.array(lists, column.type)
    return pa.array(values, column.type, from_pandas=True)


def round_significant(value: float) -> float:
    """Round to 12 significant digits, which do not depend on the order of summation."""
    number = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return number + 0.0  # -0.0 and 0.0 must have equal bytes


def _validate(table: Table, rows: pa.Table, where: str, remedy: str = "") -> pa.Table:
    keys = rows.select(list(table.key)).to_pandas()
    wrong: dict[str, Mask] = {}
    for name, column in table.columns.items():
        nulls = rows[name].is_null().to_numpy()
        if not column.null:
            wrong[f"{name!r} is null"] = nulls
        if column.choices:
            valid = pd.Series(rows[name].to_pandas()).isin(column.choices).to_numpy()
            wrong[f"{name!r} is none of {', '.join(column.choices)}"] = ~nulls & ~valid
        if pa.types.is_list(column.type):
            has_null = nulls & False
            if any(chunk.flatten().null_count for chunk in rows[name].chunks):
                has_null[:] = [
                    x is not None and None in x for x in rows[name].to_pylist()
                ]
            wrong[f"{name!r} holds a null"] = has_null
        if column.type == pa.float64():
            finite = pc.fill_null(pc.is_finite(rows[name]), fill_value=True)
            wrong[f"{name!r} is not a finite number"] = ~finite.to_numpy()
    wrong["the key occurs twice"] = keys.duplicated().to_numpy()
    problems = []
    for what, bad in wrong.items():
        if bad.any():
            first = keys[bad].iloc[0].to_dict().items()
            key = ", ".join(f"{name}={shown(value)}" for name, value in first)
            problem = f"{what} in {int(bad.sum())} row(s); the first is {key}{remedy}"
            problems.append(f"{table.name}: {where}: {problem}")
    raise_problems(problems)
    return rows.cast(table.schema).sort_by([(name, "ascending") for name in table.key])


def _make_frame(rows: pa.Table) -> pd.DataFrame:
    columns: dict[str, object] = {}
    for field in rows.schema:
        values = rows[field.name]
        if pa.types.is_list(field.type):
            columns[field.name] = pd.Series(values.to_pylist(), dtype=object)
        elif field.type == pa.int64() and field.nullable:
            columns[field.name] = pd.Series(values.to_pylist(), dtype="Int64")
        elif field.type == pa.string():
            columns[field.name] = values.to_pandas().astype("str")
        else:
            columns[field.name] = values.to_pandas()
    return pd.DataFrame(columns)
