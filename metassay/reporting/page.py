"""What a report is made from, its tables and figures as files, and the head of its page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.format.frames import rows, to_csv, to_markdown
from metassay.llm.endpoints import ModelOptions
from metassay.reporting import figures as pictures
from metassay.reporting.contract import Dataset, FigureInfo, Problem
from metassay.reporting.evidence import LISTS
from metassay.reporting.names import NONE, ShownAs
from metassay.reporting.responses import missing_lines, models_table
from metassay.tables.notes import NOTES
from metassay.tables.parquet import empty

INVENTED = (
    "Invented data: every text, system and rating was made up to show how Metassay works. The"
    " numbers say nothing about any real system, metric or patient."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """What a report is made from: its dataset's particulars, and tables by name.

    `invented` puts up a banner that the data are made up; `seen` says of each judge or segmentation
    whether choices saw them. `responses` are what language models answered and `notes` what stages
    did about the data that its owner should know, by stage; `models` those of params.yaml, for
    their prices. `shown_as` has other words for names of systems and judges, for the page and its
    figures.
    """

    benchmark: str
    title: str
    licence: str
    citation: str
    invented: bool
    seen: Sequence[str]
    tables: Mapping[str, pd.DataFrame]
    responses: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    notes: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    models: Mapping[str, ModelOptions] = field(default_factory=dict)
    shown_as: ShownAs = NONE

    def head(
        self, tables: Mapping[str, pd.DataFrame], counts: Sequence[str], **more: Any
    ) -> dict[str, Any]:
        """Return fields of Head: those here, and `more`, whose problems and banners come after.

        `tables` may have `notes`, called as they are shown.
        """
        notes = tables.get("notes", empty(NOTES))
        missing = missing_lines(models_table(self.responses, self.models))
        problems = [Problem("missing", line) for line in missing]
        problems += [Problem("warning", ": ".join(note)) for note in rows(notes, "stage", "note")]
        return {
            **more,
            "name": self.benchmark,
            "dataset": Dataset(self.title, self.licence, self.citation, counts, self.seen),
            "problems": [*problems, *more.get("problems", ())],
            "banners": [*([INVENTED] if self.invented else []), *more.get("banners", ())],
        }

    @property
    def command(self) -> str:
        """The command that makes it again."""
        return f"metassay run {self.benchmark}"

    def run_tables(self) -> dict[str, pd.DataFrame]:
        """Return what language models answered and the notes of stages, if they have a row."""
        models = models_table(self.responses, self.models)
        notes = pd.concat([empty(NOTES), *self.notes.values()], ignore_index=True)
        return filled(language_models=models, notes=notes)


def filled(**tables: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return those that have a row."""
    return {name: frame for name, frame in tables.items() if not frame.empty}


class Drawing(NamedTuple):
    """A figure, the table that it draws, its title to read out, and the options that it takes."""

    draw: pictures.Draw
    table: str
    title: str
    options: tuple[str, ...] = ()


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write each table as NAME.csv with all digits, and as NAME.md."""
    for name, frame in tables.items():
        in_file = frame.drop(columns=LISTS, errors="ignore")
        (folder / f"{name}.csv").write_bytes(to_csv(in_file).encode())
        (folder / f"{name}.md").write_bytes(to_markdown(in_file).encode())


def put_figures(
    figures: Mapping[str, Drawing],
    tables: Mapping[str, pd.DataFrame],
    folder: Path,
    options: object = None,
) -> dict[str, list[FigureInfo]]:
    """Write figures/NAME.svg and .png of the tables there are; return them by their tables."""
    by_table: dict[str, list[FigureInfo]] = {}
    for name, figure in figures.items():
        if figure.table not in tables:
            continue
        chosen = {option: getattr(options, option) for option in figure.options}
        picture = pictures.draw(figure.draw, tables[figure.table], **chosen)
        if picture is None:
            continue
        (folder / "figures").mkdir(exist_ok=True)
        (folder / "figures" / f"{name}.svg").write_bytes(picture.svg.encode())
        (folder / "figures" / f"{name}.png").write_bytes(picture.png)
        by_table.setdefault(figure.table, []).append(FigureInfo(name, figure.title))
    return by_table
