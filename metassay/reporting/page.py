"""What reports are made from, and their pages: tables in words, and the head.

`evidence_words.py` says how the view Evidence shows a table, and `page_words.py` what
each kind of page says; `table_words.py` has their records.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay import __version__
from metassay.format.frames import format_csv, rows
from metassay.format.prose import split_paragraphs
from metassay.format.terms import COEFFICIENTS, COMPONENTS, LEVELS
from metassay.llm.endpoints import ModelOptions
from metassay.meta_evaluation.evaluate import ANALYSES
from metassay.meta_evaluation.options import ANY_SHAPE
from metassay.reporting import contract as c
from metassay.reporting.contract_page import TABLES
from metassay.reporting.evidence_words import GROUPS
from metassay.reporting.names import (
    NONE,
    ShownAs,
    criterion_rank,
    sorted_metrics,
    sorted_parts,
)
from metassay.reporting.page_words import INVENTED, PAGES
from metassay.reporting.responses import missing_lines, models_table
from metassay.reporting.shell import PageFolder
from metassay.reporting.table_words import TableWords
from metassay.tables.columns import SHARED
from metassay.tables.judge_cards import CARD_STATISTICS
from metassay.tables.names import sorted_authors
from metassay.tables.notes import NOTES
from metassay.tables.parquet import empty
from metassay.tables.summaries import SUMMARIES

LISTS = "all_ratings"  # a column for figures alone: long lists that no file has
# Of tables whose words leave these out: those of the columns that the table has.
DEFAULTS = TableWords(
    pick=("study", "criterion", "part", "level", "coefficient"),
    lead=("metric", "judge"),
    cell=c.CellInfo(value="value", low="low", high="high", n="n", missing="n_missing"),
    hide=("recipe",),
)


class ExtraTables(NamedTuple):
    """Tables that lie beside a page, and what the page says of them."""

    tables: dict[str, pd.DataFrame]
    words: dict[str, TableWords]


NO_MORE = ExtraTables({}, {})


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """What a report is made from: its dataset's particulars, and tables by name.

    `invented` puts up a banner that the data are made up; `seen` says of each judge or
    segmentation whether choices saw them. `responses` are what language models answered
    and `notes` what stages did about the data that its owner should know, by stage;
    `models` those of params.yaml, for their prices. `shown_as` has other words for
    names of systems and judges, for the page and its figures. `published`: comparisons
    with printed tables.
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
    published: ExtraTables = NO_MORE

    def write_page(
        self,
        page: PageFolder,
        kind: str,
        tables: Mapping[str, pd.DataFrame],
        counts: Sequence[str],
        **more: Any,
    ) -> None:
        """Write the page by `write_page`, with `more` of its arguments and of the fields of Head.

        Problems and banners of `more` come last. `tables` may have `notes`, called as
        they are shown.
        """
        notes = tables.get("notes", empty(NOTES))
        missing = missing_lines(models_table(self.responses, self.models))
        problems = [c.Problem("missing", line) for line in missing]
        problems += [
            c.Problem("warning", ": ".join(note))
            for note in rows(notes, "stage", "note")
        ]
        invented = [INVENTED] if self.invented else []
        head: dict[str, Any] = {
            "name": self.benchmark,
            "dataset": c.Dataset(
                self.title, self.licence, self.citation, counts, self.seen
            ),
            "problems": [*problems, *more.pop("problems", ())],
            "banners": [*invented, *more.pop("banners", ())],
        }
        command = f"metassay run {self.benchmark}"
        write_page(
            page, kind, tables, command, more=self.published.words, **head, **more
        )

    def run_tables(self) -> dict[str, pd.DataFrame]:
        """Return what language models answered and the notes of stages, if they have a row."""
        models = models_table(self.responses, self.models)
        notes = pd.concat([empty(NOTES), *self.notes.values()], ignore_index=True)
        return filled(language_models=models, notes=notes)


