"""How much of a file is read: the same for every reader of files of other people and tools.

Most readers have all of a file in memory, where it takes several times its size. A
larger one would end a command after minutes, without a word of the file.
"""

import zipfile
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

MB = 2**20
LARGEST = 500 * MB  # bytes of a file
UNPACKED = 100 * MB  # bytes of a workbook's parts, whose cells are objects in memory
ROWS = 500_000  # of a table: a row takes a kilobyte, and some 30 microseconds

SPLIT = "split it into several files, or keep only the columns and rows that are needed"


def size_problem(path: Path) -> str:
    """Return what is wrong with a file's size; empty if nothing is."""
    if path.stat().st_size > LARGEST:
        return f"is larger than {LARGEST // MB:,} MB"
    return ""


def unpacked_problem(archive: zipfile.ZipFile, most: int = LARGEST) -> str:
    """Return what is wrong with the size of an archive's members; empty if nothing is.

    No member unpacks to more than the archive says.
    """
    if sum(member.file_size for member in archive.infolist()) > most:
        return f"is more than {most // MB:,} MB when unpacked"
    return ""


def rows_problem(number: int) -> str:
    """Return what is wrong with a table's number of rows; empty if nothing is."""
    return f"has more than {ROWS:,} rows" if number > ROWS else ""


def parquet_problem(path: Path) -> str:
    """Return what is wrong with the size of a Parquet file; empty if nothing is, or it is damaged.

    A file of a kilobyte can stand for a billion equal rows.
    """
    with suppress(OSError, pa.ArrowException):
        file = pq.read_metadata(path)
        groups = map(file.row_group, range(file.num_row_groups))
        if sum(group.total_byte_size for group in groups) > LARGEST:
            return f"is more than {LARGEST // MB:,} MB when unpacked"
        return rows_problem(file.num_rows)
    return ""
