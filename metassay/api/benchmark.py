"""The tables of a benchmark that was run, as data frames."""

from pathlib import Path

import pandas as pd

from metassay.core.errors import BadInput, hint
from metassay.core.naming import name_problem
from metassay.reporting.contract_page import TABLES
from metassay.tables.parquet import read


class Benchmark:
    """A benchmark, or a test of judges or of segmentations, that was run in a project.

    Parameters
    ----------
    name : str
        Its folder in `benchmarks/`.
    project : str or Path
        The project's folder; by default the current one.

    Raises
    ------
    BadInput
        If the project has no benchmark of that name.

    Examples
    --------
    >>> import metassay
    >>> metassay.Benchmark("sample").table("scores")  # doctest: +SKIP
    """

    def __init__(self, name: str, project: str | Path = ".") -> None:
        self.name, self.project = name, Path(project)
        if problem := name_problem(name):
            raise BadInput(f"benchmark {name!r}: {problem}")
        known = sorted(
            file.parent.name for file in self.project.glob("benchmarks/*/params.yaml")
        )
        if name not in known:
            names = f"{', '.join(known) or 'none'}{hint(name, known)}"
            raise BadInput(
                f"{self.project}: has no benchmark {name!r}; there are: {names}"
            )

    @property
    def tables(self) -> list[str]:
        """The names of the tables that exist so far (docs/tables.md)."""
        return sorted(name for name in TABLES if self._path(name) is not None)

    def table(self, name: str) -> pd.DataFrame:
        """Read a table.

        Parameters
        ----------
        name : str
            Such as "scores", "leaderboard", "ratings" or "correlations"; docs/tables.md
            has all of them, with their columns.

        Returns
        -------
        DataFrame
            The table, checked against its contract and sorted by its key. A table of
            several files (such as one per judge) is read whole. Missing text and
            numbers are NaN.

        Raises
        ------
        BadInput
            If no table has that name, if it does not exist yet, or if its file is
            invalid.
        """
        if name not in TABLES:
            known = f"{', '.join(sorted(TABLES))}{hint(name, TABLES)}"
            raise BadInput(f"no table is called {name!r}; choose from {known}")
        path = self._path(name)
        if path is None:
            what = f"table {name!r} of {self.name!r} does not exist"
            raise BadInput(f"{self.project}: {what}; run: metassay run {self.name}")
        return read(TABLES[name], path)

    def _path(self, name: str) -> Path | None:
        folder = self.project / "data" / "tables" / self.name
        places = (folder / f"{name}.parquet", folder / name)
        return next((path for path in places if path.exists()), None)

    def __repr__(self) -> str:
        return f"Benchmark({self.name!r}, project={str(self.project)!r})"