def filled(**tables: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return those that have a row."""
    return {name: frame for name, frame in tables.items() if not frame.empty}


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write each table as NAME.csv with all digits."""
    for name, frame in tables.items():
        in_file = frame.drop(columns=LISTS, errors="ignore")
        (folder / f"{name}.csv").write_bytes(format_csv(in_file).encode())


# The page.


def write_page(
    page: PageFolder,
    kind: str,
    tables: Mapping[str, pd.DataFrame],
    command: str,
    *,
    more: Mapping[str, TableWords] | None = None,
    systems: Mapping[str, Any] | None = None,
    useful: float = math.nan,
    **head: Any,
) -> None:
    """Write the tables that have a row and their figures, then the head of a page of this `kind`.

    Tables stand in the order of the kind in PAGES, of GROUPS, then of `more`, the words
    of others; one without words is a KeyError. `command` makes them again. `systems`
    are fields of SystemsInfo, and `head` of Head, that the kind does not say; `useful`
    is the correlation that a forest of certificates marks.
    """
    words = PAGES[kind]
    of_kind = {
        name: replace(table, group=words.group) for name, table in words.tables.items()
    }
    # The kind's own tables come first; its words go before those of the same name.
    by_name = {**of_kind, **_evidence_words(), **of_kind, **(more or {})}
    if not words.figures:
        by_name = {name: replace(table, figures={}) for name, table in by_name.items()}
    evidence = [
        _put_table(page, name, tables[name], by_name[name], command, useful)
        for name in sorted(tables, key=list(by_name).index)
        if not tables[name].empty
    ]
    fields = {
        "about": words.about,
        "terms": words.terms,
        "systems": _systems(words.systems, evidence, systems or {}),
    }
    program = f"Metassay {__version__}"
    page.finish(
        c.Head(kind=kind, program=program, tables=evidence, **{**fields, **head})
    )


def _put_table(
    page: PageFolder,
    name: str,
    frame: pd.DataFrame,
    words: TableWords,
    command: str,
    useful: float,
) -> c.TableInfo:
    figures = draw_figures(page.folder, frame, words.figures, useful)
    frame = frame.drop(columns=LISTS, errors="ignore")
    contract = {**TABLES, **SUMMARIES}.get(name)
    columns = SHARED if contract is None else contract.columns
    means = {column: record.meaning for column, record in columns.items()}
    shown = {words.across, *(words.lead or ())}
    hide = _named(frame, words.hide, DEFAULTS.hide, shown)
    return page.put_evidence(
        name,
        ordered(name, frame) if words.ordered else frame,
        means={**means, **words.columns},
        title=words.title,
        group=words.group,
        says=split_paragraphs(words.says or ""),
        csv=f"{name}.csv",
        command=command,
        pick=_named(frame, words.pick, DEFAULTS.pick, shown),
        lead=_named(frame, words.lead, DEFAULTS.lead, shown),
        across=words.across,
        cell=_cell(frame, words),
        hide=[column for column in hide if column in frame],
        figures=figures,
        picture=words.picture,
    )


def draw_figures(
    folder: Path, frame: pd.DataFrame, titles: Mapping[str, str], useful: float
) -> dict[str, str]:
    """Write figures/NAME.svg and .png where there is something to draw; return their titles."""
    if not titles:
        return {}
    # slow, and most pages draw nothing: Matplotlib is no package of the core install
    from metassay.reporting.figures import draw, figures

    pictures = {name: draw(figures(useful)[name], frame) for name in titles}
    for name, picture in pictures.items():
        if picture is not None:
            (folder / "figures").mkdir(exist_ok=True)
            (folder / "figures" / f"{name}.svg").write_bytes(picture.svg.encode())
            (folder / "figures" / f"{name}.png").write_bytes(picture.png)
    return {name: title for name, title in titles.items() if pictures[name] is not None}


def _systems(
    words: c.SystemsInfo | None,
    evidence: Sequence[c.TableInfo],
    more: Mapping[str, Any],
) -> c.SystemsInfo | None:
    """Return what the view Systems shows, if its table is there; `groups` only if that is there."""
    names = {info.name for info in evidence}
    if words is None or words.table not in names:
        return None
    groups = words.groups if words.groups in names else ""
    return words._replace(groups=groups, **more)


@cache
def _evidence_words() -> dict[str, TableWords]:
    """Return the words of GROUPS by table, with those of its analysis where it has none."""
    analyses = {
        table.name: analysis for analysis in ANALYSES for table in analysis.tables
    }
    by_table: dict[str, TableWords] = {}
    for group, tables in GROUPS.items():
        for name, words in tables.items():
            title, says = words.title, words.says
            analysis = analyses.get(words.analysis or name)
            if analysis is not None:
                title = title or analysis.heading
                says = analysis.says if says is None else says
            by_table[name] = replace(words, group=group, title=title, says=says)
    return by_table


def _named(
    frame: pd.DataFrame,
    names: tuple[str, ...] | None,
    default: tuple[str, ...] | None,
    shown: Collection[str],
) -> Sequence[str]:
    """Return the columns named, or the default ones that the table has and does not show yet."""
    if names is not None:
        return names
    return [name for name in default or () if name in frame and name not in shown]


def _cell(frame: pd.DataFrame, words: TableWords) -> c.CellInfo | None:
    if words.cell is not None:
        return words.cell if words.cell.value else None
    if "value" not in frame or DEFAULTS.cell is None:
        return None
    return c.CellInfo(*(name if name in frame else "" for name in DEFAULTS.cell))


# In which order rows stand: columns, and what puts their values in order.
_Sort = Callable[[Iterable[Any]], Sequence[Any]]
_Order = tuple[tuple[str, ...], _Sort]


def _first(*names: str) -> _Sort:
    """Sort these names first and in this order, then others by name."""
    rank = {name: place for place, name in enumerate(names)}
    return lambda values: sorted(
        values, key=lambda name: (rank.get(name, len(rank)), name)
    )


_ORDERS: tuple[_Order, ...] = (
    (("rubric", "position"), sorted),
    (("study",), sorted),
    (("criterion",), lambda values: sorted(values, key=criterion_rank)),
    (("part",), sorted_parts),
    (("level",), _first(*LEVELS)),
    (("metric", "judge"), sorted_metrics),
    (("author",), sorted_authors),
    (("coefficient",), _first(*COEFFICIENTS)),
    (("component",), _first(*COMPONENTS)),
    (("statistic",), _first(ANY_SHAPE, *CARD_STATISTICS)),
)


def ordered(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Sort a table as pages do: by study, criterion, part, metric, author, the rest of its key.

    Tables without a contract stand as they were made.
    """
    if name not in TABLES:
        return frame
    others: list[_Order] = [((column,), sorted) for column in TABLES[name].key]
    places = []
    for columns, order in (*_ORDERS, *others):
        if set(columns) <= set(frame):
            values = [
                key if len(columns) > 1 else key[0] for key in rows(frame, *columns)
            ]
            place = {value: number for number, value in enumerate(order(set(values)))}
            places.append([place[value] for value in values])
    return frame.take(np.lexsort(places[::-1]))


def sort_rows(frame: pd.DataFrame, order: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Sort rows by the columns of `order`, which has their values in order; others come last."""
    columns = [name for name in order if name in frame]
    places = {name: {key: n for n, key in enumerate(order[name])} for name in columns}
    return frame.sort_values(
        columns, key=lambda of: of.map(places[str(of.name)]), kind="stable"
    )
