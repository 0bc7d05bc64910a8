"""What a page is handed: the records of page/src/contract.ts, field by field.

tests/reporting/test_contract.py compares both files; comments there say what each field means.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

CONTRACT = 1
Value = str | float | int | bool | None


@dataclass(frozen=True)
class Dataset:
    """What the data are, for the footer."""

    title: str
    licence: str
    citation: str
    counts: Sequence[str]
    seen: Sequence[str]


@dataclass(frozen=True)
class Problem:
    """What the line on the data counts: `missing`, `warning`, `limit` or `change`."""

    kind: str
    text: str


@dataclass(frozen=True)
class Decision:
    """A column of the grid."""

    level: str
    title: str


@dataclass(frozen=True)
class GridCell:
    """The metric to `use`, to `confirm`, or `no` metric, for one criterion and decision."""

    state: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    verdict: str
    says: str


@dataclass(frozen=True)
class GridRow:
    """A criterion with a cell per decision."""

    study: str
    criterion: str
    part: str
    title: str
    cells: Sequence[GridCell | None]


@dataclass(frozen=True)
class VerdictWord:
    """A kind of verdict, and what it means."""

    kind: str
    state: str
    means: str


@dataclass(frozen=True)
class Term:
    """A term of the glossary."""

    term: str
    means: str


@dataclass(frozen=True)
class Link:
    """Another page."""

    href: str
    title: str


@dataclass(frozen=True)
class FigureInfo:
    """figures/NAME.svg and .png."""

    name: str
    title: str


@dataclass(frozen=True)
class ColumnInfo:
    """A column of a table: type `text`, `number`, `integer` or `boolean`."""

    name: str
    type: str
    means: str


@dataclass(frozen=True)
class CellInfo:
    """Which columns stand together in a cell."""

    value: str
    low: str = ""
    high: str = ""
    n: str = ""
    missing: str = ""


@dataclass(frozen=True)
class TableInfo:
    """A table of the view Evidence, and how it is shown."""

    name: str
    title: str
    group: str
    says: Sequence[str]
    columns: Sequence[ColumnInfo]
    rows: int
    shards: Sequence[str]
    csv: str
    command: str
    pick: Sequence[str] = ()
    lead: Sequence[str] = ()
    across: str = ""
    cell: CellInfo | None = None
    hide: Sequence[str] = ()
    figures: Sequence[str] = ()


@dataclass(frozen=True)
class SystemsInfo:
    """Which table the view Systems shows."""

    noun: str
    table: str
    system: str
    metric: Sequence[str]
    cell: CellInfo
    better: str
    groups: str
    headline: Sequence[str]


@dataclass(frozen=True)
class AuthorInfo:
    """Who wrote texts: kind `system`, `reference` or `people`."""

    name: str
    kind: str


@dataclass(frozen=True)
class MetricInfo:
    """A metric's column in the index."""

    label: str
    column: str
    better: str


@dataclass(frozen=True)
class CriterionInfo:
    """A criterion's column in the index: the mean of raters."""

    name: str
    title: str
    column: str
    better: str
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SearchShard:
    """The rows of the index whose texts a shard has."""

    id: str
    first: int
    rows: int


@dataclass(frozen=True)
class TextsInfo:
    """What the view Texts lists, filters, searches and opens."""

    documents: int
    texts: int
    noun: str
    authors: Sequence[AuthorInfo]
    metrics: Sequence[MetricInfo]
    criteria: Sequence[CriterionInfo]
    judges: Sequence[str]
    parts: Sequence[str]
    index: TableInfo
    search: Sequence[SearchShard]
    documents_in: Sequence[str]


@dataclass(frozen=True)
class Passage:
    """A passage of a source."""

    speaker: str
    group: str
    text: str


@dataclass(frozen=True)
class Mark:
    """A stretch of a text that is of a part; ends in UTF-16 code units."""

    start: int
    end: int
    part: str


@dataclass(frozen=True)
class Rating:
    """What a rater gave; `of` is what the text was compared with."""

    criterion: str
    rater: str
    value: float | None
    of: str = ""


@dataclass(frozen=True)
class Judgment:
    """What a judge answered; side `for`, `against`, `unknown` or `neutral`."""

    word: str
    side: str
    probability: float | None = None
    why: str = ""
    quotes: Sequence[str] = ()


@dataclass(frozen=True)
class EachCitation:
    """What a judge answered about a single citation."""

    head: int
    passage: int
    alone: Judgment | None
    rest: Judgment | None


@dataclass(frozen=True)
class Line:
    """A claim, statement or criterion, with a judgment per head of its block."""

    number: int
    part: str
    text: str
    start: int
    end: int
    cites: Sequence[int]
    aligned: Sequence[int]
    judgments: Sequence[Judgment]
    each: Sequence[EachCitation] = ()
    people: Sequence[Rating] = ()


@dataclass(frozen=True)
class Asked:
    """Who was asked what."""

    question: str
    measure: str
    judge: str


@dataclass(frozen=True)
class Block:
    """Lines of one noun: `claim`, `statement`, `criterion` or `text`."""

    id: str
    title: str
    noun: str
    heads: Sequence[Asked]
    lines: Sequence[Line]
    note: str = ""


@dataclass(frozen=True)
class Text:
    """A text with everything that people, metrics and judges made of it."""

    author: str
    problems: Sequence[str]
    text: str
    marks: Sequence[Mark] = ()
    ratings: Sequence[Rating] = ()
    scores: Sequence[tuple[str, float | None]] = ()
    blocks: Sequence[Block] = ()


@dataclass(frozen=True)
class Document:
    """A source and the texts about it."""

    id: str
    task: str
    attributes: Sequence[str]
    passages: Sequence[Passage]
    texts: Sequence[Text]


@dataclass(frozen=True)
class Head:
    """Everything that the first screen needs."""

    kind: str
    name: str
    about: str
    made: str
    dataset: Dataset | None = None
    banners: Sequence[str] = ()
    answer: Sequence[str] = ()
    problems: Sequence[Problem] = ()
    decisions: Sequence[Decision] = ()
    grid: Sequence[GridRow] = ()
    verdicts: Sequence[VerdictWord] = ()
    terms: Sequence[Term] = ()
    tables: Sequence[TableInfo] = ()
    figures: Sequence[FigureInfo] = ()
    systems: SystemsInfo | None = None
    texts: TextsInfo | None = None
    links: Sequence[Link] = ()
    contract: int = field(default=CONTRACT)
