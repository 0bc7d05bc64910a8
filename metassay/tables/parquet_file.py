"""Read a complete Parquet file; any damage is an error that names the file."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from metassay.core.errors import BadInput

# Errors of pyarrow for damaged files.
DAMAGE = (
    pa.ArrowException,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    NotImplementedError,
    MemoryError,
    OverflowError,
)


def load(file: Path, shared: Sequence[str] = ()) -> pa.Table:
    """Read all rows of a Parquet file unchanged, and check its page checksums if there are any.

    The columns `shared` become dictionaries. Raises BadInput, in a line without remedy,
    if the file is missing or damaged, and never another error.
    """
    if not file.is_file():
        raise BadInput(
            f"{file} {'is not a file' if file.exists() else 'does not exist'}"
        )
    try:
        # A table of an earlier version can lack columns: the caller reports these.
        names = set(pq.read_schema(file).names)
        present = [name for name in shared if name in names]
        options = {"read_dictionary": present, "page_checksum_verification": True}
        with pq.ParquetFile(file, **options) as opened:
            rows, n_rows = opened.read(), opened.metadata.num_rows
        rows.validate(full=True)
        _ = rows.schema.names  # decoded here
    except PermissionError:
        raise BadInput(f"{file} cannot be read: you have no permission") from None
    except DAMAGE as error:
        raise BadInput(f"{file} is damaged or is not a Parquet file") from error
    if rows.num_rows != n_rows:
        raise BadInput(
            f"{file} is damaged: it has {rows.num_rows} rows and counts {n_rows}"
        )
    return rows
