"""The writer of pages: a folder of tables as CSV and Markdown, figures, and one page.

The page is one file that needs nothing else, works without JavaScript, and escapes every text.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from metassay import __version__
from metassay.core.visible import visible
from metassay.format.frames import rows, to_csv, to_markdown
from metassay.format.numbers import counted
from metassay.llm.endpoints import ModelOptions
from metassay.reporting.contract import Dataset, FigureInfo, Head, Problem
from metassay.reporting.figures import drawing
from metassay.reporting.names import NONE, ShownAs, criterion_title
from metassay.reporting.responses import asked_table, missing_lines, notes_table

_HERE = Path(__file__).parent
INVENTED = (
    "Invented data: every text, system and rating was made up to show how Metassay works. The"
    " numbers say nothing about any real system, metric or patient."
)
LISTS = "all_ratings"  # a column for figures alone: long lists that no file has


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
        self, kind: str, about: str, counts: Sequence[str], notes: pd.DataFrame, **more: Any
    ) -> Head:
        """The head of its page; `notes` is the table of those, called as they are shown.

        `more` are other fields of Head; problems and banners there stand beside the report's own.
        """
        asked = missing_lines(asked_table(self.responses, self.models))
        problems = [Problem("missing", line) for line in asked]
        problems += [
            Problem("warning", f"{one}: {note}") for one, note in rows(notes, "stage", "note")
        ]
        dataset = Dataset(self.title, self.licence, self.citation, counts, self.seen)
        fields = {
            **more,
            "problems": [*problems, *more.get("problems", ())],
            "banners": [*([INVENTED] if self.invented else []), *more.get("banners", ())],
        }
        made = f"Metassay {__version__}"
        return Head(kind, self.benchmark, about, made, dataset=dataset, **fields)

    def said(self) -> dict[str, pd.DataFrame]:
        """The tables of what language models were asked, and of the notes, if they have a row."""
        models, notes = asked_table(self.responses, self.models), notes_table(self.notes)
        return filled(language_models=models, notes=notes)


def filled(**tables: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Those that have a row."""
    return {name: frame for name, frame in tables.items() if not frame.empty}


class Drawing(NamedTuple):
    """A figure, the table that it draws, its title to read out, and the options that it takes."""

    draw: drawing.Draw
    table: str
    title: str
    options: tuple[str, ...] = ()


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write each table as NAME.csv with all digits, and as NAME.md."""
    for name, frame in tables.items():
        in_file = frame.drop(columns=LISTS, errors="ignore")
        write_text(folder / f"{name}.csv", to_csv(in_file))
        write_text(folder / f"{name}.md", to_markdown(in_file))


def put_figures(
    figures: Mapping[str, Drawing],
    tables: Mapping[str, pd.DataFrame],
    folder: Path,
    options: object = None,
) -> dict[str, list[FigureInfo]]:
    """Write figures/NAME.svg and .png of the tables there are; returns them by their tables."""
    made: dict[str, list[FigureInfo]] = {}
    for name, one in figures.items():
        if one.table not in tables:
            continue
        given = {option: getattr(options, option) for option in one.options}
        drawn = drawing.draw(one.draw, tables[one.table], **given)
        if drawn is None:
            continue
        (folder / "figures").mkdir(exist_ok=True)
        write_text(folder / "figures" / f"{name}.svg", drawn.svg)
        (folder / "figures" / f"{name}.png").write_bytes(drawn.png)
        made.setdefault(one.table, []).append(FigureInfo(name, one.title))
    return made


def write_text(path: Path, text: str) -> None:
    """Write a file of UTF-8 whose lines end in a newline everywhere."""
    path.write_text(text, encoding="utf-8", newline="\n")


def write_template(name: str, file: IO[str], figures: Mapping[str, str], **given: object) -> None:
    """Write a template of this folder with the style, the script and finished `<svg>` elements.

    `given` is what else it prints; all of that is escaped. It is written piece by piece, so that a
    large page isn't held in memory at once.
    """
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    environment.filters |= {"counted": counted, "titled": criterion_title}
    script = environment.get_template("sort.js.j2").render()
    stream = environment.get_template(name).stream(
        css=Markup((_HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup(script),
        policy=_policy(script),
        figures={name: Markup(svg) for name, svg in figures.items()},
        **given,
    )
    stream.enable_buffering(200)
    for piece in stream:
        file.write(piece)


def _visible(value: object) -> object:
    """Characters of which browsers show nothing, or which turn what follows round."""
    return visible(value) if isinstance(value, str) else value


def _policy(script: str) -> str:
    """A second lock beside escaping: no loads at all, and no script but the page's own."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
