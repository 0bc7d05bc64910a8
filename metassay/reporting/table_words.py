"""Records of what pages say of their tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from metassay.reporting.contract import CellInfo, SystemsInfo

NO_CELL = CellInfo(value="")  # of a table that no cell stands for


@dataclass(frozen=True, kw_only=True)
class TableWords:
    """How the view Evidence shows a table, and what it says of it.

    `pick`, `lead`, `across`, `cell` and `hide` name columns, as in
    `contract.TableInfo`. What is left out is that of the analysis that makes the table,
    which is found by the table's name or by `analysis` (`title`, `says`), or of tables
    like it (`pick`, `lead`, `hide`, `cell`: `page.DEFAULTS`).
    """

    title: str = ""
    group: str = ""  # heading over several tables
    analysis: str = ""
    figures: Mapping[str, str] = field(default_factory=dict)  # titles, by name
    pick: tuple[str, ...] | None = None
    lead: tuple[str, ...] | None = None
    across: str = ""
    cell: CellInfo | None = None
    hide: tuple[str, ...] | None = None
    picture: str = ""
    ordered: bool = True  # False: rows stand as they were made
    says: str | None = None  # paragraphs, with an empty line between them
    columns: Mapping[str, str] = field(default_factory=dict)  # meanings, by column


@dataclass(frozen=True, kw_only=True)
class PageWords:
    """What a kind of page says: of itself, of its tables in their order, and of terms.

    `systems` is what its view Systems shows, before a report adds which metrics come
    first. Without `figures` no table is drawn.
    """

    about: str = ""
    group: str = ""  # of its tables
    figures: bool = True
    systems: SystemsInfo | None = None
    tables: Mapping[str, TableWords] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict)
