"""One Parquet file, read whole; a damaged one is named, whatever its bytes are."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from metassay.core.errors import BadInput

# What pyarrow raises of damaged files.
DAMAGE = (
    *(pa.ArrowException, OSError, ValueError, TypeError, LookupError),
    *(NotImplementedError, MemoryError, OverflowError),
)


def load(file: Path, shared: Sequence[str] = ()) -> pa.Table:
    """All rows of one Parquet file as they are, checked against its page checksums if it has them.

    The columns `shared` come as dictionaries. Raises BadInput, in one line without a remedy, where
    there is no such file or it is damaged: no other error, whatever its bytes are.
    """
    if not file.is_file():
        raise BadInput(f"{file} {'is not a file' if file.exists() else 'does not exist'}")
    try:
        # A table of an earlier version may lack columns; which ones is told by who knows the table.
        there = set(pq.read_schema(file).names)
        known = [name for name in shared if name in there]
        with pq.ParquetFile(file, read_dictionary=known, page_checksum_verification=True) as opened:
            rows, counted = opened.read(), opened.metadata.num_rows
        rows.validate(full=True)
        _ = rows.schema.names  # decoded here
    except PermissionError:
        raise BadInput(f"{file} may not be read by you") from None
    except DAMAGE as error:
        raise BadInput(f"{file} is damaged or no Parquet file") from error
    if rows.num_rows != counted:
        raise BadInput(f"{file} is damaged: it has {rows.num_rows} rows and counts {counted}")
    return rows
