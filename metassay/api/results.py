"""The results of `meta_eval` and `judge_check`: tables by name, warnings, notes, files."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.format.frames import format_csv
from metassay.reporting.warning_lines import WarningLine, warning_lines
from metassay.tables.data_warnings import WARNINGS
from metassay.tables.evidence import DESIGNS
from metassay.tables.parquet import empty


def list_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names as a tuple; a string is one name."""
    return (names,) if isinstance(names, str) else tuple(names)


@dataclass(frozen=True, eq=False)
class Results:
    """Tables, each an attribute too, and warnings and notes on them.

    `warnings`: what to know before the numbers are trusted, the most serious first; the
    table of that name has finding and remedy apart. `notes`: what was assumed, counted
    and left out. `choices`: all that the numbers depend on beside the input.
    """

    tables: Mapping[str, pd.DataFrame] = field(repr=False)
    notes: tuple[str, ...]
    choices: Mapping[str, object] = field(repr=False)

    def __getattr__(self, name: str) -> pd.DataFrame:
        tables: Mapping[str, pd.DataFrame] = self.__dict__.get("tables", {})
        if name not in tables:
            names = ", ".join(tables)
            raise AttributeError(
                f"no table is called {name!r} here; there are: {names}"
            )
        return tables[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The table `warnings` in words, as terminal and page show them."""
        return tuple(line.sentence for line in self.warning_lines)

    @property
    def warning_lines(self) -> list[WarningLine]:
        """The same sentences, each with its kind, such as WARNING or LIMIT."""
        designs = self.tables.get("designs", empty(DESIGNS))
        return warning_lines(self.tables.get("warnings", empty(WARNINGS)), designs)

    def table(self, name: str) -> pd.DataFrame:
        """Return a table by its name, such as `card`; AttributeError lists the names there are."""
        return self.__getattr__(name)

    def save(self, folder: str | Path) -> None:
        """Write the page `index.html`, every table as CSV, `choices.json` and `notes.txt`.

        The folder must be new or empty, and appears whole or not at all; else BadInput.
        Tables have all their digits; a missing number is an empty cell.
        """
        with whole_folder(Path(folder), "save") as partial:
            self.write(partial)

    def write(self, folder: Path) -> None:
        """Write the same files to an existing, empty folder."""
        self.write_tables(folder)
        self._write_page(folder)

    def write_tables(self, folder: Path) -> None:
        """Write these files except the page."""
        contents = {
            f"{name}.csv": format_csv(table) for name, table in self.tables.items()
        }
        contents["choices.json"] = (
            f"{json.dumps(self.choices, indent=2, ensure_ascii=False)}\n"
        )
        for name, lines in self._texts().items():
            contents[name] = "".join(f"{line}\n" for line in lines)
        for name, text in contents.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")

    def _texts(self) -> Mapping[str, Iterable[str]]:
        return {
            "notes.txt": [*(f"warning: {line}" for line in self.warnings), *self.notes]
        }

    def _write_page(self, folder: Path) -> None:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"
