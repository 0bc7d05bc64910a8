"""Tables that git keeps and no stage makes again."""

from pathlib import Path

import pandas as pd

from metassay.errors import BadInput
from metassay.parquet import Table, read


def read_kept(table: Table, file: Path) -> pd.DataFrame:
    """One such table; BadInput where it is damaged, with what brings it back."""
    try:
        return read(table, file)
    except BadInput as error:
        raise BadInput(
            f"{file}: is damaged or no table `{table.name}`; `git checkout {file}` if it was"
            " committed, else move it away and begin anew"
        ) from error
